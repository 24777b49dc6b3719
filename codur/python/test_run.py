"""A run of pytest whose tests are told one by one: how it is started, and what it told."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from codur.structs import Struct, field

_PROGRAM = Path(__file__).with_name("pytest_program.py")
_LEAST_TEST_S = 5.0
_SHARE = 0.15
"""Of the time of a whole run, which a single test may take: a test that is only slow must not be stopped."""
_FAR = 3.0  # times as long as it may take, by the tests so far, a run has to be for none of it to be worth its end
_WITH_VALUE = frozenset(
    "-c -k -m -n -o -p -r -W --basetemp --confcutdir --deselect --ignore --ignore-glob --junitxml --log-file --maxfail"
    " --rootdir --tb --timeout --dist --cov --cov-report --cov-config --durations".split()
)
"""Options whose next word is their value and no test."""

_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "collected": int, "start": str, "id": str, "outcome": str, "when": str, "seconds": (int, float), "text": str,
    "takes": (int, float),
    "printed": str, "raised": str, "blocked": str, "outside": bool, "internal": str, "end": int, "patched": list,
}  # fmt: skip
_MAX_BYTES = 500_000_000

TO_THE_END = ("--maxfail=0", "--continue-on-collection-errors")
"""Options with which what fails keeps nothing else from being run."""

_NETWORK = "gaierror"
When = Literal["collect", "setup", "call", "teardown"]


class TestEnd(Struct):
    """How a test ended."""

    __test__ = False  # not a test class

    outcome: Literal["passed", "failed", "skipped"]
    when: When = "call"
    seconds: float = 0.0
    text: str = ""  # of one that failed: pytest's report, cut in the middle
    printed: str = ""  # the end of what it and the programs that it started printed
    raised: str = ""  # the name of what it raised
    blocked: str = ""  # the refusal by the system that it failed for; empty if there was none
    outside: bool = False  # nothing of the workspace had a part in that


class TestRun(Struct):
    """What a run told."""

    __test__ = False

    collected: int | None = None  # how many tests there were; None if that was never known
    # by node id, in the order of the run; of a test that fails in several phases the first one
    ends: Mapping[str, TestEnd] = field(default_factory=dict)
    running: str = ""  # the test that had not ended when the run did; empty if there is none
    internal: str = ""  # the error that ended pytest itself, if nothing of the workspace had a part in it
    end: int | None = None  # the exit status that pytest gave at its end; None if it did not come to it
    # what of the test frameworks was another at the end than before the workspace's code was loaded
    patched: frozenset[str] = frozenset()
    quiet_s: float = 0.0  # since it told the last of that
    is_sample: bool = False  # it was ended as all tests would take far too long

    def ids(self, outcome: str) -> tuple[str, ...]:
        """The tests that ended so."""
        return tuple(name for name, end in self.ends.items() if end.outcome == outcome)

    @property
    def is_whole(self) -> bool:
        """Whether it came to its end, all was well, and each test that there was has ended."""
        return self.end == 0 and not self.ids("failed") and self.collected in (None, len(self.ends))

    @property
    def is_complete(self) -> bool:
        """Whether each test that there was has ended, however."""
        told = sum(end.when != "collect" for end in self.ends.values())
        return not self.running and self.collected in (None, told)

    @property
    def unfit(self) -> str:
        """Why the run says nothing of the program: nothing passed, and what failed did so outside; empty if it does."""
        failed = [end for end in self.ends.values() if end.outcome == "failed"]
        if self.ids("passed") or not all(end.blocked and (end.outside or _NETWORK in end.blocked) for end in failed):
            return ""
        return self.blocked_by(self.ids("failed")) or self.internal

    def blocked_by(self, names: Iterable[str]) -> str:
        """What keeps these tests from running here, each reason once."""
        return "; ".join(dict.fromkeys(self.ends[name].blocked for name in names))


def reported_argv(
    argv: Sequence[str], events: Path, *, timeout_s: float, tests: Sequence[str] = (), sample_s: float = 0.0
) -> list[str] | None:
    """The command that runs the same and writes `events`; None if it is no `PYTHON … -m pytest …`.

    Args:
        argv: with the interpreter's path first.
        timeout_s: of the whole run.
        tests: node ids of those to run; empty for all.
        sample_s: seconds of tests after which it ends if all of them would take far longer than `timeout_s`.
    """
    words = list(argv)
    if ["-m", "pytest"] not in (words[place : place + 2] for place in range(len(words))):
        return None
    place = words.index("-m")
    if "-c" in words[:place]:
        return None
    # First, so that what the command says itself counts: the project's settings may end a run at the first failure.
    arguments = [TO_THE_END[0], *words[place + 2 :], TO_THE_END[-1]]
    if tests:
        arguments = [*narrowed(arguments, files_of(tests)), *TO_THE_END]
    limit = max(_LEAST_TEST_S, _SHARE * timeout_s)
    told = {"events": str(events), "limit": limit, "tests": list(tests), "arguments": arguments}
    told |= {"sample": sample_s, "most": _FAR * timeout_s}
    return [*words[:place], "-c", _text(), json.dumps(told)]


def files_of(tests: Iterable[str]) -> list[str]:
    """The files of some tests, by their node ids, each once."""
    return list(dict.fromkeys(test.partition("::")[0] for test in tests))


def narrowed(arguments: Sequence[str], places: Iterable[str]) -> list[str]:
    """Pytest's arguments with these files or tests in place of the ones that are named."""
    kept = [
        word
        for before, word in zip(("", *arguments), arguments, strict=False)
        if word.startswith("-") or before in _WITH_VALUE
    ]
    return [*places, *kept]


def read_run(events: Path, word: str = "") -> TestRun | None:
    """What a run wrote; None if it wrote nothing that can be read. Only lines with this word count."""
    try:
        if not events.is_file() or events.stat().st_size > _MAX_BYTES:
            return None
        quiet_s = time.time() - events.stat().st_mtime
        lines = events.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    told: dict[str, Any] = {}
    ends, running = dict[str, TestEnd](), ""
    for line in lines:
        try:
            event: Any = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(event, dict) or event.pop("word", "") != word or not _is_event(event):
            continue
        if "start" in event:
            running = event["start"]
        elif "id" not in event:
            told.update(event)
        else:
            name = event.pop("id")
            running = "" if name == running else running
            if name not in ends or ends[name].outcome == "passed":
                ends[name] = TestEnd(**event)
    return TestRun(
        collected=told.get("collected"),
        ends=ends,
        running=running,
        internal=told.get("internal", ""),
        end=told.get("end"),
        patched=frozenset(map(str, told.get("patched", ()))),
        quiet_s=quiet_s,
        is_sample="takes" in told,
    )


def _is_event(event: dict[str, Any]) -> bool:
    """Whether a line was written by the program, as far as one can see: tests can write to the file, too."""
    if not all(isinstance(each, _KINDS.get(key, ())) for key, each in event.items()):
        return False
    return "id" not in event or event.get("outcome") in ("passed", "failed", "skipped")


@cache
def _text() -> str:
    return _PROGRAM.read_text(encoding="utf-8")
