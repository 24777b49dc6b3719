"""Command lines in processes of their own that need no start-up: forked from one that has loaded Codur already.

A child is a process like any other (it is killed, it has its own directory, environment and streams); only that its
modules are there already. `python -m tests.support.nursery DESCRIPTOR` is the process that forks.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO

ROOT = Path(__file__).parents[2]
_MOST_BYTES = 65536
_PROGRAMS = ("codur.__main__", "codur.repair.worker", "codur.sandbox.starter.starter_")
"""Modules that begin so run in other processes, as do those that end with `_program`."""
_OTHERS = ("groq", "pydantic", "anyio._backends._asyncio", "httpcore", "h11")
"""What Codur's own modules load when they are used. One that is missing here costs time, nothing else."""


@dataclass(frozen=True)
class Child:
    """A command line that runs."""

    pid: int
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    nursery: Nursery

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        assert self.wait() == -signal.SIGKILL

    def wait(self) -> int:
        """Its exit code, when it has ended; its streams are closed."""
        for stream in (self.stdin, self.stdout, self.stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        return int(self.nursery.asked({"wait": self.pid})["code"])

    def communicate(self, given: bytes, timeout_s: float) -> tuple[int, bytes, bytes]:
        """Its exit code and what it wrote.

        Raises:
            TimeoutError: it was killed as its time was up.
        """
        too_late = threading.Event()

        def end() -> None:
            too_late.set()
            os.kill(self.pid, signal.SIGKILL)

        with ThreadPoolExecutor(3) as threads:
            late = threading.Timer(timeout_s, end)
            late.start()
            try:
                threads.submit(self._give, given)
                out, err = threads.submit(self.stdout.read), threads.submit(self.stderr.read)
                found = out.result(), err.result()
            finally:
                late.cancel()
        code = self.wait()
        if too_late.is_set():
            raise TimeoutError(f"killed after {timeout_s} s: {found}")
        return code, *found

    def _give(self, given: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.stdin.write(given)
            self.stdin.close()


class Nursery:
    """A process from which command lines are forked; use it as a context."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "error", "-m", "tests.support.nursery", str(theirs.fileno())],
                cwd=ROOT,
                env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"},
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
            )

    def start(self, *words: str, cwd: Path, variables: Mapping[str, str]) -> Child:
        """Start `codur` with these arguments."""
        given, out, err = os.pipe(), os.pipe(), os.pipe()
        theirs = (given[0], out[1], err[1])
        try:
            pid = self.fork(words, theirs, cwd=cwd, variables=variables)
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        streams = os.fdopen(given[1], "wb"), os.fdopen(out[0], "rb"), os.fdopen(err[0], "rb")
        return Child(pid, *streams, self)

    def fork(
        self,
        words: Sequence[str],
        streams: tuple[int, int, int],
        *,
        cwd: Path,
        variables: Mapping[str, str],
        at_terminal: bool = False,
    ) -> int:
        """The process of a command line with these streams; `at_terminal`, its standard input is its terminal."""
        request = {"words": words, "cwd": str(cwd), "environ": dict(variables), "at_terminal": at_terminal}
        return self.asked(request, streams)["pid"]

    def asked(self, request: Mapping[str, object], descriptors: Sequence[int] = ()) -> dict[str, int]:
        """What the process answers."""
        with self._lock:
            line = json.dumps(request).encode() + b"\n"
            sent = socket.send_fds(self._ours, [line], list(descriptors))
            self._ours.sendall(line[sent:])
            answer = self._ours.recv(_MOST_BYTES)
        assert answer, "the nursery has ended"
        found: dict[str, int] = json.loads(answer)
        return found

    def __enter__(self) -> Nursery:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ours.close()
        assert self._process.wait(60) == 0


@cache
def shared() -> Nursery:
    """The one of this process; it ends with it."""
    made = Nursery()
    atexit.register(made.__exit__, None, None, None)
    return made


def serve(descriptor: int) -> int:
    """Fork a child for each request, until there are no more."""
    import gc
    import importlib
    import pkgutil

    import codur

    own = (module.name for module in pkgutil.walk_packages(codur.__path__, "codur."))
    for name in (*own, *_OTHERS):
        if not name.startswith(_PROGRAMS) and not name.endswith("_program"):
            importlib.import_module(name)
    gc.freeze()  # what is there stays, and its memory stays shared
    with socket.socket(fileno=descriptor) as theirs:
        while True:
            data, given, _, _ = socket.recv_fds(theirs, _MOST_BYTES, 3)
            if not data:
                return 0
            while not data.endswith(b"\n"):
                data += theirs.recv(_MOST_BYTES)
            request = json.loads(data)
            if "wait" in request:
                pid, status = os.waitpid(request["wait"], os.WNOHANG if request.get("at_once") else 0)
                answer = {"code": os.waitstatus_to_exitcode(status)} if pid else {}
            else:
                answer = {"pid": os.fork()}
                if answer["pid"] == 0:
                    theirs.close()
                    if request["at_terminal"]:
                        os.setsid()
                        fcntl.ioctl(given[0], termios.TIOCSCTTY, 0)
                    return _carry_out(request["words"], request["cwd"], request["environ"], given)
                for item in given:
                    os.close(item)
            theirs.send(json.dumps(answer).encode())


def _carry_out(words: Sequence[str], cwd: str, environ: Mapping[str, str], streams: Sequence[int]) -> int:
    """What a process does whose command line this is."""
    import tempfile
    import time

    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    tempfile.tempdir = None  # the place is found once a process
    sys.argv[:] = ["codur", *words]
    from codur.__main__ import main

    return main()


if __name__ == "__main__":
    sys.exit(serve(int(sys.argv[1])))
