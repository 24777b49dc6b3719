"""Reads pytest's JUnit XML report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

SHOWN_FAILURES = 5
FAILURE_CHARS = 700
REPORT_BYTES = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCounts:
    """What a test run came to.

    Attributes:
        failing: ids of the tests that failed, in order.
        error: the first failures with their messages, bounded.
    """

    __test__ = False  # not a test class

    passed: int
    total: int
    failing: tuple[str, ...] = ()
    error: str = ""


def read_report(path: Path) -> TestCounts | None:
    """The counts of a report; None if it is absent or broken (the run was killed). Skipped tests do not count."""
    try:
        if path.stat().st_size > REPORT_BYTES:
            return None
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    cases = list(root.iter("testcase"))
    failures = [(case, problem) for case in cases for problem in _problems(case)]
    failing = tuple(dict.fromkeys(_name(case) for case, _ in failures))
    skipped = sum(case.find("skipped") is not None for case in cases)
    total = len(cases) - skipped
    shown = "\n\n".join(_shown(case, problem) for case, problem in failures[:SHOWN_FAILURES])
    return TestCounts(passed=max(0, total - len(failing)), total=total, failing=failing, error=shown)


def _problems(case: ElementTree.Element) -> Iterator[ElementTree.Element]:
    yield from (child for child in case if child.tag in {"failure", "error"})


def _name(case: ElementTree.Element) -> str:
    group, name = case.get("classname", ""), case.get("name", "")
    return f"{group}::{name}" if group else name


def _shown(case: ElementTree.Element, problem: ElementTree.Element) -> str:
    text = (problem.text or problem.get("message") or "").strip()
    if len(text) > FAILURE_CHARS:
        text = f"…{text[-FAILURE_CHARS:]}"
    return f"{_name(case)}\n{text}"
