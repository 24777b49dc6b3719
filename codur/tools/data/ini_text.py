"""INI files as configparser reads them; a change leaves comments and all other lines as they are."""

from __future__ import annotations

import configparser
import re
from collections.abc import Mapping
from typing import Any

from codur.tools.tool import ToolError

_SECTION = re.compile(r"^\[(.+)\].*$", re.MULTILINE)
_SAYS_SOMETHING = re.compile(r"^[ \t]*[^\s#;].*$", re.MULTILINE)
_COMMENTS = ("#", ";")


def load_ini(path: str, text: str) -> dict[str, dict[str, str | None]]:
    """Sections with their own options; DEFAULT is one of them if it has any.

    Raises:
        ToolError: `syntax_error` with the line.
    """
    parser = configparser.RawConfigParser(allow_no_value=True, default_section="")
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
    return {name: dict(parser[name]) for name in parser.sections()}


def written(sections: Mapping[str, Any]) -> str:
    """The text of a file with these sections, in their order.

    Raises:
        ToolError: `invalid`: a name or value that cannot stand in such a file.
    """
    parts = []
    for name, options in sections.items():
        if not isinstance(options, Mapping):
            raise ToolError("invalid", f"section {name!r:.60} must be an object of options and their texts")
        lines = [f"{option_name(key)} = {option_text(value)}".rstrip() for key, value in options.items()]
        parts.append("\n".join([f"[{section_name(name)}]", *lines]))
    return "\n\n".join(parts) + "\n"


def with_option(text: str, section: str, key: str, value: str) -> str:
    """The text with another value of an option, or with one option more."""
    heads = list(_SECTION.finditer(text))
    number = next((at for at, head in enumerate(heads) if head[1] == section), None)
    if number is None:
        above = f"{text.rstrip(chr(10))}\n\n" if text.strip() else ""
        return f"{above}[{section}]\n{key} = {value}\n"
    start, end = heads[number].end(), next((head.start() for head in heads[number + 1 :]), len(text))
    option = _option(key).search(text, start, end)
    if option is None:
        last = max((line.end() for line in _SAYS_SOMETHING.finditer(text, start, end)), default=start)
        return f"{text[:last]}\n{f'{key} = {value}'.rstrip()}{text[last:]}"
    mark = option["mark"] or " = "
    gap = "" if option["value"] or mark.endswith(" ") else " "
    return text[: option.start()] + f"{option['key']}{mark}{gap}{value}".rstrip() + text[option.end() :]


def _option(key: str) -> re.Pattern[str]:
    """An option with the lines that go on with its value, and the empty ones and comments between them."""
    name, between = re.escape(key), r"(?:[ \t]*\n|[ \t]+[#;].*\n)*"
    first = rf"^(?P<key>{name})(?P<mark>[ \t]*[=:][ \t]*|(?=[ \t]*$))(?P<value>.*)"
    return re.compile(rf"{first}(?:\n{between}[ \t]+[^\s#;].*)*", re.MULTILINE | re.IGNORECASE)


def section_name(name: str) -> str:
    """The name, if it can be a section's."""
    if not name.strip() or "\n" in name or "]" in name:
        raise ToolError("invalid", f"{name!r:.60} is no name of a section")
    return name


def option_name(name: object) -> str:
    """The name, if it can be an option's."""
    text = str(name).strip()
    if not text or any(char in text for char in "=:\n") or text.startswith((*_COMMENTS, "[")):
        raise ToolError("invalid", f"{text!r:.60} is no name of an option")
    return text


def option_text(value: object) -> str:
    """The text, with further lines indented so that they belong to it."""
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    lines = text.replace("\r\n", "\n").strip().split("\n")
    if any(not line.strip() or line.strip().startswith(_COMMENTS) for line in lines[1:]):
        raise ToolError("invalid", "a value of several lines must have neither empty ones nor comments")
    return "\n    ".join(line.strip() for line in lines)
