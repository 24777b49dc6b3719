"""Temporary directories of runs: removed at the end, and by a later run if the end never came."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from codur.session.scratch_directory import scratch_directories, sweep_scratch

KILLED = """
import os, sys, tempfile
from codur.session.scratch_directory import scratch_directories
tempfile.tempdir = sys.argv[1]
with scratch_directories() as scratch:
    (scratch() / "copy").write_text("x")
    if sys.argv[2] == "die":
        os._exit(9)
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    path = tmp_path / "tmp"
    path.mkdir()
    return path


def run(base: Path, what: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", KILLED, str(base), what], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def swept(base: Path) -> int:
    before, tempfile.tempdir = tempfile.tempdir, str(base)
    try:
        return sweep_scratch()
    finally:
        tempfile.tempdir = before


def make_old(base: Path) -> None:
    for path in base.iterdir():
        os.utime(path, (0, 0))


def test_numbered_directories_that_go_at_the_end() -> None:
    with scratch_directories() as scratch:
        first, second = scratch(), scratch()
        assert first != second
        assert first.is_dir()
    assert not first.parent.exists()


def test_what_a_killed_run_left_is_removed_and_what_is_in_use_is_not(base: Path) -> None:
    (base / "codur-scratch-file").write_text("not ours to judge")
    run(base, "die").communicate()
    with run(base, "stay") as alive:
        assert alive.stdout is not None
        alive.stdout.readline()
        assert len(list(base.iterdir())) == 3
        assert swept(base) == 0  # too young
        make_old(base)
        assert swept(base) == 1
        assert len([path for path in base.iterdir() if path.is_dir()]) == 1
        alive.communicate()
    assert [path.name for path in base.iterdir()] == ["codur-scratch-file"]
