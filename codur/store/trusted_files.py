"""Which projects' files the user has accepted, by real path and content."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from codur.errors import StateError
from codur.store.atomic import set_aside
from codur.store.state_list import StateList
from codur.structs import Struct


class Accepted(Struct):
    """A project that the user accepted.

    Attributes:
        when: the time, as it was given.
        files: SHA-256 by file name.
    """

    when: str = ""
    files: Mapping[str, str]


class _File(Struct):
    version: Literal[1]
    projects: dict[str, Accepted]


class TrustStore:
    """The list of accepted files.

    Args:
        file: where it is kept; it and its directory are made when something is accepted.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._list = StateList[_File](file, _File)

    def state_of(self, workspace: Path, name: str, content: bytes) -> Literal["accepted", "changed", "unknown"]:
        """Whether a file is accepted as it is, was accepted otherwise, or is not accepted at all.

        A damaged list accepts nothing.

        Raises:
            StateError: the list cannot be read, or others may write to it.
        """
        if self._is_inside(workspace):
            return "unknown"
        project = self.accepted().get(_key(workspace))
        known = project.files.get(name) if project else None
        if known is None:
            return "unknown"
        return "accepted" if known == digest(content) else "changed"

    def accepted(self) -> dict[str, Accepted]:
        """What is accepted, by the project's real path; nothing if the list is damaged.

        Raises:
            StateError: the list cannot be read, or others may write to it.
        """
        try:
            return self._read()
        except ValueError:
            return {}

    def accept(self, workspace: Path, files: Mapping[str, bytes], *, when: str) -> Path | None:
        """Accept a project's files with this content, in place of what was accepted of it before.

        Returns:
            Where a damaged list was put; None if there was none.

        Raises:
            StateError: the list cannot be read or written, or lies in the project itself.
        """
        if self._is_inside(workspace):
            raise StateError(
                f"the state directory {self._file.parent} lies in this project, which could accept itself",
                remedy="Set XDG_STATE_HOME to a directory elsewhere.",
            )
        entry = Accepted(when=when, files={name: digest(content) for name, content in files.items()})
        with self._list.locked():
            projects, damaged = dict[str, Accepted](), None
            try:
                projects = self._read()
            except ValueError:
                damaged = set_aside(self._file, when.replace(":", "-"))
            self._write({**projects, _key(workspace): entry})
        return damaged

    def revoke(self, workspace: Path) -> bool:
        """Accept nothing of a project any more; returns whether something was.

        Raises:
            StateError: the list cannot be read or written.
        """
        if not self._file.exists():
            return False
        with self._list.locked():
            projects = self.accepted()
            if projects.pop(_key(workspace), None) is None:
                return False
            self._write(projects)
        return True

    def _is_inside(self, workspace: Path) -> bool:
        return Path(os.path.realpath(self._file)).is_relative_to(os.path.realpath(workspace))

    def _read(self) -> dict[str, Accepted]:
        held = self._list.read()
        return held.projects if held else {}

    def _write(self, projects: dict[str, Accepted]) -> None:
        self._list.write(_File(version=1, projects=projects))


def digest(content: bytes) -> str:
    """The SHA-256 of a content, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _key(workspace: Path) -> str:
    return os.path.realpath(workspace)
