"""What is shown of an offline search."""

from __future__ import annotations

from codur.patches import Distinction, Patch, RepairReport
from codur.structs import replace
from codur.ui.shown.repairs import every_repair, search_lines
from codur.ui.styled_lines import joined

FIRST = Patch(diff="--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-x\n+y", explanation="`x` should be `y`.", operators=("swap",))
SECOND = Patch(
    diff="--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-x\n+z",
    explanation="`x` should be `z`.",
    operators=("swap",),
    distinction=Distinction(input="1\n2\n", first="3\n", other="!ZeroDivisionError"),
)
BOTH = RepairReport(patches=(FIRST, SECOND), chosen=0, chosen_by="rank", tried=120, passing=3, seconds=1.25)


def shown(report: RepairReport) -> str:
    return joined(search_lines(report))


def test_a_clear_winner_is_told_with_its_evidence() -> None:
    report = RepairReport(
        patches=(FIRST,), chosen=0, chosen_by="rank", tier="deterministic", tried=1, passing=1, seconds=0.5
    )
    assert shown(report) == "evidence: swap; 1 candidate tried in 0.5 s, 1 passed"


def test_others_are_told_with_an_input_that_tells_them_apart() -> None:
    assert shown(BOTH) == (
        "evidence: swap; 120 candidates tried in 1.2 s, 3 passed\n"
        "not the only one: 1 other repair that passes behaves differently: for `1⏎2` this one gives `3`, "
        "another ZeroDivisionError; `codur repair --all` shows them"
    )


def test_one_that_was_found_as_the_time_ended_is_told_as_such() -> None:
    report = replace(BOTH, patches=(FIRST,), tried=19, passing=1, compared=False)
    assert shown(report) == (
        "evidence: swap; 19 candidates tried in 1.2 s, 1 passed\n"
        "hardly compared: the time was up before others that are as likely were judged, and another may pass, too"
    )


def test_who_chose_is_told() -> None:
    chosen = RepairReport(patches=(FIRST, SECOND), chosen=1, chosen_by="model", tried=9, passing=2, complete=True)
    assert shown(chosen) == (
        "evidence: swap; all candidates (9) tried in 0.0 s, 2 passed; the model chose it\n"
        "not the only one: 1 other repair that passes behaves differently; `codur repair --all` shows them"
    )


def test_a_search_without_a_result_says_nothing_here() -> None:
    assert search_lines(RepairReport(tried=5)) == []


def test_all_repairs_are_numbered() -> None:
    assert joined(every_repair(BOTH)).split("\n") == [
        "1. `x` should be `y`.",
        *FIRST.diff.split("\n"),
        "",
        "2. `x` should be `z`.",
        "   for `1⏎2` repair 1 gives `3`, this one ZeroDivisionError",
        *SECOND.diff.split("\n"),
    ]


def test_nothing_of_a_program_reaches_the_terminal_as_it_is() -> None:
    bad = Patch(
        diff="+\x1b[2J",
        explanation="`\x1b]0;x\x07` should be `y`.",
        distinction=Distinction(input="\x1b[1m", first="\x9b", other="\r"),
    )
    report = RepairReport(patches=(FIRST, bad), chosen=0, chosen_by="rank", tried=2, passing=2)
    text = joined(every_repair(report)) + shown(report)
    assert not any(ord(character) < 32 and character != "\n" for character in text)
    assert "\x9b" not in text
