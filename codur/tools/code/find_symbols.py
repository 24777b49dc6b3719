"""Tools that follow a Python name through all files: its uses, and another name for it."""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Annotated

from codur.errors import WorkspaceError
from codur.parsing.bounded_text import listed
from codur.tools.code.definitions import assigned, definitions, definitions_in, dotted, names_of, parse
from codur.tools.code.python_outline import places_of
from codur.tools.code.syntax_trees import Syntax, family_of, grammar_of
from codur.tools.flow.code_outputs import SymbolPlace, SymbolPlaces
from codur.tools.flow.outputs import Edit, Edits
from codur.tools.tool import Arg, ToolContext, ToolError, tool
from codur.types import CODE_TASKS, ToolResult

if TYPE_CHECKING:
    from codur.tools.code.rope_project import RopeProject

_MAX_SHOWN = 500
_MAX_LEFT = 5
_MAX_READ = 5_000


@tool(SymbolPlaces)
def find_usages(
    context: ToolContext,
    path: Annotated[str, Arg("Source file that defines it, relative to the workspace.", "python_path")],
    name: Annotated[str, Arg("Function, class, method (Class.method) or module variable.", "symbol")],
    line: Annotated[int | None, Arg("Line of the definition, if there are several of that name.", "line")] = None,
) -> ToolResult:
    """Find where a function, class, method or variable is used, in all files of its language."""
    path = context.workspace.relative(path)
    if grammar_of(path) is not None:
        return _used(context, path, name, line)
    with _rope(context) as project:
        line, offset = _defined(context, project, path, name, line)
        found = project.occurrences(path, offset)
        texts = project.texts
    places: dict[tuple[str, int], SymbolPlace] = {}
    for where, number, _ in found:
        text = texts[where].split("\n")[number - 1].strip()[:200]
        kind = "definition" if (where, number) == (path, line) else "usage"
        places[where, number] = SymbolPlace(path=where, line=number, kind=kind, text=text)
    return _told(name, list(places.values()))


def _rope(context: ToolContext) -> AbstractContextManager[RopeProject]:
    with warnings.catch_warnings(action="ignore"):  # of rope about itself
        from codur.tools.code.rope_project import rope_project  # noqa: PLC0415 - lazy: rope takes 0.2 s
    return rope_project(context)


def _used(context: ToolContext, path: str, name: str, line: int | None) -> ToolResult:
    """By name alone, in all files of the language: what a name means there is not known."""
    name = dotted(name)
    workspace, last = context.workspace, name.rpartition(".")[2]
    defined = {place.line for place in places_of(workspace, path, name, last) if line in {None, place.line}}
    if not defined:
        found = names_of(definitions_in(path, workspace.read_text(path).text))
        raise ToolError("not_found", f"{path} does not define {name}; {found}")
    near = [far for far in workspace.list_files() if family_of(far) == family_of(path) and far != path]
    places = []
    for where in (path, *near):
        try:
            text = workspace.peek_text(where)
        except WorkspaceError:
            continue
        grammar = grammar_of(where)
        # A look at the text is cheaper by far than a tree of every file.
        if grammar is None or last not in text:
            continue
        lines = text.split("\n")
        for number in dict.fromkeys(Syntax(grammar, text).uses(last)):
            kind = "definition" if where == path and number in defined else "usage"
            places.append(SymbolPlace(path=where, line=number, kind=kind, text=lines[number - 1].strip()[:200]))
    return _told(name, places)


def _told(name: str, places: list[SymbolPlace]) -> ToolResult:
    shown = places[:_MAX_SHOWN]
    lines = [f"{place.path}:{place.line}: {place.text}" for place in shown]
    if len(places) > len(shown):
        lines.append(f"… {len(places) - len(shown)} more")
    return ToolResult(text="\n".join(lines), data=SymbolPlaces(name=name, places=tuple(shown)))


