"""Verdicts in words: each says what is known and no more."""

from __future__ import annotations

import pytest

from codur.structs import replace
from codur.types import Difference, RunResult, Verdict
from codur.ui.shown.verdicts import cause, check_line, proven, verdict_line
from tests.ui.samples import ANSWER, DONE, FAILED, GREEN, RED

NO_CHECK = Verdict(status="no_check", note="main.py has no expected.txt beside it")
FLAKY = Verdict(status="flaky", check="pytest -q", note="2 of 3 runs passed")
TAMPERED = Verdict(status="tampered", check="python main.py")
TESTS = Verdict(status="passed", check="pytest -q", tests_passed=1, tests_total=1)
GREEN_BEFORE = "✔ still passes: `python main.py`"

CAUSES: list[tuple[Verdict, str]] = [
    (RED, "line 3: expected `15`, got `10`"),
    (
        Verdict(status="failed", difference=Difference(line=4, expected="x", actual=None)),
        "line 4: expected `x`, got nothing more",
    ),
    (
        Verdict(status="failed", difference=Difference(line=4, expected=None, actual="y")),
        "line 4: expected no more output, got `y`",
    ),
    (Verdict(status="failed", tests_passed=3, tests_total=5), "3 of 5 tests passed"),
    (Verdict(status="failed", tests_total=1), "0 of 1 test passed"),
    (
        Verdict(status="failed", check="python -m pytest", tests_total=1, failing=("t/test_a.py",), error="E   X: y"),
        "t/test_a.py cannot be loaded; X: y",
    ),
    (
        Verdict(status="failed", tests_passed=5, tests_total=5, exit_status=1, error="x.ts:3:5 error 'y' is unused"),
        "its tests pass (5), but it ends with status 1; x.ts:3:5 error 'y' is unused",
    ),
    (Verdict(status="failed", exit_status=1, error="Traceback:\n  x\nKeyError: 'a'\n\n"), "KeyError: 'a'"),
    (
        Verdict(status="failed", error="t::a\nt.py:3: in a\nE   assert 2 == 3\nE    +  where 2 = f(1)"),
        "assert 2 == 3",
    ),
    (Verdict(status="failed", exit_status=3), "exit status 3"),
    (Verdict(status="failed", timed_out=True, duration_s=10.02), "it did not end within 10 s"),
    (Verdict(status="failed", timed_out=True), "it did not end"),
    (Verdict(status="failed", note="no such program"), "no such program"),
    (Verdict(status="failed"), "no reason was given"),
    (
        Verdict(status="failed", error="x" * 300, difference=Difference(line=1, expected="a", actual="b" * 300)),
        f"line 1: expected `a`, got `{'b' * 119}…`; {'x' * 119}…",
    ),
]


@pytest.mark.parametrize(("verdict", "words"), CAUSES)
def test_causes(verdict: Verdict, words: str) -> None:
    assert cause(verdict) == words


MANY = Verdict(
    status="failed",
    tests_passed=1546,
    tests_total=1550,
    failing=tuple(f"t.py::A::test_{n}" for n in "abcd"),
    error="t.py::A::test_a\nE   assert 1970 == 2025",
)


def test_of_many_tests_those_that_fail_are_told_and_whether_they_did_before() -> None:
    said = check_line("before", MANY).text
    assert said == "before: red: 4 of 1,550 tests fail: test_a, test_b, test_c and 1 more"
    cases = replace(MANY, failing=(*MANY.failing, "t.py::A::test_d[1]", "t.py::A::test_d[2]"))
    said = check_line("before", cases).text
    assert said == "before: red: 6 of 1,550 tests fail: test_a, test_b, test_c and others"
    some = replace(MANY, check="python -m pytest tests/test_a.py", tests_total=25, failing=("t.py::test_a",), error="")
    assert check_line("before", some).text.endswith(" (python -m pytest tests/test_a.py)")
    assert "(" not in check_line("before", replace(some, check="go test -v ./...")).text
    more = replace(MANY, tests_total=1553, note="the other tests were not run")
    assert check_line("attempt 1", more, MANY).text == (
        "attempt 1: red, as before: 4 of 1,553 tests fail; the other tests were not run"
    )
    other = replace(MANY, error="t.py::A::test_a\nE   KeyError: 'x'")
    assert check_line("attempt 1", other, MANY).text == "attempt 1: red: 1546 of 1,550 tests passed; KeyError: 'x'"
    error = "a_test.go:3:66: missing ','"
    part = Verdict(status="failed", exit_status=1, tests_passed=19, tests_total=19, failing=(error,), error=error)
    assert check_line("attempt 1", part, MANY).text == f"attempt 1: red: only 19 of 1,550 tests ran; {error}"
    broken = replace(MANY, failing=(*MANY.failing, "t.py::test_e"))
    assert "1546 of 1,550 tests passed" in check_line("attempt 1", broken, MANY).text


