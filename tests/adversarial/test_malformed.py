"""J: odd inputs that a user or a hostile workspace can bring, beyond what other tests show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codur.errors import CodurError
from codur.workspace.workspace import Workspace
from tests.cli.kit import codur_anew, environment
from tests.runs.kit import REPAIRABLE, fill
from tests.support.recursion import DEEPER, little_recursion

ODD_NAMES = [
    "new\nline.py",
    "quo'te\".py",
    "-rf",
    "--help.py",
    "a" * 255,
    "emoji-🐍.py",
    "sp ace.py",
    "$(touch owned).py",
]
RAW_NAME = b"invalid-\xff.py"


def test_j01_j02_bytes_outside_the_change_stay(tmp_path: Path) -> None:
    cases = {
        "crlf.py": b"one\r\ntwo\r\nthree\r\n",
        "mixed.py": b"one\r\ntwo\nthree\r\n",
        "bare.py": b"one\ntwo\rdata\nthree\n",
        "last.py": b"one\ntwo\nthree",
        "mark.py": b"\xef\xbb\xbfone\ntwo\nthree\n",
    }
    for name, data in cases.items():
        (tmp_path / name).write_bytes(data)
    workspace = Workspace.open(tmp_path)
    for name, data in cases.items():
        before = workspace.read_text(name).text
        workspace.write_text(name, before.replace("one", "ONE"))
        assert (tmp_path / name).read_bytes() == data.replace(b"one", b"ONE"), name


@pytest.mark.parametrize("data", [b"\xff\xfea\x00b\x00", b"a\0b", bytes(range(256))])
def test_j02_j03_what_is_no_text_is_refused_and_stays(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(data)
    with pytest.raises(CodurError):
        Workspace.open(tmp_path).read_text("data.bin")
    assert (tmp_path / "data.bin").read_bytes() == data


def test_j04_odd_names_are_names(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    project = fill(tmp_path / "project", REPAIRABLE)
    for name in ODD_NAMES:
        (project / name).write_text("x = 1\n")
    (project / os.fsdecode(RAW_NAME)).write_text("x = 1\n")
    ran = codur_anew("fix main.py", "--offline", cwd=project, home=tmp_path)
    assert ran.code == 0, ran.err
    assert "\x1b" not in ran.out + ran.err
    assert not (project / "owned").exists()


@pytest.mark.parametrize("text", ["a=" + "[" * 50_000, ".".join("a" * 20_000) + "=1\n"], ids=["deep", "long name"])
def test_j07_settings_that_nobody_can_read_are_none(text: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    fill(project, {**REPAIRABLE, "pyproject.toml": text})
    ran = codur_anew("fix main.py", "--offline", "--timeout", "60", cwd=project, home=tmp_path)
    assert ran.code == 0, ran.err


def test_j05_a_deep_tree_and_a_long_path_end_in_order(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    (root / "main.py").write_text("print(1)\n")
    with_descriptor = os.open(root, os.O_RDONLY)
    try:
        for _ in range(DEEPER):
            os.mkdir("d", dir_fd=with_descriptor)
            deeper = os.open("d", os.O_RDONLY, dir_fd=with_descriptor)
            os.close(with_descriptor)
            with_descriptor = deeper
    finally:
        os.close(with_descriptor)
    try:
        with little_recursion():
            workspace = Workspace.open(root)
            assert "main.py" in workspace.list_files()
            with pytest.raises(CodurError):
                workspace.read_bytes("d/" * 3000 + "x")
    finally:  # Python's own removal of a tree goes down by recursion
        subprocess.run(["rm", "-rf", str(root)], check=True)


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({}, 2),
        ({"main.py": b"print(1)\n", "expected.txt": b"1"}, 0),
        ({"main.py": b"print(1)\n", "expected.txt": b"1\r\n"}, 0),
        ({"main.py": b"", "expected.txt": b""}, 0),
    ],
)
def test_j06_empty_inputs_have_a_defined_result(files: dict[str, bytes], code: int, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name, data in files.items():
        (project / name).write_bytes(data)
    ran = codur_anew("fix main.py", "--offline", cwd=project, home=tmp_path)
    assert ran.code == code, (ran.out, ran.err)
    assert "Traceback" not in ran.err
    assert {path.name: path.read_bytes() for path in project.iterdir()} == files


def test_j09_words_that_look_like_options_stay_words(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    project = fill(tmp_path / "project", {"-rf": "a = 1\n"})
    ran = codur_anew("--offline", "--", "read the file -rf", cwd=project, home=tmp_path)
    assert "Traceback" not in ran.err
    assert (project / "-rf").exists()


@pytest.mark.parametrize(
    "variables",
    [("LC_ALL", "C"), ("TERM", "dumb"), ("TERM", ""), ("PYTHONIOENCODING", "ascii")],
    ids="=".join,
)
def test_j14_poor_surroundings_work(variables: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    project = fill(tmp_path / "project", REPAIRABLE)
    ran = codur_anew("fix main.py", "--offline", cwd=project, home=tmp_path, **dict([variables]))  # type: ignore[arg-type]
    assert (ran.code, "\x1b" in ran.out + ran.err) == (0, False), ran.err


def test_j14_no_home_and_closed_streams_work(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    project = fill(tmp_path / "project", REPAIRABLE)
    variables = {name: value for name, value in environment(tmp_path).items() if name != "HOME"}
    line = f"exec {sys.executable} -W error -m codur 'fix main.py' --offline <&- >&- 2>&-"
    done = subprocess.run(["sh", "-c", line], cwd=project, env=variables, timeout=300, check=False)
    assert done.returncode == 0
