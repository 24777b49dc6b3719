"""Where the plain nodes route, as tables over real contexts. Nothing is called that needs a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from codur.nodes.delegate import delegate
from codur.nodes.parts.updates import output_of
from codur.nodes.pattern_plan import pattern_plan
from codur.nodes.policy import policy
from codur.nodes.review import review
from codur.nodes.run_state import Route, RunContext, RunState, apply, initial_state
from codur.nodes.tool import tool
from codur.structs import replace
from codur.types import Attempt, Check, Discovery, Outcome, Plan, Step, StepRecord, Task, Verdict
from tests.runs.kit import NEEDS_MODEL, fill, host, settings_for
from tests.support.groq_server import GroqServer
from tests.support.opened import opened

RED = Verdict(status="failed", signature="s", progress=0.0)
CHECK = Check(kind="output", argv=("{python}", "main.py"), entry="main.py", expected_file="expected.txt", source="x")
FIX = Discovery(task_type="code_fix", files=("main.py",), check=CHECK)

READ = Step(id="read", action="tool", capability="read_file", arguments={"path": "main.py"})
EDIT = Step(id="edit", action="coding")
SAY = Step(id="say", action="respond", arguments={"text": "hi"})


@pytest.fixture
def context(tmp_path: Path) -> Iterator[RunContext]:
    fill(tmp_path, NEEDS_MODEL)
    with GroqServer([]) as server:
        task = Task(prompt="fix main.py", workspace=str(tmp_path))
        with opened(task, settings_for(server), host=host(), emit=lambda event: None) as opened_context:
            yield opened_context


def state(plan: Plan | None = None, *, cursor: int = 0, records: list[StepRecord] | None = None) -> RunState:
    start = initial_state(Task(prompt="fix main.py", workspace="/w"))
    return {
        **start,
        "plan": plan,
        "cursor": cursor,
        "records": records or [],
        "discovery": FIX,
        "before": RED,
        "verdict": RED,
    }


def planned(*steps: Step) -> Plan:
    return Plan(steps=steps, origin="plan")


@pytest.mark.parametrize(("mode", "loads"), [("before_model", 0), ("off", 1)])
def test_what_asks_models_is_loaded_beside_the_check_where_no_search_follows_it(
    mode: Literal["before_model", "off"], loads: int, context: RunContext
) -> None:
    told: list[str] = []
    settings = replace(context.settings, repair=replace(context.settings.repair, mode=mode))
    here = replace(context, settings=settings, load_graph=lambda: told.append("loaded"))
    task = Task(prompt="fix main.py", workspace=str(context.workspace.root))
    assert pattern_plan(initial_state(task), here)["before"].status == "failed"  # type: ignore[union-attr]
    assert len(told) == loads


@pytest.mark.parametrize(
    ("plan", "cursor", "route", "outcome"),
    [
        (planned(READ, EDIT), 0, "tool", None),
        (planned(READ, EDIT), 1, "coding", None),
        (planned(Step(id="a", action="delegate", capability="codur-explaining")), 0, "delegate", None),
        (planned(Step(id="a", action="repair")), 0, "repair", None),
        (planned(SAY), 0, "end", "not_achieved"),
        (Plan(steps=(SAY,), origin="pattern"), 0, "end", "done"),
        (planned(Step(id="q", action="ask", arguments={"text": "which?"})), 0, "end", "not_achieved"),
        (planned(), 0, "end", "not_achieved"),
        (planned(replace(READ, capability="nothing")), 0, "llm_plan", None),
        (Plan(steps=(), origin="pattern"), 0, "end", "not_achieved"),
        (Plan(steps=(SAY,), origin="llm_error", outcome="no_model"), 0, "end", "no_model"),
    ],
)
def test_policy(plan: Plan, cursor: int, route: Route, outcome: Outcome | None, context: RunContext) -> None:
    update = policy(state(plan, cursor=cursor), context)
    assert (update["route"], update.get("outcome")) == (route, outcome)
    assert len(update["trail"]) == 1


def test_policy_sends_a_plan_back_only_once(context: RunContext) -> None:
    bad = state(planned(replace(READ, capability="nothing")))
    assert policy(bad, context)["replans"] == 1
    update = policy({**bad, "replans": 1}, context)
    assert (update["route"], update["outcome"]) == ("end", "not_achieved")


def record(node: str, code: str = "ok", **fields: object) -> StepRecord:
    base = StepRecord(step_id="edit", node=node, action="coding", origin="plan", tier="open", code=code)  # type: ignore[arg-type]
    return replace(base, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "route", "outcome"),
    [
        (state(planned(READ, SAY), records=[record("tool", action="tool")]), "policy", None),
        (state(planned(READ, SAY), records=[record("tool", "not_found", action="tool")]), "policy", None),
        (state(planned(READ), records=[record("tool", action="tool")]), "end", "not_achieved"),
        (state(Plan(steps=(READ,), origin="pattern"), records=[record("tool", action="tool")]), "end", "done"),
        (state(planned(EDIT), records=[record("coding", "invalid", error="no edit")]), "llm_plan", None),
        (state(planned(EDIT, EDIT), records=[record("coding")]), "policy", None),
        (state(planned(EDIT), records=[record("repair", "no_match", action="repair")]), "llm_pre_plan", None),
        (
            {
                **state(planned(EDIT), records=[record("repair", "no_match", action="repair")]),
                "attempts": [Attempt(number=1, by="codur-coding")],
            },
            "llm_plan",
            None,
        ),
        (state(planned(EDIT), records=[record("coding", "failed", origin="llm_error")]), "end", "no_model"),
    ],
)
def test_review(given: RunState, route: Route, outcome: Outcome | None, context: RunContext) -> None:
    before = dict(given)
    update = review(given, context)
    assert (update["route"], update.get("outcome")) == (route, outcome)
    assert given == before


def asking(name: str) -> Step:
    return Step(id=name, action="tool", capability="ask_user", arguments={"question": f"{name}?"})


def test_questions_of_tools_are_not_asked_side_by_side(context: RunContext) -> None:
    steps = (READ, replace(READ, id="again"), asking("one"), asking("two"), SAY)
    counts = []
    for cursor in (0, 2, 3):
        update = tool(state(planned(*steps), cursor=cursor), context)
        counts.append(len(update["records"]))
    assert counts == [2, 1, 1]


def test_a_step_that_takes_the_id_of_an_earlier_one_leaves_nothing_of_its_output(context: RunContext) -> None:
    first = state(planned(replace(READ, id="a"), replace(READ, id="b"), EDIT))
    done = apply(first, tool(first, context))
    assert {"a", "a.data", "a.dependencies", "b.data"} <= done["outputs"].keys()
    again: RunState = {
        **done,
        "plan": planned(replace(READ, id="a", arguments={"path": "absent.py"}), EDIT),
        "cursor": 0,
    }
    done = apply(again, tool(again, context))
    assert sorted(done["outputs"]) == ["a", "b", "b.data", "b.dependencies"]
    output = output_of("a", done, context)
    assert output is not None
    assert (output.data, "absent.py" in output.text) == (None, True)


@pytest.mark.parametrize(("capability", "agent"), [("codur-coding", "codur-coding"), ("", "codur-coding")])
def test_delegate_only_picks(capability: str, agent: str, context: RunContext) -> None:
    update = delegate(state(planned(Step(id="a", action="delegate", capability=capability))), context)
    assert (update["route"], update["agent"]) == ("execute", agent)
