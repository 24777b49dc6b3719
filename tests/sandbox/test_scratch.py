"""Temporary directories: private, removed at the end, and swept after a kill."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from codur.sandbox.scratch import prefix, private_directory, sweep


def ended_process() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
        return process.pid


def test_only_what_dead_processes_left_is_swept(tmp_path: Path) -> None:
    dead = ended_process()
    stray = tmp_path / f"codur-run-{dead}-abc123"
    (stray / "closed").mkdir(parents=True)
    (stray / "closed" / "file").write_text("left")
    (stray / "closed").chmod(0)
    kept = [f"codur-run-{os.getpid()}-abc", f"codur-run-{dead}", "codur-run-x-abc", f"other-run-{dead}-abc"]
    kept.append("codur-results-20261124073200-x")  # the user's own, with a date in its name
    for name in kept:
        (tmp_path / name).mkdir()
    (tmp_path / f"codur-file-{dead}-abc").write_text("no directory")
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / f"codur-link-{dead}-abc").symlink_to(outside)

    sweep(str(tmp_path))

    left = {*kept, f"codur-file-{dead}-abc", f"codur-link-{dead}-abc", "outside"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_a_private_directory_is_named_after_its_process_and_goes(tmp_path: Path) -> None:
    with private_directory(str(tmp_path)) as directory:
        assert Path(directory).name.startswith(prefix("run"))
        assert Path(directory).stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []


def test_a_tree_deeper_than_any_path_is_removed(tmp_path: Path) -> None:
    with private_directory(str(tmp_path)) as directory:
        make_deep(directory, levels=1500)
        (Path(directory) / "link").symlink_to(tmp_path)
        (Path(directory) / "file").write_text("text")
    assert list(tmp_path.iterdir()) == []


def make_deep(directory: str, *, levels: int) -> None:
    program = "import os, sys\nfor _ in range(int(sys.argv[1])):\n    os.mkdir('deeper')\n    os.chdir('deeper')\n"
    program += "os.chmod('.', 0)\n"
    subprocess.run([sys.executable, "-c", program, str(levels)], cwd=directory, check=True)
