"""What became of a program."""

import signal
from pathlib import Path

from codur.sandbox.process.child import End
from codur.sandbox.process.output import BoundedOutput
from codur.structs import Struct

_SHELL_BASE = 128
_SHELL_SIGNALS = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 24, 25, 31})
"""Those that end a program, as a rule; other statuses above 128 are taken as they are."""


class ProcessResult(Struct):
    """What became of a program."""

    argv: tuple[str, ...]
    # its exit status, -N if signal N ended it, 127 or 126 if it could not be started; None if it was stopped
    # (`timed_out`, `cancelled`, `flooded` or `limit`)
    exit_status: int | None
    # stdout, stderr: as UTF-8, other bytes as replacement characters; long ones have a note in place of their middle
    stdout: str
    stderr: str
    timed_out: bool = False
    cancelled: bool = False
    truncated: bool = False  # whether a middle was left out
    flooded: bool = False  # it was stopped because its output did not end
    started: bool = True  # False if there is no such program (or directory), or it cannot be executed
    duration_s: float = 0.0
    limit: str = ""  # which limit stopped it: `memory`, `processes`, `output`, or what it added; empty if none did
    overfull: bool = False  # it was stopped because it added more to the disk than it may
    # protected paths that it changed or made, relative to its workspace; they are as before again
    tripped: tuple[str, ...] = ()


def not_begun(argv: tuple[str, ...], *, cancelled: bool = False) -> ProcessResult:
    """The result of a program that was cancelled, or had no time, before it was started."""
    return ProcessResult(
        # no time to begin with is time used up
        argv=argv,
        exit_status=None,
        stdout="",
        stderr="",
        timed_out=not cancelled,
        cancelled=cancelled,
        started=False,
    )


def not_started(argv: tuple[str, ...], cwd: Path, error: OSError | ValueError) -> ProcessResult:
    """The result of a program that cannot be started, as a shell would tell it."""
    missing = isinstance(error, FileNotFoundError) or not cwd.is_dir()
    reason = (
        f"there is no directory {cwd}" if not cwd.is_dir() else (getattr(error, "strerror", "") or str(error)).lower()
    )
    return ProcessResult(
        argv=argv,
        exit_status=127 if missing else 126,
        stdout="",
        stderr=f"{argv[0] if argv else 'the program'}: cannot be started: {reason}",
        started=False,
    )


def ended(
    argv: tuple[str, ...],
    status: int | None,
    outputs: tuple[BoundedOutput, BoundedOutput],
    end: End,
    limit: str,
) -> ProcessResult:
    """The result of a program that was started; how long it took is the caller's to add."""
    stdout, stderr = outputs
    # The kernel's limit of processor time may be quicker than our clock.
    out_of_time = end == "ended" and status == -signal.SIGXCPU
    return ProcessResult(
        argv=argv,
        exit_status=status if end == "ended" and not limit and not out_of_time else None,
        stdout=stdout.text(),
        stderr=stderr.text(),
        timed_out=end == "timed_out" or out_of_time,
        cancelled=end == "cancelled",
        truncated=stdout.truncated or stderr.truncated,
        flooded=end == "flooded",
        overfull=end == "overfull",
        limit=limit or ("output" if end == "flooded" else ""),
    )


def status_of_shell(status: int | None) -> int | None:
    """An exit status in which 128 + N stands for signal N, as one in which -N does."""
    if status is not None and status - _SHELL_BASE in _SHELL_SIGNALS:
        return _SHELL_BASE - status
    return status
