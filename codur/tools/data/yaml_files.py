"""Tools for YAML files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from codur.tools.arguments import argument
from codur.tools.data.json_files import KEY, shown, written
from codur.tools.data.keys import Key, index_of, parse_key, with_value
from codur.tools.data.yaml_round import dump, load_yaml, plain, round_trip, splice_scalar
from codur.tools.flow.outputs import DataValue, Edit
from codur.tools.tool import WRITING_TASKS, ToolContext, ToolError, tool
from codur.types import ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadYaml:
    path: str = argument("YAML file, relative to the workspace.", accepts="yaml_path")
    key: str = argument(KEY, "")


@tool(ReadYaml, DataValue, "Read a YAML file, or one value of it.")
def read_yaml(context: ToolContext, given: ReadYaml) -> ToolResult:
    """The value as JSON text."""
    path = context.workspace.relative(given.path)
    return shown(path, given.key, load_yaml(path, context.workspace.read_text(path).text))


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteYaml:
    path: str = argument("YAML file to make or to replace, relative to the workspace.", accepts="yaml_path")
    value: Any = argument("The whole new content as JSON.")


@tool(WriteYaml, Edit, "Make or replace a YAML file.", side_effect="write", task_types=WRITING_TASKS)
def write_yaml(context: ToolContext, given: WriteYaml) -> ToolResult:
    """The value in block style."""
    path = context.workspace.relative(given.path)
    json.dumps(given.value)
    before = context.workspace.read_text(path).text if context.workspace.exists(path) else None
    after = dump(given.value)
    if load_yaml(path, after) != plain(given.value):
        raise ToolError("invalid", f"this content cannot be written as YAML without loss; use write_file for {path}")
    return written(context, path, before, after, f"wrote {path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SetYamlValue:
    path: str = argument("YAML file, relative to the workspace.", accepts="yaml_path")
    key: str = argument("Key such as a.b[0], or a JSON pointer; objects on the way are made.")
    value: Any = argument("The new value as JSON.")


@tool(
    SetYamlValue,
    Edit,
    "Set one value in a YAML file; comments and quotes stay.",
    side_effect="write",
    task_types=WRITING_TASKS,
)
def set_yaml_value(context: ToolContext, given: SetYamlValue) -> ToolResult:
    """Exchange one scalar's own characters; for anything else, write the document again with its layout."""
    path = context.workspace.relative(given.path)
    text = context.workspace.read_text(path).text
    parts = parse_key(given.key)
    json.dumps(given.value, allow_nan=False)
    before = load_yaml(path, text)
    wanted = with_value(path, {} if before is None else before, parts, given.value)
    if wanted == before and repr(wanted) == repr(before):
        return written(context, path, text, text, "")
    for after in (splice_scalar(path, text, parts, given.value), _rewritten(path, text, parts, given.value)):
        if after is not None and repr(_reread(path, after)) == repr(wanted):
            return written(context, path, text, after, f"set {given.key or 'all'} in {path}")
    raise ToolError("invalid", f"{given.key} cannot be set in {path} without changing more; use replace_in_file")


def _reread(path: str, text: str) -> Any:
    try:
        return load_yaml(path, text)
    except ToolError:  # the value did not fit in its place: the next way is tried, or the edit is refused
        return None


def _rewritten(path: str, text: str, parts: tuple[Key, ...], value: Any) -> str | None:
    """The document with the value, written by the library; None if the library does not give the old one back."""
    document = round_trip(path, text)
    if document is None:
        return text + dump(with_value(path, {}, parts, value))
    changed = round_trip(path, text)
    if not parts:
        changed = value
    elif not _set(changed, parts, value):
        return None
    return _merged(text, dump(document, text), dump(changed, text))


def _set(document: Any, parts: tuple[Key, ...], value: Any) -> bool:
    for number, part in enumerate(parts):
        name: Any = index_of(document, part) if isinstance(document, list) else _own_key(document, str(part))
        if number == len(parts) - 1 or name is None or (isinstance(document, dict) and name not in document):
            for later in reversed(parts[number + 1 :]):
                value = {str(later): value}
            if isinstance(document, list) and name is None:
                document.append(value)
            else:
                document[name] = value
            return True
        document = document[name]
        if not isinstance(document, list | dict):
            return False
    return False


def _own_key(document: Any, name: str) -> Any:
    """The key as the document has it: `80` may be a number there."""
    if name in document:
        return name
    return next((key for key in document if not isinstance(key, str) and str(key).lower() == name.lower()), name)


def _merged(text: str, before: str, after: str) -> str:
    """The text with the difference of two renderings put in: lines that the library writes otherwise stay."""
    old, one, two = (part.split("\n") for part in (text, before, after))
    place: dict[int, int] = {}
    for mine, theirs, size in SequenceMatcher(None, old, one, autojunk=False).get_matching_blocks():
        place.update({theirs + step: mine + step for step in range(size)})
    result = list(old)
    for kind, start, end, new_start, new_end in reversed(SequenceMatcher(None, one, two, autojunk=False).get_opcodes()):
        if kind == "equal":
            continue
        if any(line not in place for line in range(start, end)) or (start == end and start - 1 not in place):
            return after
        at = place[start] if start < end else place[start - 1] + 1
        while start == end and at and not result[at - 1].strip():
            # The library keeps empty lines with what is above them; what is added belongs above them, too.
            at -= 1
        result[at : at + end - start] = two[new_start:new_end]
    return "\n".join(result)


TOOLS = (read_yaml, write_yaml, set_yaml_value)
