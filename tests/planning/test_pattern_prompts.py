"""The labelled prompts: what is settled must be rightly settled, and most of what can be settled is."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import Settings
from codur.planning.patterns.decide import decide
from codur.types import Plan
from codur.workspace.workspace import Workspace
from tests.planning.data.pattern_workspace import make_workspace

LABELS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "pattern_prompts.jsonl").read_text(encoding="utf-8").splitlines()
]
MIN_COVERAGE = 0.9


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return make_workspace(tmp_path_factory.mktemp("workspace"))


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


def test_labels_are_many_and_differ() -> None:
    kinds = Counter(label["type"] for label in LABELS)
    assert len({label["prompt"] for label in LABELS}) == len(LABELS) >= 200
    assert min(kinds.values()) >= 5
    assert len(kinds) == 11


def test_every_settled_prompt_is_rightly_settled_and_few_are_passed_on(workspace: Workspace) -> None:
    got = [(label, done(decide(label["prompt"], workspace, settings=Settings()).plan)) for label in LABELS]
    settled = [(label, result) for label, result in got if result is not None]
    wrong = [(label["prompt"], result) for label, result in settled if result != wanted(label)]
    to_settle = [label for label in LABELS if wanted(label) is not None]
    print(f"precision {1 - len(wrong) / len(settled):.1%} of {len(settled)}, coverage {len(settled)}/{len(to_settle)}")  # noqa: T201 - the figures of this table
    assert wrong == []
    assert len(settled) >= MIN_COVERAGE * len(to_settle)


@pytest.mark.parametrize("label", LABELS, ids=[label["prompt"][:40] for label in LABELS])
def test_type_and_plan_of_each_prompt(label: dict[str, Any], workspace: Workspace) -> None:
    decision = decide(label["prompt"], workspace, settings=Settings())
    assert (decision.discovery.task_type, done(decision.plan)) == (label["type"], wanted(label))
