"""Equal failures have equal signatures, different ones have not."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codur.checks.signature import normalised, signature_of, told_apart
from codur.types import Difference

ERROR = 'File "{path}", line {line}, in run\nValueError: bad object at {address} in {path} after {seconds}s'


@given(
    st.from_regex(r"(/[a-z0-9_]{1,8}){1,4}\.py", fullmatch=True),
    st.integers(1, 9999),
    st.integers(0, 2**48),
    st.integers(0, 500),
)
@example("/0s.py", 1, 0, 0)
@example("/0x1.py", 1, 0, 0)
def test_paths_addresses_lines_and_times_do_not_count(path: str, line: int, address: int, seconds: int) -> None:
    def sign(**fields: object) -> str:
        return signature_of(kind="output", exit_status=1, error=ERROR.format(**fields))

    here = sign(path=path, line=line, address=hex(address), seconds=seconds)
    assert here == sign(path="/tmp/other.py", line=1, address="0x7f", seconds=2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ValueError: bad", "KeyError: bad"),
        ("ValueError: bad", "ValueError: worse"),
        ("IndexError: 3", "IndexError: 4"),
    ],
)
def test_other_errors_have_other_signatures(one: str, other: str) -> None:
    assert signature_of(kind="output", exit_status=1, error=one) != signature_of(
        kind="output", exit_status=1, error=other
    )


def test_differences_and_failing_tests_count() -> None:
    first = Difference(line=2, expected="5", actual="4")
    signatures = {
        signature_of(kind="output", difference=first),
        signature_of(kind="output", difference=Difference(line=3, expected="5", actual="4")),
        signature_of(kind="output", difference=Difference(line=2, expected="5", actual="3")),
        signature_of(kind="output", exit_status="timeout"),
        signature_of(kind="tests", failing=("a", "b")),
        signature_of(kind="tests", failing=("a",)),
    }
    assert len(signatures) == 6
    assert signature_of(kind="tests", failing=("b", "a")) == signature_of(kind="tests", failing=("a", "b"))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("at 2026-01-02 03:04:05.678Z done", "at <time> done"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id <uuid>"),
        ("took 1.25 seconds", "took <duration>"),
        ("no answer from localhost:4321", "no answer from localhost:<port>"),
        ("pid 4321 ended", "pid <n> ended"),
        ("expected 5, got 4", "expected 5, got 4"),
    ],
)
def test_normalised(text: str, wanted: str) -> None:
    assert normalised(text) == wanted


RUST = """running 1 test
test adds ... FAILED
thread 'adds' ({thread}) panicked at src/lib.rs:9:9:
  left: {left}
finished in {seconds}s
error: test failed, to rerun pass `--lib`
"""


def test_output_of_a_runner_that_names_no_tests_is_told_apart_by_what_it_says() -> None:
    first = told_apart(RUST.format(thread=49, left=0, seconds="0.00"))
    assert told_apart(RUST.format(thread=1203, left=0, seconds="0.12")) == first
    assert told_apart(RUST.format(thread=49, left=5, seconds="0.00")) != first


def test_the_order_of_lines_does_not_matter_where_tests_run_side_by_side() -> None:
    first, second = ("--- FAIL: A (0.01s)\n--- FAIL: B (0.00s)", "--- FAIL: B (0.02s)\n--- FAIL: A (0.00s)")
    assert told_apart(first) == told_apart(second)
