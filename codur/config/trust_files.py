"""The files of a project that tell Codur what to do: what the user accepts or not."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from codur.config.loader import PROJECT_FILES
from codur.errors import ConfigError

INSTRUCTION_FILES = ("AGENTS.md", ".codur/instructions.md")
MAX_BYTES = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlFile:
    """A file that tells Codur what to do: settings, or instructions for models."""

    name: str
    kind: Literal["settings", "instructions"]
    content: bytes


def instruction_files(workspace: Path) -> tuple[ControlFile, ...]:
    """The instructions that a project has for models.

    Raises:
        ConfigError: one is not a regular file, too large, or cannot be read.
    """
    found = ((name, _read(workspace / name, name)) for name in INSTRUCTION_FILES)
    return tuple(
        ControlFile(name=name, kind="instructions", content=content) for name, content in found if content is not None
    )


def settings_file(name: str, content: bytes) -> ControlFile:
    """A project's settings file with its content."""
    return ControlFile(name=name, kind="settings", content=content)


def control_names() -> tuple[str, ...]:
    """The names of all files that tell Codur what to do."""
    return (*PROJECT_FILES, *INSTRUCTION_FILES)


def _read(path: Path, name: str) -> bytes | None:
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
