"""One value set in the text of a settings file: comments, quotes and order of all else stay.

Imports PyYAML; import this module only where a file is to be changed.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from codur.config.reading.origin import dotted
from codur.config.reading.yaml_source import parse_yaml
from codur.errors import ConfigError

_INDENT = 2


def with_value(text: str, path: tuple[str, ...], value: Any, *, name: str) -> str:
    """The text with a value at a key; what leads there is made.

    Args:
        value: in plain types.
        name: what errors call the text.

    Raises:
        ConfigError: the text holds no settings, or it is laid out so that the value cannot be put in alone.
    """
    before = parse_yaml(text.encode(), name).values
    after = _edited(text, path, value)
    if after is None or parse_yaml(after.encode(), name).values != _merged(before, path, value):
        raise ConfigError("cannot be set without changing more", file=name, key=dotted(path), remedy="Edit the file.")
    return after


def _merged(values: Any, path: tuple[str, ...], value: Any) -> Any:
    if not path:
        return value
    inner = values if isinstance(values, Mapping) else {}
    return {**inner, path[0]: _merged(inner.get(path[0]), path[1:], value)}


def _edited(text: str, path: tuple[str, ...], value: Any) -> str | None:
    node, key, depth = yaml.compose(text, Loader=yaml.SafeLoader), None, 0
    if node is None:
        return _with_line(text, len(text), _lines(path, value, 0))
    while depth < len(path) and (found := _entry(node, path[depth])) is not None:
        (key, node), depth = found, depth + 1
    if depth == len(path):
        return _replaced(text, key, node, value)
    if isinstance(node, yaml.MappingNode) and node.flow_style:
        return _in_braces(text, node, path[depth:], value)
    if isinstance(node, yaml.MappingNode):
        return _with_line(text, _end(node), _lines(path[depth:], value, node.start_mark.column))
    if key is not None and _is_empty(node):
        return _with_line(text, key.end_mark.index, _lines(path[depth:], value, key.start_mark.column + _INDENT))
    return None


def _entry(node: yaml.Node, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next(((key, value) for key, value in pairs if key.value == name), None)


def _is_empty(node: yaml.Node) -> bool:
    return node.start_mark.index == node.end_mark.index


def _end(node: yaml.Node) -> int:
    """Where the last character of a node is; of a block, the end of what it holds, not of the comments below it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        key, value = last if isinstance(last, tuple) else (last, last)
        return _end(key if _is_empty(value) else value)
    return int(node.end_mark.index)


def _replaced(text: str, key: yaml.Node | None, node: yaml.Node, value: Any) -> str | None:
    if key is not None and _is_empty(node):
        at = text.index(":", key.end_mark.index) + 1
        return f"{text[:at]} {_shown(value)}{text[at:]}"
    style = node.style if isinstance(node, yaml.ScalarNode) and node.style in ("'", '"') else None
    end = len(text[: _end(node)].rstrip())
    return text[: node.start_mark.index] + _shown(value, style if isinstance(value, str) else None) + text[end:]


def _in_braces(text: str, node: yaml.Node, path: tuple[str, ...], value: Any) -> str:
    for name in reversed(path):
        value = {name: value}
    at = node.end_mark.index - 1
    return f"{text[:at].rstrip()}{', ' if node.value else ''}{_shown(value)[1:-1]}{text[at:]}"


def _with_line(text: str, at: int, lines: str) -> str:
    """The text with lines after the one that a place is in."""
    end = text.find("\n", at)
    return f"{text}\n{lines}" if end < 0 and text else f"{text[: end + 1]}{lines}{text[end + 1 :]}"


def _lines(path: tuple[str, ...], value: Any, column: int) -> str:
    heads = [f"{' ' * (column + _INDENT * step)}{_shown(name)}:" for step, name in enumerate(path)]
    return "\n".join(heads) + f" {_shown(value)}\n"


def _shown(value: Any, style: str | None = None) -> str:
    """The value on one line."""
    text: str = yaml.safe_dump(
        value, default_flow_style=True, default_style=style, allow_unicode=True, sort_keys=False, width=10**6
    )
    return text.removesuffix("...\n").rstrip("\n")
