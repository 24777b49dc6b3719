"""Pytest's settings of a workspace: which file holds them, and what they say. Nothing is run."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codur.python.project_files import read_ini, read_toml, table
from codur.structs import Struct, field, replace

SETTINGS_FILES = (
    "pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg",
)  # fmt: skip
"""In the order in which pytest looks for them; the first one with settings is the only one that counts."""
_WHOLE = frozenset({"pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"})
"""They count even if they are empty."""


class PytestSettings(Struct):
    """The settings of one directory."""

    file: str = ""  # the file that pytest takes them from; empty if no file has any
    values: Mapping[str, Any] = field(default_factory=dict)  # what it says
    ignored: tuple[str, ...] = ()  # files in the same directory with settings that pytest does not look at

    def words(self, name: str) -> list[str]:
        """A setting's words; empty if it is not set."""
        value = self.values.get(name)
        if isinstance(value, list):
            return [str(item) for item in value]
        return _split(value) if isinstance(value, str) else []


def settings_for(root: Path, paths: Sequence[Path], *, native: bool = True, top: Path | None = None) -> PytestSettings:
    """The settings that pytest takes for a command: those in the nearest directory above the paths that it names.

    Args:
        root: the workspace.
        paths: absolute paths in it that the command names; without any, pytest begins at the top.
        native: whether this pytest reads settings in the types of TOML.
        top: the last directory that is looked at, above the workspace; None for the workspace.
    """
    common = Path(os.path.commonpath(paths)) if paths else root
    for start in (common, *paths):
        for directory in (start, *start.parents):
            if not directory.is_relative_to(top or root):
                break
            settings = pytest_settings(directory, native=native)
            if settings.file:
                return replace(settings, file=os.path.relpath(directory / settings.file, root))
    return PytestSettings()


def pytest_settings(root: Path, *, native: bool = True) -> PytestSettings:
    """The settings that pytest takes from one directory."""
    found = {name: values for name in SETTINGS_FILES if (values := _read(root / name, native=native)) is not None}
    if not found:
        return PytestSettings()
    file, *ignored = found
    return PytestSettings(file=file, values=found[file], ignored=tuple(ignored))


def _read(path: Path, *, native: bool) -> dict[str, Any] | None:
    """What a file says of pytest; None if it is absent or says nothing."""
    if not path.is_file():
        return None
    if path.suffix == ".toml":
        return _read_toml(path, native=native)
    parser = read_ini(path)
    section = "tool:pytest" if path.name == "setup.cfg" else "pytest"
    if parser.has_section(section):
        return dict(parser.items(section))
    return {} if path.name in _WHOLE else None


def _read_toml(path: Path, *, native: bool) -> dict[str, Any] | None:
    data = read_toml(path)
    if path.name in _WHOLE:
        return table(data, "pytest") if native else None
    settings = table(data, "tool", "pytest")
    own = {name: value for name, value in settings.items() if native and name != "ini_options"}
    return own or (table(settings, "ini_options") if "ini_options" in settings else None)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an open quote
        return text.split()
