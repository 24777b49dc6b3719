"""Projects in which some tests fail whatever is changed, as in most that are used where they were not made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import Settings
from codur.events import Note
from codur.structs import replace
from codur.ui.shown.run_report import summary_lines
from tests.runs import test_make_check as made
from tests.runs.kit import Played, play
from tests.runs.test_plans import SAY, plan
from tests.support.groq_server import ServerReply, calls, json_reply, text

FILES = {
    "shop.py": "def total(prices):\n    return sum(prices)\n\n\n"
    "def shown(prices):\n    return f'{total(prices):.2f}'\n",
    "test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "test_till.py": "import os\n\n\ndef test_host():\n    assert os.environ['SHOP_HOST']\n",
}
TAXED = FILES["shop.py"] + "\n\ndef taxed(prices):\n    return total(prices) * 1.19\n"
BROKEN = FILES["shop.py"].replace("sum(prices)", "sum(prices) + 1")
PROMPT = "shop.py should have a function taxed, which gives the total with 19 % on top"
BOTH = calls(
    ("replace_file_content", {"path": "shop.py", "content": TAXED}), ("finish", {"reason": "SHOP_HOST is not set."})
)
FOREIGN = ("finish", {"reason": "It fails for another reason."})
FINISH = calls(("finish", {"reason": "test_host needs SHOP_HOST, which is not set here."}))


def kind(task_type: str, action: str = "edit") -> ServerReply:
    return json_reply(
        {
            "task_type": task_type,
            "confidence": 0.95,
            "detected_files": ["shop.py"],
            "suggested_action": action,
            "reasoning": "A function is missing.",
        }
    )


def write(text: str) -> ServerReply:
    return calls(("replace_file_content", {"path": "shop.py", "content": text}))


def run(
    place: Path, *replies: ServerReply, prompt: str = PROMPT, task_type: str = "code_generation", **given: Any
) -> Played:
    files = given.pop("files", FILES)
    return play(place, files, prompt, [kind(task_type), *replies], **given)


def offered(played: Played, number: int) -> set[str]:
    return {tool["function"]["name"] for tool in played.requests[number].body.get("tools", [])}


def test_an_edit_that_breaks_nothing_stays_if_the_agent_says_that_it_is_all(tmp_path: Path) -> None:
    played = run(tmp_path, write(TAXED), FINISH)
    assert (played.result.outcome, played.result.exit_code) == ("done", 0)
    assert played.files["shop.py"] == TAXED
    told = [event.kind for event in played.events if event.kind in ("file_changed", "check_ran")]
    assert told == ["check_ran", "file_changed", "check_ran"]  # of the edit once
    assert played.result.verdict is not None
    assert played.result.verdict.failing == ("test_till.py::test_host",)
    assert any("test_host needs SHOP_HOST" in note for note in played.result.notes)
    assert "finish" in offered(played, 1)
    assert "have nothing to do with this" in played.message(1)
    assert "Nothing fails that passed before." in played.message(2)


def test_it_may_say_so_beside_the_edit(tmp_path: Path) -> None:
    played = run(tmp_path, BOTH)
    assert (played.result.outcome, played.files["shop.py"], len(played.requests)) == ("done", TAXED, 2)
    assert any("SHOP_HOST is not set." in note for note in played.result.notes)


def test_so_it_may_of_one_of_those_that_fail_which_runs_what_was_changed(tmp_path: Path) -> None:
    comma = FILES["shop.py"].replace(":.2f}'", ":.2f}'.replace('.', ',')")
    asks = "from shop import shown\n\n\ndef test_shown_with_comma():\n    assert shown([1]) == '1,00'\n"
    till = FILES["test_till.py"].replace("    assert", "    shown([2])\n    assert") + "\n\nfrom shop import shown\n"
    files = {**FILES, "test_shown.py": asks, "test_till.py": till}
    both = calls(("replace_file_content", {"path": "shop.py", "content": comma}), FOREIGN)
    prompt = "the prices that are shown have a point where there should be a comma"
    played = run(tmp_path, both, prompt=prompt, task_type="code_fix", files=files)
    assert (played.result.outcome, played.files["shop.py"], len(played.requests)) == ("done", comma, 2)
    assert "If some of the tests that fail now have nothing to do with this" in played.message(1)


def test_but_not_of_one_beside_a_test_that_the_change_mended(tmp_path: Path) -> None:
    half = FILES["shop.py"].replace(":.2f}'", ":.2f}'.replace('.', ',', len(prices))")
    asks = (
        "from shop import shown\n\n\ndef test_shown_with_comma():\n    assert shown([1]) == '1,00'\n\n\n"
        "def test_none():\n    assert shown([]) == '0,00'\n"
    )
    files = {**FILES, "test_shown.py": asks, "test_till.py": ""}
    both = calls(("replace_file_content", {"path": "shop.py", "content": half}), FOREIGN)
    prompt = "the prices that are shown have a point where there should be a comma"
    cannot = calls(("cannot", {"reason": "no"}))
    played = run(tmp_path, both, FINISH, cannot, cannot, prompt=prompt, task_type="code_fix", files=files)
    assert played.result.outcome == "not_achieved"


SEVERAL = {"agents": {"coding": replace(Settings().agents.coding, samples=2)}}


@pytest.mark.parametrize(
    "replies", [(BOTH, BOTH), (write(TAXED), write(TAXED), FINISH, write(BROKEN))], ids=["beside", "alone"]
)
def test_so_may_one_of_several_answers(tmp_path: Path, replies: tuple[ServerReply, ...]) -> None:
    played = run(tmp_path, *replies, sections=SEVERAL)
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED)
    assert len(played.requests) == 1 + len(replies)


def test_where_all_tests_pass_nobody_is_asked_about_others(tmp_path: Path) -> None:
    played = run(tmp_path, write(TAXED), files={**FILES, "test_till.py": ""})
    assert played.result.outcome == "done"
    assert "finish" not in offered(played, 1)
    assert "keep no second way for its sake" in played.message(1)


def test_so_it_is_for_a_fault_that_is_told(tmp_path: Path) -> None:
    prompt = "shop.py rounds: the total with tax is given in a way that is wrong for 0.30"
    played = run(tmp_path, write(TAXED), FINISH, prompt=prompt, task_type="code_fix")
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED)


def test_the_edits_of_the_steps_before_it_stay_for_the_step_that_says_that_this_is_all(tmp_path: Path) -> None:
    steps = [{"action": "coding", "objective": text} for text in ("add taxed", "round it")]
    edit = kind("code_generation", "plan")
    played = play(tmp_path, FILES, PROMPT, [edit, plan(*steps), write(TAXED), FINISH])
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED)


def test_what_breaks_a_test_is_not_called_harmless(tmp_path: Path) -> None:
    played = run(tmp_path, write(BROKEN), FINISH)
    assert (played.result.outcome, played.files["shop.py"]) == ("not_achieved", FILES["shop.py"])


def test_what_breaks_a_test_in_the_second_run_is_not_either(tmp_path: Path) -> None:
    counted = "kept = Path('.runs')\n    runs = len(kept.read_text()) if kept.exists() else 0\n"
    text = FILES["shop.py"].replace(
        "    return sum(prices)\n",
        f"    {counted}    kept.write_text('x' * (runs + 1))\n    return sum(prices) + runs\n",
    )
    cannot = calls(("cannot", {"reason": "that is all"}))
    played = run(tmp_path, write(f"from pathlib import Path\n\n\n{text}"), FINISH, cannot)
    assert (played.result.outcome, played.files["shop.py"]) == ("not_achieved", FILES["shop.py"])


def test_the_edit_that_broke_nothing_is_put_back_after_one_that_did(tmp_path: Path) -> None:
    played = run(tmp_path, write(TAXED), write(BROKEN), FINISH)
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED)


SPECIFIED = {
    **FILES,
    "test_shop.py": FILES["test_shop.py"].replace("import total", "import shown, total")
    + "\n\ndef test_shown():\n    assert shown([1, 2]) == '3,00'\n",
}


@pytest.mark.parametrize(
    ("prompt", "task_type"),
    [
        ("shown in shop.py should write a comma", "code_generation"),  # the test that tells so runs what was changed
        ("the tests fail, fix the bug in shop.py", "code_fix"),
        ("shop.py: shown should write a comma; the tests must pass", "code_generation"),
    ],
)
def test_it_is_not_done_while_a_test_of_what_was_changed_fails(tmp_path: Path, prompt: str, task_type: str) -> None:
    wrong = FILES["shop.py"].replace(":.2f}'", ":.3f}'")
    cannot = calls(("cannot", {"reason": "that is all"}))
    played = run(tmp_path, write(wrong), FINISH, cannot, prompt=prompt, task_type=task_type, files=SPECIFIED)
    assert (played.result.outcome, played.files["shop.py"]) == ("not_achieved", FILES["shop.py"])


@pytest.mark.parametrize("path", ["value", "default"])
def test_nor_while_one_fails_otherwise_that_uses_a_value_which_was_changed(tmp_path: Path, path: str) -> None:
    values = {"value": "FACTOR = 3\n\n\ndef double(n, by=FACTOR):\n    return n * by\n"}
    values["default"] = "def double(n, by=3):\n    return n * by\n"
    tests = "from shop import double\n\n\ndef test_a():\n    pass\n\n\ndef test_b():\n    assert double(1) == 2\n"
    files = {"shop.py": values[path], "test_shop.py": tests}
    edit, cannot = write(values[path].replace("= 3", "= 5").replace("=3", "=5")), calls(("cannot", {"reason": "no"}))
    prompt = "shop.py needs the number of what is sold"
    played = play(tmp_path, files, prompt, [kind("code_generation"), edit, FINISH, cannot])
    assert (played.result.outcome, played.files) == ("not_achieved", files)


def test_an_edit_that_mends_a_test_stays_though_the_task_is_not_done(tmp_path: Path) -> None:
    right = FILES["shop.py"].replace("return f'{total(prices):.2f}'", "return f'{total(prices):.2f}'.replace('.', ',')")
    played = run(
        tmp_path, write(right), FINISH, prompt="the tests fail, fix the bug", task_type="code_fix", files=SPECIFIED
    )
    assert played.result.outcome == "not_achieved"
    assert played.files["shop.py"] == right


STUB = {
    "stats.py": "def mean(values):\n    return sum(values) / len(values)\n\n\n"
    "def median(values):\n    raise NotImplementedError\n",
    "test_stats.py": "from stats import mean, median\n\n\ndef test_mean():\n    assert mean([1, 3]) == 2\n\n\n"
    "def test_median():\n    assert median([1, 2, 9]) == 2\n",
}
ABSENT = {
    **STUB,
    "stats.py": STUB["stats.py"].partition("\n\n\n")[0] + "\n",
    "test_stats.py": "from stats import mean\n\n\ndef test_mean():\n    assert mean([1, 3]) == 2\n",
    "test_b.py": "from stats import median\n\n\ndef test_b():\n    assert median([1]) == 1\n",
}
WEIGHTED = {
    "stats.py": STUB["stats.py"].partition("\n\n\n")[0] + "\n",
    "test_stats.py": "from stats import mean\n\n\ndef test_mean():\n    assert mean([1, 3]) == 2\n\n\n"
    "def test_b():\n    assert mean([1, 3], weights=[1, 1]) == 2\n",
}
LAZY = "# TODO\n"


@pytest.mark.parametrize(
    ("files", "prompt", "text"),
    [
        (STUB, "implement median in stats.py", LAZY),
        (STUB, "implement the missing function in stats.py", LAZY),
        (STUB, "implement what is left of stats.py, so that test_stats.py passes", LAZY),
        (STUB, "implement what is left of stats.py until pytest is green", LAZY),
        (ABSENT, "stats.py should have the middle of a list, too", LAZY),
        # another mistake of the same kind
        (
            WEIGHTED,
            "stats.py: it takes how much each counts",
            "def mean(values, weights):\n    return values * weights\n",
        ),
    ],
)
def test_a_test_that_says_what_is_asked_for_is_not_left_for_a_word(
    tmp_path: Path, files: dict[str, str], prompt: str, text: str
) -> None:
    path = "stats.py"
    edit = calls(("replace_file_content", {"path": path, "content": files[path] + text}))
    cannot = calls(("cannot", {"reason": "that is all"}))
    played = play(tmp_path, files, prompt, [kind("code_generation"), edit, FINISH, cannot, cannot])
    assert (played.result.outcome, played.files[path]) == ("not_achieved", files[path])


def test_an_edit_that_does_nothing_leaves_no_test_that_is_called_after_the_task(tmp_path: Path) -> None:
    prompt, cannot = "shown in shop.py should write a comma", calls(("cannot", {"reason": "that is all"}))
    played = run(tmp_path, write(FILES["shop.py"] + LAZY), FINISH, cannot, prompt=prompt, files=SPECIFIED)
    assert played.result.outcome == "not_achieved"


NOT_LOADED = {**FILES, "conftest.py": "import nowhere_installed\n"}


def test_where_no_test_can_run_what_is_asked_for_is_done_and_told_to_be_unchecked(tmp_path: Path) -> None:
    played = run(tmp_path, write(TAXED), files=NOT_LOADED)
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED)
    assert played.result.verdict is not None
    assert played.result.verdict.status == "no_check"
    warnings = [event.text for event in played.events if isinstance(event, Note) and event.level == "warning"]
    assert any("nowhere-installed" in text and "pip install" in text for text in warnings), warnings


def test_where_the_program_cannot_run_whose_output_is_known_nothing_begins(tmp_path: Path) -> None:
    files = {"main.py": "import nowhere_installed\n\nprint(1)\n", "expected.txt": "2\n"}
    played = play(tmp_path, files, "main.py: the total is wrong by one", [])
    assert (played.result.exit_code, played.requests) == (2, [])


def test_the_check_of_a_challenge_is_what_is_asked_for(tmp_path: Path) -> None:
    files = {**FILES, "test_shop.py": FILES["test_shop.py"].replace("== 3", "== 4"), "test_till.py": ""}
    files["challenge.yaml"] = "check: python -m pytest\n"
    cannot = calls(("cannot", {"reason": "that is all"}))
    played = run(tmp_path, write(TAXED), FINISH, cannot, files=files, prompt="shop.py lacks something")
    assert (played.result.outcome, played.files) == ("not_achieved", files)


def test_where_no_test_can_run_a_task_about_them_does_not_begin(tmp_path: Path) -> None:
    played = run(tmp_path, prompt="the tests fail, fix shop.py", files=NOT_LOADED)
    assert (played.result.exit_code, played.requests) == (2, [])


def test_another_name_needs_no_model_though_some_test_fails(tmp_path: Path) -> None:
    played = play(tmp_path, FILES, "rename shown to displayed", [])
    assert (played.result.outcome, played.requests) == ("done", [])
    assert "def displayed(prices)" in played.files["shop.py"]


def test_a_plan_that_ends_in_words_is_done_as_well(tmp_path: Path) -> None:
    names = {"path": "shop.py", "name": "shown", "new_name": "displayed"}
    arguments = [{"name": key, "value": value} for key, value in names.items()]
    renamed = {"action": "tool", "capability": "rename_symbol", "arguments": arguments}
    prompt = "call what shows a total displayed in place of shown"
    played = play(tmp_path, FILES, prompt, [kind("refactor", "plan"), plan(renamed, SAY)])
    assert (played.result.outcome, played.result.reason) == ("done", "")


@pytest.mark.parametrize("edits", [1, 2])
def test_in_a_slow_suite_all_tests_are_run_for_who_says_so(tmp_path: Path, edits: int) -> None:
    """There the tests that failed are run alone first, and tell nothing of the others."""
    slow = "import time\n\n\n" + "\n\n".join(f"def test_{n}():\n    time.sleep({1.2 if n else 0})\n" for n in range(2))
    files = {**FILES, "test_slow.py": slow}
    prompt = "shop.py: the total with tax is given in a way that is wrong for 0.30"
    played = run(tmp_path, *[write(TAXED)] * edits, FINISH, prompt=prompt, task_type="code_fix", files=files)
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED)
    assert played.result.verdict is not None
    assert played.result.verdict.tests_passed == 3


def many(name: str) -> str:
    return "".join(f"def {name}_{n}(prices):\n    return [each * {n} for each in prices]\n\n\n" for n in range(300))


LARGE = {
    "shop.py": many("sort").replace("def sort_200(", "def with_taxes("),
    "hosts.py": many("ask")
    + "def ask(prices):\n    return "
    + " + ".join(f"ask_{n}(prices)" for n in range(300))
    + "\n",
    "test_hosts.py": "import os\n\nfrom hosts import ask\n\n\ndef test_ask():\n    assert ask([1])\n"
    "    assert os.environ['SHOP_HOST']\n",
}
FRAME = 'Traceback (most recent call last):\n  File "till.py", line 3, in <module>\n  File "shop.py", line 802, in f\n'


@pytest.mark.parametrize(
    ("prompt", "task_type"),
    [
        ("with_taxes should take a rate", "code_generation"),
        ("with_taxes gives a list, and not a sum", "code_fix"),
        ("what has taxes comes as a list, and not as a sum", "code_fix"),
        (f"the till crashes\n\n{FRAME}TypeError: can't multiply sequence by non-int\n", "code_fix"),
    ],
)
def test_what_the_task_names_is_shown_whatever_other_failures_lead_to(
    tmp_path: Path, prompt: str, task_type: str
) -> None:
    cannot = calls(("cannot", {"reason": "no"}))
    classified = kind(task_type)
    played = play(
        tmp_path,
        LARGE,
        prompt,
        lambda body: classified if "response_format" in body else cannot,
        sections={"context": {"source_tokens": 1_500}},
    )
    told = str(played.requests[-1].body["messages"][-1]["content"])
    assert "def with_taxes(prices):\n    return" in told
    assert "What passes now must still pass" in told


def test_where_something_new_belongs_the_classification_tells_though_a_named_check_fails(tmp_path: Path) -> None:
    cannot = calls(("cannot", {"reason": "no"}))
    tests = "".join(
        LARGE["test_hosts.py"].partition("\n\n\n")[2].replace("ask()", f"ask_{n}()") + "\n" for n in range(12)
    )
    played = play(
        tmp_path,
        {**LARGE, "test_hosts.py": f"import os\n\nfrom hosts import ask\n\n\n{tests}"},
        "a new function for a rebate of ten per cent",
        lambda body: kind("code_generation") if "response_format" in body else cannot,
        sections={"context": {"source_tokens": 1_500}},
        check_command="python -m pytest",
    )
    told = str(played.requests[-1].body["messages"][-1]["content"])
    assert "===== shop.py" in told


def test_what_an_edit_broke_is_told_before_what_failed_already(tmp_path: Path) -> None:
    cannot = calls(("cannot", {"reason": "no"}))
    played = run(tmp_path, write(BROKEN), cannot)
    told = played.message(2)
    assert "These passed before the edit and fail now: test_shop.py::test_total" in told
    assert "assert 4 == 3" in told


def test_a_test_that_was_made_for_the_task_counts_whatever_the_agent_says(tmp_path: Path) -> None:
    idle = made.CODE.replace("return NAMES", "return  NAMES")
    wrong = calls(
        ("replace_file_content", {"path": "dates.py", "content": idle}), ("finish", {"reason": "it is not about this"})
    )
    alone = calls(("finish", {"reason": "it is not about this"}))
    prompt = "shown dates go wrong in century: a ValueError for the year 1850, issue 123"
    played = made.run(tmp_path, [made.EDIT, made.answer(made.TEST), wrong, alone], prompt)
    assert (played.result.outcome, played.files["dates.py"]) == ("not_achieved", made.CODE)


def test_a_search_does_not_mend_what_the_task_does_not_speak_of(tmp_path: Path) -> None:
    """A change of a sign lets `test_sign` pass, which nobody asked for."""
    files = {**FILES, "till.py": "def sign():\n    return 1\n"}
    files["test_till.py"] = "from till import sign\n\n\ndef test_sign():\n    assert sign() == 2\n"
    prompt = "shop.py: the total with tax is given in a way that is wrong for 0.30"
    both = calls(
        ("replace_file_content", {"path": "shop.py", "content": TAXED}), ("finish", {"reason": "it is another sign"})
    )
    played = run(tmp_path, both, prompt=prompt, task_type="code_fix", files=files, search=True)
    assert (played.result.outcome, played.files["shop.py"], played.files["till.py"]) == (
        "done",
        TAXED,
        files["till.py"],
    )
    assert "repair" not in played.nodes


def test_where_no_test_passes_it_is_not_told_as_checked(tmp_path: Path) -> None:
    files = {path: text for path, text in FILES.items() if path != "test_shop.py"}
    played = run(tmp_path, write(TAXED), FINISH, files=files)
    assert played.result.outcome == "done"
    told = "\n".join(row.text for row in summary_lines(played.result))
    assert "nothing could be checked: no test of `python -m pytest` passes, before and after (1 test failing" in told
    assert "✔" not in told


def test_a_word_that_begins_as_a_pass_does_is_none(tmp_path: Path) -> None:
    prompt = "shop.py should have a function taxed, for tests of passwords"
    played = run(tmp_path, write(TAXED), FINISH, prompt=prompt)
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED)


TEST = "from shop import taxed\n\n\ndef test_taxed():\n    assert round(taxed([100]), 2) == 119\n"


def test_a_test_is_made_for_what_is_new_and_decides_with_what_passed(tmp_path: Path) -> None:
    """What fails already neither keeps the test from being made nor the task from being done."""
    replies = (made.answer(TEST), write(BROKEN), write(BROKEN + TAXED[len(FILES["shop.py"]) :]), write(TAXED))
    played = run(tmp_path, *replies, sections=made.MAKES)
    result = played.result
    assert (result.outcome, played.files["shop.py"], len(played.requests)) == ("done", TAXED, 5)
    assert result.before is not None
    assert result.before.failing == ("test_taxed.py",)
    assert "what passes now of the project's own tests must still pass (1 fail)" in played.message(2)
    assert "finish" not in offered(played, 2)
    assert result.verdict is not None
    assert (result.verdict.tests_passed, result.verdict.tests_total) == (2, 2)
    assert "1 test failed before and is left out of the verdict: test_till.py::test_host" in result.verdict.note
    told = "\n".join(row.text for row in summary_lines(result))
    assert ": 2 tests pass, 1 fails as before" in told


def test_where_no_test_can_be_made_the_agent_may_say_what_does_not_count(tmp_path: Path) -> None:
    played = run(tmp_path, *[made.answer(TEST.replace("shop", "shops"))] * 2, BOTH, sections=made.MAKES)
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED)
    assert any("no test shows that this is done" in note for note in played.result.notes)


KEPT = {
    **FILES,
    "cart.py": "KEPT = {}\n\n\ndef items(name):\n    return KEPT.setdefault(name, [])\n",
    "test_cart.py": "from cart import items\n\n\ndef test_independent():\n"
    "    items('a').append(1)\n    assert items('a') == []\n",
}
TOLD = "whoever changes the list that he was given changes it for the next one, too"


def test_a_failing_test_that_is_about_the_task_is_its_check(tmp_path: Path) -> None:
    """No other is written; the rest of what fails is left out, and nobody can leave this one."""
    right = KEPT["cart.py"].replace("KEPT.setdefault(name, [])", "list(KEPT.setdefault(name, []))")
    lazy = calls(("replace_file_content", {"path": "cart.py", "content": KEPT["cart.py"] + "# \n"}), FOREIGN)
    edit = calls(("replace_file_content", {"path": "cart.py", "content": right}))
    said = text("FAILS: `test_cart.py::test_independent`.")
    played = run(tmp_path, said, lazy, edit, prompt=TOLD, task_type="code_fix", files=KEPT, sections=made.MAKES)
    result = played.result
    assert "Tests that fail already: test_cart.py::test_independent, test_till.py::test_host" in played.message(1)
    assert "assert [1] == []" in played.message(1)
    assert "All tests must pass but 1 that fails for another reason: `python -m pytest`" in played.message(2)
    assert (result.outcome, played.files["cart.py"], result.iterations) == ("done", right, 2)
    assert result.before is not None
    assert result.before.failing == ("test_cart.py::test_independent",)
    assert "finish" not in offered(played, 2)
    assert set(played.files) == set(KEPT)


def test_nobody_can_leave_the_only_test_that_fails_once_it_is_the_check(tmp_path: Path) -> None:
    files = {path: text for path, text in KEPT.items() if path != "test_till.py"}
    lazy = calls(("replace_file_content", {"path": "cart.py", "content": KEPT["cart.py"] + "# \n"}), FOREIGN)
    replies = (text("FAILS: test_independent"), lazy, calls(("cannot", {"reason": "no"})))
    played = run(tmp_path, *replies, prompt=TOLD, task_type="code_fix", files=files, sections=made.MAKES)
    assert (played.result.outcome, played.files) == ("not_achieved", files)
    assert "finish" not in offered(played, 2)


BY_CLASS = """import os
import unittest

