"""The rules a plan must keep, each with its own message."""

from __future__ import annotations

import pytest

from codur.config.settings import ToolSettings
from codur.planning.validate import Capabilities, Problem, complete, find_problem
from codur.types import Plan, Step

KNOWN = Capabilities(
    tools={"read_file": "read", "write_file": "write", "run_pytest": "run", "fetch_page": "network"},
    agents=("codur-coding", "codur-explaining"),
    codes=lambda name: name in ("codur-coding", "llm:gpt-oss-20b"),
    knows_agent=lambda name: name in ("codur-coding", "codur-explaining", "llm:gpt-oss-20b"),
)


def plan(*steps: Step) -> Plan:
    return Plan(steps=steps, origin="plan")


def tool(name: str, *, key: str = "a", inputs: tuple[str, ...] = ()) -> Step:
    return Step(id=key, action="tool", capability=name, inputs=inputs)


@pytest.mark.parametrize(
    ("given", "allowed", "problem"),
    [
        (plan(tool("read_file")), ToolSettings(), None),
        (plan(Step(id="a", action="coding", capability="llm:gpt-oss-20b")), ToolSettings(), None),
        (plan(Step(id="a", action="coding")), ToolSettings(), None),
        (plan(), ToolSettings(), Problem(text="the plan has no steps")),
        (
            plan(*(tool("read_file", key=str(number)) for number in range(4))),
            ToolSettings(),
            Problem(text="the plan has 4 steps; 3 are allowed"),
        ),
        (
            plan(tool("read_fil")),
            ToolSettings(),
            Problem(
                text="there is no tool named 'read_fil'; the nearest is read_file; "
                "there are: fetch_page, read_file, run_pytest, write_file"
            ),
        ),
        (
            plan(Step(id="a", action="delegate", capability="nobody")),
            ToolSettings(),
            Problem(text="there is no agent named 'nobody'; there are: codur-coding, codur-explaining"),
        ),
        (
            plan(Step(id="a", action="coding", capability="codur-explaining")),
            ToolSettings(),
            Problem(text="codur-explaining does not edit files; use it in a delegate step"),
        ),
        (
            plan(tool("read_file"), tool("read_file")),
            ToolSettings(),
            Problem(text="two steps have the id 'a'"),
        ),
        (
            plan(tool("read_file", inputs=("b",)), tool("read_file", key="b")),
            ToolSettings(),
            Problem(text="step 'a' needs the output of 'b', which is no earlier step"),
        ),
        (
            plan(tool("read_file", inputs=("a",))),
            ToolSettings(),
            Problem(text="step 'a' needs the output of 'a', which is no earlier step"),
        ),
        (
            plan(tool("write_file")),
            ToolSettings(allow_write=False),
            Problem(text="write_file is not allowed (tools.allow_write is off)", refused=True),
        ),
        (
            plan(tool("run_pytest")),
            ToolSettings(allow_run=False),
            Problem(text="run_pytest is not allowed (tools.allow_run is off)", refused=True),
        ),
        (
            plan(tool("fetch_page")),
            ToolSettings(),
            Problem(text="fetch_page is not allowed (tools.allow_network is off)", refused=True),
        ),
        (
            plan(Step(id="a", action="repair")),
            ToolSettings(allow_write=False),
            Problem(text="changing files is not allowed (tools.allow_write is off)", refused=True),
        ),
    ],
)
def test_find_problem(given: Plan, allowed: ToolSettings, problem: Problem | None) -> None:
    assert find_problem(given, KNOWN, allowed, max_steps=3) == problem


def test_a_plan_that_only_reads_gets_a_last_word() -> None:
    completed = complete(plan(tool("read_file", key="answer"), tool("read_file", key="b")), explainer="reader")
    assert [step.action for step in completed.steps] == ["tool", "tool", "delegate"]
    assert [step.id for step in completed.steps] == ["answer", "b", "answer-2"]
    assert (completed.steps[-1].capability, completed.steps[-1].inputs) == ("reader", ("answer", "b"))


@pytest.mark.parametrize(
    "given",
    [
        plan(tool("read_file"), Step(id="b", action="coding")),
        plan(Step(id="a", action="respond")),
        Plan(steps=(tool("read_file"),), origin="pattern"),
        plan(),
    ],
)
def test_other_plans_stay_as_they_are(given: Plan) -> None:
    assert complete(given, explainer="reader") == given
