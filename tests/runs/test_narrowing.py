"""Narrowed prompts in whole runs: the plan's tools by the kind of task, and the loop's choice on record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.events import ToolChosen
from tests.runs.kit import Played, play
from tests.support.groq_server import calls, json_reply, text

FILES = {"main.py": "def one():\n    return 1\n"}
UNSURE = json_reply(
    {
        "task_type": "explanation",
        "confidence": 0.5,
        "detected_files": ["main.py"],
        "suggested_action": "plan",
        "reasoning": "Not sure.",
    }
)


def _step(action: str, capability: str = "", arguments: list[dict[str, str]] | None = None) -> dict[str, Any]:
    return {
        "id": "a",
        "action": action,
        "capability": capability,
        "objective": "",
        "expected_output": "",
        "success_criteria": "",
        "inputs": [],
        "arguments": arguments or [],
    }


def explained(directory: Path, *, narrow: bool) -> Played:
    plan = json_reply({"reasoning": "Ask.", "steps": [_step("delegate", "codur-explaining")]})
    look = calls(("grep_files", {"pattern": "one"}))
    return play(
        directory,
        FILES,
        "why does main.py matter to whoever comes next",
        [UNSURE, plan, look, text("It returns one.")],
        sections={"planning": {"narrow_tools": narrow}},
    )


@pytest.mark.parametrize("narrow", [True, False])
def test_a_plan_is_told_of_the_tools_for_the_kind_of_task(narrow: bool, tmp_path: Path) -> None:
    run = explained(tmp_path, narrow=narrow)
    system = str(run.requests[1].body["messages"][0]["content"])
    assert "\n- read_file(path, start_line?, end_line?): Read a text file" in system
    assert ("\n- rename_symbol(path, name, new_name, line?): " in system) is not narrow
    assert ("\n- others: " in system) is narrow
    assert "rename_symbol(path, name, new_name, line?)" in system


def test_each_choice_of_a_tool_is_on_record(tmp_path: Path) -> None:
    run = explained(tmp_path, narrow=True)
    (chosen,) = [event for event in run.events if isinstance(event, ToolChosen)]
    assert (chosen.after, chosen.tier, chosen.choice) == ("", "open", "grep_files")
    assert "read_file" in chosen.candidates
    assert chosen.duration_s > 0
