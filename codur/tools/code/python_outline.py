"""Tools that answer questions about Python files from their syntax trees."""

import ast
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Annotated

from codur.lazy import regex
from codur.tools.code.definitions import Defined, Definition, assigned, definitions, definitions_in, dotted, parse
from codur.tools.code.syntax_trees import Syntax, grammar_of
from codur.tools.flow.code_outputs import (
    Dependencies,
    DependencySet,
    Import,
    Outline,
    OutlineItem,
    SymbolPlace,
    SymbolPlaces,
)
from codur.tools.tool import Arg, ToolContext, ToolError, tool
from codur.types import ToolResult
from codur.workspace.problems import FileError
from codur.workspace.workspace import Workspace

_MAX_FILES = 5_000
_MAX_TOGETHER, _MAX_BELOW = 20, 300
_SYMBOL = regex(r"[#$~]?[^\W\d][\w$]*[?!=]?|(?:operator)?[][<>=!+*/%&|^~-]{1,3}")
"""A name of whatever language: also Ruby's `empty?` and `[]=`."""


@tool(Outline)
def python_ast_outline(
    context: ToolContext, path: Annotated[str, Arg("Python file, relative to the workspace.", "python_path")]
) -> ToolResult:
    """List the functions, classes and methods of a source file with their lines."""
    path = context.workspace.relative(path)
    found = definitions_in(path, context.workspace.read_text(path).text)
    lines = [f"{'  ' * item.qualname.count('.')}{item.signature}  (lines {item.start}-{item.end})" for item in found]
    items = tuple(
        OutlineItem(
            name=item.qualname,
            kind=item.kind,
            start_line=item.start,
            end_line=item.end,
            signature=item.signature,
            doc=item.doc,
        )
        for item in found
    )
    return ToolResult(text="\n".join(lines) or f"{path} defines nothing", data=Outline(path=path, definitions=items))


@tool(DependencySet)
def python_ast_dependencies(
    context: ToolContext,
    paths: Annotated[tuple[str, ...], Arg("Python files, or directories with some.", "python_path", "directory")],
) -> ToolResult:
    """Show what Python files import, and which of their functions call which."""
    if not 1 <= len(paths) <= _MAX_TOGETHER:
        raise ToolError("invalid", f"give 1 to {_MAX_TOGETHER} files or directories")
    workspace = context.workspace
    every = [dependencies_of(workspace, path) for path in paths if not workspace.is_dir(path)]
    below = [each for path in paths if workspace.is_dir(path) for each in workspace.list_files(path, pattern="*.py")]
    for path in below[:_MAX_BELOW]:
        with suppress(FileError, ToolError):  # it cannot be read or parsed; the others tell enough
            every.append(dependencies_of(workspace, path))
    if not every:
        raise ToolError("not_found", f"there are no Python files in {', '.join(paths)}")
    return ToolResult(text="\n\n".join(map(_told, every)), data=DependencySet(files=tuple(every)))


@tool(SymbolPlaces)
def find_definition(
    context: ToolContext,
    name: Annotated[str, Arg("Name of a function, class, method or variable; Class.method for a method.", "symbol")],
    path: Annotated[
        str, Arg("File or directory to search; the workspace if left out.", "python_path", "directory")
    ] = "",
) -> ToolResult:
    """Find where a function, class, method or module variable is defined."""
    name = dotted(name)
    *around, last = name.split(".")
    if not _SYMBOL.fullmatch(last):
        raise ToolError("invalid", f"{name!r} is no name")
    workspace = context.workspace
    paths = [path]
    if not workspace.is_file(path):
        paths = [each for each in workspace.list_files(path) if each.endswith(".py") or grammar_of(each)][:_MAX_FILES]
    # What stands first may be a namespace or a package, which is not around the definition in its file.
    tails = [".".join([*around[start:], last]) for start in range(max(1, len(around)))]
    tries = ([place for where in paths for place in places_of(workspace, where, tail, last)] for tail in tails)
    found = next(filter(None, tries), [])
    if not found:
        raise ToolError("not_found", f"no definition of {name} in {path or 'the workspace'}")
    lines = [f"{place.path}:{place.line}: {place.text}" for place in found]
    return ToolResult(text="\n".join(lines), data=SymbolPlaces(name=name, places=tuple(found)))


def places_of(workspace: Workspace, path: str, name: str, last: str) -> Iterator[SymbolPlace]:
    """Where a file defines a name, whose last part is `last`; nowhere if the file cannot be read or parsed."""
    try:
        text = workspace.peek_text(path)
        if last not in text:
            return
        found, variables = _definitions_and_variables(path, text, last)
    except (FileError, ToolError):
        # A file that cannot be read or parsed defines nothing that could be found.
        return
    lines = text.split("\n")
    relative = workspace.relative(path)
    named = [item for item in found if item.qualname == name or item.qualname.endswith(f".{name}")]
    for item in named:
        yield SymbolPlace(path=relative, line=item.line, kind=item.kind, text=lines[item.line - 1].strip()[:200])
    for line in set(variables) - {item.line for item in named} if "." not in name else ():
        yield SymbolPlace(path=relative, line=line, kind="variable", text=lines[line - 1].rstrip("\r")[:200])


