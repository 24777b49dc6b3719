"""The graph tells the truth: what runs do is what its drawing shows, and each node keeps to its part.

Every task runs once, node by node, over the nodes and with the checks that both ways of running have; then the
compiled graph is taken through the same updates. Edges that `go` names in the sources are compared with the drawing
too, so that a way out that no task takes is no hidden branch either.
"""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import codur.nodes
from codur.graph.build import GraphContext, drawn_edges, run_graph
from codur.graph.walk import run_model, run_plain
from codur.graph.wiring import MODEL_NODES, ROUTES, START_NODE, route
from codur.nodes.run_state import NodeName, RunContext, RunState, RunUpdate, apply, initial_state
from codur.questions import Answer, Question
from codur.types import Task
from tests.graph.tasks import TASKS, Scripted
from tests.runs.kit import fill, host, settings_for
from tests.support.groq_server import GroqServer
from tests.support.opened import opened

Files = Mapping[str, bytes]

DOES = frozenset({"tool", "coding", "execute", "repair"})
"""Nodes that carry something out. All others decide."""
CHECKS = frozenset({"pattern_plan", "make_check", "review"})
"""Nodes that decide by what the check says, and so run it; what they do to files is to put them back."""
DECISIONS = frozenset({"plan", "coder", "agent", "approved", "replans", "rejections", "answers", "since", "stalls"})
DECISIONS |= {"steer", "solved_by"}
"""Fields of the state that say how the run goes on."""
ENDS = frozenset({"outcome", "reason", "remedy"})


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One node that ran: its update, and the files before and after."""

    node: NodeName
    update: RunUpdate
    state: RunState
    before: Files
    after: Files


@dataclass(frozen=True, kw_only=True)
class Went:
    """A task that ran to its end."""

    visits: tuple[Visit, ...]
    state: RunState
    compiled: RunState | Question
    ran_again: list[str]
    unexpected: int


def files_of(root: Path) -> Files:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


async def walked(task: Task, context: RunContext) -> tuple[RunState, tuple[Visit, ...]]:
    """Run the nodes one after the other, and look at each."""
    root, state, node = Path(task.workspace), initial_state(task), START_NODE
    visits: list[Visit] = []
    while True:
        given, before = deepcopy(state), files_of(root)
        run = run_model(node, state, context) if node in MODEL_NODES else None
        update = run_plain(node, state, context) if run is None else await run
        assert state == given, f"{node} changed the state that it was given"
        visits.append(Visit(node=node, update=update, state=given, before=before, after=files_of(root)))
        state = apply(state, update)
        target = goes_to(state)
        if target == "end":
            return state, tuple(visits)
        node = target


def goes_to(state: RunState) -> Any:
    """What the route function says; it says so again, and leaves the state as it is."""
    before = deepcopy(state)
    target = route(state)
    assert target == route(state) == route(deepcopy(state))
    assert state == before
    return target


def user_of(scripted: Scripted) -> Callable[[Question], Answer] | None:
    if scripted.user is None:
        return None
    answers = iter(scripted.user)

    def user(question: Question) -> Answer:
        answer = next(answers)
        return answer if isinstance(answer, Answer) else answer(question)

    return user


def go_through(scripted: Scripted, directory: Path) -> Went:
    workspace = directory / "project"
    workspace.mkdir()
    fill(workspace, scripted.files)
    ran_again: list[str] = []
    with GroqServer(scripted.replies) as server:
        settings = settings_for(server, search=scripted.search, **scripted.settings(directory))
        task = Task(prompt=scripted.prompt, workspace=str(workspace), limits=scripted.limits, **scripted.given)
        place = host(consult=user_of(scripted)) if scripted.key else host(key=None, consult=user_of(scripted))
        with opened(task, settings, host=place, emit=lambda event: None) as context:

            async def both() -> tuple[RunState, tuple[Visit, ...], RunState | Question]:
                try:
                    state, visits = await walked(task, context)
                    done = tuple((visit.node, visit.update) for visit in visits)
                    taken = GraphContext(
                        run=context, done=done, finished=lambda node, _update, _state: ran_again.append(node)
                    )
                    again = await run_graph(initial_state(task), taken)
                    return state, visits, again
                finally:
                    await context.models.close()

            state, visits, compiled = asyncio.run(both())
    return Went(visits=visits, state=state, compiled=compiled, ran_again=ran_again, unexpected=server.unexpected)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_goes_its_way_and_each_node_keeps_to_its_part(name: str, tmp_path: Path) -> None:
    scripted = TASKS[name]
    went = go_through(scripted, tmp_path)
    assert [visit.node for visit in went.visits] == scripted.route, went.state["reason"]
    assert (went.state["outcome"], went.unexpected) == (scripted.outcome, 0), went.state["reason"]
    edges = drawn_edges()
    for visit in went.visits:
        assert visit.update["route"] in edges[visit.node]
        assert [(step.node, step.route) for step in visit.update["trail"]] == [(visit.node, visit.update["route"])]
        keeps_to_its_part(visit)
    only_puts_back(went.visits)
    assert went.compiled == went.state
    assert went.ran_again == []


def keeps_to_its_part(visit: Visit) -> None:
    """Only `review` counts attempts; who carries out does not decide, and who decides does not carry out."""
    node, update = visit.node, visit.update
    assert ("iteration" in update) <= (node == "review")
    if node in DOES:
        assert not DECISIONS & update.keys()
        failed = update["trail"][0].origin == "llm_error"  # a model's failure is an outcome, not a choice
        assert not ENDS & update.keys() or failed, f"{node} says how the run ends"
        assert set(drawn_edges()[node]) <= {"review", "choose", "consult"}
    else:
        assert {record.node for record in update.get("records", [])} <= {"consult"}


def only_puts_back(visits: tuple[Visit, ...]) -> None:
    """After a node that decides, each file is as it was at some time before, but for what a check's program wrote."""
    known: dict[str, set[bytes | None]] = {}
    for visit in visits:
        for path in {*visit.before, *visit.after, *known}:
            states = known.setdefault(path, {None})
            states.add(visit.before.get(path))
            if visit.node not in DOES and visit.after.get(path) != visit.before.get(path):
                edited = any(path in record.changed_files for record in visit.state["records"])
                by_program = visit.node in CHECKS and not edited
                assert visit.after.get(path) in states or by_program, f"{visit.node} changed {path}"
            states.add(visit.after.get(path))


