"""Why a run of tests says nothing of the program: what real runs print → a line and what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codur.checks.suites.run_problem import RunProblem, missing_modules, no_program, run_problem
from codur.structs import replace
from codur.types import Check, Verdict

CHECK = Check(kind="tests", argv=("{python}", "-m", "pytest"), source="the tests")
FAILED = Verdict(status="failed", check=CHECK.label)
METADATA = """[project]
name = "mine"
dependencies = ["absent-one>=2", "pytest"]
[project.optional-dependencies]
test = ["absent_two[extra]"]
"""


def run(root: Path, files: dict[str, str], *words: str) -> RunProblem | None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    argv = [sys.executable, "-m", *(words or ("pytest", "-q", "--tb=short", "-p", "no:cacheprovider"))]
    result = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=False)
    return run_problem(CHECK, replace(FAILED, error=result.stdout + result.stderr), root=root, python=sys.executable)


def test_missing_packages_are_named_with_the_others_that_are_declared(tmp_path: Path) -> None:
    found = run(tmp_path, {"test_a.py": "import absent_one\n", "pyproject.toml": METADATA})
    assert found == RunProblem(
        kind="not_installed",
        text=f"absent-one, absent-two are not installed in {sys.executable}.",
        remedy=f"Run `{sys.executable} -m pip install -e '.[test]'`, then try again.",
    )


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"uv.lock": "", "pyproject.toml": METADATA}, "uv sync --all-extras"),
        ({"poetry.lock": "", "pyproject.toml": METADATA}, "poetry install"),
        ({"requirements.txt": "absent_one\n"}, "{python} -m pip install -r requirements.txt"),
        (
            {"pyproject.toml": "[project]\nname='x'\n[dependency-groups]\ntest = ['absent-one']"},
            "{python} -m pip install -e . --group test",
        ),
        ({}, "{python} -m pip install absent-one"),
        ({"uv.lock": "", "pyproject.toml": "[project]\nname='x'"}, "{python} -m pip install absent-one"),
    ],
)
def test_command_that_installs_what_is_missing(tmp_path: Path, files: dict[str, str], command: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    output = "E   ModuleNotFoundError: No module named 'absent_one.part'"
    found = run_problem(CHECK, replace(FAILED, error=output), root=tmp_path, python=sys.executable)
    assert found is not None
    assert found.remedy == f"Run `{command.format(python=sys.executable)}`, then try again."


def test_missing_plugin_that_a_conftest_asks_for(tmp_path: Path) -> None:
    found = run(tmp_path, {"conftest.py": 'pytest_plugins = ["plugin_absent"]\n', "test_a.py": "def test(): pass\n"})
    assert found is not None
    assert found.text == f"plugin-absent is not installed in {sys.executable}."


def test_missing_package_of_a_conftest_and_of_unittest(tmp_path: Path) -> None:
    first = run(tmp_path, {"conftest.py": "import yaml_absent\n", "test_a.py": ""})
    second = run(tmp_path, {}, "unittest", "conftest")
    assert first is not None
    assert first == second
    assert first.text == f"yaml-absent is not installed in {sys.executable}."


def test_module_of_the_workspace_is_no_missing_package(tmp_path: Path) -> None:
    files = {
        "src/mine/__init__.py": "",
        "tests/test_a.py": "import mine.gone\n",
        "pytest.ini": "[pytest]\npythonpath=src",
    }
    assert run(tmp_path, files) == RunProblem(
        kind="not_collected",
        text="tests/test_a.py cannot be loaded: ModuleNotFoundError: No module named 'mine.gone'",
        remedy="Name the file that is wrong in the prompt, or mend the import in tests/test_a.py.",
    )


def test_file_that_cannot_be_loaded(tmp_path: Path) -> None:
    found = run(tmp_path, {"test_a.py": "from mod import absent\n", "mod.py": ""})
    assert found is not None
    assert found.text.startswith("test_a.py cannot be loaded: ImportError: cannot import name 'absent' from 'mod'")


def test_tests_that_fail_are_no_problem(tmp_path: Path) -> None:
    assert run(tmp_path, {"test_a.py": "def test_a():\n    raise ImportError('x')\n"}) is None


def test_no_tests_and_tests_that_pass(tmp_path: Path) -> None:
    def kind(check: Check | None, verdict: Verdict) -> tuple[str, str]:
        problem = run_problem(check, verdict, root=tmp_path, python=sys.executable)
        assert problem is not None
        return problem.kind, problem.text

    passed = Verdict(status="passed", check=CHECK.label, tests_passed=3)
    assert kind(CHECK, passed) == ("passed", "The tests pass: `python -m pytest` (3 tests).")
    assert kind(None, FAILED) == ("no_tests", "No tests were found.")
    assert kind(CHECK, Verdict(status="no_check", check="")) == ("no_tests", "No tests were found.")


def test_file_without_its_package_beside_tests_that_run_is_no_problem_of_the_run(tmp_path: Path) -> None:
    output = "E   ModuleNotFoundError: No module named 'absent_one.part'"
    some = Verdict(status="failed", check=CHECK.label, tests_passed=3, tests_total=5)
    assert run_problem(CHECK, replace(some, error=output), root=tmp_path, python=sys.executable) is None
    assert missing_modules(output, tmp_path, sys.executable) == ["absent_one"]
    (tmp_path / "absent_one.py").touch()
    assert missing_modules(output, tmp_path, sys.executable) == []


@pytest.mark.parametrize(
    ("task", "known"),
    [("", True), ("make the tests pass", True), ("write bank.py", False), ("write absent_one with a class", False)],
)
def test_module_that_is_still_to_be_written_is_not_missing(tmp_path: Path, task: str, known: bool) -> None:
    name = "absent_one" if "absent" in task or not task else "bank"
    output = f"E   ModuleNotFoundError: No module named '{name if task != 'make the tests pass' else 'else_where'}'"
    check = Check(kind="tests", argv=CHECK.argv, protected=("bank_test.py",), source="the tests")
    found = run_problem(check, replace(FAILED, error=output), root=tmp_path, python=sys.executable, task=task)
    assert (found is not None) is known


def test_declared_package_is_missing_whatever_the_task_names(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(METADATA)
    output = "E   ModuleNotFoundError: No module named 'absent_one'"
    found = run_problem(
        CHECK, replace(FAILED, error=output), root=tmp_path, python=sys.executable, task="mend absent_one"
    )
    assert found is not None
    assert found.kind == "not_installed"


def test_a_runner_that_is_not_installed_is_told_with_what_installs_it(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{}")
    check = Check(kind="tests", argv=("npm", "test"), source="package.json")
    verdict = replace(FAILED, check="npm test", error="sh: 1: tap: not found", unfit="sh: 1: tap: not found")
    told = run_problem(check, verdict, root=tmp_path, python=sys.executable, task="a range is refused")
    assert told == RunProblem(
        kind="not_installed",
        text="tap, which runs the tests, is not installed.",
        remedy="Run `npm install`, or name another check with --check.",
    )
    asked = "npm test fails: sh: 1: tap: not found"
    assert run_problem(check, verdict, root=tmp_path, python=sys.executable, task=asked) is None


REPOSITORY = {
    "packages/a/pyproject.toml": "[project]\nname = 'shop-pricing'\n",
    "packages/a/src/pricing/__init__.py": "",
    "packages/b/pyproject.toml": "[project]\nname = 'shop-orders'\ndependencies = ['shop-pricing', 'absent-one']\n",
}


def test_nobody_is_told_to_install_what_the_repository_has_itself(tmp_path: Path) -> None:
    def told(module: str) -> RunProblem | None:
        output = f"E   ModuleNotFoundError: No module named '{module}'"
        return run_problem(CHECK, replace(FAILED, error=output), root=root, python=sys.executable)

    root = tmp_path / "packages" / "b"
    assert run(tmp_path, REPOSITORY) is None
    (tmp_path / ".git").mkdir()
    found = told("pricing")
    assert found is not None
    assert found.text == "pricing lies in ../a/src, where the tests do not find it."
    assert found.remedy.startswith("Start from the directory where they do (-C ../..), or add ../a/src to pytest's")
    other = told("absent_one")
    assert other is not None
    assert other.text == f"absent-one is not installed in {sys.executable}."
    assert other.remedy == f"Run `{sys.executable} -m pip install absent-one`, then try again."


def test_what_python_2_finds_is_no_missing_package(tmp_path: Path) -> None:
    (tmp_path / "inventory").mkdir()
    (tmp_path / "inventory" / "store.py").touch()
    output = "inventory/report.py:3: in <module>\nE   ModuleNotFoundError: No module named '{}'"
    for name in ("StringIO", "store"):
        assert missing_modules(output.format(name), tmp_path, sys.executable) == []
    assert missing_modules(output.format("absent_one"), tmp_path, sys.executable) == ["absent_one"]


def test_a_stand_in_without_a_toolchain_cannot_be_used(tmp_path: Path) -> None:
    said = "error: rustup could not choose a version of cargo to run, because none is configured."
    assert no_program(f"\n{said}\nhelp: run 'rustup default stable'\n", 1) == said
    assert not no_program(f"running 1 test\n{said}\n", 1)
    check = Check(kind="tests", argv=("cargo", "test"), source="Cargo.toml")
    told = run_problem(check, replace(FAILED, error=said, unfit=said), root=tmp_path, python=sys.executable)
    assert told is not None
    assert told.text == said.removeprefix("error: ")
    assert told.remedy.startswith("Run `rustup default stable`")
