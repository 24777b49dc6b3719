"""What is said of attempts, searches, undone runs and challenges is what happened."""

from __future__ import annotations

import json
import re
import shutil
import signal
from pathlib import Path

import pytest

from tests.cli.kit import ROOT, codur, codur_here
from tests.runs.kit import EDIT, MEDIAN_EXPECTED, MEDIAN_ODD_ONLY, MEDIAN_RIGHT, NEEDS_MODEL, fill
from tests.runs.test_changed_tests import EDIT_SAID
from tests.session.kit import PATIENCE_S, edit, place
from tests.support.groq_server import ServerReply, calls, hold, json_reply, text

ASKED = "main.py is wrong"
NO_EDIT = calls(("replace_function", {"path": "main.py", "function_name": "mean", "new_code": MEDIAN_RIGHT}))
CANNED = calls(("replace_file_content", {"path": "main.py", "new_code": f"print({MEDIAN_EXPECTED.strip()!r})\n"}))


def checks(told: str) -> list[str]:
    """What was said of each run of the check, up to its verdict."""
    return re.findall(r"^[ │]*((?:before|attempt|confirm)\b[^:]*: \w+)", told, re.MULTILINE)


@pytest.mark.parametrize(
    ("first", "said"),
    # An edit that cannot be made is sent back twice.
    [([edit(MEDIAN_ODD_ONLY)], ["attempt 1: red", "attempt 2: green"]), ([NO_EDIT] * 3, ["attempt 2: green"])],
)
def test_a_second_attempt_is_called_so(first: list[ServerReply], said: list[str], tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, *first, edit(MEDIAN_RIGHT)]) as here:
        ran = here.run(ASKED)
        assert (ran.code, checks(ran.err)) == (0, ["before: red", *said])
        assert "solved · codur-coding, attempt 2 · " in ran.err
        shown = here.here("show").out
        assert checks(shown) == ["before: red", *said]
        assert "solved · codur-coding, attempt 2 · " in shown


def test_a_second_attempt_is_called_so_after_a_resume(tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, edit(MEDIAN_ODD_ONLY), hold(), edit(MEDIAN_RIGHT)]) as here:
        process = here.start(ASKED)
        assert here.server.holding.wait(PATIENCE_S)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
        here.server.release()
        resumed = here.run("resume")
        assert (resumed.code, checks(resumed.err)) == (0, ["attempt 2: green"])
        assert "solved · codur-coding, attempt 2 · " in resumed.err
        assert checks(here.here("show").out) == ["before: red", "attempt 1: red", "attempt 2: green"]


def test_a_tampered_attempt_is_never_called_green(tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, CANNED]) as here:
        ran = here.run(ASKED, "--max-iterations", "1")
        assert (ran.code, checks(ran.err)) == (4, ["before: red", "attempt 1: tampered"])
        assert "green" not in ran.err


def test_an_undone_run_is_called_so(tmp_path: Path) -> None:
    function = ("replace_function", {"path": "main.py", "function_name": "median", "new_code": MEDIAN_RIGHT})
    notes = ("replace_file_content", {"path": "notes.txt", "new_code": "It was not written.\n"})
    with place(tmp_path, [EDIT, calls(function, notes)]) as here:
        here.run(ASKED)
        (run,) = here.runs()

        def says(state: str, words: str) -> None:
            assert [item["undone"] for item in here.runs()] == [state]
            assert json.loads(here.here("show", "--json").out)["undone"] == state
            assert json.loads(here.here("diff", "--json").out)["undone"] == state
            listed, shown, diff = here.here("runs").out, here.here("show").out, here.here("diff")
            assert f"done, {words} " in listed
            assert f"outcome: done, {words}: `codur undo {run['id']} --redo` takes that back\n" in shown
            assert diff.err == f"run {run['id']} ({words}): {ASKED}\n"
            assert "+    ordered = " in diff.out

        assert "undone" not in here.here("runs").out
        assert [item["undone"] for item in here.runs()] == [""]
        here.here("undo")
        says("all", "undone")
        here.here("undo")
        says("all", "undone")
        here.here("undo", "--redo")
        assert [item["undone"] for item in here.runs()] == [""]
        assert "outcome: done\n" in here.here("show").out
        assert here.here("diff").err == f"run {run['id']}: {ASKED}\n"
        (here.project / "main.py").write_text("mine\n")
        assert here.here("undo").code == 1
        says("part", "undone in part")


def test_what_came_furthest_is_brought_back_afterwards(tmp_path: Path) -> None:
    half = calls(("replace_function", {"path": "main.py", "function_name": "median", "new_code": MEDIAN_ODD_ONLY}))
    with place(tmp_path, [EDIT, *[half] * 5]) as here:
        ended = here.run(ASKED)
        assert "codur undo --redo brings back what came furthest" in ended.err
        assert (here.project / "main.py").read_text() == NEEDS_MODEL["main.py"]
        assert "would be made again: main.py" in here.here("undo", "--redo", "--dry-run").out
        for _ in range(2):
            assert "made again: main.py" in here.here("undo", "--redo").out
            assert MEDIAN_ODD_ONLY in (here.project / "main.py").read_text()
            assert "+" in here.here("diff").out
            assert "restored: main.py" in here.here("undo").out
            assert (here.project / "main.py").read_text() == NEEDS_MODEL["main.py"]


