"""The table's own judgement: each attack must end as it is known to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from tests.adversarial.containment import CASES, Outcome, Status
from tests.adversarial.handed_rows import ATTACKS as OUTSIDERS
from tests.adversarial.table import (
    DEAD,
    KNOWN,
    LISTED,
    OUTSIDE,
    Column,
    containment_figures,
    listed_figure,
    outside_figures,
)

COLUMN: Column = ("landlock", "user")


def wrong(changed: dict[str, Status], dead: str = "") -> list[str]:
    """The figures that are not reached where all is as it is known to be but for these attacks."""
    known = {**dict.fromkeys(KNOWN[COLUMN], "BROKEN"), "ok-hardtmp": "BROKEN", **changed}
    outcomes = {
        case.name: Outcome(name=case.name, arm="landlock", status=known.get(case.name, "held"))  # type: ignore[arg-type]
        for case in CASES
    }
    control = {
        case.name: Outcome(
            name=case.name, arm="control", status="held" if case.name in {dead, *DEAD} or case.useful else "BROKEN"
        )
        for case in CASES
    }
    return [item.name for item in containment_figures({COLUMN: outcomes, ("control", "user"): control}) if not item.ok]


def test_what_is_known_is_reached() -> None:
    assert wrong({}) == []


@pytest.mark.parametrize("status", ["BROKEN", "not run"])
def test_one_attack_that_is_not_held_is_a_failure(status: Status) -> None:
    assert wrong({"w-abs": status}) == ["landlock (user)"]


def test_one_that_is_held_against_what_is_known_is_one_too() -> None:
    assert wrong({"w-chmod-out": "held"}) == ["landlock (user)"]


def test_a_useful_program_that_does_not_work_is_one() -> None:
    assert wrong({"ok-git": "BROKEN"}) == ["landlock (user), useful programs"]


def test_a_control_that_is_not_live_is_one() -> None:
    assert wrong({}, dead="w-abs") == ["live controls"]


def beyond(changed: dict[str, Status], live: dict[str, Status]) -> list[str]:
    """The figures that are not reached where all attacks by the command line but these are as they are known to be."""
    known = dict.fromkeys(OUTSIDE.get(COLUMN, {}), "BROKEN")

    def column(arm: str, usual: Status, others: Mapping[str, str]) -> dict[str, Outcome]:
        ends = {attack.name: others.get(attack.name, usual) for attack in OUTSIDERS}
        return {name: Outcome(name=name, arm=arm, status=end) for name, end in ends.items()}  # type: ignore[arg-type]

    control = column("control", "BROKEN", live)
    columns = {COLUMN: column("landlock", "held", {**known, **changed}), ("control", "user"): control}
    return [item.name for item in outside_figures(columns) if not item.ok]


def test_each_attack_by_the_command_line_counts_and_so_does_its_control() -> None:
    assert beyond({}, {}) == []
    assert beyond({"link-prompt": "BROKEN"}, {}) == ["outsiders, landlock (user)"]
    assert beyond({}, {"link-prompt": "held"}) == ["outsiders, control (user)"]


@pytest.mark.parametrize("kind", ["failed", "skipped"])
def test_each_listed_attack_counts(kind: str) -> None:
    results = {f"tests/cli/test_{name}.py::x": Counter(passed=number) for name, number in LISTED}
    assert listed_figure(COLUMN, results).ok
    assert not listed_figure(COLUMN, {}).ok
    results["tests/cli/test_reach.py::x"][kind] += 1
    assert not listed_figure(COLUMN, results).ok
