"""A started program: its pipes, its end, and the end of all that it started."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from codur.lazy import late
from codur.sandbox.cancel import CancelToken
from codur.sandbox.process.disk_quota import Quota
from codur.sandbox.process.output import BoundedOutput

if TYPE_CHECKING:
    import subprocess
else:
    subprocess = late("subprocess")

End = Literal["ended", "timed_out", "cancelled", "flooded", "overfull"]
"""Why a program is no longer waited for."""

_FLOOD_BYTES = 64 * 1_048_576  # chosen: no report is as large, and `yes` writes it within a second
_CHUNK = 65_536
_TERMINATE_GRACE_S = 0.2  # for a program that flushes or removes its files when it is asked to end
_PIPE_GRACE_S = 0.25
"""How long pipes may stay open when the program has ended and something that it started holds them."""
_CLOSE_GRACE_S = 0.1
"""How long a killed holder of the pipes may take to be gone."""
_POLL_S = 0.05
_NO_NOTICE_POLL_S = 0.01  # the whole delay of a short program where nothing tells its end


class Process(Protocol):
    """A running program, however it was started."""

    # stdin, stdout, stderr: our ends of its pipes; -1 where there is none
    stdin: int
    stdout: int
    stderr: int
    status: int | None  # its exit status, -N if signal N ended it; None before its end
    limit: str  # which limit ended it, if one did

    def fileno(self) -> int:
        """A descriptor that becomes readable when `poll` should be called; -1 if there is none."""

    def poll(self) -> bool:
        """Whether the program has ended."""

    def terminate(self) -> None:
        """Ask the program to end."""

    def kill(self) -> None:
        """Kill all that is left of it."""

    def close(self) -> None:
        """Kill all that is left of it, and close the pipes."""

    def close_stdin(self) -> None:
        """Close its standard input."""


class Child:
    """Feeds and reads a program without threads. Use it as a context: leaving it kills all that is left.

    Args:
        process: the program.
        outputs: where standard output and standard error go.
        stdin: bytes for its standard input.
    """

    def __init__(self, process: Process, outputs: tuple[BoundedOutput, BoundedOutput], stdin: bytes) -> None:
        self._process = process
        self._selector = selectors.PollSelector()  # `epoll` takes a descriptor, and `select` only the first 1,024
        self._open = 0
        self._received = 0
        self._exited = False
        self._stdin = memoryview(stdin)
        self._notice = process.fileno()
        for stream, output in zip((process.stdout, process.stderr), outputs, strict=True):
            os.set_blocking(stream, False)
            self._selector.register(stream, selectors.EVENT_READ, output)
            self._open += 1
        if process.stdin >= 0:
            os.set_blocking(process.stdin, False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE)
        if self._notice >= 0:
            self._selector.register(self._notice, selectors.EVENT_READ)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        self._process.close()

    def wait(self, timeout_s: float, cancel: CancelToken | None, quota: Quota | None = None) -> End:
        """Feed and read until the program ends, its time is over, it is cancelled, or it writes too much.

        Args:
            quota: of what it adds to the disk.

        Raises:
            OSError: it could not be executed.
            CodurError: it could not be contained.
        """
        end = self._until_end(time.monotonic() + timeout_s, cancel, quota)
        if end != "ended" and not self._exited:
            # First the program alone is asked; the tree is killed whatever it answers.
            self._process.terminate()
            self._pump_until(time.monotonic() + _TERMINATE_GRACE_S, pipes=False)
            self._process.kill()
        self._pump_until(time.monotonic() + _PIPE_GRACE_S, pipes=True)
        if self._open:
            self._process.kill()
            self._pump_until(time.monotonic() + _CLOSE_GRACE_S, pipes=True)
        return end

    def _until_end(self, deadline: float, cancel: CancelToken | None, quota: Quota | None) -> End:
        # Nothing wakes this thread for a token or a full disk; without either it sleeps until something happens.
        pause = _POLL_S if cancel is not None or quota is not None else 3600.0
        while not self._exited:
            left = deadline - time.monotonic()
            if left <= 0:
                return "timed_out"
            if cancel is not None and cancel.cancelled:
                return "cancelled"
            if self._received > _FLOOD_BYTES:
                return "flooded"
            if quota is not None and quota.exceeded():
                return "overfull"
            self._pump(min(left, pause))
        # Looked at once more: what writes quickly and ends lies between two looks.
        return "overfull" if quota is not None and quota.exceeded(at_once=True) else "ended"

    def _pump_until(self, deadline: float, *, pipes: bool) -> None:
        """Go on until the program has ended (or, with `pipes`, until the pipes are closed), at most to the deadline."""
        while self._open if pipes else not self._exited:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self._pump(left)

    def _pump(self, seconds: float) -> None:
        """Handle what is ready, waiting at most `seconds` for it."""
        if self._notice < 0:
            seconds = min(seconds, _NO_NOTICE_POLL_S)
        for key, _ in self._selector.select(seconds):
            if key.fd == self._notice:
                self._look()
            elif isinstance(key.data, BoundedOutput):
                self._read(key.fd, key.data)
            else:
                self._write(key.fd)
        if self._notice < 0 and not self._exited:
            self._look()

    def _look(self) -> None:
        self._exited = self._process.poll()
        if self._exited and self._notice >= 0:
            self._selector.unregister(self._notice)

    def _read(self, descriptor: int, output: BoundedOutput) -> None:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        if data:
            self._received += len(data)
            output.add(data)
            return
        self._selector.unregister(descriptor)
        self._open -= 1

    def _write(self, descriptor: int) -> None:
        try:
            written = os.write(descriptor, self._stdin[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            written = len(self._stdin)  # it reads no more: the rest has no taker
        self._stdin = self._stdin[written:]
        if not self._stdin:
            self._selector.unregister(descriptor)
            self._process.close_stdin()


class GroupProcess:
    """A program where there is no process starter: it ends with its process group.

    Args:
        process: started with pipes, unbuffered, and with `start_new_session=True`.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._streams = {name: getattr(process, name) for name in ("stdin", "stdout", "stderr")}
        self.stdin, self.stdout, self.stderr = (
            stream.fileno() if stream is not None else -1 for stream in self._streams.values()
        )
        self.status: int | None = None
        self.limit = ""

    @classmethod
    def start(cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], has_input: bool) -> GroupProcess:
        """Start a program in a process group of its own.

        Raises:
            OSError: it cannot be executed, or there is no such directory.
            ValueError: a word or a variable has a null byte in it.
        """
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # buffered pipes may hold what the selector then never tells of
            start_new_session=True,
        )
        return cls(process)

    def fileno(self) -> int:
        """None: its end is polled."""
        return -1

    def poll(self) -> bool:
        """Whether the program has ended."""
        # Not reaped before the group is killed: until then the number cannot belong to anyone else.
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def terminate(self) -> None:
        """Ask the process group to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process group."""
        self._signal(signal.SIGKILL)

    def close(self) -> None:
        """Kill the process group, reap the program, close the pipes."""
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.status = self._process.wait(timeout=2.0)
        for stream in self._streams.values():
            if stream is not None:
                stream.close()

    def close_stdin(self) -> None:
        """Close its standard input."""
        self._streams["stdin"].close()

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
