"""Reading the reports of test runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.checks.suites.junit import counts_in, read_report

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


TAP = """TAP version 13
# Subtest: adds
not ok 1 - adds
  ---
  duration_ms: 4.998116
  error: '0 == 4'
  code: 'ERR_ASSERTION'
  ...
# Subtest: takes
ok 2 - takes
1..2
# tests 2
# pass 1
# fail 1
# cancelled 0
# duration_ms 205.735351
"""
WORDS = """✖ adds (2.570352ms)
✔ takes (0.1ms)
ℹ tests 2
ℹ pass 1
ℹ fail 1
ℹ cancelled 0
ℹ duration_ms 226.462452

✖ failing tests:

test at add.test.js:1:96
✖ adds (2.570352ms)
  AssertionError [ERR_ASSERTION]: 0 == 4
      at TestContext.<anonymous> (add.test.js:1:114)
"""


@pytest.mark.parametrize(("output", "why"), [(TAP, "'0 == 4'"), (WORDS, "AssertionError [ERR_ASSERTION]: 0 == 4")])
def test_what_nodes_own_runner_tells(output: str, why: str) -> None:
    counts = counts_in(output)
    assert counts is not None
    assert (counts.passed, counts.total, counts.failing) == (1, 2, ("adds",))
    assert counts.error.splitlines()[-1] == why
    assert "205.735351" not in counts.error
    assert "226.462452" not in counts.error


def test_a_run_of_node_that_passes_has_no_error() -> None:
    counts = counts_in("✔ adds (1.2ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\nℹ duration_ms 9.1\n")
    assert counts is not None
    assert (counts.passed, counts.total, counts.failing, counts.error) == (1, 1, (), "")
