"""Plans at the terminal: shown, approved, rejected, changed in an editor, saved; made and carried out by file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codur.planning.plans.plan_file import read_plan
from tests.cli.kit import environment, the_object
from tests.runs.kit import EDIT, MEDIAN_RIGHT, NEEDS_MODEL, REPAIRABLE, contents, fill
from tests.runs.test_plans import CODING, RIGHT, classified, plan, tool
from tests.session.kit import Place, place
from tests.support.groq_server import Replies, calls, text
from tests.support.terminal import CTRL_C, CTRL_D, Terminal

CHOICES = "[y]es, [n]o, [e]dit, [s]ave: "
TASK = ("--plan", "main.py is wrong")
STEPS = plan(
    {**tool("run_python_file", path="main.py"), "id": "run", "objective": "See what it prints."},
    {**CODING, "id": "fix", "inputs": ["run"], "objective": "Write the median."},
)


@contextmanager
def at_terminal(here: Place, *words: str, stdout: Path | None = None, **variables: str) -> Iterator[Terminal]:
    """Codur at a terminal of its own."""
    with Terminal(
        words,
        cwd=here.project,
        environ=environment(here.home, **here.variables(variables)),
        stdout=stdout,
        forked=True,
    ) as terminal:
        yield terminal


def editor(here: Place, *scripts: str) -> str:
    """An `EDITOR`: a program that carries out the next of these scripts, on the text of the plan, each time."""
    program = here.home / "editor.py"
    program.write_text(
        "import pathlib, sys\n"
        "path, count = pathlib.Path(sys.argv[1]), pathlib.Path(__file__ + '.count')\n"
        "turn = int(count.read_text()) if count.exists() else 0\n"
        "count.write_text(str(turn + 1))\n"
        "text = path.read_text()\n"
        f"exec({list(scripts)!r}[turn])\n"
        "path.write_text(text)\n"
    )
    return f"'{sys.executable}' '{program}'"


def untouched(here: Place) -> bool:
    return contents(here.project) == NEEDS_MODEL


def test_the_plan_is_shown_and_carried_out_after_a_yes(tmp_path: Path) -> None:
    with place(tmp_path, [classified(), STEPS, RIGHT]) as here, at_terminal(here, *TASK) as terminal:
        shown = terminal.answer(CHOICES, "y")
        assert "plan: 2 steps, 1 to 10 model calls" in shown
        assert "  1  run  tool run_python_file  See what it prints." in shown
        assert "path='main.py'" in shown
        assert "  2  fix  coding codur-coding   Write the median.  (needs run)" in shown
        assert "changes: files that its steps choose" in shown
        assert "runs: python main.py" in shown
        assert terminal.ended() == 0
        assert MEDIAN_RIGHT in contents(here.project)["main.py"]


def test_what_looks_like_a_secret_is_carried_out_as_it_was_approved_and_kept_blanked(tmp_path: Path) -> None:
    secret = "API_KEY=zz9plural_token_4711"
    step = {**tool("write_file", path="out.txt", content=f"{secret}\n"), "id": "write", "objective": "Write it."}
    with place(tmp_path, [classified(), plan(step, CODING), RIGHT]) as here:
        with at_terminal(here, *TASK) as terminal:
            terminal.answer(CHOICES, "y")
            assert terminal.ended() == 0
        assert contents(here.project)["out.txt"] == f"{secret}\n"
        kept = [path.read_bytes() for path in here.state.glob("runs/*/*.jsonl")]
        assert kept
        assert not any(b"zz9plural" in data for data in kept)


def test_a_no_leaves_everything_as_it_was(tmp_path: Path) -> None:
    with place(tmp_path, [EDIT]) as here, at_terminal(here, *TASK) as terminal:
        terminal.answer(CHOICES, "n")
        terminal.answer("Enter ends the run.) ", "")
        assert terminal.ended() == 5
        assert "you rejected the plan" in terminal.text
        assert untouched(here)


@pytest.mark.parametrize("said", ["n", "n, run it first", "yes but run it first", "run it first"])
def test_the_reason_of_a_no_makes_a_new_plan(said: str, tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, STEPS, RIGHT]) as here, at_terminal(here, *TASK) as terminal:
        terminal.answer(CHOICES, said)
        if said == "n":
            terminal.answer("Enter ends the run.) ", "run it first")
        assert "python main.py" in terminal.answer(CHOICES, "y")
        assert terminal.ended() == 0
        assert "run it first" in json.dumps(here.server.bodies[1])


def test_a_second_no_asks_for_no_reason_as_it_would_help_nothing(tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, STEPS]) as here, at_terminal(here, *TASK) as terminal:
        terminal.answer(CHOICES, "n")
        terminal.answer("Enter ends the run.) ", "run it first")
        terminal.answer(CHOICES, "n")
        assert terminal.ended() == 5
        assert terminal.text.count("Why not?") == 1
        assert "✘ refused: you rejected the plan" in terminal.text
        assert "Traceback" not in terminal.text
        assert untouched(here)


def test_what_is_no_answer_is_explained_and_asked_again(tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, RIGHT]) as here, at_terminal(here, *TASK) as terminal:
        terminal.answer(CHOICES, "perhaps\udc9b2J".encode("utf-8", "replace").decode())
        assert "y: carry it out" in terminal.answer(CHOICES, "")
        assert "y: carry it out" in terminal.answer(CHOICES, "YES")
        assert terminal.ended() == 0


@pytest.mark.parametrize("keys", [CTRL_D, CTRL_C])
def test_whoever_leaves_has_not_agreed(keys: str, tmp_path: Path) -> None:
    with place(tmp_path, [EDIT]) as here, at_terminal(here, *TASK) as terminal:
        terminal.until(CHOICES)
        terminal.press(keys)
        assert terminal.ended() == (130 if keys == CTRL_C else 5)
        assert ("codur resume 20" if keys == CTRL_C else "--plan-file") in terminal.text
        assert "save: ^C✘" not in terminal.text
        assert "consult" not in terminal.text
        assert "got: nothing" not in terminal.text
        assert untouched(here)


# --- the editor -------------------------------------------------------------------------------------------------------


LOOK = "{id: look, action: tool, capability: read_file, arguments: {path: main.py}}"
LOOK_FIRST = f"text = text.replace('steps:', 'steps:\\n- {LOOK}')"


def test_a_plan_is_changed_in_the_editor_and_shown_again(tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, RIGHT]) as here, at_terminal(here, *TASK, EDITOR=editor(here, LOOK_FIRST)) as terminal:
        terminal.answer(CHOICES, "e")
        shown = terminal.answer(CHOICES, "y")
        assert "plan: 2 steps" in shown
        assert "look" in shown
        assert terminal.ended() == 0
        assert "Traceback" not in terminal.text


def test_a_change_that_is_no_plan_is_told_and_the_editor_opened_again(tmp_path: Path) -> None:
    broken = ("text = text.replace('steps:', 'steps: [')", "text = text.replace('steps: [', 'steps:')\n" + LOOK_FIRST)
    with place(tmp_path, [EDIT, RIGHT]) as here, at_terminal(here, *TASK, EDITOR=editor(here, *broken)) as terminal:
        terminal.answer(CHOICES, "e")
        told = terminal.answer("Edit it again? [Y/n] ", "")
        assert "✘ plan.yaml:" in told
        assert "not valid YAML" in told
        assert "plan: 2 steps" in terminal.answer(CHOICES, "y")
        assert terminal.ended() == 0


def test_a_change_that_cannot_work_is_told_with_its_line(tmp_path: Path) -> None:
    gone = "text = text.replace('steps:', 'steps:\\n- {id: look, action: tool, capability: read_fil}')"
    with place(tmp_path, [EDIT]) as here, at_terminal(here, *TASK, EDITOR=editor(here, gone)) as terminal:
        terminal.answer(CHOICES, "e")
        assert (
            "plan.yaml:5: there is no tool named 'read_fil'; the nearest are read_file, read_files"
            in terminal.answer(CHOICES, "y")
        )
        assert "edit it, or say no" in terminal.answer(CHOICES, "n")
        terminal.answer("Enter ends the run.) ", "")
        assert terminal.ended() == 5
        assert untouched(here)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (lambda here: editor(here, "pass"), "The plan is as it was."),
        (lambda here: editor(here, LOOK_FIRST + "; path.write_text(text); sys.exit(3)"), "ended with 3"),
        (lambda here: editor(here, "path.unlink(); sys.exit()"), "cannot be read"),
        (lambda _: "/nowhere/editor", "cannot be started: no such file"),
        (lambda _: "vi '", "cannot be started: no closing quotation"),
    ],
    ids=["unchanged", "error", "removed", "absent", "quotes"],
)
def test_an_editor_that_changes_nothing(command: Callable[[Place], str], told: str, tmp_path: Path) -> None:
    with place(tmp_path, [EDIT]) as here, at_terminal(here, *TASK, EDITOR=command(here)) as terminal:
        terminal.answer(CHOICES, "e")
        if "read" in told:
            terminal.answer("Edit it again? [Y/n] ", "n")
        terminal.until(CHOICES)
        assert told in terminal.text.lower() or told in terminal.text
        assert ("Set EDITOR" in terminal.text) == ("cannot be started" in told)
        terminal.press(CTRL_D)
        assert terminal.ended() == 5
        assert untouched(here)


def test_ctrl_c_in_the_editor_belongs_to_the_editor(tmp_path: Path) -> None:
    waits = (
        "import time\ntry:\n    print('editing', flush=True)\n    for _ in range(3000):\n        time.sleep(0.02)\n"
        "except KeyboardInterrupt:\n    print('stayed', flush=True)"
    )
    with place(tmp_path, [EDIT]) as here, at_terminal(here, *TASK, EDITOR=editor(here, waits)) as terminal:
        terminal.answer(CHOICES, "e")
        terminal.until("editing")
        terminal.press(CTRL_C)
        terminal.until("stayed")
        terminal.until(CHOICES)
        terminal.press(CTRL_D)
        assert terminal.ended() == 5


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_plan_is_saved_but_never_over_a_file(tmp_path: Path) -> None:
    with place(tmp_path, [EDIT]) as here, at_terminal(here, *TASK) as terminal:
        for name in ("main.py", "absent/x.yaml", "../plan.yaml"):
            terminal.answer(CHOICES, "s")
            terminal.answer("[plan.yaml]: ", name)
        shown = terminal.answer(CHOICES, "n")
        assert "Written to ../plan.yaml" in shown
        assert "✘ main.py: file exists" in terminal.text
        assert "✘ absent/x.yaml: no such file or directory" in terminal.text
        terminal.answer("Enter ends the run.) ", "")
        terminal.ended()
        saved = read_plan((tmp_path / "plan.yaml").read_bytes(), "plan.yaml")
        assert (saved.task, len(saved.plan.steps)) == ("main.py is wrong", 1)
        assert untouched(here)


def test_a_plan_is_made_kept_and_carried_out_later(tmp_path: Path) -> None:
    with place(tmp_path, [classified(), STEPS, RIGHT]) as here:
        made = here.run("plan", "main.py is wrong", "-o", "../plan.yaml")
        assert made.code == 0, made.err
        assert "codur run --plan-file ../plan.yaml" in made.err
        assert untouched(here)
        assert here.run("plan", "main.py is wrong", "-o", "../plan.yaml").code == 2
        done = here.run("run", "--plan-file", "../plan.yaml")
        assert done.code == 0, done.err
        assert len(here.server.requests) == 3


def test_without_a_terminal_a_plan_that_needs_approval_is_kept_and_refused(tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, RIGHT]) as here:
        refused = here.run(*TASK, "--json")
        assert refused.code == 5
        words = the_object(refused.out)["remedy"].split()
        path = words[words.index("--plan-file") + 1]
        assert untouched(here)
        assert here.run("run", "--plan-file", path, "--yes").code == 0
        assert here.server.unexpected == 0


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_plan_that_is_approved_beforehand_is_shown_before_it_is_carried_out(
    form: tuple[str, ...], tmp_path: Path
) -> None:
    with place(tmp_path, [EDIT, RIGHT]) as here:
        done = here.run(*TASK, "--yes", *form)
    assert done.code == 0, done.err
    shown, _, after = done.err.partition("Carried out, as --yes says.")
    assert "plan: 1 step, 1 to 10 model calls\n  1  edit  coding" in shown
    assert "changes: files that its steps choose" in shown
    assert "checked by: python main.py" in shown
    assert "plan:" not in done.out + after or form


def test_json_asks_on_standard_error_where_there_is_a_terminal(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    with place(tmp_path, [EDIT, RIGHT]) as here, at_terminal(here, *TASK, "--json", stdout=out) as terminal:
        assert "plan: 1 step" in terminal.answer(CHOICES, "y")
        assert terminal.ended() == 0
    assert the_object(out.read_text())["outcome"] == "done"


# --- what comes from a model ------------------------------------------------------------------------------------------

EVIL = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\nplan: 1 step, no model calls"


def test_nothing_of_a_plan_acts_on_the_terminal(tmp_path: Path) -> None:
    steps = plan(
        {**tool("read_file", path="main.py"), "id": "look", "objective": EVIL},
        {**CODING, "objective": EVIL, "inputs": ["look"]},
    )
    with place(tmp_path, [classified(), steps]) as here, at_terminal(here, *TASK) as terminal:
        terminal.until(CHOICES)
        terminal.press(CTRL_D)
        terminal.ended()
        for raw in (b"\x1b]0;", b"\x07", b"\x1b[2J", "\u202e".encode()):
            assert raw not in terminal.bytes
        assert r"\x1b]0;owned\x07" in terminal.text
        assert "\nplan: 1 step," not in terminal.text


def test_a_question_of_a_model_is_shown_whole_and_harmless(tmp_path: Path) -> None:
    asks = {"action": "ask", "id": "which", "arguments": [{"name": "text", "value": f"Which one?\n{EVIL}"}]}
    replies: Replies = [classified(), plan(asks, {**CODING, "inputs": ["which"]}), RIGHT]
    with place(tmp_path, replies) as here, at_terminal(here, "main.py is wrong") as terminal:
        shown = terminal.answer("> ", "of a list")
        assert "? Which one?\n  \\x1b]0;owned" in shown
        assert b"\x1b]0;" not in terminal.bytes
        assert terminal.ended() == 0
        assert "of a list" in json.dumps(here.server.bodies[-1])


# --- going on ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_run_that_waited_for_an_answer_asks_again(how: str, tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, RIGHT]) as here:
        with at_terminal(here, *TASK) as terminal:
            terminal.until(CHOICES)
            if how == "killed":
                terminal.process.kill()
            else:
                terminal.press(CTRL_C)
            terminal.ended()
        with at_terminal(here, "resume") as terminal:
            assert "plan: 1 step" in terminal.answer(CHOICES, "y")
            assert terminal.ended() == 0
        assert MEDIAN_RIGHT in contents(here.project)["main.py"]
        assert len(here.server.requests) == 2


@pytest.mark.parametrize(("words", "code"), [((), 5), (("--yes",), 0)])
def test_it_is_refused_without_a_terminal_but_for_a_yes(words: tuple[str, ...], code: int, tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, RIGHT]) as here:
        with at_terminal(here, *TASK) as terminal:
            terminal.until(CHOICES)
            terminal.process.kill()
            terminal.ended()
        done = here.run("resume", *words)
        assert done.code == code, done.err
        assert ("plan: 1 step" in done.err) == bool(words)
        assert untouched(here) == (code == 5)


@pytest.mark.parametrize(("words", "code"), [((), 1), (("--yes",), 0)])
def test_a_batch_asks_nobody(words: tuple[str, ...], code: int, tmp_path: Path) -> None:
    def answers(body: Any) -> Any:
        return RIGHT if body.get("tools") else EDIT

    with place(tmp_path, answers) as here:
        fill(here.project, {"prompt.txt": "main.py is wrong"})
        always = {"CODUR_PLANNING__APPROVAL": "always"}
        done = here.run("solve", ".", "--results", "../results", *words, "--json", **always)
        assert done.code == code, done.err
        (result,) = json.loads(done.out)["results"]
        assert (result["status"] == "solved") == (code == 0)
        if code:
            assert "there is nobody to ask; --yes approves of it" in json.dumps(result)


TEST_CHOICES = "[y]es, for this task; yes and [k]eep the file; [n]o; [e]dit: "
DOUBLES = {
    "main.py": "def double(number):\n    return number + 2\n",
    "test_main.py": "from main import double\n\n\ndef test_two():\n    assert double(2) == 4\n",
}
DOUBLE_TEST = text("```python\nfrom main import double\n\n\ndef test_double():\n    assert double(3) == 7\n```")
DOUBLE_RIGHT = calls(("replace_in_file", {"path": "main.py", "old": "number + 2", "new": "number * 2"}))


def test_a_test_that_was_made_is_shown_changed_and_kept(tmp_path: Path) -> None:
    """What the model expects is wrong; the user mends it in the editor, then says yes with `--keep-test`."""
    fixes = editor_of_test(tmp_path)
    words = ("double(3) in main.py must be 6, it is wrong", "--keep-test")
    with place(tmp_path, [EDIT, DOUBLE_TEST, DOUBLE_RIGHT]) as here:
        for path in here.project.iterdir():
            path.unlink()
        fill(here.project, DOUBLES)
        with at_terminal(here, *words, EDITOR=fixes, CODUR_VERIFICATION__MAKE_CHECK="auto") as terminal:
            shown = terminal.answer(TEST_CHOICES, "?")
            assert "test made for the task: test_double.py" in shown
            assert "assert double(3) == 7" in shown
            assert "red now: assert 5 == 7" in shown
            assert "k: the same, and leave it in the project" in terminal.answer(TEST_CHOICES, "e")
            assert terminal.ended() == 0
            assert "the test that was made for this is kept: test_double.py" in terminal.text
        assert "double(3) == 6" in contents(here.project)["test_double.py"]


@pytest.mark.parametrize("said", ["k", "yes and keep the file", "yes and keep"])
def test_a_test_that_was_made_is_kept_as_the_question_words_it(said: str, tmp_path: Path) -> None:
    right = text("```python\nfrom main import double\n\n\ndef test_double():\n    assert double(3) == 6\n```")
    with place(tmp_path, [EDIT, right, DOUBLE_RIGHT], DOUBLES) as here:
        words = ("double(3) in main.py must be 6, it is wrong",)
        with at_terminal(here, *words, CODUR_VERIFICATION__MAKE_CHECK="auto") as terminal:
            terminal.answer(TEST_CHOICES, said)
            assert terminal.ended() == 0
        assert "double(3) == 6" in contents(here.project)["test_double.py"]
        assert "told the model" not in terminal.text


def test_a_test_that_was_made_is_answered_in_words(tmp_path: Path) -> None:
    right = text("```python\nfrom main import double\n\n\ndef test_double():\n    assert double(3) == 6\n```")
    with place(tmp_path, [EDIT, DOUBLE_TEST, right, DOUBLE_RIGHT], DOUBLES) as here:
        words = ("double(3) in main.py must be 6, it is wrong",)
        with at_terminal(here, *words, CODUR_VERIFICATION__MAKE_CHECK="auto") as terminal:
            terminal.answer(TEST_CHOICES, "twice 3 is 6, not 7")
            assert "double(3) == 6" in terminal.answer(TEST_CHOICES, "yes, and no more")
            assert terminal.ended() == 0
        asked, edits = ("".join(str(each["content"]) for each in r.body["messages"]) for r in here.server.requests[2:])
        assert "twice 3 is 6, not 7" in asked
        assert "and no more" in edits
        shown = here.run("show", "--test")
        assert shown.out == "from main import double\n\n\ndef test_double():\n    assert double(3) == 6\n"
        assert "it belongs in test_double.py" in shown.err


def test_a_test_that_nobody_says_anything_of_is_used(tmp_path: Path) -> None:
    right = text("```python\nfrom main import double\n\n\ndef test_double():\n    assert double(3) == 6\n```")
    words = ("double(3) in main.py must be 6, it is wrong",)
    with place(tmp_path, [EDIT, right, DOUBLE_RIGHT], DOUBLES) as here:
        with at_terminal(
            here, *words, CODUR_VERIFICATION__MAKE_CHECK="auto", CODUR_VERIFICATION__ANSWER_S="0.5"
        ) as terminal:
            assert terminal.ended() == 0
        assert "No answer, so yes." in terminal.text


def test_where_there_are_no_tests_one_is_made_and_not_asked_about(tmp_path: Path) -> None:
    right = text("```python\nfrom main import double\n\n\ndef test_double():\n    assert double(3) == 6\n```")
    with place(tmp_path, [EDIT, right, DOUBLE_RIGHT]) as here:
        for path in here.project.iterdir():
            path.unlink()
        fill(here.project, {"main.py": DOUBLES["main.py"]})
        words = ("double(3) in main.py must be 6, it is wrong",)
        with at_terminal(here, *words, CODUR_VERIFICATION__MAKE_CHECK="auto") as terminal:
            assert terminal.ended() == 0
        assert "test made for the task: test_double.py" in terminal.text
        assert "def test_double" not in terminal.text


def test_what_a_dry_run_would_change_can_be_taken_over(tmp_path: Path) -> None:
    with place(tmp_path, [], REPAIRABLE) as here:
        with at_terminal(here, "fix main.py", "--offline", "--dry-run", CODUR_REPAIR__MODE="before_model") as terminal:
            assert terminal.ended() == 0
        assert contents(here.project) == REPAIRABLE
        command = terminal.text.rpartition("next: ")[2].split("\n")[0].strip()
        subprocess.run(["sh", "-c", command], cwd=here.project, check=True, capture_output=True)
        assert contents(here.project) != REPAIRABLE


def editor_of_test(place: Path) -> str:
    """An `EDITOR` that mends the test."""
    program = place / "mend.py"
    program.write_text(
        "import pathlib, sys\npath = pathlib.Path(sys.argv[1])\npath.write_text(path.read_text().replace('7', '6'))\n"
    )
    return f"'{sys.executable}' '{program}'"
