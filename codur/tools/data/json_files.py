"""Tools for JSON and TOML files."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any

from codur.tools.arguments import argument
from codur.tools.data.json_splice import splice
from codur.tools.data.keys import parse_key, value_at, with_value
from codur.tools.flow.outputs import DataValue, Edit
from codur.tools.tool import READING_TASKS, WRITING_TASKS, ToolContext, ToolError, tool
from codur.types import ToolResult

KEY = "Key such as a.b[0], or a JSON pointer; the whole file if left out."
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadJson:
    path: str = argument("JSON file, relative to the workspace.", accepts="json_path")
    key: str = argument(KEY, "")


@tool(ReadJson, DataValue, "Read a JSON file, or one value of it.")
def read_json(context: ToolContext, given: ReadJson) -> ToolResult:
    """The value as JSON text."""
    path = context.workspace.relative(given.path)
    return shown(path, given.key, load_json(path, context.workspace.read_text(path).text))


def shown(path: str, key: str, document: Any) -> ToolResult:
    """A value of a document as the result of a tool."""
    value = value_at(path, document, key)
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return ToolResult(text=text, data=DataValue(path=path, key=key, value=json.loads(text)))


def load_json(path: str, text: str) -> Any:
    """The document.

    Raises:
        ToolError: `syntax_error` with line and column.
    """
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        place = f"{path} line {error.lineno} column {error.colno}"
        raise ToolError("syntax_error", f"{place}: {error.msg}") from error


def _no_number(name: str) -> None:
    raise ToolError("syntax_error", f"the file holds {name}, which is no JSON")


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteJson:
    path: str = argument("JSON file to make or to replace, relative to the workspace.", accepts="json_path")
    value: Any = argument("The whole new content as JSON.")


@tool(WriteJson, Edit, "Make or replace a JSON file.", side_effect="write", task_types=WRITING_TASKS)
def write_json(context: ToolContext, given: WriteJson) -> ToolResult:
    """The value, indented as the file was, or by two blanks."""
    path = context.workspace.relative(given.path)
    before = context.workspace.read_text(path).text if context.workspace.exists(path) else None
    indent = re.search(r"^[\[{]\n([ \t]+)", before or "")
    text = json.dumps(given.value, indent=indent[1] if indent else 2, ensure_ascii=False, allow_nan=False)
    return written(context, path, before, f"{text}\n", f"wrote {path}")


def written(context: ToolContext, path: str, before: str | None, after: str, what: str) -> ToolResult:
    """Write a data file, and say so."""
    if before == after:
        return ToolResult(text=f"{path} has this content already", data=Edit(path=path, action="none", count=0))
    context.write(path, after)
    action = "made" if before is None else "changed"
    return ToolResult(text=what, data=Edit(path=path, action=action), changed_files=(path,))


@dataclass(frozen=True, slots=True, kw_only=True)
class SetJsonValue:
    path: str = argument("JSON file, relative to the workspace.", accepts="json_path")
    key: str = argument("Key such as a.b[0], or a JSON pointer; objects on the way are made.")
    value: Any = argument("The new value as JSON.")


@tool(SetJsonValue, Edit, "Set one value in a JSON file.", side_effect="write", task_types=WRITING_TASKS)
def set_json_value(context: ToolContext, given: SetJsonValue) -> ToolResult:
    """Exchange the value's own characters; all others stay."""
    path = context.workspace.relative(given.path)
    text = context.workspace.read_text(path).text
    document = load_json(path, text)
    parts = parse_key(given.key)
    json.dumps(given.value, allow_nan=False)
    wanted = with_value(path, document, parts, given.value)
    after = (
        text if wanted == document and repr(wanted) == repr(document) else splice(text, document, parts, given.value)
    )
    if load_json(path, after) != wanted:
        raise ToolError("invalid", f"{path} gives a name twice, so {given.key} cannot be set; use replace_in_file")
    return written(context, path, text, after, f"set {given.key or 'all'} in {path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadToml:
    path: str = argument("TOML file, relative to the workspace.", accepts="toml_path")
    key: str = argument(KEY, "")


@tool(ReadToml, DataValue, "Read a TOML file, or one value of it.", task_types=READING_TASKS)
def read_toml(context: ToolContext, given: ReadToml) -> ToolResult:
    """The value as JSON text; dates in ISO 8601."""
    path = context.workspace.relative(given.path)
    text = context.workspace.read_text(path).text
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _TOML_PLACE.search(message)
        lines = text.rstrip("\n").split("\n")
        line, column = place.groups() if place and place[1] else (len(lines), len(lines[-1]) + 1)
        told = _TOML_PLACE.sub("", message)
        raise ToolError("syntax_error", f"{path} line {line} column {column}: {told}") from error
    return shown(path, given.key, document)


TOOLS = (read_json, write_json, set_json_value, read_toml)
