"""What tries to outlast the time that a run, a search or a challenge has; in real time, by the command line.

python -m tests.adversarial.limits [NAME …]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.adversarial.figures import Figure
from tests.cli.kit import environment
from tests.runs.kit import KEY, fill
from tests.support.groq_server import GroqServer, ServerReply, hold

SECONDS = 8.0
MOST_S = 1.1 * SECONDS + 1.0
GIVEN_UP_S = 120.0
_STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    time.sleep(1)
"""
_HANGING_TEST = """
from main import one

def test_hangs():
    while True:
        pass

def test_one():
    assert one() == 2
"""
_QUICK = "".join(f"def test_{number}(): ran.append(1)\n" for number in range(30))
_ALONE = f"""
from main import one
ran = []
{_QUICK}
def test_last():
    while not ran:
        pass
    assert one() == 2
"""
_ONE = "def one():\n    return 1\n"
_CLOSE = (
    "def close(value):\n    number = 0\n    while number != value:\n        number += 2\n    return number * 7 - 3\n"
)
_TEST_CLOSE = "from main import close\n\ndef test_close():\n    assert close(7) == 1234567\n"
_LINT = "def one():\n    return 1\n\n\nprint(1 + 1)\n"
_EVENTS = {"content-type": "text/event-stream"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A command line in a project.

    Attributes:
        words: the arguments; `TIME` stands for the time that is given.
        prepare: makes what is no text.
        reply: what each request to a model gets; None if there is none.
        taken: the seconds that count, of what was printed.
    """

    name: str
    files: Mapping[str, str]
    words: Sequence[str]
    prepare: Callable[[Path], object] = lambda _: None
    reply: ServerReply | None = None
    taken: Callable[[Any], float] = lambda result: float(result["duration_s"])


def _with_pipe(project: Path) -> None:
    """A repository whose index is a pipe: who reads it waits for a writer."""
    subprocess.run(["git", "init", "-q"], cwd=project, check=True, capture_output=True)
    os.mkfifo(project / ".git" / "index")


def _search(result: Any) -> float:
    return float(result["repair"]["seconds"])


def _longest(results: Any) -> float:
    return max(float(each["seconds"]) for each in results["results"])


_RUN = ("fix main.py", "--timeout", "TIME")
CASES = (
    Case(
        name="a check that ignores signals",
        files={"main.py": _ONE, "check.py": _STUBBORN},
        words=(*_RUN, "--offline", "--check", f"{sys.executable} check.py"),
    ),
    Case(name="a test that hangs", files={"main.py": _ONE, "test_main.py": _HANGING_TEST}, words=(*_RUN, "--offline")),
    Case(
        name="candidates that hang",
        files={"main.py": _CLOSE, "test_main.py": _TEST_CLOSE},
        words=("repair", "--timeout", "TIME"),
        taken=_search,
    ),
    Case(
        name="a test that hangs alone",
        files={"main.py": _ONE, "test_main.py": _ALONE},
        words=("repair", "--timeout", "TIME"),
        taken=_search,
    ),
    Case(name="a model that is silent", files={"main.py": _LINT}, words=_RUN, reply=hold()),
    Case(
        name="a model that drips",
        files={"main.py": _LINT},
        words=_RUN,
        reply=ServerReply(body=": wait\n\n", headers=_EVENTS, stays_open=True, sized=False),
    ),
    Case(
        name="a pipe in place of git's index",
        files={"main.py": _ONE, "check.py": _STUBBORN},
        words=(*_RUN, "--offline", "--check", f"{sys.executable} check.py"),
        prepare=_with_pipe,
    ),
    Case(
        name="a challenge that hangs",
        files={
            "one/main.py": "while True:\n    pass\n",
            "one/expected.txt": "1\n",
            "two/main.py": "print(1)\n",
            "two/expected.txt": "1\n",
        },
        words=("solve", ".", "--timeout", "TIME", "--results", "../results", "--offline"),
        taken=_longest,
    ),
)  # fmt: skip


@contextmanager
def _server(reply: ServerReply | None) -> Iterator[str]:
    if reply is None:
        yield ""
        return
    with GroqServer(lambda _: reply) as server:
        yield f"providers:\n  groq:\n    api: groq\n    base_url: {server.url}\n"


@contextmanager
def _started(case: Case, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """The case's command line, at work with so much time; killed at the end."""
    with tempfile.TemporaryDirectory(prefix="codur-suite-") as directory, _server(case.reply) as settings:
        project, home = Path(directory, "project"), Path(directory, "home")
        fill(project, case.files)
        fill(home, {".config/codur/config.yaml": settings} if settings else {".keep": ""})
        case.prepare(project)
        words = [f"{seconds:g}" if word == "TIME" else word for word in case.words]
        with subprocess.Popen(
            [sys.executable, "-m", "codur", *words, "--json"],
            cwd=project,
            env=environment(home, **({"GROQ_API_KEY": KEY} if settings else {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()


def seconds_of(case: Case) -> float:
    """How long it says that it took; `GIVEN_UP_S` if its process did not end at all."""
    with _started(case, SECONDS) as process:
        try:
            printed, _ = process.communicate(timeout=GIVEN_UP_S)
        except subprocess.TimeoutExpired:
            return GIVEN_UP_S
        return case.taken(json.loads(printed))


def live() -> list[str]:
    """The cases that go on beyond the time where they are given more: the control."""
    with ExitStack() as stack:
        begun = [(case.name, stack.enter_context(_started(case, 3_600.0))) for case in CASES]
        time.sleep(MOST_S)
        return [name for name, process in begun if process.poll() is None]


def limit_figure() -> Figure:
    """How many of the cases keep to their time."""
    taken = {case.name: seconds_of(case) for case in CASES}
    late = [f"{name}: {seconds:.1f} s" for name, seconds in taken.items() if seconds > MOST_S]
    kept = f"{len(CASES) - len(late)} of {len(CASES)}"
    reached = f"{kept} end by {MOST_S:g} s where {SECONDS:g} s are given, the last after {max(taken.values()):.1f} s"
    going = live()
    ok = not late and len(going) == len(CASES)
    return Figure("limits of time", reached, ok, "; ".join([f"given an hour {len(going)} go on", *late]))


def main() -> None:
    """Prints a line for each case, or for those that are named."""
    for case in CASES:
        if case.name in sys.argv[1:] or not sys.argv[1:]:
            taken = seconds_of(case)
            sys.stdout.write(f"{'kept' if taken <= MOST_S else 'BROKEN':7} {taken:6.1f} s  {case.name}\n")
            sys.stdout.flush()
    if not sys.argv[1:]:
        sys.stdout.write(f"given an hour these go on: {', '.join(live())}\n")


if __name__ == "__main__":
    main()