from cart import items


class Cart(unittest.TestCase):
    def test_empty(self):
        items('a').append(1)
        self.assertEqual(items('a'), [])


class Host(unittest.TestCase):
    def test_empty(self):
        self.assertTrue(os.environ['SHOP_HOST'])
"""
BY_VALUE = "import pytest\n" + KEPT["test_cart.py"].replace("test_independent()", "test_independent(n)").replace(
    "def test", "@pytest.mark.parametrize('n', [1, 2])\ndef test"
)
ALONE, BOTH_VALUES = KEPT["test_cart.py"], ("test_independent[1]", "test_independent[2]")


@pytest.mark.parametrize(
    ("tests", "said", "named"),
    [
        (BY_CLASS, "FAILS: test_cart.py::Cart::test_empty", ("Cart::test_empty",)),
        (BY_CLASS, "FAILS: Cart::test_empty, as it tells", ("Cart::test_empty",)),
        (BY_CLASS, "FAILS: test_empty", ("Cart::test_empty", "Host::test_empty")),
        (BY_VALUE, "FAILS: test_cart.py::test_independent", BOTH_VALUES),
        (BY_VALUE, "FAILS: test_independent[2]", BOTH_VALUES[1:]),
        (ALONE, "FAILS: test_independent\n\ntest_host lacks SHOP_HOST.", ("test_independent",)),
        (ALONE, "FAILS:\n- test_cart.py", ("test_independent",)),
    ],
)
def test_those_are_the_check_that_are_named_and_no_others(
    tests: str, said: str, named: tuple[str, ...], tmp_path: Path
) -> None:
    files = {**KEPT, "test_cart.py": tests}
    cannot = calls(("cannot", {"reason": "no"}))
    played = run(tmp_path, text(said), cannot, prompt=TOLD, task_type="code_fix", files=files, sections=made.MAKES)
    assert played.result.before is not None
    assert played.result.before.failing == tuple(f"test_cart.py::{name}" for name in named)


def test_a_name_that_no_failing_test_has_is_told(tmp_path: Path) -> None:
    replies = (text("FAILS: test_total"), text("NONE: nothing"), calls(("cannot", {"reason": "no"})))
    played = run(tmp_path, *replies, prompt=TOLD, task_type="code_fix", files=KEPT, sections=made.MAKES)
    assert "none of the tests that fail has that name" in played.message(2)


OWN = "\n\ndef taxed(prices):\n    return sum(prices) * 1.19\n"
DIES = "import os\n\n" + FILES["shop.py"].replace("return sum(prices)", "os._exit(1)")
FIRST = {"shop.py": FILES["shop.py"], "test_shop.py": FILES["test_shop.py"], "test_a.py": FILES["test_till.py"]}


@pytest.mark.parametrize(
    ("text", "more"),
    [(BROKEN, {"pytest.ini": "[pytest]\naddopts = -x\n"}), (DIES, {})],
    ids=["a project that ends at the first failure", "the program ends the run"],
)
def test_what_is_left_out_ends_no_run_of_the_others(text: str, more: dict[str, str], tmp_path: Path) -> None:
    cannot = calls(("cannot", {"reason": "no"}))
    played = run(tmp_path, made.answer(TEST), write(text + OWN), cannot, files={**FIRST, **more}, sections=made.MAKES)
    assert "make_check" in played.nodes
    assert (played.result.outcome, played.files["shop.py"]) == ("not_achieved", FILES["shop.py"])


def test_what_is_left_out_and_fails_otherwise_than_before_is_told(tmp_path: Path) -> None:
    shows = "from shop import shown\n\n\ndef test_comma():\n    assert shown([1, 2]) == '3,00'\n"
    worse = TAXED.replace("{total(prices):.2f}", "{totals(prices):.2f}")
    files, said = {**FILES, "test_display.py": shows}, "fails otherwise than before: test_display.py::test_comma"
    for name, code, told in (("worse", worse, True), ("right", TAXED, False)):
        (tmp_path / name).mkdir()
        played = run(tmp_path / name, made.answer(TEST), write(code), files=files, sections=made.MAKES)
        assert played.result.outcome == "done"
        assert any(said in note for note in played.result.notes) is told


@pytest.mark.parametrize("kind_of_failure", ["foreign", "unwritten"])
def test_of_something_new_a_failing_test_with_its_name_need_not_be_about_it(
    kind_of_failure: str, tmp_path: Path
) -> None:
    """A test is made if the model says of none that it is; but what fails for want of what is new is its test."""
    fails = "import os\n\n\ndef test_taxed_host():\n    assert os.environ['SHOP_HOST']\n"
    if kind_of_failure == "unwritten":
        fails = "def test_taxed_host():\n    from shop import taxed\n\n    assert taxed([100]) > 118\n"
    files = {**FILES, "test_till.py": fails}
    makes = [made.answer(TEST)] if kind_of_failure == "foreign" else []
    played = run(tmp_path, *makes, write(TAXED), files=files, sections=made.MAKES)
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED)
    assert len(played.requests) == 2 + len(makes)


UNITTEST = {
    "shop.py": FILES["shop.py"],
    "shop_tests.py": "import os\nimport unittest\n\nfrom shop import total\n\n\nclass Shop(unittest.TestCase):\n"
    "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n\n"
    "    def test_host(self):\n        self.assertTrue(os.environ.get('SHOP_HOST'))\n",
    "tox.ini": "[testenv]\ncommands = python -m unittest shop_tests\n",
}


def test_in_a_project_of_unittest_a_test_is_made_as_well(tmp_path: Path) -> None:
    played = run(tmp_path, made.answer(TEST), write(BROKEN), write(TAXED), files=UNITTEST, sections=made.MAKES)
    result = played.result
    assert (result.outcome, played.files["shop.py"], len(played.requests)) == ("done", TAXED, 4)
    assert result.verdict is not None
    assert [name.split()[0] for name in result.verdict.excused] == ["test_host"]
    assert "1 test failed before and is left out of the verdict: test_host" in result.verdict.note


def test_there_a_failing_test_can_be_named_as_well(tmp_path: Path) -> None:
    right = FILES["shop.py"].replace("sum(prices)", "round(sum(prices), 2)")
    files = {
        **UNITTEST,
        "shop_tests.py": UNITTEST["shop_tests.py"].replace("total([1, 2]), 3", "total([0.1, 0.2]), 0.3"),
    }
    prompt = "shop.py: what is added up has a rest of many digits"
    replies = (text("FAILS: test_total"), write(right))
    played = run(tmp_path, *replies, prompt=prompt, task_type="code_fix", files=files, sections=made.MAKES)
    assert (played.result.outcome, played.files["shop.py"]) == ("done", right)
    assert "test_total (shop_tests" in played.message(1)


def test_there_an_edit_that_breaks_nothing_may_stay(tmp_path: Path) -> None:
    played = run(tmp_path, BOTH, files=UNITTEST)
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED)


CROWD = """import threading, time

