"""YAML through ruamel.yaml: reading without surprises, and setting one value with comments, quotes and layout kept."""

from __future__ import annotations

import io
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from codur.tools.data.keys import Key, index_of
from codur.tools.tool import ToolError

if TYPE_CHECKING:
    from ruamel.yaml import YAML

_MAX_NODES = 200_000
_MAX_DEPTH = 100


def _yaml() -> YAML:
    from ruamel.yaml import YAML  # noqa: PLC0415 - lazy: 0.1 s, and few runs read YAML

    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes = True
    yaml.width = 2**31
    yaml.allow_unicode = True
    return yaml


def compose(path: str, text: str) -> Any:
    """The document's nodes, with their places in the text; None for an empty one.

    Raises:
        ToolError: `syntax_error` with line and column; `too_large`: its aliases stand for too much.
    """
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415 - lazy: as above

    try:
        node = _yaml().compose(text)
        _require_small(path, node)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" line {mark.line + 1} column {mark.column + 1}" if mark else ""
        raise ToolError("syntax_error", f"{path}{place}: {error.problem or error.context}") from error
    except YAMLError as error:
        raise ToolError("syntax_error", f"{path}: {' '.join(str(error).split()):.200}") from error
    return node


def _require_small(path: str, node: Any) -> None:
    """Refuse what its aliases would blow up, or what holds itself."""
    sizes: dict[int, int] = {}

    def size(node: Any, depth: int) -> int:
        if id(node) in sizes:
            if sizes[id(node)] < 0:
                raise ToolError("invalid", f"{path} has an alias that stands for what it is in")
            return sizes[id(node)]
        if depth > _MAX_DEPTH:
            raise ToolError("too_large", f"{path} is nested more than {_MAX_DEPTH} levels deep")
        sizes[id(node)] = -1
        total = 1
        if isinstance(node.value, list):
            for item in node.value:
                total += sum(size(part, depth + 1) for part in (item if isinstance(item, tuple) else (item,)))
        if total > _MAX_NODES:
            raise ToolError("too_large", f"{path} stands for more than {_MAX_NODES} values")
        sizes[id(node)] = total
        return total

    if node is not None:
        size(node, 0)


def load_yaml(path: str, text: str) -> Any:
    """The document as plain values; dates as ISO 8601, and what has an unknown tag as the text or value under it.

    Raises:
        ToolError: as `compose`.
    """
    return plain(round_trip(path, text))


def round_trip(path: str, text: str) -> Any:
    """The document as ruamel.yaml's own values, which remember comments and layout.

    Raises:
        ToolError: as `compose`.
    """
    from ruamel.yaml.error import MarkedYAMLError  # noqa: PLC0415 - lazy: as above

    compose(path, text)
    try:
        return _yaml().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" line {mark.line + 1} column {mark.column + 1}" if mark else ""
        raise ToolError("syntax_error", f"{path}{place}: {' '.join((error.problem or '').split()):.200}") from error


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
    if isinstance(value, date | datetime):
        return value.isoformat()
    return plain(value.value) if hasattr(value, "tag") and hasattr(value, "value") else str(value)


def _name(key: Any) -> str:
    found = plain(key)
    return found if isinstance(found, str) else "null" if found is None else str(found).lower()


def dump(value: Any, text: str = "") -> str:
    """The value as YAML, laid out as `text` is where that can be told."""
    from ruamel.yaml.util import load_yaml_guess_indent  # noqa: PLC0415 - lazy: as above

    yaml = _yaml()
    if text.strip():
        _, indent, offset = load_yaml_guess_indent(text)
        step = _step_of(text)
        yaml.indent(mapping=step, sequence=indent or step, offset=offset or 0)
    yaml.explicit_start = text.lstrip().startswith("---")
    stream = io.StringIO()
    yaml.dump(value, stream)
    return stream.getvalue().removesuffix("...\n")


def _step_of(text: str) -> int:
    widths = [len(line) - len(line.lstrip(" ")) for line in text.split("\n") if line.strip()[:1] not in ("", "#", "-")]
    return min((width for width in widths if width), default=2)


def splice_scalar(path: str, text: str, parts: tuple[Key, ...], value: Any) -> str | None:
    """The text with a scalar in the place of another; None if there is none at that place, or not on one line."""
    if isinstance(value, dict | list):
        return None
    node = compose(path, text)
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
    if isinstance(value, str) and first in "'\"":
        from ruamel.yaml.scalarstring import (  # noqa: PLC0415 - lazy: as above
            DoubleQuotedScalarString,
            SingleQuotedScalarString,
        )

        quoted = SingleQuotedScalarString if first == "'" and value.isprintable() else DoubleQuotedScalarString
        return dump([quoted(value)]).removeprefix("- ").rstrip("\n")
    if isinstance(value, str) and "\n" in value:
        from ruamel.yaml.scalarstring import DoubleQuotedScalarString  # noqa: PLC0415 - lazy: as above

        return dump([DoubleQuotedScalarString(value)]).removeprefix("- ").rstrip("\n")
    return "null" if value is None else dump([value]).removeprefix("- ").rstrip("\n")
