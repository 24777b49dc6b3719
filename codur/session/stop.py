"""How a run is stopped from outside: what is raised, and what is done when there is no time to end in good order."""

from collections.abc import Callable

INTERRUPTED, TERMINATED = 130, 143


class Stopped(KeyboardInterrupt):
    """The user or the system asked the run to stop. `exit_code`: what the process ends with."""

    def __init__(self, exit_code: int = INTERRUPTED) -> None:
        super().__init__("stopped")
        self.exit_code = exit_code


leaving: list[Callable[[], None]] = []
"""Called, newest first, before the process leaves at once: each puts on record where its run was left."""


def code_of(stop: KeyboardInterrupt) -> int:
    """The exit code that a stop asks for."""
    return stop.exit_code if isinstance(stop, Stopped) else INTERRUPTED
