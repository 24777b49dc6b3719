"""Command lines in processes of their own that need no start-up: forked from one that has loaded Codur already.

A child is a process like any other (it is killed, it has its own directory, environment and streams); only that its
modules are there already. `python -m tests.session.nursery DESCRIPTOR` is the process that forks.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from tests.cli.kit import ROOT, Ran, environment

_MOST_BYTES = 65536
_LOADED = (
    *(
        "codur.cli.app",
        "codur.cli.actions.run",
        "codur.cli.actions.runs",
        "codur.session.graph_run",
        "codur.nodes.parts.external_step",
    ),
    *(
        "codur.config.reading.values",
        "codur.config.trust_files",
        "codur.config.reading.yaml_source",
        "codur.sandbox.backends.trial",
    ),
    *(
        "codur.sandbox.backends.namespaces",
        "codur.sandbox.starter.starter_client",
        "codur.llm.services.service_model",
        "codur.store.forget",
    ),
    *(
        "codur.ui.json_output",
        "codur.ui.shown.run_report",
        "groq",
        "pydantic",
        "anyio._backends._asyncio",
        "httpcore",
        "h11",
    ),
)
"""Modules that bring the others with them. One that is missing here costs time, nothing else."""


@dataclass(frozen=True)
class Child:
    """A command line that runs."""

    pid: int
    stdout: IO[bytes]
    stderr: IO[bytes]
    nursery: Nursery

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        assert self.wait() == -signal.SIGKILL

    def wait(self) -> int:
        """Its exit code, when it has ended; its streams are closed."""
        self.stdout.close()
        self.stderr.close()
        return int(self.nursery.asked({"wait": self.pid})["code"])


class Nursery:
    """A process from which command lines are forked; use it as a context. It serves one test at a time."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "error", "-m", "tests.session.nursery", str(theirs.fileno())],
                cwd=ROOT,
                env=environment(Path("/nonexistent")),
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
            )

    def start(self, *words: str, cwd: Path, variables: Mapping[str, str]) -> Child:
        """Start `codur` with these arguments."""
        out, err = os.pipe(), os.pipe()
        try:
            made = self.asked({"words": words, "cwd": str(cwd), "environ": dict(variables)}, (out[1], err[1]))
        finally:
            os.close(out[1])
            os.close(err[1])
        return Child(made["pid"], os.fdopen(out[0], "rb"), os.fdopen(err[0], "rb"), self)

    def run(self, *words: str, cwd: Path, variables: Mapping[str, str]) -> Ran:
        """Run `codur` to its end; it may write some 60 KiB of errors."""
        child = self.start(*words, cwd=cwd, variables=variables)
        out, err = child.stdout.read().decode(), child.stderr.read().decode()
        return Ran(child.wait(), out, err)

    def asked(self, request: Mapping[str, object], descriptors: Sequence[int] = ()) -> dict[str, int]:
        """What the process answers."""
        socket.send_fds(self._ours, [json.dumps(request).encode()], list(descriptors))
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


def serve(descriptor: int) -> int:
    """Fork a child for each request, until there are no more."""
    import gc
    import importlib

    for name in _LOADED:
        importlib.import_module(name)
    gc.freeze()  # what is there stays, and its memory stays shared
    with socket.socket(fileno=descriptor) as theirs:
        while True:
            data, given, _, _ = socket.recv_fds(theirs, _MOST_BYTES, 2)
            if not data:
                return 0
            request = json.loads(data)
            if "wait" in request:
                answer = {"code": os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])}
            else:
                answer = {"pid": os.fork()}
                if answer["pid"] == 0:
                    theirs.close()
                    return _carry_out(request["words"], request["cwd"], request["environ"], given)
                for item in given:
                    os.close(item)
            theirs.send(json.dumps(answer).encode())


def _carry_out(words: Sequence[str], cwd: str, environ: Mapping[str, str], streams: Sequence[int]) -> int:
    """What a process does whose command line this is."""
    for target, stream in enumerate(streams, start=1):
        os.dup2(stream, target)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv[:] = ["codur", *words]
    from codur.__main__ import main

    return main()


if __name__ == "__main__":
    sys.exit(serve(int(sys.argv[1])))
