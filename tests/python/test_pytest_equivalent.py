"""Pytest runs what another runner's command runs, and its names are found for that runner's failures."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from codur.python.pytest_equivalent import search_argv
from codur.python.test_command import PYTHON

CASES = """import unittest

class T(unittest.TestCase):
    def test_good(self):
        pass

    def test_bad(self):
        self.assertEqual(1, 2)

    def test_parts(self):
        for i in range(2):
            with self.subTest(i=i):
                self.assertEqual(i, 0)

class TestNotForUnittest:
    def test_never(self):
        raise SystemExit

def test_function():
    raise SystemExit
"""
DOCS = '''def f():
    """
    >>> f()
    2
    """
    return 1
'''
FILES = {
    "pkg/__init__.py": "",
    "pkg/tests.py": CASES,
    "tests/test_a.py": CASES,
    "tests/inner/__init__.py": "",
    "tests/inner/check_b.py": CASES,
    "pkg/docs.py": DOCS,
    "broken/test_broken.py": "import absent\n",
    "pytest.ini": "[pytest]\naddopts = --absent-option\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def run(words: tuple[str, ...], cwd: Path) -> str:
    argv = [sys.executable if word == PYTHON else word for word in words]
    result = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)
    return result.stdout + result.stderr


COMMANDS = [
    ("unittest", "pkg.tests"),
    ("unittest", "pkg/tests.py"),
    ("unittest", "-v", "pkg.tests.T.test_bad"),
    ("unittest", "discover", "-s", "tests"),
    ("unittest", "discover", "tests", "check_*.py"),
    ("unittest", "discover", "-s", "broken"),
    ("doctest", "pkg/docs.py"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_pytest_has_the_same_failures(project: Path, command: tuple[str, ...]) -> None:
    argv = (PYTHON, "-m", *command)
    said = run(argv, project)
    failures = re.findall(r"^(?:FAIL|ERROR): .*|^File .*", said, re.MULTILINE)
    search = search_argv(argv, project, sys.executable)
    assert search is not None
    shown = run((*search, "-q", "-rfE", "-p", "no:cacheprovider"), project)
    failing = set(re.findall(r"^(?:FAILED|ERROR|SUBFAILED\S*(?: \(.*?\))?) (\S+)", shown, re.MULTILINE))
    assert failures
    assert len(failing) == len(set(failures))


@pytest.mark.parametrize(
    "words",
    [
        ("-m", "unittest", "-k", "bad"),
        ("-m", "unittest", "absent.module"),
        ("-m", "unittest", "discover", "--unknown"),
        ("manage.py", "test"),
        ("run.py",),
    ],
    ids=" ".join,
)
def test_no_equal_command(project: Path, words: tuple[str, ...]) -> None:
    assert search_argv((PYTHON, *words), project, sys.executable) is None


def test_own_selection_of_tests_has_no_equal(project: Path) -> None:
    (project / "tests" / "test_own.py").write_text("def load_tests(loader, tests, pattern):\n    return tests\n")
    assert search_argv((PYTHON, "-m", "unittest", "discover", "-s", "tests"), project, sys.executable) is None
    assert search_argv((PYTHON, "-m", "unittest", "tests/test_own.py"), project, sys.executable) is None


def test_pytest_is_its_own_equal(project: Path) -> None:
    words = (PYTHON, "-m", "pytest", "tests")
    assert search_argv(("sh", "-c", "pytest tests"), project, sys.executable) == words


def test_django_needs_the_plugin_and_its_settings(project: Path) -> None:
    (project / "manage.py").write_text('os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site.settings")\n')
    site = project / ".venv" / "lib" / "python3.11" / "site-packages" / "pytest_django-4.0.dist-info"
    site.mkdir(parents=True)
    (project / ".venv" / "pyvenv.cfg").touch()
    python = str(project / ".venv" / "bin" / "python")
    argv = (PYTHON, "manage.py", "test", "pkg.tests.T")
    assert search_argv(argv, project, python) is None
    (site / "entry_points.txt").write_text("[pytest11]\ndjango = pytest_django.plugin\n")
    found = search_argv(argv, project, python)
    assert found is not None
    assert found[-2:] == ("--ds=site.settings", "pkg/tests.py::T")
    assert search_argv((*argv, "--parallel"), project, python) is None
