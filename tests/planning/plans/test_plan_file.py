"""Plans as YAML files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codur.errors import ConfigError
from codur.planning.plans.plan_file import plan_text, read_plan
from codur.types import Plan, Step

GOOD = """\
codur_plan: 1
task: find the callers and rename them
workspace: /home/someone/project
steps:
  - id: find
    action: tool
    capability: grep_files
    objective: Find the callers.
    arguments:
      pattern: "old_name("
  - id: rename
    action: coding
    objective: Rename them.
    inputs: [find]
    success_criteria: main.py contains new_name
"""


def problem(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read_plan(text.encode(), "plan.yaml")
    return f"{caught.value.message} | {caught.value.remedy}"


def test_a_plan_is_read() -> None:
    found = read_plan(GOOD.encode(), "plan.yaml")
    assert (found.task, found.workspace) == ("find the callers and rename them", "/home/someone/project")
    assert [step.id for step in found.plan.steps] == ["find", "rename"]
    assert found.plan.steps[0].arguments == {"pattern": "old_name("}
    assert found.plan.steps[0].tier == "deterministic"
    assert found.plan.steps[1].inputs == ("find",)
    assert found.plan.steps[1].tier == "open"
    assert found.plan.origin == "user"


def test_a_step_that_is_left_open_is_read_and_written() -> None:
    given = GOOD.replace("capability: grep_files", "decide: guided\n    max_candidates: 3\n    min_compatibility: 0")
    found = read_plan(given.encode(), "plan.yaml").plan
    step = found.steps[0]
    assert (step.undecided, step.max_candidates, step.min_compatibility, step.tier) == (True, 3, 0, "deterministic")
    text = plan_text(found, task="find", workspace="")
    assert read_plan(text.encode(), "plan.yaml").plan == found
    assert "decision_prompt" not in text
    assert "decide: guided" in problem(GOOD.replace("    capability: grep_files\n", ""))
    assert "nothing to decide" in problem(GOOD.replace("action: coding", "action: coding\n    decide: guided"))
    assert "0 or more" in problem(given.replace("max_candidates: 3", "max_candidates: -1"))


TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), inner),
    max_leaves=6,
)


@given(objective=TEXTS, arguments=st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), VALUES, max_size=4))
def test_what_is_written_is_read_back(objective: str, arguments: dict[str, object]) -> None:
    step = Step(id="one", action="tool", capability="read_file", objective=objective, arguments=arguments)
    text = plan_text(Plan(steps=(step,), origin="plan"), task="the task", workspace="/w")
    found = read_plan(text.encode(), "plan.yaml")
    assert found.plan.steps == (step,)
    assert (found.task, found.workspace) == ("the task", "/w")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "objective: Find",
            "objectiv: Find",
            ":8: steps[0].objectiv: there is no such key | Did you mean steps[0].objective?",
        ),
        (
            "task: find",
            "goal: find",
            ":2: goal: there is no such key | Known here: codur_plan, task, workspace, steps.",
        ),
        (
            "codur_plan: 1",
            "codur_plan: 2",
            ":1: codur_plan: this version reads plans of version 1 | Make the plan anew",
        ),
        ("codur_plan: 1\n", "", "codur_plan: is missing; this is no plan file | Begin it with codur_plan: 1."),
        ("action: coding", "action: dance", ":12: steps[1].action: must be one of tool, coding, delegate, repair"),
        ("    action: coding\n", "", ":11: steps[1]: the step has no action"),
        ("- id: rename", "- id: two words", ":11: steps[1].id: must be a short name"),
        (
            "    capability: grep_files\n",
            "",
            ":5: steps[0]: the step names no tool | Name the tool as capability, or write decide: guided.",
        ),
        ("inputs: [find]", "inputs: find", ":14: steps[1].inputs: must be a list, not text"),
        ("arguments:\n      pattern", "arguments:\n      - pattern", "steps[0].arguments: must be a mapping"),
        ("task: find the callers and rename them", "task:", "task: must be text"),
        ("task: find the callers and rename them", 'task: ""', ":2: task: the task is missing"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(old: str, new: str, words: str) -> None:
    assert old in GOOD
    assert words in problem(GOOD.replace(old, new))


@pytest.mark.parametrize("text", ["", "- a list", "steps: [", "codur_plan: 1\ntask: x\nsteps: []\n", "\x00"])
def test_what_is_no_plan_is_told(text: str) -> None:
    assert problem(text).startswith("plan.yaml")