# --- all ways ---------------------------------------------------------------------------------------------------------


def edges_of(scripted: Scripted) -> Iterator[tuple[str, str]]:
    yield from pairwise(["start", *scripted.route, "end"])


def test_there_are_forty_tasks_and_together_they_take_every_edge_of_the_drawing() -> None:
    taken = {edge for scripted in TASKS.values() for edge in edges_of(scripted)}
    drawn = {(node, target) for node, targets in drawn_edges().items() for target in targets}
    assert len(TASKS) >= 40
    assert taken <= drawn
    assert sorted(drawn - taken) == []


PART_OF = {"approval_question": "policy", "next_move": "review"}
"""The node that a module of `parts` writes updates for, where that is one alone."""


def named_in_sources() -> set[tuple[str, str]]:
    """The edges that calls of `go` name; where the node or a target is not told by the source, `*` stands for it."""
    found = set()
    for path in sorted(Path(codur.nodes.__path__[0]).rglob("*.py")):
        node = PART_OF.get(path.stem, "*" if path.parent.name == "parts" else path.stem)
        for call in calls_in(path, "go"):
            to = call.args[0]
            targets = (to.body, to.orelse) if isinstance(to, ast.IfExp) else (to,)
            found |= {(node, str(item.value) if isinstance(item, ast.Constant) else "*") for item in targets}
    return found


def calls_in(path: Path, name: str) -> Iterator[ast.Call]:
    for item in ast.walk(ast.parse(path.read_text())):
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Name) and item.func.id == name:
            yield item


def test_every_way_out_of_a_node_is_an_edge_and_every_edge_a_way_out() -> None:
    named = named_in_sources()
    drawn = {(node, target) for node, targets in drawn_edges().items() for target in targets if node != "start"}
    assert {edge for edge in named if "*" not in edge} <= drawn
    # one helper writes the update of a node whose agent cannot answer, `coding` that of `execute` if its agent edits,
    # to which an answer goes back; policy looks up the node of a step's action
    assert {edge for edge in named if "*" in edge} == {("*", "review"), ("policy", "*"), ("consult", "*")}
    computed = {
        ("execute", "consult"),
        *(("consult", to) for to in ("coding", "execute", "review")),
        *(("policy", to) for to in ("tool", "coding", "delegate", "repair")),
    }
    assert drawn - named == computed