def test_crowd():
    for _ in range(80):
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    time.sleep(20)
"""


def test_what_a_suite_uses_too_much_of_with_and_without_an_edit_puts_none_back(tmp_path: Path) -> None:
    sections = {"sandbox": {"processes": 40}}
    files = {"shop.py": FILES["shop.py"], "test_a.py": FILES["test_shop.py"], "test_b.py": CROWD}
    played = run(tmp_path, write(TAXED), FINISH, files=files, sections=sections)
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED)
    assert played.result.verdict is not None
    assert played.result.verdict.status == "no_check"


RUNNER = "import sys, unittest\nsys.exit(unittest.main('shop_tests', exit=False).result.wasSuccessful() is False)\n"
LACKING = UNITTEST["shop_tests.py"].replace("self.assertTrue", "import nowhere_installed\n        self.assertTrue")


@pytest.mark.parametrize(("code", "ends"), [(TAXED, ("done", TAXED)), (BROKEN, ("not_achieved", FILES["shop.py"]))])
@pytest.mark.parametrize("command", ["python run.py", "python -m unittest -v shop_tests"])
def test_what_no_test_can_import_here_counts_with_no_runner(
    code: str, ends: tuple[str, str], command: str, tmp_path: Path
) -> None:
    files = {**UNITTEST, "shop_tests.py": LACKING, "run.py": RUNNER}
    played = run(tmp_path, write(code), FINISH, FINISH, files=files, check_command=command)
    verdict = played.result.verdict
    assert (played.result.outcome, played.files["shop.py"]) == ends
    assert verdict is not None
    assert [name.split()[0] for name in verdict.excused] == ["test_host"]


LOST = FILES["shop.py"].replace("    return sum(prices)", "    import nowhere_installed\n\n    return sum(prices)")
GREEN = UNITTEST["shop_tests.py"].partition("    def test_host")[0]
RULE = "-" * 70
REPORT = f"""import sys

