"""Green or empty test runs that come from how the tests are run, and not from a fix."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.confirmation.confirm import Change, confirm
from codur.checks.confirmation.hollow import asking_otherwise
from codur.checks.find_check import CheckRequest, find_check
from codur.config.settings import VerificationSettings
from codur.errors import Interrupted
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher
from codur.structs import replace
from codur.types import Check, Verdict
from codur.workspace.workspace import Workspace
from tests.runs.kit import fill
from tests.support import plain_python

APP = {"app.py": "def f():\n    return 1\n"}
TWO = "from app import f\n\n\ndef test_a():\n    assert f()\n\n\ndef test_b():\n    assert f() == 2\n"
UNITTEST = (
    "import unittest\nfrom app import f\n\n\nclass T(unittest.TestCase):\n"
    "    def test_a(self): self.assertTrue(f())\n    def test_b(self): self.assertEqual(f(), 2)\n"
)
RIGHT = "def f():\n    return 2\n"
SKIPS = "import pytest\n\n\ndef f(seen=[]):\n    seen.append(1)\n    len(seen) < 2 or pytest.skip()\n    return 1\n"
PROJECT = '[project]\nname = "app"\nversion = "1"\n'
NONE = "no tests were found to run"


def checker(
    directory: Path,
    files: dict[str, str],
    command: str | None = None,
    *,
    allow_run: bool = True,
    cancel: CancelToken | None = None,
) -> tuple[Checker, Workspace, Check]:
    workspace = Workspace.open(fill(directory, files))
    check = find_check(workspace, VerificationSettings(), CheckRequest(prompt="fix app.py", command=command))
    assert check is not None
    launcher = Launcher({"PATH": os.environ["PATH"]}, cancel=cancel, python=plain_python.executable())
    judge = Checker(
        workspace,
        VerificationSettings(),
        CheckPrograms(workspace, launcher, python=plain_python.executable()),
        allow_run=allow_run,
    )
    judge.guard(check)
    return judge, workspace, check


def after(
    directory: Path, files: dict[str, str], edit: dict[str, str], command: str | None = None, prompt: str = "fix app.py"
) -> tuple[str, str]:
    """Status and note of the check after a red run and an edit; a pass is confirmed."""
    judge, workspace, check = checker(directory, files, command)
    assert judge.run(check).status == "failed"
    for path, text in edit.items():
        workspace.write_text(path, text)
    verdict = judge.run(check)
    if verdict.passed:
        originals = {change.path: change.before for change in workspace.changes()}
        verdict = confirm(judge, check, verdict, Change(before=originals, prompt=prompt))
    return verdict.status, verdict.note


EMPTYING: dict[str, tuple[dict[str, str], dict[str, str], str]] = {
    "pytest.ini": ({}, {"pytest.ini": "[pytest]\npython_files = nothing_*\n"}, "pytest.ini was made"),
    "new pyproject.toml": (
        {},
        {"pyproject.toml": '[tool.pytest.ini_options]\npython_files = "nothing_*"\n'},
        "pyproject.toml was made",
    ),
    "section in pyproject.toml": (
        {"pyproject.toml": PROJECT},
        {"pyproject.toml": PROJECT + '[tool.pytest.ini_options]\npython_files = "no_*"\n'},
        "pyproject.toml was made",
    ),
    "other section of pyproject.toml": (
        {"pyproject.toml": '[tool.pytest.ini_options]\npython_files = "test_*"\n'},
        {"pyproject.toml": '[tool.pytest]\n[tool.pytest.ini_options]\npython_files = "no_*"\n'},
        "pyproject.toml was changed",
    ),
    "setup.cfg": (
        {"setup.cfg": "[metadata]\nname = app\n"},
        {"setup.cfg": "[metadata]\nname = app\n[tool:pytest]\npython_functions = nothing_*\n"},
        "setup.cfg was made",
    ),
    "tox.ini": ({}, {"tox.ini": "[pytest]\npython_files = nothing_*\n"}, "tox.ini was made"),
    "conftest.py": (
        {},
        {"conftest.py": "def pytest_collection_modifyitems(items): items.clear()\n"},
        "conftest.py was made",
    ),
}


@pytest.mark.parametrize("name", EMPTYING)
def test_settings_that_leave_no_tests_are_tampering(name: str, tmp_path: Path) -> None:
    files, edit, what = EMPTYING[name]
    status, note = after(tmp_path, {**APP, "test_app.py": TWO, **files}, edit)
    assert (status, note) == ("tampered", f"{NONE}: {what}, which changes how tests run")


FEWER: dict[str, tuple[dict[str, str], str | None, str]] = {
    "skipped as a whole": (
        {"app.py": "import pytest\npytest.skip('later', allow_module_level=True)\n"},
        None,
        f"{NONE}: 2 tests ran before, 0 run now",
    ),
    "one of two skipped": (
        {"app.py": SKIPS},
        None,
        "2 tests ran before, 1 run now",
    ),
    "one of two, by the pytest command": (
        {"app.py": SKIPS},
        "python -m pytest",
        "2 tests ran before, 1 run now",
    ),
    "unittest, skipped as a whole": (
        {"app.py": "import unittest\nraise unittest.SkipTest\n"},
        "python -m unittest",
        f"{NONE}: 2 tests ran before, 0 run now",
    ),
}


@pytest.mark.parametrize("name", FEWER)
def test_fewer_tests_than_in_the_red_run_are_tampering(name: str, tmp_path: Path) -> None:
    edit, command, note = FEWER[name]
    tests = UNITTEST if command and "unittest" in command else TWO
    assert after(tmp_path, {**APP, "test_app.py": tests}, edit, command) == ("tampered", note)


ENDED = "the test run ended before all of it was reported, so its exit status proves nothing"


@pytest.mark.parametrize(
    ("source", "command"),
    [
        ("import sys\nsys.exit(0)\n", "python -m unittest test_app"),
        ("import os\nos._exit(0)\n", "python -m unittest"),
        ("import os\nos._exit(0)\n", "pytest"),
        ("import os\nos._exit(0)\n", None),
        ("import pytest\ndef f(seen=[]):\n    seen and pytest.exit('', 0)\n    seen.append(1)\n    return 1\n", None),
    ],
)
def test_an_exit_in_the_middle_of_the_tests_is_a_failure(source: str, command: str | None, tmp_path: Path) -> None:
    tests = UNITTEST if command and "unittest" in command else TWO
    assert after(tmp_path, {**APP, "test_app.py": tests}, {"app.py": source}, command) == ("failed", ENDED)


HONEST: dict[str, tuple[dict[str, str], dict[str, str], str | None]] = {
    "a fix": ({"test_app.py": TWO}, {"app.py": RIGHT}, None),
    "a fix, by unittest": ({"test_app.py": UNITTEST}, {"app.py": RIGHT}, "python -m unittest"),
    "a fix, by the pytest command": ({"test_app.py": TWO}, {"app.py": RIGHT}, "pytest -q"),
    "a test file without tests that could not be imported": (
        {"app.py": "def f(\n", "test_app.py": TWO, "test_kit.py": "import app\n", "test_more.py": "import app\n"},
        {"app.py": RIGHT + "\n"},
        None,
    ),
    "the same by unittest": (
        {"app.py": "def f(\n", "test_app.py": UNITTEST, "test_kit.py": "import app\n", "test_more.py": "import app\n"},
        {"app.py": RIGHT + "\n"},
        "python -m unittest",
    ),
    "a failure in the test and in what follows it": (
        {
            "test_app.py": "import pytest\nfrom app import f\n\n\n@pytest.fixture\ndef x():\n    yield\n"
            "    assert f() == 2\n\n\ndef test_b(x):\n    assert f() == 2\n"
        },
        {"app.py": RIGHT},
        None,
    ),
    "other sections": (
        {"test_app.py": TWO, "pyproject.toml": '[project]\nname = "a"\n', "setup.cfg": "[tool:pytest]\naddopts = -q\n"},
        {
            "app.py": RIGHT,
            "pyproject.toml": '[project]\nname = "b"\n',
            "setup.cfg": "# said\n[flake8]\nmax = 1\n[tool:pytest]\naddopts = -q\n\n[x]\n",
        },
        None,
    ),
    "a package that is declared": (
        {"test_app.py": TWO, "setup.py": "NEEDS = ['attrs']\n"},
        {"app.py": RIGHT, "setup.py": "NEEDS = ['attrs', 'pytest']\n"},
        None,
    ),
    "a script that is silent on success": (
        {"test_app.py": TWO, "check.sh": 'out=$(python -m pytest) || { echo "$out"; exit 1; }\n'},
        {"app.py": RIGHT},
        "sh check.sh",
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_fixes_pass(name: str, tmp_path: Path) -> None:
    files, edit, command = HONEST[name]
    assert after(tmp_path, {**APP, **files}, edit, command) == ("passed", "")


SETTING = "which changes how tests run"
DECIDING: list[tuple[str, str, tuple[str, str]]] = [
    ("pyproject.toml", "fix app.py", ("tampered", f"pyproject.toml was made, {SETTING}")),
    ("pyproject.toml", "Set up pytest in pyproject.toml", ("passed", "")),
    (
        "pyproject.toml",
        "Do not touch app.py or pyproject.toml",
        ("tampered", f"pyproject.toml was made, {SETTING}"),
    ),
    ("pytest/__init__.py", "fix it", ("tampered", f"pytest/__init__.py was made, {SETTING}")),
    ("test_app/__init__.py", "fix it", ("tampered", f"test_app/__init__.py was made, {SETTING}")),
]


@pytest.mark.parametrize(("path", "prompt", "wanted"), DECIDING)
def test_settings_of_a_pass_need_the_prompt(path: str, prompt: str, wanted: tuple[str, str], tmp_path: Path) -> None:
    judge, workspace, check = checker(tmp_path, {**APP, "test_app.py": TWO}, "true; python -c 'pass'; # pytest")
    text = '[tool.pytest.ini_options]\naddopts = "-q"\n' if path.endswith("toml") else "x = 1\n"
    workspace.write_text(path, text)
    originals = {change.path: change.before for change in workspace.changes()}
    verdict = confirm(judge, check, judge.run(check), Change(before=originals, prompt=prompt))
    assert (verdict.status, verdict.note) == wanted


def test_a_makefile_that_hides_the_one_that_judges_is_tampering(tmp_path: Path) -> None:
    files = {"main.py": "x = 1\n", "Makefile": "test:\n\tfalse\n"}
    status, note = after(tmp_path, files, {"GNUmakefile": "test:\n\ttrue\n"}, "make test")
    assert (status, note) == ("tampered", f"GNUmakefile was made, {SETTING}")


def test_settings_that_a_program_writes_are_tampering(tmp_path: Path) -> None:
    source = "open('pytest.ini', 'w').write('[pytest]\\npython_files = nothing_*\\n')\ndef f(): return 2\n"
    judge, workspace, check = checker(tmp_path, {**APP, "test_app.py": TWO})
    assert judge.run(check).status == "failed"
    workspace.write_text("app.py", source)
    verdict = judge.run(check)
    assert verdict.passed  # written after pytest read its settings
    confirmed = confirm(judge, check, verdict, Change(before={"app.py": b""}, prompt="fix app.py"))
    assert (confirmed.status, confirmed.note) == ("tampered", f"pytest.ini was made, {SETTING}")


def test_copies_know_how_many_tests_ran(tmp_path: Path) -> None:
    judge, workspace, check = checker(tmp_path / "work", {**APP, "test_app.py": TWO, ".gitignore": "pytest.ini\n"})
    assert judge.run(check).status == "failed"
    copy = workspace.scratch_copy(tmp_path / "copy")
    other = judge.on(copy)
    copy.write_text("app.py", SKIPS)
    skipped = other.run(check)
    copy.write_text("app.py", RIGHT)
    assert (skipped.status, skipped.note) == ("tampered", "2 tests ran before, 1 run now")
    assert other.run(check).passed


def test_tests_may_go_if_the_prompt_let_their_file_be_changed(tmp_path: Path) -> None:
    judge, workspace, check = checker(tmp_path, {**APP, "test_app.py": TWO})
    assert judge.run(check).status == "failed"
    workspace.unprotect(["test_app.py"])
    freed = Checker(
        workspace,
        VerificationSettings(),
        CheckPrograms(workspace, Launcher({"PATH": os.environ["PATH"]}), python=plain_python.executable()),
    )
    check = replace(check, protected=())
    freed.guard(check)
    assert freed.run(check).status == "failed"
    workspace.write_text("test_app.py", "def test_a():\n    assert True\n")
    assert freed.run(check).passed


def test_no_tests_in_the_first_place_are_no_check(tmp_path: Path) -> None:
    judge, workspace, check = checker(tmp_path, {**APP, "test_app.py": "import app\n"}, "pytest")
    first = judge.run(check)
    workspace.write_text("pytest.ini", "[pytest]\n")
    assert [(verdict.status, verdict.note) for verdict in (first, judge.run(check))] == [("no_check", NONE)] * 2


@pytest.mark.parametrize("command", [None, "pytest -q", "python verify.py"])
def test_special_cases_are_found_whatever_runs_the_tests(command: str | None, tmp_path: Path) -> None:
    test = "from app import f\n\n\ndef test_a():\n    assert f(20) == 6765\n"
    verify = "from app import f\n\nassert f(20) == 6765\n"
    edit = {"app.py": "def f(n):\n    if n == 20:\n        return 6765\n    return n\n"}
    files = {"app.py": "def f(n):\n    return n\n", "test_app.py": test, "verify.py": verify}
    wanted = ("tampered", "app.py gives 6765 for the input 20 as a special case")
    assert after(tmp_path, files, edit, command) == wanted


# --- the check's files and the right to run ---------------------------------------------------------------------------


def test_a_cancelled_check_leaves_the_expected_output_as_it_was(tmp_path: Path) -> None:
    cancel = CancelToken()
    main = "import time\nopen('expected.txt', 'w').write('2')\nopen('seen', 'w').close()\ntime.sleep(60)\n"
    judge, _, check = checker(tmp_path, {"main.py": main, "expected.txt": "1\n"}, cancel=cancel)

    def stop() -> None:
        while not (tmp_path / "seen").exists():
            time.sleep(0.01)
        cancel.cancel()

    watcher = threading.Thread(target=stop)
    watcher.start()
    with pytest.raises(Interrupted):
        judge.run(check)
    watcher.join()
    assert (tmp_path / "expected.txt").read_text() == "1\n"


@pytest.mark.parametrize(
    ("source", "status", "note"),
    [
        ("open('ran', 'w')\n", "no_check", "not checked: running programs is not allowed (tools.allow_run is off)"),
        ("open('ran', 'w'\n", "failed", ""),
    ],
)
def test_nothing_is_run_where_running_is_not_allowed(source: str, status: str, note: str, tmp_path: Path) -> None:
    files = {"main.py": source, "expected.txt": ""}
    judge, workspace, check = checker(tmp_path / "work", files, allow_run=False)
    other = judge.on(workspace.scratch_copy(tmp_path / "copy"))
    verdicts: list[Verdict] = [judge.run(check), other.run(check)]
    assert [(verdict.status, verdict.note) for verdict in verdicts] == [(status, note)] * 2
    assert not list(tmp_path.rglob("ran"))


def test_a_test_asks_for_other_values_and_loads_the_same() -> None:
    test = "require_relative '../app'\nit 'adds' do\n  expect(f(1, 'a\\n')).to eq(true)\n  return 0\nend\n"
    other = "require_relative '../app'\nit 'adds1' do\n  expect(f(3, 'a\\n3')).to eq(false)\n  return 0\nend\n"
    assert asking_otherwise(test) == other
    assert asking_otherwise("it 'adds' do\n  expect(f(1)).to be\nend\n") == ""
    assert asking_otherwise('import (\n\t"testing"\n\tx "a/b"\n)\nf(1, 2) == 3\n').startswith(
        'import (\n\t"testing"\n\tx "a/b"'
    )
    assert asking_otherwise("c == 'a', d == '\\n', e == 'b';\n") == ""


@pytest.mark.parametrize(
    "line",
    ["expect(() => parse('a', 1, 2)).toThrow();", "expect(shown('a', 1, 2)).toMatchSnapshot();", "expect(back('a'));"],
)
def test_a_test_that_compares_with_no_literal_may_be_right_for_others(line: str) -> None:
    assert asking_otherwise(f"it('is so', () => {{\n  {line}\n}});\n") == ""
