"""Tools that replace or add one definition of a Python file, or a whole short file.

A definition is found by its place in the syntax tree, and only its lines are exchanged; a result that does not parse is
refused and the file stays as it was.
"""

import ast
from collections.abc import Callable, Sequence
from posixpath import basename
from typing import Annotated, Any

from codur.tools.code import syntax_edits, targets
from codur.tools.code.code_layout import (
    commented,
    end_of_definitions,
    has_own_lines,
    indent_unit,
    insert,
    leading,
    with_imports,
)
from codur.tools.code.definitions import PYTHON_SUFFIXES, Definition, definitions, names_of, parse
from codur.tools.code.new_code import GivenCode, defined_name, indented, read_definition, without_fence
from codur.tools.code.syntax_trees import grammar_of
from codur.tools.flow.outputs import Edit, edited, unchanged
from codur.tools.tool import Arg, ToolContext, ToolError, tool
from codur.types import CODE_TASKS, ToolResult

_Path = Annotated[str, Arg("Source file, relative to the workspace.", "python_path")]
_ClassName = Annotated[str, Arg("Name of the class.", "symbol", "class_name")]
_Code = Annotated[str, Arg("The whole new definition, with its first line; imports it needs may stand above it.")]
_MAY_BE_EMPTY = frozenset({"__init__.py", "py.typed", ".gitkeep", ".keep", ".nojekyll"})
_Find = Callable[[str, Sequence[Any]], Sequence[Any]]
"""Gives the definitions that are meant, from a file's path and all that it defines."""


@tool(Edit, side_effect="write", task_types=CODE_TASKS)
def replace_function(
    context: ToolContext,
    path: _Path,
    function_name: Annotated[str, Arg("Name of the function; outer.inner for one inside another.", "symbol")],
    new_code: _Code,
) -> ToolResult:
    """Replace one function of a source file; decorators that the code does not mention stay."""
    given = GivenCode(text=new_code, name=function_name)
    return _replace(context, path, given, lambda path, found: targets.functions(path, found, function_name))


@tool(Edit, side_effect="write", task_types=CODE_TASKS)
def replace_class(context: ToolContext, path: _Path, class_name: _ClassName, new_code: _Code) -> ToolResult:
    """Replace one class of a source file."""
    given = GivenCode(text=new_code, kind="class", name=class_name)
    return _replace(context, path, given, lambda path, found: targets.classes(path, found, class_name))


@tool(Edit, side_effect="write", task_types=CODE_TASKS)
def replace_method(
    context: ToolContext,
    path: _Path,
    class_name: _ClassName,
    method_name: Annotated[str, Arg("Name of the method.", "symbol")],
    new_code: _Code,
) -> ToolResult:
    """Replace one method of a class of a source file; decorators that the code does not mention stay."""
    given = GivenCode(text=new_code, kind="method", name=method_name, class_name=class_name)
    return _replace(context, path, given, lambda path, found: targets.methods(path, found, class_name, method_name))


# --- exchanging lines -------------------------------------------------------------------------------------------------


def _replace(context: ToolContext, path: str, given: GivenCode, find: _Find) -> ToolResult:
    if grammar := grammar_of(path):
        return syntax_edits.replaced(context, path, grammar, given.text, lambda found: find(path, found))
    code = read_definition(given)
    path, text, tree = _target(context, path)
    found = definitions(tree)
    target = targets.one(path, given, find(path, found), code)
    lines = text.split("\n")
    # Decorators that the new code does not mention stay.
    start = target.start if code.node.decorator_list else target.line
    indent = leading(lines[target.line - 1])
    new = indented(code, indent, indent_unit(tree, lines))
    comments = code.offset
    # Comments above the new code that stand above the old one already would stand there twice.
    if start != target.start or (comments and lines[: target.start - 1][-comments:] == new[:comments]):
        new = new[comments:]
    after = [*lines[: start - 1], *new, *lines[target.end :]]
    for helper in reversed(code.beside):
        place = target
        if target.kind == "method" and not helper.member:  # a function of its own, for which the class is no place
            place = next(item for item in found if item.top and item.start <= target.line <= item.end)
        _require_unknown(path, tree, found, place, helper.name)
        own = indented(helper, leading(lines[place.line - 1]), indent_unit(tree, lines))
        below = not helper.above and place is target
        at = start - 1 + len(new) if below else commented(lines, place.start - 1)
        after = insert(after, at, own, blank=2 if place.top else 1)
    result = with_imports("\n".join(after), code.imports)
    data = Edit(path=path, action="changed", start_line=start, end_line=target.end)
    return _finish(
        context, data, text, result, f"replaced {target.kind} {target.qualname} in {path} (lines {start}-{target.end})"
    )


def _require_unknown(path: str, tree: ast.Module, found: list[Definition], place: Definition, name: str) -> None:
    owner = place.qualname.rpartition(".")[0]
    body = next((item.node.body for item in found if item.qualname == owner), tree.body)
    if any(defined_name(item) == name for item in body):
        raise ToolError("invalid", f"{path} has {name} already: give each definition that changes an edit of its own")


def _target(context: ToolContext, given_path: str) -> tuple[str, str, ast.Module]:
    path = context.workspace.relative(given_path)
    if not path.endswith(PYTHON_SUFFIXES):
        raise ToolError("invalid", f"{path} is not a Python file; use replace_in_file or replace_file_content")
    text = context.workspace.read_text(path).text
    try:
        return path, text, parse(path, text)
    except ToolError as error:
        raise ToolError(
            error.code, f"{error.message}; the file does not parse, so use replace_file_content or replace_in_file"
        ) from error


