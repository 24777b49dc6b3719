"""What commands run, by their words and by the files of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.python.test_command import TestCommand, read_argv, read_command

TOX = """[tox]
envlist = py311, style

[testenv]
deps = pytest
setenv =
    PYTHONPATH = {toxinidir}/src
    HOME = {envtmpdir}
commands =
    pytest \\
        --basetemp={envtmpdir} {posargs:tests}

[testenv:cover]
commands =
    coverage erase
    coverage run --source pkg -m pytest -x {posargs}
    -coverage report

[testenv:unit]
changedir = sub
commands = python -m unittest

[testenv:style]
commands = flake8 {toxinidir}

[testenv:two]
commands =
    pytest a
    pytest b
"""
NOX = """import nox
OPTIONS = ["-q"]

@nox.session
def lint(session):
    session.run("ruff", "check")

@nox.session(python=["3.11"])
def tests(session):
    session.install(".")
    session.run("pytest", *OPTIONS, *(session.posargs or ["tests"]), env={"A": "1"})

@nox.session
def unknown(session):
    session.run(*session.posargs, COMPUTED())
"""
PYPROJECT = """[tool.hatch.envs.default.scripts]
check = "pytest {args:tests} -q"
many = ["ruff check", "pytest"]
[tool.hatch.envs.hatch-test]
default-args = ["test"]
[tool.pdm.scripts]
unit = "python -m unittest"
cov = {cmd = "coverage run -m pytest"}
"""
MAKEFILE = """PYTHON ?= python3
OPTIONS = -q
test: build
\t@$(PYTHON) -m pytest ${OPTIONS} $(ARGS)

all:
\truff check
\tpytest

