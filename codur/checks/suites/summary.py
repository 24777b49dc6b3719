"""Reads how many tests passed from the text that common test runners print."""

from __future__ import annotations

import re

from codur.checks.suites.junit import TestCounts

_PASSED = re.compile(r"\b(\d+) passed\b")
_FAILED = re.compile(r"\b(\d+) (?:failed|errors?)\b")
_UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNITTEST_BAD = re.compile(r"^FAILED \((.+)\)", re.MULTILINE)
_UNITTEST_COUNT = re.compile(r"(?:failures|errors)=(\d+)")
_UNITTEST_SKIPPED = re.compile(r"^(?:OK|FAILED|NO TESTS RAN) \(.*?skipped=(\d+)", re.MULTILINE)
_UNITTEST_UNLOADED = "ImportError: Failed to import test module"
_PYTEST_CLOSING = re.compile(r"^=* ?((?:\d+ [a-z]+, )*\d+ [a-z]+) in [\d.]+s\b", re.MULTILINE)
_PYTEST_RAN = re.compile(r"(\d+) (?:passed|failed|xfailed|xpassed)\b")
_PYTEST_EXITED = re.compile(r"^!+ _pytest\.outcomes\.Exit\b", re.MULTILINE)
_PLAIN_RUNNER = re.compile(r"(?:\S*python[\d.]*\s+-m\s+)?(?:pytest|unittest)(?:\s[^|&;<>()$`]*)?")
_TAIL_CHARS = 4000


def counts_in(output: str) -> TestCounts | None:
    """Counts found in a runner's closing lines (pytest, cargo, jest, unittest), or None."""
    tail = output[-_TAIL_CHARS:]
    ran = _UNITTEST_RAN.findall(tail)
    if ran:
        closing = _UNITTEST_BAD.findall(tail)
        failed = sum(int(number) for number in _UNITTEST_COUNT.findall(closing[-1])) if closing else 0
        total = int(ran[-1]) - sum(int(number) for number in _UNITTEST_SKIPPED.findall(tail)[-1:])
        loaded = max(0, total - output.count(_UNITTEST_UNLOADED))
        return TestCounts(passed=max(0, total - failed), total=total, ran=loaded)
    passed = sum(int(number) for number in _PASSED.findall(tail)[-1:])
    failed = sum(int(number) for number in _FAILED.findall(tail)[-2:])
    closing = _PYTEST_CLOSING.findall(tail)
    known = sum(int(number) for number in _PYTEST_RAN.findall(closing[-1])) if closing else None
    if not passed + failed and known is None:
        return None
    return TestCounts(passed=passed, total=passed + failed, ran=known)


def was_exited(output: str) -> bool:
    """Whether pytest says that something ended it before its end."""
    return bool(_PYTEST_EXITED.search(output))


def is_plain_runner(command: str) -> bool:
    """Whether a command is one Python test runner alone, whose closing line is missing only if it was cut short."""
    return bool(_PLAIN_RUNNER.fullmatch(command.strip()))
