"""Checks that cannot run here: told with the remedy, before any model or search is asked."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from codur.events import Note
from codur.patches import RepairRequest
from tests.runs.kit import EDIT, REPAIRABLE, fill, play
from tests.support.groq_server import calls

FIX = "the tests fail, fix the bug"
MAIN = {"main.py": "def add(a, b):\n    return a - b\n"}
TEST = "from main import add\n\n\ndef test_add({}):\n    assert add(1, 2) == 3\n"
REFUSED = "PermissionError: [Errno 13] Permission denied: '/tmp'"


def conftest(hook: str) -> str:
    """A plugin whose code is in no file of the workspace, as one that is installed has it."""
    return f"""import types

outside = types.ModuleType("outside")
exec(compile({hook!r}, "/usr/lib/outside.py", "exec"), outside.__dict__)


def pytest_configure(config):
    config.pluginmanager.register(outside)
"""


COLLECTS = "def pytest_collect_file(file_path, parent):\n    raise PermissionError(13, 'Permission denied', '/tmp')\n"
SETS_UP = "def pytest_runtest_setup(item):\n    raise PermissionError(13, 'Permission denied', '/tmp')\n"
CALLS_BACK = "def pytest_collection_modifyitems(items):\n    raise PermissionError(13, 'Permission denied', '/tmp')\n"


@pytest.mark.parametrize(
    ("files", "reason", "remedy"),
    [
        ({"conftest.py": conftest(COLLECTS), "test_main.py": TEST.format("")}, REFUSED, "codur doctor"),
        ({"conftest.py": conftest(SETS_UP), "test_main.py": TEST.format("")}, REFUSED, "codur doctor"),
        ({"conftest.py": conftest(CALLS_BACK), "test_main.py": TEST.format("")}, REFUSED, "codur doctor"),
        (
            {"test_main.py": "import nothing_of_this_name\n" + TEST.format("")},
            "nothing-of-this-name is not installed",
            "pip install nothing-of-this-name",
        ),
        ({"test_main.py": TEST.format("mocker")}, "pytest-mock is not installed", "pip install pytest-mock"),
        (
            {"test_main.py": "import socket\n\n\ndef test_a():\n    socket.getaddrinfo('host.invalid', 80)\n"},
            "gaierror",
            "codur doctor",
        ),
    ],
    ids=["collection", "setup", "pytest itself", "dependency", "fixture", "network"],
)
def test_an_environment_that_fails_is_no_bug(tmp_path: Path, files: dict[str, str], reason: str, remedy: str) -> None:
    run = play(tmp_path, {**MAIN, **files}, FIX, [], search=True)
    assert (run.result.outcome, run.requests, run.nodes) == ("usage", [], ["pattern_plan", "policy"])
    assert reason in run.result.reason
    assert remedy in run.result.remedy


@pytest.mark.parametrize(
    ("files", "reason", "remedy"),
    [
        ({"test_it.py": "import yaml_absent\n"}, "yaml-absent is not installed", "-m pip install yaml-absent`"),
        (
            {"test_it.py": "def test_a(mocker):\n    pass\n\n\ndef test_b(benchmark):\n    pass\n"},
            "pytest-benchmark, pytest-mock are not installed",
            "-m pip install pytest-benchmark pytest-mock`",
        ),
        (
            {"test_numpy_x.py": "import numpy_x\n", "pyproject.toml": "[project]\nname = 'mine'\n"},
            "numpy-x is not installed",
            "-m pip install numpy-x`",
        ),
        (
            {
                "pytest.ini": "[pytest]\naddopts = --strict-markers\n",
                "test_it.py": "import pytest\n\n\n@pytest.mark.asyncio\nasync def test_a():\n    pass\n",
            },
            "pytest-asyncio is not installed",
            "-m pip install pytest-asyncio`",
        ),
        (
            {
                "conftest.py": "import pytest_asyncio\n",
                "pytest_asyncio.py": "",
                "test_it.py": "async def test_a():\n    pass\n",
            },
            "asyncio_mode is strict",
            "codur doctor",
        ),
        (
            {"test_it.py": "import socket\n\n\ndef test_a():\n    socket.getaddrinfo('host.invalid', 80)\n"},
            "gaierror",
            "codur doctor",
        ),
    ],
    ids=["dependency", "fixtures", "named after it", "mark", "mode", "network"],
)
def test_what_fails_beside_tests_that_pass_cannot_run_here(
    tmp_path: Path, files: dict[str, str], reason: str, remedy: str
) -> None:
    """It was told as "nothing to fix: the check passes already", and as done."""
    files = {"main.py": "def add(a, b):\n    return a + b\n", "test_main.py": TEST.format(""), **files}
    run = play(tmp_path, files, FIX, [], search=True)
    assert (run.result.outcome, run.requests, run.nodes) == ("usage", [], ["pattern_plan", "policy"])
    assert reason in run.result.reason
    assert remedy in run.result.remedy


@pytest.mark.parametrize(
    "files",
    [{"pytest.ini": "[pytest]\naddopts = -p absent_plugin\n"}, {"conftest.py": "pytest_plugins = ['absent_plugin']\n"}],
    ids=["option", "conftest"],
)
def test_a_plugin_that_pytest_is_told_to_load_and_that_is_not_there(tmp_path: Path, files: dict[str, str]) -> None:
    run = play(tmp_path, {**MAIN, "test_main.py": TEST.format(""), **files}, FIX, [], search=True)
    assert (run.result.outcome, run.requests) == ("usage", [])
    assert "absent-plugin is not installed" in run.result.reason


def test_a_test_that_cannot_run_here_hides_no_bug(tmp_path: Path) -> None:
    """Nothing passes: the test that lacks a fixture was counted, and no repair could make it pass."""
    files = {**MAIN, "test_main.py": TEST.format(""), "test_it.py": "def test_a(mocker):\n    pass\n"}
    run = play(tmp_path, files, FIX, [], search=True, offline=True)
    assert run.result.outcome == "done"
    assert run.result.before is not None
    assert run.result.before.excused == ("test_it.py::test_a",)


def test_a_module_that_a_test_is_named_after_is_to_be_written(tmp_path: Path) -> None:
    files = {
        "main.py": "def add(a, b):\n    return a + b\n",
        "test_main.py": TEST.format(""),
        "test_bank.py": "from bank import pay\n\n\ndef test_pay():\n    assert pay(1) == 1\n",
    }
    run = play(tmp_path, files, FIX, [], key=None)
    assert run.result.outcome == "no_model"
    assert run.result.before is not None
    assert run.result.before.failing == ("test_bank.py",)


def test_a_bug_that_looks_like_the_environment_is_one(tmp_path: Path) -> None:
    """The program raises the same, and its own line is in the traceback."""
    main = "def add(a, b):\n    raise PermissionError(13, 'Permission denied', '/tmp')\n"
    run = play(tmp_path, {"main.py": main, "test_main.py": TEST.format("")}, FIX, [], key=None)
    assert run.result.outcome == "no_model"


def test_a_package_that_the_task_asks_for_is_no_missing_one(tmp_path: Path) -> None:
    files = {"test_bank.py": "from bank import pay\n\n\ndef test_pay():\n    assert pay(1) == 1\n"}
    run = play(tmp_path, files, "write the module that the tests want", [], key=None, check_is_goal=True)
    assert run.result.outcome == "no_model"


def test_a_syntax_error_is_told_with_its_place(tmp_path: Path) -> None:
    files = {"main.py": "def add(a, b):\n    return (a +* b\n", "test_main.py": TEST.format("")}
    run = play(tmp_path, files, FIX, [], search=True, offline=True)
    assert run.result.outcome == "no_model"
    assert "main.py, line 2" in run.result.reason


def git(directory: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
    subprocess.run(["git", *identity, *words], cwd=directory, check=True, capture_output=True)


def test_of_several_projects_the_one_with_uncommitted_changes_is_checked(tmp_path: Path) -> None:
    project = '[project]\nname = "{}"\n'
    files = {
        **{f"{part}/pyproject.toml": project.format(part) for part in ("one", "two")},
        **{f"{part}/test_{part}.py": "def test_it():\n    assert False\n" for part in ("one", "two")},
        "two/lib.py": "x = 1\n",
    }
    workspace = fill(tmp_path / "project", files)
    git(workspace, "init", "-q")
    git(workspace, "add", "-A")
    git(workspace, "commit", "-qm", "first")
    (workspace / "two" / "lib.py").write_text("x = 2\n")
    run = play(tmp_path, {}, FIX, [], key=None)
    assert run.result.before is not None
    assert run.result.before.check == "python -m pytest two"


@pytest.mark.parametrize(
    ("above", "own"),
    [
        ({}, {"pytest.ini": "[pytest]\npythonpath = . ../libs\n"}),
        ({"pytest.ini": "[pytest]\npythonpath = project libs\ntestpaths = project\nfilterwarnings = error\n"}, {}),
        ({"pytest.ini": "[pytest]\n", "libs/.env": "x"}, {"pytest.ini": "[pytest]\npythonpath = . ../libs\n"}),
    ],
    ids=["its own settings", "the repository's", "beside what is private"],
)
def test_a_part_of_a_repository_finds_what_lies_beside_it(
    tmp_path: Path, above: dict[str, str], own: dict[str, str]
) -> None:
    fill(tmp_path, {"libs/kit.py": "def negated(x):\n    return -x\n", **above})
    git(tmp_path, "init", "-q")
    files = {"main.py": f"from kit import negated\n\n\n{MAIN['main.py'].replace('- b', '+ negated(b)')}"}
    run = play(tmp_path, {**files, "test_main.py": TEST.format(""), **own}, FIX, [], search=True, offline=True)
    assert (run.result.outcome, run.result.changed_files) == ("done", ("main.py",)), run.result.reason
    assert run.result.before is not None
    assert run.result.before.failing == ("test_main.py::test_add",)


def test_a_revision_that_there_is_not_is_an_error(tmp_path: Path) -> None:
    workspace = fill(tmp_path / "project", REPAIRABLE)
    git(workspace, "init", "-q")
    git(workspace, "add", "-A")
    git(workspace, "commit", "-qm", "first")
    asked = RepairRequest(since="v9.9")
    run = play(tmp_path, {}, "repair", [], offline=True, check_is_goal=True, repair=asked)
    assert (run.result.outcome, run.result.remedy) == ("usage", "Give a commit, branch or tag like HEAD~3.")
    assert run.result.reason == "--since: no commit is called 'v9.9'"
    assert run.files["main.py"] == REPAIRABLE["main.py"]


LISTING = "import os\n\n\ndef listing():\n    {call}\n    return {said}\n"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            LISTING.format(call="os.system('fancyls')", said="'OK'"),
            LISTING.format(call="os.system('fancyls')", said="'ok'"),
        ),
        (
            LISTING.format(call="assert os.system('sortt a.txt') == 0", said="'ok'"),
            LISTING.format(call="assert os.system('sort a.txt') == 0", said="'ok'"),
        ),
    ],
    ids=["it can do without", "it is called wrongly"],
)
def test_what_a_program_under_test_misses_is_its_own_fault(wrong: str, right: str, tmp_path: Path) -> None:
    files = {
        "Makefile": "test:\n\tpython3 check.py\n",
        "check.py": "import main\nassert main.listing() == 'ok'\nprint('fine')\n",
        "main.py": wrong,
        "a.txt": "b\na\n",
    }
    edit = calls(("replace_file_content", {"path": "main.py", "content": right}))
    run = play(tmp_path, files, "make test fails: fix it", [EDIT, edit])
    assert (run.result.outcome, run.result.changed_files) == ("done", ("main.py",)), run.result.reason


def test_a_project_whose_runner_is_not_installed_is_worked_in(tmp_path: Path) -> None:
    files = {"package.json": '{"scripts": {"test": "tap test/*.js"}}', "index.js": "module.exports = () => 2;\n"}
    edit = calls(("replace_file_content", {"path": "index.js", "content": "module.exports = () => 3;\n"}))
    run = play(tmp_path, files, "the function in index.js should give 3, it gives 2", [EDIT, edit])
    assert (run.result.outcome, run.result.changed_files) == ("done", ("index.js",)), run.result.reason
    (tmp_path / "again").mkdir()
    asked = play(tmp_path / "again", files, "make the tests pass", [])
    assert (asked.result.outcome, asked.result.remedy) == (
        "usage",
        "Run `npm install`, or name another check with --check.",
    )


TWO_LANGUAGES = {
    "main.py": "def add(a, b):\n    return a + b\n",
    "test_main.py": TEST.format(""),
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}',
    "lib.js": "export const twice = (x) => 3 * x;\n",
    "lib.test.js": "import test from 'node:test';\nimport assert from 'node:assert';\n"
    "import { twice } from './lib.js';\ntest('twice', () => assert.equal(twice(2), 4));\n",
}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_tests_of_another_language_are_run_before_it_is_said_that_nothing_fails(tmp_path: Path) -> None:
    edit = calls(("replace_file_content", {"path": "lib.js", "content": "export const twice = (x) => 2 * x;\n"}))
    played = play(tmp_path, TWO_LANGUAGES, FIX, [EDIT, edit])
    assert (played.result.outcome, played.result.changed_files) == ("done", ("lib.js",)), played.result.reason
    assert played.result.verdict is not None
    assert (played.result.verdict.check, played.result.verdict.tests_passed) == ("npm test && python -m pytest", 2)
    (tmp_path / "again").mkdir()
    asked = RepairRequest(until="verdict")
    gate = play(tmp_path / "again", TWO_LANGUAGES, "verify", [], offline=True, check_is_goal=True, repair=asked)
    assert gate.result.outcome == "not_achieved"
    (tmp_path / "red").mkdir()
    both = {**TWO_LANGUAGES, **MAIN}
    mended = play(tmp_path / "red", both, FIX, [], search=True, offline=True)
    assert (mended.result.outcome, mended.result.changed_files) == ("done", ("main.py",))
    told = [event.text for event in mended.events if isinstance(event, Note)]
    assert "also there, and not run: npm test; --check runs it" in told


def test_what_a_test_prints_of_a_file_that_holds_secrets_is_in_no_request(tmp_path: Path) -> None:
    test = (
        "from pathlib import Path\n\nfrom main import dsn\n\n\ndef test_dsn():\n"
        "    values = dict(line.split('=') for line in Path('.env').read_text().split())\n"
        "    assert dsn(values) == values['DB_USER'] + ':' + values['DB_PASSWORD']\n"
    )
    main = "def dsn(values):\n    return values['DB_PASSWORD'] + ':' + values['DB_USER']\n"
    files = {".env": "DB_USER=shop\nDB_PASSWORD=zebra-Quartz-5150\n", ".gitignore": ".env\n", "main.py": main}
    right = main.replace("'DB_PASSWORD'] + ':' + values['DB_USER'", "'DB_USER'] + ':' + values['DB_PASSWORD'")
    edit = calls(("replace_file_content", {"path": "main.py", "content": right}))
    played = play(tmp_path, {**files, "test_main.py": test}, FIX, [edit])
    assert played.result.outcome == "done"
    (request,) = played.requests
    assert "[redacted]" in str(request)
    assert "zebra-Quartz-5150" not in f"{request}{played.events}{played.result}"
