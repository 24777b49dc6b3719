"""Which definitions of servers' tools were used first, or accepted since: their hashes, in the state directory."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Literal

from codur.errors import StateError
from codur.store.state_list import StateList
from codur.structs import Struct, field

PinState = Literal["accepted", "changed", "new"]
"""Whether a tool is as it was accepted, was accepted otherwise, or came after its server's tools were accepted."""


class Pinned(Struct):
    """What is accepted of a server: a digest of how it is started or reached, and those of its tools by its names."""

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
    """The accepted definitions, without a file only in memory; StateError if it cannot be read or written, or is
    damaged.
    """

    def __init__(self, file: Path | None) -> None:
        self._list = StateList[_File](file, _File) if file else None
        self._memory: Mapping[str, Pinned] = {}

    def first_or_known(self, server: str, now: Pinned) -> Pinned:
        """What is accepted of a server; at its first use (or under other settings) that is what it offers `now`."""
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
        """Accept what a server offers now, in place of what was accepted before. A damaged list begins anew."""
        with self._locked():
            try:
                known = self._read()
            except StateError:
                known = {}
            self._write({**known, server: now})

    def known(self, server: str) -> Pinned | None:
        """What is accepted of a server, if anything."""
        return self._read().get(server)

    def _locked(self) -> AbstractContextManager[None]:
        return self._list.locked() if self._list else nullcontext()

    def _read(self) -> Mapping[str, Pinned]:
        if self._list is None:
            return self._memory
        try:
            held = self._list.read()
        except ValueError as error:  # an empty list would accept anything, so a damaged one accepts nothing
            raise StateError(
                f"the list of accepted MCP tools {self._list.file} is damaged",
                remedy="Look at each server's tools again with `codur mcp trust NAME`.",
            ) from error
        return held.servers if held else {}

    def _write(self, servers: Mapping[str, Pinned]) -> None:
        if self._list is None:
            self._memory = servers
        else:
            self._list.write(_File(version=1, servers=servers))
