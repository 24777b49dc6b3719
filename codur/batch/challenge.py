"""Finds challenges: directories with a task and something to check it by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codur.errors import UsageError

PROMPT_FILE = "prompt.txt"
MARKERS = (PROMPT_FILE, "challenge.yaml")
DEFAULT_PROMPT = "Fix the program so that its check passes."
MAX_PROMPT_CHARS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """One challenge: its directory and the name it is listed under."""

    name: str
    directory: Path

    def prompt(self) -> str:
        """The text of `prompt.txt`, or a general one if there is none.

        Raises:
            UsageError: the file cannot be read.
        """
        path = self.directory / PROMPT_FILE
        try:
            if not path.exists():
                return DEFAULT_PROMPT
            if not path.is_file():  # reading a pipe would wait for a writer
                raise UsageError(f"{path}: is not a regular file", remedy="Write the task as plain text.")
            text = path.read_text(encoding="utf-8")[:MAX_PROMPT_CHARS]
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: cannot be read as UTF-8 text", remedy="Write the task as plain text.") from error
        return text if text.strip() else DEFAULT_PROMPT


def find_challenges(directories: Sequence[Path]) -> list[Challenge]:
    """The challenges in (or at) the given directories, by name, each once.

    A directory is a challenge if it holds a `prompt.txt` or a `challenge.yaml`; other directories are searched.

    Raises:
        UsageError: a directory is absent, or none holds a challenge.
    """
    found: dict[Path, Challenge] = {}
    for directory in directories:
        if not directory.is_dir():
            raise UsageError(
                f"{directory}: no such directory",
                remedy='Name challenge directories; to give these words as a task, quote them: codur run "solve …".',
            )
        for path in _search(directory):
            found.setdefault(path.resolve(), Challenge(name=_name(path, directory), directory=path))
    if not found:
        names = ", ".join(str(item) for item in directories)
        raise UsageError(
            f"{names}: no challenge found", remedy=f"A challenge is a directory with a {' or a '.join(MARKERS)}."
        )
    return sorted(found.values(), key=lambda item: item.name)


def _search(directory: Path) -> Iterator[Path]:
    try:
        if any((directory / marker).is_file() for marker in MARKERS):
            yield directory
            return
        children = [
            child
            for child in sorted(directory.iterdir())
            if child.is_dir() and not child.is_symlink() and not child.name.startswith(".")
        ]
    except OSError as error:
        raise UsageError(
            f"{directory}: cannot be read: {(error.strerror or 'unknown error').lower()}",
            remedy="Check the directory's permissions.",
        ) from error
    for child in children:
        yield from _search(child)


def _name(path: Path, start: Path) -> str:
    inside = path.relative_to(start).as_posix()
    return path.resolve().name if inside == "." else inside
