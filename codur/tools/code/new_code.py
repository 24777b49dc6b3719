"""Code that a model or a person gives for one definition: unwrapped, checked and indented for its place."""

import ast
import re

from codur.parsing.fences import fenced_blocks
from codur.structs import Struct
from codur.tools.code.code_layout import docstring_lines, is_docstring, leading, moved
from codur.tools.code.definitions import DefinitionNode, parse
from codur.tools.code.syntax_trees import Kind
from codur.tools.tool import ToolError

_WRAPPER = "if True:\n"


class GivenCode(Struct):
    """Code as it was given, and what it is said to define.

    Attributes:
        name: empty for any.
        class_name: of a method, its class.
    """

    text: str
    name: str
    kind: Kind = "function"
    class_name: str = ""

    @property
    def label(self) -> str:
        """The name with its class."""
        return f"{self.class_name}.{self.name}" if self.class_name else self.name


class NewCode(Struct):
    """One definition as given."""

    lines: list[str]  # its lines from the comments directly above it to its end, as they were given
    offset: int  # number of comment lines above the decorators
    node: DefinitionNode  # its tree; `first` is the line number in that tree of `lines[0]`
    first: int
    imports: tuple[str, ...]  # import statements that were given with it


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
    """The one definition that the code holds; imports beside it and its class around it are allowed.

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
        raise ToolError("syntax_error", _shifted(error.message, shift)) from error
    if margin and isinstance(body[0], ast.If):
        body = body[0].body + body[1:]
    statements, imports = _split_imports(body)
    around = statements[0] if class_name and len(statements) == 1 else None
    if isinstance(around, ast.ClassDef) and around.name == class_name:
        statements, inner = _split_imports(around.body)
        statements = [item for item in statements if not is_docstring(item)]
        imports += inner
    node = statements[0] if len(statements) == 1 else None
    is_kind = isinstance(node, ast.ClassDef) == (given.kind == "class")
    if not isinstance(node, DefinitionNode) or not is_kind or node.name != (name or node.name):
        raise ToolError(
            "invalid",
            f"the code must define {name or 'one function'} and nothing else; it has {_described(statements)}",
        )
    lines = text.split("\n")
    start = min([node.lineno, *(item.lineno for item in node.decorator_list)]) - 1 - shift
    first = start
    while first > 0 and lines[first - 1].strip().startswith("#"):
        first -= 1
    return NewCode(
        lines=lines[first : (node.end_lineno or node.lineno) - shift],
        offset=start - first,
        node=node,
        first=first + 1 + shift,
        imports=tuple(ast.unparse(item) for item in imports),
    )


def _first_indent(text: str) -> str:
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return leading(line)
    raise ToolError("invalid", "the code is empty; give the whole definition")


def _shifted(message: str, shift: int) -> str:
    return re.sub(r"line (\d+)", lambda found: f"line {max(int(found[1]) - shift, 1)}", message, count=1)


def _split_imports(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    imports: list[ast.stmt] = [item for item in body if isinstance(item, ast.Import | ast.ImportFrom)]
    return [item for item in body if item not in imports], imports


def _described(statements: list[ast.stmt]) -> str:
    words = [
        node.name if isinstance(node, DefinitionNode) else f"a statement ({ast.unparse(node):.40})"
        for node in statements[:4]
    ]
    return ", ".join(words) or "no definition"


def indented(code: NewCode, indent: str, unit: str) -> list[str]:
    """The lines moved to `indent`, with `unit` (the file's own step) for each level inside."""
    return moved(code.lines, docstring_lines(code.node, code.first), indent, unit)
