"""Runs the command line: finds the command, ends it in good order when it is stopped, gives the exit code.

What takes time to import (`cli.NAME`) is imported inside `run`, so that Ctrl-C ends it quietly from the start.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn, TextIO

from codur import __version__, cli
from codur.cli.default_command import first_word
from codur.cli.exit_codes import JsonKind, exit_code_of
from codur.errors import UsageError
from codur.lazy import late
from codur.session.stop import INTERRUPTED, TERMINATED, Stopped, leaving
from codur.ui import placeholder
from codur.ui.guarded_streams import beneath, guarded

select = late("select")

_TASKS = frozenset({"run", "repair", "verify", "resume"})
_ABOUT = frozenset({"--help", "-h", "--version", "-V"})
_OTHERWISE = _ABOUT | {"--json", "--json-stream", "--raw"}
"""What shows no progress."""
_STOP_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
_AGAIN_S = 2.0
"""A second Ctrl-C within this time leaves at once."""
_GRACE_S = 8.0
"""Time to end in good order after a signal of the system: containers are given 10 s, and a busy machine needs some."""
_FIRST_BYTE_S = 3.0  # as of a text that goes with words
_SOON_S = 0.05
"""When a stop that was ignored is raised again."""
_LEFT = b"left at once; unfinished edits may be there: `codur resume` goes on, `codur undo` puts them back\n"


def run_guarded(argv: Sequence[str]) -> int:
    """As `run`, for the whole process: whoever reads what it prints may go away."""
    sys.stdout, sys.stderr = guarded(sys.stdout), guarded(sys.stderr)
    return run(argv)


def run(argv: Sequence[str]) -> int:
    """Run a command line.

    Args:
        argv: the arguments after the program's name.

    Returns:
        The exit code.
    """
    goes_on = "--continue" in argv and first_word(argv) is None and _ABOUT.isdisjoint(argv)
    if goes_on or (not argv and _at_terminal()):
        return exit_code_of(lambda: _converse(argv), json=None, debug=bool(os.environ.get("CODUR_DEBUG")))
    if not argv and _is_given(sys.stdin):
        argv = ["-"]
    end = list(argv).index("--") if "--" in argv else len(argv)
    options, rest = argv[:end], argv[end:]
    words = [*(item for item in options if item != "--debug"), *rest]
    debug = "--debug" in options or bool(os.environ.get("CODUR_DEBUG"))
    return exit_code_of(lambda: _invoke(words), json=_json_kind(options), debug=debug)


def _at_terminal() -> bool:
    """Whether somebody types what Codur reads, and sees what it says."""
    streams = (sys.stdin, sys.stderr, sys.stdout)
    return all(stream is not None and stream.isatty() for stream in streams)


def _is_given(stream: TextIO | None) -> bool:
    """Whether a text was put on standard input where no argument says what to do: it is the task."""
    if stream is None or stream.isatty():
        return False
    mode = os.fstat(stream.fileno()).st_mode
    # Of a pipe that stays open and silent the help is more use than a wait.
    ready = stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and bool(select.select([stream], [], [], _FIRST_BYTE_S)[0]))
    return ready and isinstance(stream.buffer, io.BufferedReader) and bool(stream.buffer.peek(1))


def _converse(argv: Sequence[str]) -> int:
    """Hold a conversation in the current directory. Raises UsageError: nobody is there to hold it with."""
    if {*argv} - {"--continue", "--debug"}:
        raise UsageError("a conversation takes no options", remedy='Give a task with them: codur --continue "fix it"')
    if not _at_terminal():
        remedy = f'Give the task as words: codur {" ".join((*argv, ""))}"fix main.py"'
        raise UsageError("a conversation takes a terminal", remedy=remedy)
    with _stopped_by_signals():
        # Before what takes most of the start is loaded: Enter is seen to have been taken.
        cli.printing.tell(f"codur {__version__} in {Path().absolute()}")
        return cli.Conversation(Path(), run=run, guarded=_guarded, goes_on=bool(argv)).hold()


def _guarded(command: Callable[[], int]) -> int:
    def work() -> int:
        with _stopped_by_signals():
            return command()

    return exit_code_of(work, json=None, debug=bool(os.environ.get("CODUR_DEBUG")))


def _json_kind(options: Sequence[str]) -> JsonKind | None:
    """What an error is told in; found without the parser, which may be what refuses the options."""
    if "--json-stream" in options:
        return "json_stream"
    return "json" if "--json" in options else None


def _invoke(argv: Sequence[str]) -> int:
    """Find and call the command. Raises UsageError: the options or arguments are wrong."""
    with _stopped_by_signals():
        if _is_shown_task(argv):  # Enter is seen to have been taken, before what takes most of the start is loaded
            placeholder.show(f"starting: {' '.join(argv)}", beneath(sys.stderr))
        try:
            code = cli.plain_words.carry_out_words(argv)
            return cli.app.invoke(argv) if code is None else code
        finally:
            placeholder.erase()


def _is_shown_task(argv: Sequence[str]) -> bool:
    """Whether a task is carried out that a terminal shows the progress of; found without the parser."""
    place = first_word(argv)
    if place is None or "-" in argv or not _OTHERWISE.isdisjoint(argv) or placeholder.is_simple(os.environ):
        return False
    task = argv[place] in _TASKS or argv[place] not in cli.plain_words.COMMANDS
    return task and all(stream is not None and stream.isatty() for stream in (sys.stderr, sys.stdout))


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Signals stop the run in good order, but for those that the caller has us ignore, as `nohup` does."""
    stop = _Stop()
    numbers = [signal.Signals[name] for name in _STOP_SIGNALS if name in signal.Signals.__members__]
    before = {number: signal.getsignal(number) for number in numbers}
    ours = {number: handler for number, handler in before.items() if handler != signal.SIG_IGN}
    for number in ours:
        signal.signal(number, stop)
    sys.unraisablehook = stop.unraisable
    try:
        yield
    finally:
        stop.over()
        for number, handler in ours.items():
            signal.signal(number, handler)


