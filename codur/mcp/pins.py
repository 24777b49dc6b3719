"""Which definitions of servers' tools were used first, or accepted since: their hashes, in the state directory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from codur.errors import StateError
from codur.store.atomic import PRIVATE_DIRECTORY, state_errors, write_private
from codur.store.flock import exclusive
from codur.structs import Struct, field

_MAX_BYTES = 16 * 1024**2

PinState = Literal["accepted", "changed", "new"]
"""Whether a tool is as it was accepted, was accepted otherwise, or came after its server's tools were accepted."""


class Pinned(Struct):
    """What is accepted of a server.

    Attributes:
        source: digest of what the settings say of how it is started or reached.
        tools: digests by the server's names of its tools.
    """

    source: str
    tools: Mapping[str, str] = field(default_factory=dict)

    def state_of(self, tool: str, digest: str) -> PinState:
        """How a definition stands to what is accepted."""
        known = self.tools.get(tool)
        if known is None:
            return "new"
        return "accepted" if known == digest else "changed"


class _File(Struct):
    version: Literal[1]
    servers: Mapping[str, Pinned]


class Pins:
    """The list of accepted definitions, read and written under a lock and replaced in one step.

    Args:
        file: where it is kept; None remembers for as long as this object lives.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._memory: Mapping[str, Pinned] = {}

    def first_or_known(self, server: str, now: Pinned) -> Pinned:
        """What is accepted of a server; at its first use (or under other settings) that is what it offers `now`.

        Raises:
            StateError: the list cannot be read or written, or is damaged.
        """
        with self._locked():
            known = self._read()
            found = known.get(server)
            # Other settings are another server, though it has the same name: what was accepted of the former says
            # nothing of it.
            if found is not None and found.source == now.source:
                return found
            self._write({**known, server: now})
            return now

    def accept(self, server: str, now: Pinned) -> None:
        """Accept what a server offers now, in place of what was accepted before. A damaged list begins anew.

        Raises:
            StateError: the list cannot be written.
        """
        with self._locked():
            try:
                known = self._read()
            except StateError:
                known = {}
            self._write({**known, server: now})

    def known(self, server: str) -> Pinned | None:
        """What is accepted of a server, if anything.

        Raises:
            StateError: the list cannot be read, or is damaged.
        """
        return self._read().get(server)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self._file is None:
            yield
            return
        with state_errors(self._file):
            self._file.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            with exclusive(self._file.with_name(f"{self._file.name}.lock")):
                yield

    def _read(self) -> Mapping[str, Pinned]:
        if self._file is None:
            return self._memory
        with state_errors(self._file):
            try:
                descriptor = os.open(self._file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            except FileNotFoundError:
                return {}
            with os.fdopen(descriptor, "rb") as stream:
                data = stream.read(_MAX_BYTES + 1)
        return self._servers(data)

    def _servers(self, data: bytes) -> Mapping[str, Pinned]:
        try:
            if len(data) <= _MAX_BYTES:
                return msgspec.json.decode(data, type=_File).servers
        except (ValueError, RecursionError):
            pass  # an empty list would accept anything, so a damaged one accepts nothing
        raise StateError(
            f"the list of accepted MCP tools {self._file} is damaged",
            remedy="Look at each server's tools again with `codur mcp trust NAME`.",
        )

    def _write(self, servers: Mapping[str, Pinned]) -> None:
        if self._file is None:
            self._memory = servers
            return
        data = msgspec.json.encode(_File(version=1, servers=servers), order="sorted")
        write_private(self._file, msgspec.json.format(data, indent=1))
