"""Calls that had to be mended may read, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.agents.coding import REFUSALS
from codur.types import ToolCall
from codur.workspace.workspace import Workspace
from tests.agents.test_agents import FILES, code, explore, tools
from tests.runs.kit import contents

NOT_EXACT = (
    "its call is not JSON by the letter, so that what is meant is a guess; nothing was done; write the call again as"
    " correct JSON"
)


@pytest.mark.parametrize(
    ("tool", "effect"),
    [("write_file", "changes files"), ("run_command", "starts a program"), ("fetch_webpage", "uses the network")],
)
def test_what_does_more_than_read_is_refused(tool: str, effect: str, tmp_path: Path) -> None:
    box = tools(Workspace.open(tmp_path))
    assert box.guess_refused(ToolCall(name=tool, repaired=True)) == f"{tool} {effect}, and {NOT_EXACT}"
    assert box.guess_refused(ToolCall(name=tool)) == ""


@pytest.mark.parametrize("tool", ["read_file", "grep_files", "no_such_tool"])
def test_what_reads_is_carried_out(tool: str, tmp_path: Path) -> None:
    assert tools(Workspace.open(tmp_path)).guess_refused(ToolCall(name=tool, repaired=True)) == ""


def test_a_mended_call_reads(tmp_path: Path) -> None:
    _, model = explore(
        tmp_path, "{'tool': 'read_file', 'args': {'path': 'main.py',},}", "It has two functions.", tool_calls="json"
    )
    assert "def one():" in model.requests[1].messages[-1].content


def test_a_call_in_pythons_form_reads(tmp_path: Path) -> None:
    outcome, model = explore(tmp_path, 'read_file(path="main.py")', "It has two functions.", tool_calls="json")
    assert "def one():" in model.requests[1].messages[-1].content
    assert outcome.text == "It has two functions."


@pytest.mark.parametrize(
    "answer",
    [
        "{'tool': 'replace_file_content', 'args': {'path': 'main.py', 'content': 'x = 1\\n'}}",
        '{"tool_calls": [{"tool": "replace_file_content", "args": {"path": "main.py", "content": "x = 1\\n"},},]}',
        "{'code': 'x = 1\\n', 'path': 'main.py'}",
    ],
)
def test_a_mended_call_writes_nothing(answer: str, tmp_path: Path) -> None:
    outcome = code(tmp_path, *[answer] * (1 + REFUSALS))
    assert outcome.code != "ok"
    assert NOT_EXACT in outcome.error
    assert contents(tmp_path) == FILES


def test_the_same_call_by_the_letter_writes(tmp_path: Path) -> None:
    outcome = code(tmp_path, '{"tool": "replace_file_content", "args": {"path": "main.py", "content": "x = 1\\n"}}')
    assert outcome.code == "ok"
    assert contents(tmp_path)["main.py"] == "x = 1\n"
