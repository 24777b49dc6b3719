"""YAML as plain values: the scalars of YAML 1.2, in which `on` and `12:30` are texts; imports PyYAML."""

import re
from typing import Any

import yaml

from codur.tools.tool import ToolError

_MAX_NODES = 200_000
_MAX_DEPTH = 100
_SCALARS = (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:[0-9]*\.[0-9]+|[0-9]+(?:\.[0-9]*(?=[eE]|\Z)|(?=[eE])))(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan",
        "-+0123456789.",
    ),
    ("merge", "<<", "<"),
)


class _Loader(yaml.SafeLoader):
    """The safe loader with other scalars; a tag of nobody's stands for the value under it."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own way to say it

    def construct_unknown(self, _suffix: str, node: yaml.Node) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self.construct_mapping(node)
        return self.construct_sequence(node) if isinstance(node, yaml.SequenceNode) else node.value


for _name, _form, _first in _SCALARS:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(rf"(?:{_form})\Z"), list(_first))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"\Z"), [""])
_Loader.add_multi_constructor("!", _Loader.construct_unknown)


def load_yaml(path: str, text: str) -> Any:
    """The document as plain values, whose keys are texts.

    Raises:
        ToolError: `syntax_error` with line and column; `too_large`: its aliases stand for too much.
    """
    try:
        loader = _Loader(text)  # which refuses characters that no document may hold
        node = loader.get_single_node()
        if node is None:
            return None
        _size(path, node, 0, {})
        return _plain(loader.construct_document(node))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" line {mark.line + 1} column {mark.column + 1}" if mark else ""
        reason = " ".join((error.problem or error.context or "").split())
        raise ToolError("syntax_error", f"{path}{place}: {reason:.200}") from error
    except yaml.YAMLError as error:
        raise ToolError("syntax_error", f"{path}: {' '.join(str(error).split()):.200}") from error


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


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key if isinstance(key, str) else _text(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple | set) else value


def _text(key: Any) -> str:
    return "null" if key is None else str(key).lower()
