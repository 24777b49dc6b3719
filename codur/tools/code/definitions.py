"""Functions, classes and methods in source texts, with the lines they take; of Python with their syntax trees."""

import ast
import warnings
from collections.abc import Iterator, Sequence

from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.tools.code.syntax_trees import Kind, Place, Syntax, SyntaxDefinition, grammar_of
from codur.tools.tool import ToolError

DefinitionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_INSIDE = regex(r"::|->|\\|(?<=\w)#")
_MOST_NAMES = 12
PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")


class Definition(Place):
    """One definition of a Python file."""

    node: DefinitionNode

    @property
    def decorators(self) -> tuple[str, ...]:
        """The decorators as source text, without `@`."""
        return tuple(ast.unparse(item) for item in self.node.decorator_list)

    @property
    def signature(self) -> str:
        """The line that introduces it, as one line."""
        if isinstance(self.node, ast.ClassDef):
            bases = ", ".join(ast.unparse(base) for base in (*self.node.bases, *self.node.keywords))
            return f"class {self.name}({bases})" if bases else f"class {self.name}"
        word = "async def" if isinstance(self.node, ast.AsyncFunctionDef) else "def"
        result = f" -> {ast.unparse(self.node.returns)}" if self.node.returns else ""
        return f"{word} {self.name}({ast.unparse(self.node.args)}){result}"

    @property
    def doc(self) -> str:
        """The first line of its docstring."""
        return (ast.get_docstring(self.node) or "").partition("\n")[0]


Defined = Definition | SyntaxDefinition


def definitions_in(path: str, text: str) -> Sequence[Defined]:
    """All definitions of a source text, in the order of their first lines.

    Raises:
        ToolError: `syntax_error`, of Python alone.
    """
    grammar = grammar_of(path)
    if grammar is not None:
        return Syntax(grammar, text).definitions
    return definitions(parse(path, text))


def dotted(name: str) -> str:
    """A name of whatever language with dots: `Cart::total`, `Cart#total` and `Cart->total` as `Cart.total`."""
    return _INSIDE.sub(".", name).lstrip(".")


def is_read(path: str) -> bool:
    """Whether what a file defines can be told, by its suffix."""
    return path.endswith(PYTHON_SUFFIXES) or grammar_of(path) is not None


def parse(path: str, text: str) -> ast.Module:
    """The syntax tree. Raises ToolError: `syntax_error` with line and text."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of code that is only looked at
            return ast.parse(text)
    except SyntaxError as error:
        number = error.lineno or 1
        line = next(iter(text.split("\n")[number - 1 : number]), "").strip()
        raise ToolError(
            "syntax_error", f"{path} line {number}: {error.msg}{f': {line:.120}' if line else ''}"
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ToolError("syntax_error", f"{path} cannot be parsed: {type(error).__name__} {error}") from error


def assigned(node: ast.stmt) -> Iterator[ast.Name]:
    """The names to which a statement assigns."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return (part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))


def definitions(tree: ast.Module) -> list[Definition]:
    """All definitions in the order of their first lines, also those in blocks such as `if` and `try`."""
    return sorted(_walk(tree, (), in_class=False), key=lambda found: (found.start, found.end))


def _walk(node: ast.AST, around: tuple[str, ...], *, in_class: bool) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, DefinitionNode):
            kind: Kind = "class" if isinstance(child, ast.ClassDef) else "method" if in_class else "function"
            yield Definition(
                name=child.name,
                qualname=".".join((*around, child.name)),
                kind=kind,
                node=child,
                line=child.lineno,
                start=min([child.lineno, *(item.lineno for item in child.decorator_list)]),
                end=child.end_lineno or child.lineno,
                top=not around,
            )
            yield from _walk(child, (*around, child.name), in_class=isinstance(child, ast.ClassDef))
        else:
            yield from _walk(child, around, in_class=in_class)


def names_of(found: Sequence[Defined], kind: Kind | None = None) -> str:
    """Qualified names for a message: "it has: add, main"."""
    names = list(dict.fromkeys(item.qualname for item in found if kind is None or item.kind == kind))
    return f"it has: {listed(names, _MOST_NAMES)}" if names else "it has none"