def test_no_node_calls_another_and_none_leaves_but_by_a_route() -> None:
    """The only way from node to node is an edge: a node's function is named by the table of the graph alone."""
    nodes = set(drawn_edges()) - {"start"}
    for path in sorted(Path(codur.nodes.__path__[0]).rglob("*.py")):
        tree = ast.parse(path.read_text())
        imported = {name.name for item in ast.walk(tree) if isinstance(item, ast.ImportFrom) for name in item.names}
        assert not imported & nodes, path.name
        routed = [call for call in calls_in(path, "RunUpdate") if "route" in {keyword.arg for keyword in call.keywords}]
        assert len(routed) == (path.name == "updates.py"), path.name  # `go` alone writes a route


OUTSIDE = frozenset({"launcher", "checker", "externals", "workspace", "toolbox", "scratch"})
"""Parts of the context by which something is done."""
LOOKS = frozenset(
    {
        *("workspace.list_files", "workspace.is_file", "workspace.may_edit", "workspace.changed_files"),
        *("workspace.read_text", "workspace.require_writable", "workspace.diff"),
        *("toolbox.names", "toolbox.get", "toolbox.check"),
        *(
            "toolbox.effects",
            "toolbox.spec",
            "toolbox.specs",
            "toolbox.own_names",
            "toolbox.mcp",
            "toolbox.with_servers",
        ),
        *("externals.obstacle", "checker.guard", "checker.last_tests"),
        "launcher.once_started",  # what is loaded beside a program that `check_before` starts
    }
)
"""Uses of them that change nothing, and start nothing but servers that are asked what they have."""
DOING = ("codur.agents.loop", "codur.agents.coding", "codur.repair", "codur.sandbox", "codur.tools")
LOOKING = ("codur.context", "codur.tools.compatibility", "codur.tools.arguments", "codur.parsing.bounded_text")
"""Modules by which something is done, and those below them that only look."""
DECIDING = (
    "codur.nodes.parts.next_move",
    "codur.nodes.parts.handover",
    "codur.planning.retry",
    "codur.planning.plans.validation",
)
HELPERS = tuple(f"parts/{name}" for name in ("approval_question", "handover", "next_move", "finding", "plan_rules"))
"""Modules beside the nodes that decide for them."""


def used_and_imported(name: str) -> tuple[set[str], set[str]]:
    """What a module of nodes uses of the context by which something is done, and the modules that it imports."""
    tree = ast.parse((Path(codur.nodes.__path__[0]) / f"{name}.py").read_text())
    used = set()
    for item in ast.walk(tree):
        if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Attribute):
            part = item.value
            if isinstance(part.value, ast.Name) and part.value.id == "context" and part.attr in OUTSIDE:
                used.add(f"{part.attr}.{item.attr}")
    return used, {item.module for item in ast.walk(tree) if isinstance(item, ast.ImportFrom) and item.module}


@pytest.mark.parametrize("name", [*ROUTES, *HELPERS])
def test_each_node_decides_or_carries_out_and_never_both(name: str) -> None:
    """Who decides starts no program and writes no file (`judge` runs the check); who carries out decides nothing."""
    used, modules = used_and_imported(name)
    if name in DOES:
        assert not {module for module in modules if module.startswith(DECIDING)}
        return
    assert used <= LOOKS
    assert ("codur.nodes.parts.attempt_verdict" in modules) == (name in CHECKS)
    assert not {module for module in modules if module.startswith(DOING) and not module.startswith(LOOKING)}


def test_what_a_review_finds_is_pure() -> None:
    """It sees the state and what it is given; the context, and all that is done with it, is out of its reach."""
    tree = ast.parse((Path(codur.nodes.__path__[0]) / "parts/finding.py").read_text())
    names = {item.id for item in ast.walk(tree) if isinstance(item, ast.Name)}
    imported = {alias.name for item in ast.walk(tree) if isinstance(item, ast.ImportFrom) for alias in item.names}
    assert not {"RunContext", "context", "Workspace", "Checker", "asyncio"} & (names | imported)


def test_where_a_review_goes_is_looked_up_and_no_more() -> None:
    tree = ast.parse((Path(codur.nodes.__path__[0]) / "parts/next_move.py").read_text())
    parts = {
        item.attr
        for item in ast.walk(tree)
        if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id == "context"
    }
    assert parts == {"artifacts", "settings", "workspace"}
    assert not any(isinstance(item, ast.Attribute) and item.attr in {"put", "emit", "run"} for item in ast.walk(tree))


def test_a_review_is_small() -> None:
    source = (Path(codur.nodes.__path__[0]) / "review.py").read_text()
    assert len(source.splitlines()) <= 80
