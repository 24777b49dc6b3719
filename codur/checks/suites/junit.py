"""How many tests passed: by pytest's JUnit XML report, or by what a run told."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codur.checks.entry import is_test_code
from codur.checks.signature import normalised
from codur.lazy import late, regex
from codur.parsing.bounded_text import bounded, listed, plain
from codur.python.test_run import TestEnd, TestRun
from codur.structs import Struct, replace

if TYPE_CHECKING:
    from xml.etree import ElementTree
else:
    ElementTree = late("xml.etree.ElementTree")

SHOWN_FAILURES = 5
FAILURE_CHARS = 1_600
REPORT_BYTES = 20_000_000
_PRINTED_CHARS = 600
_FRAME = regex(r"^(\S+:\d+): in ", re.MULTILINE)
_FRAME_BEGINS = regex(r"^(?=\S+:\d+: in )", re.MULTILINE)
_INNER_VALUES = regex(r"^E {3,}\+ {4,}(?:where|and) .*\n?", re.MULTILINE)
"""What pytest tells of the parts of a value that it has told."""


class TestCounts(Struct):
    """What a test run came to."""

    __test__ = False  # not a test class

    passed: int
    total: int
    failing: tuple[str, ...] = ()  # ids of the tests that failed, in order
    error: str = ""  # the first failures with their messages, bounded
    # different tests that surely ran, without files that could not be collected; None if that is not known, 0 if they
    # were told in a way that cannot be compared
    ran: int | None = None
    passing: tuple[str, ...] = ()  # tests that passed, where the runner names them as it names those that fail
    words: tuple[str, ...] = ()  # of a runner's output: what it says of each test that failed


def read_report(path: Path) -> TestCounts | None:
    """The counts of a report; None if it is absent or broken (the run was killed). Skipped tests do not count."""
    try:
        if not path.is_file() or path.stat().st_size > REPORT_BYTES:  # tests can put a pipe there
            return None
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    cases = list(root.iter("testcase"))
    failures = [(case, problem) for case in cases for problem in case if problem.tag in {"failure", "error"}]
    failing = tuple(dict.fromkeys(_name(case) for case, _ in failures))
    total = sum(case.find("skipped") is None for case in cases)
    error = _told([(_name(case), _text(problem)) for case, problem in failures])
    uncollected = "error[@message='collection failure']"
    ran = len({_name(case) for case in cases if case.find("skipped") is None and case.find(uncollected) is None})
    return TestCounts(passed=max(0, total - len(failing)), total=total, failing=failing, error=error, ran=ran)


def counts_of(run: TestRun) -> TestCounts:
    """The same for a run that wrote no report, because it was ended: what it told of its tests until then."""
    passed, failing = run.ids("passed"), run.ids("failed")
    names = tuple(name.removesuffix(".py").replace(".py::", "::").replace("/", ".") for name in failing)
    error = _errors(run, failing)
    if passed and not failing and not run.running:
        error = "it was ended between two tests"
    total = len(passed) + len(failing)
    return TestCounts(passed=len(passed), total=total, failing=names, error=error, ran=None)


def less(counts: TestCounts | None, run: TestRun, excused: Sequence[str]) -> TestCounts | None:
    """The counts without some tests that failed and are left out, with what the others said and printed."""
    if counts is None:
        return None
    others = [name for name in run.ids("failed") if name not in excused]
    # Where nothing was printed a report says more: of each part of a test that has several.
    told = excused or any(run.ends[name].printed.strip() for name in others)
    return replace(counts, total=counts.total - len(excused), error=_errors(run, others) if told else counts.error)


def _errors(run: TestRun, names: Sequence[str]) -> str:
    ended = f"{run.running}\nstill running when it was ended" if run.running else ""
    return "\n\n".join(filter(None, (_told([(name, _said(run.ends[name])) for name in names]), ended)))


def _said(end: TestEnd) -> str:
    """What a test failed with, after the end of what it printed: that may be all that tells why."""
    printed = plain(end.printed).strip()
    if len(printed) > _PRINTED_CHARS:
        printed = f"…{printed[-_PRINTED_CHARS:]}"
    text = bounded(_unrepeated(plain(end.text).strip()), FAILURE_CHARS)
    return f"It printed:\n{printed}\n\n{text}" if printed else text


def _told(failures: Sequence[tuple[str, str]]) -> str:
    """The first failures (names and texts): those that end with the same words and came through the same sources once,
    other places before the same.
    """
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for name, text in failures:
        # From the last frame on, without its place: the line that fails, and the words.
        last = _FRAME_BEGINS.split(text)[-1].partition("\n")[2] or text.rsplit("\n", 1)[-1]
        through = dict.fromkeys(place.rpartition(":")[0] for place in _FRAME.findall(text))
        sources = (path for path in through if path[:1] != "/" and not is_test_code(path))
        groups.setdefault((normalised(last), *sources), []).append((name, text))
    seen: Counter[str] = Counter()
    told = []
    for (name, text), *others in groups.values():
        alike = listed([other for other, _ in others], SHOWN_FAILURES)
        more = f" (and {len(others)} more in the same way: {alike})" if others else ""
        place, words = (_FRAME.findall(text) or [name])[-1], normalised(text.rsplit("\n", 1)[-1])
        told.append(((seen[words], seen[place]), f"{name}{more}\n{text}"))
        seen.update((place, words))
    told.sort(key=lambda item: item[0])
    return "\n\n".join(text for _, text in told[:SHOWN_FAILURES])


def _name(case: ElementTree.Element) -> str:
    group, name = case.get("classname", ""), case.get("name", "")
    return f"{group}::{name}" if group else name


def _text(problem: ElementTree.Element) -> str:
    return bounded(_unrepeated(plain(problem.text or problem.get("message") or "").strip()), FAILURE_CHARS)


def _unrepeated(text: str) -> str:
    """A traceback with each of its frames once, as a recursion has the same ones over and over; of values the first."""
    text = _INNER_VALUES.sub("", text)
    told: dict[str, None] = {}
    again = 0
    for part in _FRAME_BEGINS.split(text):
        if _FRAME.match(part) and part in told:
            again += 1
            continue
        mark = f"… [{again} frame{'s' if again > 1 else ''} as above] …\n" if again else ""
        told[mark + part] = None
        again = 0
    return "".join(told)