@pytest.mark.parametrize(
    ("label", "verdict", "words"),
    [
        ("before", RED, "before: red: line 3: expected `15`, got `10`"),
        ("before", GREEN, "before: green: it passes"),
        ("attempt 2", GREEN, "attempt 2: green"),
        ("before", NO_CHECK, "before: nothing to check: main.py has no expected.txt beside it"),
        ("attempt 1", FLAKY, "attempt 1: flaky: 2 of 3 runs passed"),
        ("attempt 1", replace(FLAKY, note=""), "attempt 1: flaky: its result differs from run to run"),
        (
            "attempt 1",
            TAMPERED,
            "attempt 1: tampered: the output is taken from what is expected instead of being computed",
        ),
    ],
)
def test_a_check_that_has_just_run(label: str, verdict: Verdict, words: str) -> None:
    assert check_line(label, verdict).text == words


LINES: list[tuple[RunResult, str | None, bool]] = [
    (DONE, "✔ checked: `python main.py` prints what is expected", True),
    (replace(DONE, verdict=replace(GREEN, expected="", check="make check")), "✔ checked: `make check` passes", True),
    (replace(DONE, verdict=TESTS), "✔ checked: `pytest -q` passes: 1 of 1 test", True),
    (
        replace(DONE, verdict=replace(GREEN, note="main.py")),
        "✔ checked: `python main.py` prints what is expected (main.py)",
        True,
    ),
    (
        replace(DONE, before=None),
        "✔ checked: `python main.py` prints what is expected (it was not run before the change)",
        True,
    ),
    (replace(DONE, before=GREEN), GREEN_BEFORE, False),
    (replace(DONE, before=GREEN, changed_files=()), GREEN_BEFORE, False),
    (
        replace(DONE, before=replace(TESTS, tests_passed=2), verdict=replace(TESTS, tests_passed=3)),
        "✔ still passes: 3 tests (2 before), `pytest -q`",
        False,
    ),
    (
        replace(DONE, task_type="refactor", before=replace(TESTS, tests_total=3, tests_passed=3), verdict=TESTS),
        "✔ still passes: 1 test (3 before), `pytest -q`",
        False,
    ),
    (replace(DONE, before=GREEN, verdict=TESTS), "✔ still passes: 1 test, `pytest -q`", False),
    (
        replace(DONE, before=GREEN, changed_files=(), diff=""),
        "the check passed before anything was changed: `python main.py`; nothing was changed",
        False,
    ),
    (
        replace(DONE, before=FLAKY),
        "the check passes, but its result differed from run to run before any change; so it shows little: "
        "`python main.py`",
        False,
    ),
    (replace(DONE, verdict=NO_CHECK), "nothing to check: main.py has no expected.txt beside it", False),
    (replace(DONE, verdict=Verdict(status="no_check")), "nothing to check: no check was found", False),
    (replace(DONE, verdict=None), "nothing was checked", False),
    (replace(DONE, verdict=FLAKY), "✘ flaky: `pytest -q`: 2 of 3 runs passed", False),
    (
        replace(DONE, verdict=TAMPERED),
        "✘ tampered: `python main.py`: the output is taken from what is expected instead of being computed",
        False,
    ),
    (
        replace(
            DONE,
            task_type="code_fix",
            before=replace(TESTS, status="failed", failing=("test_a.py::one", "test_a.py::two")),
            verdict=replace(TESTS, status="failed", failing=("test_a.py::two",)),
        ),
        "✔ mended: test_a.py::one; `pytest -q` (1 test failing as before)",
        False,
    ),
    (FAILED, "✘ checked: `python main.py` fails: line 3: expected `15`, got `10`", False),
    (replace(FAILED, verdict=None), "✘ checked: `python main.py` fails: line 3: expected `15`, got `10`", False),
    (replace(FAILED, verdict=None, before=None), None, False),
    (
        replace(FAILED, verdict=None, before=GREEN),
        "the check passed before anything was changed: `python main.py`; nothing was changed",
        False,
    ),
    (ANSWER, None, False),
    (replace(ANSWER, before=RED), None, False),
]


@pytest.mark.parametrize(("result", "words", "is_proven"), LINES)
def test_the_verdict_of_a_run(result: RunResult, words: str | None, is_proven: bool) -> None:
    found = verdict_line(result)
    assert (found.text if found else None) == words
    assert proven(result) is is_proven


def test_only_what_is_proven_has_the_good_mark() -> None:
    for result, words, is_proven in LINES:
        assert (words is not None and words.startswith("✔ checked: ")) is is_proven, result
