"""A task that a linter finds nothing: its command is the check, the tests stay beside it, its own fixes come first."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.kit import codur_here, the_object
from tests.runs.kit import EDIT, KEY, contents, fill
from tests.support.groq_server import GroqServer, Replies, ServerReply, calls

SETTINGS = '[tool.ruff.lint]\nselect = ["F"]\n'
UNUSED = "import os\n\n\ndef double(x):\n    return 2 * x\n"
MENDED = "def double(x):\n    return 2 * x\n"
UNDEFINED = "def double(x):\n    return 2 * x\n\n\ndef half(x):\n    return y / 2\n"
TESTS = "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
FILES = {"pyproject.toml": SETTINGS, "calc.py": UNUSED, "test_calc.py": TESTS}


def ran(
    project: Path, home: Path, replies: Replies, *words: str, mode: str = "before_model"
) -> tuple[dict[str, Any], int, int]:
    with GroqServer(replies) as server:
        # Each candidate starts make and pytest: a slow machine judges few of them in the minute that is usual.
        settings = {"providers": {"groq": {"base_url": server.url}}, "repair": {"offline_budget_s": 400, "mode": mode}}
        fill(home, {".config/codur/config.yaml": yaml.safe_dump(settings)})
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        end = codur_here("run", *words, "--json", cwd=project, home=home, GROQ_API_KEY=KEY, PATH=path)
        return the_object(end.out), end.code, len(server.bodies)


def replaced(old: str, new: str) -> ServerReply:
    return calls(("replace_in_file", {"path": "calc.py", "old": old, "new": new}))


def test_what_the_linter_mends_itself_needs_no_model(project: Path, home: Path) -> None:
    fill(project, FILES)
    result, code, asked = ran(project, home, [], "fix the ruff errors")
    assert (code, asked, result["outcome"], result["changed_files"]) == (0, 0, "done", ["calc.py"])
    assert contents(project)["calc.py"].lstrip() == MENDED
    assert result["verdict"]["check"].startswith("ruff check")
    assert result["verdict"]["check"].endswith("-m pytest")
    assert result["verdict"]["tests_passed"] == 1


def test_what_it_does_not_mend_is_for_a_model_that_sees_its_findings(project: Path, home: Path) -> None:
    fill(project, {**FILES, "calc.py": UNDEFINED})
    result, code, asked = ran(
        project, home, [replaced("return y / 2", "return x / 2")], "fix the ruff errors in calc.py"
    )
    assert (code, asked, result["outcome"]) == (0, 1, "done")


@pytest.mark.parametrize("words", [("fix the ruff errors of rule FFF99",), ("fix it", "--check", "ruff check --nofix")])
def test_what_the_linter_does_not_understand_is_told_and_no_finding(
    words: tuple[str, ...], project: Path, home: Path
) -> None:
    fill(project, {**FILES, "calc.py": UNDEFINED})
    result, code, asked = ran(project, home, [], *words)
    assert (code, asked) == (2, 0)
    assert result["reason"].startswith("the check cannot be run: ")
    assert words[-1].split()[-1] in result["reason"]


def test_a_change_that_pleases_the_linter_and_breaks_a_test_is_not_done(project: Path, home: Path) -> None:
    fill(project, {**FILES, "calc.py": UNDEFINED})
    pleasing = replaced("return 2 * x\n\n\ndef half(x):\n    return y / 2", "return x")
    right = replaced("return x\n", "return 2 * x\n")
    result, code, asked = ran(project, home, [pleasing, right], "fix it", "--check", "ruff check calc.py")
    assert (code, asked, result["outcome"]) == (0, 2, "done")
    assert contents(project)["calc.py"] == MENDED


def test_tests_that_failed_before_may_go_on_failing(project: Path, home: Path) -> None:
    failing = f"{TESTS}\n\ndef test_more():\n    assert double(3) == 7\n"
    fill(project, {**FILES, "test_calc.py": failing})
    result, code, _ = ran(project, home, [], "make ruff happy")
    assert (code, result["outcome"], result["changed_files"]) == (0, "done", ["calc.py"])


def test_where_it_finds_nothing_there_is_nothing_to_do(project: Path, home: Path) -> None:
    fill(project, {**FILES, "calc.py": MENDED})
    result, code, asked = ran(project, home, [], "clean up the lint errors")
    assert (code, asked, result["outcome"], result["changed_files"]) == (0, 0, "done", [])


@pytest.mark.parametrize("check", ["ruff check calc.py", "python -m ruff check calc.py"])
def test_no_search_is_made_for_what_a_linter_finds(project: Path, home: Path, check: str) -> None:
    fill(project, {**FILES, "calc.py": UNDEFINED})
    result, code, asked = ran(project, home, [], "fix calc.py", "--check", check, "--offline")
    assert (code, asked, result["outcome"]) == (3, 0, "no_model")
    assert "linter" in result["reason"]


LINT = """import sys

