"""The wish to stop, told from any thread."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from codur.errors import Interrupted, out_of_time


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


class Until(CancelToken):
    """Set when another token is, or when no time is left: what is started with it ends then, whatever it waits for.

    Args:
        other: who sets it, sets this one.
        time_left: seconds; it is asked often, and has to be quick.
    """

    def __init__(self, other: CancelToken, time_left: Callable[[], float]) -> None:
        super().__init__()
        self._other = other
        self._time_left = time_left

    @property
    def cancelled(self) -> bool:
        """Whether it is time to stop."""
        # Looked up each time and not set by a thread: a token costs nothing as long as nobody asks.
        return super().cancelled or self._other.cancelled or self._time_left() <= 0

    def raise_if_cancelled(self) -> None:
        """Raises:
        Interrupted: `cancel` was called.
        LimitReached: no time is left.
        """
        super().raise_if_cancelled()
        self._other.raise_if_cancelled()
        if self._time_left() <= 0:
            raise out_of_time()
