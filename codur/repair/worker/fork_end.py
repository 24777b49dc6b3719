"""How a program ends in a candidate's fork: with an exception, at its end, or out of time."""

from __future__ import annotations

import atexit
import importlib.machinery
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

_LATER = 0.15  # one test that hangs makes it likely that the next one does
_LEAST_S = 0.01
_MOST_CAUGHT = 2  # a bare `except` may swallow the exception that ends a test
# Frames that the interpreter itself would not show: they stand in for its own.
_IMPORTING = (importlib.machinery.SourceFileLoader.get_code.__code__.co_filename, "<frozen runpy>")
_OWN = f"<{__name__.rpartition('.')[0]}."


class Caught:
    """A context that keeps what is raised in it, whatever it is: a program may raise anything."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> Caught:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        self.error = error
        return True


def finish(status: int) -> int:
    """What the interpreter does at the end of a program: waits for threads, runs exit functions, flushes."""
    threading = sys.modules.get("threading")
    for module, name in ((threading, "_shutdown"), (atexit, "_run_exitfuncs")):
        with Caught() as caught:
            if module is not None:
                getattr(module, name)()  # a fork ends by `os._exit`, which does none of this
        if caught.error is not None:
            show(caught.error)
    with Caught() as caught:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    return 120 if caught.error is not None else status  # as the interpreter: output that could not be flushed


def out_of_time() -> None:
    """End the fork, with what the program has written but not flushed."""
    with Caught():
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    os._exit(1)


def show(error: BaseException) -> None:
    """Print a traceback as the interpreter does, without the frames of this package."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith((_OWN, *_IMPORTING)):
        trace = trace.tb_next
    error = error.with_traceback(trace)
    with Caught():
        if sys.excepthook is not sys.__excepthook__:
            sys.excepthook(type(error), error, trace)
        elif sys.stderr is not None:
            traceback.print_exception(error, file=sys.stderr)


# No `Exception`, which tests expect and catch.
class OutOfTime(BaseException):
    """A test has used up its processor time."""


class Timed:
    """Bounds the processor time of each test, as a context around it.

    Args:
        limit_s: of the first one that does not end; those after it have less.
        give_up: called when one goes on all the same.
    """

    def __init__(self, limit_s: float, give_up: Callable[[], None]) -> None:
        self.limit_s, self.give_up = limit_s, give_up
        self.within, self.late, self.hung = False, 0, 0
        signal.signal(signal.SIGPROF, self.interrupt)
        signal.signal(signal.SIGXCPU, lambda *_: give_up())  # the watcher's last word, see `Fork.have_it_tell`

    def __enter__(self) -> None:
        self.within, self.late = True, 0
        limit_s = max(self.limit_s * (_LATER if self.hung else 1.0), _LEAST_S)
        # Processor time, not wall time: candidates run side by side. It fires again, for a test that catches the first.
        signal.setitimer(signal.ITIMER_PROF, limit_s, limit_s)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.within = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.hung += bool(self.late)

    def interrupt(self, *_: Any) -> None:
        """Raise in the test; one that catches that again and again ends the run."""
        if self.within:
            self.late += 1
            if self.late > _MOST_CAUGHT:
                self.give_up()
            raise OutOfTime


def depth() -> int:
    """How many frames lie below the caller."""
    frame, found = sys._getframe(1), 0
    while frame.f_back is not None:
        frame, found = frame.f_back, found + 1
    return found