piped:
\tpytest | tee log
"""
FILES = {"tox.ini": TOX, "noxfile.py": NOX, "pyproject.toml": PYPROJECT, "Makefile": MAKEFILE}


def run(kind: str, *words: str, **more: object) -> TestCommand:
    return TestCommand(kind=kind, words=words, **more)  # type: ignore[arg-type]


COMMANDS: dict[str, TestCommand | None] = {
    "pytest -q tests/test_x.py": run("pytest", "-q", "tests/test_x.py"),
    "py.test": run("pytest"),
    "python -m pytest 'a b.py' -k \"x and not y\"": run("pytest", "a b.py", "-k", "x and not y"),
    ".venv/bin/python3.11 -m pytest t.py::test[a-1]": run("pytest", "t.py::test[a-1]"),
    ".venv/bin/pytest t.py": run("pytest", "t.py"),
    "A=1 PYTHONPATH='src x' python3 -W error -X dev -B -m pytest": run(
        "pytest", python=("-W", "error", "-X", "dev", "-B"), env=(("A", "1"), ("PYTHONPATH", "src x"))
    ),
    "env A=1 pytest": run("pytest", env=(("A", "1"),)),
    "python -m unittest discover -s tests": run("unittest", "discover", "-s", "tests"),
    "python -m doctest -v a.py": run("doctest", "-v", "a.py"),
    "python manage.py test polls.tests": run("django", "manage.py", "polls.tests"),
    "./manage.py test": run("django", "manage.py"),
    "python manage.py migrate": None,
    "python tests/run.py all": run("script", "tests/run.py", "all"),
    "coverage run --source pkg --branch -m pytest t.py": run("pytest", "t.py"),
    "python -m coverage run manage.py test": run("django", "manage.py"),
    "coverage report": None,
    "uv run --frozen --extra test pytest -q": run("pytest", "-q"),
    "uv run -m pytest -q": run("pytest", "-q"),
    "uv run --project other pytest": None,
    "uvx --with pytest-cov pytest": run("pytest"),
    "poetry run python -m pytest": run("pytest"),
    "pdm run pytest t.py": run("pytest", "t.py"),
    "pdm run unit": run("unittest", declared_in="pyproject.toml"),
    "pdm cov": run("pytest", declared_in="pyproject.toml"),
    "tox": run("pytest", "tests", env=(("PYTHONPATH", "src"),), declared_in="tox.ini"),
    "tox -e py311 -- -k foo": run("pytest", "-k", "foo", env=(("PYTHONPATH", "src"),), declared_in="tox.ini"),
    "tox run -e cover": run("pytest", "-x", env=(("PYTHONPATH", "src"),), declared_in="tox.ini", partial=True),
    "tox -eunit": run("unittest", env=(("PYTHONPATH", "src"),), declared_in="tox.ini", cwd="sub"),
    "tox -e style": None,
    "tox -e two": None,
    "nox": run("pytest", "-q", "tests", env=(("A", "1"),), declared_in="noxfile.py"),
    "nox -s tests-3.11 -- t.py": run("pytest", "-q", "t.py", env=(("A", "1"),), declared_in="noxfile.py"),
    "nox -s lint": None,
    "nox -s unknown": None,
    "hatch test": run("pytest", "test", declared_in="pyproject.toml"),
    "hatch run check": run("pytest", "tests", "-q", declared_in="pyproject.toml"),
    "hatch run check t.py": run("pytest", "t.py", "-q", declared_in="pyproject.toml"),
    "hatch run many": run("pytest", declared_in="pyproject.toml", partial=True),
    "hatch run pytest t.py": run("pytest", "t.py"),
    "make test": run("pytest", "-q", declared_in="Makefile"),
    "make test ARGS=-x": run("pytest", "-q", "-x", declared_in="Makefile"),
    "make all": None,
    "make piped": None,
    "make": None,
    "pytest && ruff check": None,
    "pytest | tee log": None,
    "pytest $FILES": None,
    'pytest "$FILES"': None,
    "pytest tests/*.py": None,
    "pytest > log": None,
    "pytest ~/x.py": None,
    "pytest # all": None,
    "pytest\nls": None,
    "pytest 'open": None,
    "pytest -- t.py": None,
    "cd sub; pytest": None,
    "npm test": None,
    "": None,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_runs(tmp_path: Path, command: str) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert read_command(command, tmp_path) == COMMANDS[command]
    assert read_argv(("sh", "-c", command), tmp_path) == COMMANDS[command]


@pytest.mark.parametrize(
    ("file", "text", "command"),
    [
        ("tox.toml", '[env_run_base]\ncommands = [["pytest", {replace = "posargs", default = ["t"]}]]', "tox"),
        ("pyproject.toml", '[tool.tox.env.unit]\ncommands = [["pytest", "t"]]', "tox -e unit"),
        ("pyproject.toml", '[tool.tox]\nlegacy_tox_ini = """\n[testenv]\ncommands = pytest t\n"""', "tox"),
        ("setup.cfg", "[testenv]\ncommands = pytest t\n", "tox"),
        ("hatch.toml", '[envs.dev.scripts]\nall = "pytest t"', "hatch run dev:all"),
    ],
)
def test_where_tools_keep_their_commands(tmp_path: Path, file: str, text: str, command: str) -> None:
    (tmp_path / file).write_text(text)
    assert read_command(command, tmp_path) == run("pytest", "t", declared_in=file)


def test_files_that_are_broken_or_absent_declare_nothing(tmp_path: Path) -> None:
    for command in ("tox", "nox", "hatch run x", "hatch test x", "pdm x", "make x"):
        read_command(command, tmp_path)
    for name in ("tox.ini", "noxfile.py", "pyproject.toml", "Makefile"):
        (tmp_path / name).write_text("[tool = (\n\x00")
    for command in ("tox", "nox", "hatch run x", "pdm x", "make x"):
        assert read_command(command, tmp_path) is None


def test_argv_is_that_of_the_workspaces_interpreter() -> None:
    assert run("pytest", "t", python=("-B",)).argv == ("{python}", "-B", "-m", "pytest", "t")
    assert run("django", "manage.py", "app").argv == ("{python}", "manage.py", "test", "app")
    assert run("script", "run.py", "x").argv == ("{python}", "run.py", "x")
    assert read_argv(("{python}", "manage.py", "test"), Path("/")) == run("django", "manage.py")
