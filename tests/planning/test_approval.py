"""What the user is told that a plan will do, and what an approval covers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from codur.config.settings import PlanningSettings
from codur.planning.approval import Means, covers, effects_of, needs_approval
from codur.questions import PlanEffects
from codur.tools.catalogue import all_tools
from codur.types import Plan, Step
from codur.ui.shown.plans import plan_lines

TOOLS = {tool.name: tool.side_effect for tool in all_tools()}
MEANS = Means(
    tools=TOOLS,
    edits=lambda step: step.action in {"coding", "repair"} or TOOLS.get(step.capability) == "write",
    delegates=lambda step: "codex exec" if step.capability == "codex" else "",
    attempts=10,
    agent_steps=5,
    check=lambda step: "python main.py" if step.action == "coding" else "",
)


def effects(*steps: Step) -> PlanEffects:
    return effects_of(Plan(steps=steps, origin="plan"), MEANS)


def tool(name: str, /, **arguments: Any) -> Step:
    return Step(id=name, action="tool", capability=name, arguments=arguments)


def shown(*steps: Step) -> str:
    plan = Plan(steps=steps, origin="plan")
    return "\n".join(line.text for line in plan_lines(plan, effects_of(plan, MEANS)))


@pytest.mark.parametrize(
    ("name", "arguments", "command"),
    [
        ("run_python_file", {"path": "main.py"}, "python main.py"),
        ("run_python_file", {"path": "a b.py", "args": ["-x", "1"]}, "python 'a b.py' -x 1"),
        ("run_python_file", {"path": "${found.files[0]}"}, "python ${found.files[0]}"),
        ("run_pytest", {"paths": ["test_a.py", "test_b.py::test_c"]}, "pytest test_a.py test_b.py::test_c"),
        ("run_pytest", {}, "pytest"),
        ("run_command", {"command": "make | tail -1"}, "make | tail -1"),
        ("run_check", {}, "the check"),
        ("call_mcp_tool", {"tool": "mcp__db__query", "arguments": {}}, "mcp__db__query"),
        (
            "call_mcp_tool",
            {"tool": "mcp__db__query", "arguments": {"b": 1, "a": "x"}},
            'mcp__db__query {"a": "x", "b": 1}',
        ),
        ("list_mcp_tools", {}, "list_mcp_tools"),
        ("read_mcp_resource", {"server": "db", "uri": "db://a"}, "read_mcp_resource db db://a"),
        ("run_command", {"command": "sort", "stdin": "b a"}, "sort <<< 'b a'"),
        ("run_python_file", {"path": "main.py", "stdin": "${read}"}, "python main.py <<< ${read}"),
    ],
)
def test_each_program_is_told_as_a_person_would_type_it(name: str, arguments: Mapping[str, Any], command: str) -> None:
    found = effects(tool(name, **arguments))
    assert (found.kinds, found.commands) == (("run",), (command,))
    assert f"runs: {command}" in shown(tool(name, **arguments))


def test_every_tool_that_runs_something_is_told() -> None:
    for name, effect in MEANS.tools.items():
        found = effects(tool(name))
        assert ("run" in found.kinds, bool(found.commands)) == ((effect == "run",) * 2)


def test_a_long_command_is_shown_to_its_end_and_many_are_counted() -> None:
    long = "echo " + "x" * 200 + " && rm -rf build"
    assert long in shown(tool("run_command", command=long))
    many = [
        Step(id=f"s{n}", action="tool", capability="run_command", arguments={"command": f"echo {n}"}) for n in range(9)
    ]
    assert "runs: 3 more, see the steps" in shown(*many)


def test_the_check_is_told() -> None:
    text = shown(Step(id="fix", action="coding"))
    assert "checked by: python main.py" in text
    assert "changes: files that its steps choose" in text
    assert "checked by" not in shown(tool("read_file", path="a.py"))
    assert "changes nothing and runs nothing" in shown(tool("read_file", path="a.py"))


def test_an_approval_covers_no_other_program_file_or_effect() -> None:
    approved = effects(tool("run_command", command="make"), tool("write_file", path="a.txt", content=""))
    assert covers(approved, approved)
    assert covers(approved, effects(tool("write_file", path="a.txt", content="b")))
    assert covers(approved, effects(tool("read_file", path="b.txt")))
    assert not covers(approved, effects(tool("run_command", command="make clean")))
    assert not covers(approved, effects(tool("write_file", path="b.txt", content="")))
    assert not covers(approved, effects(tool("fetch_webpage", url="https://example.org")))
    assert not covers(None, effects(tool("read_file", path="b.txt")))
    assert covers(effects(Step(id="fix", action="coding")), effects(tool("write_file", path="b.txt", content="")))


PATCH = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("approved", "then"),
    [
        (tool("write_file", path="a.txt", content=""), tool("apply_patch", patch=PATCH.format("b.txt"))),
        (tool("apply_patch", patch=PATCH.format("a.txt")), tool("apply_patch", patch=PATCH.format("b.txt"))),
        (tool("apply_patch", patch=PATCH.format("a.txt")), tool("apply_patch", patch="${made}")),
        (tool("write_file", path="a.txt", content=""), tool("apply_patch", patch="no patch")),
        (tool("write_file", path="a.py", content=""), tool("rename_symbol", path="a.py", name="f", new_name="g")),
        (tool("write_file", path="a.txt", content=""), tool("write_file", path="${found.files[0]}", content="")),
        (tool("write_file", path="a.txt", content=""), tool("move_file", source="a.txt", target="${found}")),
        (tool("fetch_webpage", url="https://a.example"), tool("fetch_webpage", url="https://b.example")),
        (tool("fetch_webpage", url="${found}"), tool("fetch_webpage", url="${found}")),
        (tool("duckduckgo_search", query="a"), tool("duckduckgo_search", query="b")),
        (
            tool("call_mcp_tool", tool="mcp__db__run", arguments={"sql": "select"}),
            tool("call_mcp_tool", tool="mcp__db__run", arguments={"sql": "drop"}),
        ),
        (tool("run_command", command="sh", stdin="ls"), tool("run_command", command="sh", stdin="rm -r .")),
        (tool("run_command", command="${found}"), tool("run_command", command="${found}")),
    ],
)
def test_an_approval_covers_nothing_that_was_not_shown(approved: Step, then: Step) -> None:
    assert not covers(effects(approved), effects(then))


def test_the_files_of_a_patch_and_those_that_a_step_chooses_are_told() -> None:
    given = tool("apply_patch", patch=PATCH.format("b.txt"))
    assert "changes: b.txt" in shown(given)
    assert covers(effects(given), effects(given))
    assert "changes: files that its steps choose" in shown(tool("apply_patch", patch="${made}"))
    assert "changes: a.py and files that its steps choose" in shown(tool("rename_symbol", path="a.py"))
    assert "changes: files that its steps choose" in shown(tool("write_file", path="${found}"))


def test_what_is_asked_of_the_network_is_told() -> None:
    assert "asks the network: https://a.example" in shown(tool("fetch_webpage", url="https://a.example"))
    many = [Step(id=f"s{n}", action="tool", capability="fetch_webpage", arguments={"url": f"u{n}"}) for n in range(9)]
    assert "asks the network: 3 more" in shown(*many)


@pytest.mark.parametrize(
    ("settings", "step", "asks"),
    [
        (PlanningSettings(), Step(id="fix", action="coding"), False),
        (PlanningSettings(approval="writes"), Step(id="fix", action="coding"), True),
        (PlanningSettings(approval="writes"), tool("run_command", command="make"), False),
        (PlanningSettings(approval="always"), tool("read_file", path="a"), True),
        (PlanningSettings(approve=("write",)), tool("write_file", path="a"), True),
        (PlanningSettings(approve=("run",)), tool("run_command", command="make"), True),
        (PlanningSettings(approve=("run",)), tool("write_file", path="a"), False),
        (PlanningSettings(approve=("network",)), tool("fetch_webpage", url="u"), True),
        (PlanningSettings(approve=("git",)), tool("git_commit", message="m"), True),
        (PlanningSettings(approve=("delegate",)), Step(id="d", action="delegate", capability="codex"), True),
        (PlanningSettings(approve=("delegate",)), Step(id="d", action="delegate", capability="reader"), False),
    ],
)
def test_who_is_asked_about_what(settings: PlanningSettings, step: Step, asks: bool) -> None:
    assert needs_approval(effects(step), settings, asked_for=False) == asks
    assert needs_approval(effects(step), settings, asked_for=True)
