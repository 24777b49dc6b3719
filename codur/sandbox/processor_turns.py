"""What runs that go on side by side share to start programs, and whose turn it is to use the processors."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from codur.structs import Struct, field

if TYPE_CHECKING:
    from codur.sandbox.backend import Chosen
    from codur.sandbox.cancel import CancelToken
    from codur.sandbox.starter.starter_client import Starter

_LOOK_S = 0.5
"""How often one that waits looks whether it is cancelled."""


class Turns:
    """So many at a time; the others wait. Safe to use from several threads.

    Args:
        number: how many have a turn at the same time, at least 1.
    """

    def __init__(self, number: int) -> None:
        self._free = threading.Semaphore(max(1, number))

    @contextmanager
    def turn(self, cancel: CancelToken | None = None, *, waited: Waited | None = None) -> Iterator[bool]:
        """A turn for as long as this lasts; it may end in another thread than it began in.

        Args:
            waited: the time until it comes is added to it.

        Yields:
            False if there is none, because it is cancelled.
        """
        # At once where it can be: then nothing is told, and no time counts as waited.
        taken = self._free.acquire(blocking=False) or self._waited_for(cancel, waited)
        try:
            yield taken
        finally:
            if taken:
                self._free.release()

    def _waited_for(self, cancel: CancelToken | None, waited: Waited | None) -> bool:
        with waited.waiting() if waited is not None else nullcontext():
            while not self._free.acquire(timeout=_LOOK_S):
                if cancel is not None and cancel.cancelled:
                    return False
        return True


class Waited:
    """How long a run has waited for its turns, which does not count as its time; safe to use from several threads.

    Args:
        tell: called with True when it begins to wait, and with False when it has ended; must be quick.
    """

    def __init__(self, tell: Callable[[bool], object] | None = None) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._seconds = 0.0
        self._since = 0.0
        self._waiting = 0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """It waits as long as this lasts; several at the same time are one."""
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    @property
    def seconds(self) -> float:
        """All of it, also of a wait that has not ended yet."""
        with self._lock:
            return self._seconds + (time.monotonic() - self._since if self._waiting else 0.0)

    def _change(self, by: int) -> None:
        with self._lock:
            before, self._waiting = self._waiting, self._waiting + by
            # Several threads of a run that wait at the same time wait once.
            if bool(before) == bool(self._waiting):
                return
            if before:
                self._seconds += time.monotonic() - self._since
            else:
                self._since = time.monotonic()
            if self._tell is not None:
                self._tell(not before)


class SharedPrograms(Struct, frozen=False):
    """What several launchers of one process have in common."""

    starter: Starter  # starts their programs; whoever made it closes it
    turns: Turns  # a program that is waited for is started when its turn comes
    backend: Chosen | None = None  # the back end in use, once one of them has chosen it; all have the same settings
    versions: dict[str, str] = field(default_factory=dict)  # of interpreters, by their path
