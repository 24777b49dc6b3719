"""The files of a project that tell Codur what to do: what the user accepts or not."""

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from posixpath import basename
from typing import Literal

from msgspec import Struct

from codur.config.loader import PROJECT_FILES
from codur.config.protected import instructs_agents
from codur.errors import ConfigError

OWN_INSTRUCTIONS = ".codur/instructions.md"
INSTRUCTION_NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
"""Of these, the first that a project has anywhere counts, in every directory that has one (see https://agents.md)."""
MAX_BYTES = 1024**2
MAX_FILES = 100
_MAX_DIRECTORIES = 20_000
_MAX_DEPTH = 200  # before Python 3.12 the walk recurses
_SKIPPED = frozenset({"node_modules", "venv", "__pycache__", "__pypackages__", "site-packages"})


Kind = Literal["settings", "instructions", "agent_instructions"]


class ControlFile(Struct, frozen=True, kw_only=True):
    """A file that tells Codur what to do: settings, or instructions for models; or that tells other agents."""

    name: str
    kind: Kind
    content: bytes


def instruction_files(workspace: Path) -> tuple[ControlFile, ...]:
    """The instructions that a project has for models, from the top downwards.

    Raises:
        ConfigError: one is not a regular file, too large, leads out of the project, or cannot be read.
    """
    found, problems = usable_instruction_files(workspace)
    for problem in problems:
        raise problem
    return found


def usable_instruction_files(workspace: Path) -> tuple[tuple[ControlFile, ...], tuple[ConfigError, ...]]:
    """The same, and what is wrong with those that cannot be used."""
    names, unread = _instruction_names(workspace)
    found, problems = _read_all(workspace, names, "instructions")
    closed = (_unusable(name or ".", "cannot be read, so no instructions in it count") for name in unread)
    return found, (*closed, *problems)


def other_instruction_files(workspace: Path) -> tuple[ControlFile, ...]:
    """The usable instructions of a project that other agents read and Codur does not; those near the top first."""
    found, _, _ = _named(workspace, instructs_agents)
    own, _ = _instruction_names(workspace)
    names = sorted({*found} - {*own}, key=_top_first)[:MAX_FILES]
    # Without the problems: whoever looks for instructions to follow does not find those files either.
    return _read_all(workspace, names, "agent_instructions")[0]


def _read_all(
    workspace: Path, names: Iterable[str], kind: Kind
) -> tuple[tuple[ControlFile, ...], tuple[ConfigError, ...]]:
    found: list[ControlFile] = []
    problems: list[ConfigError] = []
    for name in names:
        try:
            content = _read(workspace, name)
        except ConfigError as error:
            problems.append(error)
            continue
        if content is not None:
            found.append(ControlFile(name=name, kind=kind, content=content))
    return tuple(found), tuple(problems)


def _instruction_names(workspace: Path) -> tuple[list[str], list[str]]:
    """The instruction files' paths, those near the top first, and the directories that cannot be read."""
    files, directories, unread = _named(workspace, lambda name: name in INSTRUCTION_NAMES)
    found = [*files, *directories]
    kinds = ([path for path in found if basename(path) == name] for name in INSTRUCTION_NAMES)
    first = next(filter(None, kinds), [])
    return [*sorted(first, key=_top_first)[:MAX_FILES], OWN_INSTRUCTIONS], unread


def _top_first(path: str) -> tuple[int, str]:
    return path.count("/"), path


def _named(workspace: Path, wanted: Callable[[str], bool]) -> tuple[list[str], list[str], list[str]]:
    """The paths of files and of directories whose names are wanted, and the directories that cannot be read."""
    found: tuple[list[str], list[str]] = ([], [])
    unread: list[str] = []

    def failed(error: OSError) -> None:
        if isinstance(error, PermissionError):
            unread.append(os.path.relpath(error.filename, workspace))

    for count, (directory, inner, files) in enumerate(os.walk(workspace, onerror=failed), 1):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name not in _SKIPPED)
        base = os.path.relpath(directory, workspace)
        for kind, names in zip(found, (files, inner), strict=True):
            kind += [name if base == "." else f"{base}/{name}" for name in names if wanted(name)]
        if base.count("/") >= _MAX_DEPTH:
            inner.clear()
        if count >= _MAX_DIRECTORIES:
            break
    return *found, unread


def control_names() -> tuple[str, ...]:
    """The names of all files that tell Codur what to do."""
    return (*PROJECT_FILES, *INSTRUCTION_NAMES, OWN_INSTRUCTIONS)


def _read(workspace: Path, name: str) -> bytes | None:
    path = workspace / name
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(workspace)):
        raise _unusable(name, "leads out of the project")
    # Without waiting: a pipe with no writer would block for ever.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unusable(name, f"cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _unusable(name, "is not a regular file")
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise _unusable(name, "is larger than 1 MiB, too large for instructions")
    return data


def _unusable(name: str, why: str) -> ConfigError:
    return ConfigError(why, file=name, remedy="Remove the file, or put a readable text there.")
