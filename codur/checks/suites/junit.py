"""How many tests passed: by pytest's JUnit XML report, or by what a run told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codur.checks.describe import plain
from codur.lazy import late
from codur.parsing.bounded_text import bounded, listed
from codur.python.test_run import TestRun
from codur.structs import Struct, replace

if TYPE_CHECKING:
    from xml.etree import ElementTree
else:
    ElementTree = late("xml.etree.ElementTree")

SHOWN_FAILURES = 5
FAILURE_CHARS = 1_600
REPORT_BYTES = 20_000_000


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


def read_report(path: Path) -> TestCounts | None:
    """The counts of a report; None if it is absent or broken (the run was killed). Skipped tests do not count."""
    try:
        if not path.is_file() or path.stat().st_size > REPORT_BYTES:  # tests can put a pipe there
            return None
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    cases = list(root.iter("testcase"))
    failures = [(case, problem) for case in cases for problem in _problems(case)]
    failing = tuple(dict.fromkeys(_name(case) for case, _ in failures))
    skipped = sum(case.find("skipped") is not None for case in cases)
    total = len(cases) - skipped
    error = "\n\n".join(_told(failures))
    ran = len({_name(case) for case in cases if case.find("skipped") is None and not _uncollected(case)})
    return TestCounts(passed=max(0, total - len(failing)), total=total, failing=failing, error=error, ran=ran)


def counts_of(run: TestRun) -> TestCounts:
    """The same for a run that wrote no report, because it was ended: what it told of its tests until then."""
    passed, failing = run.ids("passed"), run.ids("failed")
    names = tuple(name.removesuffix(".py").replace(".py::", "::").replace("/", ".") for name in failing)
    error = _errors(run, failing)
    if run.running:
        error = f"{error}\n\n{run.running}\nstill running when the time was up".strip()
    total = len(passed) + len(failing)
    return TestCounts(passed=len(passed), total=total, failing=names, error=error, ran=None)


def less(counts: TestCounts | None, run: TestRun, excused: Sequence[str]) -> TestCounts | None:
    """The counts without some tests that failed and are left out, and without what these said."""
    if counts is None or not excused:
        return counts
    others = [name for name in run.ids("failed") if name not in excused]
    return replace(counts, total=counts.total - len(excused), error=_errors(run, others))


def _errors(run: TestRun, names: Sequence[str]) -> str:
    texts = {name: bounded(plain(run.ends[name].text).rstrip(), FAILURE_CHARS) for name in names[:SHOWN_FAILURES]}
    return "\n\n".join(f"{name}\n{text}" for name, text in texts.items())


def _uncollected(case: ElementTree.Element) -> bool:
    problem = case.find("error")
    return problem is not None and problem.get("message") == "collection failure"


def _told(failures: Sequence[tuple[ElementTree.Element, ElementTree.Element]]) -> list[str]:
    """The first failures in full; those that end with the same words are named once."""
    groups: dict[str, list[tuple[ElementTree.Element, ElementTree.Element]]] = {}
    for case, problem in failures:
        groups.setdefault(_text(problem).rsplit("\n", 1)[-1], []).append((case, problem))
    told = []
    for (case, problem), *others in list(groups.values())[:SHOWN_FAILURES]:
        names = listed([_name(case) for case, _ in others], SHOWN_FAILURES)
        more = f" (and {len(others)} more in the same way: {names})" if others else ""
        told.append(f"{_name(case)}{more}\n{_text(problem)}")
    return told


def _problems(case: ElementTree.Element) -> Iterator[ElementTree.Element]:
    yield from (child for child in case if child.tag in {"failure", "error"})


def _name(case: ElementTree.Element) -> str:
    group, name = case.get("classname", ""), case.get("name", "")
    return f"{group}::{name}" if group else name


def _text(problem: ElementTree.Element) -> str:
    return bounded(plain(problem.text or problem.get("message") or "").strip(), FAILURE_CHARS)
