"""One candidate's process: how it is forked, fed, read, bounded and ended."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import resource
import select
import signal
import struct
import time
from typing import Any, Callable

Work = Callable[[int], int]
"""Runs a candidate in its fork: gets a descriptor for its report, and gives the exit status."""

CHUNK = 65_536
TICK_MS = 20  # chosen; a fork that has used up its time runs on for as long
ENDING_CPU_S, ENDING_S = 0.02, 0.25
"""Processor and wall time in which a program that has run out of time may tell what it has."""
CLOSING_S = 0.1
MAX_FILE_BYTES = 268_435_456  # of a single file; the quota of added bytes does not look at workers
BROKEN = 70  # of `sysexits.h`: an error of ours, before the program has begun


class Frames:
    """The channel to the one who asks, moved away from the descriptors that programs use."""

    def __init__(self) -> None:
        self.input, self.output = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        # A `print` at import would else be taken for a frame.
        os.dup2(null, 1)
        os.close(null)

    def read(self) -> Any:
        """The next request; None at the end."""
        head = self._exactly(4)
        if head is None:
            return None
        body = self._exactly(struct.unpack(">I", head)[0])
        return None if body is None else json.loads(body)

    def write(self, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode("ascii")
        left = memoryview(struct.pack(">I", len(data)) + data)
        while left:
            left = left[os.write(self.output, left) :]  # a pipe takes what fits

    def close(self) -> None:
        os.close(self.input)
        os.close(self.output)

    def _exactly(self, size: int) -> bytes | None:
        data = b""
        while len(data) < size:
            more = os.read(self.input, size - len(data))
            if not more:
                return None
            data += more
        return data


class Kept:
    """The head and the tail of an output."""

    def __init__(self, limit: int) -> None:
        self.head_size, self.tail_size = limit // 2, limit - limit // 2
        self.head, self.tail, self.received = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        self.received += len(data)
        room = self.head_size - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        if len(self.tail) > 2 * self.tail_size + CHUNK:  # seldom, because cutting the front moves all of the rest
            del self.tail[: -self.tail_size or None]

    def told(self) -> list[Any]:
        """Head, tail and the number of bytes that were left out between them."""
        if self.tail_size < len(self.tail):
            del self.tail[: len(self.tail) - self.tail_size]
        dropped = self.received - len(self.head) - len(self.tail)
        return [self.head.decode("latin-1"), self.tail.decode("latin-1"), dropped]


class Fork:
    """A process for one candidate, watched from outside of it."""

    def __init__(self, frames: Frames) -> None:
        self.frames = frames
        self.readers: dict[int, str] = {}
        self.poll = select.poll()
        self.spent = 0.0

    def run(self, request: dict[str, Any], work: Work) -> dict[str, Any]:
        """What became of `work`."""
        self.begun = time.monotonic()
        self.cpu_s, self.idle_s, self.wall_s = request["limits"]
        self.flood = request["flood"]
        self.kept = {name: Kept(request["keep"]) for name in ("stdout", "stderr")}
        self.kept["report"] = Kept(2 * MAX_FILE_BYTES)  # never cut: half a report is none
        self.end = "ended"
        self.start(work)
        self.hand(request["stdin"].encode("latin-1"))
        while not self.step(self.tick()):
            if self.over():
                self.have_it_tell()
                break
        return self.finish()

    def start(self, work: Work) -> None:
        """Fork."""
        stdin, self.feed = os.pipe()
        outer = {name: os.pipe() for name in self.kept}
        gc.freeze()  # what is there now need not be looked at by a collection in the fork
        self.pid = os.fork()
        if self.pid == 0:
            for descriptor in (self.feed, *(reader for reader, _ in outer.values())):
                os.close(descriptor)
            inner = (stdin, outer["stdout"][1], outer["stderr"][1])
            self.enter(inner, outer["report"][1], work)
        os.close(stdin)
        for name, (reader, writer) in outer.items():
            os.close(writer)
            self.readers[reader] = name
            self.poll.register(reader, select.POLLIN)
        # A descriptor for the end, so that one `poll` waits for it, for output, and for the asker to go away.
        self.ended = pidfd_open(self.pid)
        self.poll.register(self.ended, select.POLLIN)
        self.poll.register(self.frames.input, 0)  # without events it tells of a hang-up alone

    def enter(self, inner: tuple[int, ...], report: int, work: Work) -> None:
        """In the fork: become the program. Never comes back."""
        status = BROKEN
        try:
            os.setsid()  # so that a signal to its group reaches what it starts, and not the worker
            self.frames.close()
            for number, descriptor in enumerate(inner):
                os.dup2(descriptor, number)
                os.close(descriptor)
            # A second line behind the watcher's clock; the kernel counts whole seconds, hence the margin.
            limit(resource.RLIMIT_CPU, int(self.wall_s) + 2)
            gc.enable()
            status = work(report)
        finally:
            os._exit(status)

    def hand(self, data: bytes) -> None:
        """Give it this on its standard input."""
        self.stdin = memoryview(data)
        if self.stdin:
            # A program that never reads its input must not hold up its watcher.
            os.set_blocking(self.feed, False)
            self.poll.register(self.feed, select.POLLOUT)
        else:
            os.close(self.feed)

    def finish(self) -> dict[str, Any]:
        """Ends it with all that it started; what became of the candidate."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            # The group first and then the process, in case it ended before it had a session of its own.
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        # By number, and after the signals: until it is waited for nobody else can have its number.
        _, status, usage = os.wait4(self.pid, 0)
        self.spent = usage.ru_utime + usage.ru_stime
        self.poll.unregister(self.ended)
        os.close(self.ended)
        self.ended = -1
        end_orphans()
        # A process that it left may hold the pipes open for ever.
        until = time.monotonic() + CLOSING_S
        while self.readers and time.monotonic() < until:
            self.step(TICK_MS)
        self.close()
        code = None
        if self.end == "ended":
            code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if code == -signal.SIGXCPU:
            self.end, code = "timed_out", None
        return {
            "end": self.end,
            "status": code,
            "stdout": self.kept["stdout"].told(),
            "stderr": self.kept["stderr"].told(),
            "told": read_report(bytes(self.kept["report"].head)),
            "duration_s": time.monotonic() - self.begun,
            "cpu_s": self.spent,
        }

    def tick(self) -> int:
        """Milliseconds until the program is looked at again; it uses up what is left of its time no sooner."""
        return min(TICK_MS, max(1, int(1000 * (self.cpu_s - self.spent)) + 1))

    def have_it_tell(self) -> None:
        """Let a program that has run out of time write what it holds back."""
        until, bound = time.monotonic() + ENDING_S, used(self.pid) + ENDING_CPU_S
        with contextlib.suppress(ProcessLookupError):
            # The handler set in the fork flushes what Python holds back; the kernel's own signal for this would do the
            # same.
            os.kill(self.pid, signal.SIGXCPU)
        while self.end == "timed_out" and not self.step(2):
            if time.monotonic() > until or used(self.pid) > bound:
                break

    def over(self) -> bool:
        """Whether the program has used up its time or its output, or waits for what does not come."""
        wall_s, last, self.spent = time.monotonic() - self.begun, self.spent, used(self.pid)
        # Processor time that stands still is not enough: on a busy machine a program may wait for its turn.
        idle = wall_s > self.idle_s and last == self.spent and not is_running(self.pid)
        if idle or wall_s > self.wall_s or self.spent > self.cpu_s:
            self.end = "timed_out"
        elif any(kept.received > self.flood for kept in self.kept.values()):
            self.end = "flooded"
        return self.end != "ended"

    def step(self, wait_ms: int) -> bool:
        """Handles what is ready; whether the program has ended."""
        found = False
        for descriptor, event in self.poll.poll(wait_ms):
            if descriptor == self.ended:
                found = True
            elif descriptor == self.frames.input:
                self.end = "deserted"
                return True
            elif descriptor in self.readers:
                self.take(descriptor)
            else:
                self.give(event)
        return found

    def take(self, descriptor: int) -> None:
        data = os.read(descriptor, CHUNK)
        if data:
            self.kept[self.readers[descriptor]].add(data)
        else:
            self.poll.unregister(descriptor)
            del self.readers[descriptor]
            os.close(descriptor)

    def give(self, event: int) -> None:
        written = len(self.stdin)
        if not event & select.POLLERR:
            with contextlib.suppress(BrokenPipeError):
                written = os.write(self.feed, self.stdin[:CHUNK])
        self.stdin = self.stdin[written:]
        if not self.stdin:
            self.poll.unregister(self.feed)
            os.close(self.feed)

    def close(self) -> None:
        if self.stdin:
            os.close(self.feed)
        for descriptor in self.readers:
            os.close(descriptor)


