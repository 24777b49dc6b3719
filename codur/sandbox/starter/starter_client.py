"""Codur's side of the process starter: one helper process, and the programs that it starts."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import marshal
import os
import select
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codur.errors import UsageError, reason_of
from codur.sandbox.backend import Confined
from codur.sandbox.program_limits import resource_limits
from codur.sandbox.program_policy import Limits, Mount
from codur.sandbox.starter.starter_protocol import (
    ENDED,
    FAILED,
    LENGTH,
    LIMIT_MEMORY,
    RECORD,
    STAGE_DIRECTORY,
    STAGE_EXECUTE,
    TERMINATE,
)

if TYPE_CHECKING:
    from codur.sandbox.starter.starter_protocol import Mounts, Request, Template

_BOOT = (
    "import sys; sys.path.append(sys.argv[1]); from codur.sandbox.starter.starter import main; main(int(sys.argv[2]))"
)
_INPUT_BYTES = 262_144
"""What a program may be sent before it reads: a warm worker is sent 110 kB while its interpreter starts (40 ms)."""
_WRAPPER_PROCESSES = 2  # of the namespaces; they do not count as the program's
_STOP_SECONDS = 2.0
_END_SECONDS = 10.0  # as long as the other side may take for killing
_LIMIT_NAMES = {True: "memory", False: "processes"}


class Starter:
    """Starts programs through a helper process, which is itself started for the first of them (one for each back end).

    Safe to use from several threads. A helper ends with `close`, when this object is no longer used, and when the
    process that made it is gone.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._helpers: dict[Template, _Helper] = {}
        self._ready: _Helper | None = None
        self._beside: list[Callable[[], object]] = []

    def prepare(self) -> None:
        """Have a helper start, so that the first program need not wait 30 ms for it. Raises UsageError: as `start`."""
        with self._lock:
            if not self._helpers and self._ready is None:
                self._ready = _Helper()

    def start(self, confined: Confined, limits: Limits, *, has_input: bool) -> StartedProgram:
        """Start a program; what it inherits stays open here.

        Raises:
            UsageError: the helper does not work, or the program cannot be contained as told.
            ValueError: a word or a variable has a null byte in it.
        """
        # `marshal` needs no import at the other end, and both are the same Python.
        request = marshal.dumps(dict[str, Any](**_request(confined, limits, has_input=has_input)))
        program = StartedProgram(has_input=has_input)
        try:
            self._send(_template(confined), program.handed_over(confined.fds))
            program.ask(LENGTH.pack(len(request)) + request)
        except OSError as error:
            program.close()
            raise _helper_gone(error) from error
        with self._lock:
            beside, self._beside = self._beside, []
        for call in beside:
            call()
        return program

    def once_started(self, call: Callable[[], object]) -> None:
        """Have something called, once, when the next program has been asked for: it is done beside its start."""
        with self._lock:
            self._beside.append(call)

    def close(self) -> None:
        """End the helpers; programs that still run end as if they had not been."""
        with self._lock:
            helpers, self._helpers, self._ready = [*self._helpers.values(), self._ready], {}, None
        for helper in helpers:
            if helper is not None:
                helper.stop()

    def _send(self, template: Template, descriptors: Sequence[int]) -> None:
        helper = self._helper(template)
        try:
            helper.send(descriptors)
        # Once more with a new helper: the user, or the kernel when memory is short, may have killed the one before.
        except ConnectionError:  # it was killed
            with self._lock:
                if self._helpers.get(template) is helper:
                    del self._helpers[template]
            helper.stop()
            self._helper(template).send(descriptors)

    def _helper(self, template: Template) -> _Helper:
        with self._lock:
            if template not in self._helpers:
                helper, self._ready = self._ready or _Helper(), None
                self._helpers[template] = helper
                with contextlib.suppress(ConnectionError):  # it was killed meanwhile: whoever sends to it sees the same
                    helper.begin(template)
            return self._helpers[template]


