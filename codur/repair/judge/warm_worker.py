"""One warm worker: a program that has loaded what does not change, and is asked to judge candidates."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codur.sandbox.launcher import Launcher
from codur.sandbox.process.channel import Channel
from codur.sandbox.process.process_result import ProcessResult
from codur.structs import Struct, field

_PACKAGE = Path(__file__).parents[1] / "worker"
_PROGRAM = "worker_program"
_START_S = 20.0  # an interpreter on a cold disk under load; one that takes longer makes a poor worker
_MARGIN_S = 5.0
_CPU_S = 3600.0
"""Of the worker itself over the whole search; each candidate has a limit of its own."""
_LEAST_WALL_S = 1.0  # a fork may wait for a processor as long as that where others are busy
_WAITING = 8.0
"""Wall time in processor times: the machine may be busy with other things."""
_MEMORY = 1_073_741_824  # for each fork; forks share what the worker loaded
_FLOOD_BYTES = 8 * 1_048_576  # an endless `print` writes this in a moment
_SINGLE_THREADED = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
"""A process with threads cannot be forked safely; these libraries start theirs when they are imported."""

Files = Mapping[str, bytes]


class Command(Struct):
    """What is run by the interpreter."""

    kind: str  # `script`, `module`, `code`, or `loaded` for tests that are collected once
    target: str = ""  # the script's path, the module's name or the code
    argv: tuple[str, ...] = ()  # the program's `sys.argv`, with `{report}` for the path of pytest's report
    path: str = ""  # what stands first on its module search path


class Job(Struct):
    """What a worker is set up for."""

    python: tuple[str, ...]  # the interpreter with its options
    command: Command
    root: Path  # the workspace
    files: Files  # its Python files by path
    stdin: bytes = b""  # all of the program's standard input
    hidden: tuple[Path, ...] = ()  # paths that it must not see
    tests: tuple[str, ...] = ()  # node ids of the tests to run; empty for all
    in_order: bool = False  # those tests need what the tests before them leave behind
    env: Mapping[str, str] = field(default_factory=dict)  # variables of its environment


class Limits(Struct):
    """What a candidate may use."""

    cpu_s: float  # processor time of the program or of the tests
    idle_s: float = 1.0  # wall time from which on a program that does nothing is not waited for
    keep: int  # bytes kept of each output

    @property
    def wall_s(self) -> float:
        """Seconds by the clock on the wall."""
        return max(_LEAST_WALL_S, _WAITING * self.cpu_s)

    @property
    def told(self) -> tuple[float, float, float]:
        """As a worker is told them."""
        return self.cpu_s, self.idle_s, self.wall_s


Edit = tuple[str, int, int, str]
"""A path, the start and end of what is replaced in its text, and the new text there."""


class Tests(Struct):
    """Tests of a loaded project, by their numbers in its session."""

    needed: tuple[int, ...]  # those that must pass before the others are run
    enough: int = 1  # after so many failures of these the rest is not run
    others: tuple[int, ...] = ()
    most_failed: int = 1  # after so many failures of the others the rest is not run
    cpu_s: float  # processor time of a single one


class Answer(Struct):
    """What became of a candidate."""

    result: ProcessResult  # as if its program had been started
    report: bytes | None = None  # pytest's report; None if there is none
    cpu_s: float = 0.0  # processor time that it used
    plain: str = ""  # why it must be judged in a process of its own; empty if this answer stands
    learnt: Mapping[str, Any]  # what its run told about what can be loaded once


class Worker:
    """A started worker. It judges one candidate at a time; `close` ends it."""

    def __init__(self, channel: Channel, job: Job) -> None:
        self._channel = channel
        self._job = job
        self._wait_s = _START_S
        self._due = 0

    @classmethod
    def start(cls, launcher: Launcher, job: Job) -> Worker:
        """A worker for a job; `problem` tells whether it could be started."""
        channel = launcher.open_channel(
            # By `-c` and frames, not by path: what the sandbox lets a program read need not hold Codur's own files.
            [*job.python, "-c", _texts()[_PROGRAM]],
            cwd=job.root,
            cpu_s=_CPU_S,
            env={**job.env, **_SINGLE_THREADED},
            hidden=job.hidden,
        )
        worker = cls(channel, job)
        worker._due = 1
        with worker.kept():
            worker._send(
                package=_texts(),
                runner="loaded_tests" if job.command.kind == "loaded" else "script_run",
                root=str(job.root),
                files=_shown(job.files),
                task={
                    **to_builtins(job.command),
                    "tests": job.tests,
                    "in_order": job.in_order,
                    # Where nothing contains programs the audit hook alone keeps a candidate from the user's files.
                    "guarded": launcher.name == "none",
                },
            )
        return worker

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """A context that ends the worker if it is left by an exception: nobody else knows of it yet."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def problem(self) -> str:
        """Why the worker cannot work, once it has started or done what `ask_adopt` asked for; empty if it can."""
        return self._heard(_START_S) or ""

    def ready(self) -> str | None:
        """As `problem`, for all that it was asked, without waiting; None as long as it is not known."""
        found: str | None = ""
        while self._due and found == "":
            found = self._heard(0.0)
        return found

    def ask_adopt(self, learnt: Mapping[str, Any]) -> None:
        """Have it load what a normal run told; `problem` takes the answer."""
        lists = {name: learnt.get(name, []) for name in ("modules", "inside")}
        self._due += 1
        self._send(ask="adopt", memory=_MEMORY, **lists)

    def ask(self, files: Files, limits: Limits, *, learn: bool = False, instead: Command | None = None) -> None:
        """Have it judge a candidate; `answer` takes the answer.

        Args:
            files: the changed files' new bytes.
            learn: have the run tell what it loads.
            instead: what is run in place of the check's program.
        """
        self._wait_s = limits.wall_s + _MARGIN_S
        self._send(
            ask="judge",
            files=_shown(files),
            limits=limits.told,
            keep=limits.keep,
            flood=max(_FLOOD_BYTES, 4 * limits.keep),
            stdin=self._job.stdin.decode("latin-1"),
            learn=learn,
            instead={} if instead is None else to_builtins(instead),
        )

    def ask_try(self, edits: Sequence[Edit | None], tests: Tests, limits: Limits) -> None:
        """Have a worker with the project loaded run tests for each edit alone; `answer` takes the answer for all."""
        self._wait_s = limits.wall_s + _MARGIN_S
        self._send(
            ask="try",
            edits=edits,
            needed=tests.needed,
            others=tests.others,
            enough=tests.enough,
            most_failed=tests.most_failed,
            test_cpu_s=tests.cpu_s,
            limits=limits.told,
            keep=limits.keep,
            flood=_FLOOD_BYTES,
            stdin="",
        )

    def answer(self) -> Answer | None:
        """The answer to the last `ask`; None if the worker is lost."""
        found = self._receive(self._wait_s)
        return None if found is None else _answer(found)

    def has_answer(self) -> bool:
        """Whether an answer has arrived already."""
        return self._channel.has_frame()

    def fileno(self) -> int:
        """A descriptor that becomes readable when more arrives."""
        return self._channel.fileno()

    def close(self) -> None:
        """End the worker and what it started."""
        self._channel.kill()

    def _send(self, **request: object) -> None:
        self._channel.send(json.dumps(request).encode("ascii"))

    def _receive(self, timeout_s: float) -> dict[str, Any] | None:
        frame = self._channel.receive(timeout_s)
        return None if frame is None else json.loads(frame)

    def _heard(self, timeout_s: float) -> str | None:
        """What speaks against it, by its next word; None if there is no such word yet."""
        said = self._receive(timeout_s)
        if said is None:
            # Silence means that it is lost only for one who waited.
            return self._lost() if timeout_s or self._channel.ended else None
        self._due -= 1
        if "problem" in said:
            return str(said["problem"])
        return "" if said["threads"] == 1 else "what it imports starts threads"

    def _lost(self) -> str:
        last = self._channel.stderr.strip().rsplit("\n", 1)[-1]
        return f"the worker ended: {last}" if last else "the worker did not answer"


