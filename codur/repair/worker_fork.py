"""One candidate's process: how it is forked, fed, read, bounded and ended.

It stands alone (standard library only, no import of Codur): `worker_program` gets its text.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from typing import Any

CHUNK = 65_536
TICK_MS = 20
ENDING_CPU_S, ENDING_S = 0.02, 0.25
"""Processor and wall time in which a program that has run out of time may tell what it has."""
CLOSING_S = 0.1
MAX_FILE_BYTES = 268_435_456
BROKEN = 70


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
        if len(self.tail) > 2 * self.tail_size + CHUNK:
            del self.tail[: -self.tail_size or None]

    def told(self) -> list[Any]:
        """Head, tail and the number of bytes that were left out between them."""
        if self.tail_size < len(self.tail):
            del self.tail[: len(self.tail) - self.tail_size]
        dropped = self.received - len(self.head) - len(self.tail)
        return [self.head.decode("latin-1"), self.tail.decode("latin-1"), dropped]


class Fork:
    """One candidate's process, watched from outside of it."""

    def __init__(self, frames: Any, request: dict[str, Any], way: str) -> None:
        self.frames = frames
        self.cpu_s, self.idle_s, self.wall_s = request["limits"][way]
        self.spent = 0.0
        self.request = request
        self.kept = {name: Kept(request["keep"]) for name in ("stdout", "stderr")}
        self.kept["report"] = Kept(2 * MAX_FILE_BYTES)
        self.readers: dict[int, str] = {}
        self.stdin = memoryview(request["stdin"].encode("latin-1"))
        self.poll = select.poll()
        self.end = "ended"

    def run(self, work: Callable[[int], int]) -> dict[str, Any]:
        """What became of `work`, which gets a descriptor for its report and gives its exit status."""
        begun = time.monotonic()
        stdin, self.feed = os.pipe()
        outer = {name: os.pipe() for name in self.kept}
        gc.freeze()  # what is there now need not be looked at by a collection in the fork
        pid = os.fork()
        if pid == 0:
            for descriptor in (self.feed, *(reader for reader, _ in outer.values())):
                os.close(descriptor)
            inner = (stdin, outer["stdout"][1], outer["stderr"][1])
            self.enter(inner, outer["report"][1], work)
        os.close(stdin)
        for name, (reader, writer) in outer.items():
            os.close(writer)
            self.readers[reader] = name
            self.poll.register(reader, select.POLLIN)
        self.watch_feed()
        status, cpu_s = self.watch(pid, begun)
        code = os.waitstatus_to_exitcode(status) if self.end == "ended" else None
        return {
            "end": "timed_out" if code == -signal.SIGXCPU else self.end,
            "status": None if code == -signal.SIGXCPU else code,
            "stdout": self.kept["stdout"].told(),
            "stderr": self.kept["stderr"].told(),
            "told": read_report(bytes(self.kept["report"].head)),
            "duration_s": time.monotonic() - begun,
            "cpu_s": cpu_s,
        }

    def enter(self, inner: tuple[int, ...], report: int, work: Callable[[int], int]) -> None:
        """In the fork: become the program. Never comes back."""
        status = BROKEN
        try:
            os.setsid()
            self.frames.close()
            for number, descriptor in enumerate(inner):
                os.dup2(descriptor, number)
                os.close(descriptor)
            limit(resource.RLIMIT_CPU, int(self.wall_s) + 2)
            gc.enable()
            status = work(report)
        finally:
            os._exit(status)

    def watch_feed(self) -> None:
        if self.stdin:
            os.set_blocking(self.feed, False)
            self.poll.register(self.feed, select.POLLOUT)
        else:
            os.close(self.feed)

    def watch(self, pid: int, begun: float) -> tuple[int, float]:
        """Feeds, reads and waits; ends all that the program started. Gives its status and its processor time."""
        ended = os.pidfd_open(pid)
        self.poll.register(ended, select.POLLIN)
        self.poll.register(self.frames.input, 0)
        running = True
        while running:
            running = not self.step(ended, self.tick())
            if running and self.over(pid, begun):
                self.have_it_tell(pid, ended)
                break
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        self.poll.unregister(ended)
        os.close(ended)
        end_orphans()
        until = time.monotonic() + CLOSING_S
        while self.readers and time.monotonic() < until:
            self.step(-1, TICK_MS)
        self.close()
        return status, usage.ru_utime + usage.ru_stime

    def tick(self) -> int:
        """Milliseconds until the program is looked at again; it uses up what is left of its time no sooner."""
        return min(TICK_MS, max(1, int(1000 * (self.cpu_s - self.spent)) + 1))

    def have_it_tell(self, pid: int, ended: int) -> None:
        """Let a program that has run out of time write what it holds back."""
        until, bound = time.monotonic() + ENDING_S, used(pid) + ENDING_CPU_S
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGXCPU)
        while self.end == "timed_out" and not self.step(ended, 2):
            if time.monotonic() > until or used(pid) > bound:
                break

    def over(self, pid: int, begun: float) -> bool:
        """Whether the program has used up its time or its output, or waits for what does not come."""
        wall_s, before, self.spent = time.monotonic() - begun, self.spent, used(pid)
        idle = wall_s > self.idle_s and before == self.spent and not is_running(pid)
        if idle or wall_s > self.wall_s or self.spent > self.cpu_s:
            self.end = "timed_out"
        elif any(kept.received > self.request["flood"] for kept in self.kept.values()):
            self.end = "flooded"
        return self.end != "ended"

    def step(self, ended: int, wait_ms: int) -> bool:
        """Handles what is ready; whether the program has ended."""
        found = False
        for descriptor, event in self.poll.poll(wait_ms):
            if descriptor == ended:
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
    limit(resource.RLIMIT_DATA, data_bytes() + memory)


def data_bytes() -> int:
    """How much data this process has now; what its forks may use comes on top."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - per candidate: no path object
        return int(file.read().split()[5]) * resource.getpagesize()


def used(pid: int) -> float:
    """Processor seconds of a process (Linux: the clock of a process has this number)."""
    return time.clock_gettime((~pid << 3) | 2)


def is_running(pid: int) -> bool:
    """Whether a thread of a process is running or would like to."""
    for number in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - see data_bytes
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{number}/stat", encoding="latin-1") as file:  # noqa: PTH123
            if file.read().rpartition(")")[2].split()[0] in "RD":
                return True
    return False


def end_orphans() -> None:
    """Ends processes that the program left in sessions of their own: they have become children of this one."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) == (0, 0):
            with open("/proc/thread-self/children", encoding="ascii") as file:  # noqa: PTH123 - see data_bytes
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
        if isinstance(told, dict):
            found.update(told)
    return found
