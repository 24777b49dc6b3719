"""A server in use: started or reached when it is first asked, one request at a time, ended as a whole.

Here the asynchronous protocol meets the rest of Codur: an event loop in a thread of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from codur.config.settings import McpServer
from codur.errors import CodurError, Interrupted
from codur.mcp.server_errors import McpError, McpRefused, McpUsage
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher
from codur.sandbox.process.output_stream import Stream
from codur.structs import Struct
from codur.web.fetch import Resolve, addresses_of
from codur.web.target import FetchRefused

if TYPE_CHECKING:
    from codur.mcp.server_session import Session

T = TypeVar("T")


class LoopThread:
    """Carries out coroutines for callers in other threads. The thread starts with the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, T], *, timeout_s: float, cancel: CancelToken | None = None) -> T:
        """Carry out a coroutine and wait for it; it is cancelled where it takes longer, or the token is set.

        TimeoutError and Interrupted say so.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self._started())
        with cancel.calling(future.cancel) if cancel is not None else contextlib.nullcontext():
            try:
                return future.result(timeout_s)
            except CancelledError as error:
                raise Interrupted("the run was interrupted") from error
            except TimeoutError:
                future.cancel()
                raise

    def close(self) -> None:
        """End the thread; what is being carried out is cancelled."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A daemon: a server that blocks the loop must not keep the program from ending.
                threading.Thread(target=_carry, args=(self._loop,), name="codur-mcp", daemon=True).start()
            return self._loop


def _carry(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


Ask = Callable[["Session"], Awaitable[T]]

_STOP_S = 1.0


class Place(Struct):
    """Where servers are started, and with what."""

    launcher: Launcher  # starts and contains them
    environ: Mapping[str, str]  # the user's environment, of which a server gets what the settings name
    workspace: Path  # where a server starts that has no directory of its own; it may read it
    resolve: Resolve = addresses_of  # looks a host up


class Connection:
    """One session with one server.

    Args:
        name: the server's name in the settings.
        root: a directory where it starts and that it may write; None: it may write in its temporary directory only.
    """

    def __init__(
        self, name: str, server: McpServer, place: Place, loop: LoopThread, *, root: Path | None = None
    ) -> None:
        self._name = name
        self._server = server
        self._place = place
        self._loop = loop
        self._root = root
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._stream: Stream | None = None

    def ask(self, ask: Ask[T], *, timeout_s: float, cancel: CancelToken | None) -> T:
        """Start the server if it does not run, and carry out a request, all of it in `timeout_s` seconds.

        A server that fails is ended. McpError if it cannot be reached, does not answer in time or gives no usable
        answer; Interrupted if the token was set.
        """
        if cancel is not None:
            cancel.raise_if_cancelled()
        with self._lock:
            try:
                return self._asked(ask, time.monotonic() + timeout_s, cancel)
            except TimeoutError as error:
                self._end()
                raise McpError(
                    f"{self._name} did not answer within {timeout_s:g} s",
                    code="timeout",
                    remedy=f"Try again, or raise mcp_servers.{self._name}.timeout_s.",
                ) from error
            except McpUsage:
                raise  # it answered, and goes on
            except (CodurError, Interrupted):
                self._end()
                raise

    def close(self) -> None:
        """End the session, and the server if it was started here."""
        with self._lock:
            self._end()

    def _asked(self, ask: Ask[T], deadline: float, cancel: CancelToken | None) -> T:
        begins = self._session is None
        session = self._session = self._session or self._made()

        async def carry_out() -> T:
            if begins:
                await session.start()
            return await ask(session)

        return self._loop.run(carry_out(), timeout_s=max(0.0, deadline - time.monotonic()), cancel=cancel)

    def _made(self) -> Session:
        try:
            from codur.mcp import server_session as sessions  # noqa: PLC0415 - lazy: the protocol library takes 0.6 s
        except ImportError as error:
            raise McpUsage(
                f"MCP servers need a package that is not installed beside Codur, in its version: {error}",
                remedy=f'Install it there: {sys.executable} -m pip install "codur[mcp]"',
            ) from error
        if self._server.url is None:
            self._stream = self._started()
            return sessions.over_pipes(self._name, self._stream)
        names = self._server.headers_env
        values = self._variables(tuple(names.values()), "headers_env")
        headers = {header: values[name] for header, name in names.items()}
        try:
            return sessions.over_http(self._name, self._server.url, headers, self._place.resolve)
        except FetchRefused as error:
            raise McpRefused(f"{self._name}: {error.message}", remedy=error.remedy) from error

    def _started(self) -> Stream:
        server = self._server
        cwd = self._root or (self._place.workspace if server.cwd is None else Path(server.cwd))
        return self._place.launcher.open_stream(
            self._command(),
            cwd=cwd,
            env=self._variables(server.environment, "environment"),
            readable=(
                *_named_paths(server.command[1:], Path(self._place.environ.get("HOME", "/"))),
                *([Path(server.cwd)] if server.cwd is not None else []),
            ),
            root=self._root,
            network=server.network,
        )

    def _command(self) -> tuple[str, ...]:
        """What starts it; where it starts elsewhere, relative paths of its own directory are told in full."""
        command, own = self._server.command, self._server.cwd
        if self._root is None or own is None:
            return command
        program, *words = command
        program = str(Path(own, program)) if "/" in program else program
        return (program, *(str(Path(own, word)) if word and Path(own, word).is_file() else word for word in words))

    def _variables(self, names: Sequence[str], key: str) -> dict[str, str]:
        missing = [name for name in names if not self._place.environ.get(name)]
        if missing:
            raise McpUsage(
                f"{self._name} needs the environment variable {missing[0]}, which is not set",
                code="failed",
                remedy=f"Set it, or take it out of mcp_servers.{self._name}.{key}.",
            )
        return {name: self._place.environ[name] for name in names}

    def _end(self) -> None:
        session, self._session = self._session, None
        stream, self._stream = self._stream, None
        try:
            if session is not None:
                self._loop.run(session.stop(), timeout_s=_STOP_S)
        except TimeoutError:
            self._loop.close()  # something holds the thread: it is left behind, and a new one takes its place
        finally:
            if stream is not None:
                stream.close()


def _named_paths(words: Sequence[str], home: Path) -> tuple[Path, ...]:
    """Paths among a command's arguments, which the user named for it; not the home directory or what holds it."""
    paths = [Path(word) for word in words if word.startswith("/")]
    return tuple(path for path in paths if path.exists() and not home.is_relative_to(path))
