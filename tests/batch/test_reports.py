"""Reports of a batch: whole texts for small batches, and figures."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from codur.batch.reports import write_reports
from codur.batch.reports.comparison import PassAtK, Tried, compare, pass_at_k
from codur.batch.reports.junit_report import junit_xml
from codur.batch.reports.markdown import markdown, money
from codur.batch.reports.page import bars_of, charts_of
from codur.batch.reports.totals import totals_of
from codur.batch.results.results_directory import ResultsDirectory, read_results
from tests.batch.report_kit import DIFF, failed, solved

ONE_AGENT = [
    solved("a", seconds=0.42),
    solved("b", tier="pre_plan", solved_by="codur-coding", calls=1, tokens=1500, cost_usd=0.0003, seconds=3.5),
    failed("c", calls=4, tokens=6000, cost_usd=0.0021, seconds=61.0, output_after="expected 1\ngot 2", check="make"),
    failed("d", status="error", reason="challenge.yaml:1: entry: must be the path of the program"),
    failed("e", status="limit", reason="the run's time is used up", calls=2, seconds=900.0),
]
TWO_AGENTS = [
    solved("a", agent="small", calls=1, cost_usd=0.001, tier="plan"),
    failed("b", agent="small", calls=3, cost_usd=0.003),
    solved("a", agent="strong", calls=2, cost_usd=0.2, tier="agent"),
    solved("b", agent="strong", calls=2, cost_usd=0.2, tier="agent"),
    failed("c", agent="strong", calls=5, cost_usd=0.5),
]

MARKDOWN = """\
# nightly

|  | total |
| --- | --- |
| solved | 2 of 5 (40 %), 1 without a model |
| not solved | 1 |
| passes already | 0 |
| error | 1 |
| ended by a limit | 1 |
| solved by | offline repair 1, first call 1 |
| model calls | 7 |
| tokens | 7,500 |
| cost | $0.0024 |
| time, all results | 17 min |

## Results

| challenge | status | solved by | calls | tokens | cost | seconds | reason |
| --- | --- | --- | ---: | ---: | ---: | ---: | --- |
| a | solved | offline repair | 0 | 0 | $0 | 0.4 |  |
| b | solved | first call | 1 | 1,500 | $0.0003 | 3.5 |  |
| c | failed |  | 4 | 6,000 | $0.0021 | 61.0 | the check still fails |
| d | error |  | 0 | 0 | $0 | 0.0 | challenge.yaml:1: entry: must be the path of the program |
| e | limit |  | 2 | 0 | $0 | 900.0 | the run's time is used up |
"""

COMPARISON = """\
## Agents

| agent | solved | alone | calls | tokens | cost | cost per solved | median s |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| small | 1 of 2 | 0 | 4 | 0 | $0.0040 | $0.0040 | 0.0 |
| strong | 2 of 3 | 1 | 9 | 0 | $0.9000 | $0.4500 | 0.0 |

Solved by any agent: 2.

## Who solved what

| challenge | small | strong |
| --- | --- | --- |
| a | ✔ | ✔ |
| b | ✘ | ✔ |
| c | – | ✘ |
"""

JUNIT = """\
<?xml version='1.0' encoding='utf-8'?>
<testsuites name="nightly" tests="5" failures="1" errors="2" time="964.920">
  <testsuite name="default" skipped="0" tests="5" failures="1" errors="2" time="964.920">
    <testcase classname="default" name="a" file="/work/a" time="0.420" />
    <testcase classname="default" name="b" file="/work/b" time="3.500" />
    <testcase classname="default" name="c" file="/work/c" time="61.000">
      <failure message="the check still fails" type="failed">the check still fails
make
expected 1
got 2</failure>
    </testcase>
    <testcase classname="default" name="d" file="/work/d" time="0.000">
      <error message="challenge.yaml:1: entry: must be the path of the program" type="error">\
challenge.yaml:1: entry: must be the path of the program</error>
    </testcase>
    <testcase classname="default" name="e" file="/work/e" time="900.000">
      <error message="the run's time is used up" type="limit">the run's time is used up</error>
    </testcase>
  </testsuite>
