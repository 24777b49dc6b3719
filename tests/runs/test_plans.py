"""Whole runs over plans and agents: what may call itself done, who edits, how a run ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from codur.config.settings import AgentConfig, AgentPreferences, AgentSettings, Settings
from codur.structs import replace
from codur.types import Limits, Origin, Plan, Step
from tests.runs.kit import EDIT, MEDIAN_ODD_ONLY, MEDIAN_RIGHT, NEEDS_MODEL, REPAIRABLE, Played, play
from tests.support.groq_server import ServerReply, calls, error, json_reply, text

FIX = "main.py is wrong"
RIGHT = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}))


def median(body: str) -> ServerReply:
    code = f"def median(values):\n    {body}\n"
    return calls(("replace_function", {"path": "main.py", "name": "median", "code": code}))


USELESS = median("return 0")
WORSE = median("return -1")
WRONG = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_ODD_ONLY}))
ONCE = Limits(max_iterations=1)


def classified(**fields: Any) -> ServerReply:
    value = {
        "reasoning": "r",
        "task_type": "code_fix",
        "detected_files": ["main.py"],
        "suggested_action": "plan",
        "confidence": 0.9,
    }
    return json_reply({**value, **fields})


EXPLAIN = classified(task_type="explanation", suggested_action="explain")


def plan(*steps: dict[str, Any]) -> ServerReply:
    empty = {
        "capability": "",
        "objective": "",
        "expected_output": "",
        "success_criteria": "",
        "inputs": [],
        "arguments": [],
    }
    return json_reply(
        {"reasoning": "r", "steps": [{**empty, "id": f"s{number}", **step} for number, step in enumerate(steps)]}
    )


def tool(name: str, **arguments: str) -> dict[str, Any]:
    given = [{"name": key, "value": value} for key, value in arguments.items()]
    return {"action": "tool", "capability": name, "arguments": given}


CODING = {"action": "coding", "capability": "codur-coding"}
SAY = {"action": "respond", "capability": "", "arguments": [{"name": "text", "value": "Fixed it!"}]}
ASK_AGENT = {"action": "delegate", "capability": "codur-explaining"}


def unchanged(run: Played) -> bool:
    return run.files == NEEDS_MODEL and run.result.changed_files == ()


@pytest.mark.parametrize("last", [SAY, ASK_AGENT, tool("run_python_file", path="main.py")])
def test_an_edit_is_judged_whatever_step_follows(last: dict[str, Any], tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [classified(), plan(CODING, last), WRONG], limits=ONCE)
    assert (run.result.outcome, run.result.exit_code, run.result.iterations) == ("limit", 4, 1)
    assert unchanged(run)


def test_a_right_edit_goes_on_to_the_last_word(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [classified(), plan(CODING, SAY), RIGHT])
    assert (run.result.outcome, run.result.solved_by, run.result.answer) == ("done", "codur-coding", "Fixed it!")
    assert run.result.verdict is not None
    assert run.result.verdict.passed


def test_words_alone_do_not_fix_anything(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [classified(), plan(SAY)])
    assert (run.result.outcome, run.result.exit_code) == ("not_achieved", 1)
    assert (run.result.reason, run.result.answer) == ("the check does not pass", "Fixed it!")


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("pytest.ini", "[pytest]\npython_files = nothing_*\n"),
        ("setup.cfg", "[tool:pytest]\naddopts = -k nothing\n"),
        ("conftest.py", "def pytest_collection_modifyitems(items):\n    items.clear()\n"),
        ("app.py", "import pytest\n\npytest.skip(allow_module_level=True)\n"),
    ],
)
def test_hiding_the_tests_is_no_success(path: str, content: str, tmp_path: Path) -> None:
    files = {
        "app.py": "def double(x):\n    return x\n",
        "test_app.py": (
            "from app import double\n\n\ndef test_a():\n    assert double(2) == 4\n\n\ndef test_b():\n    pass\n"
        ),
    }
    cheat = calls(("replace_file_content", {"path": path, "content": content}))
    run = play(tmp_path, files, "fix app.py", [EDIT, cheat], limits=ONCE)
    assert run.result.outcome != "done"
    assert run.files == files


def test_the_expected_output_cannot_be_deleted_by_a_plan(tmp_path: Path) -> None:
    unknown = classified(task_type="unknown")
    steps = plan(tool("delete_file", path="expected.txt"), SAY)
    run = play(tmp_path, NEEDS_MODEL, "main.py has medians", [unknown, steps], limits=ONCE)
    assert run.result.outcome != "done"
    assert unchanged(run)


SPLIT = {
    "sums.py": "def total(numbers):\n    return sum(numbers)\n",
    "main.py": "import sums\nprint(sums.total([1]))\n",
}


@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize(("new", "outcome"), [("all_of", "done"), ("sum", "limit")])
def test_what_a_program_changes_is_judged_as_an_edit_is(new: str, outcome: str, watched: bool, tmp_path: Path) -> None:
    files = {**SPLIT, "expected.txt": "1\n"}
    code = f"[p.write_text(p.read_text().replace('total', '{new}')) for p in map(pathlib.Path, ['sums.py', 'main.py'])]"
    renames = plan(tool("run_command", command=f'python -c "import pathlib; {code}"'), SAY)
    refactor = classified(task_type="refactor", suggested_action="plan")
    place = tmp_path / "state" if watched else None
    prompt = "rename total everywhere in the program"
    run = play(tmp_path, files, prompt, [refactor, renames], limits=ONCE, state=place)
    assert (run.result.outcome, new in run.files["main.py"]) == (outcome, True), run.result.reason
    before, after = run.result.before, run.result.verdict
    assert before is not None
    assert after is not None
    assert (after.passed, after.duration_s != before.duration_s) == (outcome == "done", True)
    assert not watched or run.result.changed_files == ("main.py", "sums.py")


def test_a_green_program_is_never_left_red(tmp_path: Path) -> None:
    files = {"main.py": "print('a')\n", "expected.txt": "a\n"}
    breaking = calls(("replace_file_content", {"path": "main.py", "content": "print('b')\n"}))
    run = play(tmp_path, files, "refactor main.py into a function", [EDIT, breaking], limits=ONCE, keep=True)
    assert run.result.outcome == "limit"
    assert run.files == files


def test_edits_of_earlier_steps_go_with_a_later_failure(tmp_path: Path) -> None:
    first = calls(("replace_file_content", {"path": "extra.py", "content": "x = 1\n"}))
    run = play(tmp_path, NEEDS_MODEL, FIX, [classified(), plan(CODING, CODING), first, text("no")], limits=ONCE)
    assert run.result.outcome == "limit"
    assert unchanged(run)


@pytest.mark.parametrize("right", [True, False])
def test_but_what_loses_nothing_stays_and_is_gone_on_from(right: bool, tmp_path: Path) -> None:
    files = {"main.py": "print('a')\n", "expected.txt": "a\n"}
    first = calls(("replace_file_content", {"path": "extra.py", "content": "x = 1\n"}))
    last = calls(("replace_file_content", {"path": "main.py", "content": "print('a', end='\\n')\n"}))
    rest = (plan(CODING), last if right else text("no"))
    said = [classified(task_type="refactor"), plan(CODING, CODING), first, text("no"), *rest]
    run = play(tmp_path, files, "split main.py and tidy it", said, limits=Limits(max_iterations=2))
    assert (run.result.outcome, run.files["extra.py"]) == ("done" if right else "limit", "x = 1\n"), run.result
    assert "stays in place (extra.py)" in run.message(4)
    assert any("what the steps before did stays" in note for note in run.result.notes)


def test_at_a_limit_what_was_done_till_then_stays_if_it_loses_nothing(tmp_path: Path) -> None:
    files = {"main.py": "print('a')\n", "expected.txt": "a\n"}
    first = calls(("replace_file_content", {"path": "extra.py", "content": "x = 1\n"}))
    said = [classified(task_type="refactor"), plan(CODING, CODING), first]
    run = play(tmp_path, files, "split main.py and tidy it", said, limits=Limits(max_llm_calls=3))
    assert (run.result.outcome, run.result.changed_files) == ("limit", ("extra.py",)), run.result.reason
    assert any("what the steps before did stays" in note for note in run.result.notes)


def test_what_is_said_beside_each_step_is_told(tmp_path: Path) -> None:
    first = calls(("replace_file_content", {"path": "extra.py", "content": "x = 1\n"}), content="One is there.")
    second = calls(("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}), content="It is.")
    steps = plan(CODING, CODING, tool("delete_file", path="extra.py"))
    run = play(tmp_path, NEEDS_MODEL, f"{FIX}, and delete extra.py", [classified(), steps, first, second])
    assert (run.result.outcome, run.result.solved_by) == ("done", "codur-coding"), run.result
    said = [note for note in run.result.notes if note.startswith("the model says: ")]
    assert said == ["the model says: One is there.", "the model says: It is."]


def test_a_file_that_a_step_made_is_absent_no_more(tmp_path: Path) -> None:
    files = {"main.py": "print('a')\n", "expected.txt": "a\n"}
    first = calls(("replace_file_content", {"path": "docs/new.md", "content": "It prints.\n"}))
    last = calls(("replace_file_content", {"path": "main.py", "content": "print('a', end='\\n')\n"}))
    said = [classified(task_type="refactor"), plan(CODING, CODING), first, last]
    run = play(tmp_path, files, "split main.py and describe it in new.md", said)
    assert run.result.outcome == "done"
    assert ["but absent: new.md" in run.message(number) for number in (2, 3)] == [True, False]


def test_a_failing_program_is_something_to_know_not_a_failed_attempt(tmp_path: Path) -> None:
    steps = plan(tool("run_python_file", path="main.py"), {**CODING, "inputs": ["s0"]})
    run = play(tmp_path, NEEDS_MODEL, FIX, [classified(), steps, RIGHT])
    assert (run.result.outcome, run.result.iterations) == ("done", 1)
    assert "NotImplementedError" in run.message(2).split("# Result of step s0")[1]


def test_what_was_found_in_the_files_that_a_step_names_is_shown(tmp_path: Path) -> None:
    def source(name: str, full: tuple[int, ...]) -> str:
        lines = "    size += 1  # one more of what is in the box\n" * 40
        ends = (f"    raise Full('{name}')\n" if n in full else "    return size\n" for n in range(20))
        return "\n\n".join(f"def {name}_{n}(size):\n{lines}{end}" for n, end in enumerate(ends))

    files = {"stock/alpha.py": source("alpha", (11, 14, 17)), "stock/zeta.py": source("zeta", tuple(range(8)))}
    found = tool("grep_files", pattern="raise Full")
    step = {**CODING, "objective": "In stock/alpha.py, say what is full.", "inputs": ["s0"]}
    run = play(tmp_path, NEEDS_MODEL | files, FIX, [classified(), plan(found, step), RIGHT])
    shown = run.message(2).partition("# Result of step s0")[0]
    assert [n for n in (11, 14, 17) if f"def alpha_{n}(size)" in shown] == [11, 14, 17]


def test_a_program_that_the_user_runs_and_that_fails_is_exit_1(tmp_path: Path) -> None:
    run = play(tmp_path, {"main.py": "print('a')\nraise SystemExit(3)\n"}, "run main.py", [])
    assert (run.result.outcome, run.result.exit_code) == ("not_achieved", 1)
    assert "a" in run.result.answer


LOST_COMMIT = "echo fatal: no >&2; exit 128"
ENDED = f"the command `{LOST_COMMIT}` ended with status 128"
AS_TOOL = classified(
    task_type="git",
    suggested_action="tool",
    capability="run_command",
    arguments=[{"name": "command", "value": LOST_COMMIT}],
)
FOLLOWED = (tool("run_command", command=LOST_COMMIT), {**SAY, "inputs": ["s0"]})


IN_WORDS = text("There is no release.")


@pytest.mark.parametrize(
    ("replies", "answer"),
    [
        ([AS_TOOL], "fatal: no\nthe command ended with status 128"),
        ([classified(task_type="git"), plan(FOLLOWED[0]), IN_WORDS], "There is no release."),
        ([classified(task_type="git"), plan(*FOLLOWED)], "Fixed it!"),
    ],
)
def test_a_command_that_fails_is_no_success(replies: list[ServerReply], answer: str, tmp_path: Path) -> None:
    run = play(tmp_path, {"notes.txt": "milk\n"}, "tag this as the release", replies)
    assert (run.result.outcome, run.result.exit_code, run.result.reason) == ("not_achieved", 1, ENDED)
    assert run.result.answer == answer


@pytest.mark.parametrize(
    "prompt",
    [
        "tag this when the build is done",
        "tag this and see that it works",
        "tag this after a look at the log",
        "find the release and tag it",
        "tag ./check",
    ],
)
def test_a_chance_word_asks_nothing(prompt: str, tmp_path: Path) -> None:
    run = play(tmp_path, {"notes.txt": "milk\n"}, prompt, [AS_TOOL])
    assert (run.result.outcome, run.result.reason) == ("not_achieved", ENDED)


def test_the_plan_that_was_sent_back_and_what_failed_are_told(tmp_path: Path) -> None:
    printed = "for n in $(seq 2000); do echo line $n; done; echo '# no rights' >&2; exit 3"
    first = {**tool("run_command", command=printed), "success_criteria": "exit status 0", "id": "tag"}
    replies = [classified(task_type="git"), plan(first, {**SAY, "inputs": ["tag"]}), plan(SAY)]
    run = play(tmp_path, {}, "tag this", replies)
    told = run.message(2)
    assert "\n\n# Your last plan was sent back\nstep tag failed: not met: exit status 0. Nothing was done yet." in told
    assert f'- tag: tool run_command {{"command": "{printed}"}}; must hold: exit status 0\n- s1: respond' in told
    assert "    line 2000\n    # no rights\n    the command ended with status 3" in told
    assert "line 1000" not in told
    assert "these outputs" not in told


def test_however_much_it_printed(tmp_path: Path) -> None:
    loud = f"yes | head -c 60000; {LOST_COMMIT}"
    run = play(
        tmp_path, {}, "tag this", [classified(task_type="git"), plan(tool("run_command", command=loud)), IN_WORDS]
    )
    assert run.result.reason == f"the command `{loud}` ended with status 128"


USED = {**tool("run_command", command="echo ${s0}"), "inputs": ["s0"]}
FORESEEN = {**FOLLOWED[0], "success_criteria": "exit status 128"}


@pytest.mark.parametrize(
    ("prompt", "replies"),
    [
        ("run the linter and tell me what fails", [AS_TOOL]),
        ("run the linter over src", [AS_TOOL]),
        ("is there a release?", [classified(task_type="git"), plan(*FOLLOWED)]),
        ("the release", [classified(task_type="explanation"), plan(*FOLLOWED)]),
        ("tag this as the release", [classified(task_type="git"), plan(FOLLOWED[0], USED), IN_WORDS]),
        ("tag this as the release", [classified(task_type="git"), plan(FORESEEN), IN_WORDS]),
    ],
)
def test_where_its_status_is_the_answer_it_is_one(prompt: str, replies: list[ServerReply], tmp_path: Path) -> None:
    run = play(tmp_path, {"notes.txt": "milk\n"}, prompt, replies)
    assert (run.result.outcome, run.result.exit_code) == ("done", 0), run.result.reason


def test_half_an_answer_is_not_applied(tmp_path: Path) -> None:
    half = calls(
        ("replace_function", {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}),
        ("replace_in_file", '{"path": "main.py", "old": '),
    )
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, half, RIGHT])
    assert (run.result.outcome, run.result.model_calls, run.result.iterations) == ("done", 3, 2)


# --- agents -----------------------------------------------------------------------------------------------------------


def agents(**preferences: Any) -> dict[str, Any]:
    reviewer = AgentConfig(prompt="You review code. Name what is risky.", tools=("read_file",))
    return {
        "configs": {**AgentSettings().configs, "reviewer": reviewer},
        "preferences": structs.replace(AgentPreferences(), **preferences),
    }


def test_an_agent_with_its_prompt_written_out_answers_questions(tmp_path: Path) -> None:
    sections = {"agents": agents(routing={"explanation": "agent:reviewer"})}
    replies = [EXPLAIN, text("Nothing is risky.")]
    run = play(tmp_path, NEEDS_MODEL, "what is risky in main.py?", replies, sections=sections)
    assert (run.result.outcome, run.result.answer) == ("done", "Nothing is risky.")
    told = run.requests[1].body["messages"][0]["content"]
    assert told.startswith("You review code. Name what is risky.\nYou have 5 answers in all.")


def test_a_profile_as_agent_answers_questions_in_words(tmp_path: Path) -> None:
    replies = [EXPLAIN, text("It prints medians.")]
    run = play(tmp_path, NEEDS_MODEL, "what is the purpose of main.py?", replies, agent="llm:gpt-oss-20b")
    assert (run.result.outcome, run.result.answer) == ("done", "It prints medians.")
    assert run.requests[1].body["model"] == "openai/gpt-oss-20b"


def test_a_profile_as_agent_edits(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, RIGHT], agent="llm:gpt-oss-20b")
    assert (run.result.outcome, run.result.solved_by) == ("done", "llm:gpt-oss-20b")


def test_an_agent_that_only_explains_does_not_fix(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, text("I cannot edit.")], agent="codur-explaining")
    assert (run.result.outcome, run.result.exit_code) == ("not_achieved", 1)
    assert unchanged(run)


def test_after_two_stalls_the_next_agent_takes_over(tmp_path: Path) -> None:
    sections = {"agents": agents(escalation=("reviewer", "llm:gpt-oss-20b"))}
    replies = [EDIT, USELESS, WORSE, USELESS, RIGHT]
    run = play(tmp_path, NEEDS_MODEL, FIX, replies, sections=sections)
    assert (run.result.outcome, run.result.solved_by) == ("done", "llm:gpt-oss-20b")
    assert run.requests[-1].body["model"] == "openai/gpt-oss-20b"


# --- how runs end -----------------------------------------------------------------------------------------------------


def test_what_policy_forbids_is_exit_5(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT], sections={"tools": {"allow_write": False}})
    assert (run.result.outcome, run.result.exit_code) == ("refused", 5)
    assert "allow_write" in run.result.reason
    assert unchanged(run)


@pytest.mark.parametrize(
    ("replies", "limits", "outcome"),
    [
        ([EXPLAIN, text("never asked")], Limits(max_llm_calls=1), "limit"),
        ([EXPLAIN, error(401)], Limits(), "no_model"),
    ],
)
def test_a_model_that_fails_an_agent_ends_the_run(
    replies: list[ServerReply], limits: Limits, outcome: str, tmp_path: Path
) -> None:
    run = play(tmp_path, NEEDS_MODEL, "what is the purpose of main.py?", replies, limits=limits)
    assert run.result.outcome == outcome
    assert run.result.remedy


def test_a_planner_that_cannot_be_understood_is_not_a_missing_model(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, FIX, [classified(), text("a"), text("b"), text("c")])
    assert (run.result.outcome, run.result.exit_code) == ("not_achieved", 1)


def test_a_repair_after_a_failure_of_the_service_leaves_no_remedy_behind(tmp_path: Path) -> None:
    run = play(tmp_path, REPAIRABLE, FIX, [error(401)] * 3, sections={"repair": {"mode": "after_failure"}})
    assert (run.result.outcome, run.result.remedy, run.result.reason) == ("done", "", "")


def test_a_near_miss_of_the_model_is_completed_by_the_search(tmp_path: Path) -> None:
    program = "def total(end):\n    raise NotImplementedError\n\n\nfor end in (0, 3, 10):\n    print(end, total(end))\n"
    files = {"main.py": program, "expected.txt": "0 0\n3 6\n10 55\n"}
    near = calls(
        (
            "replace_function",
            {"path": "main.py", "name": "total", "code": "def total(end):\n    return sum(range(end))\n"},
        )
    )
    run = play(tmp_path, files, FIX, [EDIT, near], sections={"repair": {"mode": "after_failure"}})
    assert (run.result.outcome, run.result.solved_by, run.result.model_calls) == ("done", "repair", 2)
    assert run.nodes[-4:] == ["coding", "review", "repair", "review"]


def test_a_run_out_of_time_still_tells_what_it_did(tmp_path: Path) -> None:
    slow = replace(RIGHT, delay_s=30.0)
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, WRONG, slow], limits=Limits(max_runtime_s=4.0))
    assert run.result.outcome == "limit"
    assert [attempt.number for attempt in run.result.attempts] == [1]
    assert (run.result.iterations, run.result.task_type) == (1, "code_fix")
    assert run.nodes[:2] == ["pattern_plan", "llm_pre_plan"]
    assert unchanged(run)


def test_a_profile_without_tool_calls_needs_no_switch(tmp_path: Path) -> None:
    profiles = {name: structs.replace(profile, tool_calls="json") for name, profile in Settings().llm.profiles.items()}
    answer = json_reply(
        {
            "tool_calls": [
                {"tool": "replace_function", "args": {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}}
            ]
        }
    )
    sections: dict[str, Any] = {
        "llm": {"profiles": profiles},
        "runtime": {"detect_tool_calls_from_text": False},
    }
    run = play(tmp_path, NEEDS_MODEL, FIX, [EDIT, answer], sections=sections)
    assert run.result.outcome == "done"
    assert run.requests[1].body["response_format"] == {"type": "json_object"}


def tool_step(name: str, step_id: str, **arguments: Any) -> Step:
    return Step(id=step_id, action="tool", capability=name, arguments=arguments)


LOST = tool_step("read_file", "notes", path="missing.txt")


SAY_READ = Step(id="end", action="respond", arguments={"text": "All notes were read."})
LIST = tool_step("list_files", "list")
WRITE = tool_step("write_file", "write", path="b.txt", content="x")


@pytest.mark.parametrize(
    ("origin", "following", "answer"),
    [
        ("user", SAY_READ, "All notes were read."),
        ("plan", SAY_READ, "All notes were read."),
        ("user", LIST, "main.txt"),
        ("user", WRITE, ""),
        ("plan", WRITE, ""),
    ],
)
def test_a_step_that_failed_and_that_nothing_needs_is_no_success(
    origin: Origin, following: Step, answer: str, tmp_path: Path
) -> None:
    given = Plan(steps=(LOST, following), origin=origin)
    run = play(tmp_path, {"main.txt": "hello\n"}, "write b.txt", [], key=None, plan=given)
    assert (run.result.outcome, run.result.exit_code) == ("not_achieved", 1)
    assert run.result.reason == "step notes failed: there is no file missing.txt"
    assert answer in run.result.answer


def test_a_green_check_is_success_whatever_else_failed(tmp_path: Path) -> None:
    steps = plan(tool("read_file", path="missing.txt"), CODING, SAY)
    run = play(tmp_path, NEEDS_MODEL, FIX, [classified(), steps, RIGHT])
    assert (run.result.outcome, run.result.answer) == ("done", "Fixed it!")


EVIL = "a;touch PWNED;.txt"


def counted(place: Path, command: str) -> Played:
    steps = (tool_step("list_files", "ls"), tool_step("run_command", "count", command=command))
    return play(place, {EVIL: "one\n"}, "count", [], key=None, plan=Plan(steps=steps, origin="user"))


def test_the_name_of_a_file_begins_no_command(tmp_path: Path) -> None:
    run = counted(tmp_path, "wc -l ${ls.files[0]}")
    assert (run.result.outcome, set(run.files)) == ("done", {EVIL})
    assert run.result.answer.startswith("1 ")


def test_a_reference_within_quotes_of_a_command_is_sent_back(tmp_path: Path) -> None:
    run = counted(tmp_path, "wc -l '${ls.files[0]}'")
    assert (run.result.outcome, set(run.files)) == ("usage", {EVIL})
    assert "step 'count' puts ${ls.files[0]} where a shell's command cannot take it safely" in run.result.reason


def test_a_criterion_about_a_file_of_the_check_is_sent_back(tmp_path: Path) -> None:
    wrong = plan({**CODING, "success_criteria": "expected.txt contains 7"}, SAY)
    run = play(tmp_path, NEEDS_MODEL, FIX, [classified(), wrong, plan(CODING, SAY), RIGHT])
    assert run.result.outcome == "done"
    assert "step 's0' cannot come to 'expected.txt contains 7'" in run.message(2)


def test_what_no_check_has_judged_is_not_told_as_checked(tmp_path: Path) -> None:
    passing = "from main import one\n\n\ndef test_one():\n    assert one() == 1\n"
    files = {"main.py": "def one():\n    return 1\n", "tests/test_one.py": passing, "test_old.py": passing}
    away = classified(
        task_type="file_operation",
        suggested_action="tool",
        capability="delete_file",
        arguments=[{"name": "path", "value": "test_old.py"}],
        detected_files=["test_old.py"],
    )
    words = "you left the old test file in the root. delete it"
    run = play(tmp_path, files, words, [away], made=("test_old.py",))
    assert (run.result.outcome, run.result.changed_files) == ("done", ("test_old.py",))
    assert run.result.before is not None
    assert run.result.verdict is None
