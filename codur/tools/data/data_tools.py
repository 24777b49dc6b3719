"""Tools for JSON, YAML, TOML and INI files: a value is read or set by its key, and what is not set stays as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Annotated, Any

from codur.tools.data import ini_text
from codur.tools.data.json_splice import splice
from codur.tools.data.keys import Key, parse_key, value_at, with_value
from codur.tools.flow.outputs import DataValue, Edit, edited, unchanged
from codur.tools.tool import WRITING_TASKS, Arg, ToolContext, ToolError, tool
from codur.types import ToolResult

_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_Json = Annotated[str, Arg("JSON file, relative to the workspace.", "json_path")]
_Yaml = Annotated[str, Arg("YAML file, relative to the workspace.", "yaml_path")]
_Ini = Annotated[str, Arg("INI file, relative to the workspace.", "ini_path")]
_Key = Annotated[str, Arg("Key such as a.b[0], or a JSON pointer; the whole file if left out.")]
_KeyToSet = Annotated[str, Arg("Key such as a.b[0], or a JSON pointer; objects on the way are made.")]
_Content = Annotated[Any, Arg("The whole new content as JSON.")]
_Value = Annotated[Any, Arg("The new value as JSON.")]


Load = Callable[[str, str], Any]
"""Gives the document of a path and its text; raises `ToolError`."""
Way = Callable[[str, Any, tuple[Key, ...], Any], str | None]
"""Gives the text with another value, from the text, its document, the value's place and the value; or None."""


def _yaml() -> ModuleType:
    from codur.tools.data import yaml_text  # noqa: PLC0415 - lazy: ruamel.yaml takes 0.1 s, and few runs meet YAML

    return yaml_text


# --- reading ----------------------------------------------------------------------------------------------------------


@tool(DataValue)
def read_json(context: ToolContext, path: _Json, key: _Key = "") -> ToolResult:
    """Read a JSON file, or one value of it."""
    return _read(context, path, key, _load_json)


@tool(DataValue)
def read_yaml(context: ToolContext, path: _Yaml, key: _Key = "") -> ToolResult:
    """Read a YAML file, or one value of it."""
    return _read(context, path, key, _yaml().load_yaml)


@tool(DataValue)
def read_toml(
    context: ToolContext,
    path: Annotated[str, Arg("TOML file, relative to the workspace.", "toml_path")],
    key: _Key = "",
) -> ToolResult:
    """Read a TOML file, or one value of it."""
    return _read(context, path, key, _load_toml)


@tool(DataValue)
def read_ini(
    context: ToolContext,
    path: _Ini,
    section: Annotated[str, Arg("Only this section.")] = "",
    key: Annotated[str, Arg("Only this option of the section.")] = "",
) -> ToolResult:
    """Read an INI file, or a section or option of it."""
    path = context.workspace.relative(path)
    document: Any = ini_text.load_ini(path, context.workspace.read_text(path).text)
    if key and not section:
        raise ToolError("invalid", "give the section of the key, too")
    names = [name for name in (section, key.lower()) if name]
    for name in names:
        if name not in document:
            raise ToolError("not_found", f"{path} has no {name}; there is {', '.join(document) or 'nothing'}")
        document = document[name]
    return _shown(path, ".".join(names), document)


def _read(context: ToolContext, path: str, key: str, load: Load) -> ToolResult:
    path = context.workspace.relative(path)
    return _shown(path, key, value_at(path, load(path, context.workspace.read_text(path).text), key))


