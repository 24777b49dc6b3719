"""The only place that starts programs.

A program runs in its own session with a bounded environment, output, time and file size, and a temporary directory of
its own. Its whole process group ends with it. There is no containment beyond that yet: it may read and write what the
user may, and a process that makes a session of its own (`setsid`) outlives it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codur.sandbox.cancel import CancelToken
from codur.sandbox.channel import Channel
from codur.sandbox.child import Child, End
from codur.sandbox.environment import child_environment
from codur.sandbox.output import BoundedOutput
from codur.sandbox.scratch import private_directory, temporary_base

_MAX_FILE_BYTES = 268_435_456
_CPU_SLACK_S = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessResult:
    """What became of a program.

    Attributes:
        exit_status: its exit status, -N if signal N ended it, 127 or 126 if it could not be started; None if it was
            stopped (`timed_out`, `cancelled` or `flooded`).
        stdout, stderr: as UTF-8, other bytes as replacement characters; long ones have a note in place of their middle.
        truncated: whether a middle was left out.
        flooded: it was stopped because its output did not end.
        started: False if there is no such program (or directory), or it cannot be executed.
    """

    argv: tuple[str, ...]
    exit_status: int | None
    stdout: str
    stderr: str
    timed_out: bool = False
    cancelled: bool = False
    truncated: bool = False
    flooded: bool = False
    started: bool = True
    duration_s: float = 0.0


class Launcher:
    """Starts programs and waits for them.

    Args:
        environ: the user's environment, of which programs see an allow list only.
        cancel: stops a running program when it is set.
        max_output_bytes: bytes kept of each of a program's two outputs.
        python: the interpreter whose directory comes first on the programs' `PATH`, so that `python` means it.

    Attributes:
        name: the sandbox's back end: `none`.
    """

    name: str = "none"

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        cancel: CancelToken | None = None,
        max_output_bytes: int = 262_144,
        python: str | None = None,
    ) -> None:
        self._cancel = cancel
        self._environment = child_environment(environ)
        self._alias: str | None = None
        if python is not None:
            self._environment["PATH"] = f"{Path(python).parent}{os.pathsep}{self._environment['PATH']}"
            self._alias = None if Path(python).with_name("python").exists() else python
        self._temporary = temporary_base(environ)
        self._max_output_bytes = max_output_bytes

    @contextlib.contextmanager
    def temporary_directory(self) -> Iterator[Path]:
        """An empty private directory outside the workspace, removed at the end."""
        with private_directory(self._temporary) as directory:
            yield Path(directory)

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        stdin: bytes = b"",
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        max_output_bytes: int | None = None,
    ) -> ProcessResult:
        """Run a program to its end.

        Args:
            argv: the program, looked up on the children's `PATH`, and its arguments.
            stdin: all of its standard input.
            timeout_s: wall time after which it is stopped; 0 or less does not start it.
            env: variables set on top of the allowed ones, as they are.
            max_output_bytes: in place of the launcher's own bound.

        A program that cannot be started is a result too.

        Raises:
            CodurError: no temporary directory can be made for it.
        """
        words = tuple(argv)
        if self._cancel is not None and self._cancel.cancelled:
            return ProcessResult(argv=words, exit_status=None, stdout="", stderr="", cancelled=True, started=False)
        if timeout_s <= 0:
            return ProcessResult(argv=words, exit_status=None, stdout="", stderr="", timed_out=True, started=False)
        kept = self._max_output_bytes if max_output_bytes is None else max_output_bytes
        begin = time.monotonic()
        with private_directory(self._temporary) as temporary, self._search_path(words) as search_path:
            variables = {**self._environment, "PATH": search_path, "TMPDIR": temporary, **(env or {})}
            try:
                process = subprocess.Popen(
                    words,
                    cwd=cwd,
                    env=variables,
                    stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                return _not_started(words, cwd, error)
            outputs = (BoundedOutput(kept), BoundedOutput(kept))
            with Child(process, outputs, stdin) as child:
                _limit(process.pid, timeout_s)
                end = child.wait(timeout_s, self._cancel)
        return _result(words, process.returncode, outputs, end, time.monotonic() - begin)

    def open_channel(
        self, argv: Sequence[str], *, cwd: Path, timeout_s: float | None = None, env: Mapping[str, str] | None = None
    ) -> Channel | None:
        """Start a program that is talked to; None if it cannot be started.

        Args:
            timeout_s: processor seconds that it and each of its children may use; None sets no bound.
            env: variables set on top of the allowed ones, as they are.

        Raises:
            CodurError: no temporary directory can be made for it.
        """
        words = tuple(argv)
        with contextlib.ExitStack() as stack:
            temporary = stack.enter_context(private_directory(self._temporary))
            search_path = stack.enter_context(self._search_path(words))
            variables = {**self._environment, "PATH": search_path, "TMPDIR": temporary, **(env or {})}
            try:
                process = subprocess.Popen(
                    words,
                    cwd=cwd,
                    env=variables,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    start_new_session=True,
                )
            except (OSError, ValueError):
                return None
            if timeout_s is not None:
                _limit(process.pid, timeout_s)
            return Channel(process, stack.pop_all(), self._cancel)

    @contextlib.contextmanager
    def _search_path(self, argv: tuple[str, ...]) -> Iterator[str]:
        """`PATH` for a program; where there is only a `python3`, one that has a `python` for commands to call."""
        if self._alias is None or argv[:1] == (self._alias,):
            yield self._environment["PATH"]
            return
        with private_directory(self._temporary) as names:
            (Path(names) / "python").symlink_to(self._alias)
            yield f"{names}{os.pathsep}{self._environment['PATH']}"


def _limit(pid: int, timeout_s: float) -> None:
    """Bound the file size and processor time of a started program and forbid core dumps.

    The processor time ends what has escaped from the process group; a program with many threads does not reach it
    within its wall time. Address space is not bounded: many runtimes reserve far more than they use. Only Linux can
    limit a process that has started; elsewhere the wall time remains.
    """
    if not hasattr(resource, "prlimit"):
        return
    seconds = (int(timeout_s) + _CPU_SLACK_S) * (os.cpu_count() or 1)
    limits = ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, _MAX_FILE_BYTES), (resource.RLIMIT_CPU, seconds))
    with contextlib.suppress(ProcessLookupError, PermissionError):
        for which, wanted in limits:
            hard = resource.getrlimit(which)[1]
            bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.prlimit(pid, which, (bound, bound))


def _not_started(argv: tuple[str, ...], cwd: Path, error: OSError | ValueError) -> ProcessResult:
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


def _result(
    argv: tuple[str, ...],
    status: int | None,
    outputs: tuple[BoundedOutput, BoundedOutput],
    end: End,
    duration_s: float,
) -> ProcessResult:
    stdout, stderr = outputs
    return ProcessResult(
        argv=argv,
        exit_status=status if end == "ended" and status != -signal.SIGXCPU else None,
        stdout=stdout.text(),
        stderr=stderr.text(),
        timed_out=end == "timed_out" or status == -signal.SIGXCPU,
        cancelled=end == "cancelled",
        truncated=stdout.truncated or stderr.truncated,
        flooded=end == "flooded",
        duration_s=duration_s,
    )
