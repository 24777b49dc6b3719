"""Whole runs in which the coding agent looks before it edits, asks, gives up, or edits what it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.questions import Answer, Guidance, Question
from codur.tools.files.file_tools import nearest_line
from codur.types import Limits
from tests.runs.kit import EDIT, MEDIAN_RIGHT, NEEDS_MODEL, Played, play
from tests.support.groq_server import ServerReply, calls, text

PARTS = "".join(f"def part_{at}(value):\n    kept = value + {at}\n    return kept\n\n\n" for at in range(400))
SHOP = f'''"""Prices."""

{PARTS}def vat(price):
    return price * 0.19
'''
MAIN = "import shop\n\nprint(shop.part_390(0) * 2)\n"
FILES = {"main.py": MAIN, "shop.py": SHOP, "expected.txt": "800\n"}
NARROW = {"context": {"source_tokens": 400}}
WRONG = "def part_380(value):\n    return value\n"
RIGHT = "def part_390(value):\n    return value + 400\n"


def replaced(path: str, name: str, code: str) -> tuple[str, dict[str, str]]:
    return ("replace_function", {"path": path, "name": name, "code": code})


def results(run: Played, number: int) -> list[str]:
    """What came of the calls before a request."""
    return [str(item["content"]) for item in run.requests[number].body["messages"] if item["role"] == "tool"]


def look(*items: str) -> ServerReply:
    return calls(("look", {"at": list(items)}))


def median(code: str = MEDIAN_RIGHT) -> ServerReply:
    return calls(replaced("main.py", "median", code))


def test_where_all_is_shown_one_answer_does(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, median()])
    assert (run.result.outcome, run.result.model_calls) == ("done", 2)
    names = [tool["function"]["name"] for tool in run.requests[1].body["tools"]]
    assert names[-4:] == ["look", "run_check", "ask_user", "cannot"]
    told = run.requests[1].body["tools"][-2]["function"]["description"]
    assert told.startswith("End with a question")


def test_an_edit_of_lines_that_were_not_shown_is_sent_back_with_them(tmp_path: Path) -> None:
    edits = calls(replaced("shop.py", "part_380", WRONG), replaced("shop.py", "part_390", RIGHT))
    run = play(
        tmp_path,
        FILES,
        "main.py is wrong",
        [EDIT, edits, calls(replaced("shop.py", "part_390", RIGHT))],
        sections=NARROW,
    )
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("done", 3, 0)
    assert run.nodes.count("coding") == 1
    first, second = results(run, 2)
    assert "lines that you had not been shown would change (shop.py:" in first
    assert "def part_380(value):\n    kept = value + 380\n" in first
    assert second.startswith("lines that you had not been shown would change (shop.py:")
    assert "part_380(value):\n    kept" in run.files["shop.py"]


def test_a_word_may_be_replaced_everywhere_unseen(tmp_path: Path) -> None:
    everywhere = {"path": "shop.py", "old": "value + 390", "new": "value + 400", "all": True}
    beside = calls(("replace_in_file", everywhere), replaced("shop.py", "part_380", WRONG))
    run = play(
        tmp_path, FILES, "main.py is wrong", [EDIT, beside, calls(("replace_in_file", everywhere))], sections=NARROW
    )
    assert (run.result.outcome, run.result.model_calls) == ("done", 3)
    kept, told = results(run, 2)
    assert "lines that you had not been shown would change" in told, "another edit of the same file"
    assert kept.startswith("kept")
    assert run.files["shop.py"] == SHOP.replace("value + 390", "value + 400")


def test_a_file_shown_in_part_is_not_replaced_whole(tmp_path: Path) -> None:
    whole = calls(("replace_file_content", {"path": "shop.py", "content": f'"""Prices."""\n\n{RIGHT}'}))
    sections = {**NARROW, "tools": {"whole_file_lines": 3000}}
    run = play(
        tmp_path, FILES, "main.py is wrong", [EDIT, whole, calls(("cannot", {"reason": "no"}))], sections=sections
    )
    assert "lines that you had not been shown would change" in results(run, 2)[0]
    assert run.files["shop.py"] == SHOP


def test_text_that_does_not_match_is_answered_with_the_nearest_lines(tmp_path: Path) -> None:
    off = {"path": "main.py", "old": "    raise NotImplementedError()\n", "new": "    return 2\n"}
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, calls(("replace_in_file", off)), median()])
    assert (run.result.outcome, run.nodes.count("coding"), run.unexpected) == ("done", 1, 0)
    (told,) = results(run, 2)
    assert "main.py has no such text" in told
    assert "    raise NotImplementedError\n" in told


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("replace_function", {"function_name": "median", "new_code": "def median(:\n    pass\n"}, "syntax_error"),
        (
            "replace_function",
            {"function_name": "median", "new_code": f"{MEDIAN_RIGHT}\nprint(1)\n"},
            "nothing beside it but new helpers",
        ),
        ("replace_function", {"function_name": "middle", "new_code": "def middle():\n    pass\n"}, "middle"),
    ],
)
def test_an_edit_that_cannot_be_made_is_mended_in_the_same_attempt(
    tool: str, arguments: dict[str, str], why: str, tmp_path: Path
) -> None:
    off = calls((tool, {"path": "main.py", **arguments}))
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, off, median()])
    assert (run.result.outcome, run.nodes.count("coding"), run.unexpected) == ("done", 1, 0)
    (told,) = results(run, 2)
    assert why in told or "def median(:" in told
    assert "Give the edits of this step once more" in told


def test_of_several_edits_only_those_that_cannot_be_made_are_asked_for_again(tmp_path: Path) -> None:
    """Nine right edits and one that means two places: the nine need not be written again."""
    low = ("replace_in_file", {"path": "main.py", "old": "low = 0", "new": "low = 1"})
    twice = ("replace_in_file", {"path": "main.py", "old": "high = 0", "new": "high = 2"})
    once = ("replace_in_file", {"path": "main.py", "old": "# upper\nhigh = 0", "new": "# upper\nhigh = 2"})
    start = {"main.py": "low = 0\n# upper\nhigh = 0\n# again\nhigh = 0\nprint(low, 0)\n", "expected.txt": "1 0\n"}
    run = play(tmp_path, start, "main.py is wrong", [EDIT, calls(low, twice), calls(once)])
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("done", 3, 0)
    kept, told = results(run, 2)
    assert kept == "kept, and made with the others; do not give it again"
    assert "main.py has this text 2 times (lines 3, 5)" in told
    assert "nothing else" in told
    assert run.files["main.py"] == "low = 1\n# upper\nhigh = 2\n# again\nhigh = 0\nprint(low, 0)\n"


def test_a_kept_edit_of_unseen_lines_is_sent_back_with_the_next_answer(tmp_path: Path) -> None:
    off = ("replace_in_file", {"path": "main.py", "old": "no such text", "new": "x"})
    mended = ("replace_in_file", {"path": "main.py", "old": "import shop", "new": "import shop  # prices"})
    answers = [
        calls(replaced("shop.py", "part_380", WRONG), off),
        calls(mended),
        calls(replaced("shop.py", "part_390", RIGHT)),
    ]
    run = play(tmp_path, FILES, "main.py is wrong", [EDIT, *answers], sections=NARROW)
    assert (run.result.outcome, run.unexpected) == ("done", 0)
    assert "lines that you had not been shown would change (shop.py:" in results(run, 3)[-1]


def test_who_gives_all_edits_again_is_taken_at_their_word(tmp_path: Path) -> None:
    low = ("replace_in_file", {"path": "main.py", "old": "low = 0", "new": "low = 5"})
    off = ("replace_in_file", {"path": "main.py", "old": "height = 0", "new": "high = 2"})
    other = ("replace_in_file", {"path": "main.py", "old": "low = 0\nhigh = 0", "new": "low = 1\nhigh = 2"})
    start = {"main.py": "low = 0\nhigh = 0\nprint(low, 0)\n", "expected.txt": "1 0\n"}
    run = play(tmp_path, start, "main.py is wrong", [EDIT, calls(low, off), calls(other)])
    assert (run.result.outcome, run.result.model_calls) == ("done", 3)
    assert run.files["main.py"] == "low = 1\nhigh = 2\nprint(low, 0)\n"


def test_edits_are_sent_back_twice_at_most(tmp_path: Path) -> None:
    off = calls(("replace_in_file", {"path": "main.py", "old": "no such thing", "new": "x"}))
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, off, off, off], limits=Limits(max_iterations=1))
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("limit", 4, 0)
    assert run.nodes.count("coding") == 1


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ("shop.py:1950-1952", ["===== shop.py (lines 1950 to 1952 of "]),
        (
            "part_390",
            ["part_390 (lines ", " of shop.py) is shown above", "main.py:3: print(shop.part_390"],
        ),
        ("test_shop.py:test_it", ["def test_it():\n    assert True"]),
        ("test_shop.py::test_it[1]", ["def test_it():\n    assert True"]),
        ("* 0.19", ["shop.py:2004:     return price * 0.19"]),
        (".", ["main.py\nmain.rst\nshop.py\ntest_shop.py\ntill.rb"]),
        ("absent.py", ["no line matches absent.py"]),
        (".env", ["error: "]),
        ("confval:: retries", ["main.rst:3: .. confval:: retries"]),
        ("shop::part_250", ["def part_250(value):\n    kept = value + 250\n    return kept\n"]),
        ("Shop::Till#[]=", ["  def []=(at, coin)\n    @drawer[at] = coin\n  end"]),
        ("Till#full?", ["  def full?\n    @drawer.all?\n  end"]),
        ("till.rb:full?", ["  def full?\n    @drawer.all?\n  end"]),
    ],
)
def test_what_can_be_looked_at(item: str, shown: list[str], tmp_path: Path) -> None:
    files = {**FILES, "test_shop.py": "def test_it():\n    assert True\n", ".env": "KEY=canary-7\n"}
    files["main.rst"] = "Settings\n\n.. confval:: retries\n"
    files["till.rb"] = (
        "class Till\n  def []=(at, coin)\n    @drawer[at] = coin\n  end\n\n  def full?\n    @drawer.all?\n  end\nend\n"
    )
    edit = calls(replaced("shop.py", "part_390", RIGHT))
    run = play(tmp_path, files, "main.py is wrong", [EDIT, look(item), look("part_390"), edit], sections=NARROW)
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("done", 4, 0)
    (told,) = results(run, 2)
    for part in shown:
        assert part in told
    assert "canary-7" not in str(run.requests[-1].body)


LONG = "def long(value):\n" + "".join(
    f"    value += {at}  # step {at} of many that all look alike\n" for at in range(220)
)


def test_a_definition_is_shown_to_its_end_and_what_one_leaves_others_may_take(tmp_path: Path) -> None:
    """An item that takes little leaves its room; and uses of a name come after what it is."""
    files = {**FILES, "long.py": LONG + "    return value\n", "use.py": "from long import long\n\nlong(1)\n" * 30}
    run = play(tmp_path, files, "main.py is wrong", [EDIT, look("main.py", "long.py::long"), median()], sections=NARROW)
    (told,) = results(run, 2)
    assert "step 219 of many" in told
    assert "did not fit" not in told


def test_a_definition_that_was_shown_is_not_shown_again(tmp_path: Path) -> None:
    replies = [EDIT, look("part_250"), look("part_250", "part_251"), median()]
    run = play(tmp_path, FILES, "main.py is wrong", replies, sections=NARROW)
    first, again = results(run, 3)
    assert "def part_250(value):\n" in first
    assert "of shop.py) is shown above" in again
    assert "def part_251(value):\n" in again


def test_lines_that_are_asked_for_exactly_are_not_cut_for_what_is_searched_for(tmp_path: Path) -> None:
    long = "".join(f"value_{at} = {at}  # one of many lines that all look alike\n" for at in range(400))
    items = ("long.py:1-240", "nothing like it", "value_399", "value_398")
    run = play(
        tmp_path, {**FILES, "long.py": long}, "main.py is wrong", [EDIT, look(*items), median()], sections=NARROW
    )
    (told,) = results(run, 2)
    assert "value_239 = 239" in told
    assert told.index("value_239 = 239") < told.index("nothing like it") < told.index("value_399 = 399")


def test_whole_files_have_to_do_with_what_exact_lines_leave(tmp_path: Path) -> None:
    """Of what is cut it is said which functions begin there."""
    long = "".join(f"value_{at} = {at}  # one of many lines that all look alike\n" for at in range(600))
    items = ("shop.py", "long.py:1-200", "long.py:301-400", "value_590")
    run = play(
        tmp_path, {**FILES, "long.py": long}, "main.py is wrong", [EDIT, look(*items), median()], sections=NARROW
    )
    (told,) = results(run, 2)
    assert "value_199 = 199" in told
    assert "value_399 = 399" in told
    assert "value_590 = 590" in told
    shop = told.partition("===== end of shop.py")[0]
    assert "def part_0(value):" in shop
    assert "def part_399(value):" not in shop
    assert "to 2004 did not fit; go on from line " in shop
    begins = shop.rpartition("… there begin: part_")[2]
    assert begins.count("part_") == 14
    assert begins.rstrip().endswith(" more")


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ("docs", "No file, folder or definition is called docs; the text stands in:\n"),
        ("docs/", "There is no file or folder docs/.\n"),
        ("src/docs", "There is no file or folder src/docs.\n"),
    ],
)
def test_a_folder_that_is_not_there_is_said_not_to_be(item: str, told: str, tmp_path: Path) -> None:
    files = {**FILES, "notes.txt": "the docs are in src/docs\n"}
    run = play(tmp_path, files, "main.py is wrong", [EDIT, look(item), median()], sections=NARROW)
    assert results(run, 2)[0].startswith(told)
    assert "notes.txt:1" in results(run, 2)[0]


def test_of_an_attribute_the_functions_that_use_it_are_shown(tmp_path: Path) -> None:
    bag = "class Bag:\n    def __init__(self, size):\n        half = size // 2\n        self.spare = half\n"
    run = play(tmp_path, {**FILES, "bag.py": bag}, "main.py is wrong", [EDIT, look("spare"), median()], sections=NARROW)
    assert "half = size // 2" in results(run, 2)[0]


def test_a_file_that_is_not_there_is_said_not_to_be(tmp_path: Path) -> None:
    run = play(tmp_path, FILES, "main.py is wrong", [EDIT, look("tests/base.py"), median()])
    (told,) = results(run, 2)
    assert told.startswith("There is no file tests/base.py.")


def test_all_places_that_a_look_found_in_one_file_were_shown(tmp_path: Path) -> None:
    files = {
        **FILES,
        "shop.py": FILES["shop.py"]
        .replace("value + 380\n", "value + 1380\n")
        .replace("value + 370\n", "value + 1370\n"),
    }
    every = ("replace_in_file", {"path": "shop.py", "old": "value + 13", "new": "value + 3", "all": True})
    edit = calls(every, replaced("shop.py", "part_390", RIGHT))
    run = play(tmp_path, files, "main.py is wrong", [EDIT, look("value + 13", "part_390"), edit], sections=NARROW)
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("done", 3, 0)


def test_what_the_user_says_meanwhile_stays_the_last_word(tmp_path: Path) -> None:
    guidance, replies = Guidance(), [EDIT, look("part_380"), look("part_390"), median()]

    def reply(_: Any) -> ServerReply:
        if len(replies) == 3:
            guidance.say("round it up")
        return replies.pop(0)

    run = play(tmp_path, FILES, "main.py is wrong", reply, sections=NARROW, guidance=guidance)
    assert "round it up" not in str(run.requests[1].body)
    for number in (2, 3):
        assert run.message(number).endswith("and it holds: round it up")


def test_the_check_is_run_on_the_files_as_they_are(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, calls(("run_check", {})), median()])
    assert run.result.outcome == "done"
    assert "Result: failed" in results(run, 2)[0]
    assert "NotImplementedError" in results(run, 2)[0]


def test_who_only_looks_ends_at_the_bound_and_what_was_seen_is_shown_next_time(tmp_path: Path) -> None:
    looks = [look(f"shop.py:{line}-{line + 3}") for line in (1500, 1600, 1700, 1800, 1900)]
    edit = calls(replaced("shop.py", "part_390", RIGHT))
    wider = {"context": {"source_tokens": 1000}}
    run = play(tmp_path, FILES, "main.py is wrong", [EDIT, *looks, look("part_390"), edit], sections=wider)
    assert (run.result.outcome, run.result.model_calls, run.unexpected) == ("done", 8, 0)
    assert "def part_300" not in run.message(1)
    assert "No further look" in results(run, 5)[-1]
    again = str(run.requests[6].body["messages"][-1]["content"])
    assert "it only looked (shop.py:1500-1503, " in again
    assert "def part_300" in again


def test_looks_can_be_switched_off(tmp_path: Path) -> None:
    from codur.config.settings import CodingSettings

    run = play(
        tmp_path,
        NEEDS_MODEL,
        "main.py is wrong",
        [EDIT, median()],
        sections={"agents": {"coding": CodingSettings(max_looks=0)}},
    )
    assert run.result.outcome == "done"
    names = [tool["function"]["name"] for tool in run.requests[1].body["tools"]]
    assert names[-2:] == ["ask_user", "cannot"]
    assert "look" not in names


# --- questions --------------------------------------------------------------------------------------------------------


def ask(question: str) -> ServerReply:
    return calls(("ask_user", {"question": question}))


def test_the_user_is_asked_once_and_the_answer_is_in_the_next_request(tmp_path: Path) -> None:
    asked: list[str] = []

    def user(question: Question) -> Answer:
        asked.append(question.text)
        return Answer(decision="answer", text="The mean of both.")

    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, ask("Which of the two?"), median()], consult=user)
    assert (run.result.outcome, asked, run.unexpected) == ("done", ["Which of the two?"], 0)
    assert run.nodes[3:] == ["coding", "consult", "coding", "review"]
    assert "You asked: Which of the two?\nThe user answered: The mean of both." in run.message(2)


def test_where_nobody_can_be_asked_the_question_is_the_outcome(tmp_path: Path) -> None:
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, ask("Which of the two?")])
    assert (run.result.outcome, run.result.exit_code, run.unexpected) == ("not_achieved", 1, 0)
    assert run.result.reason == "the task needs an answer from you first"
    assert run.result.answer == "Which of the two?"


def test_a_model_that_asks_five_questions_is_answered_once_and_ends_at_the_bound(tmp_path: Path) -> None:
    asked: list[str] = []

    def user(question: Question) -> Answer:
        asked.append(question.text)
        return Answer(decision="answer", text="Yes.")

    questions = [ask(f"Question {number}?") for number in range(6)]
    run = play(
        tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, *questions], consult=user, limits=Limits(max_iterations=1)
    )
    assert (run.result.outcome, asked, run.unexpected) == ("limit", ["Question 0?"], 0)
    assert "The user has been asked already" in results(run, 3)[0]


def test_a_question_in_words_is_put_where_somebody_is_there(tmp_path: Path) -> None:
    def user(question: Question) -> Answer:
        return Answer(decision="answer", text="Yes.")

    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, text("Is the mean meant?"), median()], consult=user)
    assert (run.result.outcome, run.unexpected) == ("done", 0)
    assert "You asked: Is the mean meant?" in run.message(2)


def test_who_cannot_says_why(tmp_path: Path) -> None:
    why = "The check needs a database that is not here."
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, calls(("cannot", {"reason": why}))])
    assert (run.result.outcome, run.result.exit_code, run.unexpected) == ("not_achieved", 1, 0)
    assert run.result.reason == f"codur-coding says: {why}"


def test_the_calls_of_a_model_without_tools_are_read_from_its_text(tmp_path: Path) -> None:
    from tests.support.groq_server import json_reply

    first = json_reply({"tool_calls": [{"tool": "look", "args": {"at": ["median"]}}]})
    edit = json_reply(
        {
            "tool_calls": [
                {"tool": "replace_function", "args": {"path": "main.py", "name": "median", "code": MEDIAN_RIGHT}}
            ]
        }
    )
    run = play(tmp_path, NEEDS_MODEL, "main.py is wrong", [EDIT, first, edit])
    assert (run.result.outcome, run.unexpected) == ("done", 0)
    assert run.message(2).startswith("Result of look:\nmedian (lines 4 to 6 of main.py) is shown above\n")


@pytest.mark.parametrize(
    ("old", "line"),
    [("b = 2\nc = 33\nd = 4\n", 2), ("   c = 3   \n", 3), ("d = 40", 4), ("nothing like it at all", 0), ("", 0)],
)
def test_the_nearest_line(old: str, line: int) -> None:
    assert nearest_line("a = 1\nb = 2\nc = 3\nd = 4\n", old) == line


def test_a_text_is_searched_for_in_one_folder(tmp_path: Path) -> None:
    files = {**FILES, "docs/a.md": "port = 1\n", **{f"src/{number}.txt": "port = 2\n" for number in range(30)}}
    run = play(tmp_path, files, "main.py is wrong", [EDIT, look("port =", "docs::port ="), median()], sections=NARROW)
    (told,) = results(run, 2)
    assert "`FOLDER::port =` searches one folder" in told
    assert "docs/a.md:1: port = 1" in told


def test_of_edits_of_one_file_those_of_lines_that_were_shown_are_kept(tmp_path: Path) -> None:
    seen = ("replace_in_file", {"path": "shop.py", "old": "kept = value + 390", "new": "kept = value + 400"})
    blind = ("replace_in_file", {"path": "shop.py", "old": "kept = value + 100", "new": "kept = value + 101"})
    run = play(tmp_path, FILES, "main.py is wrong", [EDIT, calls(seen, blind), calls(blind)], sections=NARROW)
    assert (run.result.outcome, run.unexpected) == ("done", 0)
    kept, told = results(run, 2)
    assert kept == "kept, and made with the others; do not give it again"
    assert "lines that you had not been shown would change (shop.py:" in told
    assert ("value + 400" in run.files["shop.py"], "value + 101" in run.files["shop.py"]) == (True, True)


def test_a_short_file_has_its_share_beside_exact_lines(tmp_path: Path) -> None:
    more = "".join(f"value_{at} = {at}\n" for at in range(60))
    wanted = look("more.py", "shop.py:1-900", "shop.py:1000-1900")
    run = play(tmp_path, {**FILES, "more.py": more}, "main.py is wrong", [EDIT, wanted, median()], sections=NARROW)
    assert "value_59 = 59\n===== end of more.py" in results(run, 2)[0]
