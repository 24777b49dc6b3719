"""Tools for INI files, as configparser reads them; a change leaves comments and all other lines as they are."""

from __future__ import annotations

import configparser
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codur.tools.arguments import argument
from codur.tools.data.json_files import shown, written
from codur.tools.flow.outputs import DataValue, Edit
from codur.tools.tool import WRITING_TASKS, ToolContext, ToolError, tool
from codur.types import ToolResult

_SECTION = re.compile(r"\[(?P<name>.+)\]")
_OPTION = re.compile(r"(?P<key>.*?)(?P<mark>\s*(?:[=:]\s*))(?P<value>.*)$")
_COMMENTS = ("#", ";")


def load_ini(path: str, text: str) -> dict[str, dict[str, str | None]]:
    """Sections with their own options; DEFAULT is one of them if it has any.

    Raises:
        ToolError: `syntax_error` with the line.
    """
    parser = configparser.RawConfigParser(allow_no_value=True)
    try:
        parser.read_string(text, path)
    except configparser.MissingSectionHeaderError as error:
        place = f"{path} line {error.lineno} column 1"
        raise ToolError("syntax_error", f"{place}: there is no section before it") from error
    except configparser.ParsingError as error:
        line, source = error.errors[0]
        raise ToolError("syntax_error", f"{path} line {line} column 1: cannot be read: {source:.100}") from error
    except configparser.Error as error:
        line = getattr(error, "lineno", 1)
        reason = " ".join(error.message.split()).rpartition("]: ")[2]
        raise ToolError("syntax_error", f"{path} line {line} column 1: {reason}") from error
    found = {name: dict(parser._sections[name]) for name in parser.sections()}  # type: ignore[attr-defined]
    return {"DEFAULT": dict(parser.defaults()), **found} if parser.defaults() else found


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadIni:
    path: str = argument("INI file, relative to the workspace.", accepts="ini_path")
    section: str = argument("Only this section.", "")
    key: str = argument("Only this option of the section.", "")


@tool(ReadIni, DataValue, "Read an INI file, or a section or option of it.")
def read_ini(context: ToolContext, given: ReadIni) -> ToolResult:
    """Sections and their options as JSON text; values as they are written."""
    path = context.workspace.relative(given.path)
    document: Any = load_ini(path, context.workspace.read_text(path).text)
    if given.key and not given.section:
        raise ToolError("invalid", "give the section of the key, too")
    names = [name for name in (given.section, given.key.lower()) if name]
    for name in names:
        if name not in document:
            raise ToolError("not_found", f"{path} has no {name}; there is {', '.join(document) or 'nothing'}")
        document = document[name]
    result = shown(path, "", document)
    return ToolResult(text=result.text, data=DataValue(path=path, key=".".join(names), value=result.data.value))


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteIni:
    path: str = argument("INI file to make or to replace, relative to the workspace.", accepts="ini_path")
    sections: Mapping[str, Any] = argument("Sections, each an object of options and their texts.")


@tool(WriteIni, Edit, "Make or replace an INI file.", side_effect="write", task_types=WRITING_TASKS)
def write_ini(context: ToolContext, given: WriteIni) -> ToolResult:
    """The sections in their order."""
    path = context.workspace.relative(given.path)
    parts = []
    for name, options in given.sections.items():
        if not isinstance(options, Mapping):
            raise ToolError("invalid", f"section {name!r:.60} must be an object of options and their texts")
        lines = [f"{_key(key)} = {_value(value)}".rstrip() for key, value in options.items()]
        parts.append("\n".join([f"[{_section(name)}]", *lines]))
    before = context.workspace.read_text(path).text if context.workspace.exists(path) else None
    after = "\n\n".join(parts) + "\n"
    load_ini(path, after)
    return written(context, path, before, after, f"wrote {path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SetIniValue:
    path: str = argument("INI file, relative to the workspace.", accepts="ini_path")
    section: str = argument("Section of the option; it is made if it is absent.")
    key: str = argument("Option to set; it is made if it is absent.")
    value: str = argument("Its new text.")


@tool(SetIniValue, Edit, "Set one option in an INI file.", side_effect="write", task_types=WRITING_TASKS)
def set_ini_value(context: ToolContext, given: SetIniValue) -> ToolResult:
    """Exchange the lines of one option, or add one."""
    path = context.workspace.relative(given.path)
    text = context.workspace.read_text(path).text
    wanted = load_ini(path, text)
    section, key, value = _section(given.section), _key(given.key), _value(given.value)
    wanted.setdefault(section, {})[key.lower()] = value.replace("\n    ", "\n")
    after = _with_option(text, section, key, value)
    if load_ini(path, after) != wanted:
        raise ToolError("invalid", f"{section}.{key} cannot be set in {path} so; use replace_in_file")
    return written(context, path, text, after, f"set {section}.{key} in {path}")


def _with_option(text: str, section: str, key: str, value: str) -> str:
    lines = text.split("\n")
    start = next((at for at, line in enumerate(lines) if _name_of_section(line) == section), None)
    if start is None:
        gap = [] if not text.strip() else [""]
        body = "\n".join(lines).rstrip("\n").split("\n") if text.strip() else []
        return "\n".join([*body, *gap, f"[{section}]", f"{key} = {value}", ""])
    end = next((at for at in range(start + 1, len(lines)) if _name_of_section(lines[at]) is not None), len(lines))
    last = start
    for at in range(start + 1, end):
        if not lines[at].strip() or lines[at].strip().startswith(_COMMENTS):
            continue
        if lines[at][:1] in " \t" and last > start:
            last = at
            continue
        option = _OPTION.match(lines[at])
        name = (option["key"] if option else lines[at]).strip().lower()
        last = at
        if name == key.lower():
            mark = option["mark"] if option and option["mark"].strip() else " = "
            mark = mark if option is None or option["value"] or mark.endswith(" ") else f"{mark} "
            head = option["key"] if option else lines[at].rstrip()
            return "\n".join([*lines[:at], f"{head}{mark}{value}".rstrip(), *lines[_after(lines, at, end) :]])
    return "\n".join([*lines[: last + 1], f"{key} = {value}".rstrip(), *lines[last + 1 :]])


def _after(lines: list[str], at: int, end: int) -> int:
    """The line after an option and those that go on with its value."""
    last = at
    for number in range(at + 1, end):
        if lines[number].strip() and lines[number][:1] not in " \t":
            break
        if lines[number].strip() and not lines[number].strip().startswith(_COMMENTS):
            last = number
    return last + 1


def _name_of_section(line: str) -> str | None:
    found = _SECTION.match(line) if line[:1] not in (" ", "\t") else None
    return found["name"] if found else None


def _section(name: str) -> str:
    if not name.strip() or "\n" in name or "]" in name:
        raise ToolError("invalid", f"{name!r:.60} is no name of a section")
    return name


def _key(name: object) -> str:
    text = str(name).strip()
    if not text or any(char in text for char in "=:\n") or text.startswith((*_COMMENTS, "[")):
        raise ToolError("invalid", f"{text!r:.60} is no name of an option")
    return text


def _value(value: object) -> str:
    """The text, with further lines indented so that they belong to it."""
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    lines = text.replace("\r\n", "\n").strip().split("\n")
    if any(not line.strip() or line.strip().startswith(_COMMENTS) for line in lines[1:]):
        raise ToolError("invalid", "a value of several lines must have neither empty ones nor comments")
    return "\n    ".join(line.strip() for line in lines)


TOOLS = (read_ini, write_ini, set_ini_value)
