"""The two ways to a server as the protocol library wants them: streams of messages, over pipes or HTTP.

Imports the library; see `connection` for where that is done. Both ways are bounded, and say in `Trouble` what the
library does not pass on.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from codur.mcp.offered_tools import one_line
from codur.mcp.server_errors import McpError
from codur.sandbox.process.output import BoundedOutput
from codur.sandbox.process.output_stream import Stream
from codur.structs import Struct

MAX_MESSAGE = 4 * 1024**2
"""Bytes of one message."""
MAX_UNASKED = 16 * 1024**2
"""Bytes that a server may send until it is asked something again."""
_MAX_NOISE = 100  # lines that are no messages; some servers log to the wrong output
_MAX_STDERR = 65_536
_MAX_SAID = 200
_CHUNK = 65_536
_END_S = 1.0

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class Trouble(Struct, frozen=False, kw_only=False):
    """Why a session ended, if this side knows it."""

    error: McpError | None = None

    def found(self, message: str, **more: Any) -> None:
        """Note the first thing that went wrong."""
        if self.error is None:
            self.error = McpError(message, **more)


class Pipes:
    """A started server's pipes as streams of messages, one JSON text a line."""

    def __init__(self, name: str, stream: Stream, trouble: Trouble) -> None:
        self._name = name
        self._stream = stream
        self._trouble = trouble
        self._stderr = BoundedOutput(_MAX_STDERR)
        self._heard = 0
        self._noise = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Streams]:
        """The streams, for as long as the context lasts; the program is not ended by it."""
        received, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, sent = anyio.create_memory_object_stream[SessionMessage](0)
        async with received, read, write, sent, anyio.create_task_group() as group:
            if self._stream.stdout < 0:
                self._trouble.found(f"{self._name}: {self._stream.problem}", remedy=_remedy(self._name))
                received.close()
            else:
                group.start_soon(self._read_errors)
                group.start_soon(self._read, received)
                group.start_soon(self._write, sent, received)
            try:
                yield read, write
            finally:
                group.cancel_scope.cancel()

    async def _read(self, received: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        buffer = bytearray()
        async with received:
            while (data := await _next(self._stream.stdout)) and self._is_bounded(len(data), len(buffer)):
                start = len(buffer)
                buffer += data
                # Only in what is new: a long message would else be searched anew with each of its pieces.
                end = buffer.rfind(b"\n", start)
                if end < 0:
                    continue
                lines = bytes(buffer[:end]).split(b"\n")
                del buffer[: end + 1]
                for line in lines:
                    message = self._message(line)
                    if message is not None:
                        await received.send(message)
                if self._noise > _MAX_NOISE:
                    self._trouble.found(f"{self._name} sends what is not JSON-RPC")
                    return
            await self._tell_end()

    def _is_bounded(self, more: int, waiting: int) -> bool:
        self._heard += more
        if waiting + more > MAX_MESSAGE + _CHUNK:
            self._trouble.found(f"{self._name} sent a message of more than {MAX_MESSAGE} bytes", code="too_large")
            return False
        if self._heard > MAX_UNASKED:
            self._trouble.found(f"{self._name} does not stop sending", code="too_large")
            return False
        return True

    def _message(self, line: bytes) -> SessionMessage | None:
        if not line.strip():
            return None
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            self._noise += 1
            return None

    async def _write(
        self,
        sent: MemoryObjectReceiveStream[SessionMessage],
        received: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        try:
            async for message in sent:
                self._heard = 0
                left = memoryview(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                while left:
                    await anyio.wait_writable(self._stream.stdin)
                    # A pipe that is told to be writable takes PIPE_BUF bytes, 4,096 on Linux, without blocking the
                    # loop.
                    left = left[os.write(self._stream.stdin, left[:4096]) :]
        except BrokenPipeError:
            await self._tell_end()
            await received.aclose()

    async def _read_errors(self) -> None:
        while data := await _next(self._stream.stderr):
            self._stderr.add(data)

    async def _tell_end(self) -> None:
        """Its end is known a little after its pipes'."""
        if self._trouble.error is not None:
            return
        with anyio.move_on_after(_END_S):
            while not self._stream.ended():
                await anyio.sleep(0.01)
        if self._stream.problem:
            self._trouble.found(f"{self._name}: {self._stream.problem}", remedy=_remedy(self._name))
            return
        said = one_line(self._stderr.text().strip().rpartition("\n")[2], _MAX_SAID)
        status = self._stream.status
        how = "closed its output" if status is None else f"ended with status {status}"
        self._trouble.found(f"{self._name} {how}{': ' if said else ''}{said}", remedy=_remedy(self._name))


def _remedy(name: str) -> str:
    return f"Check mcp_servers.{name}.command in the settings."


async def _next(descriptor: int) -> bytes:
    """What arrives next; nothing at the end."""
    while True:
        await anyio.wait_readable(descriptor)
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:
            continue
