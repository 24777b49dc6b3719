"""Code that a model or a person gives for one definition: unwrapped, checked and indented for its place."""

import ast
import re

from codur.parsing.fences import fenced_blocks
from codur.structs import Struct
from codur.tools.code.code_layout import commented, docstring_lines, is_docstring, leading, moved
from codur.tools.code.definitions import DefinitionNode, parse
from codur.tools.code.syntax_trees import Kind
from codur.tools.tool import ToolError

_WRAPPER = "if True:\n"


class GivenCode(Struct):
    """Code as it was given, and what it is said to define."""

    text: str
    name: str  # empty for any
    kind: Kind = "function"
    class_name: str = ""  # of a method, its class

    @property
    def label(self) -> str:
        """The name with its class."""
        return f"{self.class_name}.{self.name}" if self.class_name else self.name


class Helper(Struct):
    """A definition or constant that was given beside the one that is asked for."""

    lines: list[str]
    docstrings: set[int]
    name: str
    member: bool  # whether it is meant for the class that the other is in
    above: bool  # whether it stood above the other


class NewCode(Struct):
    """One definition as given."""

    lines: list[str]  # its lines from the comments directly above it to its end, as they were given
    offset: int  # number of comment lines above the decorators
    node: DefinitionNode
    docstrings: set[int]  # indexes of the lines after the first of each docstring
    imports: tuple[str, ...]  # import statements that were given with it
    beside: tuple[Helper, ...]


def without_fence(code: str) -> str:
    """The text in a fenced block if that is all there is, with `\\n` line ends."""
    text = code.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    if not text.lstrip().startswith(("```", "~~~")):
        return text
    blocks = [block.text for block in fenced_blocks(text) if block.closed]
    if len(blocks) != 1:
        raise ToolError("invalid", "give the code alone, or in exactly one fenced block")
    return blocks[0]


def read_definition(given: GivenCode) -> NewCode:
    """The one definition that is asked for; imports and helpers beside it and its class around it are allowed.

    Raises:
        ToolError: `syntax_error`, or `invalid`: it defines something else.
    """
    name, class_name = given.name.rpartition(".")[2], given.class_name.rpartition(".")[2]
    text = without_fence(given.text).strip("\n")
    margin = _first_indent(text)
    shift = 1 if margin else 0
    try:
        body = parse("the code given", _WRAPPER + text if margin else text).body
    except ToolError as error:
        message = re.sub(r"line (\d+)", lambda found: f"line {max(int(found[1]) - shift, 1)}", error.message, count=1)
        raise ToolError("syntax_error", message) from error
    if margin and isinstance(body[0], ast.If):
        body = body[0].body + body[1:]
    statements, imports = _split_imports(body)
    around = next((item for item in statements if class_name and isinstance(item, ast.ClassDef)), None)
    members: list[ast.stmt] = []
    if around is not None and around.name == class_name:
        members, inner = _split_imports([item for item in around.body if not is_docstring(item)])
        imports += inner
        statements = [part for item in statements for part in (members if item is around else [item])]
    named = [item for item in statements if not name or defined_name(item) == name]
    node = named[0] if len(named) == 1 else None
    is_kind = isinstance(node, ast.ClassDef) == (given.kind == "class")
    if not isinstance(node, DefinitionNode) or not is_kind or not all(map(defined_name, statements)):
        what = f"must define {name} once, and nothing beside it but new helpers" if name else "must define one function"
        raise ToolError("invalid", f"the code {what}; it has {_described(statements)}")
    cut, offset, docstrings = _cut(node, text, shift)
    beside = []
    for item in (item for item in statements if item is not node):
        own, _, inside = _cut(item, text, shift)
        above, member = item.lineno < node.lineno, item in members or _takes_self(item)
        beside.append(Helper(lines=own, docstrings=inside, name=defined_name(item), member=member, above=above))
    given_imports = tuple(ast.unparse(item) for item in imports)
    return NewCode(
        lines=cut, offset=offset, node=node, docstrings=docstrings, imports=given_imports, beside=tuple(beside)
    )


def _cut(node: ast.stmt, text: str, shift: int) -> tuple[list[str], int, set[int]]:
    """A statement's lines with the comments directly above it, the number of these, and its docstrings' lines."""
    lines = text.split("\n")
    start = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))]) - 1 - shift
    first = commented(lines, start)
    end = (node.end_lineno or node.lineno) - shift
    return lines[first:end], start - first, docstring_lines(node, first + 1 + shift)


def defined_name(node: ast.stmt) -> str:
    """What a statement defines, or the one name that it gives a value; else empty."""
    if isinstance(node, DefinitionNode):
        return node.name
    given = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return given[0].id if len(given) == 1 and isinstance(given[0], ast.Name) else ""


def _takes_self(node: ast.stmt) -> bool:
    head = ast.unparse(node).partition("):")[0]
    return (
        isinstance(node, DefinitionNode)
        and re.search(r"\((?:self|cls)\b|^@(?:static|class)method$", head, re.M) is not None
    )


def _first_indent(text: str) -> str:
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return leading(line)
    raise ToolError("invalid", "the code is empty; give the whole definition")


def _split_imports(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    imports: list[ast.stmt] = [item for item in body if isinstance(item, ast.Import | ast.ImportFrom)]
    return [item for item in body if item not in imports], imports


def _described(statements: list[ast.stmt]) -> str:
    words = [
        node.name if isinstance(node, DefinitionNode) else f"a statement ({ast.unparse(node):.40})"
        for node in statements[:4]
    ]
    return ", ".join(words) or "no definition"


def indented(code: NewCode | Helper, indent: str, unit: str) -> list[str]:
    """The lines moved to `indent`, with `unit` (the file's own step) for each level inside."""
    return moved(code.lines, code.docstrings, indent, unit)