def limit(which: int, wanted: int) -> None:
    hard = resource.getrlimit(which)[1]
    bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(which, (bound, bound))


def limit_all(memory: int) -> None:
    """Bound what this process and its forks may use; of memory, `memory` bytes more than now."""
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, MAX_FILE_BYTES)
    with open("/proc/self/statm", encoding="ascii") as file:
        data = int(file.read().split()[5]) * resource.getpagesize()
    limit(resource.RLIMIT_DATA, data + memory)


def used(pid: int) -> float:
    """Processor seconds of a process (Linux: the clock of a process has this number)."""
    # `CPUCLOCK_SCHED` of the whole process, as the kernel numbers clocks: finer than the ticks of `/proc/PID/stat`.
    return time.clock_gettime((~pid << 3) | 2)


def is_running(pid: int) -> bool:
    """Whether a thread of a process is running or would like to; also if the sandbox does not let that be seen."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except PermissionError:
        return True
    for number in threads:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{number}/stat", encoding="latin-1") as file:
            # the name in brackets may hold blanks and brackets itself
            if file.read().rpartition(")")[2].split()[0] in "RD":
                return True
    return False


def pidfd_open(pid: int) -> int:
    """`os.pidfd_open`, which Python 3.8 does not have; the call's number is the same on all machines."""
    return os.pidfd_open(pid) if hasattr(os, "pidfd_open") else ctypes.CDLL(None).syscall(434, pid, 0)


def end_orphans() -> None:
    """Ends processes that the program left in sessions of their own: they have become children of this one."""
    with contextlib.suppress(ChildProcessError):
        # In rounds, since what is ended may have children that only now come here.
        while os.waitpid(-1, os.WNOHANG) == (0, 0):
            with open("/proc/thread-self/children", encoding="ascii") as file:
                for number in file.read().split():
                    os.kill(int(number), signal.SIGKILL)
            time.sleep(0.001)


def read_report(data: bytes) -> dict[str, Any]:
    """What the fork told about itself; nothing if it was killed before, or if the candidate wrote into it."""
    found: dict[str, Any] = {}
    for line in data.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            return {}
        if isinstance(told, dict):  # a program may write a valid line of JSON into any descriptor
            found.update(told)
    return found
