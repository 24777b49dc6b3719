"""YAML text as plain values with the line of every key.

The file may come from a stranger: its size, depth and number of values (with aliases written out) are bounded, only the
tags of plain data are read, and a key given twice is an error. Values read as `yaml.safe_load` reads them, except that
dates stay text and `1e6` is a number. Imports PyYAML; import this module only where there is YAML to read.
"""

import os
import re
from pathlib import Path
from typing import Any

import yaml

from codur.config.reading.origin import KeyPath, Place, Source, dotted, shown
from codur.errors import ConfigError

MAX_BYTES = 1_048_576
MAX_NODES = 20_000
MAX_DEPTH = 32

_CORE = "tag:yaml.org,2002:"
_MERGE = _CORE + "merge"
_TEXTS = frozenset({_CORE + "timestamp", _CORE + "value", _MERGE})
"""Scalars with a meaning in YAML that settings have no use for; they stay text."""
_SCALARS = frozenset(_CORE + name for name in ("null", "bool", "int", "float", "str")) | _TEXTS


def read_yaml(path: Path, name: str) -> Source:
    """The settings in the file `path`, which errors call `name`. An empty file holds no settings.

    Raises:
        ConfigError: unreadable, too large, not UTF-8, not YAML, not a mapping, a key given twice.
    """
    return parse_yaml(read_bytes(path, name), name)


def parse_yaml(data: bytes, name: str) -> Source:
    """The settings in the content of a file, which errors call `name`.

    Raises:
        ConfigError: not UTF-8, not YAML, not a mapping, a key given twice.
    """
    text = _decoded(data, name)
    reader = _Reader(name)
    values = reader.read(text)
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ConfigError(
            "must hold a mapping of keys to values", file=name, line=1, remedy="Write settings as key: value."
        )
    return Source(name=name, values=values, places=reader.places, default=Place(file=name))


def parse_value(text: str, name: str) -> Any:
    """The value of one YAML scalar or collection; `name` says in errors where it stands. Raises ConfigError."""
    return _Reader(name, lines=False).read(text)


def read_bytes(path: Path, name: str, *, kind: str = "settings file") -> bytes:
    """The content of a file, which errors call `name` and a `kind`. Raises ConfigError: unreadable, or too large."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe that nobody writes to is empty
        with os.fdopen(descriptor, "rb") as stream:
            os.set_blocking(descriptor, True)
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(
            f"cannot be read: {error.strerror}",
            file=name,
            remedy="Check that the file exists and that you may read it.",
        ) from error
    if len(data) > MAX_BYTES:
        remedy = "Keep only settings in it." if kind == "settings file" else f"Keep only the {kind} in it."
        raise ConfigError(f"is larger than 1 MiB, too large for a {kind}", file=name, remedy=remedy)
    return data


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError("is not UTF-8 text", file=name, line=line, remedy="Save the file as UTF-8.") from error


class _TooMuch(yaml.MarkedYAMLError):
    """Valid so far, but beyond a bound."""


class _Loader(yaml.SafeLoader):
    """The safe loader, bounded: composing recurses once a level, so depth must be checked before it goes down."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0
        self.nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.nodes += 1
        if self.depth >= MAX_DEPTH or self.nodes > MAX_NODES:
            limit = f"{MAX_DEPTH} levels" if self.depth >= MAX_DEPTH else f"{MAX_NODES} values"
            raise _TooMuch(problem=f"holds more than {limit}", problem_mark=self.get_mark())
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Dumper(yaml.SafeDumper):
    """The safe dumper, which quotes what `_Loader` would read as something else."""


# YAML 1.1 wants a point and a sign in numbers with an exponent; people, JSON and YAML 1.2 write 1e6.
for _kind in (_Loader, _Dumper):
    _kind.add_implicit_resolver(
        _CORE + "float", re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
    )


def yaml_text(document: Any, *, flow: bool | None = False, width: int = 110) -> str:
    """Plain values as YAML, which `parse_yaml` reads back.

    Args:
        flow: write mappings and lists in one line; None does so for those that hold no others.
        width: where lines are broken, in characters.
    """
    text: str = yaml.dump(
        document, Dumper=_Dumper, default_flow_style=flow, sort_keys=False, allow_unicode=True, width=width
    )
    return text


