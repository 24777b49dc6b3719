"""The table's own judgement: each attack must end as it is known to."""

from __future__ import annotations

import pytest

from tests.adversarial.containment import CASES, Outcome, Status
from tests.adversarial.table import DEAD, KNOWN, Column, containment_figures

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
