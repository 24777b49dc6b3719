"""Which settings and options a pytest run is given; what is installed is read from real and written environments."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codur.python.installed import installed_plugins
from codur.python.pytest_options import search_options, unrecognized, usable_options
from codur.python.pytest_runner import PytestRunner
from codur.python.pytest_settings import pytest_settings, settings_for
from codur.sandbox.launcher import Launcher

INI = "[pytest]\naddopts = --from-{}\n"


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


# --- settings ---------------------------------------------------------------------------------------------------------

SETTINGS: list[tuple[dict[str, str], str, list[str], tuple[str, ...]]] = [
    ({}, "", [], ()),
    ({"tox.ini": "[tox]\n", "setup.cfg": "[metadata]\n", "pyproject.toml": "[project]\n"}, "", [], ()),
    ({"pytest.ini": ""}, "pytest.ini", [], ()),
    ({"pytest.toml": '[pytest]\naddopts = ["-a", "b c"]', "pytest.ini": ""}, "pytest.toml", ["-a", "b c"],
     ("pytest.ini",)),
    ({".pytest.ini": INI, "tox.ini": INI}, ".pytest.ini", ["--from-{}"], ("tox.ini",)),
    ({"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-a \"b c\"'", "setup.cfg": "[tool:pytest]\n"},
     "pyproject.toml", ["-a", "b c"], ("setup.cfg",)),
    ({"pyproject.toml": "[tool.pytest]\naddopts = ['-a']"}, "pyproject.toml", ["-a"], ()),
    ({"setup.cfg": "[tool:pytest]\naddopts = -a\n  -b\n"}, "setup.cfg", ["-a", "-b"], ()),
    ({"setup.cfg": "[pytest]\naddopts = -a\n"}, "", [], ()),
    ({"pytest.ini": "addopts = -a\n[pytest"}, "pytest.ini", [], ()),
]  # fmt: skip


@pytest.mark.parametrize(("files", "file", "addopts", "ignored"), SETTINGS)
def test_the_settings_file_that_counts(
    tmp_path: Path, files: dict[str, str], file: str, addopts: list[str], ignored: tuple[str, ...]
) -> None:
    write(tmp_path, files)
    settings = pytest_settings(tmp_path)
    assert (settings.file, settings.words("addopts"), settings.ignored) == (file, addopts, ignored)


def test_older_pytest_reads_no_native_toml(tmp_path: Path) -> None:
    write(tmp_path, {"pytest.toml": "", "pyproject.toml": "[tool.pytest]\naddopts = ['-a']", "tox.ini": INI})
    assert pytest_settings(tmp_path, native=False).file == "tox.ini"


def test_settings_nearest_to_the_named_tests_and_never_above_the_workspace(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write(
        tmp_path, {"pytest.ini": "", "work/part/tox.ini": INI, "work/part/tests/test_a.py": "", "work/other/b.py": ""}
    )
    assert settings_for(work, [work / "part" / "tests"]).file == "part/tox.ini"
    assert settings_for(work, [work / "other", work / "part"]).file == "part/tox.ini"
    assert settings_for(work, [work / "other"]).file == ""
    assert settings_for(work, []).file == ""


# --- options ----------------------------------------------------------------------------------------------------------

USABLE: list[tuple[str, str, str]] = [
    ("--cov=x --cov-report term -q tests", "", "-q tests"),
    ("--cov x -q", "", "-q"),
    ("--cov --cov-branch -q", "", "-q"),
    ("--cov=x", "pytest-cov", "--cov=x"),
    ("-n auto --dist loadfile -v", "", "-v"),
    ("-nauto -n4 --numprocesses=2", "", ""),
    ("--timeout 3 --timeout-method=thread --reruns 2 x", "", "x"),
    ("--lf --ff --cache-clear --stepwise x", "", "x"),
    ("--no-header --strict-markers -k cov -p no:cov", "", "--no-header --strict-markers -k cov -p no:cov"),
    ("--mypy --flake8 --black --ruff-format", "", ""),
    ("--asyncio-mode auto --ds=a.b --hypothesis-profile ci", "", ""),
]


@pytest.mark.parametrize(("words", "plugins", "kept"), USABLE)
def test_options_of_plugins_that_are_not_there_are_left_out(words: str, plugins: str, kept: str) -> None:
    assert usable_options(words.split(), plugins.split()) == kept.split()


def test_search_leaves_out_what_its_own_options_stand_against() -> None:
    plugins = ("pytest-cov", "pytest-xdist", "hypothesis", "pytest-asyncio")
    words = "--cov=x -n 4 --hypothesis-profile ci --asyncio-mode=auto t.py".split()
    assert usable_options(words, plugins, search=True) == words[3:]
    assert search_options(plugins) == ["--no-cov", "-n0", "--hypothesis-seed=0"]
    assert search_options(()) == []


def test_options_that_pytest_did_not_know_are_left_out() -> None:
    error = "ERROR: usage: x\nx: error: unrecognized arguments: --odd --strange=1\n  inifile: /a/pytest.ini"
    assert usable_options(["--odd", "--strange=1", "--fine"], (), unknown=unrecognized(error)) == ["--fine"]
    assert unrecognized("Unknown config option: asyncio_mode") == ["--strict-config"]
    assert unrecognized("1 failed") == []


# --- whole runs -------------------------------------------------------------------------------------------------------


@pytest.fixture
def launcher() -> Iterator[Launcher]:
    with Launcher(environ={}, sandbox=None) as made:
        yield made


def run(root: Path, words: list[str], launcher: Launcher, **more: object) -> subprocess.CompletedProcess[str]:
    runner = PytestRunner(python=sys.executable, root=root, launcher=launcher)
    interpreter, options = runner.understood(words, **more)  # type: ignore[arg-type]
    argv = [interpreter, "-m", "pytest", *options, "-q", "-p", "no:cacheprovider"]
    return subprocess.run(argv, cwd=root, capture_output=True, text=True, check=False)


TESTS = """import pytest