class _Stop:
    """Takes the signals that stop a run.

    The first Ctrl-C ends it in good order: what runs is stopped, the workspace put back, the session kept. A second
    one soon after leaves at once. The system's signals end it in good order too, if that is quick.
    """

    def __init__(self) -> None:
        self._asked = float("-inf")
        self._told_by_system = False
        self._leave_at = float("inf")
        self._told_of_ignored = sys.unraisablehook

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """Take a signal."""
        if number == signal.SIGINT:
            if time.monotonic() - self._asked < _AGAIN_S:
                _leave(INTERRUPTED)
            self._asked = time.monotonic()
            raise Stopped(INTERRUPTED)
        if self._told_by_system:  # a shell and its terminal both send one
            return
        self._told_by_system = True
        self._leave_at = time.monotonic() + _GRACE_S
        signal.signal(signal.SIGALRM, lambda _number, _frame: _leave(TERMINATED))
        signal.setitimer(signal.ITIMER_REAL, _GRACE_S)
        raise Stopped(TERMINATED)

    def unraisable(self, ignored: sys.UnraisableHookArgs) -> None:
        """Python ignores what is raised in a destructor or callback of its own; a stop is then raised again, soon."""
        if isinstance(ignored.exc_value, Stopped):
            signal.signal(signal.SIGALRM, lambda _number, _frame: self._again())
            signal.setitimer(signal.ITIMER_REAL, _SOON_S)
        else:
            self._told_of_ignored(ignored)

    def _again(self) -> NoReturn:
        left = self._leave_at - time.monotonic()
        if left <= 0:
            _leave(TERMINATED)
        if self._told_by_system:
            signal.signal(signal.SIGALRM, lambda _number, _frame: _leave(TERMINATED))
            signal.setitimer(signal.ITIMER_REAL, left)
        raise Stopped(TERMINATED if self._told_by_system else INTERRUPTED)

    def over(self) -> None:
        """There is nothing left to stop."""
        sys.unraisablehook = self._told_of_ignored
        if self._asked > 0 or self._told_by_system:
            signal.setitimer(signal.ITIMER_REAL, 0)


def _leave(code: int) -> None:
    """End this process now. Programs end with it; what it did is on record."""
    try:
        for put_on_record in reversed(leaving):
            put_on_record()
        if leaving:
            with contextlib.suppress(OSError):
                os.write(2, _LEFT)
    finally:
        os._exit(code)