</testsuites>
"""


def test_markdown_of_one_agent() -> None:
    assert "".join(markdown(ONE_AGENT, title="nightly")) == MARKDOWN


def test_markdown_compares_several_agents() -> None:
    assert COMPARISON in "".join(markdown(TWO_AGENTS, title="x"))


def test_markdown_of_nothing_still_is_a_table() -> None:
    assert "| solved | 0 of 0, 0 without a model |\n" in "".join(markdown([], title="x"))


def test_markdown_of_several_attempts() -> None:
    text = "".join(markdown([solved("a"), failed("a", attempt=2)], title="x"))
    assert "| default | 2 | 100.0 % | 1 |" in text
    assert "| a | 2 | failed |" in text


def test_junit_of_one_agent() -> None:
    assert junit_xml(ONE_AGENT, title="nightly").decode() == JUNIT


def test_junit_has_a_suite_for_each_agent_and_a_case_for_each_attempt() -> None:
    results = [solved("a", agent="x"), failed("a", agent="x", attempt=2), solved("a", agent="y", explanation="why")]
    root = Xml.fromstring(junit_xml(results, title="t"))
    cases = [(case.get("classname"), case.get("name"), [child.tag for child in case]) for case in root.iter("testcase")]
    assert cases == [
        ("x", "a (attempt 1)", []),
        ("x", "a (attempt 2)", ["failure"]),
        ("y", "a (attempt 1)", ["system-out"]),
    ]
    assert [suite.get("name") for suite in root] == ["x", "y"]


def test_totals() -> None:
    totals = totals_of(ONE_AGENT)
    assert totals.by_status == {"solved": 2, "failed": 1, "passes": 0, "error": 1, "limit": 1}
    assert list(totals.by_tier.items()) == [("repair", 1), ("pre_plan", 1)]
    assert (totals.without_model, totals.calls, totals.tokens) == (1, 7, 7500)


def test_comparison() -> None:
    found = compare(TWO_AGENTS)
    one, none = Tried(solved=1, attempts=1), Tried(solved=0, attempts=1)
    assert found.matrix == (("a", (one, one)), ("b", (none, one)), ("c", (None, none)))
    assert [(each.agent, each.solved, each.alone, each.calls_per_solved) for each in found.agents] == [
        ("small", 1, 0, 4.0),
        ("strong", 2, 1, 4.5),
    ]
    assert (found.by_any, found.pass_at_k) == (2, ())


def test_an_agent_that_solved_nothing_has_no_cost_per_solved() -> None:
    (only,) = compare([failed("a", cost_usd=1.0)]).agents
    assert (only.cost_per_solved, only.calls_per_solved) == (None, None)


@pytest.mark.parametrize("attempts", range(1, 7))
def test_pass_at_k_is_the_share_of_choices_of_k_attempts_with_a_solved_one(attempts: int) -> None:
    for right in range(attempts + 1):
        outcomes = [number < right for number in range(attempts)]
        for k in range(1, attempts + 1):
            choices = [any(choice) for choice in combinations(outcomes, k)]
            assert pass_at_k(attempts, right, k) == pytest.approx(float(Fraction(sum(choices), len(choices))))


def test_pass_at_k_is_a_mean_over_the_challenges_with_k_attempts() -> None:
    results = [solved("a"), failed("a", attempt=2), failed("b"), failed("b", attempt=2), solved("c")]
    assert compare(results).pass_at_k == (
        PassAtK(agent="default", k=1, value=0.5, challenges=3),
        PassAtK(agent="default", k=2, value=0.5, challenges=2),
    )


def test_curves_count_what_is_solved_with_so_much_or_less() -> None:
    results = [solved("a", calls=2), solved("b"), solved("c", calls=2), failed("d", calls=1), solved("e", calls=5)]
    calls, cost, seconds = charts_of(results)
    assert calls["curves"] == [{"agent": "default", "results": 5, "points": [(0.0, 1), (2.0, 3), (5.0, 4)]}]
    assert cost["curves"][0]["points"] == seconds["curves"][0]["points"] == [(0.0, 4)]


def test_bars_are_cheapest_first_with_a_figure_for_each_agent() -> None:
    assert [
        (bar["tier"], bar["counts"]) for bar in bars_of([*TWO_AGENTS, solved("z", agent="strong", tier="pattern")])
    ] == [("pattern", [0, 1]), ("plan", [1, 0]), ("agent", [0, 2])]


@pytest.mark.parametrize(("dollars", "shown"), [(0, "$0"), (0.00123, "$0.0012"), (1234.5, "$1,234.50")])
def test_money(dollars: float, shown: str) -> None:
    assert money(dollars) == shown


def test_the_files_written_are_told(tmp_path: Path) -> None:
    written = write_reports(tmp_path / "one", TWO_AGENTS, title="t", junit=tmp_path / "one" / "deep" / "j.xml")
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "one/report.md",
        "one/report.html",
        "one/deep/j.xml",
    ]
    assert all(path.is_file() for path in written)


def test_reports_do_not_hold_the_results(tmp_path: Path) -> None:
    """Each of these takes 9 kB in a file, more than that in memory, and 1 kB in the largest of the reports."""
    many = 1_000
    with ResultsDirectory(tmp_path) as directory:
        for number in range(many):
            directory.add(solved(f"challenge {number}", diff="x" * 4_000, output_before="y" * 4_000), "")
    tracemalloc.start()
    try:
        results = read_results(tmp_path)
        write_reports(tmp_path, results, title="t")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(results) == many
    assert most < many * 1_500


def test_reports_replace_older_ones_and_leave_nothing_beside_them(tmp_path: Path) -> None:
    write_reports(tmp_path, [solved("old", diff=DIFF)], title="old")
    write_reports(tmp_path, [solved("new")], title="new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.md"]
    assert not any("old" in path.read_text().replace("old mode", "") for path in [tmp_path / "report.md"])


def test_characters_that_act_on_the_eye_are_named_on_the_page(tmp_path: Path) -> None:
    write_reports(tmp_path, [solved("a\u202eb", diff="+x = 1\u2066\n")], title="t\u202e")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not {"\u202e", "\u2066"} & set(page)
    assert "a\\u202eb" in page


def test_a_report_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(IsADirectoryError):
        write_reports(tmp_path, [], title="t")
