"""Suites of tests: which there are, how they are called, what they report."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.checks.suites import made_for_runner, named_command, near_tests, run_problem, time_limit

__all__ = ["made_for_runner", "named_command", "near_tests", "run_problem", "time_limit"]
__getattr__ = parts_of(__name__)
