"""A plan of five steps, killed after each step of the graph and gone on with: as if nothing had happened."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from codur.graph.wiring import fingerprint
from codur.planning.plans.plan_file import plan_text
from codur.types import Plan, Step
from tests.session.kit import KEY, MEDIAN_RIGHT, NEEDS_MODEL, Place, contents, edit, place

STEPS = (
    Step(id="look", action="tool", capability="read_file", arguments={"path": "main.py"}),
    Step(id="wanted", action="tool", capability="read_file", arguments={"path": "expected.txt"}),
    Step(
        id="log",
        action="tool",
        capability="append_file",
        arguments={"path": "log.txt", "content": "begun: ${wanted.total_lines} lines"},
    ),
    Step(id="fix", action="coding", capability="codur-coding", inputs=("look",), tier="open"),
    Step(
        id="done",
        action="tool",
        capability="append_file",
        arguments={"path": "log.txt", "content": "${fix}"},
        success_criteria="log.txt contains begun: 2 lines",
    ),
)
PATH = (
    *("pattern_plan", "policy", "tool", "review", "policy", "tool", "review"),
    *("policy", "coding", "review", "policy", "tool", "review"),
)
KILLS = range(1, len(PATH) + 1)


def right(_: Any) -> Any:
    return edit(MEDIAN_RIGHT)


def plan_in(here: Place) -> str:
    path = here.home / "plan.yaml"
    plan = Plan(steps=STEPS, origin="user")
    path.write_text(plan_text(plan, task="main.py is wrong", workspace=str(here.project)))
    return str(path)


def killed(here: Place, path: tuple[str, ...]) -> None:
    here.killed_at(*path, words=("run", "--plan-file", plan_in(here)))


def the_same(result: Mapping[str, Any]) -> dict[str, Any]:
    """What must not differ between a run that was killed and one that was not."""
    kept = {key: result[key] for key in ("outcome", "iterations", "changed_files", "diff", "solved_by", "answer")}
    steps = [(record["step_id"], record["code"], record["summary"]) for record in result["records"]]
    return {**kept, "steps": steps, "route": [(step["node"], step["route"]) for step in result["route"]]}


@pytest.fixture(scope="module")
def uncut(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, str]]:
    """The result and the files of the plan when nobody kills it."""
    with place(tmp_path_factory.mktemp("uncut"), right) as here:
        result = here.json("run", "--plan-file", plan_in(here))
        assert result["outcome"] == "done"
        assert tuple(step["node"] for step in result["route"]) == PATH
        assert result["model_calls"] == 1
        assert contents(here.project)["log.txt"] == "begun: 2 lines\nreplace_function median in main.py"
        return the_same(result), contents(here.project)


@pytest.mark.parametrize("kill", KILLS)
def test_killed_after_each_node_it_ends_the_same(
    kill: int, tmp_path: Path, uncut: tuple[dict[str, Any], dict[str, str]]
) -> None:
    expected, files = uncut
    with place(tmp_path, right) as here:
        killed(here, PATH[:kill])
        assert the_same(here.json("resume")) == expected
        assert contents(here.project) == files
        again = here.asked_again()
        assert again <= (PATH[kill - 1] == "coding")  # a request under way is lost with the process that sent it
        assert len(here.server.requests) - again == 1
        kept = here.bytes_kept()
        assert KEY.encode() not in kept
        assert b"base_url" not in kept


def test_another_version_of_the_graph_is_refused(tmp_path: Path) -> None:
    with place(tmp_path, right) as here:
        killed(here, PATH[:5])
        (record,) = here.state.glob("runs/*/run.json")
        written = json.loads(record.read_text())
        assert written["graph"] == fingerprint()
        record.write_text(json.dumps({**written, "graph": "0123456789ab", "version": "0.0.1"}))
        done = here.run("resume")
        assert done.code == 2
        assert "Codur 0.0.1 began it, whose graph is another one" in done.err
        assert "codur undo" in done.err
        assert len(here.server.requests) == 0
    assert NEEDS_MODEL["main.py"] == contents(here.project)["main.py"]
