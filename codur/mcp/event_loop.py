"""The one place where the asynchronous protocol meets the rest of Codur: an event loop in a thread of its own."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from codur.errors import Interrupted
from codur.sandbox.cancel import CancelToken

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