@cache
def _texts() -> dict[str, str]:
    """The modules of the worker's package."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(_PACKAGE.glob("*.py"))}


def _shown(files: Files) -> dict[str, str]:
    return {path: data.decode("latin-1") for path, data in files.items()}


def _answer(found: dict[str, Any]) -> Answer:
    told = found["told"]
    plain = str(told.get("plain") or "")
    # The fork was ended with its worker: that says nothing about the candidate.
    if found["end"] == "deserted":
        plain = "the worker was told to end"
    result = ProcessResult(
        argv=(),
        exit_status=found["status"],
        stdout=_output(*found["stdout"]),
        stderr=_output(*found["stderr"]),
        timed_out=found["end"] == "timed_out",
        flooded=found["end"] == "flooded",
        truncated=bool(found["stdout"][2] or found["stderr"][2]),
        duration_s=found["duration_s"],
    )
    report = found.get("report")
    return Answer(
        result=result,
        report=None if report is None else report.encode("latin-1"),
        cpu_s=found["cpu_s"],
        plain=plain,
        learnt={**told, "refused": found.get("plain", {}), "stale": found.get("stale", [])},
    )


def _output(head: str, tail: str, dropped: int) -> str:
    """An output as `BoundedOutput` shows it."""
    first, last = (part.encode("latin-1") for part in (head, tail))
    if not dropped:
        return (first + last).decode("utf-8", "replace")
    return f"{first.decode('utf-8', 'replace')}\n[… {dropped} bytes left out …]\n{last.decode('utf-8', 'replace')}"
