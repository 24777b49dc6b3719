"""A log of JSON objects, one a line, each with its checksum; it survives the death of its writer at any point."""

import json
import os
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from codur.errors import StateError
from codur.store.atomic import PRIVATE_FILE, set_aside, state_errors, sync_directory, write_private

_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_CRC = ',"crc":"'
_TAIL = len(_CRC) + len('00000000"}')


class AppendLog:
    """A file of JSON lines that one process writes. It is made by the first `append`.

    A last line that its writer did not finish is dropped. Any other line that does not fit its checksum is damage: the
    file is set aside under another name (`*.damaged-<time>`), and the good lines take its place.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._is_named = True

    def append(self, record: Mapping[str, Any], *, durable: bool = True) -> None:
        """Add an object; as `extend`."""
        self.extend([record], durable=durable)

    def extend(self, records: Iterable[Mapping[str, Any]], *, durable: bool = True) -> None:
        """Add objects.

        Args:
            durable: wait until they are on disk.

        Raises:
            StateError: they cannot be written; then the log is as it was.
        """
        with state_errors(self.path):
            descriptor = self._open()
            line = b"".join(_line(record) for record in records)
            # Where to go back to: half a line in the middle would be damage.
            end = os.lseek(descriptor, 0, os.SEEK_END)
            try:
                written = os.write(descriptor, line)
                while written < len(line):
                    written += os.write(descriptor, line[written:])
            except OSError:
                os.ftruncate(descriptor, end)
                raise
            if durable:
                os.fsync(descriptor)
                if not self._is_named:  # a crash could lose the new file with its synced content
                    sync_directory(self.path.parent)
                    self._is_named = True

    def read(self, *, on_damage: Callable[[str], None] | None = None) -> list[dict[str, Any]]:
        """The objects, oldest first; none if there is no file.

        Args:
            on_damage: called with one line that says what is damaged and where it was put; the good lines are returned.

        Raises:
            StateError: the file cannot be read, or it is damaged and `on_damage` was not given.
        """
        with state_errors(self.path):
            try:
                data = self.path.read_bytes()
            except FileNotFoundError:
                return []
        lines = data.split(b"\n")[:-1]  # what is after the last line end was not finished
        records = [(line, _record(line)) for line in lines]
        good = [record for _, record in records if record is not None]
        if len(good) == len(lines):
            return good
        message = self._repair(b"".join(line + b"\n" for line, record in records if record is not None))
        if on_damage is None:
            raise StateError(message, remedy="Try again: what is undamaged is used.")
        on_damage(message)
        return good

    def close(self) -> None:
        """Close the file; a later `append` opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _repair(self, good: bytes) -> str:
        self.close()
        with state_errors(self.path):
            aside = set_aside(self.path, time.strftime("%Y%m%dT%H%M%S"))
            write_private(self.path, good)
        return f"{self.path} was damaged; it was set aside as {aside.name}"

    def _open(self) -> int:
        if self._descriptor is None:
            self._is_named = self._is_named and self.path.exists()
            descriptor = os.open(self.path, _APPEND, PRIVATE_FILE)
            try:
                drop_torn_tail(descriptor)
            except OSError:
                os.close(descriptor)
                raise
            self._descriptor = descriptor
        return self._descriptor


def drop_torn_tail(descriptor: int) -> None:
    """Cut what is after the last line end, lest the next line be glued to it.

    Args:
        descriptor: of a file that is open for reading and writing.

    Raises:
        OSError: it cannot be read or cut.
    """
    end = size = os.lseek(descriptor, 0, os.SEEK_END)
    while end > 0:
        start = max(0, end - 4096)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)


def _line(record: Mapping[str, Any]) -> bytes:
    body = json.dumps(record, ensure_ascii=True, separators=(",", ":"))
    return f'{body[:-1]}{_CRC}{zlib.crc32(body.encode()):08x}"}}\n'.encode()


def _record(line: bytes) -> dict[str, Any] | None:
    """The object of a line; None if the line is not as it was written."""
    body, tail = line[:-_TAIL] + b"}", line[-_TAIL:]
    if tail != f'{_CRC}{zlib.crc32(body):08x}"}}'.encode():
        return None
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
