"""All MCP servers of a run: their tools and resources, and the rule that a tool stays what it was accepted as."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from codur.config.settings import McpServer
from codur.errors import StateError
from codur.mcp.connection import Ask, Connection, LoopThread, Place
from codur.mcp.offered_tools import Answer, Definition, Listing, Resource, server_of
from codur.mcp.server_errors import McpError, McpRefused, McpUsage
from codur.sandbox.cancel import CancelToken
from codur.store.state_list import StateList
from codur.structs import Struct, field

if TYPE_CHECKING:
    from codur.mcp.server_session import Session

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
    """The list of accepted definitions; without a file it is remembered for as long as this object lives.

    StateError if the list cannot be read or written, or is damaged.
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


T = TypeVar("T")
_PROMPTS = ("prompt", "task", "message", "query", "input")
"""Arguments that take a request in words, by their usual names."""


class McpServers:
    """The configured servers. Each is started or reached when it is first asked, and ended with this object.

    Safe to use from several threads. McpError (McpUsage, McpRefused) where a server gives no usable answer, and
    StateError where the list of what is accepted cannot be used.

    Args:
        pins: which definitions are accepted.
        cancel: ends what is waited for when it is set.
        time_left: seconds that a request may take at most, beside the server's own limit.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        place: Place,
        *,
        pins: Pins | None = None,
        cancel: CancelToken | None = None,
        time_left: Callable[[], float] | None = None,
    ) -> None:
        self._servers = servers
        self._place = place
        self._pins = pins or Pins(None)
        self._cancel = cancel
        self._time_left = time_left
        self._loop = LoopThread()
        self._lock = threading.Lock()
        self._connections: dict[str, Connection] = {}

    def __enter__(self) -> McpServers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all sessions, and the servers that were started here."""
        with self._lock:
            connections, self._connections = self._connections, {}
        for connection in connections.values():
            connection.close()
        self._loop.close()

    def names(self) -> tuple[str, ...]:
        """The servers' names, sorted."""
        return tuple(sorted(self._servers))

    def server(self, name: str) -> McpServer:
        """A server's settings; McpUsage if there is no such server."""
        if name not in self._servers:
            known = ", ".join(self.names())
            remedy = f"There are {known}." if known else "Add it to mcp_servers in your settings."
            raise McpUsage(f"there is no MCP server {name:.80}", code="not_found", remedy=remedy)
        return self._servers[name]

    def tools(self, name: str) -> Listing:
        """A server's tools as it describes them now. Nothing is accepted by this."""
        return self._ask(name, lambda session: session.tools())

    def states(self, name: str, listing: Listing) -> dict[str, PinState]:
        """How each tool stands to what was accepted, by its name here; at the first use all are accepted."""
        pinned = self._pins.first_or_known(name, self._pinned(name, listing))
        return {tool.name: pinned.state_of(tool.tool, tool.digest) for tool in listing.tools}

    def known(self, name: str) -> Pinned | None:
        """What is accepted of a server, under its present settings."""
        found = self._pins.known(name)
        return found if found is not None and found.source == _source(self.server(name)) else None

    def trust(self, name: str, listing: Listing) -> None:
        """Accept a server's tools as they are in `listing`."""
        self._pins.accept(name, self._pinned(name, listing))

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool by its name here. What the server says of it is read anew, and must be what was accepted."""
        name = server_of(tool)
        definition = self._accepted(name, tool, self._ask(name, lambda session: session.tools()))
        return self._ask(name, lambda session: session.call(definition.tool, arguments))

    def resources(self, name: str) -> tuple[Resource, ...]:
        """A server's resources."""
        return self._ask(name, lambda session: session.resources())

    def read(self, name: str, uri: str) -> Answer:
        """Read a resource."""
        return self._ask(name, lambda session: session.read(uri))

    def delegate(
        self, tool: str, directory: Path, arguments: Mapping[str, Any], *, prompt: str | None, timeout_s: float
    ) -> str:
        """Give a request to one tool, whose server is started for it alone and may write `directory`.

        Args:
            tool: its name here.
            directory: where the server starts; a server that is reached by a URL knows nothing of it.
            prompt: goes into the argument with a usual name, or the only one that is required; None: it is among the
                arguments already.
            timeout_s: for all of it, in seconds.
        """
        name = server_of(tool)
        connection = Connection(name, self.server(name), self._place, self._loop, root=directory)

        async def carry_out(session: Session) -> Answer:
            definition = self._accepted(name, tool, await session.tools())
            own = {} if prompt is None else {_prompt_argument(definition): prompt}
            return await session.call(definition.tool, {**arguments, **own})

        try:
            answer = connection.ask(carry_out, timeout_s=timeout_s, cancel=self._cancel)
        finally:
            connection.close()
        if answer.failed:
            raise McpError(f"{tool} says that it failed: {answer.text:.500}")
        return answer.text

    def _accepted(self, name: str, tool: str, listing: Listing) -> Definition:
        definition = next((item for item in listing.tools if item.name == tool), None)
        if definition is None:
            raise McpUsage(
                f"{name} has no tool {tool:.80}", code="not_found", remedy=f"List them: codur mcp tools {name}."
            )
        state = self.states(name, listing)[tool]
        if state != "accepted":
            how = "has changed since it was" if state == "changed" else "is new since its server's tools were"
            raise McpRefused(f"{tool} {how} accepted", remedy=f"Look at it with `codur mcp trust {name}`.")
        return definition

    def _ask(self, name: str, ask: Ask[T]) -> T:
        server = self.server(name)
        timeout_s = server.timeout_s if self._time_left is None else min(server.timeout_s, self._time_left())
        with self._lock:
            connection = self._connections.get(name)
            if connection is None:
                connection = self._connections[name] = Connection(name, server, self._place, self._loop)
        return connection.ask(ask, timeout_s=timeout_s, cancel=self._cancel)

    def _pinned(self, name: str, listing: Listing) -> Pinned:
        return Pinned(source=_source(self.server(name)), tools={tool.tool: tool.digest for tool in listing.tools})


def _source(server: McpServer) -> str:
    """What is started or reached; limits and variables do not make another server."""
    whole = {"command": server.command, "url": server.url}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def _prompt_argument(definition: Definition) -> str:
    properties = definition.schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    usual = [name for name in _PROMPTS if name in known]
    needed = [name for name in definition.schema.get("required", ()) if name in known]
    if not usual and len(needed) != 1:
        raise McpUsage(
            f"it is not clear which argument of {definition.name} takes the request",
            code="invalid",
            remedy="Name it in the agent's settings.",
        )
    return str(usual[0] if usual else needed[0])
