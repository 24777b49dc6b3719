"""Finds challenges below directories: by names, so that thousands take a moment, else by the check that is found."""

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from codur.batch.challenge_directory import PROMPT_FILE, Challenge
from codur.checks.entry import MAKEFILES, is_pytest_file, is_test_file
from codur.checks.find_check import EXPECTED_NAMES, CheckRequest, find_check
from codur.config.settings import VerificationSettings
from codur.errors import CodurError, UsageError, reason_of
from codur.structs import Struct, replace
from codur.workspace.workspace import Workspace

RESULTS_NAME = "codur-results"
"""Where results are put by default; never a challenge, nor part of one."""
LOOKED_FOR = "a prompt.txt, a challenge.yaml, or sources with an expected.txt, with tests or another check"
_MARKERS = frozenset({PROMPT_FILE, "challenge.yaml"})
_EXPECTED = frozenset(EXPECTED_NAMES)
_TEST_DIRECTORIES = frozenset({"tests", "test", "__tests__"})
_PROJECTS = frozenset({"pyproject.toml", "package.json", "Cargo.toml", "go.mod", "setup.py", *MAKEFILES})
_SOURCES = tuple(
    ".py .go .rs .js .mjs .cjs .jsx .ts .tsx .sh .rb .java .kt .c .cc .cpp .h .hpp .cs .php .pl .lua .swift".split()
)
_MOST_LOOKED_INTO = 200
"""Directories whose names say nothing, as one takes some 10 ms."""
_SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__", "venv", RESULTS_NAME})


class Found(Struct):
    """What is found below directories."""

    challenges: list[Challenge]  # by name, each once
    # directories with sources in which nothing says what is right, below those that were given
    passed_over: tuple[str, ...] = ()


def find_challenges(directories: Sequence[Path]) -> list[Challenge]:
    """The challenges in (or at) the given directories; see `search`."""
    return search(directories).challenges


def search(directories: Sequence[Path]) -> Found:
    """The challenges in (or at) the given directories.

    What is inside a challenge is not searched; links that are found on the way are not followed. A directory that
    cannot be read is a challenge with a problem. One that is given itself and holds sources is a challenge, too, if
    none is inside.

    Raises:
        UsageError: a directory is absent, or none holds a challenge.
    """
    found: dict[str, Challenge] = {}
    passed_over: dict[str, str] = {}
    looked_into = 0
    for directory in directories:
        require_directory(directory)
        start = os.path.realpath(directory)
        others: dict[str, bool] = {}
        paths = dict(_search(start, others))
        above = {parent for path in paths for parent in _parents(path)}
        # A project before its parts; else what is inside another.
        for path in sorted(others, key=lambda path: (not others[path], len(path) if others[path] else -len(path))):
            if path in above or not paths.keys().isdisjoint(_parents(path)):
                continue
            looked_into += path != start
            if path == start or (looked_into <= _MOST_LOOKED_INTO and _has_check(path)):
                paths[path] = ""
                above.update(_parents(path))
            else:
                passed_over[path] = str(directory / os.path.relpath(path, start))
        for path, unreadable in paths.items():
            name = path.rpartition("/")[2] if path == start else os.path.relpath(path, start)
            found.setdefault(path, Challenge(name=name or "/", directory=Path(path), problem=unreadable))
    if not found:
        names = ", ".join(str(item) for item in directories)
        raise UsageError(f"{names}: no challenge found", remedy=f"A challenge is a directory with {LOOKED_FOR}.")
    challenges = sorted(_with_unique_names(found.values()), key=lambda item: item.name)
    return Found(challenges=challenges, passed_over=tuple(sorted(passed_over.values())))


def _parents(path: str) -> list[str]:
    return list(map(str, Path(path).parents))


def _has_check(directory: str) -> bool:
    """Whether there is something that tells right from wrong, which its name does not say."""
    try:
        check = find_check(Workspace.open(Path(directory)), VerificationSettings(), CheckRequest())
    except CodurError:  # of its own files, which are told where it is worked on
        return False
    return check is not None and check.kind != "syntax"


def require_directory(path: Path) -> None:
    """Make sure that a path is a directory. Raises UsageError: it is none."""
    try:
        problem = "" if stat.S_ISDIR(path.stat().st_mode) else "no such directory"
    except OSError as error:
        problem = "no such directory" if isinstance(error, FileNotFoundError) else reason_of(error)
    if problem:
        raise UsageError(
            f"{path}: {problem}",
            remedy='Name challenge directories; to give these words as a task, quote them: codur run "solve …".',
        )


def _search(start: str, others: dict[str, bool]) -> Iterator[tuple[str, str]]:
    """Paths of challenges, each with what is wrong with it.

    Args:
        others: gets directories that hold sources alone, or what a project is declared by, and whether they do.
    """
    waiting = [start]
    while waiting:
        directory = waiting.pop()
        try:
            files, directories = _listing(directory)
            is_challenge = _is_challenge(directory, files, directories)
        except OSError as error:
            yield directory, f"{error.filename or directory}: cannot be read: {reason_of(error)}"
            continue
        if is_challenge:
            yield directory, ""
        else:
            is_project = not _PROJECTS.isdisjoint(files)
            if is_project or any(map(_is_source, files)):
                others[directory] = is_project
            waiting += [f"{directory.rstrip('/')}/{name}" for name in directories if name not in _SKIPPED]


def _listing(directory: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """What is directly in a directory: names of files, and of directories that may be entered."""
    files: list[str] = []
    directories: list[str] = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith("."):
                    directories.append(entry.name)
            elif entry.name in _MARKERS or entry.is_file():
                files.append(entry.name)
    return frozenset(files), tuple(directories)


def _is_challenge(directory: str, files: frozenset[str], directories: tuple[str, ...]) -> bool:
    if not _MARKERS.isdisjoint(files):
        return True
    if not any(_is_source(name) for name in files) and _PROJECTS.isdisjoint(files):
        return False
    if not _EXPECTED.isdisjoint(files) or any(
        name != "conftest.py" and (is_pytest_file(name) or is_test_file(name)) for name in files
    ):
        return True
    below = _TEST_DIRECTORIES.intersection(directories)
    return any(_is_source(name) for each in below for name in _listing(f"{directory}/{each}")[0])


def _is_source(name: str) -> bool:
    return name.endswith(_SOURCES) and name not in _SOURCES  # `.py` is a hidden file, and no source


def _with_unique_names(challenges: Iterable[Challenge]) -> list[Challenge]:
    """Challenges of the same name get as much of their path before it as tells them apart."""
    items = list(challenges)
    while True:  # ends: no two of them have the same path
        names = Counter(item.name for item in items)
        if len(names) == len(items):
            return items
        items = [replace(item, name=_longer(item)) if names[item.name] > 1 else item for item in items]


def _longer(item: Challenge) -> str:
    parts = item.directory.parts
    shown = item.name.count("/") + 2
    return "/".join(parts[-shown:]) if shown < len(parts) else str(item.directory)
