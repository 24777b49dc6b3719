"""What nodes hand to models of files that may hold secrets, over a real context: nothing, through links neither."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codur.nodes.parts.attempt_verdict import judge
from codur.nodes.parts.sources import brief_of
from codur.nodes.parts.step_criteria import not_met
from codur.nodes.run_state import RunContext, RunState, initial_state
from codur.structs import replace
from codur.types import Check, Discovery, Step, StepRecord, Task
from tests.runs.kit import fill, host, settings_for
from tests.support.groq_server import GroqServer
from tests.support.opened import opened

SECRET = "hunter2_of_nobody"
LINKS = ("notes.txt", "conf.py")


@pytest.fixture
def context(tmp_path: Path) -> Iterator[RunContext]:
    fill(tmp_path, {"main.py": "print(1)\n", ".env": f"def {SECRET}(): pass\n", ".gitignore": ".env\n"})
    for link in LINKS:
        (tmp_path / link).symlink_to(".env")
    with GroqServer([]) as server:
        task = Task(prompt="fix main.py", workspace=str(tmp_path))
        with opened(task, settings_for(server), host=host(), emit=lambda event: None) as opened_context:
            yield opened_context


def test_a_link_to_one_is_not_shown(context: RunContext) -> None:
    task = Task(prompt=f"fix main.py with notes.txt, call {SECRET}", workspace="/w")
    discovery = Discovery(task_type="code_fix", files=("main.py", *LINKS))

    found = brief_of({**initial_state(task), "discovery": discovery}, Step(id="s", action="coding"), context)

    assert found.sources == {"main.py": "print(1)\n"}
    assert found.withheld == LINKS
    assert SECRET not in str(found.outline)


def test_the_index_does_not_look_into_a_link_to_one(context: RunContext) -> None:
    assert list(context.repository.view(["main.py", "conf.py"]).facts) == ["main.py"]


@pytest.mark.parametrize("path", [".env", *LINKS])
def test_a_plans_criteria_do_not_tell_what_is_in_one(path: str, context: RunContext) -> None:
    def unmet(criterion: str, *, by_user: bool = False) -> str:
        step = replace(Step(id="s", action="tool"), success_criteria=f"{path} {criterion}")
        return not_met(step, "", None, (), context.workspace if by_user else context.for_models)

    assert unmet(f"contains {SECRET}") == f"not met: {path} contains {SECRET}"
    assert unmet(f"lacks {SECRET}") == ""
    assert unmet("exists") == ""
    assert unmet(f"contains {SECRET}", by_user=True) == ""


def test_an_attempt_does_not_hold_one_that_went(context: RunContext) -> None:
    context.workspace.delete(".env")
    context.workspace.write_text("main.py", "print(3)\n")
    check = Check(
        kind="output", argv=("{python}", "main.py"), entry="main.py", expected_file="expected.txt", source="x"
    )
    (context.workspace.root / "expected.txt").write_text("2\n")
    start: RunState = {**initial_state(Task(prompt="p", workspace="/w")), "discovery": Discovery(check=check)}
    record = StepRecord(
        step_id="s", node="coding", action="coding", origin="plan", tier="open", changed_files=("main.py",)
    )

    judged = judge(record, start, context)

    assert judged.attempt is not None
    assert (SECRET in judged.attempt.diff, "+print(3)" in judged.attempt.diff) == (False, True)