bad = [path for path in ("calc.py", "test_calc.py") if "TODO" in open(path).read()]
print(*bad)
sys.exit(len(bad))
"""


def test_a_target_that_is_to_pass_is_the_check_and_tests_that_it_finds_wrong_may_be_edited(
    project: Path, home: Path
) -> None:
    todo = {name: f"{text}# TODO\n" for name, text in FILES.items() if name.endswith(".py")}
    fill(project, {**FILES, **todo, "Makefile": "lint:\n\tpython tool.py\n", "tool.py": LINT})
    both = [("replace_in_file", {"path": name, "old": "# TODO\n", "new": ""}) for name in todo]
    result, code, asked = ran(project, home, [calls(*both)], "make lint fails for calc.py; fix it")
    assert (code, asked, result["outcome"]) == (0, 1, "done")
    assert result["verdict"]["check"] == "make lint && python -m pytest"
    assert result["verdict"]["tests_passed"] == 1


def test_what_is_to_be_mended_first_is_told_by_the_tests_and_a_command_named_for_the_end_excuses_none(
    project: Path, home: Path
) -> None:
    fill(project, {**FILES, "calc.py": MENDED.replace("2 * x", "3 * x"), "Makefile": "lint:\n\tpython tool.py\n"})
    fill(project, {"tool.py": LINT})
    tidy = replaced("return 3 * x", "return x * 3")
    words = "Fix the failing test of double. make lint must pass."
    result, code, _ = ran(project, home, [tidy] * 9, words, mode="off")
    assert (code, result["outcome"]) == (1, "not_achieved")
    assert result["verdict"]["failing"]
    result, code, _ = ran(project, home, [], words)
    assert (code, result["verdict"]["check"]) == (0, "python -m pytest && make lint")


def test_a_command_named_for_the_end_of_what_is_no_fault_excuses_what_failed_before(project: Path, home: Path) -> None:
    failing = f"{TESTS}\n\ndef test_more():\n    assert double(3) == 7\n"
    looks = "import sys\n\nsys.exit('hello' not in open('de.json').read())\n"
    fill(project, {**FILES, "de.json": '{"bye": 1}\n', "check_keys.py": looks, "test_calc.py": failing})
    added = calls(("replace_in_file", {"path": "de.json", "old": "1}", "new": '1, "hello": 2}'}))
    prompt = "add the keys that are missing in de.json. python check_keys.py should be happy"
    result, code, _ = ran(project, home, [EDIT, added], prompt)
    assert (code, result["outcome"], result["changed_files"]) == (0, "done", ["de.json"])


def test_what_only_looks_right_to_the_tests_is_not_done_where_a_target_is_to_pass(project: Path, home: Path) -> None:
    fill(project, {**FILES, "calc.py": f"{MENDED}# TODO\n", "Makefile": "lint:\n\tpython tool.py\n", "tool.py": LINT})
    result, code, _ = ran(project, home, [replaced("2 * x", "x * 2")] * 9, "make lint pass")
    assert (code, result["outcome"]) == (1, "not_achieved")


def test_a_gate_does_not_go_by_another_check_than_the_projects_own(project: Path, home: Path) -> None:
    fill(project, {**FILES, "codur.yaml": "verification:\n  command: make ci\n"})
    gate = codur_here("verify", cwd=project, home=home)
    assert (gate.code, "is not accepted" in gate.err, "codur trust" in gate.err) == (2, True, True)
    assert codur_here("verify", "--check", "true", cwd=project, home=home).code == 0


def test_a_variable_that_programs_do_not_get_is_told_by_its_name(project: Path, home: Path) -> None:
    fill(project, {"test_base.py": "import os\n\n\ndef test_base():\n    assert os.environ['BASE_URL']\n"})
    red = codur_here("verify", cwd=project, home=home, BASE_URL="sqlite:///x")
    assert (red.code, "BASE_URL of your environment is not given to programs" in red.err) == (1, True)
    assert "sqlite" not in red.err
    assert codur_here("verify", "--check", "BASE_URL=x pytest", cwd=project, home=home).code == 0
    assert "of your environment" not in codur_here("verify", cwd=project, home=home).err


def test_a_target_that_passes_ends_only_a_request_that_says_no_more(project: Path, home: Path) -> None:
    fill(project, {**FILES, "Makefile": "lint:\n\ttrue\n"})
    result, _, asked = ran(project, home, [], "make lint fails; fix it!")
    assert (asked, result["changed_files"], result["before"]["status"]) == (0, [], "passed")
    told = codur_here("route", "make sure make lint passes with a rule for docstrings, too", cwd=project, home=home)
    assert "make lint" in told.out


def test_tests_that_run_in_a_target_are_not_freed_by_it(project: Path, home: Path) -> None:
    wrong = TESTS.replace("== 4", "== 5")
    fill(project, {**FILES, "test_calc.py": wrong, "Makefile": "lint:\n\tpython -m pytest -q\n\truff check .\n"})
    weaker = calls(("replace_in_file", {"path": "test_calc.py", "old": "== 5", "new": "== 4"}))
    result, _, _ = ran(project, home, [weaker] * 9, "make lint fails for calc.py; fix it")
    assert result["outcome"] != "done"
    assert contents(project)["test_calc.py"] == wrong


def test_a_test_that_a_linter_finds_wrong_keeps_its_assertions(project: Path, home: Path) -> None:
    todo = {name: f"{text}# TODO\n" for name, text in FILES.items() if name.endswith(".py")}
    fill(project, {**FILES, **todo, "Makefile": "lint:\n\tpython tool.py\n", "tool.py": LINT})
    none = [("replace_in_file", {"path": name, "old": "# TODO\n", "new": ""}) for name in todo]
    none.append(("replace_in_file", {"path": "test_calc.py", "old": "double(2) == 4", "new": "True"}))
    result, _, _ = ran(project, home, [calls(*none)] * 9, "make lint fails for calc.py; fix it")
    assert result["outcome"] != "done"
    assert "assert double(2) == 4" in contents(project)["test_calc.py"]


def test_what_a_command_that_was_named_runs_and_reads_is_protected(project: Path, home: Path) -> None:
    files = {"Makefile": "ci:\n\tsh tools/all.sh\n\truff check .\n", "tools/all.sh": "exit 1\n"}
    fill(project, {**FILES, **files})
    edits = [("replace_in_file", {"path": "tools/all.sh", "old": "exit 1", "new": "exit 0"})]
    result, _, _ = ran(project, home, [calls(*edits)] * 9, "make ci fails for calc.py; fix it")
    assert result["outcome"] != "done"
    assert contents(project)["tools/all.sh"] == "exit 1\n"


def test_a_command_that_runs_more_than_tests_guides_a_search(project: Path, home: Path) -> None:
    wrong = "def double(x):\n    return 2 + x\n"
    tests = TESTS.replace("== 4", "== 4\n    assert double(5) == 10")
    makefile = "ci:\n\tpython -m pytest -q\n\ttest -f calc.py\n"
    fill(project, {"calc.py": wrong, "test_calc.py": tests, "Makefile": makefile})
    result, code, _ = ran(project, home, [], "make ci fails; fix it", "--offline", "--timeout", "600")
    assert (code, result["outcome"], result["changed_files"]) == (0, "done", ["calc.py"])
    assert result["verdict"]["check"] == "make ci"


@pytest.mark.parametrize("command", ["make lint", "make deploy", "npm run lint"])
def test_for_a_command_that_is_not_there_or_acts_no_other_check_is_mended(
    command: str, project: Path, home: Path
) -> None:
    wrong = "def double(x):\n    return 2 + x\n"
    fill(project, {"calc.py": wrong, "test_calc.py": TESTS.replace("== 4", "== 4\n    assert double(5) == 10")})
    fill(project, {"Makefile": "deploy:\n\ttrue\n"})
    result, code, _ = ran(project, home, [], f"{command} fails; fix it", "--offline")
    assert (code, result["changed_files"], f"`{command}`" in result["reason"]) == (3, [], True)


@pytest.mark.parametrize(("target", "told"), [("docs", "make docs"), ("deploy-docs", "`make deploy-docs` was not run")])
def test_a_command_that_is_told_to_fail_in_the_end_is_run_before_and_after_or_that_it_is_not_is_told(
    target: str, told: str, project: Path, home: Path
) -> None:
    fill(project, {"docs/a.md": "See old/b.md.\n", "Makefile": f".PHONY: {target}\n{target}:\n\t! grep old/ docs/*\n"})
    mended = calls(("replace_in_file", {"path": "docs/a.md", "old": "old/", "new": "guides/"}))
    prompt = f"docs/old/ was moved to docs/guides/, all links to it are dead now. make {target} fails"
    result, code, _ = ran(project, home, lambda body: mended if body.get("tools") else EDIT, prompt)
    assert (code, result["outcome"], result["changed_files"]) == (0, "done", ["docs/a.md"])
    assert (result["verdict"]["status"] == "passed") == (target == "docs")
    assert (result["verdict"]["check"] or result["verdict"]["note"]).startswith(told)
