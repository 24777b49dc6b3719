"""The rules a plan must keep, each with its own message."""

from __future__ import annotations

import pytest

from codur.config.settings import ToolSettings
from codur.planning.plans.validation import Asked, Capabilities, Problem, complete, find_problem
from codur.structs import replace
from codur.types import Origin, Plan, Step

KNOWN = Capabilities(
    tools={
        "read_file": "read",
        "write_file": "write",
        "run_pytest": "run",
        "fetch_page": "network",
        **dict.fromkeys(
            ("git_commit", "git_stage_files", "git_continue", "git_switch", "delete_file", "apply_patch"), "write"
        ),
    },
    allowed=ToolSettings(),
    max_steps=9,
    agents=("codur-coding", "codur-explaining"),
    codes=lambda name: name in ("codur-coding", "llm:gpt-oss-20b"),
    only_codes=lambda name: name == "codur-coding",
    knows_agent=lambda name: name in ("codur-coding", "codur-explaining", "llm:gpt-oss-20b"),
)


def plan(*steps: Step) -> Plan:
    return Plan(steps=steps, origin="plan")


def tool(name: str, *, key: str = "a", inputs: tuple[str, ...] = ()) -> Step:
    return Step(id=key, action="tool", capability=name, inputs=inputs)


@pytest.mark.parametrize(
    ("given", "allowed", "problem"),
    [
        (plan(tool("read_file")), ToolSettings(), None),
        (plan(Step(id="a", action="coding", capability="llm:gpt-oss-20b")), ToolSettings(), None),
        (plan(Step(id="a", action="coding")), ToolSettings(), None),
        (plan(), ToolSettings(), Problem(text="the plan has no steps")),
        (
            plan(*(tool("read_file", key=str(number)) for number in range(4))),
            ToolSettings(),
            Problem(text="the plan has 4 steps; 3 are allowed"),
        ),
        (
            plan(tool("read_fil")),
            ToolSettings(),
            Problem(text="there is no tool named 'read_fil'; the nearest are read_file, write_file"),
        ),
        (
            plan(Step(id="a", action="delegate", capability="nobody")),
            ToolSettings(),
            Problem(text="there is no agent named 'nobody'; there are: codur-coding, codur-explaining"),
        ),
        (
            plan(Step(id="a", action="coding", capability="codur-explaining")),
            ToolSettings(),
            Problem(text="codur-explaining does not edit files; use it in a delegate step"),
        ),
        (
            plan(tool("read_file"), tool("read_file")),
            ToolSettings(),
            Problem(text="two steps have the id 'a'"),
        ),
        (
            plan(tool("read_file", inputs=("b",)), tool("read_file", key="b")),
            ToolSettings(),
            Problem(text="step 'a' needs the output of 'b', which comes later"),
        ),
        (
            plan(tool("read_file", inputs=("a",))),
            ToolSettings(),
            Problem(text="step 'a' needs its own output"),
        ),
        (
            plan(tool("write_file")),
            ToolSettings(allow_write=False),
            Problem(text="write_file is not allowed (tools.allow_write is off)", refused=True),
        ),
        (
            plan(tool("run_pytest")),
            ToolSettings(allow_run=False),
            Problem(text="run_pytest is not allowed (tools.allow_run is off)", refused=True),
        ),
        (
            plan(tool("fetch_page")),
            ToolSettings(),
            Problem(text="fetch_page is not allowed (tools.allow_network is off)", refused=True),
        ),
        (
            plan(Step(id="a", action="repair")),
            ToolSettings(allow_write=False),
            Problem(text="changing files is not allowed (tools.allow_write is off)", refused=True),
        ),
    ],
)
def test_find_problem(given: Plan, allowed: ToolSettings, problem: Problem | None) -> None:
    found = find_problem(given, replace(KNOWN, allowed=allowed, max_steps=3), Asked(prompt="do it"))
    assert (found.text, found.refused) == (problem.text, problem.refused) if found and problem else found == problem


def test_a_plan_that_only_reads_gets_a_last_word() -> None:
    completed = complete(plan(tool("read_file", key="answer"), tool("read_file", key="b")), explainer="reader")
    assert [step.action for step in completed.steps] == ["tool", "tool", "delegate"]
    assert [step.id for step in completed.steps] == ["answer", "b", "answer-2"]
    assert (completed.steps[-1].capability, completed.steps[-1].inputs) == ("reader", ("answer", "b"))


@pytest.mark.parametrize(
    "given",
    [
        plan(tool("read_file"), Step(id="b", action="coding")),
        plan(Step(id="a", action="respond")),
        Plan(steps=(tool("read_file"),), origin="pattern"),
        Plan(steps=(), origin="pattern"),
    ],
)
def test_other_plans_stay_as_they_are(given: Plan) -> None:
    assert complete(given, explainer="reader") == given


def test_a_plan_without_steps_says_why() -> None:
    (step,) = complete(Plan(steps=(), origin="plan", reason="It is done already."), explainer="reader").steps
    assert (step.action, step.arguments) == ("respond", {"text": "It is done already."})


def test_steps_come_after_those_they_need() -> None:
    late = Step(id="late", action="coding", inputs=("find",))
    refers = Step(id="refers", action="tool", capability="read_file", arguments={"path": "${find.paths[0]}"})
    completed = complete(plan(late, refers, tool("read_file", key="find"), Step(id="z", action="coding")), explainer="")
    assert [step.id for step in completed.steps] == ["find", "late", "refers", "z"]
    assert completed.steps[2].inputs == ("find",)


