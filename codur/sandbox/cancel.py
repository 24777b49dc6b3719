"""The wish to stop, told from any thread."""

from __future__ import annotations

import threading

from codur.errors import Interrupted


class CancelToken:
    """Set once, seen by all who hold it."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask everything that holds this token to stop; may be called from any thread and more than once."""
        self._event.set()

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
