"""A list that several processes read and change: a JSON file, read and written under a lock, replaced in one step."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

from msgspec import to_builtins

from codur.errors import StateError
from codur.store.atomic import PRIVATE_DIRECTORY, exclusive, state_errors, write_private
from codur.structs import convert

T = TypeVar("T")

_MAX_BYTES = 16 * 1024**2
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class StateList(Generic[T]):
    """The file; it and its directory are made when something is written.

    Args:
        kind: the struct that it holds.
    """

    def __init__(self, file: Path, kind: Any) -> None:
        self.file = file
        self._kind = kind

    @contextmanager
    def locked(self) -> Iterator[None]:
        """While this lasts, nobody else is in such a block. Raises StateError: the lock cannot be made."""
        with state_errors(self.file):
            self.file.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            with exclusive(self.file.with_name(f"{self.file.name}.lock")):
                yield

    def read(self) -> T | None:
        """What it holds; None if there is no file.

        Raises:
            StateError: it cannot be read, or others may write to it.
            ValueError: it does not hold what it should.
        """
        with state_errors(self.file):
            try:
                descriptor = os.open(self.file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            except FileNotFoundError:
                return None
            with os.fdopen(descriptor, "rb") as stream:
                self._require_private(os.fstat(descriptor))
                data = stream.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ValueError("too large")
        try:
            value: T = convert(json.loads(data), self._kind)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        return value

    def write(self, value: T) -> None:
        """Put a value in place of what it holds.

        Raises:
            OSError: it cannot be written; in a `locked` block a `StateError`.
        """
        plain = to_builtins(value, order="deterministic")
        write_private(self.file, json.dumps(plain, indent=1).encode("ascii"))  # names may be no UTF-8

    def _require_private(self, status: os.stat_result) -> None:
        if status.st_uid != os.geteuid() or status.st_mode & _OTHERS_WRITE or not stat.S_ISREG(status.st_mode):
            raise StateError(
                f"others could have written {self.file}, so it cannot be relied on",
                remedy="Look through it with `codur trust --list` (or `codur mcp list`) after: "
                f"chown $USER {self.file}; chmod 600 {self.file}",
            )
