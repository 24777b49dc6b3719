"""Which interpreter is chosen; programs are stand-ins that are never run."""

from __future__ import annotations

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
