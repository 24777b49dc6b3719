"""Which projects' files the user has accepted, by real path and content."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from msgspec import convert, to_builtins

from codur.errors import StateError
from codur.store.atomic import PRIVATE_DIRECTORY, set_aside, state_errors, write_private
from codur.store.flock import exclusive
from codur.structs import Struct

_MAX_BYTES = 16 * 1024**2
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


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


class _DamagedError(Exception):
    """The file does not hold what it should."""


class TrustStore:
    """The list of accepted files. It is read and written under a lock, and replaced in one step.

    Args:
        file: where it is kept; it and its directory are made when something is accepted.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

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
        except _DamagedError:
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
        with self._locked():
            projects, damaged = self._read_or_set_aside(when)
            self._write({**projects, _key(workspace): entry})
        return damaged

    def revoke(self, workspace: Path) -> bool:
        """Accept nothing of a project any more; returns whether something was.

        Raises:
            StateError: the list cannot be read or written.
        """
        if not self._file.exists():
            return False
        with self._locked():
            projects = self.accepted()
            if projects.pop(_key(workspace), None) is None:
                return False
            self._write(projects)
        return True

    def _is_inside(self, workspace: Path) -> bool:
        return Path(os.path.realpath(self._file)).is_relative_to(os.path.realpath(workspace))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with state_errors(self._file):
            self._file.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            with exclusive(self._file.with_name(f"{self._file.name}.lock")):
                yield

    def _read_or_set_aside(self, stamp: str) -> tuple[dict[str, Accepted], Path | None]:
        try:
            return self._read(), None
        except _DamagedError:
            return {}, set_aside(self._file, stamp.replace(":", "-"))

    def _read(self) -> dict[str, Accepted]:
        with state_errors(self._file):
            try:
                descriptor = os.open(self._file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            except FileNotFoundError:
                return {}
            try:
                self._require_private(os.fstat(descriptor))
                data = _content(descriptor)
            finally:
                os.close(descriptor)
        return _projects(data)

    def _require_private(self, status: os.stat_result) -> None:
        if status.st_uid != os.geteuid() or status.st_mode & _OTHERS_WRITE or not stat.S_ISREG(status.st_mode):
            raise StateError(
                f"others could have written {self._file}, so it cannot be relied on",
                remedy="Look through it with `codur trust --list` after: "
                f"chown $USER {self._file}; chmod 600 {self._file}",
            )

    def _write(self, projects: Mapping[str, Accepted]) -> None:
        plain = to_builtins(_File(version=1, projects=dict(projects)), order="deterministic")
        data = json.dumps(plain, indent=1)
        write_private(self._file, data.encode("ascii"))


def _content(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb", closefd=False) as stream:
        return stream.read(_MAX_BYTES + 1)


def digest(content: bytes) -> str:
    """The SHA-256 of a content, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _key(workspace: Path) -> str:
    return os.path.realpath(workspace)


def _projects(data: bytes) -> dict[str, Accepted]:
    if len(data) > _MAX_BYTES:
        raise _DamagedError
    try:
        return convert(json.loads(data), _File).projects
    except (ValueError, RecursionError) as error:
        raise _DamagedError from error
