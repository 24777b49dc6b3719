"""Tests that are made for a task that nothing fails because of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from codur.events import TestMade
from codur.questions import Answer, Guidance, Question
from codur.types import Limits, ScopeRules
from tests.runs.kit import NEEDS_MODEL, Played, play
from tests.runs.test_approval import User
from tests.runs.test_plans import RIGHT, classified
from tests.support.groq_server import ServerReply, calls, text

CODE = '''"""Dates as words."""

from datetime import date

NAMES = ("January", "February", "March")


def month(day: date) -> str:
    """The name of a month of spring or before."""
    return NAMES[day.month - 1]


def century(day: date) -> int:
    """The century that a day is in: the years 1801 to 1900 are the 19th."""
    if day.year < 1900:
        raise ValueError("too early")
    return day.year // 100 + 1
'''
OLD_TEST = """from datetime import date

from dates import month


def test_month():
    assert month(date(2000, 2, 1)) == 'February'
"""
PROJECT = {"dates.py": CODE, "tests/test_dates.py": OLD_TEST, "tests/conftest.py": ""}
REPORT = "fix issue 123: century(date(1850, 1, 1)) crashes with ValueError, dates before 1900 must work"
TEST = """from datetime import date

from dates import century


def test_dates_before_1900():
    assert century(date(1850, 1, 1)) == 19
"""
PATH = "tests/test_dates_before_1900.py"
EDIT = classified(task_type="code_fix", suggested_action="edit", confidence=0.95, detected_files=["dates.py"])
NEW = classified(task_type="code_generation", suggested_action="edit", confidence=0.95, detected_files=["dates.py"])
FIXED = "def century(day: date) -> int:\n    return (day.year - 1) // 100 + 1\n"
FIX = calls(("replace_function", {"path": "dates.py", "name": "century", "code": FIXED}))
BROKEN = CODE.replace("NAMES[day.month - 1]", "NAMES[day.month]").replace(
    CODE[CODE.index("    if day.year") :], FIXED.split("\n")[1] + "\n"
)
BREAKS_MONTH = calls(("replace_file_content", {"path": "dates.py", "content": BROKEN}))
MAKES = {"verification": {"make_check": "auto"}}


def answer(test: str) -> ServerReply:
    return text(f"```python\n{test}```\n")


def run(place: Path, replies: Sequence[ServerReply], prompt: str = REPORT, **fields: Any) -> Played:
    fields = {"sections": MAKES, **fields}
    return play(place, fields.pop("files", PROJECT), prompt, list(replies), **fields)


def test_a_test_is_made_first_and_passes_beside_the_projects_own(tmp_path: Path) -> None:
    played = run(tmp_path, [EDIT, answer(TEST), FIX])
    result = played.result
    assert (result.outcome, result.model_calls, played.unexpected) == ("done", 3, 0)
    assert "make_check" in played.nodes
    assert result.before is not None
    assert result.before.failing == (f"{PATH}::test_dates_before_1900",)
    assert result.verdict is not None
    assert result.verdict.check == f"python -m pytest {PATH} && python -m pytest"
    assert (result.verdict.tests_passed, result.verdict.tests_total) == (2, 2)
    assert result.changed_files == ("dates.py",)
    assert played.files == {**PROJECT, "dates.py": played.files["dates.py"]}
    assert any("--keep-test, or k where you are asked" in note for note in result.notes)
    (made,) = [event for event in played.events if isinstance(event, TestMade)]
    assert (made.path, made.text) == (PATH, TEST)
    assert "ValueError: too early" in made.failure
    assert TEST.strip() in played.message(2)
    assert "too early" in played.message(2)


def test_no_agent_can_leave_the_test_that_was_made(tmp_path: Path) -> None:
    finish = ("finish", {"reason": "the test is not about it"})
    lazy = calls(("replace_file_content", {"path": "dates.py", "content": CODE + "# TODO\n"}), finish)
    played = run(tmp_path, [NEW, answer(TEST), lazy, calls(finish), calls(finish)])
    assert "make_check" in played.nodes
    assert played.result.outcome == "not_achieved"


def test_what_needs_a_module_that_is_not_installed_stays_and_is_told_as_not_run(tmp_path: Path) -> None:
    plots = "import plotting_of_nobody as plt\n\n\ndef plot():\n    return plt.figure()\n"
    test = "from plots import plot\n\n\ndef test_plot_draws_a_figure():\n    assert plot() is not None\n"
    kind = classified(task_type="code_generation", suggested_action="edit", confidence=0.95, detected_files=[])
    edit = calls(("replace_file_content", {"path": "plots.py", "content": plots}))
    finish = calls(("finish", {"reason": "plotting_of_nobody has to be installed."}))
    prompt = "write plots.py with a function plot that draws a figure"
    played = run(tmp_path, [kind, answer(test), edit, finish], prompt, files={"data.py": "VALUES = [1, 2]\n"})
    assert (played.result.outcome, played.unexpected) == ("done", 0)
    assert played.files["plots.py"] == plots
    assert "plotting_of_nobody is not installed for this Python" in played.message(3)
    assert played.result.verdict is not None
    assert played.result.verdict.status == "no_check"
    assert "plotting_of_nobody is not installed here" in played.result.verdict.note


def test_what_is_invented_excuses_no_test_of_the_project(tmp_path: Path) -> None:
    lazy = "def century(day):\n    import made_up_of_nobody\n    return made_up_of_nobody.century(day)\n"
    edit = calls(("replace_function", {"path": "dates.py", "name": "century", "code": lazy}))
    finish = calls(("finish", {"reason": "made_up_of_nobody has to be installed."}))
    files = {**PROJECT, "tests/test_dates.py": TEST}
    played = run(tmp_path, [edit, finish, finish], "make the tests pass", files=files)
    assert played.result.outcome != "done"
    assert played.files["dates.py"] == CODE


def test_a_notebook_is_mended_with_a_test_that_runs_its_cells(tmp_path: Path) -> None:
    cell = {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": [],
        "source": ["total = sum([1, 2]) + 1"],
    }
    form = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    test = """import json