sys.stderr.write(\"\"\"ERROR: test_a (x.T.test_a)
{RULE}
Traceback (most recent call last):
ModuleNotFoundError: No module named 'nowhere_installed'

{RULE}
Ran 2 tests in 0.001s

FAILED (errors=1)
\"\"\")
sys.exit(1)
"""


@pytest.mark.parametrize("by", ["python -m unittest shop_tests", "python run.py", "python -m pytest"])
def test_an_edit_excuses_no_test_that_it_breaks(by: str, tmp_path: Path) -> None:
    tests = {"test_a.py": FILES["test_shop.py"] + "\n\ndef test_b():\n    pass\n"}
    files = {"shop.py": FILES["shop.py"], "shop_tests.py": GREEN, "run.py": RUNNER, **tests}
    played = run(tmp_path, write(LOST), FINISH, FINISH, files=files, check_command=by)
    assert (played.result.outcome, played.files["shop.py"]) == ("not_achieved", FILES["shop.py"])


def test_what_a_program_prints_excuses_nothing(tmp_path: Path) -> None:
    files = {"shop.py": "raise SystemExit(1)\n"}
    played = run(tmp_path, write(REPORT), FINISH, FINISH, files=files, check_command="python shop.py")
    assert (played.result.outcome, played.files["shop.py"]) == ("not_achieved", files["shop.py"])


@pytest.mark.parametrize("between", ["&&", ";"])
def test_where_more_runs_than_tests_nothing_is_excused(between: str, tmp_path: Path) -> None:
    files = {**UNITTEST, "shop_tests.py": LACKING, "smoke.py": "from shop import total\n\nassert total([]) == 0\n"}
    command = f"python -m unittest shop_tests {between} python smoke.py"
    wrong = FILES["shop.py"].replace("return sum(prices)", "return sum(prices) if prices else 7")
    played = run(tmp_path, write(wrong), FINISH, FINISH, files=files, check_command=command)
    assert (played.result.outcome, played.files["shop.py"]) == ("not_achieved", FILES["shop.py"])


def test_what_is_to_use_less_is_not_done_while_it_does_not(tmp_path: Path) -> None:
    crowd = (
        "import threading, time\n\nfor _ in range(80):\n    threading.Thread(target=time.sleep, args=(9,)).start()\n"
    )
    files = {"shop.py": crowd, "expected.txt": "\n"}
    given: dict[str, Any] = {"files": files, "sections": {"sandbox": {"processes": 40}}, "task_type": "code_fix"}
    more = write(crowd.replace("80", "81"))
    played = run(tmp_path, more, FINISH, FINISH, prompt="shop.py starts too many threads, fix it", **given)
    assert (played.result.outcome, played.files["shop.py"]) == ("not_achieved", crowd)


def test_a_module_that_is_still_to_be_written_is_what_a_test_is_about(tmp_path: Path) -> None:
    tests = UNITTEST["shop_tests.py"].replace(
        "test_host(self)", "test_till(self):\n        import till\n\n    def test_host(self)"
    )
    played = run(
        tmp_path,
        write(TAXED),
        FINISH,
        FINISH,
        files={**UNITTEST, "shop_tests.py": tests},
        check_command="python -m unittest shop_tests",
    )
    assert (played.result.outcome, played.files["shop.py"]) == ("not_achieved", FILES["shop.py"])


BY_CHANCE = """
def count():
    try:
        runs = len(open('runs.log').read())
    except FileNotFoundError:
        runs = 0
    with open('runs.log', 'a') as log:
        log.write('x')
    return runs

"""


@pytest.mark.parametrize("by", ["unittest", "pytest"])
def test_a_test_that_fails_by_chance_puts_no_edit_back(by: str, tmp_path: Path) -> None:
    """It fails in the second run of the project's tests, the one after the edit, and in no other."""
    if by == "pytest":
        more = f"{BY_CHANCE}\ndef test_watch():\n    assert count() != 1\n"
        files = {**FILES, "test_watch.py": more, ".gitignore": "runs.log\n"}
    else:
        tests = UNITTEST["shop_tests.py"].replace("class Shop", f"{BY_CHANCE}\nclass Shop")
        more = tests + "\n    def test_watch(self):\n        self.assertNotEqual(count(), 1)\n"
        files = {**UNITTEST, "shop_tests.py": more, ".gitignore": "runs.log\n"}
    played = run(tmp_path, BOTH, files=files)
    assert (played.result.outcome, played.files["shop.py"], played.unexpected) == ("done", TAXED, 0)
    told = [event.text for event in played.events if isinstance(event, Note) and "passed when run again" in event.text]
    assert len(told) == 1
    assert "test_watch" in told[0]


def test_a_check_that_is_given_counts_whatever_the_rules_take_the_task_for(tmp_path: Path) -> None:
    command = "python -c 'import shop; assert shop.taxed([100]) == 119'"
    files = {"shop.py": FILES["shop.py"], "test_shop.py": FILES["test_shop.py"]}
    prompt = "go on with taxed, as --rate has it. keep it short"
    played = run(tmp_path, write(TAXED), prompt=prompt, files=files, check_command=command)
    assert played.result.verdict is not None
    assert (played.result.outcome, played.result.verdict.check) == ("done", command)


@pytest.mark.parametrize(
    "prompt",
    [
        "shop.py: the total is wrong for a few prices. those red tests need things we dont have here. ignore them",
        "shop.py: the total is wrong for a few prices (the failing tests are not your concern)",
    ],
)
def test_what_the_user_leaves_out_is_left(prompt: str, tmp_path: Path) -> None:
    edit = write(FILES["shop.py"].replace("sum(prices)", "round(sum(prices), 2)"))
    played = run(tmp_path, edit, prompt=prompt, task_type="code_fix")
    assert (played.result.outcome, len(played.requests), played.unexpected) == ("done", 2, 0)


def test_a_wish_for_tests_of_what_is_mended_is_none_for_those_that_fail(tmp_path: Path) -> None:
    more = FILES["test_shop.py"] + "\n\ndef test_cents():\n    assert total([0.1, 0.2]) == 0.3\n"
    right = FILES["shop.py"].replace("sum(prices)", "round(sum(prices), 2)")
    both = calls(
        ("replace_file_content", {"path": "shop.py", "content": right}),
        ("replace_file_content", {"path": "test_cents.py", "content": more}),
        ("finish", {"reason": "SHOP_HOST is not set here."}),
    )
    prompt = "shop.py: what is added up has a rest of many digits. tests for it please, also in other cases"
    played = run(tmp_path, both, prompt=prompt, task_type="code_fix")
    assert (played.result.outcome, played.unexpected) == ("done", 0), played.result.reason


@pytest.mark.parametrize("by", ["unittest", "pytest"])
def test_nor_does_one_that_fails_by_chance_as_the_pass_is_repeated(by: str, tmp_path: Path) -> None:
    watch = BY_CHANCE + "\ndef test_watch():\n    assert count() != 2\n"
    if by == "pytest":
        files = {**FILES, "test_watch.py": watch, ".gitignore": "runs.log\n"}
        del files["test_till.py"]
    else:
        tests = f"import unittest\n\nfrom shop import total\n{BY_CHANCE}\nclass Shop(unittest.TestCase):\n"
        tests += "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n\n"
        tests += "    def test_watch(self):\n        self.assertNotEqual(count(), 2)\n"
        files = {**UNITTEST, "shop_tests.py": tests, ".gitignore": "runs.log\n"}
    played = run(tmp_path, write(TAXED), files=files)
    assert (played.result.outcome, played.files["shop.py"], played.unexpected) == ("done", TAXED, 0)
    told = [event.text for event in played.events if isinstance(event, Note) and "passed when run again" in event.text]
    assert len(told) == 1


def test_nor_does_one_that_failed_before_and_passed_by_chance(tmp_path: Path) -> None:
    watch = BY_CHANCE + "\ndef test_watch():\n    assert count() == 1\n"
    files = {**FILES, "test_watch.py": watch, ".gitignore": "runs.log\n"}
    del files["test_till.py"]
    played = run(tmp_path, write(TAXED), files=files)
    assert (played.result.outcome, played.files["shop.py"]) == ("done", TAXED), played.result.reason
    lines = "\n".join(item.text for item in summary_lines(played.result))
    told = [event.text for event in played.events if isinstance(event, Note) and "when run again" in event.text]
    assert ("1 fails as before" in lines, told) == (
        True,
        ["failed before, passed once and failed when run again: test_watch.py::test_watch"],
    )


def test_what_fails_by_chance_since_the_edit_is_flaky(tmp_path: Path) -> None:
    """It runs what was changed, so that the edit may be why."""
    files = {**FILES, ".gitignore": "runs.log\n"}
    del files["test_till.py"]
    odd = FILES["shop.py"].replace("def total(prices):", f"{BY_CHANCE}\ndef total(prices):\n    assert count() != 1\n")
    played = run(tmp_path, write(odd), files=files)
    assert played.result.outcome == "not_achieved"
    assert "flaky" in played.result.reason


def test_there_a_search_mends_the_test_that_is_named(tmp_path: Path) -> None:
    files = {**UNITTEST, "shop.py": FILES["shop.py"].replace("sum(prices)", "sum(prices[1:])")}
    played = play(tmp_path, files, "test_total fails, mend it", [], search=True, key=None)
    assert (played.result.outcome, played.files) == ("done", {**files, "shop.py": played.files["shop.py"]})
    assert played.files["shop.py"] != files["shop.py"]
    assert "test_total" in (told := "\n".join(item.text for item in summary_lines(played.result)))
    assert "1 test failing as before" in told


@pytest.mark.parametrize(
    "name",
    [
        *("test_pages", "test_error_on_pages", "test_pages_of_mine", "test_missing_page_rate", "test_till_rate"),
        "test_adapter_of_tills_retries_while_host_is_away",
    ],
)
def test_a_word_in_the_name_of_a_failing_test_is_no_reason_to_make_none(name: str, tmp_path: Path) -> None:
    """What fails may be called by a word that stands in any task of the project; whoever makes the test decides."""
    files = {**FILES, "test_till.py": FILES["test_till.py"].replace("test_host", name)}
    prompt = "shop.py: the total of the pages is wrong with 19 % on top"
    if name == "test_missing_page_rate":
        prompt = "shop.py: the total is wrong with a tax_rate of 19 % on top"
    if name == "test_adapter_of_tills_retries_while_host_is_away":
        prompt = (
            "with an adapter of its own shop.py: total gives, whatever the till is, a sum without the 19 % on top of it"
        )
    if name == "test_till_rate":
        prompt = "shop.py: the total is wrong with 19 % on top. tests for it into till_tests"
    test = made.answer(TEST.replace("taxed", "total").replace("== 119", "== 101"))
    plus = FILES["shop.py"].replace("sum(prices)", "sum(prices) if prices[1:] else prices[0] + 1")
    played = run(tmp_path, test, write(plus), prompt=prompt, task_type="code_fix", files=files, sections=made.MAKES)
    is_called_after = name == "test_pages"
    assert ("make_check" in played.nodes) is not is_called_after
    assert is_called_after or (played.result.outcome, played.files["shop.py"]) == ("done", plus)


@pytest.mark.parametrize(
    ("prompt", "asked", "outcome"),
    [
        ("the TestTotal tests fail since prices may be texts, they should run", 2, "done"),
        ("test_texts fails since prices may be texts, mend that", 1, "done"),
        ("the TestTotal tests fail since prices may be texts, mend all that fails", 2, "not_achieved"),
    ],
)
def test_who_names_tests_means_these(prompt: str, asked: int, outcome: str, tmp_path: Path) -> None:
    tests = "\n\nclass TestTotal:\n    def test_texts(self):\n        assert total(['1', '2']) == 3\n"
    files = FILES | {"test_shop.py": FILES["test_shop.py"] + tests}
    mended = write(FILES["shop.py"].replace("sum(prices)", "sum(map(int, prices))"))
    first = [kind("code_fix")] if "should run" in prompt else []  # where the task names no test a model is asked first
    ended = play(tmp_path, files, prompt, [*first, mended, FINISH])
    kept = "map(int" in ended.files["shop.py"]
    assert (ended.result.outcome, len(ended.requests), kept) == (outcome, asked, True)


@pytest.mark.parametrize(
    "prompt",
    [
        "the tests fail, for example test_texts. Fix them",
        "fix test_texts and get the tests green",
        "fix failing tests like test_texts",
        "fix the tests\nFAILED test_shop.py::TestTotal::test_texts\n2 failed",
    ],
)
def test_an_example_is_not_all_that_is_meant(prompt: str, tmp_path: Path) -> None:
    tests = "\n\nclass TestTotal:\n    def test_texts(self):\n        assert total(['1', '2']) == 3\n"
    tests += "\n\ndef test_nothing():\n    assert total([None]) == 0\n"
    files = FILES | {"test_shop.py": FILES["test_shop.py"] + tests}
    mended = write(FILES["shop.py"].replace("sum(prices)", "sum(map(int, prices))"))
    both = write(FILES["shop.py"].replace("sum(prices)", "sum(int(each or 0) for each in prices)"))
    ended = play(tmp_path, files, prompt, [kind("code_fix"), *[mended, both] * 2])
    assert "each or 0" in ended.files["shop.py"]


def test_a_failure_whose_words_a_task_quotes_is_what_it_is_about(tmp_path: Path) -> None:
    table = "RATES = {'mon': 2, 'fri': 3}\n\n\ndef rate(day):\n    if day not in RATES:\n"
    raises, right = "        raise LookupError(f'no rate is known for {day}')\n", "        return RATES['fri']\n"
    after = "    return RATES[day]\n"
    files = {
        "money.py": table + raises + after,
        "test_weekend.py": "from money import rate\n\n\ndef test_closed():\n    assert rate('sun') == 3\n",
        "test_till.py": FILES["test_till.py"],
    }
    prompt = "It raises LookupError: no rate is known for sun. On a Sunday that of the Friday before should be given."
    edit = calls(("replace_file_content", {"path": "money.py", "content": table + right + after}))
    played = play(tmp_path, files, prompt, [edit, FINISH])
    assert played.result.outcome == "done"
    assert "def test_closed" in played.message(0)
