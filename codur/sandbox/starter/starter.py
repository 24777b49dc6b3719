"""The process starter: a small program that starts other programs for Codur, and ends all that they leave.

Forking Codur itself would copy a large process with threads, and what a program starts could outlive it. So one helper
is started once, with nothing but the standard library in it, and keeps a process ready that is forked from it. Each
program gets such a process as its supervisor: what the program starts belongs to it, whatever session it moves to, and
is killed when the program has ended, when Codur says so, when Codur is gone, or when it exceeds its limits.

`main` is run by `starter_client.py` in a Python of its own (`-I -S`).
"""

from __future__ import annotations

import errno
import gc
import marshal
import os
import resource
import select
import signal
import struct
import time

# `socket` takes longer to import, and makes the process larger.
from _socket import CMSG_LEN, MSG_CMSG_CLOEXEC, SCM_RIGHTS, SOL_SOCKET, socket, socketpair

from codur.sandbox.starter import confinement, isolation, process_tree
from codur.sandbox.starter.starter_protocol import (
    FAILED,
    LENGTH,
    RECORD,
    STAGE_CONFINE,
    STAGE_DIRECTORY,
    STAGE_EXECUTE,
    TYPE_CHECKING,
)
from codur.sandbox.starter.supervisor import Supervisor

if TYPE_CHECKING:
    from typing import NoReturn

    from codur.sandbox.starter.starter_protocol import Request, Template

_MAX_DESCRIPTORS = 64
_MAX_TEMPLATE_BYTES = 1_048_576  # a message of this socket type comes whole or cut
_FORK_PAUSE_MS = 5
"""How long a program that has just been taken may use the processors before the next one is prepared."""
_RETRY_SECONDS = 0.02  # also the pause after a killed supervisor: its orphans arrive one by one
_COUNT_SECONDS = 1.0
_NEWS = struct.Struct("=ii")
"""What a supervisor tells the starter: its number, and whether it is idle."""
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_DEFAULT_AGAIN = (*_IGNORED, signal.SIGPIPE, signal.SIGXFSZ)
"""What the starter ignores, and what Python does."""


def main(descriptor: int) -> NoReturn:
    """Serve the socket `descriptor` until its other end is closed."""
    requests = socket(fileno=os.dup(descriptor))  # the copy is not inherited
    os.close(descriptor)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C in the terminal is Codur's to handle
    confinement.hide_self()
    confinement.leave_keyring()
    confinement.adopt_orphans()
    template: Template = marshal.loads(requests.recv(_MAX_TEMPLATE_BYTES))
    gc.disable()
    gc.freeze()  # a collection in a fork would write to every page, and so copy it
    _serve(requests, template)
    process_tree.kill_below({})  # who has killed its supervisor may not be seen yet
    os._exit(0)


def _serve(requests: socket, template: Template) -> None:
    """Keep at least one supervisor ready for the next program."""
    ended, on_end = os.pipe()
    news, on_news = os.pipe()
    os.set_blocking(on_end, False)
    # A handler that does nothing: without one the signal writes nothing into the pipe below.
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(on_end, warn_on_full_buffer=False)
    demand = select.poll()
    demand.register(requests.fileno(), select.POLLIN)
    events = select.poll()
    events.register(requests.fileno(), 0)  # of this one only the end: requests are taken by who waits for them
    events.register(ended, select.POLLIN)
    events.register(news, select.POLLIN)
    supervisors: set[int] = set()
    idle: set[int] = set()
    pause = 0
    while True:
        # The next supervisor is forked when the last idle one has been taken, a little later, so as not to slow down
        # the program that has just begun.
        if not idle:
            demand.poll(pause)
        if not _freed(news, idle):
            pid = _fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for descriptor in (ended, on_end, news):
                    os.close(descriptor)
                _supervise(requests, on_news, template)
            supervisors.add(pid)
            idle.add(pid)
            pause = _FORK_PAUSE_MS
        for ready, _ in events.poll():
            if ready == requests.fileno():
                return
            if ready == news:
                _hear(news, idle)
            else:
                idle -= _collect(ended, supervisors)


def _freed(news: int, idle: set[int]) -> bool:
    """Whether a supervisor is idle, by now."""
    while not idle and select.select([news], [], [], 0)[0]:
        _hear(news, idle)
    return bool(idle)


def _hear(news: int, idle: set[int]) -> None:
    """Take one message of a supervisor: whether it is idle."""
    pid, is_idle = _NEWS.unpack(os.read(news, _NEWS.size))
    (idle.add if is_idle else idle.discard)(pid)


def _fork() -> int:
    """As `os.fork`, but waits while the user has too many processes."""
    while True:
        try:
            return os.fork()
        except OSError:
            time.sleep(_RETRY_SECONDS)


def _collect(ended: int, supervisors: set[int]) -> set[int]:
    """Reap supervisors, and kill what those have left that were killed; returns the ones that ended."""
    os.read(ended, 4096)
    statuses: dict[int, int] = {}
    process_tree.reap(statuses)
    supervisors -= statuses.keys()
    # A supervisor that ends by itself leaves nothing; one that was killed leaves its program to this process.
    if any(statuses.values()):
        for orphan in [pid for pid in process_tree.children(os.getpid()) if pid not in supervisors]:
            for below, _ in process_tree.descendants(orphan):
                process_tree.signal_process(below, signal.SIGKILL)
            process_tree.signal_process(orphan, signal.SIGKILL)
        time.sleep(_RETRY_SECONDS)
    return set(statuses)