from pathlib import Path


def test_total_is_the_sum():
    names = {}
    for cell in json.loads(Path("sums.ipynb").read_text())["cells"]:
        exec("".join(cell["source"]), names)
    assert names["total"] == 3
"""
    kind = classified(task_type="code_fix", suggested_action="edit", confidence=0.95, detected_files=["sums.ipynb"])
    edit = calls(("replace_in_file", {"path": "sums.ipynb", "old": "sum([1, 2]) + 1", "new": "sum([1, 2])"}))
    prompt = "the total in sums.ipynb is too high, it should be 3"
    played = run(tmp_path, [kind, answer(test), edit], prompt, files={"sums.ipynb": json.dumps(form, indent=1)})
    assert (played.result.outcome, played.unexpected) == ("done", 0)
    assert json.loads(played.files["sums.ipynb"])["cells"][0]["source"] == ["total = sum([1, 2])"]
    assert any("outputs in sums.ipynb are of before" in note for note in played.result.notes)
    assert "# %% [code] 1, In[1]\ntotal = sum([1, 2]) + 1\n" in played.message(2)


TOLD = "Said while this was worked on, and holds:"
OLDER = "is older than the last of that"


def _speaker(guidance: Guidance, words: str, sign: Answer) -> User:
    """A user who says something more while the test is shown."""

    def answers(question: Question) -> Answer:
        guidance.say(words)
        return sign

    return User(answers)


def test_what_is_said_meanwhile_stands_below_the_task_and_before_the_talk(tmp_path: Path) -> None:
    guidance = Guidance()
    guidance.say("also before the year 1000")
    user = _speaker(guidance, "raise no ValueError", Answer(decision="approve"))
    replies = [EDIT, answer(TEST), FIX]
    played = run(tmp_path, replies, consult=user, guidance=guidance, earlier="User: hello\nOutcome: done")
    assert (played.result.outcome, played.unexpected) == ("done", 0)
    first = f"{REPORT}\n\n{TOLD}\n- also before the year 1000"
    for number in (0, 1):
        assert f"# Task\n{first}\n\nEarlier in this conversation" in played.message(number)
    last = played.message(2).partition("\n\nEarlier in this conversation")[0]
    assert last.startswith(f"# Task\n{first}\n- raise no ValueError\n\n(The test")
    assert OLDER in last


def test_a_test_that_was_made_before_the_last_words_does_not_decide_against_them(tmp_path: Path) -> None:
    guidance = Guidance()
    user = _speaker(guidance, "the years 1800 to 1899 are the 18th", Answer(decision="approve"))
    said = FIXED.replace("(day.year - 1) // 100 + 1", "day.year // 100")
    edit = ("replace_function", {"path": "dates.py", "name": "century", "code": said})
    finish = ("finish", {"reason": "the test expects what was said no more"})
    replies = [EDIT, answer(TEST), calls(edit, finish), calls(finish)]
    played = run(tmp_path, replies, consult=user, guidance=guidance)
    assert (played.result.outcome, played.unexpected) == ("not_achieved", 0), "no test shows that it is done"
    assert "day.year // 100\n" in played.files["dates.py"]
    assert any("the test expects what was said no more" in note for note in played.result.notes)


IDLE = calls(
    ("replace_file_content", {"path": "dates.py", "content": f"{CODE}# TODO\n"}), ("finish", {"reason": "no more"})
)


@pytest.mark.parametrize(
    "answers",
    [
        (Answer(decision="approve", text="looks good, thanks"),),
        (Answer(decision="reject", text="take another year"), Answer(decision="approve")),
    ],
)
def test_words_beside_the_answer_take_no_force_from_the_test(answers: tuple[Answer, ...], tmp_path: Path) -> None:
    tests = [answer(TEST)] * len(answers)
    cannot = calls(("cannot", {"reason": "no"}))
    played = run(tmp_path, [EDIT, *tests, IDLE, cannot, cannot], consult=User(*answers))
    assert (played.result.outcome, played.files["dates.py"]) == ("not_achieved", CODE)


def test_words_that_the_test_knows_change_nothing(tmp_path: Path) -> None:
    guidance = Guidance()
    guidance.say("the years 1800 to 1899 are the 18th")
    played = run(tmp_path, [EDIT, answer(TEST), FIX], guidance=guidance)
    assert OLDER not in played.message(2)
    assert "finish" not in [tool["function"]["name"] for tool in played.requests[2].body["tools"]]


def test_what_a_test_of_no_use_held_is_no_measure_for_the_one_after(tmp_path: Path) -> None:
    slip = f"{TEST}\n\ndef test_more():\n    assert {{}}['x'] == century(date(1850, 1, 1))\n"
    played = run(tmp_path, [EDIT, answer(slip), answer(TEST), FIX])
    assert (played.result.outcome, played.result.model_calls, played.result.attempts) == ("done", 4, ())


@pytest.mark.parametrize(
    ("prompt", "path"),
    [
        ("make a table of all options in docs/options.md from the argparse code", "docs/options.md"),
        ("update CHANGELOG.md for the next release", "CHANGELOG.md"),
        ("some keys are missing in de.json and fr.json, add them", "de.json"),
    ],
)
def test_none_is_made_where_a_document_or_data_is_to_hold_something(prompt: str, path: str, tmp_path: Path) -> None:
    edit = classified(
        task_type="code_generation", suggested_action="edit", confidence=0.95, detected_files=["dates.py"]
    )
    words = calls(("replace_file_content", {"path": path, "content": "[]\n"}))
    files = {"dates.py": CODE, "de.json": "{}\n", "CHANGELOG.md": "# 1\n"}
    played = run(tmp_path, [edit, words], prompt=prompt, files=files)
    assert "make_check" not in played.nodes
    assert (played.result.outcome, played.files[path]) == ("done", "[]\n")
    assert played.result.verdict is not None
    assert (played.result.verdict.note == "only documents were changed") is path.endswith(".md")


@pytest.mark.parametrize(
    ("found", "made"),
    [
        (["hosts/a.yaml", "schema.json", "README.md", "tools/validate.py", "check.sh"], False),
        (["docs/index.rst", "docs/guide.rst", "docs/conf.py", "Makefile"], False),
        (["hosts/a.yaml", "dates.py"], True),
        (["tools/validate.py", "hosts/a.yaml"], True),
    ],
)
def test_none_is_made_for_data_settings_and_documents(found: list[str], made: bool, tmp_path: Path) -> None:
    edit = classified(task_type="code_fix", suggested_action="edit", confidence=0.95, detected_files=found)
    words = calls(("replace_file_content", {"path": "hosts/a.yaml", "content": "a: 1\n"}))
    files = {**dict.fromkeys(found, "# a\n"), "dates.py": CODE}
    replies = [edit, text("NONE: no program"), words] if made else [edit, words]
    played = run(tmp_path, replies, prompt="the disk sizes are wrong, mend what is wrong", files=files)
    assert (played.result.outcome, played.result.model_calls, played.unexpected) == ("done", len(replies), 0)


def test_one_is_made_for_a_program_that_writes_data(tmp_path: Path) -> None:
    prompt = f"Add a method that saves to report.json. {REPORT}"
    assert "make_check" in run(tmp_path, [EDIT, answer(TEST), FIX], prompt=prompt).nodes


def test_none_is_made_for_documents(tmp_path: Path) -> None:
    edit = classified(
        task_type="code_generation", suggested_action="edit", confidence=0.95, detected_files=["README.md"]
    )
    words = calls(("replace_file_content", {"path": "README.md", "content": "# Dates\n\nSee `century`.\n"}))
    played = run(
        tmp_path, [edit, words], prompt="the readme lacks century", files={**PROJECT, "README.md": "# Dates\n"}
    )
    assert (played.result.outcome, played.result.model_calls) == ("done", 2)


LONG = "".join(f"def month_{number}():\n    return {number}\n\n\n" for number in range(400))


def test_a_test_is_made_with_no_more_around_it_than_an_edit(tmp_path: Path) -> None:
    files = {**PROJECT, "dates.py": CODE + LONG, "tests/test_dates.py": OLD_TEST + LONG}
    sections = {**MAKES, "context": {"source_tokens": 1_000}}
    played = run(tmp_path, [EDIT, answer(TEST), FIX], files=files, sections=sections)
    assert played.result.outcome == "done"
    assert len(played.message(1)) < 6_000
    assert OLD_TEST in played.message(1), "an example of how tests are written has room in any case"


def test_the_example_is_the_test_that_shares_most_with_the_task(tmp_path: Path) -> None:
    """Files that are near by other words, such as what every test imports, are no better example."""
    other = "from dates import month\n\n\ndef test_of_another_thing():\n    assert month\n"
    eras = "import dates\n\n\ndef test_after():\n    assert dates.century\n    # ValueError issue 12\n"
    files = {**PROJECT, "tests/test_a.py": other, "tests/test_eras.py": eras}
    played = run(tmp_path, [EDIT, answer(TEST), FIX], files=files)
    assert played.result.outcome == "done"
    assert "===== tests/test_eras.py" in played.message(1)


def test_what_a_test_is_called_after_tells_more_than_words_in_it(tmp_path: Path) -> None:
    """Of a long one the tests that are like the task are shown, with their helpers, and not how it begins."""
    other = "from dates import century, month\n\n\ndef test_of_another_thing():\n    assert month  # issue crashes\n"
    helper = "def cent(year):\n    return century(date(year, 1, 1))\n\n\n"
    many = "".join(f"def test_year_{n}():\n    assert {n + 1}\n\n\n" for n in range(30))
    like = f"def test_century():\n    assert cent(1950) == 20\n\n\n{many}"
    like = f"{OLD_TEST.replace('import month', 'import century, month')}\n\n{helper}{many}{like}"
    files = {"dates.py": CODE, "tests/a/test_a.py": other, "tests/eras/test_centuries.py": like}
    sections = {**MAKES, "context": {"source_tokens": 600}}
    played = run(tmp_path, [EDIT, answer(TEST), FIX], files=files, sections=sections)
    assert played.result.before is not None
    assert played.result.before.failing == ("tests/eras/test_dates_before_1900.py::test_dates_before_1900",)
    shown = played.message(1).partition("===== tests/eras/test_centuries.py")[2]
    assert "def test_century():\n    assert cent(1950)" in shown
    assert "def cent(year):" in shown
    assert "not shown: test_year_" in shown


def test_it_lies_beside_the_tests_of_the_same_source(tmp_path: Path) -> None:
    other = "def test_a():\n    assert True\n"
    files = {"dates.py": CODE, **{f"tests/a/test_{n}.py": other for n in range(70)}, "tests/z/test_dates.py": OLD_TEST}
    played = run(tmp_path, [EDIT, answer(TEST), FIX], files=files)
    assert played.result.before is not None
    assert played.result.before.failing == ("tests/z/test_dates_before_1900.py::test_dates_before_1900",)
    assert "===== tests/z/test_dates.py" in played.message(1)


def test_where_a_test_of_no_use_failed_is_shown(tmp_path: Path) -> None:
    lower = f"{LONG}def deep(day):\n    return {{}}[day]\n\n\n{LONG}"
    hidden = '__import__("lo" + "wer").__dict__["de" + "ep"](day)'
    files = {**PROJECT, "dates.py": CODE.replace('raise ValueError("too early")', hidden)}
    sections = {**MAKES, "context": {"source_tokens": 1_500}}
    played = run(
        tmp_path, [EDIT, answer(TEST), answer(TEST), FIX], files=files | {"lower.py": lower}, sections=sections
    )
    assert any("the task is about ValueError" in note for note in played.result.notes)
    assert "return {}[day]" in played.message(3)


def test_what_passed_before_must_still_pass(tmp_path: Path) -> None:
    month = "def month(day: date) -> str:\n    return NAMES[day.month - 1]\n"
    mends = calls(("replace_function", {"path": "dates.py", "name": "month", "code": month}))
    played = run(tmp_path, [EDIT, answer(TEST), BREAKS_MONTH, mends])
    assert (played.result.outcome, played.result.iterations) == ("done", 2)
    (attempt,) = played.result.attempts
    assert "test_month" in attempt.error
    assert 0.5 <= attempt.progress < 1
    assert played.files["tests/test_dates.py"] == OLD_TEST


def test_a_test_that_passes_now_is_asked_for_once_more(tmp_path: Path) -> None:
    green = TEST.replace("1850, 1, 1)) == 19", "2001, 1, 1)) == 21")
    played = run(tmp_path, [EDIT, answer(green), answer(TEST), FIX])
    assert (played.result.outcome, played.result.model_calls) == ("done", 4)
    assert "it passes as the program is now" in played.message(2)
    assert played.result.verdict is not None
    assert played.result.verdict.check.startswith(f"python -m pytest {PATH}")


def test_who_edits_is_told_that_a_test_passes_as_it_is(tmp_path: Path) -> None:
    green = TEST.replace("1850, 1, 1)) == 19", "2001, 1, 1)) == 21")
    cannot = calls(("cannot", {"reason": "It does so already."}))
    played = run(tmp_path, [EDIT, answer(green), answer(green), cannot])
    assert "passes as the program is now, so that the code may do already" in played.message(3)
    assert (played.result.outcome, played.result.changed_files) == ("not_achieved", ())
    assert played.result.reason.endswith("It does so already.")


def test_where_no_test_can_be_made_that_is_said_and_nothing_else_changes(tmp_path: Path) -> None:
    wrong = TEST.replace("from dates import century", "from calendars import century")
    played = run(tmp_path, [EDIT, answer(wrong), answer(wrong), FIX])
    result = played.result
    assert (result.outcome, result.exit_code, result.model_calls) == ("done", 0, 4)
    (note,) = [note for note in result.notes if "no test shows that this is done" in note]
    assert "it uses nothing of the project" in note
    assert result.before is not None
    assert result.verdict is not None
    assert (result.before.status, result.verdict.status) == ("passed", "passed")
    assert result.verdict.check == "python -m pytest"


def test_a_model_that_sees_no_way_is_not_asked_again(tmp_path: Path) -> None:
    played = run(tmp_path, [EDIT, text("NONE: only a text is to be changed."), FIX])
    assert (played.result.outcome, played.result.model_calls) == ("done", 3)
    assert any(note.endswith("only a text is to be changed.") for note in played.result.notes)


def test_something_new_gets_its_test_and_only_its_name_may_be_missing(tmp_path: Path) -> None:
    new = "from dates import weekday\n\n\ndef test_weekday():\n    assert weekday(2026, 11, 22) == 'Sunday'\n"
    code = "\n\ndef weekday(year, month, day):\n    return date(year, month, day).strftime('%A')\n"
    adds = calls(("replace_file_content", {"path": "dates.py", "content": CODE + code}))
    prompt = "add a function weekday(year, month, day) to dates.py that gives the English name of the day"
    files = {"dates.py": CODE}
    played = run(tmp_path, [NEW, answer(new), adds], prompt, files=files)
    assert (played.result.outcome, played.result.model_calls) == ("done", 3)
    assert played.result.verdict is not None
    assert played.result.verdict.check == "python -m pytest test_weekday.py"
    assert played.result.verdict.passed
    assert set(played.files) == {"dates.py"}


def test_the_user_may_keep_it(tmp_path: Path) -> None:
    user = User(Answer(decision="approve", keep=True))
    played = run(tmp_path, [EDIT, answer(TEST), FIX], consult=user)
    (question,) = user.asked
    assert question.check is not None
    assert (question.kind, question.check.entry, question.check.text) == ("test", PATH, TEST)
    assert "ValueError: too early" in question.failure
    assert played.files[PATH] == TEST
    assert played.result.changed_files == ("dates.py", PATH)
    assert f"+++ b/{PATH}" in played.result.diff


def test_the_user_may_do_without_it(tmp_path: Path) -> None:
    played = run(tmp_path, [EDIT, answer(TEST), FIX], consult=User(Answer(decision="reject")))
    assert played.result.outcome == "done"
    assert any("you did not want the one that was made" in note for note in played.result.notes)
    assert played.result.verdict is not None
    assert played.result.verdict.check == "python -m pytest"


def test_what_the_user_says_beside_yes_is_told_to_who_edits(tmp_path: Path) -> None:
    user = User(Answer(decision="approve", text="but keep the name"))
    played = run(tmp_path, [EDIT, answer(TEST), FIX], consult=user)
    assert played.result.outcome == "done"
    assert "but keep the name" in played.message(2)


def test_the_user_may_ask_for_another_one_in_words(tmp_path: Path) -> None:
    other = TEST.replace("1850, 1, 1)) == 19", "1750, 1, 1)) == 18")
    user = User(Answer(decision="reject", text="take the year 1750"), Answer(decision="approve"))
    played = run(tmp_path, [EDIT, answer(TEST), answer(other), FIX], consult=user)
    assert (played.result.outcome, played.result.model_calls, len(user.asked)) == ("done", 4, 2)
    assert "take the year 1750" in played.message(2)
    assert user.asked[1].check is not None
    assert user.asked[1].check.text == other


def test_the_user_may_change_it_and_is_asked_again_if_it_is_of_no_use(tmp_path: Path) -> None:
    other = TEST.replace("1850, 1, 1)) == 19", "1750, 1, 1)) == 18")
    edits = [Answer(decision="edit", text=text) for text in (TEST.replace("== 19", "=="), other)]
    user = User(*edits)
    played = run(tmp_path, [EDIT, answer(TEST), FIX], consult=user)
    assert (played.result.outcome, played.result.model_calls, len(user.asked)) == ("done", 3, 2)
    assert user.asked[1].text.startswith("it is no Python")
    assert "date(1750, 1, 1)" in played.message(2)


def test_what_was_approved_beforehand_is_not_asked_about(tmp_path: Path) -> None:
    played = run(tmp_path, [EDIT, answer(TEST), FIX], consult=User(), approved=True, keep_test=True)
    assert played.result.outcome == "done"
    assert played.files[PATH] == TEST


def test_the_test_is_no_file_to_edit_and_nothing_of_a_failed_run_stays(tmp_path: Path) -> None:
    weaker = calls(("replace_file_content", {"path": PATH, "content": "def test_nothing():\n    pass\n"}))
    played = run(tmp_path, [EDIT, answer(TEST), weaker], limits=Limits(max_iterations=1), keep_test=True)
    assert played.result.outcome == "limit"
    assert "is protected and is not edited" in played.result.attempts[0].error
    assert played.files == PROJECT
    assert not played.result.changed_files


def test_a_narrow_scope_is_no_hindrance(tmp_path: Path) -> None:
    scope = ScopeRules(allow=("dates.py",), max_files=1)
    played = run(tmp_path, [EDIT, answer(TEST), FIX], scope=scope, state=tmp_path / "state")
    assert (played.result.outcome, played.result.scope_violations) == ("done", ())
    assert played.result.changed_files == ("dates.py",)
    assert not [note for note in played.result.notes if "changed while programs ran" in note]


REFACTOR = classified(task_type="refactor", suggested_action="edit", confidence=0.95)


@pytest.mark.parametrize(
    ("replies", "fields"),
    [
        ([EDIT, FIX], {"sections": {}}),
        ([EDIT], {"limits": Limits(max_llm_calls=1)}),
        ([REFACTOR, FIX], {"prompt": "refactor century in dates.py so that it is one line"}),
        ([EDIT, FIX], {"check_command": "true"}),
        ([EDIT, RIGHT], {"files": NEEDS_MODEL, "prompt": "main.py is wrong"}),
        ([EDIT, FIX], {"files": {**PROJECT, "tests/test_dates.py": OLD_TEST.replace("'February'", "'May'")}}),
    ],
    ids=["never", "one call", "a refactoring", "--check", "expected output", "red already"],
)
def test_it_costs_no_call_where_it_is_of_no_use(
    replies: list[ServerReply], fields: dict[str, Any], tmp_path: Path
) -> None:
    played = run(tmp_path, replies, **{"limits": Limits(max_iterations=1), **fields})
    assert "policy" in played.nodes
    assert "make_check" not in played.nodes


def test_in_a_project_of_unittest_it_is_called_and_written_as_the_others_are(tmp_path: Path) -> None:
    own = "import unittest\n\nfrom dates import month\n\n\nclass Dates(unittest.TestCase):\n"
    own += "    def test_month(self):\n        self.assertTrue(month)\n"
    files = {"dates.py": CODE, "tests/dates_tests.py": own, "tests/__init__.py": ""}
    files["tox.ini"] = "[testenv]\ncommands = python -m unittest tests.dates_tests\n"
    played = run(tmp_path, [EDIT, answer(TEST), FIX], files=files, keep_test=True)
    assert played.result.outcome == "done"
    assert played.files["tests/dates_before_1900_tests.py"] == TEST
    told = str(played.requests[1].body["messages"])
    assert "TestCase, which pytest can run" in told
    assert "class Dates(unittest.TestCase)" in told


@pytest.mark.parametrize(
    ("before", "prompt", "kept"),
    [
        ("century() is to take strings, too, with tests", f"also: {REPORT}", True),
        ("century() is to take strings, too.\n\nWith tests.", f"also: {REPORT}", True),
        ("century() is to take strings, too, with tests", REPORT, False),
        ("century() is to take strings, too", f"also: {REPORT}", False),
    ],
)
def test_what_goes_on_with_a_task_that_was_to_have_tests_has_them(
    before: str, prompt: str, kept: bool, tmp_path: Path
) -> None:
    played = run(tmp_path, [EDIT, answer(TEST), FIX], prompt, earlier=f"User: {before}\nOutcome: done")
    assert (played.result.outcome, PATH in played.files) == ("done", kept)


@pytest.mark.parametrize(("said", "kept"), [("", True), (" Leave the tests alone.", False), (" No other file!", False)])
def test_what_is_new_in_a_project_with_tests_keeps_the_test_that_nobody_was_asked_about(
    said: str, kept: bool, tmp_path: Path
) -> None:
    played = run(tmp_path, [NEW, answer(TEST), FIX], f"{REPORT}{said}")
    assert (played.result.outcome, PATH in played.files) == ("done", kept)
