"""Where there are no tests, what programs print and write before a refactoring is its check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from codur.checks.stated_output import demands_same_output
from codur.events import Note
from codur.questions import Answer
from codur.ui.shown.run_report import summary_lines
from tests.runs import kit
from tests.runs.kit import Played
from tests.runs.test_make_check import MAKES
from tests.runs.test_plans import classified
from tests.support.groq_server import ServerReply, calls

REFACTOR = classified(task_type="refactor", suggested_action="edit", confidence=0.95, detected_files=["report.py"])
REPORT = """\
import csv
import time

from prices import price

began = time.perf_counter()
total = 0
with open("sales.csv") as file:
    for row in csv.DictReader(file):
        total = total + price(row["item"]) * int(row["count"])
with open("total.txt", "w") as file:
    file.write(str(total) + "\\n")
print("total", total)
print(f"took {time.perf_counter() - began:.9f} s")
"""
PRICES = """\
def price(item):
    if item == "tea":
        return 3
    else:
        return 5
"""
FILES = {"report.py": REPORT, "prices.py": PRICES, "sales.csv": "item,count\ntea,2\ncake,1\n", "README.md": "Sales.\n"}
PROMPT = "refactor report.py into functions"


def play(place: Path, files: Mapping[str, str], prompt: str, replies: Sequence[ServerReply]) -> Played:
    """A run in which classifications, if there are any, say that it is a refactoring."""
    edits = iter(replies)

    def answer(body: Any) -> ServerReply:
        return next(edits) if body.get("tools") else REFACTOR

    return kit.play(place, files, prompt, answer, sections=MAKES)


def shown(run: Played, number: int) -> str:
    """What the request for an edit of this number shows."""
    requests = [request for request in run.requests if request.body.get("tools")]
    return str(requests[number].body["messages"][-1]["content"])


def written(code: str, path: str = "report.py") -> ServerReply:
    return calls(("replace_file_content", {"path": path, "content": code}))


def in_function(*changes: tuple[str, str]) -> ServerReply:
    head, _, body = REPORT.partition("began")
    code = f"{head}\n\ndef main():\n" + "".join(f"    {row}\n" for row in f"began{body}".splitlines()) + "\n\nmain()\n"
    for old, new in changes:
        assert old in code
        code = code.replace(old, new)
    return written(code)


def words(run: Played) -> str:
    return "\n".join(row.text for row in summary_lines(run.result))


def test_a_refactoring_that_prints_and_writes_the_same_is_checked_by_that(tmp_path: Path) -> None:
    run = play(tmp_path, FILES, PROMPT, [in_function()])

    assert run.result.outcome == "done"
    assert run.result.verdict
    assert run.result.verdict.passed
    assert "what passed before still passes: `python report.py`" in words(run)
    assert "printed but for 1 line that differs each time, and written to total.txt" in words(run)
    assert len(run.requests) == 1, "there is nothing to classify"
    assert "What it prints now:\ntotal 11\n" in shown(run, 0)
    assert "from run to run do not count), and write what it writes now to total.txt" in shown(run, 0)
    # It ran in copies alone.
    assert "total.txt" not in run.files


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('print("total", total)', 'print("Total", total)'), "expected 'total 11', got 'Total 11'"),
        (('str(total) + "\\n"', 'str(total + 1) + "\\n"'), "writes something else to total.txt"),
        (('"total.txt"', '"totals.txt"'), "does not write total.txt"),
        (('int(row["count"])', 'int(row["Count"])'), "KeyError: 'Count'"),
    ],
    ids=["printed", "written", "elsewhere", "crashes"],
)
def test_one_that_does_not_is_put_back_and_told_so(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    run = play(tmp_path, FILES, PROMPT, [in_function(change), in_function()])

    assert said in shown(run, 1)
    assert run.result.outcome == "done"
    assert len(run.result.attempts) == 1


def test_what_a_program_deletes_and_whole_bytes_are_compared(tmp_path: Path) -> None:
    files = {"main.py": "import os\n\nos.remove('a.txt')\nopen('b.txt', 'wb').write(b'caf\\xe9')\n", "a.txt": "a\n"}
    keeps = written(files["main.py"].replace("os.remove('a.txt')\n", ""), "main.py")
    other = written(files["main.py"].replace("xe9", "xe8"), "main.py")
    right = written(files["main.py"].replace("os.remove", "os.unlink"), "main.py")

    run = play(tmp_path, files, "tidy up main.py", [keeps, other, right])

    assert "`python main.py` does not write a.txt, as it did" in shown(run, 1)
    assert "writes something else to b.txt, line 1: expected 'café', got 'cafè'" in shown(run, 2)
    assert (run.result.outcome, run.files["a.txt"]) == ("done", "a\n")


def test_what_nobody_can_read_does_no_harm(tmp_path: Path) -> None:
    code = (
        "import os\n\nopen('a.txt', 'w').write('a')\nos.chmod('a.txt', 0)\nos.mkdir('d')\nos.chmod('d', 0)\nprint(1)\n"
    )
    place = tmp_path / "project"
    files = {"main.py": code, "settings.json": f'["{place}", "{place}-data"]\n'}
    place.mkdir()
    (place / "settings.json").write_text(files["settings.json"])
    (place / "settings.json").chmod(0o444)

    run = play(tmp_path, {"main.py": code}, "tidy up main.py", [written(f"{code}# tidy\n", "main.py")])

    assert run.result.outcome == "done"
    assert "the same is printed, and written to a.txt" in words(run)


def test_what_sets_are_in_order_by_is_not_compared(tmp_path: Path) -> None:
    code = "for name in {'ada', 'bob', 'cem', 'dan'}:\n    print(name)\nprint(4)\n"
    other = "names = {'dan'}\nnames |= {'cem', 'bob', 'ada'}\nfor name in names:\n    print(name)\nprint(4)\n"
    run = play(tmp_path, {"main.py": code}, "tidy up main.py", [written(other, "main.py")])

    assert run.result.outcome == "done", run.result.reason


def test_who_answers_may_want_another_output(tmp_path: Path) -> None:
    asks = calls(("ask_user", {"question": "int(a / b), which gives other numbers, or a // b?"}))
    replies = iter([asks, in_function(('print("total"', 'print("Total"'))])
    run = kit.play(
        tmp_path,
        FILES,
        PROMPT,
        lambda _: next(replies),
        sections=MAKES,
        consult=lambda _: Answer(decision="approve", text="int(a / b), as I said"),
    )

    assert (run.result.outcome, run.result.iterations) == ("done", 1), run.result.reason
    assert "not the same as before" in words(run)


def test_where_another_output_may_be_meant_it_stays_and_is_told(tmp_path: Path) -> None:
    other = in_function(('print("total", total)', 'print("Total", total)'))
    run = play(tmp_path, FILES, "reorganise report.py: a capital letter first", [other])

    assert (run.result.outcome, run.result.iterations) == ("done", 1)
    said = "not the same as before: `python report.py` prints something else than before, line 1: expected 'total 11'"
    assert said in words(run)
    assert "Unless the task asks for something else, `python report.py` must print exactly" in shown(run, 0)


def test_a_crash_is_never_meant(tmp_path: Path) -> None:
    crashes = in_function(('int(row["count"])', 'int(row["Count"])'))
    usage = in_function(("def main():", "import sys\n\n\ndef main(place=sys.argv[1]):"))
    run = play(tmp_path, FILES, "reorganise report.py: a capital letter first", [crashes, usage])

    assert "KeyError: 'Count'" in shown(run, 1)
    assert (run.result.outcome, run.result.iterations) == ("done", 2)
    assert "not the same as before: `python report.py` ends with status 1: IndexError" in words(run)


def test_the_program_that_uses_a_module_tells_of_it(tmp_path: Path) -> None:
    wrong = written("PRICES = {'tea': 4}\n\n\ndef price(item):\n    return PRICES.get(item, 5)\n", "prices.py")
    right = written("PRICES = {'tea': 3}\n\n\ndef price(item):\n    return PRICES.get(item, 5)\n", "prices.py")

    run = play(tmp_path, FILES, "simplify price in prices.py, results as before", [wrong, right])

    assert "`python report.py` prints something else than before" in shown(run, 1)
    assert run.result.outcome == "done"


def test_a_program_runs_with_the_arguments_that_the_readme_gives_it(tmp_path: Path) -> None:
    files = {
        "greet.py": "import sys\n\nname = sys.argv[1]\nprint('hello ' + name)\n",
        "README.md": "Run `python greet.py Ada` to be greeted.\n",
    }
    right = written('import sys\n\nprint(f"hello {sys.argv[1]}")\n', "greet.py")

    run = play(tmp_path, files, "simplify greet.py", [right])

    assert "`python greet.py Ada`" in words(run)


def test_a_program_that_names_its_directory_by_its_whole_path_runs_in_copies_too(tmp_path: Path) -> None:
    place = tmp_path / "project"
    names_all = REPORT.replace('"sales.csv"', f'"{place}/sales.csv"').replace('"total.txt"', f'"{place}/total.txt"')
    right = written(names_all.replace("total = total +", "total +="))

    run = play(tmp_path, {**FILES, "report.py": names_all}, "simplify report.py", [right])

    assert "each time, and written to total.txt" in words(run)
    assert "total.txt" not in run.files


@pytest.mark.parametrize("usage", ["python count.py < a.txt", "`cat a.txt | python count.py`"])
def test_a_program_is_given_the_input_that_the_task_names(usage: str, tmp_path: Path) -> None:
    files = {"count.py": "import sys\n\nn = 0\nfor line in sys.stdin:\n    n = n + 1\nprint(n)\n", "a.txt": "x\ny\n"}
    wrong = written("import sys\n\nprint(len(sys.stdin.read()))\n", "count.py")
    right = written("import sys\n\nprint(sum(1 for _ in sys.stdin))\n", "count.py")

    run = play(tmp_path, files, f"tidy up count.py, same output; it is run as {usage}", [wrong, right])

    assert "`python count.py < a.txt` prints something else than before, line 1: expected '2', got '4'" in shown(run, 1)
    assert "`python count.py < a.txt`" in words(run)


def test_what_uses_a_name_is_compared_and_what_is_not_is_said(tmp_path: Path) -> None:
    use = "from prices import unit_price\n\nprint(unit_price('tea'))\n"
    files = {
        "prices.py": "def unit_price(item):\n    return len(item)\n",
        "a.py": use,
        "b.py": "print(1)\n",
        "c.py": f"{use}\nimport http.server\nhttp.server.HTTPServer(('', 0), None).serve_forever()\n",
    }
    run = play(tmp_path, files, "rename unit_price to price everywhere", [])

    assert "what passed before still passes: `python a.py` (the same is printed)" in words(run)
    said = [event.text for event in run.events if isinstance(event, Note)]
    assert (
        "no tests; `python a.py` has to give what it gives now: printed; not compared: `python c.py` waits" in said[0]
    )


def test_a_program_that_is_moved_is_not_missed(tmp_path: Path) -> None:
    new = ("replace_file_content", {"path": "sales/report.py", "content": REPORT})
    moved = calls(new, ("delete_file", {"path": "report.py"}))
    run = play(tmp_path, FILES, "clean up: report.py has to be in sales/", [moved])

    assert run.result.outcome == "done", run.result.reason
    assert "nothing to check: the programs that were to be compared are gone" in words(run)


def test_of_a_file_that_differs_in_one_line_the_others_are_compared(tmp_path: Path) -> None:
    code = "import random\n\nwith open('out.txt', 'w') as f:\n    f.write(f'{random.random()}\\ntotal 3\\n')\n"
    wrong, right = (written(code.replace("with open", "n = 1\nwith open").replace("3", n), "main.py") for n in "43")

    run = play(tmp_path, {"main.py": code}, "tidy up main.py", [wrong, right])

    assert "writes something else to out.txt, line 2: expected 'total 3', got 'total 4'" in shown(run, 1)
    assert run.result.outcome == "done"


def test_the_time_of_the_day_is_not_compared(tmp_path: Path) -> None:
    code = "import time\n\nprint(time.strftime('at %H:%M'))\nprint(int(time.time()), 'since 1970')\nprint(1)\n"
    run = play(tmp_path, {"main.py": code}, "tidy up main.py", [written(f"{code}# tidy\n", "main.py")])

    assert "the same is printed but for 2 lines that differ each time" in words(run)


def test_a_number_that_could_be_a_time_is_compared_and_it_is_told_where_lines_differ_each_time(tmp_path: Path) -> None:
    rows = "print(*range(2400), random.random(), sep='\\n', file=f)"
    code = f"import random\n\nprint(1)\nwith open('out.csv', 'w') as f:\n    {rows}\n"
    run = play(tmp_path, {"main.py": code}, "tidy up main.py", [written(f"{code}# tidy\n", "main.py")])

    assert "the same is printed, and written to out.csv but for 1 line that differs each time" in words(run)


def test_of_a_changed_header_it_is_told_that_the_rows_are_the_same(tmp_path: Path) -> None:
    code = "with open('out.csv', 'w') as f:\n    print('cust', *range(9), sep='\\n', file=f)\n"
    run = play(
        tmp_path,
        {"main.py": code},
        "rename column cust to customer in main.py",
        [written(code.replace("cust", "customer"), "main.py")],
    )

    assert run.result.outcome == "done"
    assert "line 1: expected 'cust', got 'customer'; of the other 9 lines none differs" in words(run)


def test_of_a_database_and_of_much_data_nothing_is_demanded_that_rows_do_not_show(tmp_path: Path) -> None:
    begin = "import sqlite3\n\nbase = sqlite3.connect('a.db')\nbase.execute('create table t (n)')\n"
    slow = (
        f"{begin}for n in range(3):\n    base.execute('insert into t values (?)', (n,))\n    base.commit()\nprint(3)\n"
    )
    fast = f"{begin}base.executemany('insert into t values (?)', [(n,) for n in range(3)])\nbase.commit()\nprint(3)\n"
    files = {"main.py": slow, "big.json": "1" * 2_000_000}

    run = play(tmp_path, files, "make main.py faster", [written(fast, "main.py")])

    assert (run.result.outcome, run.result.iterations) == ("done", 1)
    assert "written to a.db" in words(run)


@pytest.mark.parametrize(
    "code",
    [
        "import sys\n\nprint(len(list(sys.stdin)))\n",
        "import sys\n\nsys.exit(2)\n",
        "import random\n\nprint(random.random())\n",
        "x = 1\nlist(range(x))\n",
    ],
    ids=["reads", "fails", "differs", "is silent"],
)
def test_what_tells_nothing_is_no_check_and_why_is_said(code: str, tmp_path: Path) -> None:
    run = play(tmp_path, {"main.py": code}, "refactor main.py", [written(f"{code}# tidy\n", "main.py")])

    assert run.result.outcome == "done"
    assert "nothing to check: " in words(run)
    assert "nothing will tell whether this still does the same: `python main.py`" in run.result.notes[0]


@pytest.mark.parametrize(
    "prompt",
    [
        "refactor report.py",
        "Please clean up the scripts.",
        "make report.py faster",
        "tidy up the code in main.py and prices.py",
        "add type hints to report.py",
        "split report.py into functions; the output must stay the same",
        "rename fmt_num to number everywhere",
        "refactor write_report into smaller functions",
        "refactor stocks.py into functions with a main()",
        "change how totals are kept in report.py; the output must stay the same",
        "rewrite the table code without changing what it prints",
        "use pathlib, and keep the output exactly the same",
        "make close.py fast, it takes 15 seconds. same output please",
        "rewrite jobs.py with pandas; what it prints and out/jobs.csv must stay the same",
        "use csv instead of pandas in jobs_report.py, nothing else may change",
        "report.py: put the helpers into a module, results as before",
    ],
)
def test_a_prompt_that_demands_the_same_output(prompt: str) -> None:
    assert demands_same_output(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "change the tax rate to 20 %",
        "make the report prettier",
        "make the names in report.py readable: full names",
        "simplify the output of report.py",
        "refactor report.py so that it prints a header",
        "refactor report.py to use the median instead of the mean",
        "clean up the data in main.py: drop rows without a price",
        "rename the columns in report.py to English",
        "rename report.py to summary.py",
        "the same results but as json",
        "the output should not change except for the total, which is wrong",
        "the numbers must be the same as in the invoice",
        "what it prints is not the same as before the update, repair it",
        "the output is unchanged when I pass --verbose; it should list each row",
        "split report.py in two: report.py only prints, table.py only writes total.txt; results as before",
    ],
)
def test_a_prompt_that_may_mean_another(prompt: str) -> None:
    assert not demands_same_output(prompt)