def problem_of(*steps: Step, prompt: str = "do it", only_looks: bool = False, origin: Origin = "plan") -> str:
    given = complete(Plan(steps=steps, origin=origin), explainer="codur-explaining")
    asked = Asked(prompt=prompt, only_looks=only_looks)
    found = find_problem(given, KNOWN, asked, ("earlier",))
    return found.text if found else ""


def test_steps_that_need_each_other_cannot_run() -> None:
    a, b = tool("read_file", key="a", inputs=("b",)), tool("read_file", key="b", inputs=("a",))
    assert problem_of(a, b) == "steps 'a' and 'b' need each other's output"
    assert problem_of(tool("read_file", inputs=("a",))) == "step 'a' needs its own output"


def test_an_output_that_nobody_makes_is_missed() -> None:
    assert problem_of(tool("read_file", inputs=("nobody",))) == (
        "step 'a' needs the output of 'nobody', which is no earlier step"
    )
    refers = Step(id="a", action="tool", capability="read_file", arguments={"path": "${nobody}"})
    assert "'nobody'" in problem_of(refers)
    assert problem_of(tool("read_file", inputs=("earlier",))) == ""


def test_arguments_are_looked_at_unless_they_are_not_known_yet() -> None:
    known = replace(
        KNOWN, argument_problem=lambda tool, arguments: "" if "path" in arguments else f"{tool} needs a path"
    )
    asked = Asked(prompt="do it")

    def problem(step: Step) -> Problem | None:
        earlier = tool("read_file", key="earlier")
        return find_problem(plan(replace(earlier, arguments={"path": "x"}), step), known, asked)

    bad = problem(tool("read_file"))
    assert bad is not None
    assert (bad.text, bad.step_id) == ("step 'a': read_file needs a path", "a")
    assert problem(replace(tool("read_file", inputs=("earlier",)), arguments={"other": "${earlier}"})) is None


@pytest.mark.parametrize(
    ("step", "prompt", "words"),
    [
        (Step(id="a", action="coding"), "where is it?", "the task asks to look, and step 'a' changes something"),
        (tool("write_file"), "where is it?", "the task asks to look, and step 'a' changes something"),
    ],
)
def test_a_question_changes_nothing(step: Step, prompt: str, words: str) -> None:
    assert problem_of(step, prompt=prompt, only_looks=True) == words
    assert problem_of(step, prompt=prompt) == ""
    assert problem_of(step, prompt=prompt, only_looks=True, origin="user") == ""


def command(text: str) -> Step:
    return Step(id="a", action="tool", capability="run_pytest", arguments={"command": text})


@pytest.mark.parametrize(
    ("step", "asked", "words"),
    [
        (command("git push origin main"), "push the branch", "pushes"),
        (command("git -C . push"), "publish it", "pushes"),
        (command("rm -rf build"), "remove the build directory", "deletes files"),
        (command("make && git clean -fd"), "clean up", "deletes files"),
        (command("find . -name '*.pyc' -delete"), "delete the compiled files", "deletes files"),
        (command("sh -c 'rm -r build'"), "get rid of build", "deletes files"),
        (command("/bin/rm notes.md"), "erase notes.md", "deletes files"),
        (command("python -c \"import shutil; shutil.rmtree('x')\""), "remove x", "deletes files"),
        (command("git checkout -- ."), "drop my changes", "deletes files"),
        (command("git -c a=b commit -m x"), "commit it", "commits"),
        (tool("git_commit"), "commit it", "commits"),
        (tool("git_stage_files"), "stage what changed", "stages files"),
        (tool("git_continue"), "resolve the conflicts and continue the rebase", "finishes what git has begun"),
        (tool("git_switch"), "do it on a new branch", "switches the branch"),
        (tool("delete_file"), "delete notes.md", "deletes a file"),
        (
            Step(
                id="a",
                action="tool",
                capability="apply_patch",
                arguments={"patch": "--- a/notes.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"},
            ),
            "delete notes.md",
            "deletes a file",
        ),
    ],
)
def test_what_was_not_asked_for_is_not_done(step: Step, asked: str, words: str) -> None:
    assert words in problem_of(step, prompt="run the tests")
    assert problem_of(step, prompt=asked) == ""
    assert problem_of(step, prompt="run the tests", origin="user") == ""


def test_words_that_only_look_like_a_push_are_let_through() -> None:
    assert problem_of(command("python push_queue.py"), prompt="run it") == ""
    assert problem_of(command("pytest tests/test_rm.py"), prompt="run it") == ""
    for harmless in ("git log --grep push", "git diff --stat", "grep -rn 'confirm ' .", "ls rm.d"):
        assert problem_of(command(harmless), prompt="run it") == "", harmless


def test_an_agent_that_can_only_edit_is_not_asked_a_question() -> None:
    step = Step(id="a", action="delegate", capability="codur-coding")
    assert problem_of(step, only_looks=True) == "the task asks to look, and step 'a' changes something"
    assert problem_of(replace(step, capability="codur-explaining"), only_looks=True) == ""
    assert problem_of(step) == ""


def test_a_step_that_asks_nothing_is_sent_back() -> None:
    assert "asks nothing" in problem_of(Step(id="a", action="ask"))
