"""Hints of the user and of agents reach the search, and whoever asks a model."""

from __future__ import annotations

from pathlib import Path

from codur.types import Plan, Step
from tests.repair.test_hints import FILES
from tests.runs.kit import play
from tests.runs.test_plans import classified
from tests.support.groq_server import ServerReply, error

FIX = "main.py is wrong"
SORTING = "sorting; main.py:16 and 3 lines more"
LATER = {"repair": {"mode": "after_failure"}}


def test_from_the_prompt(tmp_path: Path) -> None:
    run = play(tmp_path, FILES, f"{FIX}. Probably it is the sort key in ranking.", [], search=True)
    assert run.result.repair is not None
    assert (run.result.outcome, run.result.repair.hint) == ("done", SORTING)


def test_from_the_option(tmp_path: Path) -> None:
    run = play(tmp_path, FILES, FIX, [], search=True, hint="the sort key in ranking")
    assert run.result.repair is not None
    assert (run.result.outcome, run.result.repair.hint) == ("done", SORTING)


def test_from_a_step_of_a_plan(tmp_path: Path) -> None:
    step = Step(id="mend", action="repair", objective="Mend the sort key in ranking.")
    run = play(tmp_path, FILES, FIX, [], search=True, plan=Plan(steps=(step,), origin="user"))
    assert run.result.repair is not None
    assert (run.result.outcome, run.result.repair.hint) == ("done", SORTING)


def test_from_the_sentence_of_the_classifier(tmp_path: Path) -> None:
    said = classified(reasoning="The sort key in ranking is the wrong one.")
    replies: list[ServerReply] = [said, *[error(401)] * 3]
    run = play(tmp_path, FILES, FIX, replies, sections=LATER)
    assert run.result.repair is not None
    assert (run.result.outcome, run.result.repair.hint) == ("done", SORTING)