class _Helper:
    """A process that starts programs which have the same things to give up, once it is told what."""

    def __init__(self) -> None:
        # Each request is one message, taken whole by one of the processes that wait for it.
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = _start_helper(theirs.fileno())
        # No `__del__`: this one also runs at the interpreter's end, and holds no reference to the object.
        self.stop = weakref.finalize(self, _stop, process, self._socket)

    def begin(self, template: Template) -> None:
        """Tell it what its programs give up. Raises OSError: it is gone."""
        self._socket.send(marshal.dumps(template))

    def send(self, descriptors: Sequence[int]) -> None:
        """Ask for a program."""
        socket.send_fds(self._socket, [b"S"], descriptors)


class StartedProgram:
    """A program in the hands of the starter: its pipes, what becomes of it, and its end.

    Attributes:
        stdin, stdout, stderr: our ends of its pipes.
        status: its exit status, -N if signal N ended it; None before its end.
        limit: `memory` or `processes` if it was ended because of that.
    """

    def __init__(self, *, has_input: bool) -> None:
        self.status: int | None = None
        self.limit = ""
        self._nothing_left = False
        self._unread = b""
        self._control, self._theirs = socket.socketpair()
        self.stdout, stdout = os.pipe()
        self.stderr, stderr = os.pipe()
        self._handed = [stdout, stderr]
        self.stdin = -1
        if has_input:
            stdin, self.stdin = os.pipe()
            with contextlib.suppress(OSError):  # the user's pipes have a bound together; then who writes waits
                fcntl.fcntl(stdin, fcntl.F_SETPIPE_SZ, _INPUT_BYTES)
            self._handed.append(stdin)

    def handed_over(self, inherited: Sequence[int]) -> list[int]:
        """The descriptors that the starter gets."""
        return [self._theirs.fileno(), *self._handed, *inherited]

    def ask(self, request: bytes) -> None:
        """Send the request, once the starter has the descriptors."""
        self._close_handed()
        self._control.sendall(request)

    def fileno(self) -> int:
        """What becomes readable when there is something for `poll` to read."""
        return self._control.fileno()

    def poll(self) -> bool:
        """Read what the starter says; returns whether the program has ended.

        Raises:
            OSError: it could not be executed, or there is no such directory.
            UsageError: it could not be contained.
        """
        try:
            data = self._control.recv(4096)
        except ConnectionError:
            data = b""
        self._unread += data
        while len(self._unread) >= RECORD.size:
            record, self._unread = self._unread[: RECORD.size], self._unread[RECORD.size :]
            self._take(*RECORD.unpack(record))
        # End of the socket without an answer.
        if not data and self.status is None:
            self.status = -9  # its supervisor was killed, and took it along
        return self.status is not None

    def _take(self, kind: int, detail: int, number: int) -> None:
        if kind == ENDED:
            self.status, self._nothing_left = number, bool(detail)
        elif kind == FAILED:
            error = OSError(number, os.strerror(number))
            if detail not in (STAGE_DIRECTORY, STAGE_EXECUTE):
                raise UsageError(
                    f"a program could not be contained, so it was not started: {reason_of(error)}",
                    remedy="See `codur doctor`, or choose another sandbox.backend.",
                )
            raise error
        else:
            self.limit = _LIMIT_NAMES[detail == LIMIT_MEMORY]

    def terminate(self) -> None:
        """Ask the program to end."""
        try:
            self._control.sendall(TERMINATE)
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.ECONNRESET):
                raise

    def kill(self) -> None:
        """Kill the program and all that it started; they are gone when `close` returns."""
        try:
            # Only our side: the answer about the end is still wanted.
            self._control.shutdown(socket.SHUT_WR)
        except OSError as error:
            if error.errno not in (errno.ENOTCONN, errno.EPIPE):
                raise

    def close(self) -> None:
        """Kill what is left, wait until it is gone, and close the pipes."""
        self._close_handed()
        if not self._nothing_left:
            self.kill()
            self._wait_for_end()
        self._control.close()
        for descriptor in (self.stdin, self.stdout, self.stderr):
            if descriptor >= 0:
                os.close(descriptor)
        self.stdin = self.stdout = self.stderr = -1

    def close_stdin(self) -> None:
        """Tell the program that its input ends."""
        os.close(self.stdin)
        self.stdin = -1

    def _close_handed(self) -> None:
        self._theirs.close()
        for descriptor in self._handed:
            os.close(descriptor)
        self._handed = []

    def _wait_for_end(self) -> None:
        self._control.settimeout(_END_SECONDS)
        try:
            while self._control.recv(4096):
                pass
        except (TimeoutError, ConnectionError):
            return


