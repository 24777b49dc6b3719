"""`codur repair`: an offline search by itself."""

from __future__ import annotations

import json
import os
import re
import venv
from pathlib import Path

import pytest

from tests.cli.kit import codur, codur_here, the_object
from tests.runs.kit import REPAIRABLE, contents, fill

FIXED = REPAIRABLE["main.py"].replace("range(start, end)", "range(start, end + 1)")
DOUBLED = {"main.py": "n = int(input())\nprint(n - 2)\n", "input.txt": "2\n", "expected.txt": "4\n"}


def test_it_repairs_says_what_was_wrong_and_can_be_undone(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    ran = codur("repair", cwd=project, home=home)
    assert ran.code == 0, ran.err
    assert contents(project)["main.py"] == FIXED
    assert "+    for number in range(start, end + 1):" in ran.out
    assert "stops one short of `end`" in ran.err
    assert "evidence: range bound; " in ran.err
    assert "solved · repair · 0 calls" in ran.err
    assert codur("undo", cwd=project, home=home).code == 0
    assert contents(project) == REPAIRABLE


@pytest.mark.parametrize("words", [["main.py"], ["{project}"], ["{project}/main.py"], ["-C", "{project}", "main.py"]])
def test_what_is_repaired_can_be_named(words: list[str], project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    cwd = project if words == ["main.py"] else home
    ran = codur_here("repair", *(word.format(project=project) for word in words), cwd=cwd, home=home)
    assert ran.code == 0, ran.err
    assert contents(project)["main.py"] == FIXED


def test_a_check_can_be_given(project: Path, home: Path) -> None:
    files = {"area.py": "def area(a, b):\n    return a + b\n"}
    fill(project, files)
    check = "python -c 'import area; assert area.area(2, 3) == 6; assert area.area(5, 7) == 35'"
    ran = codur_here("repair", "--check", check, cwd=project, home=home)
    assert ran.code == 0, ran.err
    assert contents(project)["area.py"] == "def area(a, b):\n    return a * b\n"


def test_the_result_as_json(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    ran = codur_here("repair", "--json", cwd=project, home=home)
    told = the_object(ran.out)
    assert (told["outcome"], told["solved_by"], told["model_calls"]) == ("done", "repair", 0)
    report = told["repair"]
    assert (report["chosen"], report["chosen_by"]) == (0, "rank")
    assert report["patches"][0]["operators"] == ["range bound"]
    assert report["tried"] >= report["passing"] >= 1


def test_all_repairs_are_shown_and_one_can_be_picked(project: Path, home: Path) -> None:
    fill(project, DOUBLED)
    shown = codur_here("repair", "--all", "--timeout", "300", cwd=project, home=home)
    assert shown.code == 0, shown.err
    assert "checked: " not in shown.err
    assert "nothing was changed; `codur repair --pick N`" in shown.err
    assert contents(project) == DOUBLED
    rows = shown.out.splitlines()
    numbered = [row for row in rows if row[:1].isdigit()]
    assert [row.partition(".")[0] for row in numbered] == [str(number) for number in range(1, len(numbered) + 1)]
    assert {"+print(n + 2)", "+print(n * 2)"} <= set(rows)
    assert any("this one" in row and "repair 1 gives" in row for row in rows)
    before = rows[: rows.index("+print(n * 2)")]
    wanted = [row for row in before if row[:1].isdigit()][-1].partition(".")[0]
    picked = codur_here("repair", "--pick", wanted, "--timeout", "300", cwd=project, home=home)
    assert picked.code == 0, picked.err
    assert contents(project)["main.py"] == "n = int(input())\nprint(n * 2)\n"
    assert wanted == "1" or "you chose it" in picked.err


def test_a_dry_run_changes_nothing(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    ran = codur_here("repair", "--dry-run", cwd=project, home=home)
    assert ran.code == 0
    assert "range(start, end + 1)" in ran.out
    assert contents(project) == REPAIRABLE


@pytest.mark.parametrize("options", [["--dry-run"], ["--all", "--timeout", "30"]])
def test_a_copy_is_what_an_editable_install_leads_to(options: list[str], project: Path, home: Path) -> None:
    tests = "from shop import double\n\nassert double(4) == 8, double(4)\nassert double(9) == 18\n"
    fill(project, {"shop/__init__.py": "def double(n):\n    return n + 2\n", "checks/run.py": tests})
    place = home / "environment"
    venv.create(place, symlinks=True, with_pip=False)
    (packages,) = place.glob("lib/python3*/site-packages")
    (packages / "shop.pth").write_text(f"{project}\n")
    path = f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"
    words = ["repair", *options, "--check", "cd checks && python run.py", "shop/__init__.py"]
    ran = codur_here(*words, cwd=project, home=home, PATH=path)
    assert "return n * 2" in ran.out, ran.err


@pytest.mark.parametrize("options", [["--dry-run"], ["--all", "--timeout", "3"]])
def test_a_copy_has_the_environment_of_the_project(options: list[str], project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    venv.create(project / ".venv", symlinks=True, with_pip=False)
    (packages,) = project.glob(".venv/lib/python3*/site-packages")
    for name in ("only_there", "pytest"):  # without pytest another one is taken
        (packages / f"{name}.py").write_text("")
    main = project / "main.py"
    main.write_text(f"import only_there\n{main.read_text()}")
    ran = codur_here("repair", *options, cwd=project, home=home)
    assert "only_there" not in ran.err
    assert re.search(r"candidates tried, [1-9]\d* passed", ran.err)  # the time may end before the rest


HELPER = "import helper\nprint(helper.twice(3))\n"
PRINTS_6 = {"expected.txt": "6\n"}


@pytest.mark.parametrize(
    ("files", "words", "code", "said"),
    [
        ({"main.py": "print(1)\n"}, (), 2, "there is no check that tells a right program from a wrong one"),
        ({"main.py": "print(6)\n", **PRINTS_6}, (), 1, "there is nothing to repair: the check passes already"),
        (PRINTS_6 | {"main.py": "print(1)\n"}, ("nothing.py",), 2, "nothing.py: there is no such file or directory"),
        (PRINTS_6 | {"main.py": "print(1)\n"}, ("--all", "--pick", "2"), 2, "--all changes nothing"),
        (PRINTS_6 | {"main.py": "x = 3\nprint 'a'\nprint x\n"}, (), 1, "main.py is written for Python 2"),
        (
            PRINTS_6 | {"main.py": "import socket\nsocket.create_connection(('example.org', 80))\nprint(5)\n"},
            (),
            1,
            "The check needs the network",
        ),
        ({"main.py": "print(1)\n"}, ("--check", "false"), 1, "The check runs none of the Python files"),
    ],
    ids=["no check", "green", "no file", "all and pick", "Python 2", "network", "runs nothing"],
)
def test_what_cannot_be_repaired_is_told_in_a_sentence(
    files: dict[str, str], words: tuple[str, ...], code: int, said: str, project: Path, home: Path
) -> None:
    fill(project, files)
    ran = codur_here("repair", *words, cwd=project, home=home)
    assert ran.code == code, ran.err
    assert said in ran.err
    assert "Traceback" not in ran.err.replace("  | Traceback", "")
    assert contents(project) == files


def test_a_flaky_check_is_told_in_a_sentence(project: Path, home: Path) -> None:
    fill(project, PRINTS_6 | {"main.py": "import random\nraise SystemExit(random.randrange(1, 256))\n"})
    for _ in range(4):  # by chance, one pair of runs in 255 ends in the same way
        ran = codur_here("repair", "--budget", "300", cwd=project, home=home)
        assert ran.code == 1, ran.err
        assert ran.err.startswith(
            "warning: --budget means dollars elsewhere; --timeout takes the seconds of a search\n"
        )
        if "The check is flaky: two runs of the unchanged program ended differently" in ran.err:
            return
    pytest.fail(ran.err)


def test_a_syntax_error_in_another_file_is_mended(project: Path, home: Path) -> None:
    fill(project, {"main.py": HELPER, "helper.py": "def twice(n)\n    return 2 * n\n", **PRINTS_6})
    ran = codur_here("repair", "main.py", cwd=project, home=home)
    assert ran.code == 0, ran.err
    assert contents(project)["helper.py"] == "def twice(n):\n    return 2 * n\n"


def test_a_search_that_finds_nothing_says_how_far_it_came(project: Path, home: Path) -> None:
    files = {"main.py": "print('a')\nprint(len('xyz'))\n", "expected.txt": "a\nb\nc\nd\ne\nf\ng\n"}
    fill(project, files)
    ran = codur_here("repair", "--timeout", "3", "--json", cwd=project, home=home)
    assert ran.code == 1
    told = the_object(ran.out)
    assert told["reason"].endswith("judged in main.py.")
    assert told["repair"]["tried"] > 0
    assert contents(project) == files


def test_a_task_in_words_is_not_taken_for_paths(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    ran = codur_here("repair", "the", "bug", cwd=project, home=home)
    assert ran.code == 2
    assert "a task in words goes in quotes" in ran.err


def test_equal_input_gives_the_equal_patch_whatever_the_number_of_workers(project: Path, home: Path) -> None:
    fill(project, DOUBLED)
    found = []
    for workers in ("1", "3"):
        words = ("repair", "--all", "--json", "--timeout", "600", "--workers", workers)
        report = json.loads(codur_here(*words, cwd=project, home=home).out)["repair"]
        assert report["complete"]
        found.append([patch["diff"] for patch in report["patches"]])
    assert found[0] == found[1]


def test_a_read_only_file_is_told_before_anything_is_searched(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    (project / "main.py").chmod(0o444)
    ran = codur_here("repair", cwd=project, home=home)
    assert ran.code == 2
    assert "main.py is read-only" in ran.err
    assert "→ Make it writable first." in ran.err
    assert "before:" not in ran.err
    looked = codur_here("verify", cwd=project, home=home)  # which changes nothing
    assert looked.code == 1
    assert "before: red" in looked.err


def test_a_hint_is_told_with_the_evidence_and_a_wrong_one_solves_as_well(project: Path, home: Path) -> None:
    for hint, told in (("off by one in total", "off by one; main.py:4"), ("a regular expression", "pattern")):
        fill(project, REPAIRABLE)
        ran = codur_here("repair", "--hint", hint, "--json", cwd=project, home=home)
        report = the_object(ran.out)["repair"]
        assert (ran.code, contents(project)["main.py"]) == (0, FIXED)
        assert report["hint"].startswith(told)
    fill(project, REPAIRABLE)
    assert "tried first: pattern" in codur_here("repair", "--hint", "a regular expression", cwd=project, home=home).err


def test_an_empty_hint_is_refused(project: Path, home: Path) -> None:
    ran = codur_here("repair", "--hint", " ", cwd=project, home=home)
    assert (ran.code, "--hint" in ran.err) == (2, True)


def test_an_assertion_of_the_program_is_not_made_to_fit(project: Path, home: Path) -> None:
    """A false one says what is wanted, wherever it stands."""
    said = "assert total([1, 2, 3]) == 6\n"
    fill(project, {"main.py": "def total(values):\n    return sum(values[1:])\n\n\n" + said})
    ran = codur("repair", "--check", "python main.py", "--timeout", "20", cwd=project, home=home)
    text = contents(project)["main.py"]
    assert text.endswith(said)
    assert ran.code == (0 if text != "def total(values):\n    return sum(values[1:])\n\n\n" + said else 3), ran.err
