"""Texts kept outside the run's state, under their content hash."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from pathlib import Path

from codur.errors import WorkspaceError

_REFERENCE = re.compile(r"[0-9a-f]{64}")


class ArtifactStore:
    """A directory of texts; equal texts are kept once.

    Args:
        directory: made when the first text is put; only its owner may read it.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, text: str) -> str:
        """Keep a text and return its reference, the SHA-256 of its UTF-8 bytes.

        Raises:
            WorkspaceError: it cannot be written.
        """
        data = text.encode("utf-8", "surrogatepass")
        reference = hashlib.sha256(data).hexdigest()
        target = self._directory / reference
        try:
            if not target.exists():
                self._write(target, data)
        except OSError as error:
            raise WorkspaceError(f"cannot keep an output in {self._directory}: {error.strerror}") from error
        return reference

    def get(self, reference: str) -> str:
        """The text that `put` gave the reference for.

        Raises:
            WorkspaceError: there is none, or it is damaged.
        """
        if not _REFERENCE.fullmatch(reference):
            raise WorkspaceError(f"{reference!r} is not a reference to a kept output")
        try:
            data = (self._directory / reference).read_bytes()
        except OSError as error:
            raise WorkspaceError(f"the kept output {reference[:12]} cannot be read: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != reference:
            raise WorkspaceError(f"the kept output {reference[:12]} is damaged")
        return data.decode("utf-8", "surrogatepass")

    def _write(self, target: Path, data: bytes) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = self._directory / f".{secrets.token_hex(12)}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
            temporary.replace(target)
        except OSError:
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()
            raise
