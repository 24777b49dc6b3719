"""The wish to stop, told from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from codur.errors import Interrupted


class CancelToken:
    """Set once, seen by all who hold it."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._calls: list[Callable[[], object]] = []

    def cancel(self) -> None:
        """Ask everything that holds this token to stop; may be called from any thread and more than once."""
        self._event.set()
        with self._lock:
            calls, self._calls = self._calls, []
            for call in calls:
                call()

    @contextmanager
    def calling(self, call: Callable[[], object]) -> Iterator[None]:
        """While this lasts, `cancel` calls `call`, once, in its own thread; at once if it was called before.

        Args:
            call: must be quick, and must not use this token.
        """
        with self._lock:
            if self._event.is_set():
                call()
            else:
                self._calls.append(call)
        try:
            yield
        finally:
            with self._lock:
                if call in self._calls:
                    self._calls.remove(call)

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait until `cancel` is called, at most `seconds`; returns whether it was."""
        return self._event.wait(max(0.0, seconds))

    def raise_if_cancelled(self) -> None:
        """Raises:
        Interrupted: `cancel` was called.
        """
        if self._event.is_set():
            raise Interrupted("the run was interrupted")
