"""The labelled prompts: what is settled must be rightly settled, and most of what can be settled is.

`pattern_prompts` grew with the rules; `fresh_prompts` was written by someone who had not read them, and then labelled
anew where a rule did more than that person expected and was right. `third_prompts` was written without a look at the
rules too (its first 210; the other 124 after these had been mended), and one of its labels was changed to agree with
the other sets: "have a look at" a file may ask for a judgement of it. The labels are for a user who allows the web, and
to write to git.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from codur.config.settings import Settings
from codur.planning.patterns.decide import PatternDecision, decide
from codur.types import Plan, Task
from codur.workspace.workspace import Workspace
from tests.planning.data.pattern_workspace import make_workspace

DATA = Path(__file__).parent / "data"
SETTINGS = structs.replace(
    Settings(), tools=structs.replace(Settings().tools, allow_network=True, allow_git_write=True)
)


def labels(name: str) -> list[dict[str, Any]]:
    """A set of labelled prompts."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


LABELS = labels("pattern_prompts")
FRESH = labels("fresh_prompts")
THIRD = labels("third_prompts")
MIN_COVERAGE = 0.9


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return make_workspace(tmp_path_factory.mktemp("workspace"))


def decided(prompt: str, workspace: Workspace, settings: Settings = SETTINGS) -> PatternDecision:
    """What the rules make of a prompt."""
    return decide(Task(prompt=prompt, workspace=str(workspace.root)), workspace, settings=settings)


def wanted(label: dict[str, Any]) -> dict[str, Any] | None:
    """What the label says that the plan does; None if it must not be settled."""
    return {key: label[key] for key in ("says", "tool", "arguments") if key in label} or None


def done(plan: Plan | None) -> dict[str, Any] | None:
    """What the plan does, in the labels' form."""
    if plan is None:
        return None
    (step,) = plan.steps
    if step.action == "respond":
        return {"says": plan.outcome}
    return {"tool": step.capability, "arguments": json.loads(json.dumps(dict(step.arguments)))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How a set of prompts was settled.

    Attributes:
        settled: prompts that a rule settled.
        wrong: those of them that should not have been, or otherwise.
        to_settle: prompts that a rule should settle.
        missed: those of them that none did.
    """

    prompts: int
    settled: int
    wrong: tuple[str, ...]
    to_settle: int
    missed: tuple[str, ...]

    @property
    def precision(self) -> float:
        return 1 - len(self.wrong) / self.settled

    @property
    def coverage(self) -> float:
        return 1 - len(self.missed) / self.to_settle


def score(labelled: list[dict[str, Any]], workspace: Workspace) -> Score:
    """How the rules settle these prompts."""
    got = [(label, done(decided(label["prompt"], workspace).plan)) for label in labelled]
    return Score(
        prompts=len(labelled),
        settled=sum(result is not None for _, result in got),
        wrong=tuple(label["prompt"] for label, result in got if result is not None and result != wanted(label)),
        to_settle=sum(wanted(label) is not None for label in labelled),
        missed=tuple(label["prompt"] for label, result in got if result is None and wanted(label) is not None),
    )


def test_labels_are_many_and_differ() -> None:
    kinds = Counter(label["type"] for label in LABELS)
    assert len({label["prompt"] for label in LABELS}) == len(LABELS) >= 200
    assert min(kinds.values()) >= 5
    assert len(kinds) == 11


def test_fresh_prompts_are_many_and_new() -> None:
    known = {label["prompt"].casefold() for label in LABELS}
    assert len({label["prompt"] for label in FRESH}) == len(FRESH) >= 100
    assert sum(label["prompt"].casefold() in known for label in FRESH) <= 15
    assert len({label["type"] for label in FRESH}) == 11


def test_third_prompts_are_many_and_new() -> None:
    known = {label["prompt"].casefold() for label in (*LABELS, *FRESH)}
    assert len({label["prompt"] for label in THIRD}) == len(THIRD) >= 300
    assert sum(label["prompt"].casefold() in known for label in THIRD) <= 60
    assert len({label["type"] for label in THIRD}) == 11


@pytest.mark.parametrize("name", ["pattern_prompts", "fresh_prompts", "third_prompts"])
def test_every_settled_prompt_is_rightly_settled_and_few_are_passed_on(name: str, workspace: Workspace) -> None:
    found = score(labels(name), workspace)
    assert found.wrong == ()
    assert found.coverage >= MIN_COVERAGE


def test_type_of_each_unseen_prompt_that_is_settled(workspace: Workspace) -> None:
    labelled = [label for label in (*FRESH, *THIRD) if wanted(label)]
    decisions = ((label, decided(label["prompt"], workspace)) for label in labelled)
    kinds = {label["prompt"]: decision.discovery.task_type for label, decision in decisions if decision.plan}
    assert kinds == {label["prompt"]: label["type"] for label in labelled if label["prompt"] in kinds}


@pytest.mark.parametrize("label", LABELS, ids=[label["prompt"][:40] for label in LABELS])
def test_type_and_plan_of_each_prompt(label: dict[str, Any], workspace: Workspace) -> None:
    decision = decided(label["prompt"], workspace)
    assert (decision.discovery.task_type, done(decision.plan)) == (label["type"], wanted(label))
