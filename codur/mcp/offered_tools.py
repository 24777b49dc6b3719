"""What servers offer and say, as it is passed on: bounded, without what a terminal acts on or a reader does not see.

Tools are named so that none of one server stands for another's.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from codur.lazy import regex
from codur.structs import Struct

_ESCAPES = regex(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_LINE_ENDS = {"\u2028": "\n", "\u2029": "\n", "\r": "\n"}


def clean(text: str, limit: int) -> str:
    """`text` without escape sequences, control and format characters, cut at `limit` characters.

    Line feeds and tabs stay.
    """
    text = _ESCAPES.sub("", text[: 4 * limit].replace("\r\n", "\n"))
    text = text.translate({ord(char): _shown(char) for char in set(text)})
    return text if len(text) <= limit else f"{text[:limit]}… [cut]"


def one_line(text: str, limit: int) -> str:
    """`clean`, on one line."""
    return clean(" ".join(clean(text, 4 * limit).split()), limit)


def _shown(char: str) -> str | None:
    if char in "\n\t":
        return char
    if char in _LINE_ENDS:
        return _LINE_ENDS[char]
    return None if unicodedata.category(char) in _UNSEEN else char


MAX_TOOLS = 128
MAX_RESOURCES = 256
MAX_DESCRIPTION = 600
"""Characters of a description that are passed on."""
MAX_SCHEMA = 16_384
"""Characters of a tool's input schema; a tool with a larger one is left out."""

_PREFIX = "mcp"
_MAX_NAME = 64  # model services accept names of this length, of letters, digits, `_` and `-`
_TOOL_NAME = regex(r"[!-~]{1,128}")
_ODD = regex(r"[^A-Za-z0-9_-]")
_DIGITS = 8


class Definition(Struct):
    """A tool as its server describes it."""

    server: str  # the server's name in the settings
    tool: str  # the server's name for it
    name: str  # its name here
    description: str  # cleaned and cut
    schema: Mapping[str, Any]  # JSON schema of its arguments
    digest: str  # SHA-256 of all that the server says of it


class Listing(Struct):
    """A server's tools in its order, and how many more it named: too many, twice, or not to be used."""

    tools: tuple[Definition, ...]
    left_out: int = 0


class Resource(Struct):
    """A resource as its server describes it, cleaned and cut; `size` in bytes is -1 if it is not told."""

    uri: str
    name: str
    description: str = ""
    mime_type: str = ""
    size: int = -1


class Answer(Struct):
    """What a tool call or a read resource gave."""

    text: str  # cleaned; what is no text is named in brackets
    structured: Any = None  # a tool's structured content, if it gave any
    failed: bool = False  # the tool says that it failed


def listing_of(server: str, raw: Iterable[Mapping[str, Any]]) -> Listing:
    """A server's tools as they are passed on, from its own words: `name`, `description`, `inputSchema` and so on."""
    kept: dict[str, Definition] = {}
    left_out = 0
    for entry in raw:
        definition = _definition(server, entry) if len(kept) < MAX_TOOLS else None
        # The first one keeps its name: a later one could otherwise take the place of a tool that the user knows.
        if definition is None or definition.name in kept:
            left_out += 1
        else:
            kept[definition.name] = definition
    return Listing(tools=tuple(kept.values()), left_out=left_out)


def shown_name(server: str, tool: str) -> str:
    """`mcp__server__tool`; a tool's name that is long or has other characters is shortened and told by its hash."""
    head = f"{_PREFIX}__{server}__"
    plain = _ODD.sub("_", tool)
    if plain == tool and len(head) + len(tool) <= _MAX_NAME:
        return head + tool
    # Two long names with the same beginning must not become one tool.
    mark = hashlib.sha256(tool.encode()).hexdigest()[:_DIGITS]
    return f"{head}{plain[: _MAX_NAME - len(head) - _DIGITS - 1]}-{mark}"


def server_of(name: str) -> str:
    """The server that a tool's name here belongs to; empty if it is no such name."""
    parts = name.split("__", 2)
    return parts[1] if len(parts) == 3 and parts[0] == _PREFIX else ""


def _definition(server: str, raw: Mapping[str, Any]) -> Definition | None:
    tool, schema = str(raw.get("name", "")), raw.get("inputSchema")
    if not _TOOL_NAME.fullmatch(tool) or not isinstance(schema, dict):
        return None
    if len(json.dumps(schema)) > MAX_SCHEMA:
        return None
    description = one_line(str(raw.get("description") or raw.get("title") or ""), MAX_DESCRIPTION)
    # All of it, also what is not passed on: a server could change what a field means that is left out here.
    whole = json.dumps(raw, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return Definition(
        server=server,
        tool=tool,
        name=shown_name(server, tool),
        description=description,
        schema=schema,
        digest=hashlib.sha256(whole.encode()).hexdigest(),
    )