def _supervise(requests: socket, on_news: int, template: Template) -> NoReturn:
    """See programs to their end, one after the other, with a process ready to become the next one."""
    status = 1
    try:
        confinement.adopt_orphans()
        own = os.getpid()
        user = _User()
        while True:
            ours, theirs = socketpair()
            user.count()
            pid = os.fork()
            if pid == 0:
                ours.close()
                _become_next(requests, theirs, own, template, user.threads)
            # Else the end of the other side would never be seen here.
            theirs.close()
            data, ancillary, _, _ = ours.recvmsg(1024, CMSG_LEN(4), MSG_CMSG_CLOEXEC)
            ours.close()
            if not data:
                break
            os.write(on_news, _NEWS.pack(own, 0))
            control = socket(fileno=_descriptors(ancillary)[0])
            supervisor = Supervisor(pid, control, marshal.loads(data))
            supervisor.run()
            os.write(on_news, _NEWS.pack(own, 1))  # first: who hears of the end may ask for the next program at once
            supervisor.tell_end(left=False)
            control.close()
        status = 0
    finally:
        os._exit(status)


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    for level, kind, data in ancillary:
        if level == SOL_SOCKET and kind == SCM_RIGHTS:
            return list(struct.unpack(f"={len(data) // 4}i", data))
    return []


class _User:
    """How many processes and threads the user has, known well enough to bound what a program adds to them.

    Attributes:
        threads: 0 for root, whom the kernel does not bound.
    """

    def __init__(self) -> None:
        self.threads = 0
        self._next = 0.0

    def count(self) -> None:
        """Count again, unless that was done a short while ago."""
        if os.geteuid() and time.monotonic() >= self._next:
            self.threads = process_tree.user_threads(os.geteuid())
            self._next = time.monotonic() + _COUNT_SECONDS


def _become_next(requests: socket, supervisor: socket, parent: int, template: Template, others: int) -> NoReturn:
    """Wait for a request, hand its control socket to the supervisor, and become the program."""
    try:
        # Away from Codur's terminal and group: the program can neither read keys from it nor be hit by its Ctrl-C.
        os.setsid()
        for number in _DEFAULT_AGAIN:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a blocked signal would stay blocked after `execve`
        prepared = _prepare(template, parent)
        received, ancillary, _, _ = requests.recvmsg(1, CMSG_LEN(4 * _MAX_DESCRIPTORS), MSG_CMSG_CLOEXEC)
        if not received:
            os._exit(0)
        control, *descriptors = _descriptors(ancillary)
        # The request comes on the program's own socket and not on the common one, where messages of others could come
        # between.
        connection = socket(fileno=control)
        request: Request = marshal.loads(
            _read_exactly(connection, *LENGTH.unpack(_read_exactly(connection, LENGTH.size)))
        )
        watch = marshal.dumps((request["memory_bytes"], request["processes"], request["wrapper"]))
        supervisor.sendmsg([watch], [(SOL_SOCKET, SCM_RIGHTS, struct.pack("=i", control))])
        request["limits"] += _process_limit(others, request, template)
        _become(request, connection, descriptors, template, prepared)
    finally:
        os._exit(127)


def _process_limit(others: int, request: Request, template: Template) -> list[tuple[int, int, int]]:
    """A bound that only a burst reaches which the supervisor is too slow for.

    It counts what else the user starts, but for those in a user namespace (Linux 5.14 and later).
    """
    processes = request["processes"]
    if not others or not processes:
        return []
    if template[-1] is not None:
        return [(resource.RLIMIT_NPROC, processes, processes)]
    # The kernel counts all processes of the user, not those of this program; root and wrapped programs are bounded by
    # counting alone.
    bound = others + processes + processes // 32
    return [] if request["wrapper"] else [(resource.RLIMIT_NPROC, bound, bound)]


def _prepare(template: Template, parent: int) -> int | OSError:
    try:
        return confinement.prepare(template, parent) if template[-1] is None else isolation.prepare(template, parent)
    except OSError as error:
        return error  # told when a program is asked for


def _read_exactly(connection: socket, count: int) -> bytes:
    chunks: list[bytes] = []
    while count:
        chunk = connection.recv(min(count, 1_048_576))
        if not chunk:
            os._exit(0)  # Codur is gone
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)


def _become(
    request: Request, control: socket, descriptors: list[int], template: Template, prepared: int | OSError
) -> NoReturn:
    """Give up what the request says, and execute the program."""
    stage = STAGE_CONFINE
    try:
        _arrange(request, descriptors)
        if isinstance(prepared, OSError):
            raise prepared
        if template[-1] is not None:
            isolation.enter_root(request["mounts"])
        stage = STAGE_DIRECTORY
        os.chdir(request["cwd"])
        stage = STAGE_CONFINE
        confinement.finish(request["limits"], prepared, request["landlock"])
        if template[-1] is not None:
            isolation.finish(template)
        stage = STAGE_EXECUTE
        _execute(request)
    except OSError as error:
        control.sendall(RECORD.pack(FAILED, stage, error.errno or errno.EINVAL))
        os._exit(127)


def _arrange(request: Request, descriptors: list[int]) -> None:
    """Give the descriptors their numbers; all others close themselves when the program is executed.

    Without an input, the starter's own remains, which is empty.
    """
    stdout, stderr, *more = descriptors
    if request["has_input"]:
        os.dup2(more.pop(0), 0)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    for source, number in zip(more, request["inherited"], strict=True):
        os.dup2(source, number)


def _execute(request: Request) -> NoReturn:
    """Execute the first candidate that can be. Raises OSError: none can; the reason is that of one that is there."""
    reason: OSError = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    for path in request["candidates"]:
        try:
            os.execve(path, request["argv"], request["env"])
        # As a shell goes through the `PATH`: absent ones are passed over, and only if none can be executed the one that
        # is there is told.
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            if len(request["candidates"]) == 1 or error.errno != errno.EACCES:
                raise
            reason = error
    raise reason
