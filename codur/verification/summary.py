"""Reads how many tests passed from the text that common test runners print."""

from __future__ import annotations

import re

from codur.verification.junit import TestCounts

_PASSED = re.compile(r"\b(\d+) passed\b")
_FAILED = re.compile(r"\b(\d+) (?:failed|errors?)\b")
_UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNITTEST_BAD = re.compile(r"^FAILED \((.+)\)", re.MULTILINE)
_UNITTEST_COUNT = re.compile(r"(?:failures|errors)=(\d+)")
_TAIL_CHARS = 4000


def counts_in(output: str) -> TestCounts | None:
    """Counts found in a runner's closing lines (pytest, cargo, jest, unittest), or None."""
    tail = output[-_TAIL_CHARS:]
    ran = _UNITTEST_RAN.findall(tail)
    if ran:
        total = int(ran[-1])
        closing = _UNITTEST_BAD.findall(tail)
        failed = sum(int(number) for number in _UNITTEST_COUNT.findall(closing[-1])) if closing else 0
        return TestCounts(passed=max(0, total - failed), total=total)
    passed = sum(int(number) for number in _PASSED.findall(tail)[-1:])
    failed = sum(int(number) for number in _FAILED.findall(tail)[-2:])
    return TestCounts(passed=passed, total=passed + failed) if passed + failed else None
