"""Tasks that change the tests that judge them: who is asked, what may be edited, what a pass is then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import CodingSettings
from codur.events import CheckRan
from codur.nodes.parts.finding import asks_for_tests
from codur.questions import MAY_CHANGE, Answer
from codur.ui.shown.run_report import summary_lines
from tests.runs.kit import Played, play
from tests.runs.test_approval import YES, User
from tests.runs.test_make_check import MAKES
from tests.runs.test_plans import CODING, plan
from tests.support.groq_server import ServerReply, calls, json_reply, text

FILES = {
    "sums.py": "def total(numbers):\n    return sum(numbers)\n",
    "test_sums.py": "from sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n\n\n"
    "def test_none():\n    assert total([]) == 0\n",
}
RENAMED = {
    path: text.replace("total(", "amount(").replace("import total", "import amount") for path, text in FILES.items()
}
GUTTED = RENAMED["test_sums.py"].partition("\n\n\ndef test_none")[0] + "\n"
EDIT_SAID = {
    "task_type": "refactor",
    "confidence": 0.95,
    "detected_files": ["sums.py"],
    "suggested_action": "edit",
    "reasoning": "A name is to be another one.",
}
EDIT = json_reply(EDIT_SAID)
PROMPT = "rename total to amount everywhere, and keep what it does"
ALONE = "rename total to amount everywhere"


def edits(tests: str) -> ServerReply:
    return calls(
        ("replace_file_content", {"path": "sums.py", "content": RENAMED["sums.py"]}),
        ("replace_file_content", {"path": "test_sums.py", "content": tests}),
    )


def run(place: Path, *replies: ServerReply, prompt: str = PROMPT, **given: Any) -> Played:
    edits = iter(replies)
    return play(place, FILES, prompt, lambda body: next(edits) if body.get("tools") else EDIT, **given)


@pytest.mark.parametrize("name", ["total", "sums.total", "`sums::total`"])
def test_the_user_is_asked_and_the_tests_as_changed_judge(name: str, tmp_path: Path) -> None:
    user = User(YES)
    prompt = PROMPT.replace("total", name)
    played = run(tmp_path, edits(RENAMED["test_sums.py"]), prompt=prompt, consult=user)
    (question,) = user.asked
    assert question.effects is not None
    assert question.effects.tests == ("test_sums.py",)
    assert (played.result.exit_code, played.files) == (0, RENAMED)
    assert played.result.verdict is not None
    assert played.result.verdict.tests_passed == 2


def test_so_it_is_where_the_check_is_a_command_of_the_users(tmp_path: Path) -> None:
    user = User(YES)
    command = "python -m pytest test_sums.py"
    played = run(tmp_path, edits(RENAMED["test_sums.py"]), consult=user, check_command=command)
    assert (played.result.exit_code, played.files, len(user.asked)) == (0, RENAMED, 1)


def test_who_says_no_keeps_everything(tmp_path: Path) -> None:
    played = run(tmp_path, consult=User(Answer(decision="reject")))
    assert (played.result.exit_code, played.files) == (5, FILES)


def test_with_nobody_to_ask_it_takes_the_option(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    refused = run(tmp_path / "one")
    assert (refused.result.outcome, refused.files) == ("refused", FILES)
    assert "--may-edit-tests" in refused.result.remedy
    allowed = run(tmp_path / "two", edits(RENAMED["test_sums.py"]), may_edit_tests=True)
    assert (allowed.result.exit_code, allowed.files) == (0, RENAMED)


@pytest.mark.parametrize(
    ("prompt", "option"),
    [
        ("the empty case is off for good, take it out of sums.py; remove what is dead", True),
        ("the empty case is off for good, remove it and what is dead after that, including its tests", False),
    ],
)
def test_what_is_taken_out_may_take_its_tests_with_it(prompt: str, option: bool, tmp_path: Path) -> None:
    gutted = FILES["test_sums.py"].partition("\n\n\ndef test_none")[0] + "\n"
    both = calls(
        ("replace_in_file", {"path": "sums.py", "old": "sum(numbers)", "new": "numbers[0] + sum(numbers[1:])"}),
        ("replace_file_content", {"path": "test_sums.py", "content": gutted}),
    )
    played = run(tmp_path, both, both, prompt=prompt, may_edit_tests=option)
    assert (played.result.exit_code, played.files["test_sums.py"]) == (0, gutted)


@pytest.mark.parametrize("prompt", ["rename the parameter of remove in sums.py", "tidy sums.py. Do not delete tests"])
def test_a_name_or_a_ban_takes_nothing_out(prompt: str, tmp_path: Path) -> None:
    gutted = FILES["test_sums.py"].partition("\n\n\ndef test_none")[0] + "\n"
    edit = calls(("replace_file_content", {"path": "test_sums.py", "content": gutted}))
    played = play(tmp_path, FILES, prompt, lambda body: edit if body.get("tools") else EDIT, may_edit_tests=True)
    assert (played.result.outcome, played.files) == ("not_achieved", FILES)


def test_what_is_replaced_by_another_file_may_go(tmp_path: Path) -> None:
    files = {**FILES, "setup.py": "import setuptools\n\nsetuptools.setup(name='sums')\n"}
    made = "[project]\nname = 'sums'\nversion = '1'\n"
    both = calls(
        ("replace_file_content", {"path": "pyproject.toml", "content": made}), ("delete_file", {"path": "setup.py"})
    )
    reply = json_reply({**EDIT_SAID, "detected_files": ["setup.py"]})
    played = play(tmp_path, files, "replace setup.py with a pyproject.toml", [reply, both])
    assert (played.result.exit_code, played.files) == (0, {**FILES, "pyproject.toml": made})


def test_fewer_tests_are_no_pass(tmp_path: Path) -> None:
    played = run(tmp_path, edits(GUTTED), edits(RENAMED["test_sums.py"]), may_edit_tests=True)
    assert (played.result.exit_code, played.files) == (0, RENAMED)
    assert "2 did before the tests were changed" in played.result.attempts[0].error


@pytest.mark.parametrize("prompt", [ALONE, "rename total to amount", "Rename `sums.total` to `amount`."])
def test_a_new_name_and_no_more_needs_no_model(prompt: str, tmp_path: Path) -> None:
    user = User(YES)
    played = play(tmp_path, FILES, prompt, [], key=None, consult=user)
    tests = FILES["test_sums.py"].replace("import total", "import amount").replace("total([", "amount([")
    assert (played.result.exit_code, played.result.model_calls) == (0, 0)
    assert played.files == {"sums.py": RENAMED["sums.py"], "test_sums.py": tests}
    assert played.result.solved_by == "rename_symbol"
    assert played.result.verdict is not None
    assert (played.result.verdict.status, played.result.verdict.tests_passed) == ("passed", 2)
    (question,) = user.asked
    assert question.effects is not None
    assert question.effects.tests == ("test_sums.py",)


def test_who_says_everywhere_means_the_tests_too_where_nobody_can_be_asked(tmp_path: Path) -> None:
    played = play(tmp_path, FILES, ALONE, [], key=None)
    tests = FILES["test_sums.py"].replace("import total", "import amount").replace("total([", "amount([")
    assert (played.result.exit_code, played.files["test_sums.py"]) == (0, tests)


@pytest.mark.parametrize(
    ("prompt", "may"),
    [
        ("mean_of in sums.py is deprecated since 2.0, remove them for 3.0", True),
        ("remove the old mean_of from sums.py together with its tests", False),
    ],
)
def test_what_is_taken_out_goes_with_its_tests_where_these_are_free(prompt: str, may: bool, tmp_path: Path) -> None:
    files = {
        "sums.py": FILES["sums.py"] + "\n\ndef mean_of(numbers):\n    return total(numbers) / len(numbers)\n",
        "test_sums.py": FILES["test_sums.py"],
        "test_mean.py": "from sums import mean_of\n\n\ndef test_mean():\n    assert mean_of([2]) == 2\n",
    }
    gone = calls(
        ("replace_file_content", {"path": "sums.py", "content": FILES["sums.py"]}),
        ("delete_file", {"path": "test_mean.py"}),
    )
    played = play(tmp_path, files, prompt, lambda body: gone if body.get("tools") else EDIT, may_edit_tests=may)
    assert (played.result.outcome, played.files) == ("done", FILES), played.result.attempts


def test_what_else_is_taken_out_frees_no_source_and_lets_tests_be_added(tmp_path: Path) -> None:
    files = {**FILES, "other.py": "OTHER = 1\n"}
    gone = calls(("delete_file", {"path": "other.py"}))
    prompt = "remove the old comments from sums.py"
    played = play(tmp_path, files, prompt, lambda body: gone if body.get("tools") else EDIT, may_edit_tests=True)
    assert (played.result.outcome, played.files) == ("not_achieved", files)
    prompt = "remove the old comments from sums.py, and add tests for mean"
    (tmp_path / "two").mkdir()
    said = json_reply({**EDIT_SAID, "task_type": "code_fix"})
    played = play(tmp_path / "two", FILES, prompt, [said, of_tests(WITH_MEAN)])
    assert (played.result.outcome, played.files["test_sums.py"]) == ("done", WITH_MEAN)


def test_where_the_old_name_still_stands_is_told(tmp_path: Path) -> None:
    played = play(tmp_path, {**FILES, "NEWS.md": "total of sums\n"}, ALONE, [], key=None)
    assert "left as it is where it may mean something else: NEWS.md:1" in "\n".join(played.result.notes)


def test_a_name_that_is_taken_is_no_new_name(tmp_path: Path) -> None:
    files = {**FILES, "sums.py": FILES["sums.py"] + "\n\ndef amount():\n    return 1\n"}
    played = play(tmp_path, files, ALONE, [], key=None, may_edit_tests=True)
    assert played.result.outcome == "no_model"
    assert played.files == files


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("rename total to amount", "total is defined in more.py, sums.py: name one of them"),
        (
            "rename count to amount",
            "count is defined at the top of no Python module, and without a model only such names are renamed",
        ),
        ("rename Sum.tally to add everywhere", "tally belongs to Sum in more.py: without a model only what a module"),
    ],
)
def test_what_is_not_clear_without_a_model_is_said(prompt: str, said: str, tmp_path: Path) -> None:
    method = "\n\nclass Sum:\n    def tally(self):\n        return 0\n"
    files = {**FILES, "more.py": f"{FILES['sums.py']}{method}"}
    played = play(tmp_path, files, prompt, [], key=None, may_edit_tests=True)
    assert (played.result.outcome, played.files) == ("no_model", files)
    assert said in played.result.reason


def test_that_only_python_is_renamed_without_a_model_is_said(tmp_path: Path) -> None:
    files = {"package.json": '{"scripts": {"test": "true"}}', "sums.js": "export function total() {}\n"}
    played = play(
        tmp_path, files, "rename export total in sums.js to amount and update its users", [], key=None, search=True
    )
    assert "Without a model only Python names are renamed, and there is none here." in played.result.reason


@pytest.mark.parametrize("prompt", ["rename total to amount in sums.py", "rename count to amount everywhere"])
def test_what_uses_no_such_name_stays_guarded(prompt: str, tmp_path: Path) -> None:
    user = User(Answer(decision="answer", text="no"))
    played = run(tmp_path, *[edits(RENAMED["test_sums.py"])] * 3, prompt=prompt, consult=user)
    assert ["May test_sums.py be changed?" in question.text for question in user.asked] == [True]
    assert played.files["test_sums.py"] == FILES["test_sums.py"]


WRITE = "add tests for what sums.py does with negative numbers"
NEW = "from sums import total\n\n\ndef test_negative():\n    assert total([-1, 1]) == 0\n"


def writes(path: str) -> ServerReply:
    return calls(("replace_file_content", {"path": path, "content": NEW}))


def test_where_tests_are_to_be_written_some_must_be_new(tmp_path: Path) -> None:
    """No other test is made for such a task, and what lies where nothing collects it does not count."""
    kind = json_reply({**EDIT_SAID, "task_type": "code_generation"})
    played = play(tmp_path, FILES, WRITE, [kind, writes("negative.py"), writes("test_negative.py")], sections=MAKES)
    assert (played.result.outcome, played.result.iterations, len(played.requests)) == ("done", 2, 3)
    assert "no test is new among those that ran" in played.result.attempts[0].error
    assert played.result.changed_files == ("test_negative.py",)
    assert FILES["test_sums.py"] in played.message(1)


MORE = {**FILES, "test_host.py": "import os\n\n\ndef test_host():\n    assert os.environ['SUMS_HOST']\n"}


def test_nor_may_an_agent_leave_them_where_other_tests_fail(tmp_path: Path) -> None:
    finish = ("finish", {"reason": "SUMS_HOST is not set"})
    edits = [
        calls(("replace_file_content", {"path": path, "content": NEW}), finish)
        for path in ("negative.py", "test_negative.py")
    ]
    played = play(tmp_path, MORE, WRITE, edits)
    assert (played.result.outcome, played.result.changed_files) == ("done", ("test_negative.py",))
    assert "no test is new among those that ran" in played.result.attempts[0].error


NEWS = "# News\n\n- total of sums\n"


@pytest.mark.parametrize(
    ("more", "edit", "ran"),
    [
        ({}, {"path": "NEWS.md", "content": f"{NEWS}- mean\n"}, False),
        (
            {"test_news.py": "def test_news():\n    assert open('NEWS.md').read()\n"},
            {"path": "NEWS.md", "content": f"{NEWS}- mean\n"},
            True,
        ),
        ({}, {"path": "sums.py", "content": "total = sum\n"}, True),
        (
            {"text.py": "def bare(text):\n    return text.rstrip()\n"},
            {"path": "NEWS.rst", "content": "- mean\n"},
            False,
        ),
    ],
)
def test_a_change_of_documents_alone_is_judged_by_no_test_that_does_not_speak_of_them(
    more: dict[str, str], edit: dict[str, str], ran: bool, tmp_path: Path
) -> None:
    kind = json_reply({**EDIT_SAID, "task_type": "code_generation", "detected_files": ["NEWS.md"]})
    leave = calls(("cannot", {"reason": "no"}))
    files = {**MORE, **more, "NEWS.md": NEWS}
    played = play(
        tmp_path, files, "add a line about mean to the news", [kind, calls(("replace_file_content", edit)), leave]
    )
    checks = [event.verdict for event in played.events if isinstance(event, CheckRan) and event.when == "attempt"]
    assert bool(checks) == ran
    if not ran:
        assert played.result.outcome == "done"
        assert played.result.verdict is not None
        assert "only documents were changed" in played.result.verdict.note


RED = "def test_red():\n    assert False\n"
JOB = "ci.yml: the release job must run only for tags, and after the test job passed"


@pytest.mark.parametrize(
    ("prompt", "path", "more", "ran"),
    [
        (JOB, "ci.yml", {"test_red.py": RED}, False),
        ("make the image smaller", "Dockerfile", {}, False),
        (JOB, "ci.yml", {"test_red.py": RED, "load.py": "import yaml\n\nyaml.load(open('ci.yml'))\n"}, True),
        ("fix ci.yml so that the tests pass", "ci.yml", {"test_red.py": RED}, True),
        ("the sum is wrong, fix it", "ci.yml", {"test_red.py": RED}, True),
        ("add b with 2 to base.yaml", "base.yaml", {}, True),
    ],
)
def test_a_change_of_what_no_code_names_is_judged_by_no_test(
    prompt: str, path: str, more: dict[str, str], ran: bool, tmp_path: Path
) -> None:
    kind = json_reply({**EDIT_SAID, "task_type": "code_fix", "detected_files": [path]})
    edit = calls(("replace_file_content", {"path": path, "content": "new: 1\n"}))
    files = {**MORE, **more, path: "old: 1\n"}
    played = play(tmp_path, files, prompt, [kind, *[edit] * 9], sections={"verification": {"make_check": "never"}})
    checks = [event.verdict for event in played.events if isinstance(event, CheckRan) and event.when == "attempt"]
    assert bool(checks) == ran
    if not ran:
        assert (played.result.outcome, played.files[path]) == ("done", "new: 1\n")
        assert played.result.verdict is not None
        assert "no test or source names what was changed" in played.result.verdict.note


@pytest.mark.parametrize("right", [True, False])
def test_new_tests_count_where_the_check_is_some_of_the_others(right: bool, tmp_path: Path) -> None:
    """The task names a file of tests, so that the check runs no other."""
    kind = json_reply({**EDIT_SAID, "task_type": "code_generation"})
    files = {**FILES, "test_more.py": "def test_more():\n    pass\n"}
    content = NEW if right else NEW.replace("== 0", "== 1")
    edit = calls(("replace_file_content", {"path": "test_negative.py", "content": content}))
    cannot = calls(("cannot", {"reason": "no"}))
    played = play(tmp_path, files, f"{WRITE}, in the style of test_sums.py", [kind, edit, cannot])
    assert played.result.outcome == ("done" if right else "not_achieved")
    assert played.result.verdict is not None
    assert right == (played.result.verdict.tests_passed == 3)


def test_what_tests_is_no_test(tmp_path: Path) -> None:
    prompt = "write a function that tests for a sum of zero in sums.py"
    text = FILES["sums.py"] + "\n\ndef is_zero(numbers):\n    return not total(numbers)\n"
    edit = calls(("replace_file_content", {"path": "sums.py", "content": text}))
    kind = json_reply({**EDIT_SAID, "task_type": "code_generation"})
    played = play(tmp_path, FILES, prompt, [kind, edit])
    assert (played.result.outcome, played.files["sums.py"]) == ("done", text)


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("add tests for sums.py", True),
        ("Please write some more unit tests, covering total", True),
        ("add a regression test that shows issue 12", True),
        ("add tests for total and fix what they find", False),
        ("add a primality test to numbers.py", False),
        ("add support for tests in subdirectories", False),
        ("create a command that tests for dead links", False),
        ("write a speed test in bench.py", False),
        ("add retries for flaky tests in runner.py", False),
    ],
)
def test_which_tasks_ask_for_tests(prompt: str, wanted: bool) -> None:
    assert asks_for_tests(prompt) == wanted


def test_the_first_tests_of_a_project_are_run(tmp_path: Path) -> None:
    kind = json_reply({**EDIT_SAID, "task_type": "code_generation"})
    wrong = calls(("replace_file_content", {"path": "test_negative.py", "content": NEW.replace("== 0", "== 1")}))
    replies = [kind, wrong, writes("test_negative.py")]
    played = play(tmp_path, {"sums.py": FILES["sums.py"]}, WRITE, replies, sections=MAKES)
    assert (played.result.outcome, played.result.iterations, len(played.requests)) == ("done", 2, 3)
    assert "assert 0 == 1" in played.result.attempts[0].error
    assert played.result.verdict is not None
    assert (played.result.verdict.status, played.result.verdict.tests_passed) == ("passed", 1)


def test_the_first_tests_do_not_make_good_a_source_that_does_not_parse(tmp_path: Path) -> None:
    kind = json_reply({**EDIT_SAID, "task_type": "code_generation"})
    files = {"sums.py": FILES["sums.py"] + "\n\ndef mean(:\n"}
    lone = "def test_nothing_of_it():\n    assert 1 + 1 == 2\n"
    edit = calls(("replace_file_content", {"path": "test_negative.py", "content": lone}))
    played = play(tmp_path, files, WRITE, [kind, *[edit] * 9], sections=MAKES)
    assert (played.result.outcome, played.files) == ("not_achieved", files)


BY_CLASS = {
    "sums.py": FILES["sums.py"],
    "sums_tests.py": "import unittest\n\nfrom sums import total\n\n\nclass Sums(unittest.TestCase):\n"
    "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n",
}
MEAN = FILES["sums.py"] + "\n\ndef mean(numbers):\n    return sum(numbers) / len(numbers)\n"


def with_mean(expected: int) -> ServerReply:
    tests = BY_CLASS["sums_tests.py"].replace("total", "mean").replace("3)", f"{expected})").replace("[1, 2]", "[2, 4]")
    return calls(
        ("replace_file_content", {"path": "sums.py", "content": MEAN}),
        ("replace_file_content", {"path": "tests/mean_tests.py", "content": tests}),
    )


@pytest.mark.parametrize("command", ["python -m unittest sums_tests", "python -m pytest sums_tests.py"])
def test_new_tests_that_the_check_passes_over_are_run_beside_it(command: str, tmp_path: Path) -> None:
    said = json_reply({**EDIT_SAID, "task_type": "code_generation"})
    replies = [said, with_mean(4), with_mean(3)]
    played = play(tmp_path, BY_CLASS, "sums.py needs a mean, with a test", replies, check_command=command)
    assert (played.result.outcome, played.unexpected) == ("done", 0), played.result.reason
    assert "3.0 != 4" in played.result.attempts[0].error
    assert played.result.verdict is not None
    assert played.result.verdict.tests_passed == 2


def test_each_new_test_that_was_not_run_is_run(tmp_path: Path) -> None:
    """Also where another one, which was, makes up for it in the number; and what holds no test is none."""
    files = {**FILES, "pytest.ini": "[pytest]\npython_files = test_*.py\n"}
    more = ("replace_file_content", {"path": "test_more.py", "content": "def test_more():\n    assert True\n"})
    helper = ("replace_file_content", {"path": "tests/run_tests.py", "content": "import sys\n\nsys.exit(3)\n"})
    wrong, right = (
        (
            "replace_file_content",
            {"path": "tests/sum_tests.py", "content": f"def test_sum():\n    assert 1 + 1 == {n}\n"},
        )
        for n in (3, 2)
    )
    said = json_reply({**EDIT_SAID, "task_type": "code_generation"})
    replies = [said, calls(more, helper, wrong), calls(more, helper, right)]
    played = play(tmp_path, files, "sums.py needs more tests, and a mean", replies)
    assert (played.result.outcome, played.unexpected) == ("done", 0), played.result.reason
    assert "assert (1 + 1) == 3" in played.result.attempts[0].error


def test_what_the_model_says_beside_its_edits_is_told(tmp_path: Path) -> None:
    edit = calls(("replace_file_content", {"path": "sums.py", "content": MEAN}), content="The old file is still there.")
    played = run(tmp_path, edit, prompt="sums.py needs a mean", sections={"verification": {"make_check": "never"}})
    assert played.result.outcome == "done"
    assert "the model says: The old file is still there." in played.result.notes


MEAN_TEST = "\n\ndef test_mean():\n    assert mean([2, 4]) == 3\n"
WITH_MEAN = FILES["test_sums.py"].replace("import total", "import mean, total") + MEAN_TEST
WANTED = "sums.py needs a mean, with a test"
ADDS = json_reply({**EDIT_SAID, "task_type": "code_generation"})


def of_tests(text: str, source: str = MEAN) -> ServerReply:
    return calls(
        ("replace_file_content", {"path": "sums.py", "content": source}),
        ("replace_file_content", {"path": "test_sums.py", "content": text}),
    )


def test_a_test_that_is_asked_for_is_added_where_its_like_are(tmp_path: Path) -> None:
    """Nobody is asked, and nobody need be there."""
    played = play(tmp_path, FILES, WANTED, [ADDS, of_tests(WITH_MEAN)])
    assert (played.result.outcome, played.unexpected) == ("done", 0), played.result.reason
    assert played.files == {"sums.py": MEAN, "test_sums.py": WITH_MEAN}
    assert played.result.verdict is not None
    assert played.result.verdict.tests_passed == 3
    told = [row.text for row in summary_lines(played.result)]
    command = "`python -m pytest`"
    said = f"✔ checked: 3 tests (2 before), {command}; without the change the tests that came with it fail"
    assert said in told
    assert any(row.startswith("solved") for row in told)


@pytest.mark.parametrize(
    "alone",
    [
        ". Touch nothing but sums.py.",
        "; change only sums.py",
        ". All other files stay as they are.",
        ", no other file may change",
    ],
)
def test_no_test_is_added_unasked_where_no_other_file_may_change(alone: str, tmp_path: Path) -> None:
    played = play(tmp_path, FILES, f"sums.py needs a mean{alone}", [ADDS, *[of_tests(WITH_MEAN)] * 9])
    assert played.files == {**FILES, "sums.py": MEAN}


def test_a_test_that_is_added_must_fail_without_the_change(tmp_path: Path) -> None:
    says_nothing = FILES["test_sums.py"] + "\n\ndef test_one():\n    assert total([1]) == 1\n"
    played = play(tmp_path, FILES, WANTED, [ADDS, of_tests(says_nothing), of_tests(WITH_MEAN)])
    assert (played.result.outcome, played.files["test_sums.py"]) == ("done", WITH_MEAN)
    assert "pass without the change, too" in played.result.attempts[0].error


def test_so_it_must_where_git_ignores_what_is_changed(tmp_path: Path) -> None:
    """What is not listed is in the copy, too, in which the tests run without the change."""
    moved = {"lib/sums.py": FILES["sums.py"], "test_sums.py": FILES["test_sums.py"], ".gitignore": "lib/\n"}
    moved |= {"conftest.py": "import sys\n\nsys.path.insert(0, 'lib')\n"}
    added = ("replace_file_content", {"path": "test_sums.py", "content": WITH_MEAN})
    source = ("replace_file_content", {"path": "lib/sums.py", "content": MEAN})
    played = play(tmp_path, moved, "lib/sums.py needs a mean, with a test", [ADDS, calls(source, added)])
    assert (played.result.outcome, played.files["lib/sums.py"]) == ("done", MEAN), played.result.reason


def test_a_test_that_is_not_added_is_missed(tmp_path: Path) -> None:
    alone = calls(("replace_file_content", {"path": "sums.py", "content": MEAN}))
    played = play(tmp_path, FILES, WANTED, [ADDS, alone])
    assert (played.result.outcome, "no test was added, though one was asked for" in played.result.notes) == (
        "done",
        True,
    )


def test_cases_beside_the_tests_are_tests(tmp_path: Path) -> None:
    cases = calls(
        ("replace_file_content", {"path": "sums.py", "content": MEAN}),
        ("replace_file_content", {"path": "testsuite/M10.py", "content": "#: mean 3\nmean([2, 4])\n"}),
    )
    played = play(tmp_path, FILES, WANTED, [ADDS, cases])
    assert (played.result.outcome, [note for note in played.result.notes if "no test" in note]) == ("done", [])


def test_where_a_test_is_asked_for_none_is_made_and_asked_about(tmp_path: Path) -> None:
    user = User(YES)
    played = play(tmp_path, FILES, WANTED, [ADDS, of_tests(WITH_MEAN)], sections=MAKES, consult=user)
    assert (played.result.outcome, played.unexpected, user.asked) == ("done", 0, []), played.result.reason


def test_a_test_that_is_added_must_pass(tmp_path: Path) -> None:
    wrong = of_tests(WITH_MEAN.replace("mean([2, 4]) == 3", "mean([2, 4]) == 4"))
    played = play(tmp_path, FILES, WANTED, [ADDS, wrong, of_tests(WITH_MEAN)])
    assert (played.result.outcome, played.files["test_sums.py"]) == ("done", WITH_MEAN)
    assert "assert 3.0 == 4" in played.result.attempts[0].error


BROKEN_MEAN = MEAN.replace("return sum(numbers)\n\n", "return sum(numbers) + 1\n\n")


@pytest.mark.parametrize(
    "tests",
    [
        WITH_MEAN.replace("    assert total([1, 2])", "    return\n    assert total([1, 2])").replace(
            "    assert total([]) ", "    return\n    assert total([]) "
        ),
        WITH_MEAN.replace(
            "\n\n\ndef test_total", "\n\nplain = total\ntotal = lambda all: sum(all)\n\n\ndef test_total"
        ),
        WITH_MEAN + "\n\ndef total(numbers):\n    return sum(numbers)\n",
    ],
)
def test_what_is_added_takes_nothing_from_the_tests_that_stood_there(tests: str, tmp_path: Path) -> None:
    played = play(tmp_path, FILES, WANTED, [ADDS, *[of_tests(tests, BROKEN_MEAN)] * 9])
    assert (played.result.outcome, played.files) == ("not_achieved", FILES)
    assert "what stands there stays as it is" in played.result.attempts[0].error


def test_what_stands_there_stays(tmp_path: Path) -> None:
    other = of_tests(WITH_MEAN.replace("total([]) == 0", "total([]) == 1"))
    played = play(tmp_path, FILES, WANTED, [ADDS, *[other] * 9])
    assert (played.result.outcome, played.files) == ("not_achieved", FILES)


def test_tests_that_are_not_to_be_touched_stay_and_the_rest_is_made(tmp_path: Path) -> None:
    prompt = "sums.py needs a mean, but don't touch the tests"
    played = play(tmp_path, FILES, prompt, [ADDS, of_tests(WITH_MEAN)])
    assert (played.result.outcome, played.files) == ("done", {**FILES, "sums.py": MEAN})


@pytest.mark.parametrize(
    ("kind", "prompt", "added"),
    [
        ("code_generation", "sums.py needs a mean", True),
        ("code_fix", "mean is missing in sums.py", False),
        ("code_fix", "mean is missing in sums.py. Tests and changelog, please.", True),
    ],
)
def test_something_new_may_come_with_tests_and_so_may_what_is_to_have_some(
    kind: str, prompt: str, added: bool, tmp_path: Path
) -> None:
    said = json_reply({**EDIT_SAID, "task_type": kind})
    played = play(tmp_path, FILES, prompt, [said, of_tests(WITH_MEAN)])
    assert (played.result.outcome, "mean([2, 4])" in played.files["test_sums.py"]) == ("done", added)


def test_for_a_change_of_what_stands_there_the_user_is_asked(tmp_path: Path) -> None:
    other = WITH_MEAN.replace("total([]) == 0", "not total([])")
    user = User(Answer(decision="answer", text="yes"))
    played = play(tmp_path, FILES, WANTED, [ADDS, of_tests(other)], consult=user)
    assert (played.result.outcome, played.files["test_sums.py"]) == (
        "done",
        other,
    )  # what it gave is not asked for anew
    assert [question.text for question in user.asked] == [MAY_CHANGE.format(paths="test_sums.py")]


@pytest.mark.parametrize(("said", "asked_again"), [("yes of course", 0), ("yes, but only the last one", 1)])
def test_who_says_yes_to_a_plans_question_is_not_asked_again(said: str, asked_again: int, tmp_path: Path) -> None:
    other = WITH_MEAN.replace("total([]) == 0", "not total([])")
    asks = {"text": "test_sums.py holds the old word for none. May I update that test? (test_more.py stays.)"}
    step = {"action": "ask", "arguments": [{"name": "text", "value": asks["text"]}]}
    leave = plan(step, {**CODING, "inputs": ["s0"]})
    user = User(Answer(decision="answer", text=said), Answer(decision="answer", text="no"))
    needs_plan = json_reply({**EDIT_SAID, "suggested_action": "plan"})
    played = play(tmp_path, FILES, WANTED, [needs_plan, leave, of_tests(other), of_tests(other)], consult=user)
    assert len([each for each in user.asked if each.text.startswith("May test_sums.py be changed?")]) == asked_again
    assert (played.files["test_sums.py"] == other) is not asked_again


def test_once_the_user_lets_a_test_be_changed_no_later_attempt_is_asked_about(tmp_path: Path) -> None:
    other = WITH_MEAN.replace("total([]) == 0", "not total([])")
    wrong = of_tests(other.replace("mean([2, 4]) == 3", "mean([2, 4]) == 4"))
    user = User(Answer(decision="answer", text="yes"))
    played = play(tmp_path, FILES, WANTED, [ADDS, wrong, of_tests(other)], consult=user)
    assert (played.result.outcome, played.files["test_sums.py"], len(user.asked)) == ("done", other, 1)


def test_in_javascript_a_test_is_added_as_well(tmp_path: Path) -> None:
    files = {
        "package.json": '{"name": "sums", "scripts": {"test": "node --test"}}\n',
        "sums.js": "exports.total = (numbers) => numbers.reduce((sum, each) => sum + each, 0);\n",
        "sums.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "const { total } = require('./sums.js');\n\ntest('total', () => assert.equal(total([1, 2]), 3));\n",
    }
    mean = files["sums.js"] + "exports.mean = (numbers) => exports.total(numbers) / numbers.length;\n"
    tests = files["sums.test.js"].replace("{ total }", "{ mean, total }")
    tests += "test('mean', () => assert.equal(mean([2, 4]), 3));\n"
    both = calls(
        ("replace_file_content", {"path": "sums.js", "content": mean}),
        ("replace_file_content", {"path": "sums.test.js", "content": tests}),
    )
    said = json_reply({**EDIT_SAID, "task_type": "code_generation", "detected_files": ["sums.js"]})
    played = play(tmp_path, files, "sums.js needs a mean, with a test", [said, both])
    assert (played.result.outcome, played.files) == ("done", {**files, "sums.js": mean, "sums.test.js": tests})


TWO_WRONG = {
    "sums.py": "def total(numbers):\n    return sum(numbers) + 1\n\n\n"
    "def mean(numbers):\n    return total(numbers) * len(numbers)\n",
    "test_sums.py": "from sums import mean, total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n\n\n"
    "def test_mean():\n    assert mean([2, 4]) == 3\n",
}
FIX_TWO = "total and mean of sums.py are wrong: fix them, and add a test"
FIXES = json_reply({**EDIT_SAID, "task_type": "code_fix"})


def test_an_attempt_after_one_that_added_a_test_goes_on_from_it(tmp_path: Path) -> None:
    """The first comes further and stays, with its test; the second edits the code alone."""
    half = TWO_WRONG["sums.py"].replace("sum(numbers) + 1", "sum(numbers)")
    more = TWO_WRONG["test_sums.py"] + "\n\ndef test_nothing():\n    assert total([]) == 0\n"
    whole = half.replace("* len", "/ len")
    rest = calls(("replace_file_content", {"path": "sums.py", "content": whole}))
    played = play(tmp_path, TWO_WRONG, FIX_TWO, [FIXES, of_tests(more, half), rest])
    assert (played.result.outcome, played.unexpected) == ("done", 0), played.result.reason
    assert played.files == {"sums.py": whole, "test_sums.py": more}


def test_what_ran_in_an_attempt_that_was_put_back_is_no_measure(tmp_path: Path) -> None:
    wrong = of_tests(WITH_MEAN.replace("mean([2, 4]) == 3", "mean([2, 4]) == 4"))
    alone = calls(("replace_file_content", {"path": "sums.py", "content": MEAN}))
    played = play(tmp_path, FILES, WANTED, [ADDS, wrong, alone])
    assert (played.result.outcome, played.files) == ("done", {**FILES, "sums.py": MEAN}), played.result.reason


def test_who_lets_a_test_be_changed_does_so_after_an_addition_too(tmp_path: Path) -> None:
    wrong = of_tests(WITH_MEAN.replace("mean([2, 4]) == 3", "mean([2, 4]) == 4"))
    other = WITH_MEAN.replace("total([]) == 0", "not total([])")
    user = User(Answer(decision="answer", text="yes"))
    played = play(tmp_path, FILES, WANTED, [ADDS, wrong, of_tests(other)], consult=user)
    assert (played.result.outcome, played.files["test_sums.py"], len(user.asked)) == ("done", other, 1)


SAMPLES = {"agents": {"coding": CodingSettings(samples="auto")}}


def test_after_an_addition_other_workers_change_no_test_either(tmp_path: Path) -> None:
    wrong = of_tests(WITH_MEAN.replace("mean([2, 4]) == 3", "mean([2, 4]) == 4"), BROKEN_MEAN)
    less = FILES["test_sums.py"].partition("\n\n\ndef test_none")[0] + "\n"
    gutted = of_tests(less.replace("== 3", "== 4"), BROKEN_MEAN)
    played = play(tmp_path, FILES, WANTED, [ADDS, wrong, *[gutted] * 20], sections=SAMPLES)
    assert (played.result.outcome, played.files) == ("not_achieved", FILES)


def test_a_file_is_not_deleted_that_is_not_to_be_moved(tmp_path: Path) -> None:
    files = {"lib/utils.py": "A = 1\n", "app/utils.py": "B = 1\n", "lib/helpers.py": "C = 1\n"}
    gone = calls(("delete_file", {"path": "lib/utils.py"}), ("delete_file", {"path": "app/utils.py"}))
    for number, prompt in enumerate(
        ("don't move lib/utils.py to lib/helpers.py, add a docstring to it", "move utils.py into lib/helpers.py")
    ):
        place = tmp_path / str(number)
        place.mkdir()
        played = play(place, files, prompt, [FIXES, *[gone] * 6])
        assert played.files == files


def test_a_fault_of_the_first_time_is_none_of_chance(tmp_path: Path) -> None:
    cold = (
        "import os\n\n\ndef total(numbers):\n    if not os.path.exists('cache.txt'):\n"
        "        open('cache.txt', 'w').close()\n        return 99\n    return sum(numbers)\n"
    )
    files = {**FILES, ".gitignore": "cache.txt\n"}
    edit = calls(("replace_file_content", {"path": "sums.py", "content": cold}))
    played = play(tmp_path, files, "sums.py needs a cache", [ADDS, *[edit] * 9])
    assert played.result.outcome == "not_achieved"


def test_an_edit_of_tests_that_decide_takes_no_other_edit_with_it(tmp_path: Path) -> None:
    """Where nobody can be asked it is left out, the rest is made and judged, and both are told."""
    files = {**FILES, "sums.py": FILES["sums.py"].replace("sum(numbers)", "sum(numbers[1:])")}
    both = calls(
        ("replace_file_content", {"path": "sums.py", "content": FILES["sums.py"]}),
        ("replace_file_content", {"path": "test_sums.py", "content": GUTTED}),
    )
    played = play(tmp_path, files, "fix total in sums.py", lambda _: both)
    assert (played.result.outcome, played.result.model_calls, played.files) == ("done", 1, FILES)
    assert any("left out: edits of test_sums.py" in note for note in played.result.notes)


def test_so_it_is_where_tests_may_only_be_added(tmp_path: Path) -> None:
    mean = "\n\ndef mean(numbers):\n    return total(numbers) / len(numbers)\n"
    both = calls(
        ("replace_file_content", {"path": "sums.py", "content": FILES["sums.py"] + mean}),
        ("replace_file_content", {"path": "test_sums.py", "content": GUTTED}),
    )
    said = json_reply({**EDIT_SAID, "task_type": "code_generation"})
    played = play(tmp_path, FILES, "add mean to sums.py", lambda body: both if body.get("tools") else said)
    assert (played.result.outcome, played.result.iterations) == ("done", 1), played.result.attempts
    assert played.files == {**FILES, "sums.py": FILES["sums.py"] + mean}


def test_an_edit_of_nothing_but_tests_that_decide_is_refused(tmp_path: Path) -> None:
    files = {**FILES, "sums.py": FILES["sums.py"].replace("sum(numbers)", "sum(numbers[1:])")}
    alone = calls(("replace_file_content", {"path": "test_sums.py", "content": GUTTED}))
    played = play(tmp_path, files, "fix total in sums.py", lambda _: alone)
    assert (played.result.outcome, played.files) == ("not_achieved", files)
    assert "is protected and is not edited" in played.result.attempts[0].error


PARTS = {
    "sums.py": FILES["sums.py"].replace("sum(numbers)", "sum(numbers[1:])") + "\n\ndef old_mean(n):\n    return 1\n",
    "test_sums.py": FILES["test_sums.py"].replace("import total", "import old_mean, total")
    + "\n\ndef test_mean():\n    assert old_mean([1]) == 1\n",
}


@pytest.mark.parametrize(
    ("prompt", "goes"),
    [
        ("remove old_mean with its tests, and fix total in sums.py", True),
        ("fix total in sums.py. There is no need to remove old_mean with its tests", False),
        ("remove old_mean, since total gives it, with its tests", False),
    ],
)
def test_with_what_is_taken_out_go_its_own_tests_and_no_others(prompt: str, goes: bool, tmp_path: Path) -> None:
    def edit(tests: str) -> ServerReply:
        files = {"sums.py": FILES["sums.py"], "test_sums.py": tests}
        return calls(*(("replace_file_content", {"path": path, "content": text}) for path, text in files.items()))

    turned = edit(FILES["test_sums.py"].replace("== 3", "== 2"))
    replies = iter([turned, edit(FILES["test_sums.py"]), turned, turned])
    played = play(tmp_path, PARTS, prompt, lambda body: next(replies) if body.get("tools") else EDIT)
    assert (played.result.outcome == "done", played.files == FILES) == (goes, goes), played.result.attempts


def test_a_question_beside_edits_is_put_and_they_stay(tmp_path: Path) -> None:
    user = User(Answer(decision="answer", text="yes"))
    added = FILES["sums.py"] + MEAN.removeprefix(FILES["sums.py"])
    first = calls(
        ("replace_file_content", {"path": "NEWS.md", "content": "mean is new\n"}),
        ("ask_user", {"question": "Is a mean of none an error?"}),
    )
    second = calls(("replace_file_content", {"path": "sums.py", "content": added}))
    replies = iter([first, second])
    prompt = "add mean to sums.py, and a line to NEWS.md"
    files = {**FILES, "NEWS.md": "nothing\n"}
    played = play(tmp_path, files, prompt, lambda body: next(replies) if body.get("tools") else EDIT, consult=user)
    assert [question.text for question in user.asked] == ["Is a mean of none an error?"]
    assert (played.result.outcome, played.files) == ("done", {**FILES, "sums.py": added, "NEWS.md": "mean is new\n"})


def test_a_file_that_is_too_large_takes_no_other_edit_with_it(tmp_path: Path) -> None:
    files = {**FILES, "sums.py": FILES["sums.py"].replace("sum(numbers)", "sum(numbers[1:])"), "lock.txt": "x" * 2**21}
    both = calls(
        ("replace_file_content", {"path": "sums.py", "content": FILES["sums.py"]}),
        ("replace_in_file", {"path": "lock.txt", "old": "x", "new": "y"}),
    )
    played = play(tmp_path, files, "fix total in sums.py", [both, text("It is too large; leave it.")])
    assert (played.result.outcome, played.files["sums.py"]) == ("done", FILES["sums.py"]), played.result.attempts


@pytest.mark.parametrize(
    "prompt", ["replace setup.py by a pyproject.toml", "setup.py got too big, split it into two files"]
)
def test_a_plan_may_delete_what_others_take_the_place_of(prompt: str, tmp_path: Path) -> None:
    files = {**FILES, "setup.py": "import setuptools\n\nsetuptools.setup(name='sums')\n"}
    made = calls(("replace_file_content", {"path": "pyproject.toml", "content": "[project]\nname = 'sums'\n"}))
    gone = {"action": "tool", "capability": "delete_file", "arguments": [{"name": "path", "value": "setup.py"}]}
    said = json_reply({**EDIT_SAID, "detected_files": ["setup.py"], "suggested_action": "plan"})
    played = play(tmp_path, files, prompt, [said, plan(CODING, gone), made])
    assert (played.result.outcome, "setup.py" in played.files) == ("done", False), played.result
