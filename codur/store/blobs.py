"""Contents kept under their SHA-256, each once, for all runs."""

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from codur.errors import StateError, reason_of
from codur.lazy import regex
from codur.store.atomic import PRIVATE_DIRECTORY, PRIVATE_FILE, shared, state_errors, sync_directory, temporary_name

_REFERENCE = regex(r"[0-9a-f]{64}")
_BLOCK = 1 << 20
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
LOCK_NAME = ".lock"


class BlobStore:
    """A directory of contents; made when the first is put. Files are their owner's alone and appear whole.

    A content that is put again counts as new, so that forgetting old ones (`codur.store.forget`) leaves it.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, data: bytes, *, durable: bool = True) -> str:
        """Keep a content.

        Args:
            durable: wait until it is on disk.

        Returns:
            Its reference: the SHA-256 in hexadecimal digits.

        Raises:
            StateError: it cannot be written.
        """
        reference = hashlib.sha256(data).hexdigest()
        with state_errors(self._directory):
            if self._renewed(reference, len(data)):
                return reference
            with self._temporary() as (descriptor, temporary):
                _write_all(descriptor, data)
                self._place(descriptor, temporary, reference, durable=durable)
        return reference

    def put_file(self, descriptor: int, *, durable: bool = True) -> str:
        """Keep what an open regular file holds from its start on, a block at a time; as `put`.

        Raises:
            StateError: it cannot be written.
            OSError: the file cannot be read.
        """
        block = os.pread(descriptor, _BLOCK, 0)
        # Most files fit one block, and are looked up before a temporary file is made.
        if len(block) < _BLOCK and not os.pread(descriptor, 1, len(block)):
            return self.put(block, durable=durable)
        digest = hashlib.sha256()
        offset = 0
        with self._temporary() as (target, temporary):
            while block := os.pread(descriptor, _BLOCK, offset):
                digest.update(block)
                with state_errors(self._directory):
                    _write_all(target, block)
                offset += len(block)
            reference = digest.hexdigest()
            with state_errors(self._directory):
                if self._renewed(reference, offset):
                    temporary.unlink()
                else:
                    self._place(target, temporary, reference, durable=durable)
        return reference

    def get(self, reference: str) -> bytes:
        """The content that `put` gave the reference for. Raises StateError: there is none, or it is damaged."""
        path = self._path(reference)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise StateError(f"the kept content {reference[:12]} cannot be read: {reason_of(error)}") from error
        if hashlib.sha256(data).hexdigest() != reference:
            raise StateError(f"the kept content {reference[:12]} is damaged", remedy="It cannot be brought back.")
        return data

    def __contains__(self, reference: str) -> bool:
        return _REFERENCE.fullmatch(reference) is not None and self._path(reference).is_file()

    def renew(self, references: Iterable[str]) -> set[str]:
        """Count contents as new; returns those that are here."""
        found: set[str] = set()
        if not self._directory.is_dir():
            return found
        # Shared with other readers, against the one who forgets: between the look and the use a content must not go.
        with state_errors(self._directory), shared(self._directory / LOCK_NAME):
            for reference in references:
                with contextlib.suppress(FileNotFoundError):
                    os.utime(self._path(reference))
                    found.add(reference)
        return found

    def sync(self, references: Iterable[str]) -> None:
        """Wait until contents that were put without waiting are on disk.

        Raises:
            StateError: one of them is gone, or the disk fails.
        """
        with state_errors(self._directory):
            for path in {self._path(reference) for reference in references}:
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def _path(self, reference: str) -> Path:
        if not _REFERENCE.fullmatch(reference):
            raise StateError(f"{reference!r} is not a reference to a kept content")
        return self._directory / reference[:2] / reference

    def _renewed(self, reference: str, size: int) -> bool:
        """Whether the content is here whole; a file of another size was cut by a crash of the machine."""
        path = self._path(reference)
        if not path.exists():
            return False
        with shared(self._directory / LOCK_NAME):
            try:
                # The size alone: reading every content again would cost as much as writing it.
                if path.stat().st_size != size:
                    return False
                os.utime(path)
            except FileNotFoundError:
                return False
        return True

    @contextlib.contextmanager
    def _temporary(self) -> Iterator[tuple[int, Path]]:
        path = self._directory / temporary_name("blob")
        with state_errors(self._directory):
            try:
                descriptor = os.open(path, _CREATE, PRIVATE_FILE)
            except FileNotFoundError:
                self._directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
                descriptor = os.open(path, _CREATE, PRIVATE_FILE)
        try:
            yield descriptor, path
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            os.close(descriptor)

    def _place(self, descriptor: int, temporary: Path, reference: str, *, durable: bool) -> None:
        target = self._path(reference)
        made = not target.parent.exists()
        if made:
            target.parent.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
        if durable:
            os.fsync(descriptor)
        temporary.replace(target)
        if durable:
            sync_directory(target.parent)
            if made:
                sync_directory(self._directory)


class MemoryBlobs(BlobStore):
    """Contents that are gone with the process; `contents` are theirs."""

    def __init__(self, contents: dict[str, bytes]) -> None:
        super().__init__(Path())
        self._contents = contents

    def put(self, data: bytes, **_: bool) -> str:
        """Keep a content; nothing is waited for."""
        reference = hashlib.sha256(data).hexdigest()
        self._contents[reference] = data
        return reference

    def put_file(self, descriptor: int, **_: bool) -> str:
        """Keep what an open regular file holds. Raises OSError: it cannot be read."""
        return self.put(os.pread(descriptor, os.fstat(descriptor).st_size, 0))

    def get(self, reference: str) -> bytes:
        """The content that `put` gave the reference for."""
        return self._contents[reference]

    def __contains__(self, reference: str) -> bool:
        return reference in self._contents

    def sync(self, references: Iterable[str]) -> None:
        """Nothing is waited for."""


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
