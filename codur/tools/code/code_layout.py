"""Where code goes in a Python file, and how it is moved to the indentation there without changing what it means."""

import ast
import io
import tokenize
from collections.abc import Iterable

from codur.tools.code.definitions import DefinitionNode, parse
from codur.tools.tool import ToolError

_TAB_WIDTH = 8
_WRAPPER = "if True:\n"
_NOT_CODE = frozenset(
    {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


def leading(line: str) -> str:
    """The white space in front of a line."""
    return line[: len(line) - len(line.lstrip(" \t\f"))]


def commented(lines: list[str], first: int) -> int:
    """The index of the first line of the comments directly above a line."""
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return first


def moved(lines: list[str], docstrings: set[int], indent: str, unit: str) -> list[str]:
    """The lines of one definition at the indentation `indent`, with `unit` for each level inside.

    Text in strings of several lines stays as it is, except that of docstrings, which moves with its code.

    Args:
        docstrings: indexes of the lines after the first of each docstring.
    """
    margin = _width(leading(next(line for line in lines if not line.lstrip().startswith("#"))))
    stacks, fixed = _read(lines, margin)
    result = []
    for number, line in enumerate(lines):
        if number in fixed and number not in docstrings:
            result.append(line)
        elif not line.strip():
            result.append("")
        else:
            depth = max(_width(leading(line)) - margin, 0)
            stack = _stack_for(number, line, depth, stacks)
            level = max(index for index, width in enumerate(stack) if width <= depth)
            result.append(indent + unit * level + " " * (depth - stack[level]) + line[len(leading(line)) :])
    return result


def _stack_for(number: int, line: str, depth: int, stacks: dict[int, tuple[int, ...]]) -> tuple[int, ...]:
    """Widths of the open blocks around a line; a comment belongs to the code after it if that is as deep."""
    before = max((start for start in stacks if start <= number), default=None)
    if line.lstrip().startswith("#"):
        after = min((start for start in stacks if start >= number), default=None)
        if after is not None and stacks[after][-1] == depth:
            return stacks[after]
    return stacks[before] if before is not None else (0,)


def _read(lines: list[str], margin: int) -> tuple[dict[int, tuple[int, ...]], set[int]]:
    """What the tokenizer says of the lines, by their indexes.

    Returns:
        The widths of the open blocks, relative to `margin`, for each line that begins a statement; and the lines that
        begin inside a string.
    """
    source = (_WRAPPER if margin else "") + "\n".join(lines) + "\n"
    shift = 2 if margin else 1
    stack = [0]
    stacks: dict[int, tuple[int, ...]] = {}
    inside: set[int] = set()
    opened: list[int] = []
    fresh = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.INDENT:
            stack.append(_width(token.string) - margin)
        elif token.type == tokenize.DEDENT:
            stack.pop()
        elif fresh and token.type not in _NOT_CODE:
            stacks[token.start[0] - shift] = tuple(stack[1:] if margin else stack) or (0,)
        fresh = token.type == tokenize.NEWLINE or (fresh and token.type in _NOT_CODE)
        first = _string_start(token, opened)
        if first:
            inside.update(range(first + 1 - shift, token.end[0] + 1 - shift))
    stacks.pop(-1, None)
    return stacks, inside


def _string_start(token: tokenize.TokenInfo, opened: list[int]) -> int:
    """The first line of the string that ends with this token, or 0; template strings come in several tokens."""
    name = tokenize.tok_name[token.type]
    if name.endswith("STRING_START"):
        opened.append(token.start[0])
    if name.endswith("STRING_END"):
        return opened.pop()
    return token.start[0] if name == "STRING" else 0


def docstring_lines(node: ast.stmt, first: int) -> set[int]:
    """Indexes of the lines after the first of each docstring in a statement; line `first` of the tree has index 0."""
    found: set[int] = set()
    for inner in ast.walk(node):
        if isinstance(inner, DefinitionNode) and is_docstring(inner.body[0]):
            text = inner.body[0]
            found.update(range(text.lineno - first + 1, (text.end_lineno or text.lineno) - first + 1))
    return found


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is a text and nothing else."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _width(indent: str) -> int:
    return len(indent.expandtabs(_TAB_WIDTH))


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


def has_own_lines(node: DefinitionNode, lines: list[str]) -> bool:
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
