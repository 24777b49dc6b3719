"""YAML through ruamel.yaml: reading without surprises, and setting one value with comments, quotes and layout kept."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from difflib import SequenceMatcher
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, SingleQuotedScalarString
from ruamel.yaml.util import load_yaml_guess_indent

from codur.tools.data.keys import Key, index_of, with_value
from codur.tools.tool import ToolError

_MAX_NODES = 200_000
_MAX_DEPTH = 100


def _yaml() -> YAML:
    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes = True
    yaml.width = 2**31
    yaml.allow_unicode = True
    return yaml


@contextmanager
def _reported(path: str) -> Iterator[None]:
    try:
        yield
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" line {mark.line + 1} column {mark.column + 1}" if mark else ""
        reason = " ".join((error.problem or error.context or "").split())
        raise ToolError("syntax_error", f"{path}{place}: {reason:.200}") from error
    except YAMLError as error:
        raise ToolError("syntax_error", f"{path}: {' '.join(str(error).split()):.200}") from error


def load_yaml(path: str, text: str) -> Any:
    """The document as plain values; dates as ISO 8601, and what has an unknown tag as the text or value under it.

    Raises:
        ToolError: `syntax_error` with line and column; `too_large`: its aliases stand for too much.
    """
    return plain(_round_trip(path, text))


def load_object(path: str, text: str) -> Any:
    """As `load_yaml`; an empty document is an empty object, in which something can be set."""
    found = load_yaml(path, text)
    return {} if found is None else found


def _round_trip(path: str, text: str) -> Any:
    """The document as ruamel.yaml's own values, which remember comments and layout."""
    with _reported(path):
        node = _yaml().compose(text)
        if node is not None:
            _size(path, node, 0, {})
        return _yaml().load(text)


def _size(path: str, node: Any, depth: int, sizes: dict[int, int]) -> int:
    """How many values a node stands for; what its aliases would blow up, or what holds itself, is refused."""
    if id(node) in sizes:
        if sizes[id(node)] < 0:
            raise ToolError("invalid", f"{path} has an alias that stands for what it is in")
        return sizes[id(node)]
    if depth > _MAX_DEPTH:
        raise ToolError("too_large", f"{path} is nested more than {_MAX_DEPTH} levels deep")
    sizes[id(node)] = -1
    total = 1
    for item in node.value if isinstance(node.value, list) else ():
        total += sum(_size(path, part, depth + 1, sizes) for part in (item if isinstance(item, tuple) else (item,)))
    if total > _MAX_NODES:
        raise ToolError("too_large", f"{path} stands for more than {_MAX_NODES} values")
    sizes[id(node)] = total
    return total


def plain(value: Any) -> Any:
    """A value of ruamel.yaml as JSON types."""
    if isinstance(value, dict):
        return {_name(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, date):
        return value.isoformat()
    return plain(value.value) if hasattr(value, "tag") and hasattr(value, "value") else str(value)


def _name(key: Any) -> str:
    found = plain(key)
    return found if isinstance(found, str) else "null" if found is None else str(found).lower()


def dump(value: Any, text: str = "") -> str:
    """The value as YAML, laid out as `text` is where that can be told."""
    yaml = _yaml()
    if text.strip():
        _, indent, offset = load_yaml_guess_indent(text)
        widths = (len(line) - len(line.lstrip(" ")) for line in text.split("\n") if line.strip()[:1] not in ("", *"#-"))
        step = min((width for width in widths if width), default=2)
        yaml.indent(mapping=step, sequence=indent or step, offset=offset or 0)
    yaml.explicit_start = text.lstrip().startswith("---")
    stream = io.StringIO()
    yaml.dump(value, stream)
    return stream.getvalue().removesuffix("...\n")


# --- one scalar -------------------------------------------------------------------------------------------------------


def splice_scalar(text: str, _document: Any, parts: tuple[Key, ...], value: Any) -> str | None:
    """The text with a scalar in the place of another; None if there is none at that place, or not on one line."""
    if isinstance(value, dict | list):
        return None
    node = _yaml().compose(text)
    for part in parts:
        node = _below(node, part)
    if node is None or isinstance(node.value, list) or node.style in ("|", ">") or node.anchor:
        return None
    start, end = node.start_mark.index, node.end_mark.index
    if start == end or "\n" in text[start:end]:
        return None
    return text[:start] + _scalar(value, text[start]) + text[end:]


def _below(node: Any, part: Key) -> Any:
    if node is None or not isinstance(node.value, list):
        return None
    if node.id == "sequence":
        place = index_of(node.value, part)
        return None if place is None else node.value[place]
    return next((value for key, value in node.value if key.value == str(part)), None)


def _scalar(value: Any, first: str) -> str:
    """A scalar on one line, in the quotes that the old one had."""
    if value is None:
        return "null"
    if isinstance(value, str) and first == "'" and value.isprintable():
        value = SingleQuotedScalarString(value)
    elif isinstance(value, str) and (first in "'\"" or "\n" in value):
        value = DoubleQuotedScalarString(value)
    return dump([value]).removeprefix("- ").rstrip("\n")


# --- the document written again ---------------------------------------------------------------------------------------


def rewritten(text: str, _document: Any, parts: tuple[Key, ...], value: Any) -> str | None:
    """The document with the value, written by the library; None if it has no such place."""
    before, after = _round_trip("", text), _round_trip("", text)
    if before is None:
        return text + dump(with_value("", {}, parts, value))
    if not parts:
        after = value
    elif not _put(after, parts, value):
        return None
    return _merged(text, dump(before, text), dump(after, text))


def _put(document: Any, parts: tuple[Key, ...], value: Any) -> bool:
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