def _definitions_and_variables(path: str, text: str, name: str) -> tuple[Sequence[Defined], list[int]]:
    """The definitions of a file, and the lines of the variables of a name at its top."""
    grammar = grammar_of(path)
    if grammar is None:
        tree = parse(path, text)
        return definitions(tree), [node.lineno for node in tree.body if name in {part.id for part in assigned(node)}]
    syntax = Syntax(grammar, text)
    return syntax.definitions, [line for constant, line in syntax.constants.items() if constant == name]


# --- dependencies -----------------------------------------------------------------------------------------------------


def dependencies_of(workspace: Workspace, given_path: str) -> Dependencies:
    """What one file imports, defines and calls.

    Raises:
        ToolError: `syntax_error`.
        WorkspaceError: it cannot be read.
    """
    path = workspace.relative(given_path)
    tree = parse(path, workspace.read_text(path).text)
    found = definitions(tree)
    return Dependencies(
        path=path,
        imports=tuple(item for node in ast.walk(tree) for item in _imports(workspace, path, node)),
        calls={item.qualname: called for item in found if (called := _calls(item, found))},
        definitions=tuple(item.qualname for item in found),
    )


def _told(facts: Dependencies) -> str:
    lines = [facts.path]
    for kind, label in (("local", "imports from the workspace"), ("stdlib", "standard library"), ("other", "packages")):
        names = [
            f"{item.module}{' → ' + item.path if item.path else ''}" for item in facts.imports if item.kind == kind
        ]
        if names:
            lines.append(f"  {label}: {', '.join(dict.fromkeys(names))}")
    lines += [f"  {name} calls {', '.join(called)}" for name, called in facts.calls.items()]
    return "\n".join(lines if len(lines) > 1 else [f"{facts.path} depends on nothing"])


def _imports(workspace: Workspace, path: str, node: ast.AST) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield _import(workspace, path, alias.name, (), node.lineno)
    elif isinstance(node, ast.ImportFrom):
        names = tuple(alias.name for alias in node.names)
        yield _import(workspace, path, "." * node.level + (node.module or ""), names, node.lineno)


def _import(workspace: Workspace, path: str, module: str, names: tuple[str, ...], line: int) -> Import:
    top = module.partition(".")[0]
    local = _local_file(workspace, path, module, names)
    kind = "local" if local or not top else "stdlib" if top in sys.stdlib_module_names else "other"
    return Import(module=module, names=names, line=line, kind=kind, path=local)


def _local_file(workspace: Workspace, path: str, module: str, names: tuple[str, ...]) -> str | None:
    """The workspace file that the import loads: beside the importing file, or from the workspace or its `src`."""
    folder, below = path.rpartition("/")[0], module.lstrip(".")
    level = len(module) - len(below)
    if level:
        parts = folder.split("/") if folder else []
        if level - 1 > len(parts):
            return None
        bases = ["/".join(parts[: len(parts) - level + 1])]
    else:
        bases = list(dict.fromkeys((folder, "", "src")))
    for base in bases:
        stem = "/".join(part for part in (base, below.replace(".", "/")) if part)
        inner = [f"{stem}/{names[0]}.py".lstrip("/")] if len(names) == 1 else []
        for candidate in (f"{stem}.py", *inner, f"{stem}/__init__.py".lstrip("/")):
            if workspace.is_file(candidate):
                return candidate
    return None


def _calls(item: Definition, found: list[Definition]) -> tuple[str, ...]:
    """Definitions of the same file that a function's body calls by name, or by `self.` in a method."""
    if item.kind == "class":
        return ()
    known = {other.qualname for other in found}
    owner = item.qualname.rpartition(".")[0]
    called: dict[str, None] = {}
    for node in ast.walk(item.node):
        if not isinstance(node, ast.Call):
            continue
        name = _called_name(node.func, item.qualname, owner, known)
        if name:
            called[name] = None
    return tuple(called)


def _called_name(function: ast.expr, qualname: str, owner: str, known: set[str]) -> str | None:
    if isinstance(function, ast.Name):
        return next((name for name in (f"{qualname}.{function.id}", function.id) if name in known), None)
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        base = owner if function.value.id in ("self", "cls") else function.value.id
        return f"{base}.{function.attr}" if f"{base}.{function.attr}" in known else None
    return None


TOOLS = (python_ast_outline, python_ast_dependencies, find_definition)
