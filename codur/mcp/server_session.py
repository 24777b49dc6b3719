"""One session with one server, in the protocol library's words turned into ours.

Imports the protocol library; see `connection` for where that is done. The server's requests (for a model's answer, for
the user's, for directories) are answered with an error, as nothing of the kind is announced to it.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, TypeVar

import mcp.types as protocol
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError

from codur import __version__
from codur.mcp.http import Guard, opened
from codur.mcp.offered_tools import MAX_RESOURCES, MAX_TOOLS, Answer, Listing, Resource, clean, listing_of, one_line
from codur.mcp.server_errors import McpError, McpUsage
from codur.mcp.transports import Pipes, Streams, Trouble
from codur.sandbox.process.output_stream import Stream
from codur.types import ToolCode
from codur.web.fetch import Resolve
from codur.web.target import read_url

MAX_TEXT = 100_000
"""Characters of an answer's text that are passed on."""
MAX_STRUCTURED = 100_000
"""Characters of an answer's structured content as JSON; a larger one is left out."""
_MAX_PAGES = 20
_MAX_LISTED = 100 * MAX_TOOLS
_MAX_MESSAGE = 300
_INVALID_PARAMS = -32602
_NO_RESOURCE = -32002
_UNSUPPORTED_VERSION = -32022
_R = TypeVar("_R", bound=protocol.Result)
_Page = TypeVar("_Page", protocol.ListToolsResult, protocol.ListResourcesResult)

for _logger in ("mcp", "client", "httpx2", "httpcore2"):
    # What goes wrong is told by errors; without a handler Python would print it on the terminal.
    logging.getLogger(_logger).addHandler(logging.NullHandler())


