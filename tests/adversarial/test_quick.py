"""The quick part: a sample of the attacks with each back end that works here; with none they must succeed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.adversarial.backends import AVAILABLE, has_loopback
from tests.adversarial.containment import ATTACKS, USEFUL, Outcome, run_arm
from tests.adversarial.people import people

SAMPLE = (
    "w-symlink w-home-new w-gitswap w-new-codur r-other r-penv r-fd r-home-link r-expected p-userns p-killout p-daemon "
    "n-tcp4 n-unix-path r-env-secrets"
).split()
PLACE = "/var/tmp" if os.access("/var/tmp", os.W_OK) else None


def outcomes(arm: str, names: list[str]) -> dict[str, Outcome]:
    with tempfile.TemporaryDirectory(prefix="codur-suite-", dir=PLACE) as directory:
        return {outcome.name: outcome for outcome in run_arm(arm, Path(directory), names)}


@pytest.mark.skipif(AVAILABLE == ("none",), reason="no back end works here")
@pytest.mark.parametrize("backend", AVAILABLE)
def test_a_sample_of_the_attacks_gains_nothing(backend: str) -> None:
    found = outcomes(backend, SAMPLE)
    assert len(found) == len(SAMPLE)
    assert {name: outcome.detail for name, outcome in found.items() if outcome.status != "held"} == {}


def test_the_same_attacks_succeed_where_nothing_holds_them() -> None:
    found = outcomes("control", SAMPLE)
    assert {name: outcome.detail for name, outcome in found.items() if outcome.status != "BROKEN"} == {}


@pytest.mark.skipif(AVAILABLE == ("none",), reason="no back end works here")
@pytest.mark.parametrize("backend", AVAILABLE)
def test_useful_programs_work(backend: str) -> None:
    loopback = ("ok-loopback",) if has_loopback(backend) else ()
    found = outcomes(backend, ["ok-run", "ok-mp", *loopback, "ok-git"])
    assert {name: outcome.detail for name, outcome in found.items() if outcome.status != "held"} == {}


def test_there_are_seventy_two_attacks_and_seven_useful_programs() -> None:
    assert (len({case.name for case in ATTACKS}), len(USEFUL)) == (72, 7)


@pytest.mark.parametrize("runner", ["containment", "outsiders"])
def test_whoever_attacks_has_what_the_attacks_import(runner: str) -> None:
    with people() as persons:
        started = [person.start(f"tests.adversarial.{runner}", "--help") for person in persons]
        for process in started:
            process.communicate(timeout=300)
        assert [process.returncode for process in started] == [0] * len(persons)