class _Reader:
    """Turns one document's nodes into values and remembers where keys and items stand."""

    def __init__(self, name: str, *, lines: bool = True) -> None:
        self._name = name
        self._lines = lines
        self._visited = 0
        self.places: dict[KeyPath, Place] = {}

    def read(self, text: str) -> Any:
        try:
            loader = _Loader(text)
            try:
                node = loader.get_single_node()
                return None if node is None else self._value(loader, node, ())
            finally:
                loader.dispose()
        except yaml.MarkedYAMLError as error:
            raise self._marked(error) from error
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            raise self._broken(f"the character {chr(error.character)!a} is not allowed", line) from error

    def _value(self, loader: _Loader, node: yaml.Node, path: KeyPath) -> Any:
        self._visited += 1
        if self._visited > MAX_NODES or len(path) > MAX_DEPTH:
            raise self._error("aliases (*name) stand for too many values", node, path, "Write the values out.")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(loader, node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == _CORE + "seq":
            for index, item in enumerate(node.value):
                self._remember(item, (*path, index))
            return [self._value(loader, item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and node.tag in _SCALARS:
            return self._scalar(loader, node, path)
        raise self._tag_error(node, path)

    def _mapping(self, loader: _Loader, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        if node.tag != _CORE + "map":
            raise self._tag_error(node, path)
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                merged = {**self._merged(loader, value, path), **merged}
        values: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                continue
            if not isinstance(key, yaml.ScalarNode) or key.tag != _CORE + "str":
                raise self._error("a key must be text", key, path, "Put the key in quotes.")
            name = str(key.value)
            here = (*path, name)
            if name in first:
                message = f"is given twice, first on line {first[name]}"
                raise self._error(message, key, here, "Keep one of them.")
            first[name] = key.start_mark.line + 1
            self._remember(key, here)
            values[name] = self._value(loader, value, here)
        return {**merged, **values}

    def _merged(self, loader: _Loader, node: yaml.Node, path: KeyPath) -> dict[str, Any]:
        """The mapping, or mappings (the first wins), that a merge key `<<` names."""
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, Any] = {}
        for part in parts:
            if not isinstance(part, yaml.MappingNode):
                raise self._error("<< must name a mapping", node, path, "Write << : *name of a mapping.")
            merged = {**self._value(loader, part, path), **merged}
        return merged

    def _scalar(self, loader: _Loader, node: yaml.ScalarNode, path: KeyPath) -> Any:
        if node.tag in _TEXTS:
            return node.value
        try:
            return loader.construct_object(node)
        except (ValueError, KeyError) as error:  # `!!int x`, `!!bool x`, or more digits than Python converts
            kind = node.tag.removeprefix(_CORE)
            raise self._error(f"cannot be read as {kind}", node, path, "Correct the value, or quote it.") from error

    def _remember(self, node: yaml.Node, path: KeyPath) -> None:
        self.places[path] = Place(file=self._name, line=node.start_mark.line + 1 if self._lines else 0)

    def _error(self, message: str, at: yaml.Node | int, path: KeyPath, remedy: str) -> ConfigError:
        """An error at a node or in a line; one of the text as a whole has no path."""
        line = at if isinstance(at, int) else at.start_mark.line + 1
        return ConfigError(message, file=self._name, line=line if self._lines else 0, key=dotted(path), remedy=remedy)

    def _tag_error(self, node: yaml.Node, path: KeyPath) -> ConfigError:
        tag = shown(node.tag.replace(_CORE, "!!"))
        return self._error(f"the tag {tag} is not allowed", node, path, "Use plain values without tags.")

    def _marked(self, error: yaml.MarkedYAMLError) -> ConfigError:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        problem = error.problem or ""
        if isinstance(error, _TooMuch):
            return self._error(problem, line, (), "Keep only settings in it.")
        if problem.startswith("but ") and error.context:
            problem = f"{error.context}, {problem}"
        return self._broken(problem, line)

    def _broken(self, problem: str, line: int) -> ConfigError:
        what = problem if problem.isprintable() else ascii(problem)
        remedy = "Correct the YAML there; check indentation and quotes."
        return self._error(f"not valid YAML: {what[:200]}", line, (), remedy)
