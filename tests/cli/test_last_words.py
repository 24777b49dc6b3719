"""A classification may end the matter, and finished work is never undone because words about it could not be had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.kit import codur_here, the_object
from tests.runs.kit import KEY, MEDIAN_RIGHT, NEEDS_MODEL, contents, fill
from tests.runs.test_plans import ASK_AGENT, CODING, plan, tool
from tests.support.groq_server import GroqServer, ServerReply, calls, error, json_reply, text

COPY = "bitte kopiere app.py nach b.py"
APP = {"app.py": "print('hello')\n"}
COPIED = {**APP, "b.py": APP["app.py"]}
SHIFT = "lege bitte eine Kopie von app.py als b.py an, danke dir"


def classified(task_type: str, action: str, **fields: Any) -> ServerReply:
    base = {"reasoning": "", "detected_files": [], "confidence": 0.9, "capability": "", "arguments": [], "answer": ""}
    return json_reply({**base, "task_type": task_type, "suggested_action": action, **fields})


def call_of(name: str, task_type: str = "file_operation", **arguments: str) -> ServerReply:
    given = [{"name": key, "value": value} for key, value in arguments.items()]
    return classified(task_type, "tool", capability=name, arguments=given)


class Ran:
    """A run, what it asked, and what it left behind."""

    def __init__(self, replies: list[ServerReply], project: Path, home: Path, *words: str, **more: Any) -> None:
        with GroqServer(replies) as server:
            given = {"providers": {"groq": {"api": "groq", "base_url": server.url}}, "repair": {"mode": "off"}}
            given |= {"verification": {"make_check": "never"}, "llm": {"max_attempts": 1}, **more}
            fill(home, {".config/codur/config.yaml": yaml.safe_dump(given)})
            ran = codur_here("run", *words, "--json", cwd=project, home=home, GROQ_API_KEY=KEY)
        self.result: dict[str, Any] = the_object(ran.out)
        self.bodies, self.code, self.unexpected = server.bodies, ran.code, server.unexpected
        self.nodes = [step["node"] for step in self.result["route"]]
        self.files = contents(project)


@pytest.mark.parametrize("prompt", [COPY, SHIFT])
def test_one_tool_call_is_all_that_a_file_operation_takes(prompt: str, project: Path, home: Path) -> None:
    fill(project, APP)
    ran = Ran([call_of("copy_file", source="app.py", target="b.py")], project, home, prompt)
    assert (ran.code, ran.unexpected, len(ran.bodies)) == (0, 0, 1), ran.result["route"]
    assert (ran.files, ran.result["changed_files"]) == (COPIED, ["b.py"])
    assert ran.result["answer"]


def test_a_greeting_that_no_rule_knows_is_answered_by_the_classification(project: Path, home: Path) -> None:
    fill(project, APP)
    answer = classified("greeting", "end", answer="Guten Tag! Was steht an?")
    ran = Ran([answer], project, home, "na, alles frisch bei dir heute?")
    assert (ran.code, ran.result["answer"], len(ran.bodies)) == (0, "Guten Tag! Was steht an?", 1)


def test_who_is_less_sure_than_that_is_not_taken_at_the_word(project: Path, home: Path) -> None:
    fill(project, APP)
    unsure = classified("greeting", "end", answer="Hi.", confidence=0.49)
    said = plan({"action": "respond", "arguments": [{"name": "text", "value": "Planned."}]})
    ran = Ran([unsure, said], project, home, "na, alles frisch bei dir heute?")
    assert (ran.code, ran.result["answer"], len(ran.bodies)) == (0, "Planned.", 2)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(call_of("delete_file", path="app.py"), id="deletes"),
        pytest.param(call_of("write_file", path="../b.py", content="x"), id="outside"),
        pytest.param(call_of("git_commit", task_type="git", message="x"), id="commits"),
        pytest.param(call_of("copy_file", task_type="code_fix", source="app.py", target="b.py"), id="code"),
    ],
)
def test_a_call_that_the_task_does_not_ask_for_is_not_made(reply: ServerReply, project: Path, home: Path) -> None:
    fill(project, APP)
    said = plan({"action": "respond", "arguments": [{"name": "text", "value": "No."}]})
    ran = Ran([reply, said], project, home, COPY)
    assert ran.files == APP


def test_a_call_that_changes_something_waits_for_the_approval_that_is_wanted(project: Path, home: Path) -> None:
    fill(project, APP)
    copy = call_of("copy_file", source="app.py", target="b.py")
    ran = Ran([copy], project, home, COPY, planning={"approval": "writes"})
    assert (ran.code, ran.files) == (5, APP)


def test_a_plan_that_ends_with_a_change_has_no_closing_call(project: Path, home: Path) -> None:
    fill(project, APP)
    steps = plan(tool("copy_file", source="app.py", target="b.py"))
    ran = Ran([classified("file_operation", "plan"), steps], project, home, COPY)
    assert (ran.code, ran.files, len(ran.bodies)) == (0, COPIED, 2), ran.result["route"]


@pytest.mark.parametrize(
    ("capability", "given", "command"),
    [("commit", {"staged": "true", "files": "a.py"}, "commit --staged"), ("undo", {}, "undo")],
)
def test_what_a_command_would_do_is_not_done_where_it_is_only_named(
    capability: str, given: dict[str, str], command: str, project: Path, home: Path
) -> None:
    fill(project, APP)
    named = [{"name": key, "value": value} for key, value in given.items()]
    reply = classified("git", "command", capability=capability, arguments=named)
    ran = Ran([reply], project, home, "na dann bitte eintragen, du weißt schon")
    assert (ran.code, ran.result["outcome"], ran.result["command"]) == (1, "not_achieved", command)
    assert ran.result["remedy"] == f"Run `codur {command}`"


@pytest.mark.parametrize("broken", [error(500), error(401), error(429, retry_after=9000)])
def test_words_that_cannot_be_had_undo_nothing(broken: ServerReply, project: Path, home: Path) -> None:
    fill(project, APP)
    steps = plan(tool("copy_file", source="app.py", target="b.py"), {**ASK_AGENT, "objective": "Say what was done."})
    replies = [classified("file_operation", "plan"), steps, *[broken] * 4]
    ran = Ran(replies, project, home, COPY)
    assert (ran.code, ran.result["outcome"], ran.files) == (0, "done", COPIED), ran.result["route"]
    assert any("is done; words about it could not be had" in note for note in ran.result["notes"]), ran.result["notes"]


def test_a_repair_that_passes_is_kept_when_the_closing_words_fail(project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    right = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}))
    steps = plan(CODING, ASK_AGENT)
    prompt = "read main.py, then fix it, then say what was wrong with it"
    ran = Ran([steps, right, *[error(500)] * 4], project, home, prompt)
    assert (ran.code, ran.result["outcome"], ran.result["changed_files"]) == (0, "done", ["main.py"])
    assert ran.result["solved_by"] == "codur-coding"


def test_an_answer_that_is_all_that_is_wanted_is_still_missing(project: Path, home: Path) -> None:
    fill(project, APP)
    steps = plan(tool("read_file", path="app.py"), ASK_AGENT)
    planned = classified("explanation", "plan")
    ran = Ran([planned, steps, *[error(401)] * 4], project, home, "what would app.py print in a French locale?")
    assert (ran.code, ran.files) == (3, APP)


def test_a_change_without_its_words_is_no_end_where_the_check_is_red(project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    steps = plan(tool("copy_file", source="main.py", target="b.py"), ASK_AGENT)
    prompt = "read main.py, then fix it, then say what was wrong with it"
    ran = Ran([steps, *[error(401)] * 4], project, home, prompt)
    assert (ran.code, ran.files) != (0, NEEDS_MODEL)
    assert ran.code != 0
    assert ran.files == NEEDS_MODEL


def test_a_question_of_the_coding_agent_is_no_attempt_where_nobody_can_be_asked(project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    right = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}))
    ran = Ran([text("Which median do you mean?"), right], project, home, "fix main.py")
    assert (ran.code, ran.result["iterations"], ran.result["attempts"], ran.unexpected) == (0, 1, [], 0)
    assert "Nobody can answer that now" in str(ran.bodies[1]["messages"][-1]["content"])
    ran = Ran(
        [text("Which median?"), text("Which one?")], fill_again(project), home, "fix main.py", "--max-iterations", "1"
    )
    assert (len(ran.bodies), ran.unexpected, ran.result["iterations"]) == (2, 0, 1)


def test_a_question_that_is_put_by_its_tool_ends_the_run_where_nobody_can_be_asked(project: Path, home: Path) -> None:
    fill(project, NEEDS_MODEL)
    ran = Ran([calls(("ask_user", {"question": "Which median?"}))], project, home, "fix main.py")
    assert (ran.code, ran.result["answer"], ran.result["iterations"]) == (1, "Which median?", 0)
    assert ran.nodes[-3:] == ["coding", "consult", "review"]


def fill_again(project: Path) -> Path:
    return fill(project, NEEDS_MODEL)


def test_a_yes_to_the_question_that_ended_a_task_carries_it_out(project: Path, home: Path) -> None:
    test = "from main import two\n\n\ndef test_two():\n    assert two() == 2\n"
    fill(project, {"main.py": "def two():\n    return 2\n", "test_main.py": test})
    edit = classified("code_fix", "edit", detected_files=["main.py"])
    asks = calls(("ask_user", {"question": "test_main.py expects 2. May I change test_main.py, too?"}))
    ran = Ran([edit, asks], project, home, "two() in main.py should give 3")
    assert (ran.code, ran.result["outcome"]) == (1, "not_achieved")
    both = calls(
        ("replace_in_file", {"path": "main.py", "old": "return 2", "new": "return 3"}),
        ("replace_in_file", {"path": "test_main.py", "old": "== 2", "new": "== 3"}),
    )
    ran = Ran([edit, both], project, home, "--continue", "yes, you may")
    assert (ran.code, ran.unexpected, ran.files["test_main.py"]) == (0, 0, test.replace("== 2", "== 3")), ran.result