def _request(confined: Confined, limits: Limits, *, has_input: bool) -> Request:
    argv = [os.fsencode(word) for word in confined.argv]
    env = {os.fsencode(name): os.fsencode(value) for name, value in confined.env.items()}
    if any(b"\0" in word for word in (*argv, *env, *env.values(), os.fsencode(confined.cwd))):
        # As `subprocess` says it; `execve` in the child could only say that something is invalid.
        raise ValueError("embedded null byte")
    return {
        "argv": argv,
        "env": env,
        "cwd": os.fsencode(confined.cwd),
        "candidates": _candidates(argv[0], confined.env),
        "limits": resource_limits(limits),
        "inherited": list(confined.fds),
        "has_input": has_input,
        "memory_bytes": limits.memory_bytes,
        "processes": limits.processes and limits.processes + (_WRAPPER_PROCESSES if confined.wrapper else 0),
        "wrapper": os.fsencode(confined.wrapper)[:15],
        "landlock": confined.landlock.own if confined.landlock is not None else (),
        "mounts": _plain(confined.mounts[1]) if confined.mounts is not None else (),
    }


def _template(confined: Confined) -> Template:
    common = confined.landlock.common if confined.landlock is not None else None
    network = confined.landlock is not None and confined.landlock.network
    mounts = _plain(confined.mounts[0]) if confined.mounts is not None else None
    return (confined.drop_privileges, confined.seccomp, common, network, confined.own_network, mounts)


def _plain(mounts: Sequence[Mount]) -> Mounts:
    return tuple((*mount,) for mount in mounts)  # `marshal` knows no named tuples


def _candidates(program: bytes, env: dict[str, str]) -> list[bytes]:
    if b"/" in program:
        return [program]
    return [os.path.join(os.fsencode(directory), program) for directory in os.get_exec_path(env)]


def _start_helper(descriptor: int) -> subprocess.Popen[bytes]:
    place = Path(__file__).resolve().parents[3]
    try:
        return subprocess.Popen(
            # `-I -S`: nothing of the user's environment or site-packages is loaded; Codur's own place is appended, so
            # that the standard library goes before it.
            [sys.executable, "-I", "-S", "-c", _BOOT, str(place), str(descriptor)],
            cwd="/",
            env={"LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(descriptor,),
            start_new_session=True,  # Ctrl-C must not reach it before Codur has decided
        )
    except OSError as error:
        raise _helper_gone(error) from error


def _stop(helper: subprocess.Popen[bytes], requests: socket.socket) -> None:
    requests.close()
    with contextlib.suppress(OSError, AttributeError):  # `wait` would look at intervals, and come 4 ms late
        ended = os.pidfd_open(helper.pid)
        waiting = select.poll()
        waiting.register(ended, select.POLLIN)
        waiting.poll(1000 * _STOP_SECONDS)
        os.close(ended)
    try:
        helper.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        helper.kill()
        helper.wait()


def _helper_gone(error: OSError) -> UsageError:
    named = f" ({error.filename})" if error.filename else ""
    return UsageError(
        f"the helper that starts programs does not work: {reason_of(error)}{named}",
        remedy="Give yourself leave to read and execute it, and the directories above it."
        if isinstance(error, PermissionError)
        else "Try again; if it stays so, check that more processes and open files are allowed (ulimit -u -n).",
    )
