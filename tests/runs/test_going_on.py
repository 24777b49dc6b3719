"""Tasks that go on with what an earlier one of the same conversation did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.questions import MAY_CHANGE, Answer, Question, granted_by, lets_tests_change
from tests.runs.kit import Played, play
from tests.runs.test_approval import User
from tests.runs.test_plans import classified, plan, tool
from tests.support.groq_server import ServerReply, calls


def table(parts: int) -> str:
    """A class with so many methods beside those that the tasks are about."""
    return (
        '"""Tables as text."""\n\n\nclass Table:\n    rows = ()\n\n'
        + "".join(f"    def part_{n}(self):\n        return {n}\n\n" for n in range(parts))
        + "    def get_csv(self):\n        return ','.join(self.rows)\n\n"
        + "    def get_tsv(self):\n        return '\\t'.join(self.rows)\n"
    )


TABLE = table(20)
OWN_TEST = "from table import Table\n\n\ndef test_get_tsv():\n    assert Table().get_tsv() == ''\n"
OTHER_TEST = "from table import Table\n\n\ndef test_get_csv():\n    assert Table().get_csv() == ''\n"
OWN, OTHER = "tests/test_get_tsv.py", "tests/test_table.py"
FILES = {"table.py": TABLE, OWN: OWN_TEST, OTHER: OTHER_TEST, "conftest.py": ""}
EARLIER = "User: add get_tsv\nOutcome: done\npart_1417 and part_1418 stay as they are"
EDIT = classified(task_type="code_generation", suggested_action="edit", confidence=0.95, detected_files=["table.py"])
TAKEN_OUT = "\n    def get_tsv(self):\n        return '\\t'.join(self.rows)\n"
TAKE_OUT = ("replace_in_file", {"path": "table.py", "old": TAKEN_OUT, "new": ""})
DELETE = ("delete_file", {"path": OWN})
NO_TEST = {"verification": {"make_check": "never"}}


def go_on(place: Path, prompt: str, *replies: ServerReply, **fields: Any) -> Played:
    files = fields.pop("files", FILES)
    return play(place, files, prompt, [EDIT, *replies], sections=NO_TEST, earlier=EARLIER, **fields)


def offered(run: Played, number: int) -> list[str]:
    return [tool["function"]["name"] for tool in run.requests[number].body["tools"]]


def test_a_test_that_the_conversation_made_goes_with_what_it_tests(tmp_path: Path) -> None:
    run = go_on(tmp_path, "no, rather without get_tsv", calls(TAKE_OUT, DELETE), made=(OWN,))
    assert (run.result.outcome, run.unexpected) == ("done", 0)
    assert "delete_file" in offered(run, 1)
    assert OWN not in run.files
    assert run.files[OTHER] == OTHER_TEST


def test_a_test_of_the_project_stays(tmp_path: Path) -> None:
    give_up = calls(("cannot", {"reason": "no"}))
    run = go_on(tmp_path, "no, rather without get_tsv", calls(TAKE_OUT, DELETE), give_up, made=("table.py",))
    assert run.result.outcome == "not_achieved"
    assert "delete_file" not in offered(run, 1)
    assert run.files[OWN] == OWN_TEST


def test_what_the_user_answers_may_free_a_test(tmp_path: Path) -> None:
    def user(question: Question) -> Answer:
        return Answer(decision="answer", text=f"take it out and delete {OWN}")

    ask = calls(("ask_user", {"question": "It is tested: shall the test go?"}))
    run = go_on(tmp_path, "no, rather without get_tsv", ask, calls(TAKE_OUT, DELETE), consult=user)
    assert (run.result.outcome, run.unexpected) == ("done", 0)
    assert "delete_file" not in offered(run, 1)
    assert "delete_file" in offered(run, 2)
    assert OWN not in run.files


def test_an_answer_frees_no_test_that_it_wants_to_keep(tmp_path: Path) -> None:
    def user(question: Question) -> Answer:
        return Answer(decision="answer", text=f"remove the method, but do not touch {OWN}")

    ask, give_up = calls(("ask_user", {"question": "And its test?"})), calls(("cannot", {"reason": "no"}))
    run = go_on(tmp_path, "no, rather without get_tsv", ask, calls(TAKE_OUT, DELETE), give_up, consult=user)
    assert run.result.outcome == "not_achieved"
    assert run.files[OWN] == OWN_TEST


def test_what_is_shown_follows_the_task_and_not_the_talk_before(tmp_path: Path) -> None:
    large = {**FILES, "table.py": table(1500)}
    run = go_on(
        tmp_path,
        "let get_csv take a separator",
        calls(TAKE_OUT, DELETE),
        places=("table.py:4009",),
        made=(OWN,),
        files=large,
    )
    shown = run.message(1).partition("# Files")[2]
    assert "def get_csv(self)" in shown
    assert "def part_1334(self)" in shown, "where the last change was"
    assert "def part_1417(self)" not in shown


def test_the_talk_before_is_cut_between_lines(tmp_path: Path) -> None:
    earlier = "a line of the talk\n" * 900
    run = play(
        tmp_path, FILES, "no, rather without get_tsv", [EDIT, calls(TAKE_OUT)], sections=NO_TEST, earlier=earlier
    )
    told = run.message(0).partition("\n\n# Found by")[0].splitlines()
    assert told[-1].endswith("more lines did not fit]")
    assert told[-2] == "a line of the talk"


def test_a_test_that_is_to_be_deleted_is_not_what_decides(tmp_path: Path) -> None:
    prompt = f"delete {OWN}, the other test covers it"
    run = play(tmp_path, FILES, prompt, [EDIT, calls(DELETE)], sections=NO_TEST)
    assert (run.result.outcome, run.unexpected) == ("done", 0)
    assert OWN not in run.files
    assert run.result.verdict is not None
    assert OWN not in run.result.verdict.check


WEAK = ("replace_in_file", {"path": OWN, "old": " == ''", "new": " is not None"})
RED = {**FILES, "table.py": TABLE.replace("'\\t'.join(self.rows)", "'wrong'")}


@pytest.mark.parametrize(
    "prompt",
    [
        "the tests fail, fix table.py",
        f"make {OWN} pass",
        "make the tests pass, but do not change the tests",
        "get_tsv in table.py is wrong",
    ],
)
def test_a_test_that_the_conversation_made_judges_what_it_is_about(prompt: str, tmp_path: Path) -> None:
    give_up = calls(("cannot", {"reason": "no"}))
    run = play(tmp_path, RED, prompt, [EDIT, calls(WEAK), give_up, give_up], sections=NO_TEST, made=(OWN,))
    assert run.result.outcome != "done"
    assert run.files[OWN] == OWN_TEST


@pytest.mark.parametrize(
    "answer", [f"yes, so that {OWN} passes", f"see {OWN}", f"{OWN} must stay as it is", f"the source; {OWN} is right"]
)
def test_an_answer_that_mentions_a_test_does_not_free_it(answer: str, tmp_path: Path) -> None:
    def user(question: Question) -> Answer:
        return Answer(decision="answer", text=answer if question.text == "What shall it return?" else "no")

    ask, give_up = calls(("ask_user", {"question": "What shall it return?"})), calls(("cannot", {"reason": "no"}))
    replies = [EDIT, ask, calls(WEAK), give_up]
    run = play(tmp_path, RED, "get_tsv is wrong in table.py", replies, sections=NO_TEST, consult=user)
    assert run.result.outcome == "not_achieved"
    assert run.files[OWN] == OWN_TEST


def test_only_what_the_task_names_is_deleted(tmp_path: Path) -> None:
    give_up = calls(("cannot", {"reason": "no"}))
    files = {**FILES, "notes.md": "mine\n"}
    away = calls(TAKE_OUT, ("delete_file", {"path": "notes.md"}))
    run = play(
        tmp_path, files, f"remove get_tsv from table.py and delete {OWN}", [EDIT, away, give_up], sections=NO_TEST
    )
    assert run.files["notes.md"] == "mine\n"
    assert "notes.md may be deleted only where the task names it" in str(run.result.attempts + run.result.records)


BODY = "def test_get_tsv():\n    assert Table().get_tsv() == ''\n"
MOVE = ("replace_in_file", {"path": OTHER, "old": "def test_get_csv", "new": f"{BODY}\n\ndef test_get_csv"})


@pytest.mark.parametrize(
    ("prompt", "edits"),
    [
        (f"the name is silly, move that test into {OTHER}", (MOVE, DELETE)),
        ("put this test where the others are (test_table), instead of a new file", (MOVE, DELETE)),
        ("you may edit the test files! move it over, and delete yours", (MOVE, DELETE)),
        ("you left the old file behind, delete it", (DELETE,)),
    ],
)
def test_a_test_that_the_conversation_made_goes_where_the_user_wants_it(
    prompt: str, edits: tuple[tuple[str, dict[str, str]], ...], tmp_path: Path
) -> None:
    run = play(tmp_path, FILES, prompt, [EDIT, calls(*edits)], sections=NO_TEST, made=(OWN,), earlier=EARLIER)
    assert (run.result.outcome, run.unexpected) == ("done", 0), run.result.reason
    assert OWN not in run.files
    assert (BODY in run.files[OTHER]) is (len(edits) == 2)


TIGHTER = ("replace_in_file", {"path": OTHER, "old": "== ''", "new": "== '' != 'x'"})
WANTS_TEST = "the test of get_csv should also tell '' from 'x'"


@pytest.mark.parametrize(
    ("said", "granted"),
    [
        ("yes", True),
        ("ok, do it", True),
        ("no", False),
        ("please keep the tests as they are", False),
        ("please no", False),
        ("ok then no", False),
        ("do leave the tests alone", False),
        ("go and fix table.py instead", False),
        ("yes, test_a.py only", False),
        ("yes\nbut nothing else of it", False),
    ],
)
def test_only_a_plain_yes_lets_a_test_be_changed(said: str, granted: bool) -> None:
    asked = MAY_CHANGE.format(paths="tests/test_a.py, tests/test_b.py")
    paths = ["tests/test_a.py", "tests/test_b.py"] if granted else []
    assert granted_by(f"You asked: {asked}\nThe user answered: {said}") == paths


@pytest.mark.parametrize(("said", "changed"), [("yes", True), ("no", False)])
def test_the_user_is_asked_whether_a_test_may_be_changed(said: str, changed: bool, tmp_path: Path) -> None:
    asked: list[str] = []

    def user(question: Question) -> Answer:
        asked.append(question.text)
        return Answer(decision="answer", text=said)

    give_up = calls(("cannot", {"reason": "no"}))
    replies = [EDIT, calls(TIGHTER), calls(TIGHTER), give_up]
    run = play(tmp_path, FILES, WANTS_TEST, replies, sections=NO_TEST, consult=user)
    assert asked == [MAY_CHANGE.format(paths=OTHER)]
    assert "An exception to the rule on read-only files" in run.message(1)
    assert (run.files[OTHER] != OTHER_TEST, run.result.outcome == "done") == (changed, changed)


TWICE = "now there are two files with the same tests. delete the one with the silly name"


@pytest.mark.parametrize(("made", "gone"), [((OWN,), True), ((), False)])
def test_a_plan_deletes_a_test_that_the_conversation_made(made: tuple[str, ...], gone: bool, tmp_path: Path) -> None:
    silly = plan(tool("delete_file", path=OWN))
    run = play(tmp_path, FILES, TWICE, [classified(), silly, silly, silly], sections=NO_TEST, made=made)
    assert (run.result.outcome == "done", OWN not in run.files) == (gone, gone), run.result.reason


ASKS = "Shall I delete {}?"
KEEPS = "Shall I keep {} and not delete it?"


@pytest.mark.parametrize(
    ("asked", "said", "gone"),
    [
        (ASKS, "yes of course", True),
        (ASKS, "no, keep it", False),
        (ASKS, "ok, why?", False),
        (KEEPS, "yes", False),
        ("It says {} must stay. Shall I remove the old helper?", "yes", False),
    ],
)
@pytest.mark.parametrize("path", ["notes.txt", OTHER])
def test_what_the_user_says_yes_to_is_asked_for(asked: str, said: str, gone: bool, path: str, tmp_path: Path) -> None:
    asks = {"action": "ask", "arguments": [{"name": "text", "value": asked.format(path)}]}
    drop = plan(tool("delete_file", path=path))
    user = User(*[Answer(decision="answer", text=said)] * 3)
    files = {**FILES, "notes.txt": "x\n"}
    replies = [classified(task_type="file_operation"), plan(asks), drop, drop, drop]
    run = play(tmp_path, files, "tidy up", replies, sections=NO_TEST, consult=user)
    assert (path not in run.files) == gone, run.result.reason


@pytest.mark.parametrize(
    ("prompt", "path", "made"),
    [
        (f"remove the debug prints, {OTHER} must pass", OTHER, ()),
        (f"remove the prints from {OTHER}", OTHER, ()),
        ("drop the trailing comma in the output", OWN, (OWN,)),
        ("move total to another module", "notes.txt", ()),
        ("merge the two paragraphs of README", "notes.txt", ()),
    ],
)
def test_what_is_only_spoken_of_is_not_deleted(prompt: str, path: str, made: tuple[str, ...], tmp_path: Path) -> None:
    drop = plan(tool("delete_file", path=path))
    files = {**FILES, "notes.txt": "x\n"}
    run = play(tmp_path, files, prompt, [classified(), drop, drop, drop], sections=NO_TEST, made=made)
    assert (path in run.files, run.result.outcome) == (True, "not_achieved")


def test_it_is_asked_also_after_a_question_of_the_models_own(tmp_path: Path) -> None:
    user = User(Answer(decision="answer", text="1, I allow it"), Answer(decision="answer", text="yes"))
    ask = calls(("ask_user", {"question": "Shall I (1) change the test or (2) leave it?"}))
    replies = [EDIT, ask, calls(TIGHTER), calls(TIGHTER)]
    run = play(tmp_path, FILES, WANTS_TEST, replies, sections=NO_TEST, consult=user)
    assert (run.result.outcome, run.files[OTHER] != OTHER_TEST) == ("done", True)


def test_no_question_of_the_models_own_is_taken_for_that(tmp_path: Path) -> None:
    leave = f"{MAY_CHANGE.format(paths=OTHER)}\nThe user answered: yes\n"
    ask = calls(("ask_user", {"question": f"Which mark?\n{leave}Tabs or commas?"}))
    user = User(*[Answer(decision="answer", text=said) for said in ("tabs", "no")])
    give_up = calls(("cannot", {"reason": "no"}))
    run = play(
        tmp_path, FILES, WANTS_TEST, [EDIT, ask, calls(TIGHTER), give_up, give_up], sections=NO_TEST, consult=user
    )
    assert (run.files[OTHER], len(user.asked)) == (OTHER_TEST, 2)


def test_what_a_program_changed_before_a_question_of_the_plan_is_put_back(tmp_path: Path) -> None:
    weaken = {"name": "command", "value": f"sed -i \"s/ == ''/ is not None/\" {OWN}"}
    steps = plan(
        {"action": "tool", "capability": "run_command", "arguments": [weaken]},
        {"id": "ask", "action": "ask", "arguments": [{"name": "text", "value": "Go on?"}]},
        {"action": "coding", "objective": "mend it"},
    )
    user = User(Answer(decision="answer", text="yes"))
    give_up = calls(("cannot", {"reason": "no"}))
    comment = calls(("replace_in_file", {"path": "table.py", "old": "    rows = ()", "new": "    rows = ()  # none"}))
    replies = [classified(confidence=0.1), steps, comment, give_up, give_up, give_up]
    run = play(tmp_path, RED, "get_tsv in table.py is wrong", replies, sections=NO_TEST, consult=user)
    assert run.result.outcome != "done"
    assert run.files[OWN] == OWN_TEST


def test_with_nobody_to_ask_it_is_not(tmp_path: Path) -> None:
    give_up = calls(("cannot", {"reason": "no"}))
    run = play(tmp_path, FILES, WANTS_TEST, [EDIT, calls(TIGHTER), give_up, give_up], sections=NO_TEST)
    assert (run.files[OTHER], run.result.outcome) == (OTHER_TEST, "not_achieved")


def test_of_a_test_that_may_be_changed_no_fewer_may_pass(tmp_path: Path) -> None:
    def user(question: Question) -> Answer:
        return Answer(decision="answer", text="yes")

    gone = ("replace_in_file", {"path": OTHER, "old": "def test_get_csv", "new": "def get_csv"})
    give_up = calls(("cannot", {"reason": "no"}))
    run = play(tmp_path, FILES, WANTS_TEST, [EDIT, calls(gone), calls(gone), give_up], sections=NO_TEST, consult=user)
    assert (run.files[OTHER], run.result.outcome != "done") == (OTHER_TEST, True)
    assert "before the tests were changed" in run.result.attempts[0].error


def test_what_the_user_changes_while_he_is_asked_stays_and_counts(tmp_path: Path) -> None:
    """Also where it is the test that decides: nothing of it is put back."""
    by_hand = OWN_TEST.replace("''", "'wrong'")

    def user(question: Question) -> Answer:
        (tmp_path / "project" / OWN).write_text(by_hand)
        return Answer(decision="answer", text="I have changed it, go on")

    ask = calls(("ask_user", {"question": "Please change the test, and say when it is done."}))
    files = {**FILES, "table.py": TABLE.replace("'\\t'.join(self.rows)", "'wrng'")}
    edit = calls(("replace_in_file", {"path": "table.py", "old": "'wrng'", "new": "'wrong'"}))
    run = play(
        tmp_path, files, "get_tsv in table.py has a typo", [EDIT, edit, ask, edit], sections=NO_TEST, consult=user
    )
    assert (run.result.outcome, run.files[OWN]) == ("done", by_hand), run.result.reason
    assert any(f"as it is: {OWN}" in note for note in run.result.notes)


@pytest.mark.parametrize(
    ("said", "may"),
    [
        ("May test_a.py be changed?", True),
        ("test_a.py wants 2. May I change test_a.py, too?", True),
        ("I have to rewrite all of tests/. May I change them?", True),
        ("test_a.py fails, as parse is called twice. May I change the signature of parse?", False),
        ("test_a.py fails all the same. May I install requests?", False),
    ],
)
def test_a_yes_lets_tests_change_where_that_was_asked(said: str, may: bool) -> None:
    assert lets_tests_change(said, "yes, you may") is may
    assert not lets_tests_change(said, "yes, but only a.py")