def test_one(worker_id):
    print("worker", worker_id)
    assert worker_id == "master"
"""


def test_distribution_is_left_on_for_a_verdict_and_off_for_a_search(tmp_path: Path, launcher: Launcher) -> None:
    write(tmp_path, {"tests/test_a.py": TESTS, "tox.ini": "[pytest]\naddopts = -n 1 --cov=absent --ff\n"})
    assert "worker gw0" in run(tmp_path, [], launcher).stdout
    assert run(tmp_path, ["tests"], launcher, search=True).returncode == 0


def test_a_plugin_that_the_settings_switch_off_gets_no_options(tmp_path: Path, launcher: Launcher) -> None:
    write(tmp_path, {"test_a.py": "def test_a():\n    pass\n", "pytest.ini": "[pytest]\naddopts = -p no:xdist\n"})
    done = run(tmp_path, [], launcher, search=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_unknown_options_and_settings_are_forgiven_once_pytest_has_said_so(tmp_path: Path, launcher: Launcher) -> None:
    settings = "[pytest]\naddopts = --odd --strict-config\nodd_mode = auto\nfilterwarnings = error\n"
    write(
        tmp_path, {"test_a.py": "def test_a():\n    pass\n", "pytest.ini": f"{settings}required_plugins = pytest-odd\n"}
    )
    first = run(tmp_path, [], launcher)
    assert first.returncode == 4
    second = run(tmp_path, [], launcher, error=first.stderr)
    assert "odd_mode" in second.stderr + second.stdout
    third = run(tmp_path, [], launcher, error=first.stderr + second.stderr + second.stdout)
    assert (third.returncode, third.stderr) == (0, "")


def test_settings_above_the_workspace_take_no_part(tmp_path: Path, launcher: Launcher) -> None:
    work = tmp_path / "work"
    above = {"pytest.ini": "[pytest]\naddopts = --odd\n", "conftest.py": "raise SystemExit(9)\n"}
    write(tmp_path, {**above, "work/test_a.py": "def test_a():\n    pass\n", "work/pyproject.toml": "[project]\n"})
    assert run(work, [], launcher).returncode == 0


def test_settings_that_the_command_names_count(tmp_path: Path, launcher: Launcher) -> None:
    write(tmp_path, {"test_a.py": "def test_a():\n    pass\n", "mine.ini": "[pytest]\naddopts = --collect-only\n"})
    assert "1 test collected" in run(tmp_path, ["-c", "mine.ini"], launcher).stdout


def test_plugins_are_read_from_the_installed_metadata() -> None:
    plugins = installed_plugins(sys.executable)
    assert plugins["xdist"] == "pytest-xdist"
    assert "hypothesis" in plugins.values()
