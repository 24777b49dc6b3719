"""The files of a workspace, in order, without those that nobody means: caches, environments, what git ignores."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from codur.workspace import ignore
from codur.workspace.files import TEMPORARY_SUFFIX
from codur.workspace.ignore import IgnoreRules
from codur.workspace.paths import can_be_shown
from codur.workspace.problems import FileError

SKIPPED_DIRECTORIES: frozenset[str] = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".codur",
        ".claude",
        ".idea",
        ".vscode",
        ".venv",
        "venv",
        "node_modules",
        "__pycache__",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".tox",
        ".nox",
        ".eggs",
        ".cache",
        "__pypackages__",
    }
)
_MAX_ENTRIES = 200_000
_MAX_PATTERN = 300


def walk(root: Path, under: str) -> Iterator[str]:
    """Paths of regular files below `under`, relative to `root`, in the order of their text.

    Links to directories are not followed; links to files count if they end at a regular file inside the root. Names
    that cannot be shown are left out. It stops after 200,000 directory entries.
    """
    budget = [_MAX_ENTRIES]
    rules: IgnoreRules | None = None
    parts = under.split("/") if under else []
    for depth in range(len(parts)):
        base = "".join(f"{part}/" for part in parts[:depth])
        rules = ignore.load(root, base, rules)
    yield from _walk(root, f"{under}/" if under else "", rules, budget)


def _walk(root: Path, base: str, rules: IgnoreRules | None, budget: list[int]) -> Iterator[str]:
    entries = _entries(root, base, budget)
    if any(entry.name == "pyvenv.cfg" for entry in entries.values()) and base:
        return
    if ignore.NAME in entries:
        rules = ignore.load(root, base, rules)
    for key, entry in entries.items():
        path = f"{base}{key}"
        if rules is not None and rules.ignores(path):
            continue
        if key.endswith("/"):
            yield from _walk(root, path, rules, budget)
        elif _is_listed_file(root, entry):
            yield path


def _entries(root: Path, base: str, budget: list[int]) -> dict[str, os.DirEntry[str]]:
    """Entries of a directory by name, a directory's with `/`; sorting these keys sorts the paths below them."""
    found: dict[str, os.DirEntry[str]] = {}
    try:
        with os.scandir(f"{root}/{base}") as listing:
            for entry in listing:
                if budget[0] <= 0:
                    break
                budget[0] -= 1
                if not can_be_shown(entry.name):
                    continue
                if not entry.is_dir(follow_symlinks=False):
                    found[entry.name] = entry
                elif entry.name not in SKIPPED_DIRECTORIES:
                    found[f"{entry.name}/"] = entry
    except (PermissionError, FileNotFoundError):
        return {}
    return dict(sorted(found.items()))


def _is_listed_file(root: Path, entry: os.DirEntry[str]) -> bool:
    if entry.name.endswith(TEMPORARY_SUFFIX):
        return False
    if not entry.is_symlink():
        return entry.is_file(follow_symlinks=False)
    real = os.path.realpath(entry.path)
    return real.startswith(f"{root}/") and Path(real).is_file()


class Glob:
    """A glob pattern: `*`, `?` and `[…]` inside a name, `**` for any directories.

    A pattern without `/` matches a file's name at any depth; with one, the whole relative path.

    Raises:
        FileError: the pattern is too long.
    """

    def __init__(self, pattern: str) -> None:
        if len(pattern) > _MAX_PATTERN:
            raise FileError(f"the pattern is longer than {_MAX_PATTERN} characters", code="invalid")
        trimmed = pattern.removeprefix("./").strip("/")
        whole = trimmed if "/" in trimmed else f"**/{trimmed}"
        self._parts = [None if part == "**" else re.compile(fnmatch.translate(part)) for part in whole.split("/")]

    def matches(self, path: str) -> bool:
        """Whether the pattern matches the relative posix path."""
        names = path.split("/")

        @cache
        def fits(part: int, name: int) -> bool:
            if part == len(self._parts):
                return name == len(names)
            pattern = self._parts[part]
            if pattern is None:
                return fits(part + 1, name) or (name < len(names) and fits(part, name + 1))
            return name < len(names) and pattern.match(names[name]) is not None and fits(part + 1, name + 1)

        return fits(0, 0)
