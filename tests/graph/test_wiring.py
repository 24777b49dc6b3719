"""The graph: what may follow what, and that both ways of running it are one."""

from __future__ import annotations

import json
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
from msgspec import to_builtins

from codur.events import ignore
from codur.graph.build import build_graph, drawn_edges, mermaid_text
from codur.graph.walk import Walked, walk
from codur.graph.wiring import MODEL_NODES, PLAIN_NODES, ROUTES, STEP_LIMIT, function_of, route
from codur.nodes.run_state import RunState, apply, initial_state
from codur.redaction import Redactor
from codur.session.graph_run import run_graph_blocking
from codur.session.record.run_recording import Recording
from codur.types import RouteStep, Task, Usage
from tests.runs.kit import EDIT, MEDIAN_RIGHT, NEEDS_MODEL, REPAIRABLE, fill, host, settings_for
from tests.support.groq_server import GroqServer, calls
from tests.support.opened import opened

STATE = initial_state(Task(prompt="x", workspace="/w"))


def test_every_node_has_routes_and_every_route_a_node() -> None:
    nodes = {*PLAIN_NODES, *MODEL_NODES}
    assert set(ROUTES) == nodes
    assert {target for targets in ROUTES.values() for target in targets} - {"end"} <= nodes


def test_every_node_is_the_function_of_its_name() -> None:
    assert [function_of(name).__name__ for name in PLAIN_NODES] == list(PLAIN_NODES)
    assert [function_of(name).__name__ for name in MODEL_NODES] == list(MODEL_NODES)
    assert all(iscoroutinefunction(function_of(name)) for name in MODEL_NODES)


def test_the_compiled_graph_has_exactly_these_edges() -> None:
    assert drawn_edges() == {
        "start": ("pattern_plan",),
        "pattern_plan": ("llm_plan", "llm_pre_plan", "policy"),
        "llm_pre_plan": ("llm_plan", "policy"),
        "llm_plan": ("policy",),
        "policy": (
            "accept",
            "choose",
            "coding",
            "consult",
            "delegate",
            "end",
            "llm_plan",
            "make_check",
            "repair",
            "tool",
        ),
        "make_check": ("consult", "policy"),
        "consult": ("coding", "execute", "make_check", "policy", "review"),
        "repair": ("choose", "review"),
        "choose": ("policy", "repair"),
        "coding": ("consult", "review"),
        "tool": ("review",),
        "delegate": ("execute",),
        "execute": ("consult", "review"),
        "accept": ("end",),
        "review": ("accept", "end", "llm_plan", "llm_pre_plan", "policy", "repair"),
    }
    assert "review -.-> llm_plan" in mermaid_text().replace("&nbsp;", "").replace(" ;", ";")


def test_the_route_function_only_reads() -> None:
    for target in {target for targets in ROUTES.values() for target in targets}:
        state: RunState = {**STATE, "route": target}
        before = dict(state)
        assert route(state) == route(state) == target
        assert state == before


def test_reducers_add_and_other_fields_are_replaced() -> None:
    first = RouteStep(node="policy", route="end", origin="pattern", tier="deterministic")
    state = apply(
        STATE, {"iteration": 1, "trail": [first], "usage": Usage(calls=1), "outputs": {"a": "1"}, "cursor": 3}
    )
    state = apply(
        state, {"iteration": 1, "trail": [first], "usage": Usage(calls=2), "outputs": {"b": "2"}, "cursor": 4}
    )
    assert (state["iteration"], state["cursor"], state["usage"].calls) == (2, 4, 3)
    assert state["trail"] == [first, first]
    assert state["outputs"] == {"a": "1", "b": "2"}
    assert STATE["iteration"] == 0
    assert STATE["trail"] == []


def test_the_step_limit_is_ours_and_not_langgraphs_own() -> None:
    assert STEP_LIMIT == 350


@pytest.mark.parametrize(
    ("files", "prompt"),
    [
        (REPAIRABLE, "main.py is wrong"),
        (NEEDS_MODEL, "hello"),
        ({"notes.txt": "milk\n"}, "show me notes.txt"),
        (NEEDS_MODEL, "what does main.py do?"),
    ],
)
def test_the_walk_and_the_compiled_graph_take_the_same_way(files: dict[str, str], prompt: str, tmp_path: Path) -> None:
    ways = []
    for name in ("walked", "compiled"):
        workspace = tmp_path / name
        workspace.mkdir()
        fill(workspace, files)
        ways.append(_way(workspace, prompt, compiled=name == "compiled"))
    assert ways[0] == ways[1]
    assert ways[0][0]


def kept_nowhere() -> Recording:
    return Recording(ignore, Redactor(()))


def _way(workspace: Path, prompt: str, *, compiled: bool) -> tuple[list[tuple[str, str]], str | None, dict[str, bytes]]:

    with GroqServer([]) as server:
        settings = settings_for(server, search=True)
        task = Task(prompt=prompt, workspace=str(workspace))
        with opened(task, settings, host=host(key=None), emit=lambda event: None) as context:
            start = initial_state(task)
            state = (
                run_graph_blocking(start, Walked(start, (), finished=False), context, kept_nowhere())
                if compiled
                else walk(start, context).state
            )
    files = {path.name: path.read_bytes() for path in workspace.iterdir()}
    return [(step.node, step.route) for step in state["trail"]], state["outcome"], files


def test_steps_that_were_walked_are_taken_over_and_not_run_again(tmp_path: Path) -> None:

    fill(tmp_path, {"main.py": "open('runs', 'a').write('x')\nprint(1)\n", "expected.txt": "2\n"})
    with GroqServer([]) as server:
        task = Task(prompt="main.py is wrong", workspace=str(tmp_path))
        with opened(task, settings_for(server), host=host(), emit=lambda event: None) as context:
            start = initial_state(task)
            walked = walk(start, context)
            assert walked.finished is False
            assert (tmp_path / "runs").read_text() == "x"
            final = run_graph_blocking(start, walked, context, kept_nowhere())
    assert final["trail"][0].node == "pattern_plan"
    assert (tmp_path / "runs").read_text() == "x"


def test_the_state_is_small_and_plain(tmp_path: Path) -> None:
    fill(tmp_path, NEEDS_MODEL)
    right = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}))
    with GroqServer([EDIT, right]) as server:
        task = Task(prompt="main.py is wrong", workspace=str(tmp_path))
        with opened(task, settings_for(server), host=host(), emit=lambda event: None) as context:
            start = initial_state(task)
            state = run_graph_blocking(start, Walked(start, (), finished=False), context, kept_nowhere())
    assert state["outcome"] == "done"
    text = json.dumps(state, default=to_builtins)
    assert len(text) < 10_000
    assert MEDIAN_RIGHT.splitlines()[2].strip() not in text  # file contents stay outside


def test_the_graph_compiles_under_its_name() -> None:
    assert build_graph().name == "codur"