@tool(Edits, side_effect="write", task_types=CODE_TASKS)
def rename_symbol(
    context: ToolContext,
    path: Annotated[str, Arg("Python file that defines it, relative to the workspace.", "python_path")],
    name: Annotated[str, Arg("Function, class, method (Class.method) or module variable.", "symbol")],
    new_name: Annotated[str, Arg("Its new name, without what is around it.")],
    line: Annotated[int | None, Arg("Line of the definition, if there are several of that name.", "line")] = None,
) -> ToolResult:
    """Rename a function, class, method or variable in all Python files that use it.

    Change the name where it surely means this symbol; all files or none.
    """
    path, old = context.workspace.relative(path), name.rpartition(".")[2]
    if not new_name.isidentifier() or keyword.iskeyword(new_name):
        raise ToolError("invalid", f"{new_name!r:.60} is no Python name")
    if new_name == old:
        raise ToolError("invalid", f"{old} has this name already")
    with _rope(context) as project:
        _, offset = _defined(context, project, path, name, line)
        _require_free(path, project.texts[path], name, new_name)
        after = project.renamed(path, offset, new_name)
        before = project.texts
    stubs = [f"{where}i" for where in after if "." not in name and context.workspace.is_file(f"{where}i")]
    before = before | {stub: context.workspace.read_text(stub).text for stub in stubs}
    after |= {stub: re.sub(rf"\b{re.escape(old)}\b", new_name, before[stub]) for stub in stubs}
    changed = {where: text for where, text in sorted(after.items()) if text != before[where]}
    _require_names_only(before, changed, old, new_name)
    context.write_all(changed)
    left = _left(context, old, inside="." in name)
    done = tuple(Edit(path=where, action="changed", count=_count(before[where], changed[where])) for where in changed)
    lines = [f"renamed {name} to {new_name} in {', '.join(changed)}"]
    if left:
        lines.append(f"left as it is where it may mean something else: {listed(left, _MAX_LEFT)}")
    return ToolResult(text="\n".join(lines), data=Edits(edits=done), changed_files=tuple(changed))


def _defined(context: ToolContext, project: RopeProject, path: str, name: str, line: int | None) -> tuple[int, int]:
    """Line and offset of the name in its definition."""
    if path not in project.texts:
        parse(path, context.workspace.read_text(path).text)
        raise ToolError("invalid", f"{path} is not among the workspace's Python files")
    text = project.texts[path]
    tree = parse(path, text)
    places = [place for place in dict.fromkeys(_places(tree, text, name)) if line is None or place[0] == line]
    if not places:
        raise ToolError("not_found", f"{path} does not define {name}; {names_of(definitions(tree))}")
    is_variable = "." not in name and all(item.qualname != name for item in definitions(tree))
    if len(places) > 1 and line is None and is_variable:  # all of them assign to the same one
        places = places[:1]
    if len(places) > 1:
        told = ", ".join(str(number) for number, _ in places)
        raise ToolError("many_matches", f"{path} defines {name} {len(places)} times (lines {told}); give the line")
    return places[0]


def _places(tree: ast.Module, text: str, name: str) -> Iterator[tuple[int, int]]:
    last = name.rpartition(".")[2]
    for item in definitions(tree):
        if item.qualname == name:
            start = offset_of(text, item.node.lineno, item.node.col_offset)
            found = re.compile(rf"(?:class|def)\s+({re.escape(last)})\b").search(text, start)
            if found:
                yield item.line, found.start(1)
    for part in (part for node in tree.body for part in assigned(node) if part.id == name):
        yield part.lineno, offset_of(text, part.lineno, part.col_offset)


def offset_of(text: str, line: int, column: int) -> int:
    """The offset in characters of a place that the syntax tree tells, in bytes of UTF-8."""
    lines = text.split("\n")
    return sum(len(item) + 1 for item in lines[: line - 1]) + len(lines[line - 1].encode()[:column].decode())


def _require_free(path: str, text: str, name: str, new_name: str) -> None:
    around = name.rpartition(".")[0]
    taken = f"{around}.{new_name}" if around else new_name
    if next(_places(parse(path, text), text, taken), None) is not None:
        raise ToolError("invalid", f"{path} defines {taken} already")


def _require_names_only(before: dict[str, str], after: dict[str, str], old: str, new: str) -> None:
    """Refuse a result in which more than the name is different, or that does not parse."""
    if not after:
        raise ToolError("failed", f"rope found no place where {old} could be renamed")
    name = re.compile(rf"\b{re.escape(new)}\b")
    for path, text in after.items():
        parse(path, text)
        if name.sub(old, text) != name.sub(old, before[path]):
            raise ToolError("failed", f"rope would change more than the name in {path}; use replace_in_file")


def _count(before: str, after: str) -> int:
    return sum(one != two for one, two in zip(before.split("\n"), after.split("\n"), strict=True))


def _left(context: ToolContext, old: str, *, inside: bool) -> list[str]:
    """Places where the old name still stands; `inside`: as an attribute."""
    lead = r"\." if inside else r"\b"
    name, found = re.compile(rf"{lead}{re.escape(old)}\b"), list[str]()
    for path in context.workspace.list_files(limit=_MAX_READ):
        with suppress(WorkspaceError):
            lines = context.workspace.peek_text(path).split("\n")
            found += [f"{path}:{number}" for number, line in enumerate(lines, 1) if name.search(line)]
    return found


TOOLS = (find_usages, rename_symbol)
