"""Which interpreter is chosen; programs are stand-ins that are never run."""

from __future__ import annotations

import base64
import hashlib
import sys
from pathlib import Path

import pytest

from codur.python.interpreter import find_python


def program(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


CASES: list[tuple[str, list[str], dict[str, str], dict[str, str], str]] = [
    (
        "workspace environment first",
        ["work/.venv/bin/python", "work/venv/bin/python", "usr/python3"],
        {},
        {"PATH": "{tmp}/usr"},
        "work/.venv/bin/python",
    ),
    ("second name", ["work/venv/bin/python", "usr/python3"], {}, {"PATH": "{tmp}/usr"}, "work/venv/bin/python"),
    ("path", ["usr/python3"], {}, {"PATH": "{tmp}/empty:{tmp}/usr"}, "usr/python3"),
    ("python without 3", ["usr/python"], {}, {"PATH": "{tmp}/usr"}, "usr/python"),
    ("nothing", [], {}, {"PATH": "{tmp}/usr"}, ""),
    ("no path", [], {}, {}, ""),
    ("relative items are passed over", ["work/python3"], {}, {"PATH": ".:"}, ""),
    (
        "shim of the chosen version",
        ["pyenv/shims/python3", "pyenv/versions/3.12.1/bin/python3", "usr/python3"],
        {"work/.python-version": "3.12.1\n"},
        {"PATH": "{tmp}/pyenv/shims:{tmp}/usr"},
        "pyenv/versions/3.12.1/bin/python3",
    ),
    (
        "shim of the global version",
        ["pyenv/shims/python3", "pyenv/versions/3.11.2/bin/python3", "usr/python3"],
        {"pyenv/version": "3.11.2\n"},
        {"PATH": "{tmp}/pyenv/shims:{tmp}/usr"},
        "pyenv/versions/3.11.2/bin/python3",
    ),
    (
        "shim of a version that leads elsewhere",
        ["pyenv/shims/python3", "elsewhere/bin/python3", "usr/python3"],
        {"work/.python-version": "../../elsewhere\n"},
        {"PATH": "{tmp}/pyenv/shims:{tmp}/usr"},
        "usr/python3",
    ),
    (
        "shim of a version that is not installed",
        ["pyenv/shims/python3", "usr/python3"],
        {"work/.python-version": "3.9\n"},
        {"PATH": "{tmp}/pyenv/shims:{tmp}/usr"},
        "usr/python3",
    ),
]


@pytest.mark.parametrize(("name", "programs", "texts", "environ", "expected"), CASES, ids=[case[0] for case in CASES])
def test_find_python(
    tmp_path: Path, name: str, programs: list[str], texts: dict[str, str], environ: dict[str, str], expected: str
) -> None:
    (tmp_path / "work").mkdir()
    for path in programs:
        program(tmp_path / path)
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    found = find_python(tmp_path / "work", {key: value.format(tmp=tmp_path) for key, value in environ.items()})
    assert found == (str(tmp_path / expected) if expected else sys.executable)


def test_file_that_is_not_executable_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").write_text("")
    assert find_python(tmp_path, {}) == sys.executable


def installed(environment: Path, *names: str) -> Path:
    """A virtual environment with distributions of some names; `pytest` is also importable."""
    program(environment / "bin" / "python")
    (environment / "pyvenv.cfg").write_text("version = 3.11.2\n")
    for name in names:
        (environment / "lib" / "python3.11" / "site-packages" / f"{name}-1.0.dist-info").mkdir(parents=True)
    if "pytest" in names:
        (environment / "lib" / "python3.11" / "site-packages" / "pytest").mkdir()
    return environment / "bin" / "python"


NEEDS_TWO = '[project]\nname = "x"\ndependencies = ["Some.Thing>=1", "other; python_version<\'3\'"]\n'


def test_environment_with_the_dependencies_goes_before_one_without(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(NEEDS_TWO)
    installed(tmp_path / ".venv", "pip")
    better = installed(tmp_path / "env", "some_thing")
    assert find_python(tmp_path, {}) == str(better)


def test_environment_with_pytest_goes_before_one_without(tmp_path: Path) -> None:
    installed(tmp_path / ".venv", "some_thing")
    better = installed(tmp_path / ".nox" / "tests-3-11", "some_thing", "pytest")
    chosen = find_python(tmp_path, {})
    assert chosen == str(better)


def test_path_is_taken_if_it_lacks_less_than_the_environments(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "requirements.txt").write_text("-r more.txt\n--no-index\nsome_thing==1  # why\n")
    (tmp_path / "work" / "more.txt").write_text("-r requirements.txt\nabsent[extra]>2\n")
    installed(tmp_path / "work" / ".venv", "pip")
    program(tmp_path / "usr" / "bin" / "python3")
    (tmp_path / "usr" / "lib" / "python3.11" / "site-packages" / "some_thing-1.egg-info").mkdir(parents=True)
    chosen = find_python(tmp_path / "work", {"PATH": f"{tmp_path}/usr/bin"})
    assert chosen == str(tmp_path / "usr/bin/python3")


def test_what_the_environment_has_must_not_be_missing_where_more_is_installed(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("face\ncoverage\ntox\n")
    mine = installed(tmp_path / ".venv", "face", "pytest")
    program(tmp_path / "usr" / "bin" / "python3")
    for name in ("coverage", "tox"):
        (tmp_path / "usr" / "lib" / "python3.11" / "site-packages" / f"{name}-1.egg-info").mkdir(parents=True)
    chosen = find_python(tmp_path, {"PATH": f"{tmp_path}/usr/bin"})
    assert chosen == str(mine)


def test_environment_that_lacks_something_stays_if_nothing_is_better(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text('NEEDS = ["absent"]\nsetup(install_requires=NEEDS)\n')
    mine = installed(tmp_path / "venv")
    assert find_python(tmp_path, {}) == str(mine)


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()[:8]


PDM = "{tmp}/.local/share/pdm/venvs/a/bin/python\n"


@pytest.mark.parametrize(
    ("place", "files", "environ"),
    [
        (".cache/pypoetry/virtualenvs/name-{digest}-py3.11", {}, {}),
        ("kept/name-{digest}-py3.11", {"poetry.toml": '[virtualenvs]\npath = "../kept"'}, {}),
        ("c/virtualenvs/n-{digest}-py3.11", {}, {"POETRY_CACHE_DIR": "{tmp}/c"}),
        (".local/share/hatch/env/virtual/name/{digest}/hatch-test.py3.11", {}, {}),
        (".local/share/pdm/venvs/a", {".pdm-python": PDM}, {}),
        ("work/own", {".pdm-python": "{tmp}/work/own/bin/python\n"}, {}),
        ("work/.tox/py311", {}, {}),
        ("work/envs/a", {}, {"UV_PROJECT_ENVIRONMENT": "envs/a"}),
        ("active", {}, {"VIRTUAL_ENV": "{tmp}/active"}),
        ("conda", {}, {"CONDA_PREFIX": "{tmp}/conda"}),
        ("onpath", {}, {"PATH": "{tmp}/onpath/bin:/usr/bin"}),
    ],
)
def test_environments_of_tools(tmp_path: Path, place: str, files: dict[str, str], environ: dict[str, str]) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "pyproject.toml").touch()
    for name, text in files.items():
        (work / name).write_text(text.format(tmp=tmp_path))
    mine = installed(tmp_path / place.format(digest=digest(str(work))))
    stated = {name: value.format(tmp=tmp_path) for name, value in environ.items()}
    chosen = find_python(work, {"HOME": str(tmp_path), **stated})
    assert chosen == str(mine)


def test_environment_behind_a_link_keeps_its_place_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    installed(tmp_path / "elsewhere", "some_thing")
    (tmp_path / "work" / ".venv").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "work" / "requirements.txt").write_text("some-thing\n")
    chosen = find_python(tmp_path / "work", {"VIRTUAL_ENV": str(tmp_path / "elsewhere")})
    assert chosen == str(tmp_path / "work/.venv/bin/python")


def test_link_to_an_environment_elsewhere_counts_and_one_to_anything_else_does_not(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    there = installed(tmp_path / "elsewhere")
    (tmp_path / "work" / ".venv").symlink_to(tmp_path / "elsewhere")
    assert find_python(tmp_path / "work", {}) == f"{tmp_path}/work/.venv/bin/python"
    (there.parent.parent / "pyvenv.cfg").unlink()
    assert find_python(tmp_path / "work", {}) == sys.executable


def test_environment_outside_that_a_file_of_the_workspace_names_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    there = installed(tmp_path / "elsewhere")
    (tmp_path / "work" / ".pdm-python").write_text(f"{there}\n")
    assert find_python(tmp_path / "work", {"HOME": str(tmp_path)}) == sys.executable
    named = find_python(tmp_path / "work", {"HOME": str(tmp_path), "VIRTUAL_ENV": str(tmp_path / "elsewhere")})
    assert Path(named).resolve() == there.resolve()