class Session:
    """A session. `start`, the requests and `stop` are for one event loop.

    McpError if it cannot be started, or a request gets no usable answer.

    Args:
        streams: opens the way to the server.
        trouble: why it ended, where that side knows.
    """

    def __init__(
        self, name: str, streams: Callable[[], AbstractAsyncContextManager[Streams]], trouble: Trouble
    ) -> None:
        self._name = name
        self._streams = streams
        self._trouble = trouble
        self._session: ClientSession | None = None
        self._task: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()

    async def start(self) -> None:
        """Connect, and agree on the protocol's version."""
        ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._serve(ready))
        try:
            self._session = await ready
        except Exception as error:
            raise self._told(error) from error

    async def stop(self) -> None:
        """End the session."""
        self._wanted.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def tools(self) -> Listing:
        """The server's tools."""
        found: list[Mapping[str, Any]] = []
        async for page in self._pages(protocol.ListToolsRequest, protocol.ListToolsResult):
            found += [_plain(tool) for tool in page.tools]
            if len(found) > _MAX_LISTED:
                break
        return listing_of(self._name, found)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool by the server's own name for it."""
        params = protocol.CallToolRequestParams(name=tool, arguments=dict(arguments))
        # Not the library's `call_tool`: that checks answers by the server's schema, whose patterns can take for ever.
        result = await self._ask(protocol.CallToolRequest(params=params), protocol.CallToolResult)
        structured = result.structured_content
        if structured is not None and len(json.dumps(structured)) > MAX_STRUCTURED:
            structured = None
        text = "\n".join(_block(block) for block in result.content)
        if not text and structured is not None:
            text = json.dumps(structured, ensure_ascii=False, indent=1)
        return Answer(text=clean(text, MAX_TEXT), structured=structured, failed=bool(result.is_error))

    async def resources(self) -> tuple[Resource, ...]:
        """The server's resources."""
        found: list[Resource] = []
        async for page in self._pages(protocol.ListResourcesRequest, protocol.ListResourcesResult):
            found += [_resource(entry) for entry in page.resources[:MAX_RESOURCES]]
            if len(found) >= MAX_RESOURCES:
                break
        return tuple(found[:MAX_RESOURCES])

    async def read(self, uri: str) -> Answer:
        """Read a resource."""
        request = protocol.ReadResourceRequest(params=protocol.ReadResourceRequestParams(uri=uri))
        # A server that has no such resource calls the request's parameters invalid (or, in older versions, -32002).
        result = await self._ask(request, protocol.ReadResourceResult, invalid="not_found")
        return Answer(text=clean("\n".join(_content(item) for item in result.contents), MAX_TEXT))

    async def _serve(self, ready: asyncio.Future[ClientSession]) -> None:
        """All of the session's life, in one task, as the library's scopes demand."""
        info = protocol.Implementation(name="codur", version=__version__)
        try:
            async with self._streams() as (read, write), ClientSession(read, write, client_info=info) as session:
                await _agree(session)
                ready.set_result(session)
                await self._wanted.wait()
        except Exception as error:  # noqa: BLE001 - handed to who waits; who asks later is told by `Trouble`
            if not ready.done():
                ready.set_exception(error)
            else:
                self._trouble.found(f"{self._name} broke the connection")
        except asyncio.CancelledError:
            ready.cancel()
            raise

    async def _pages(self, request: Any, result: type[_Page]) -> AsyncIterator[_Page]:
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await self._ask(request(params=protocol.PaginatedRequestParams(cursor=cursor)), result)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return

    async def _ask(self, request: Any, result: type[_R], *, invalid: ToolCode = "invalid") -> _R:
        if self._session is None:
            raise McpError(f"{self._name} is not connected")
        try:
            return await self._session.send_request(request, result)
        except Exception as error:
            raise self._told(error, invalid) from error

    def _told(self, error: BaseException, invalid: ToolCode = "invalid") -> McpError:
        """An error in our words: what this side noticed, else what the server says."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if self._trouble.error is not None:
            return self._trouble.error
        if isinstance(error, McpError):
            return error
        if isinstance(error, MCPError):
            said = one_line(error.message, _MAX_MESSAGE)
            if error.code == _INVALID_PARAMS:
                return McpUsage(f"{self._name} does not accept the request: {said}", code=invalid)
            if error.code == _NO_RESOURCE:
                return McpUsage(f"{self._name}: {said}", code="not_found")
            return McpError(f"{self._name} answered with an error: {said}")
        if isinstance(error, RuntimeError) and "protocol version" in str(error):
            return McpError(f"{self._name} speaks another version of the protocol", remedy="Update the server.")
        return McpError(f"{self._name} gave an answer that is not of the protocol", remedy="Update the server.")


def over_pipes(name: str, stream: Stream) -> Session:
    """A session with a server that was started."""
    trouble = Trouble()
    return Session(name, Pipes(name, stream, trouble).open, trouble)


def over_http(name: str, url: str, headers: Mapping[str, str], resolve: Resolve) -> Session:
    """A session with a server that is reached at a URL; FetchRefused if that can be read in two ways."""
    trouble = Trouble()
    guard = Guard(name, read_url(url, ports=range(1, 65_536)), trouble, resolve)
    return Session(name, partial(opened, guard, headers), trouble)


async def _agree(session: ClientSession) -> None:
    """The handshake, or what takes its place with servers that no longer know it."""
    try:
        await session.initialize()
    except MCPError as error:
        if error.code != _UNSUPPORTED_VERSION:
            raise
        await session.discover()


def _plain(tool: protocol.Tool) -> dict[str, Any]:
    """What of a tool's definition counts: what it is called, what it says of itself, and what it takes and gives."""
    said = tool.model_dump(by_alias=True, exclude_none=True, mode="json")
    wanted = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
    return {key: said[key] for key in wanted if key in said}


def _resource(entry: protocol.Resource) -> Resource:
    return Resource(
        uri=one_line(str(entry.uri), 500),
        name=one_line(entry.name, 200),
        description=one_line(entry.description or "", 300),
        mime_type=one_line(entry.mime_type or "", 100),
        size=-1 if entry.size is None else entry.size,
    )


def _block(block: Any) -> str:
    """One part of an answer as text; what is no text is named."""
    if isinstance(block, protocol.TextContent):
        return block.text
    if isinstance(block, protocol.ImageContent | protocol.AudioContent):
        return _binary(block.type, block.mime_type, block.data)
    if isinstance(block, protocol.ResourceLink):
        return f"[resource {one_line(str(block.uri), 500)}]"
    return _content(block.resource)


def _content(item: Any) -> str:
    if isinstance(item, protocol.TextResourceContents):
        return item.text
    return _binary("binary", item.mime_type or "", item.blob)


def _binary(kind: str, mime_type: str, base64: str) -> str:
    size = len(base64) * 3 // 4
    return f"[{kind}{' ' if mime_type else ''}{one_line(mime_type, 100)}, about {size} bytes, not shown]"
