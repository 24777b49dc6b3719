"""Reading the reports of test runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from codur.checks.suites.junit import TestCounts, counts_of, less, read_report
from codur.python.test_run import TestEnd, TestRun
from tests.support import plain_python

REPORT = """<testsuites><testsuite>
<testcase classname="test_a" name="one"><failure message="m">def one():\nE   assert 1 == 2</failure></testcase>
<testcase classname="test_a" name="two"><failure message="m">def two():\nE   assert 1 == 2</failure></testcase>
<testcase classname="test_a" name="three"/>
</testsuite></testsuites>
"""


def test_failures_of_one_kind_are_told_once_and_end_with_what_they_say(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    counts = read_report(report)
    assert counts is not None
    assert (counts.passed, counts.total, counts.failing) == (1, 3, ("test_a::one", "test_a::two"))
    assert counts.error == ("test_a::one (and 1 more in the same way: test_a::two)\ndef one():\nE   assert 1 == 2")


def test_failures_that_differ_in_an_address_are_told_once() -> None:
    ends = {
        f"test_it.py::test_{n}": TestEnd(
            outcome="failed", text=f"E   assert 1 == 2\n    shop = <Shop at 0x7f2f2b48a5{n}0>"
        )
        for n in range(3)
    }
    run = TestRun(ends=ends)
    assert counts_of(run).error.startswith("test_it.py::test_0 (and 2 more in the same way: ")


def test_failures_that_came_through_other_sources_are_told_each() -> None:
    text = "test_it.py:{0}: in test_{0}\nlib/{1}.py:{0}: in read\n/usr/lib/parser.py:9: in scan\nE   AssertionError"
    texts = [text.format(number, source) for number, source in enumerate(("html", "html", "extra"))]
    run = TestRun(ends={f"test_it.py::test_{n}": TestEnd(outcome="failed", text=each) for n, each in enumerate(texts)})
    told = counts_of(run).error
    assert "test_it.py::test_0 (and 1 more in the same way: test_it.py::test_1)" in told
    assert "lib/extra.py:2: in read" in told


def test_failures_at_other_places_come_before_more_of_the_same() -> None:
    clone = "test_it.py:{0}: in test_{0}\nhelp.py:20: in clone\nE   OSError: {0}"
    texts = [clone.format(number) for number in range(7)]
    ends = {f"test_it.py::test_{n}": TestEnd(outcome="failed", text=text) for n, text in enumerate(texts)}
    ends["test_it.py::test_own"] = TestEnd(outcome="failed", text="test_it.py:90: in test_own\nE   assert 1 == 2")
    ends["test_it.py::test_absent"] = TestEnd(outcome="failed", text="E   ModuleNotFoundError")
    told = less(TestCounts(passed=0, total=9), TestRun(ends=ends), ["test_it.py::test_absent"])
    assert told is not None
    assert [line for line in told.error.splitlines() if "::" in line] == [
        f"test_it.py::test_{name}" for name in (0, "own", 1, 2, 3)
    ]


def test_what_a_failed_test_printed_is_told() -> None:
    """Of a doctest and of a program that a test starts, it is all that says what is wrong."""
    end = TestEnd(outcome="failed", text="E   assert 1 == 0", printed="-" * 9_000 + "\nExpected:\n    5\nGot:\n    6")
    told = less(TestCounts(passed=1, total=2, error="less"), TestRun(ends={"test_docs.py::test_all": end}), ())
    assert told is not None
    assert told.error.startswith("test_docs.py::test_all\nIt printed:\n…---")
    assert told.error.endswith("\nExpected:\n    5\nGot:\n    6\n\nE   assert 1 == 0")
    assert len(told.error) < 700


def test_what_is_left_out_is_not_told_of_a_run_that_was_ended() -> None:
    ends = {
        "test_it.py::test_a": TestEnd(outcome="failed", text="E   ModuleNotFoundError: bson", blocked="bson"),
        "test_it.py::test_b": TestEnd(outcome="failed", text="E   assert 1 == 2"),
    }
    run = TestRun(ends=ends, running="test_it.py::test_c")
    counts = less(counts_of(run), run, ["test_it.py::test_a"])
    assert counts is not None
    assert counts.error == (
        "test_it.py::test_b\nE   assert 1 == 2\n\ntest_it.py::test_c\nstill running when it was ended"
    )


def test_a_recursion_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "def even(n):\n    return odd(n)\n\n\ndef odd(n):\n    return even(n + 1)\n\n\n"
        "def test_it():\n    assert even(2)\n"
    )
    report = tmp_path / "report.xml"
    words = ["-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", f"--junitxml={report}"]
    subprocess.run([plain_python.executable(), *words], cwd=tmp_path, capture_output=True, check=False)
    counts = read_report(report)
    assert counts is not None
    assert (counts.error.count(": in even"), counts.error.count(": in odd")) in {(1, 2), (2, 1)}
    assert "frames as above] …" in counts.error
    assert "RecursionError" in counts.error


def test_without_it_each_part_of_a_test_is_told() -> None:
    run = TestRun(ends={"test_it.py::test_all": TestEnd(outcome="failed", text="E   assert 1 == 0")})
    told = less(TestCounts(passed=0, total=1, error="E   assert 1 == 0\nE   assert 2 == 0"), run, ())
    assert told is not None
    assert told.error == "E   assert 1 == 0\nE   assert 2 == 0"
