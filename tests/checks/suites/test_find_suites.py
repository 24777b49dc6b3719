"""Which tests are found where no command is given, and why: tables of files → command, source and test files."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.checks.find_check import CheckRequest, find_check
from codur.config.settings import VerificationSettings
from codur.types import Check
from codur.workspace.workspace import Workspace

TEST = "def test_f():\n    assert True\n"
CASE = "import unittest\nclass T(unittest.TestCase):\n    pass\n"
SCRIPT = "from django.test.utils import get_runner\n"
DJANGO = "from django.test import TestCase\n"
MANAGE = 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "site.settings")\n'
EXAMPLE = '"""\n>>> 1\n1\n"""\n'
PROJECT = "[project]\nname = 'x'\n"
PYTEST = ("pytest",)
CHECKS = "[pytest]\npython_files = check_*.py"
MONO = {f"{part}/{name}": text for part in ("a", "b/c") for name, text in {"pyproject.toml": PROJECT}.items()}


def check(
    root: Path,
    files: dict[str, str],
    command: str | None = None,
    named: tuple[str, ...] = (),
    changed: tuple[str, ...] = (),
) -> Check | None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    request = CheckRequest(prompt="fix it", files=named, command=command, changed=lambda: changed)
    return find_check(Workspace.open(root), VerificationSettings(), request)


CASES: list[tuple[dict[str, str], tuple[str, ...], str]] = [
    (
        {"pkg/tests/tests.py": TEST, "pyproject.toml": "[tool.pytest.ini_options]\npython_files = 'tests.py'\n"},
        PYTEST,
        "the tests in pkg/tests/tests.py",
    ),
    (
        {"unit/check_a.py": TEST, "check_b.py": TEST, "pytest.ini": f"{CHECKS}\ntestpaths=unit/"},
        PYTEST,
        "the tests in unit/check_a.py",
    ),
    (
        {"a.py": "x = 1\n", "b.py": TEST, "setup.cfg": "[tool:pytest]\npython_files = *.py\n"},
        PYTEST,
        "the tests in b.py",
    ),
    (
        {"test_a.py": TEST, "pytest.ini": "", "tox.ini": "[pytest]\n"},
        PYTEST,
        "the tests in test_a.py; pytest takes its settings from pytest.ini, not from tox.ini",
    ),
    (
        {"a.py": EXAMPLE, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"},
        PYTEST,
        "the examples that pytest.ini names",
    ),
    ({"pkg/tests.py": CASE}, ("unittest", "pkg.tests"), "the test cases in pkg/tests.py"),
    (
        {"tests/checks.py": CASE, "tests/data.py": "x = 1\n"},
        ("unittest", "tests.checks"),
        "the test cases in tests/checks.py",
    ),
    (
        {"tests/checks.py": CASE, "tox.ini": "[testenv]\ncommands = python -m unittest discover -p 'check*.py'\n"},
        ("unittest", "discover", "-p", "check*.py"),
        "the tests that tox.ini declares",
    ),
    ({"a.py": EXAMPLE, "setup.py": EXAMPLE}, ("pytest", "--doctest-modules", "a.py"), "the examples in a.py"),
    ({"test_a.py": TEST, "a.py": EXAMPLE}, PYTEST, "the tests in test_a.py"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "words", "source"), CASES)
def test_tests_without_a_command(tmp_path: Path, files: dict[str, str], words: tuple[str, ...], source: str) -> None:
    found = check(tmp_path, files)
    assert found is not None
    assert (found.kind, found.argv, found.source) == ("tests", ("{python}", "-m", *words), source)


def test_tests_by_the_projects_own_names_are_protected(tmp_path: Path) -> None:
    found = check(tmp_path, {"check_a.py": TEST, "a.py": "", "pytest.ini": "[pytest]\npython_files = check_*.py\n"})
    assert found is not None
    assert found.protected == ("check_a.py", "pytest.ini")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"manage.py": MANAGE, "polls/tests.py": DJANGO}, ("manage.py", "test")),
        ({"manage.py": MANAGE, "polls/tests/test_a.py": DJANGO}, ("manage.py", "test")),
        ({"site/manage.py": MANAGE, "site/polls/tests.py": DJANGO}, ("site/manage.py", "test", "site")),
        ({"manage.py": MANAGE, "tests/test_a.py": TEST}, ("-m", "pytest")),
        ({"examples/site/manage.py": MANAGE, "examples/site/a/tests.py": DJANGO, "test_b.py": TEST}, ("-m", "pytest")),
        ({"site/manage.py": MANAGE, "site/a/tests.py": DJANGO, "test_b.py": TEST}, ("site/manage.py", "test", "site")),
        (
            {
                "site/manage.py": MANAGE,
                "site/a/tests.py": DJANGO,
                "t/test_b.py": TEST,
                "pytest.ini": "[pytest]\ntestpaths = t\n",
            },
            ("-m", "pytest"),
        ),
        (
            {"tests/runtests.py": SCRIPT, "tests/a/tests.py": DJANGO, "tests/b/manage.py": MANAGE},
            ("tests/runtests.py",),
        ),
        ({"runtests.py": f"{SCRIPT}'--parallel'", "test_a.py": DJANGO}, ("runtests.py", "--parallel=1")),
        ({"runtests.py": SCRIPT, "tests/test_a.py": TEST}, ("-m", "pytest")),
        (
            {"runtests.py": SCRIPT, "test_a.py": DJANGO, "conftest.py": "settings.configure()\n"},
            ("-m", "pytest"),
        ),
        ({"runtests.py": "import pytest\n", "test_a.py": DJANGO}, ("-m", "pytest")),
        (
            {
                "manage.py": MANAGE,
                "test_a.py": DJANGO,
                "pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = site.settings",
            },
            ("-m", "pytest"),
        ),
    ],
)
def test_django(tmp_path: Path, files: dict[str, str], words: tuple[str, ...]) -> None:
    found = check(tmp_path, files)
    assert found is not None
    assert found.argv == ("{python}", *words)


PARTS = {**MONO, "a/tests/test_x.py": TEST, "b/c/tests/test_x.py": TEST, "b/c/lib.py": ""}


@pytest.mark.parametrize(
    ("named", "changed", "files", "words", "source"),
    [
        ((), (), {}, ("pytest", "--import-mode=importlib"),
         "all tests: this repository holds 2 projects (a, b/c); name a file of the one that is meant"),
        (("b/c/lib.py",), (), {}, ("pytest", "b/c"), "the tests of b/c, as the prompt names b/c/lib.py"),
        ((), ("README", "b/c/lib.py"), {}, ("pytest", "b/c"), "the tests of b/c, as you changed b/c/lib.py"),
        ((), ("a/x.py", "b/c/lib.py"), {"b/c/tests/__init__.py": ""}, ("pytest",),
         "all tests: this repository holds 2 projects (a, b/c); name a file of the one that is meant"),
        ((), (), {"tests/test_y.py": TEST}, ("pytest",), "the tests in a/tests/test_x.py and 2 more"),
    ],
)  # fmt: skip
def test_several_projects(
    tmp_path: Path,
    named: tuple[str, ...],
    changed: tuple[str, ...],
    files: dict[str, str],
    words: tuple[str, ...],
    source: str,
) -> None:
    found = check(tmp_path, {**PARTS, **files}, named=named, changed=changed)
    assert found is not None
    assert (found.argv, found.source) == (("{python}", "-m", *words), source)


def test_command_that_a_tool_stands_for(tmp_path: Path) -> None:
    tox = "[testenv]\nsetenv = A=1\ncommands =\n    pytest -q\n    flake8\n"
    found = check(tmp_path, {"tox.ini": tox, "test_a.py": TEST}, command="tox")
    assert found is not None
    assert (found.kind, found.argv, found.env) == ("tests", ("{python}", "-m", "pytest", "-q"), (("A", "1"),))
    assert found.label == "A=1 python -m pytest -q"
    assert found.source == "the command given with --check: the tests of `tox` as tox.ini has it"
    assert found.protected == ("test_a.py",)


@pytest.mark.parametrize(("suites", "taken"), [(3, True), (1, False)])
def test_a_few_tests_for_pytest_hide_no_suites_of_unittest(tmp_path: Path, suites: int, taken: bool) -> None:
    cases = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n"
    files = {**{f"pkg/tests/a{n}_tests.py": cases for n in range(suites)}, "test_made.py": TEST, "pkg/__init__.py": ""}
    found = check(tmp_path, files)
    assert found is not None
    assert any("*_tests.py" in word for word in found.argv) is taken
    assert ("pkg/tests/a0_tests.py" in found.protected) is True


def test_tests_of_submodules_are_left_out(tmp_path: Path) -> None:
    modules = '[submodule "other"]\n\tpath = libs/other\n\turl = x\n'
    found = check(tmp_path, {".gitmodules": modules, "libs/other/test_a.py": TEST, "test_a.py": TEST})
    assert found is not None
    assert found.argv == ("{python}", "-m", "pytest", "--ignore=libs/other")
    assert found.source == "the tests in test_a.py"


@pytest.mark.parametrize("command", ["pytest | tee x", "python -m unittest", "python run.py", "make test"])
def test_command_that_stays_as_it_is(tmp_path: Path, command: str) -> None:
    found = check(tmp_path, {"test_a.py": TEST}, command=command)
    assert found is not None
    assert (found.kind, found.argv) == ("command", ("sh", "-c", command))


HELPER = "def equal(a, b):\n    return a == b\n"


@pytest.mark.parametrize(
    ("files", "named", "argv", "tests"),
    [
        ({"test_utils.py": HELPER, "bank_test.py": TEST}, ("test_utils.py",), PYTEST, ("bank_test.py",)),
        (
            {"test_utils.py": HELPER, "bank_test.py": TEST},
            ("bank_test.py",),
            (*PYTEST, "bank_test.py"),
            ("bank_test.py",),
        ),
        ({"test_a.py": "class TestA:\n    value = 1\n", "test_b.py": HELPER}, (), PYTEST, ("test_a.py",)),
        ({"test_a.py": "from other_tests import *\n", "test_b.py": TEST}, (), PYTEST, ("test_a.py", "test_b.py")),
        ({"test_only.py": "from base import Base\n\n\nclass Own(Base):\n    pass\n"}, (), PYTEST, ("test_only.py",)),
        ({".meta/test_example.py": TEST, "build/test_old.py": TEST, "test_a.py": TEST}, (), PYTEST, ("test_a.py",)),
        (
            {
                "test_a.py": "def check_a():\n    pass\n",
                "test_b.py": TEST,
                "pytest.ini": "[pytest]\npython_functions=check_*",
            },
            (),
            PYTEST,
            ("test_a.py", "test_b.py"),
        ),
    ],
    ids=["helper named", "tests named", "class", "imported tests", "inherited", "not collected", "names of its own"],
)
def test_files_with_tests_in_them_are_the_check(
    tmp_path: Path, files: dict[str, str], named: tuple[str, ...], argv: tuple[str, ...], tests: tuple[str, ...]
) -> None:
    found = check(tmp_path, files, named=named)
    assert found is not None
    assert found.argv[2:] == argv
    assert tests[0] in found.source


def test_helpers_alone_are_no_check(tmp_path: Path) -> None:
    found = check(tmp_path, {"test_utils.py": HELPER, "bank.py": "x = 1\n"})
    assert found is not None
    assert (found.kind, found.protected) == ("syntax", ())


def test_helper_that_is_named_and_only_called_like_a_test_may_be_changed(tmp_path: Path) -> None:
    files = {"test_utils.py": HELPER, "bank_test.py": TEST, "tests/test_help.py": HELPER}
    found = check(tmp_path, files, named=("test_utils.py", "tests/test_help.py"))
    assert found is not None
    assert found.protected == ("bank_test.py", "tests/test_help.py")
