"""The files of a workspace, in order, without those that nobody means: caches, environments, what git ignores."""

import errno
import fnmatch
import os
import re
from collections.abc import Iterable, Iterator, Set
from functools import cache
from itertools import islice
from pathlib import Path

from codur.store.atomic import is_temporary
from codur.structs import Struct, field
from codur.workspace import ignore
from codur.workspace.disk.root import Root
from codur.workspace.ignore import IgnoreRules
from codur.workspace.paths import can_be_shown
from codur.workspace.problems import FileError

SKIPPED_DIRECTORIES: frozenset[str] = frozenset(
    ".git .hg .svn .codur .claude .idea .vscode .gradle .venv venv node_modules __pycache__ .mypy_cache .pytest_cache"
    " .ruff_cache .hypothesis .benchmarks .tox .nox .eggs .cache __pypackages__".split()
)
MADE_BY = frozenset({"pyvenv.cfg", "CACHEDIR.TAG", "CMakeCache.txt"})
"""What tells that a directory is an environment, a cache (https://bford.info/cachedir/) or a build."""
BUILDS = frozenset({"Cargo.toml", "pom.xml", "build.sbt"})
"""Beside one of these, `target` holds what a build made."""
_MAX_ENTRIES = 200_000  # more is no project, or one that is listed for longer than anybody waits
_MAX_PATTERN = 300


class Found(Struct):
    """Paths of files, in order, and those that are links among them and perhaps others."""

    paths: list[str]
    links: Set[str]


class _Progress(Struct, frozen=False, kw_only=False):
    """What a walk has come to: the entries that it may still look at, and the links that it met."""

    tracked: ignore.Tracked
    left: int = _MAX_ENTRIES
    links: set[str] = field(default_factory=set)


def find(root: Root, under: str, pattern: str | None, limit: int) -> Found:
    """The first files below a directory that match a glob, if there is one; `limit` of them at most.

    Raises:
        FileError: the pattern is too long.
    """
    glob = Glob(pattern) if pattern else None
    progress = _Progress(ignore.Tracked(root.path))
    found = (path for path in _files(root, under, progress) if glob is None or glob.matches(path))
    return Found(paths=list(islice(found, max(limit, 0))), links=progress.links)


def _files(root: Root, under: str, progress: _Progress) -> Iterator[str]:
    found = _walk(root, f"{under}/" if under else "", _rules_above(root, under), progress)
    return (path for path in found if not path.endswith("/"))


def directories(root: Root, under: str) -> Iterator[str]:
    """Paths of directories below `under`, as `walk` goes through them, also those that hold no file."""
    for path in _walk(
        root, f"{under}/" if under else "", _rules_above(root, under), _Progress(ignore.Tracked(root.path))
    ):
        if path.endswith("/"):
            yield path.rstrip("/")


def is_ignored(root: Root, path: str) -> bool:
    """Whether the path, which need not exist, or a directory around it is left out."""
    rules = _rules_above(root, path)
    around = (path[: place + 1] for place, letter in enumerate(path) if letter == "/")
    tracked = ignore.Tracked(root.path)
    return rules is not None and any(rules.ignores(each) and not tracked.has(each) for each in (*around, path))


def generated_beside(root: Root, listed: Iterable[str]) -> Iterator[str]:
    """Paths of files that git ignores in the directories of listed ones: what is made there, programs may need."""
    known = set(listed)
    for base in sorted({f"{path.rpartition('/')[0]}/" if "/" in path else "" for path in known}):
        for name, is_link in _entries(root, base, _Progress(ignore.Tracked(root.path))).items():
            if not (is_link or name.endswith("/") or f"{base}{name}" in known):
                yield f"{base}{name}"


def _rules_above(root: Root, under: str) -> IgnoreRules | None:
    rules: IgnoreRules | None = None
    parts = under.split("/") if under else []
    for depth in range(len(parts)):
        base = "".join(f"{part}/" for part in parts[:depth])
        rules = ignore.load(root, base, rules)
    return rules


def _walk(root: Root, base: str, rules: IgnoreRules | None, progress: _Progress) -> Iterator[str]:
    """Files, and directories with a slash at the end; depth first.

    It has a stack of its own, since a hostile tree is deeper than functions can call each other.
    """
    # Generators on a stack and not calls: a program can make a tree deeper than Python can call.
    open_directories = [_inside(root, base, rules, progress)]
    while open_directories:
        found = next(open_directories[-1], None)
        if found is None:
            open_directories.pop()
            continue
        path, rules = found
        if path.endswith("/"):
            open_directories.append(_inside(root, path, rules, progress))
        yield path


def _inside(
    root: Root, base: str, rules: IgnoreRules | None, progress: _Progress
) -> Iterator[tuple[str, IgnoreRules | None]]:
    """Paths in one directory that are listed, a directory's with `/`, and the rules that hold there."""
    entries = _entries(root, base, progress)
    if base and not MADE_BY.isdisjoint(entries):  # whatever its name; the workspace itself may be in an environment
        return
    if ignore.NAME in entries:
        rules = ignore.load(root, base, rules)
    if not BUILDS.isdisjoint(entries):
        entries.pop("target/", None)
    for key, is_link in entries.items():
        path = f"{base}{key}"
        if rules is not None and rules.ignores(path) and not progress.tracked.has(path):
            continue
        if is_link:
            if not _leads_to_a_file(root.path, path):
                continue
            progress.links.add(path)
        yield path, rules


def _entries(root: Root, base: str, progress: _Progress) -> dict[str, bool]:
    """Names in a directory, a directory's with `/`, and whether they are links; sorting them sorts the paths below."""
    found: dict[str, bool] = {}
    try:
        with root.directory(base.rstrip("/")) as descriptor, os.scandir(descriptor) as listing:
            for entry in listing:
                if progress.left <= 0:
                    break
                progress.left -= 1
                key = _listed_name(entry)
                if key:
                    found[key] = entry.is_symlink()
    except (PermissionError, FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG):  # nothing that could be edited is there
            return {}
        raise
    return dict(sorted(found.items()))


def _listed_name(entry: os.DirEntry[str]) -> str:
    """The entry's name in a listing; empty if it is left out."""
    if not can_be_shown(entry.name):
        return ""
    if entry.is_dir(follow_symlinks=False):
        return "" if entry.name in SKIPPED_DIRECTORIES else f"{entry.name}/"
    if is_temporary(entry.name) or not (entry.is_symlink() or entry.is_file(follow_symlinks=False)):
        return ""
    return entry.name


def _leads_to_a_file(root: Path, path: str) -> bool:
    try:
        real = os.path.realpath(root / path)
    except OSError:  # the link was taken away while it was read
        return False
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
