"""Calls in threads that nobody waits for when the process ends: what cannot be stopped is left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from codur.lazy import late

if TYPE_CHECKING:
    from concurrent import futures
else:
    futures = late("concurrent.futures")  # 5 ms, with `logging`: an offline fix has a `Beside` alone

T = TypeVar("T")


class Beside(Generic[T]):
    """A call that goes on in a thread of its own; `result` waits for it, and gives or raises what it does."""

    def __init__(self, function: Callable[[], T], name: str) -> None:
        self._function = function
        self._ended: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._call, name=name, daemon=True)
        self._thread.start()
        self.wait = self._thread.join

    def result(self) -> T:
        self.wait()
        if self._error is not None:
            raise self._error
        return self._ended[0]

    def _call(self) -> None:
        try:
            self._ended.append(self._function())
        except BaseException as error:  # noqa: BLE001 - handed to who waits
            self._error = error


def in_thread(function: Callable[[], T], name: str) -> futures.Future[T]:
    """Call a function in a thread of that name."""
    future: futures.Future[T] = futures.Future()
    future.set_running_or_notify_cancel()  # from now on nobody can cancel it, so its result can always be set

    def call() -> None:
        try:
            result = function()
        except BaseException as error:  # noqa: BLE001 - handed to who waits
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=call, name=name, daemon=True).start()
    return future
