"""Commands, the check, questions to the user, and tools about tools."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.config.settings import VerificationSettings
from codur.structs import replace
from codur.tools.toolbox import Toolbox
from codur.types import Check
from tests.tools.conftest import toolbox_on


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        ("echo one | tr a-z A-Z && echo two >&2", "ok", "ONE\ntwo"),
        ("cat; exit 3", "ok", "in\nthe command ended with status 3"),
        ("no-such-program", "ok", None),
        ("  ", "invalid", "command must be a command line that is not empty"),
        ("sleep 60", "timeout", "the command ran longer than 2 s"),
    ],
)
def test_run_command(tmp_path: Path, command: str, code: str, text: str | None) -> None:
    toolbox = toolbox_on(tmp_path, timeout_s=2.0 if "sleep" in command else 60.0)
    result = toolbox.call("run_command", {"command": command, "stdin": "in\n"})
    assert result.code == code
    assert text is None or result.text == text
    assert text is not None or result.data["exit_status"] == 127


def test_a_command_changes_the_workspace(tmp_path: Path, toolbox: Toolbox) -> None:
    assert toolbox.call("run_command", {"command": "echo hi > out.txt"}).text == (
        "the command printed nothing: echo hi > out.txt"
    )
    assert (tmp_path / "out.txt").read_text() == "hi\n"


def test_run_check(tmp_path: Path, toolbox: Toolbox) -> None:
    assert toolbox.call("run_check", {}).code == "not_found"
    context = toolbox._context
    (tmp_path / "main.py").write_text("print(1)\n")
    checker = Checker(
        context.workspace,
        VerificationSettings(),
        CheckPrograms(context.workspace, context.launcher, python=sys.executable),
    )
    own = Toolbox(replace(context, check=checker.run_guarded))
    assert own.call("run_check", {}).text == "there is no check for this task; run a program or tests instead"
    checker.guard(Check(kind="command", argv=("grep", "-q", "2", "main.py"), source="asked for"))
    failed = own.call("run_check", {})
    assert (failed.code, failed.data["status"]) == ("ok", "failed")
    assert failed.text.startswith("failed: ")
    (tmp_path / "main.py").write_text("print(2)\n")
    assert own.call("run_check", {}).data["status"] == "passed"


def test_ask_user(toolbox: Toolbox) -> None:
    question = {"question": " Which one? ", "options": ["a", "b"]}
    refused = toolbox.call("ask_user", question)
    assert (refused.code, refused.text) == (
        "refused",
        "nobody can be asked here; decide from what is known, or say what is missing",
    )
    asked = []

    def ask(text: str, options: tuple[str, ...]) -> str:
        asked.append((text, options))
        return "b"

    own = Toolbox(replace(toolbox._context, ask=ask))
    result = own.call("ask_user", question)
    assert (result.text, result.data) == ("b", {"question": "Which one?", "answer": "b"})
    assert asked == [("Which one?", ("a", "b"))]
    assert own.call("ask_user", {"question": " "}).code == "invalid"
    assert own.call("ask_user", {"question": "x", "options": ["a", "a"]}).code == "invalid"


def test_list_tools(toolbox: Toolbox) -> None:
    every = toolbox.call("list_tools", {}).text.split("\n")
    assert len(every) == len(toolbox.names())
    assert "read_file (read): Read a text file, or some of its lines." in every
    some = toolbox.call("list_tools", {"task_type": "git"}).text
    assert "git_commit (write)" in some
    assert "read_data" not in some
    assert toolbox.call("list_tools", {"task_type": "x"}).text.startswith("'x' is no kind of task; there are code_fix")
    assert toolbox.call("tool_help", {"name": "read_file"}).text.split("\n") == [
        "read_file (read): Read a text file, or some of its lines.",
        "  path: File to read, relative to the workspace.",
        "  start_line: First line, counted from 1; the whole file if left out.",
        "  end_line: Last line, included.",
    ]
    absent = toolbox.call("tool_help", {"name": "x"})
    assert (absent.code, absent.text) == ("not_found", "there is no tool x; without a name all are listed")
