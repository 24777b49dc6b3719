"""What runs that go on side by side share to start programs, and whose turn it is to use the processors."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codur.sandbox.backend import Chosen
    from codur.sandbox.cancel import CancelToken
    from codur.sandbox.starter_client import Starter

_LOOK_S = 0.5
"""How often one that waits looks whether it is cancelled."""


class Turns:
    """So many at a time; the others wait. Safe to use from several threads.

    Args:
        number: how many have a turn at the same time, at least 1.
    """

    def __init__(self, number: int) -> None:
        self._free = threading.Semaphore(max(1, number))

    def take(self, cancel: CancelToken | None = None) -> bool:
        """Wait for a turn; False, and no turn, if it is cancelled before. Every turn is given back with `give_back`."""
        while not self._free.acquire(timeout=_LOOK_S):
            if cancel is not None and cancel.cancelled:
                return False
        return True

    def give_back(self) -> None:
        """Let the next one have the turn; may be called by another thread than took it."""
        self._free.release()

    @contextmanager
    def turn(self, cancel: CancelToken | None = None, *, waited: Waited | None = None) -> Iterator[bool]:
        """A turn for as long as this lasts.

        Args:
            waited: the time until it comes is added to it.

        Yields:
            False if there is none, because it is cancelled.
        """
        begin = time.monotonic()
        taken = self.take(cancel)
        if waited is not None:
            waited.add(time.monotonic() - begin)
        try:
            yield taken
        finally:
            if taken:
                self.give_back()


class Waited:
    """Seconds that a run has waited for its turns; they do not count as its time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count these seconds."""
        with self._lock:
            self._seconds += seconds

    @property
    def seconds(self) -> float:
        """All of them."""
        return self._seconds


@dataclass(slots=True, kw_only=True)
class SharedPrograms:
    """What several launchers of one process have in common.

    Attributes:
        starter: starts their programs; whoever made it closes it.
        turns: a program that is waited for is started when its turn comes.
        backend: the back end in use, once one of them has chosen it; all have the same settings.
        versions: of interpreters, by their path.
    """

    starter: Starter
    turns: Turns
    backend: Chosen | None = None
    versions: dict[str, str] = field(default_factory=dict)
