"""Tools that replace or add one definition of a Python file, or a whole short file.

A definition is found by its place in the syntax tree, and only its lines are exchanged; a result that does not parse is
refused and the file stays as it was.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from codur.tools.arguments import argument
from codur.tools.code import placing, syntax_edits, targets
from codur.tools.code.code_layout import leading
from codur.tools.code.definitions import MISSING, PYTHON_SUFFIXES, Definition, definitions, names_of, parse
from codur.tools.code.grammars import BY_SUFFIX, Grammar
from codur.tools.code.new_code import NewCode, indented, read_definition, without_fence
from codur.tools.code.syntax_trees import grammar_of
from codur.tools.flow.outputs import Edit
from codur.tools.tool import ToolContext, ToolError, tool
from codur.types import CODE_TASKS, ToolResult

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_CODE_DOC = "The whole new definition, with its first line; imports it needs may stand above it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceFunction:
    path: str = argument("Source file, relative to the workspace.", accepts="python_path")
    function_name: str = argument("Name of the function; outer.inner for one inside another.", accepts="symbol")
    new_code: str = argument(_CODE_DOC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceClass:
    path: str = argument("Source file, relative to the workspace.", accepts="python_path")
    class_name: str = argument("Name of the class.", accepts=("symbol", "class_name"))
    new_code: str = argument(_CODE_DOC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceMethod:
    path: str = argument("Source file, relative to the workspace.", accepts="python_path")
    class_name: str = argument("Name of the class.", accepts=("symbol", "class_name"))
    method_name: str = argument("Name of the method.", accepts="symbol")
    new_code: str = argument(_CODE_DOC)


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectFunction:
    path: str = argument("Source file, relative to the workspace; it is made if it is absent.", accepts="python_path")
    new_code: str = argument("The whole new function; imports it needs may stand above it.")
    function_name: str = argument("Its name; what the code defines if left out.", "")
    class_name: str = argument("Class that it becomes a method of; none if left out.", "")
    after: str = argument("Function or class after which it is put; the end if left out.", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceFileContent:
    path: str = argument("File to make or to replace whole, relative to the workspace.", accepts="path")
    new_code: str = argument("The whole new text.")


@tool(
    ReplaceFunction,
    Edit,
    "Replace one function of a source file; decorators that the code does not mention stay.",
    side_effect="write",
    task_types=CODE_TASKS,
)
def replace_function(context: ToolContext, given: ReplaceFunction) -> ToolResult:
    """Exchange a function."""

    def find(path: str, found: list[Definition], code: NewCode) -> Definition:
        return targets.one(
            path, "function", given.function_name, targets.functions(path, found, given.function_name), code
        )

    if grammar := _grammar(given.path):
        return syntax_edits.replaced(
            context,
            given.path,
            grammar,
            given.new_code,
            lambda found: targets.functions(given.path, found, given.function_name),
        )
    return _replace(context, given.path, _read(given.new_code, given.function_name, _FUNCTION), find)


@tool(ReplaceClass, Edit, "Replace one class of a source file.", side_effect="write", task_types=CODE_TASKS)
def replace_class(context: ToolContext, given: ReplaceClass) -> ToolResult:
    """Exchange a class."""

    def find(path: str, found: list[Definition], code: NewCode) -> Definition:
        return targets.one(path, "class", given.class_name, targets.classes(path, found, given.class_name), code)

    if grammar := _grammar(given.path):
        return syntax_edits.replaced(
            context,
            given.path,
            grammar,
            given.new_code,
            lambda found: targets.classes(given.path, found, given.class_name),
        )
    return _replace(context, given.path, _read(given.new_code, given.class_name, ast.ClassDef), find)


@tool(
    ReplaceMethod,
    Edit,
    "Replace one method of a class of a source file; decorators that the code does not mention stay.",
    side_effect="write",
    task_types=CODE_TASKS,
)
def replace_method(context: ToolContext, given: ReplaceMethod) -> ToolResult:
    """Exchange a method of a class."""
    label = f"{given.class_name}.{given.method_name}"

    def find(path: str, found: list[Definition], code: NewCode) -> Definition:
        owners = {item.qualname for item in targets.classes(path, found, given.class_name)}
        methods = [item for item in found if item.qualname.rpartition(".")[0] in owners and item.kind == "method"]
        named = [item for item in methods if item.name == given.method_name]
        if not named:
            raise ToolError("not_found", f"no method named {label} in {path}; {names_of(methods)}")
        return targets.one(path, "method", label, named, code)

    if grammar := _grammar(given.path):
        found = syntax_edits.method_of(given.path, given.class_name, given.method_name)
        return syntax_edits.replaced(context, given.path, grammar, given.new_code, found)
    return _replace(context, given.path, _read(given.new_code, given.method_name, _FUNCTION, given.class_name), find)


def _grammar(path: str) -> Grammar | None:
    """The grammar of a file that is not Python's; None of one that may be."""
    grammar = grammar_of(path)
    if grammar is None and path.endswith(tuple(BY_SUFFIX)):
        raise ToolError("invalid", f"{path}: {MISSING}; use replace_in_file")
    return grammar


def _read(code: str, name: str, wanted: type | tuple[type, ...], class_name: str = "") -> NewCode:
    plain = name.rpartition(".")[2]
    around = class_name.rpartition(".")[2]
    return read_definition(code, name=plain, wanted=wanted, class_name=around)


