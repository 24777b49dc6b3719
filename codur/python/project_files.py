"""What a Python project's own files declare: `pyproject.toml`, `setup.cfg` and `setup.py`, read and never run."""

import ast
import re
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codur.lazy import late, regex
from codur.structs import Struct, field

if TYPE_CHECKING:
    import configparser
else:
    configparser = late("configparser")
tomllib = late("tomllib")

MAX_BYTES = 500_000
MANY_PARTS = regex(r"^[ \t]*\[*(?:[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s.=#,\"']+)[ \t]*\.){100}", re.MULTILINE)
"""The dotted name of a setting; no numbers in a list, and no prose."""


class ProjectFiles(Struct):
    """The declarations of one project; what is absent or broken is empty."""

    pyproject: Mapping[str, Any]  # `pyproject.toml`
    setup_cfg: configparser.RawConfigParser  # `setup.cfg`
    # the keywords of `setup(...)` in `setup.py` whose values are written out there
    setup_call: Mapping[str, Any] = field(default_factory=dict)
    setup_where: tuple[str, ...] = ()  # the directories in which `setup.py` lets `find_packages` look


def read_project(root: Path) -> ProjectFiles:
    """The declarations of the project in a directory."""
    call, where = _setup_call(read_text(root / "setup.py"))
    return ProjectFiles(
        pyproject=read_toml(root / "pyproject.toml"),
        setup_cfg=read_ini(root / "setup.cfg"),
        setup_call=call,
        setup_where=where,
    )


def read_text(path: Path) -> str:
    """A file's text; empty if it is absent, too large or unreadable."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return ""
        return path.read_text("utf-8-sig", "replace")
    except OSError:
        return ""


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's content; empty if it is absent or broken."""
    text = read_text(path)
    return toml_of(text) or {} if text else {}


def toml_of(text: str) -> dict[str, Any] | None:
    """The content of TOML; None if it is broken, nests deeper than Python reads, or has names of very many parts."""
    if MANY_PARTS.search(text):  # tomllib takes minutes for one of 20,000
        return None
    try:
        return dict(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def read_ini(path: Path) -> configparser.RawConfigParser:
    """An INI file's content; what stands before an error in it, if there is one."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # names of settings count as they are written
    with suppress(configparser.Error):  # what was read before the error is kept
        parser.read_string(read_text(path))
    return parser


def table(data: object, *keys: str) -> dict[str, Any]:
    """The table at a path of keys; empty if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def words(value: object) -> list[str]:
    """The texts of a list, or the lines of a text."""
    items = value.splitlines() if isinstance(value, str) else value if isinstance(value, list | tuple | set) else ()
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]


def parsed(text: str | bytes) -> ast.Module | None:
    """The syntax tree of a Python text; None if it has none."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of code that is only looked at
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# --- setup.py ---------------------------------------------------------------------------------------------------------


def _setup_call(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    tree = parsed(text) if "setup" in text else None
    if tree is None:
        return {}, ()
    known = assigned_values(tree.body)
    values: dict[str, Any] = {}
    where: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called_name(node) == "setup":
            values |= {item.arg: value for item in node.keywords if item.arg and (value := literal(item.value, known))}
        elif isinstance(node, ast.Call) and called_name(node) in {"find_packages", "find_namespace_packages"}:
            first = [*node.args[:1], *(item.value for item in node.keywords if item.arg == "where")]
            where += [value for item in first if isinstance(value := literal(item, known), str)]
    return values, tuple(where)


def assigned_values(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """What statements assign to plain names."""
    return {
        target.id: statement.value
        for statement in body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def called_name(call: ast.Call) -> str:
    """The last part of a called function's name."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def literal(node: ast.expr, known: Mapping[str, ast.expr]) -> Any:
    """The value of an expression that is written out, here or where the name was assigned; else None."""
    if isinstance(node, ast.Name):
        node = known.get(node.id, node)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
