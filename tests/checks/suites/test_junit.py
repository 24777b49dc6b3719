"""Reading the reports of test runs."""

from __future__ import annotations

from pathlib import Path

from codur.checks.suites.junit import read_report

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
