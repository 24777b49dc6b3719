"""The tool that reads JSON, YAML, TOML and INI files: the whole, or the value at a key."""

import configparser
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from codur.lazy import regex
from codur.parsing.json_text import load_strict
from codur.tools.flow.outputs import DataValue
from codur.tools.tool import Arg, ToolContext, ToolError, tool
from codur.types import ToolResult

_TOML_PLACE = regex(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_PART = regex(
    r"""\.?(?:\[(?P<index>-?\d{1,9})\]|\["(?P<double>[^"]*)"\]|\['(?P<single>[^']*)'\]|(?P<name>[^.\[\]]+))"""
)


@tool(DataValue)
def read_data(
    context: ToolContext,
    path: Annotated[str, Arg("JSON, YAML, TOML or INI file, relative to the workspace.", "data_path")],
    key: Annotated[str, Arg("Key such as a.b[0], or a JSON pointer; the whole file if left out.")] = "",
) -> ToolResult:
    """Read a JSON, YAML, TOML or INI file, or one value of it."""
    path = context.workspace.relative(path)
    load = _LOADERS.get(path.rpartition(".")[2].lower(), _load_json)
    value = value_at(path, load(path, context.workspace.read_text(path).text), key)
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return ToolResult(text=text, data=DataValue(path=path, key=key, value=json.loads(text)))


def _load_json(path: str, text: str) -> Any:
    try:
        return load_strict(text)
    except json.JSONDecodeError as error:
        raise _wrong(path, error.lineno, error.colno, error.msg) from error
    except ValueError as error:
        raise ToolError("syntax_error", f"{path}: {error}") from error


def _wrong(path: str, line: int, column: int, reason: str) -> ToolError:
    return ToolError("syntax_error", f"{path} line {line} column {column}: {reason:.200}")


def _load_yaml(path: str, text: str) -> Any:
    from codur.tools.files.yaml_text import load_yaml  # noqa: PLC0415 - lazy: loads PyYAML, and few runs meet YAML

    return load_yaml(path, text)


def _load_toml(path: str, text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        lines = text.rstrip("\n").split("\n")
        line, column = place.groups() if place and place[1] else (len(lines), len(lines[-1]) + 1)
        raise _wrong(path, int(line), int(column), _TOML_PLACE.sub("", str(error))) from error
    except RecursionError as error:
        raise ToolError("syntax_error", f"{path}: nests too deep to be read") from error


def _load_ini(path: str, text: str) -> dict[str, dict[str, str | None]]:
    """Sections with their own options; DEFAULT is one of them if it has any."""
    parser = configparser.RawConfigParser(allow_no_value=True, default_section="")
    try:
        parser.read_string(text, path)
    except configparser.MissingSectionHeaderError as error:
        raise _wrong(path, error.lineno, 1, "there is no section before it") from error
    except configparser.ParsingError as error:
        line, source = error.errors[0]
        raise _wrong(path, line, 1, f"cannot be read: {source:.100}") from error
    except configparser.Error as error:
        reason = " ".join(error.message.split()).rpartition("]: ")[2]
        raise _wrong(path, getattr(error, "lineno", 1), 1, reason) from error
    return {name: dict(parser[name]) for name in parser.sections()}


_LOADERS: Mapping[str, Callable[[str, str], Any]] = {
    "json": _load_json,
    **dict.fromkeys(("yaml", "yml"), _load_yaml),
    **dict.fromkeys(("ini", "cfg"), _load_ini),
    "toml": _load_toml,
}
"""By the suffix; any other is read as JSON."""


def require_readable(path: str, before: str, after: str) -> None:
    """Refuse an edit of a data file after which nobody can read it; one that could not be read before may stay so.

    Raises:
        ToolError: `syntax_error` with the place.
    """
    load = _LOADERS.get(path.rpartition(".")[2].lower())
    if load is None:
        return
    try:
        load(path, after)
    except ToolError as error:
        try:
            load(path, before)
        except ToolError:  # such as JSON with comments, or a template
            return
        raise ToolError("syntax_error", f"with this edit {error.message}; nothing was changed") from error


def value_at(path: str, value: Any, key: str) -> Any:
    """The value that a key leads to: `a.b[0].c`, `a["x.y"]`, or a JSON pointer such as `/a/b/0/c` (RFC 6901).

    Raises:
        ToolError: `not_found` with the keys that there are.
    """
    for part in _parts(key):
        if isinstance(value, list):
            number = int(part) if re.fullmatch(r"-?\d{1,9}", part) else len(value)
            if not -len(value) <= number < len(value):
                raise ToolError("not_found", f"{path} has no {key}: there is a list of {len(value)} at {part}")
            value = value[number]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            there = ", ".join(list(value)[:12]) if isinstance(value, dict) else "no object"
            raise ToolError("not_found", f"{path} has no {key}; at {part} there is {there or 'nothing'}")
    return value


def _parts(key: str) -> list[str]:
    if key.startswith("/"):
        return [part.replace("~1", "/").replace("~0", "~") for part in key[1:].split("/")]
    parts = []
    at = 0
    while at < len(key):
        found = _PART.match(key, at)
        if found is None or (at == 0 and key[0] == "."):
            raise ToolError("invalid", f'{key!r:.80} is no key; write it like a.b[0], a["x.y"] or /a/b/0')
        parts.append(next(value for value in found.groups() if value is not None))
        at = found.end()
    return parts


TOOLS = (read_data,)