@pytest.mark.parametrize("leaves", ["", "    open('left.txt', 'a').write('x')\n"], ids=["clean", "left by a test"])
def test_what_broke_nothing_is_brought_back_as_well(leaves: str, tmp_path: Path) -> None:
    """It mends what the task tells, and a test that failed before still does."""
    files = {
        "shop.py": "RATE = 1\n",
        "test_shop.py": f"import os\n\n\ndef test_host():\n{leaves}    assert os.environ['HOST']\n",
    }
    right = calls(("replace_file_content", {"path": "shop.py", "content": "RATE = 2\n"}))
    cannot = calls(("cannot", {"reason": "HOST is not set"}))
    edits = json_reply({**EDIT_SAID, "task_type": "code_fix", "detected_files": ["shop.py"]})
    with place(tmp_path, [edits, text("NONE: it shows nowhere"), right, cannot], files) as here:
        ended = here.run("RATE should be two")
        assert ended.code == 1
        assert "codur undo --redo brings back" in ended.err
        assert (here.project / "shop.py").read_text() == "RATE = 1\n"
        assert "made again: shop.py" in here.here("undo", "--redo").out
        assert (here.project / "shop.py").read_text() == "RATE = 2\n"


def test_a_result_gives_way_to_no_attempt_before_it(tmp_path: Path) -> None:
    with place(tmp_path, [EDIT, edit(MEDIAN_ODD_ONLY), edit(MEDIAN_RIGHT)]) as here:
        assert here.run(ASKED).code == 0
        solved = (here.project / "main.py").read_text()
        assert MEDIAN_RIGHT in solved
        for words in (["undo", "--redo"], ["undo"], ["undo", "--redo"], ["undo", "--redo"]):
            here.here(*words)
        assert (here.project / "main.py").read_text() == solved


def test_undo_goes_back_step_by_step_and_redo_forward(tmp_path: Path) -> None:
    with place(tmp_path, []) as here:
        (here.project / "notes.txt").write_text("a\n")
        for old, new in ("ab", "bc"):
            assert here.here("run", f"replace '{old}' with '{new}' in notes.txt").code == 0
        notes = here.project / "notes.txt"
        for words, text in ((["undo"], "b"), (["undo"], "a"), (["undo", "--redo"], "b"), (["undo", "--redo"], "c")):
            assert here.here(*words).code == 0
            assert notes.read_text() == f"{text}\n"
        here.here("undo")
        here.here("undo")
        notes.write_text("mine\n")
        assert here.here("undo", "--redo").code == 1
        notes.write_text("a\n")
        assert here.here("undo", "--redo").code == 0, "what could not be made again is not lost"
        assert notes.read_text() == "b\n"


def test_where_a_search_came_furthest_is_where_it_repairs(tmp_path: Path) -> None:
    """In this program, the search was elsewhere when its repair passed."""
    challenge = tmp_path / "rota"
    shutil.copytree(ROOT / "challenges" / "01-weekend-rota", challenge)
    (tmp_path / "home").mkdir()
    ran = codur("fix main.py", "--offline", cwd=challenge, home=tmp_path / "home")
    assert ran.code == 0, ran.err
    (search,) = re.findall(r"^offline repair: (.*)$", ran.err, re.MULTILINE)
    tried = re.search(r"; ([\d,]+) candidates tried in [\d.]+ s, (\d+) passed", ran.err)
    assert tried is not None
    assert search == f"{tried[1]} candidates tried, {tried[2]} passed"


def test_a_challenge_that_was_green_before_already_passes(tmp_path: Path) -> None:
    fill(tmp_path / "given" / "green", {"main.py": "print(2)\n", "expected.txt": "2\n", "prompt.txt": "fix main.py\n"})
    fill(tmp_path / "given" / "red", {**NEEDS_MODEL, "prompt.txt": "fix main.py\n"})
    (tmp_path / "home").mkdir()
    words = ("solve", "given", "--offline", "--results", "out")
    ran = codur_here(*words, cwd=tmp_path, home=tmp_path / "home", CODUR_REPAIR__MODE="off")
    assert ran.code == 1
    told = ran.out + ran.err
    rows = {row.split()[0]: row for row in ran.out.splitlines() if row.startswith(("green ", "red "))}
    assert "the check passes as it is" in rows["green"]
    assert "passes" in rows["green"].split()[1:3]
    assert "failed" not in rows["green"]
    assert "needs a model" not in rows["green"]
    assert "needs a model" in rows["red"]
    assert "0 of 2 solved" in told


def test_of_two_attempts_that_broke_nothing_the_last_is_brought_back(tmp_path: Path) -> None:
    files = {
        "shop.py": "RATE = 1\n",
        "test_shop.py": "import os\n\n\ndef test_host():\n    assert os.environ['HOST']\n",
    }
    edits = [
        calls(("replace_file_content", {"path": "shop.py", "content": f"RATE = {rate}\n"})) for rate in ("'2'", "2")
    ]
    cannot = calls(("cannot", {"reason": "HOST is not set"}))
    found = json_reply({**EDIT_SAID, "task_type": "code_fix", "detected_files": ["shop.py"]})
    with place(tmp_path, [found, text("NONE: it shows nowhere"), *edits, cannot], files) as here:
        here.run("RATE should be two")
        here.here("undo", "--redo")
        assert (here.project / "shop.py").read_text() == "RATE = 2\n"


def test_an_attempt_that_came_no_further_is_brought_back(tmp_path: Path) -> None:
    edits = calls(("replace_file_content", {"path": "main.py", "content": "print(2)\n"}))
    cannot = calls(("cannot", {"reason": "the check says nothing"}))
    with place(tmp_path, [EDIT, edits, cannot], {"main.py": "print(1)\n"}) as here:
        assert here.run("main.py is wrong", "--check", "exit 1").code == 1
        here.here("undo", "--redo")
        assert (here.project / "main.py").read_text() == "print(2)\n"
