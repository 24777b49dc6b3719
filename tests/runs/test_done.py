"""What "done" means for each kind of task: the table of docs/CHECKING.md, carried out row by row."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codur.questions import Answer
from codur.types import Limits
from codur.ui.shown.run_report import summary_lines
from tests.agents.external.kit import CODEX_DONE
from tests.agents.external.kit import RIGHT as PRINTS_2
from tests.graph.tasks import FLAKY
from tests.runs import test_external as external
from tests.runs import test_kept_output as kept_output
from tests.runs import test_unrelated_failures as unrelated
from tests.runs.kit import EDIT, MEDIAN_RIGHT, NEEDS_MODEL, REPAIRABLE, Played, play
from tests.runs.test_approval import User
from tests.runs.test_faults import RIGHT, WRONG
from tests.runs.test_make_check import EDIT as EDIT_DATES
from tests.runs.test_make_check import FIX, NEW, OLD_TEST, PROJECT, REPORT, TEST, answer, run
from tests.runs.test_part_mended import SHOP, TESTS, double
from tests.runs.test_plans import CODING, EXPLAIN, classified, plan, tool
from tests.support.groq_server import calls, text

PAGE = Path(__file__).parents[2] / "docs/CHECKING.md"
HEAD = "| task | done means | words | exit code |"
REFACTOR = classified(task_type="refactor", suggested_action="edit", confidence=0.95, detected_files=["dates.py"])
ONE_LINE = "dates.py: simplify month"
MONTH = "def month(day: date) -> str:\n    names = NAMES\n    return names[day.month - 1]\n"
SIMPLER = calls(("replace_function", {"path": "dates.py", "name": "month", "code": MONTH}))
NEW_TEST = TEST.replace("century", "decade").replace("== 19", "== 1850").replace("_dates_before_1900", "_decade")
ADDED = calls(
    (
        "replace_in_file",
        {
            "path": "dates.py",
            "old": "def century(day: date)",
            "new": "def decade(day: date) -> int:\n    return day.year // 10 * 10\n\n\ndef century(day: date)",
        },
    )
)
WANTED = "dates.py should know decades: decade(day) gives the first year of one"
RED_PROJECT = {**PROJECT, "tests/test_century.py": TEST}
NO_TEST = text("NONE: it cannot be shown.")
NO_TESTS = {"dates.py": PROJECT["dates.py"]}
STEPS = plan(tool("read_file", path="main.py"), CODING)


def fixed(place: Path) -> Played:
    return run(place, [EDIT_DATES, FIX], "century in dates.py is wrong", files=RED_PROJECT)


def delegated(place: Path) -> Played:
    its = external.agent(place / "its", [["write", "main.py", PRINTS_2], *CODEX_DONE])
    return external.run(place, {"its": its}, agent="its")


def refused(place: Path) -> Played:
    no = User(Answer(decision="reject"))
    planned = [classified(confidence=0.1), STEPS]
    return play(place, NEEDS_MODEL, "main.py is wrong", planned, consult=no, show_plan=True)


def worse(place: Path) -> Played:
    return play(place, NEEDS_MODEL, "main.py is wrong", [EDIT, *[WRONG] * 5])


NO_MORE = calls(("cannot", {"reason": "the other test asks for another machine"}))

ROWS: dict[str, Callable[[Path], Played]] = {
    "a fix, the check is red": fixed,
    "a fix, nothing is red": lambda place: run(place, [EDIT_DATES, answer(TEST), FIX], REPORT),
    "something new": lambda place: run(place, [NEW, answer(NEW_TEST), ADDED], WANTED),
    "the same, no test can be made": lambda place: run(place, [NEW, NO_TEST, ADDED], WANTED),
    "the same, without any tests": lambda place: run(place, [NEW, NO_TEST, ADDED], WANTED, files=NO_TESTS),
    "a refactoring": lambda place: run(place, [REFACTOR, SIMPLER], ONE_LINE),
    "a refactoring, some tests are red": lambda place: run(place, [SIMPLER], ONE_LINE, files=RED_PROJECT),
    "a refactoring, without any tests": lambda place: kept_output.play(
        place, kept_output.FILES, kept_output.PROMPT, [kept_output.REFACTOR, kept_output.in_function()]
    ),
    "expected output, a challenge": lambda place: play(place, NEEDS_MODEL, "main.py is wrong", [EDIT, RIGHT]),
    "a search without a model (`--offline`)": lambda place: play(
        place, REPAIRABLE, "fix main.py", [], search=True, key=None, offline=True
    ),
    "work for another program (`--agent`)": delegated,
    "a question": lambda place: play(
        place, NEEDS_MODEL, "why does main.py matter", [EXPLAIN, text("It prints two medians.")]
    ),
    "`explain FILE`, no model answers": lambda place: play(place, NEEDS_MODEL, "explain main.py", [], key=None),
    "a tool call, an edit in so many words": lambda place: play(place, NEEDS_MODEL, "list files", []),
    "a plan of several steps": lambda place: play(
        place, NEEDS_MODEL, "main.py is wrong", [classified(confidence=0.1), STEPS, RIGHT]
    ),
    "a fix, some tests fail that do not run it": lambda place: play(
        place,
        {"shop.py": SHOP, "test_shop.py": TESTS},
        "the tests fail, fix the bug",
        [double("return n * 2"), NO_MORE],
    ),
    "a fix of failing tests that the task names": lambda place: play(
        place, {"shop.py": SHOP, "test_shop.py": TESTS}, "fix test_double in test_shop.py", [double("return n * 2")]
    ),
    "something else than that tests pass, some of which are red": lambda place: unrelated.run(
        place, unrelated.write(unrelated.TAXED), unrelated.FINISH
    ),
    "the same, and no test can run here": lambda place: unrelated.run(
        place, unrelated.write(unrelated.TAXED), files=unrelated.NOT_LOADED
    ),
    "any of these, not come to": worse,
    "the check is not steady": lambda place: play(
        place, {"main.py": "print(None)\n", "expected.txt": "True\n"}, "main.py is wrong", [EDIT, FLAKY]
    ),
    "a model is needed and none can be asked": lambda place: play(place, NEEDS_MODEL, "main.py is wrong", [], key=None),
    "a limit is reached first": lambda place: play(
        place, NEEDS_MODEL, "main.py is wrong", [EDIT, WRONG], limits=Limits(max_iterations=1)
    ),
    "you say no, or cannot be asked (`rm a`)": refused,
}


def rows() -> dict[str, tuple[str, str]]:
    """The words and the exit code of each row of the table of docs/CHECKING.md."""
    table = PAGE.read_text(encoding="utf-8").partition(HEAD)[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.strip().split("\n")[1:]]
    return {task: (words, code) for task, _, words, code in cells}


def patterns(words: str) -> list[str]:
    """What a row says in code spans, as regular expressions; `…`, TEST and NAME stand for anything."""
    spans = re.findall(r"`([^`]+)`", words)
    return [".+".join(map(re.escape, re.split("…|TEST|NAME", span))) for span in spans]


def test_each_row_has_its_run() -> None:
    assert list(rows()) == list(ROWS)


@pytest.mark.parametrize("task", ROWS)
def test_a_task_ends_in_the_words_and_with_the_code_of_its_row(task: str, tmp_path: Path) -> None:
    words, code = rows()[task]
    played = ROWS[task](tmp_path)
    told = "\n".join([*(row.text for row in summary_lines(played.result)), played.result.answer])
    assert str(played.result.exit_code) == code, told
    for pattern in patterns(words):
        assert re.search(pattern, told), (pattern, told)
    assert bool(played.result.answer) or words != "the answer"
    assert played.unexpected == 0
    assert code == "0" or "kept although" in words or not played.result.changed_files


@pytest.mark.parametrize("files", [PROJECT, RED_PROJECT], ids=["all pass", "one is red"])
def test_a_refactoring_that_breaks_what_passed_is_not_done(files: dict[str, str], tmp_path: Path) -> None:
    code = MONTH.replace(" - 1", "")
    breaks = calls(("replace_function", {"path": "dates.py", "name": "month", "code": code}))
    replies = [breaks, SIMPLER] if files is RED_PROJECT else [REFACTOR, breaks, SIMPLER]
    played = run(tmp_path, replies, ONE_LINE, files=files)
    assert (played.result.outcome, played.result.iterations, played.unexpected) == ("done", 2, 0)
    assert "names = NAMES" in played.files["dates.py"]
    assert "test_month" in played.result.attempts[0].error
    assert played.files["tests/test_dates.py"] == OLD_TEST
    told = "the tests that fail now may fail as they do"
    assert (told in played.message(0)) is (files is RED_PROJECT)


def test_a_red_example_of_a_document_may_stay_red_where_a_refactoring_moves_its_lines(tmp_path: Path) -> None:
    example = (
        "import pytest\n\nplaces = [f'a.md:{n}' for n, line in enumerate(open('a.md'), 1) if '1 + 1' in line]\n\n\n"
        "@pytest.mark.parametrize('place', places)\ndef test_example(place):\n    assert 1 + 1 == 3\n"
    )
    files = {**PROJECT, "a.md": "# Doc\n\n1 + 1 is 3\n", "tests/test_doc.py": example}
    moves = calls(
        ("replace_function", {"path": "dates.py", "name": "month", "code": MONTH}),
        ("replace_in_file", {"path": "a.md", "old": "# Doc\n", "new": "# Doc\n\n"}),
    )
    prompt = f"{ONE_LINE}, and put a line below the title of a.md"
    played = play(tmp_path, files, prompt, lambda body: moves if body.get("tools") else REFACTOR)
    assert (played.result.outcome, played.result.iterations) == ("done", 1), played.result.reason


def test_what_the_projects_linter_finds_is_said_and_undoes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The active environment is the one of these tests, with its ruff."""
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin{os.pathsep}{os.environ['PATH']}")
    unused = calls(("replace_function", {"path": "main.py", "name": "median", "code": f"import os\n\n{MEDIAN_RIGHT}"}))
    files = {**NEEDS_MODEL, "ruff.toml": 'lint.select = ["F"]\n'}
    for number, (sections, told) in enumerate([({}, True), ({"verification": {"linters": False}}, False)]):
        (tmp_path / str(number)).mkdir()
        played = play(tmp_path / str(number), files, "main.py is wrong", [EDIT, unused], sections=sections)
        assert (played.result.outcome, played.result.changed_files) == ("done", ("main.py",))
        note = [item for item in played.result.notes if "ruff check finds more than before: main.py:" in item]
        assert bool(note) is told


def test_what_may_stay_red_does_not_decide_what_a_refactoring_is_shown(tmp_path: Path) -> None:
    """The failure of another test took half of the room."""
    filler = "".join(f"def part_{number}(value):\n    return value + {number}\n\n\n" for number in range(300))
    bill = "def bill(price):\n    return price + tax_of(price)\n"
    red = "from parts import part_7\n\n\ndef test_part():\n    " + "assert part_7(0) == 7\n    " * 80 + "assert 0\n"
    files = {
        "shop.py": f"def tax_of(price):\n    return price * 0.2\n\n\n{filler}",
        "app.py": f"from shop import tax_of\n\n\n{filler.replace('part_', 'piece_')}{bill}",
        "parts.py": filler,
        "test_parts.py": red,
    }
    prompt = "rename tax_of to duty_of, in its callers too"
    no = [REFACTOR, NO_MORE, NO_MORE]
    played = play(tmp_path, files, prompt, no, sections={"context": {"source_tokens": 1_500}})
    (told,) = [message for message in map(played.message, range(len(played.requests))) if "# The check now" in message]
    assert "===== test_parts.py" not in told
    assert "def tax_of" in told