# --- exchanging lines -------------------------------------------------------------------------------------------------


def _replace(
    context: ToolContext, given_path: str, code: NewCode, find: Callable[[str, list[Definition], NewCode], Definition]
) -> ToolResult:
    path, text, tree = _target(context, given_path)
    found = definitions(tree)
    target = find(path, found, code)
    lines = text.split("\n")
    # Decorators that the new code does not mention stay.
    start = target.start if code.node.decorator_list else target.line
    indent = leading(lines[target.line - 1])
    new = indented(code, indent, placing.indent_unit(tree, lines))
    comments = code.offset
    if start != target.start or (comments and lines[: target.start - 1][-comments:] == new[:comments]):
        new = new[comments:]
    result = placing.with_imports("\n".join([*lines[: start - 1], *new, *lines[target.end :]]), code.imports)
    return _finish(context, path, text, result, f"replaced {target.kind} {target.qualname}", (start, target.end))


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


def _finish(
    context: ToolContext, path: str, before: str, after: str, what: str, lines: tuple[int, int] | None = None
) -> ToolResult:
    if after == before:
        return ToolResult(text=f"{path} has this code already", data=Edit(path=path, action="none", count=0))
    if path.endswith(PYTHON_SUFFIXES):
        try:
            parse(path, after)
        except ToolError as error:
            raise ToolError("syntax_error", f"the edit was refused, since {error.message}") from error
    context.write(path, after)
    place = f" (lines {lines[0]}-{lines[1]})" if lines else ""
    start, end = lines or (None, None)
    data = Edit(path=path, action="changed" if before else "made", start_line=start, end_line=end)
    return ToolResult(text=f"{what} in {path}{place}", data=data, changed_files=(path,))


# --- adding -----------------------------------------------------------------------------------------------------------


@tool(
    InjectFunction,
    Edit,
    "Add a new function, or a new method of a class, to a source file.",
    side_effect="write",
    task_types=CODE_TASKS,
)
def inject_function(context: ToolContext, given: InjectFunction) -> ToolResult:
    """Add a function or method that is not there yet."""
    if grammar := _grammar(given.path):
        return syntax_edits.added(
            context,
            given.path,
            grammar,
            given.new_code,
            name=given.function_name,
            class_name=given.class_name,
            after=given.after,
        )
    code = _read(given.new_code, given.function_name, _FUNCTION, given.class_name)
    name = code.node.name
    if context.workspace.exists(given.path):
        path, text, tree = _target(context, given.path)
    else:
        path, text, tree = context.workspace.relative(given.path), "", ast.Module(body=[], type_ignores=[])
    found = definitions(tree)
    lines = text.split("\n") if text else []
    owner = _one_class(path, found, lines, given.class_name) if given.class_name else None
    _require_new(path, found, owner, name)
    anchor = _anchor(path, found, owner, given.after)
    after_line = anchor.end if anchor else owner.end if owner else placing.end_of_definitions(tree, lines)
    indent = placing.body_indent(owner.node, lines) if owner else ""
    new = indented(code, indent, placing.indent_unit(tree, lines))
    result = placing.insert(lines, after_line, new, blank=1 if owner else 2)
    what = f"added {'method ' + owner.qualname + '.' if owner else 'function '}{name}"
    return _finish(context, path, text, placing.with_imports("\n".join(result), code.imports), what)


def _one_class(path: str, found: list[Definition], lines: list[str], name: str) -> Definition:
    classes = targets.classes(path, found, name)
    if len(classes) > 1:
        places = ", ".join(str(item.line) for item in classes)
        raise ToolError("many_matches", f"{path} defines class {name} {len(classes)} times (lines {places})")
    if not placing.has_body_on_own_lines(classes[0].node, lines):
        raise ToolError("invalid", f"class {name} in {path} has its body on its first line; use replace_class")
    return classes[0]


def _require_new(path: str, found: list[Definition], owner: Definition | None, name: str) -> None:
    qualname = f"{owner.qualname}.{name}" if owner else name
    if any(item.qualname == qualname for item in found):
        tool = "replace_method" if owner else "replace_function"
        raise ToolError("invalid", f"{path} defines {qualname} already; use {tool}")


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


@tool(ReplaceFileContent, Edit, "Make a file or replace a short one whole.", side_effect="write", task_types=CODE_TASKS)
def replace_file_content(context: ToolContext, given: ReplaceFileContent) -> ToolResult:
    """Make a file, or replace a short one whole."""
    path = context.workspace.relative(given.path)
    exists = context.workspace.exists(path)
    before = context.workspace.read_text(path).text if exists else ""
    limit = context.settings.whole_file_lines
    count = before.count("\n") + (not before.endswith("\n") and bool(before))
    if count > limit:
        raise ToolError(
            "too_large",
            f"{path} has {count} lines, more than {limit}; change single definitions, or use replace_in_file",
        )
    content = without_fence(given.new_code) if path.endswith(PYTHON_SUFFIXES) else given.new_code.replace("\r\n", "\n")
    if content and not content.endswith("\n"):
        content += "\n"
    if not exists and not content:
        raise ToolError("invalid", "new_code is empty; give the whole new text")
    return _finish(context, path, before, content, f"wrote {content.count(chr(10))} lines")


TOOLS = (
    replace_function,
    replace_class,
    replace_method,
    inject_function,
    replace_file_content,
)