def _finish(context: ToolContext, data: Edit, before: str, after: str, what: str) -> ToolResult:
    path = data.path
    if after == before and context.workspace.exists(path):
        return unchanged(path, "this code")
    if path.endswith(PYTHON_SUFFIXES):
        try:
            parse(path, after)
        except ToolError as error:
            raise ToolError("syntax_error", f"the edit was refused, since {error.message}") from error
    context.write(path, after)
    return edited(what, data)


# --- adding -----------------------------------------------------------------------------------------------------------


@tool(Edit, side_effect="write", task_types=CODE_TASKS)
def inject_function(
    context: ToolContext,
    path: Annotated[str, Arg("Source file, relative to the workspace; it is made if it is absent.", "python_path")],
    new_code: Annotated[str, Arg("The whole new function; imports it needs may stand above it.")],
    function_name: Annotated[str, Arg("Its name; what the code defines if left out.")] = "",
    class_name: Annotated[str, Arg("Class that it becomes a method of; none if left out.")] = "",
    after: Annotated[str, Arg("Function or class after which it is put; the end if left out.")] = "",
) -> ToolResult:
    """Add a new function, or a new method of a class, to a source file."""
    given = GivenCode(text=new_code, name=function_name, class_name=class_name)
    if grammar := grammar_of(path):
        return syntax_edits.added(context, path, grammar, given, after)
    code = read_definition(given)
    name = code.node.name
    if code.beside:
        raise ToolError(
            "invalid", f"the code must define {name} and nothing else; give {code.beside[0].name} an edit of its own"
        )
    if context.workspace.exists(path):
        path, text, tree = _target(context, path)
    else:
        path, text, tree = context.workspace.relative(path), "", ast.Module(body=[], type_ignores=[])
    found = definitions(tree)
    lines = text.split("\n") if text else []
    owner = _one_class(path, found, lines, class_name) if class_name else None
    qualname = f"{owner.qualname}.{name}" if owner else name
    if any(item.qualname == qualname for item in found):
        tool = "replace_method" if owner else "replace_function"
        raise ToolError("invalid", f"{path} defines {qualname} already; use {tool}")
    anchor = _anchor(path, found, owner, after)
    after_line = anchor.end if anchor else owner.end if owner else end_of_definitions(tree, lines)
    indent = leading(lines[owner.node.body[-1].lineno - 1]) if owner else ""
    new = indented(code, indent, indent_unit(tree, lines))
    result = insert(lines, after_line, new, blank=1 if owner else 2)
    what = f"added {'method ' + owner.qualname + '.' if owner else 'function '}{name}"
    data = Edit(path=path, action="changed" if text else "made")
    return _finish(context, data, text, with_imports("\n".join(result), code.imports), f"{what} in {path}")


def _one_class(path: str, found: list[Definition], lines: list[str], name: str) -> Definition:
    classes = targets.classes(path, found, name)
    if len(classes) > 1:
        places = ", ".join(str(item.line) for item in classes)
        raise ToolError("many_matches", f"{path} defines class {name} {len(classes)} times (lines {places})")
    if not has_own_lines(classes[0].node, lines):
        raise ToolError("invalid", f"class {name} in {path} has its body on its first line; use replace_class")
    return classes[0]


def _anchor(path: str, found: list[Definition], owner: Definition | None, after: str) -> Definition | None:
    if not after:
        return None
    prefix = f"{owner.qualname}." if owner else ""
    near = [item for item in found if item.qualname in (after, prefix + after) and item.qualname.startswith(prefix)]
    near = [item for item in near if "." not in item.qualname[len(prefix) :]]
    if not near:
        raise ToolError("not_found", f"nothing named {prefix}{after} in {path} to put it after; {names_of(found)}")
    return near[-1]


# --- whole files ------------------------------------------------------------------------------------------------------


@tool(Edit, side_effect="write", task_types=CODE_TASKS)
def replace_file_content(
    context: ToolContext,
    path: Annotated[str, Arg("File to make or to replace whole, relative to the workspace.", "path")],
    new_code: Annotated[str, Arg("The whole new text.")],
) -> ToolResult:
    """Make a file or replace a short one whole."""
    path = context.workspace.relative(path)
    exists = context.workspace.exists(path)
    before = context.workspace.read_text(path).text if exists else ""
    limit = context.settings.whole_file_lines
    count = before.count("\n") + (not before.endswith("\n") and bool(before))
    if count > limit:
        raise ToolError(
            "too_large",
            f"{path} has {count} lines, more than {limit}; change single definitions, or use replace_in_file",
        )
    content = without_fence(new_code) if path.endswith(PYTHON_SUFFIXES) else new_code.replace("\r\n", "\n")
    if content and not content.endswith("\n"):
        content += "\n"
    if not (exists or content or basename(path) in _MAY_BE_EMPTY):
        raise ToolError("invalid", "new_code is empty; give the whole new text")
    data = Edit(path=path, action="changed" if before else "made")
    return _finish(context, data, before, content, f"wrote {content.count(chr(10))} lines in {path}")


TOOLS = (replace_function, replace_class, replace_method, inject_function, replace_file_content)
