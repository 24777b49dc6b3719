"""Steps whose tool is decided when they are reached: by code, by one small call, or left open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.events import ToolChosen
from codur.questions import Answer, Question
from codur.structs import replace
from codur.types import Plan, Step
from tests.runs.kit import NEEDS_MODEL, Played, play
from tests.runs.test_plans import CODING, RIGHT, USELESS, WORSE, classified, plan, tool
from tests.support.groq_server import ServerReply, json_reply, text

FILES = {"main.py": "def one():\n    return 1\n\n\nprint(one())\n", "notes.txt": "one\n"}
FIND = Step(id="find", action="tool", capability="find_definition", arguments={"name": "one"})
LIST = Step(id="list", action="tool", capability="list_files", arguments={"pattern": "*.txt"})
NEXT = Step(id="next", action="tool", decide="guided", objective="Read on.")
PROMPT = "where is one made?"


def chosen(name: str, **arguments: str) -> ServerReply:
    return json_reply({"tool": name, "arguments": [{"name": key, "value": value} for key, value in arguments.items()]})


def carried_out(directory: Path, *steps: Step, replies: Any = (), **given: Any) -> Played:
    return play(directory, FILES, PROMPT, list(replies), plan=Plan(steps=steps, origin="user"), **given)


def decisions(run: Played) -> list[ToolChosen]:
    return [event for event in run.events if isinstance(event, ToolChosen)]


def test_one_tool_that_fits_and_is_known_whole_is_run_without_a_call(tmp_path: Path) -> None:
    run = carried_out(tmp_path, LIST, replace(NEXT, max_candidates=1))
    (choice,) = decisions(run)
    assert (run.result.exit_code, len(run.requests)) == (0, 0), run.result.reason
    assert (choice.tier, choice.by, choice.tokens, choice.settled) == ("deterministic", "code", 0, True)
    assert [record.capability for record in run.result.records] == ["list_files", choice.choice]
    assert choice.scores == (1.0,)
    assert run.nodes == ["pattern_plan", "policy", "tool", "review", "policy", "choose", "policy", "tool", "review"]
    assert run.result.records[1].tier == "deterministic"


def test_a_few_are_one_small_call_with_these_alone(tmp_path: Path) -> None:
    run = carried_out(tmp_path, FIND, replace(NEXT, max_candidates=3), replies=[chosen("find_usages")])
    (choice,) = decisions(run)
    (request,) = run.requests
    body, asked = request.body, run.message(0)
    assert run.result.exit_code == 0, run.result.reason
    assert (choice.after, choice.tier, choice.by, choice.choice) == (
        "find_definition",
        "guided",
        "model",
        "find_usages",
    )
    assert len(choice.candidates) == len(choice.scores) == 3
    assert choice.tokens == run.result.usage.total_tokens == 120
    assert [row.partition("(")[0] for row in asked.splitlines() if row.startswith("- ")] == [
        f"- {name}" for name in choice.candidates
    ]
    assert "tools" not in body
    assert "Read on." in asked
    assert "main.py" in asked
    (decided,) = [step for step in run.result.route if step.node == "choose"]
    assert (decided.tier, decided.origin) == ("guided", "user")
    assert "find_usages: chosen of 3 (" in decided.reason
    assert decided.reason.endswith("; 120 tokens")
    assert [(record.capability, record.code, record.tier) for record in run.result.records][1] == (
        "find_usages",
        "ok",
        "guided",
    )


def test_the_model_gives_what_is_not_known(tmp_path: Path) -> None:
    step = replace(NEXT, fallback_tool="list_files")
    run = carried_out(tmp_path, LIST, step, replies=[chosen("grep_files", pattern="one", path="notes.txt")])
    assert run.result.records[1].capability == "grep_files"
    assert "notes.txt:1" in run.result.answer


@pytest.mark.parametrize(
    "reply", [chosen("none"), chosen("delete_everything"), text("I would grep."), chosen("grep_files")]
)
def test_no_usable_answer_takes_the_fallback(reply: ServerReply, tmp_path: Path) -> None:
    step = replace(NEXT, fallback_tool="list_dirs")
    run = carried_out(tmp_path, LIST, step, replies=[reply])
    (choice,) = decisions(run)
    assert (choice.tier, choice.by, choice.choice) == ("guided", "fallback", "list_dirs")
    assert (run.result.records[1].capability, run.result.exit_code) == ("list_dirs", 0)


def test_without_a_model_the_fallback_is_taken_with_the_arguments_of_the_step(tmp_path: Path) -> None:
    step = replace(NEXT, fallback_tool="grep_files", arguments={"pattern": "one"})
    run = carried_out(tmp_path, LIST, step, key=None)
    assert (run.result.records[1].capability, run.result.exit_code) == ("grep_files", 0)


def test_where_nothing_fits_an_agent_has_all_of_its_tools(tmp_path: Path) -> None:
    step = replace(NEXT, min_compatibility=1.0, max_candidates=3)
    run = carried_out(tmp_path, FIND, step, replies=[chosen("none"), text("In main.py.")])
    (choice,) = decisions(run)
    assert (choice.tier, choice.by, choice.choice) == ("open", "fallback", "")
    assert run.requests[1].body["tools"]
    assert run.result.records[1].action == "delegate"
    assert run.result.answer == "In main.py."


def test_settings_say_how_it_is_decided(tmp_path: Path) -> None:
    tools = {"max_candidates": 2, "decision_prompt": "What now?", "fallback_tool": "list_dirs"}
    run = carried_out(tmp_path, FIND, NEXT, replies=[chosen("none")], sections={"tools": tools})
    (choice,) = decisions(run)
    assert (len(choice.candidates), choice.choice) == (2, "list_dirs")
    assert "What now?\n- " in run.message(0)
    own = replace(NEXT, max_candidates=4, decision_prompt="And now?", fallback_tool="list_files")
    run = carried_out(tmp_path, FIND, own, replies=[chosen("none")], sections={"tools": tools})
    (choice,) = decisions(run)
    assert (len(choice.candidates), choice.choice) == (4, "list_files")
    assert "And now?\n- " in run.message(0)


def test_what_is_promoted_needs_no_call(tmp_path: Path) -> None:
    tools = {"promote": ("find_definition > find_usages",)}
    run = carried_out(tmp_path, FIND, NEXT, sections={"tools": tools})
    (choice,) = decisions(run)
    assert (choice.tier, choice.by, choice.choice) == ("deterministic", "code", "find_usages")
    assert len(choice.candidates) > 1
    assert (len(run.requests), run.result.exit_code) == (0, 0)


def test_a_choice_that_changes_files_is_approved_of_like_any_other_step(tmp_path: Path) -> None:
    asked: list[Question] = []

    def user(question: Question) -> Answer:
        asked.append(question)
        return Answer(decision="approve")

    step = replace(NEXT, arguments={"path": "new.txt"}, min_compatibility=0.0, max_candidates=60)
    run = play(
        tmp_path,
        FILES,
        "write a file new.txt",
        [chosen("write_file", content="1\n")],
        plan=Plan(steps=(LIST, step), origin="user"),
        sections={"planning": {"approval": "writes"}},
        consult=user,
    )
    (question,) = asked
    assert question.plan is not None
    assert [(item.capability, item.arguments) for item in question.plan.steps] == [
        ("write_file", {"path": "new.txt", "content": "1\n"})
    ]
    assert run.files["new.txt"] == "1\n"


def test_a_planner_can_leave_a_tool_open(tmp_path: Path) -> None:
    first = {**tool("find_definition"), "id": "find", "arguments": [{"name": "name", "value": "one"}]}
    open_step = {**tool(""), "id": "next"}
    say = {
        **tool(""),
        "id": "say",
        "action": "respond",
        "capability": "",
        "arguments": [{"name": "text", "value": "${next}"}],
    }
    sure = classified(task_type="explanation", suggested_action="plan", confidence=0.5)
    run = play(tmp_path, FILES, "what is one for?", [sure, plan(first, open_step, say), chosen("find_usages")])
    assert [record.capability for record in run.result.records] == ["find_definition", "find_usages"]
    assert (run.result.exit_code, run.unexpected) == (0, 0)


def test_a_step_without_one_before_it_cannot_be_decided(tmp_path: Path) -> None:
    run = carried_out(tmp_path, NEXT)
    assert run.result.exit_code == 2
    assert "there is no step before it whose output could decide" in run.result.reason


ANEW = [
    classified(suggested_action="edit", confidence=0.95),
    USELESS,
    WORSE,
    plan(tool("read_file", path="main.py"), CODING),
    RIGHT,
]


def test_a_retry_says_that_it_is_one(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [ANEW[0], USELESS, RIGHT])
    (again,) = [step for step in run.result.route if step.node == "llm_plan"]
    assert (again.origin, again.tier) == ("retry", "deterministic")
    assert [record.origin for record in run.result.records] == ["pre_plan", "retry"]


@pytest.mark.parametrize("readable", [True, False])
def test_a_single_edit_that_failed_in_two_ways_may_be_planned_anew(readable: bool, tmp_path: Path) -> None:
    replies = ANEW if readable else [*ANEW[:3], *[text("hm")] * 3, RIGHT]
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", replies, sections={"planning": {"replan_edits": True}})
    assert (run.result.outcome, run.unexpected) == ("done", 0), run.result.reason
    origins = [step.origin for step in run.result.route if step.node == "llm_plan"]
    assert origins == ["retry", "plan" if readable else "retry"]
    made = [record.capability for record in run.result.records]
    assert made[2:] == (["read_file", "codur-coding"] if readable else ["codur-coding"])
