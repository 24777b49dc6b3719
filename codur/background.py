"""Calls in threads that nobody waits for when the process ends: what cannot be stopped is left behind."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def in_thread(function: Callable[[], T], name: str) -> Future[T]:
    """Call a function in a thread of that name."""
    future: Future[T] = Future()
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
