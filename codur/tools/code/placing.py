"""Where code goes in a Python file, and how it is indented there."""

import ast
from collections.abc import Iterable

from codur.tools.code.code_layout import is_docstring, leading
from codur.tools.code.definitions import DefinitionNode, parse
from codur.tools.tool import ToolError


def indent_unit(tree: ast.Module, lines: list[str]) -> str:
    """One step of indentation as the file has it; four spaces if it has none."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(node, ast.stmt) or not isinstance(body, list) or not body:
            continue
        step = leading(lines[body[0].lineno - 1]).removeprefix(leading(lines[node.lineno - 1]))
        if body[0].lineno > node.lineno and step:
            return "\t" if step.startswith("\t") else step
    return "    "


def has_body_on_own_lines(node: DefinitionNode, lines: list[str]) -> bool:
    """Whether the statements inside a definition begin below its header, so that one can be added."""
    first = node.body[0]
    return len(leading(lines[first.lineno - 1]).encode()) == first.col_offset


def end_of_definitions(tree: ast.Module, lines: list[str]) -> int:
    """The number of lines after which a new function goes: before the part that only runs as a program, else all."""
    if tree.body and isinstance(tree.body[-1], ast.If) and "__name__" in ast.unparse(tree.body[-1].test):
        end = tree.body[-1].lineno - 1
        while end > 0 and lines[end - 1].startswith("#"):
            end -= 1
        return end
    return len(lines)


def insert(lines: list[str], after_line: int, new: list[str], *, blank: int) -> list[str]:
    """The lines with `new` after the first `after_line` ones and at least `blank` empty lines around it.

    No line that is there is taken away; the text ends with a line end.
    """
    above, below = lines[:after_line], lines[after_line:]
    while above and not above[-1].strip() and not below:
        # An empty last line is only the end of the line before it.
        below.insert(0, above.pop())
    missing_above = max(blank - _blank_run(reversed(above)), 0) if any(line.strip() for line in above) else 0
    rest = any(line.strip() for line in below)
    missing_below = max(blank - _blank_run(below), 0) if rest else 0
    tail = below if rest else [""]
    return [*above, *[""] * missing_above, *new, *[""] * missing_below, *tail]


def _blank_run(lines: Iterable[str]) -> int:
    count = 0
    for line in lines:
        if line.strip():
            break
        count += 1
    return count


def with_imports(text: str, imports: tuple[str, ...]) -> str:
    """The text with the imports that it lacks, put after its leading imports.

    Raises:
        ToolError: `syntax_error`: the text does not parse, so nothing may be added to it.
    """
    if not imports:
        return text
    try:
        tree = parse("the result", text)
    except ToolError as error:
        raise ToolError("syntax_error", f"the edit was refused, since {error.message}") from error
    present = {ast.unparse(node) for node in tree.body if _is_import(node)}
    missing = [item for item in dict.fromkeys(imports) if item not in present]
    if any(item.startswith("from __future__") for item in missing):
        raise ToolError("invalid", "put from __future__ imports into the file by replace_in_file")
    lines = text.split("\n")
    return "\n".join(_put_imports(lines, tree, missing)) if missing else text


def _put_imports(lines: list[str], tree: ast.Module, missing: list[str]) -> list[str]:
    place, after_import = 0, False
    for node in tree.body:
        if not _is_import(node) and not is_docstring(node):
            break
        place, after_import = node.end_lineno or node.lineno, _is_import(node)
    if place == 0:
        while lines[place].startswith("#"):
            place += 1
    above = [""] if place and not after_import else []
    following = next((node for node in tree.body if node.lineno > place), None)
    blank = 2 if isinstance(following, DefinitionNode) and not place else 1
    below = [""] * blank if lines[place].strip() else []
    return [*lines[:place], *above, *missing, *below, *lines[place:]]


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)