def _shown(path: str, key: str, value: Any) -> ToolResult:
    """A value as JSON text, its dates as they are written."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return ToolResult(text=text, data=DataValue(path=path, key=key, value=json.loads(text)))


def _load_json(path: str, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise ToolError("syntax_error", f"{path} line {error.lineno} column {error.colno}: {error.msg}") from error


def _no_number(name: str) -> None:
    raise ToolError("syntax_error", f"the file holds {name}, which is no JSON")


def _load_toml(path: str, text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        lines = text.rstrip("\n").split("\n")
        line, column = place.groups() if place and place[1] else (len(lines), len(lines[-1]) + 1)
        reason = _TOML_PLACE.sub("", str(error))
        raise ToolError("syntax_error", f"{path} line {line} column {column}: {reason}") from error


# --- writing whole files ----------------------------------------------------------------------------------------------


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def write_json(
    context: ToolContext,
    path: Annotated[str, Arg("JSON file to make or to replace, relative to the workspace.", "json_path")],
    value: _Content,
) -> ToolResult:
    """Make or replace a JSON file.

    It is indented as it was, or by two blanks.
    """
    path, before = _present(context, path)
    indent = re.search(r"^[\[{]\n([ \t]+)", before or "")
    text = json.dumps(value, indent=indent[1] if indent else 2, ensure_ascii=False, allow_nan=False)
    return _written(context, path, before, f"{text}\n", f"wrote {path}")


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def write_yaml(
    context: ToolContext,
    path: Annotated[str, Arg("YAML file to make or to replace, relative to the workspace.", "yaml_path")],
    value: _Content,
) -> ToolResult:
    """Make or replace a YAML file."""
    json.dumps(value)
    path, before = _present(context, path)
    after = _yaml().dump(value)
    if _yaml().load_yaml(path, after) != _yaml().plain(value):
        raise ToolError("invalid", f"this content cannot be written as YAML without loss; use write_file for {path}")
    return _written(context, path, before, after, f"wrote {path}")


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def write_ini(
    context: ToolContext,
    path: Annotated[str, Arg("INI file to make or to replace, relative to the workspace.", "ini_path")],
    sections: Annotated[Mapping[str, Any], Arg("Sections, each an object of options and their texts.")],
) -> ToolResult:
    """Make or replace an INI file."""
    path, before = _present(context, path)
    after = ini_text.written(sections)
    ini_text.load_ini(path, after)
    return _written(context, path, before, after, f"wrote {path}")


def _present(context: ToolContext, path: str) -> tuple[str, str | None]:
    """The path in its normal form, and the file's text if there is one."""
    path = context.workspace.relative(path)
    return path, context.workspace.read_text(path).text if context.workspace.exists(path) else None


def _written(context: ToolContext, path: str, before: str | None, after: str, what: str) -> ToolResult:
    if before == after:
        return unchanged(path, "this content")
    context.write(path, after)
    return edited(what, Edit(path=path, action="made" if before is None else "changed"))


# --- setting one value ------------------------------------------------------------------------------------------------


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def set_json_value(context: ToolContext, path: _Json, key: _KeyToSet, value: _Value) -> ToolResult:
    """Set one value in a JSON file.

    Its own characters are exchanged; all others stay.
    """
    return _set(context, path, (key, value), _load_json, [splice])


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def set_yaml_value(context: ToolContext, path: _Yaml, key: _KeyToSet, value: _Value) -> ToolResult:
    """Set one value in a YAML file; comments and quotes stay.

    A scalar's own characters are exchanged; for anything else, the document is written again with its layout.
    """
    yaml = _yaml()
    return _set(context, path, (key, value), yaml.load_object, [yaml.splice_scalar, yaml.rewritten])


@tool(Edit, side_effect="write", task_types=WRITING_TASKS)
def set_ini_value(
    context: ToolContext,
    path: _Ini,
    section: Annotated[str, Arg("Section of the option; it is made if it is absent.")],
    key: Annotated[str, Arg("Option to set; it is made if it is absent.")],
    value: Annotated[str, Arg("Its new text.")],
) -> ToolResult:
    """Set one option in an INI file."""
    path = context.workspace.relative(path)
    text = context.workspace.read_text(path).text
    wanted = ini_text.load_ini(path, text)
    section, key, value = ini_text.section_name(section), ini_text.option_name(key), ini_text.option_text(value)
    wanted.setdefault(section, {})[key.lower()] = value.replace("\n    ", "\n")
    after = ini_text.with_option(text, section, key, value)
    if ini_text.load_ini(path, after) != wanted:
        raise ToolError("invalid", f"{section}.{key} cannot be set in {path} so; use replace_in_file")
    return _written(context, path, text, after, f"set {section}.{key} in {path}")


def _set(context: ToolContext, path: str, given: tuple[str, Any], load: Load, ways: Sequence[Way]) -> ToolResult:
    """Write the text of the first way that comes to the document that is wanted."""
    path, (key, value) = context.workspace.relative(path), given
    text = context.workspace.read_text(path).text
    before, parts = load(path, text), parse_key(key)
    json.dumps(value, allow_nan=False)
    wanted = with_value(path, before, parts, value)
    if repr(wanted) == repr(before):
        return unchanged(path, "this content")
    for way in ways:
        after = way(text, before, parts, value)
        if after is not None and _says(path, after, wanted, load):
            return _written(context, path, text, after, f"set {key or 'all'} in {path}")
    raise ToolError("invalid", f"{key} cannot be set in {path} without changing more; use replace_in_file")


def _says(path: str, text: str, wanted: Any, load: Load) -> bool:
    try:
        return repr(load(path, text)) == repr(wanted)
    except ToolError:  # the value did not fit in its place: the next way is tried, or the edit is refused
        return False


TOOLS = (
    *(read_json, write_json, set_json_value, read_yaml, write_yaml, set_yaml_value),
    *(read_ini, write_ini, set_ini_value, read_toml),
)
