"""Texts kept outside the run's state, under their content hash."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from codur.errors import WorkspaceError
from codur.lazy import regex
from codur.store.atomic import PRIVATE_DIRECTORY, write_private

_REFERENCE = regex(r"[0-9a-f]{64}")


class ArtifactStore:
    """A directory of texts; equal texts are kept once.

    Args:
        directory: made when the first text is put; only its owner may read it.
        redact: applied to each text that is not to be kept exactly.
    """

    def __init__(self, directory: Path, *, redact: Callable[[str], str] = str) -> None:
        self._directory = directory
        self._redact = redact

    def put(self, text: str, *, exact: bool = False) -> str:
        """Keep a text and return its reference, the SHA-256 of its UTF-8 bytes.

        Args:
            exact: nothing is taken out of it, as it will be written to the workspace, whose own text it is.

        Raises:
            WorkspaceError: it cannot be written.
        """
        data = (text if exact else self._redact(text)).encode("utf-8", "surrogatepass")
        reference = hashlib.sha256(data).hexdigest()
        target = self._directory / reference
        try:
            if not target.exists():
                self._directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
                write_private(target, data, durable=False)  # after a loss of power the step is done again in any case
        except OSError as error:
            raise WorkspaceError(f"cannot keep an output in {self._directory}: {error.strerror}") from error
        return reference

    def get(self, reference: str) -> str:
        """The text that `put` gave the reference for. Raises WorkspaceError: there is none, or it is damaged."""
        if not _REFERENCE.fullmatch(reference):
            raise WorkspaceError(f"{reference!r} is not a reference to a kept output")
        try:
            data = (self._directory / reference).read_bytes()
        except OSError as error:
            raise WorkspaceError(f"the kept output {reference[:12]} cannot be read: {error.strerror}") from error
        if hashlib.sha256(data).hexdigest() != reference:
            raise WorkspaceError(f"the kept output {reference[:12]} is damaged")
        return data.decode("utf-8", "surrogatepass")
