"""The state directory is private, and clean after a crash."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from codur.errors import StateError
from codur.store.atomic import is_stray, is_temporary, set_aside, temporary_name, write_private, write_whole
from codur.store.directory import StateDirectory
from tests.cli.kit import bound_by_permissions


def dead_pid() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_nothing_is_made_before_it_is_prepared(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "a" / "state")
    assert not (tmp_path / "a").exists()
    state.prepare()
    assert {name: mode(path) for name, path in vars(state).items() if path.exists()} == {
        "root": 0o700,
        "runs": 0o700,
        "blobs": 0o700,
        "locks": 0o700,
        "cache": 0o700,
    }
    assert state.trust_file == tmp_path / "a" / "state" / "trust.json"


def test_readers_are_shut_out_and_writers_refused(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "state")
    state.root.mkdir()
    state.root.chmod(0o755)
    state.prepare()
    assert mode(state.root) == 0o700
    state.root.chmod(0o770)
    with pytest.raises(StateError, match="others may write") as caught:
        state.prepare()
    assert "chmod 700" in caught.value.remedy


def test_a_directory_of_someone_else_is_refused(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "state" if os.geteuid() == 0 else Path("/usr"))
    if os.geteuid() == 0:
        state.root.mkdir()
        try:
            os.chown(state.root, 65534, 65534)
        except PermissionError:
            pytest.skip("this root may not give a directory away")
    with pytest.raises(StateError, match="belongs to another user"):
        state.prepare()


def test_what_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="not a directory") as caught:
        StateDirectory(tmp_path / "file" / "state").prepare()
    assert "XDG_STATE_HOME" in caught.value.remedy


def test_a_read_only_place_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    program = (
        "import sys; from pathlib import Path; from codur.store.directory import StateDirectory\n"
        "from codur.errors import StateError\n"
        "try: StateDirectory(Path(sys.argv[1])).prepare()\n"
        "except StateError as error: print(error.message, '|', error.remedy)"
    )
    try:
        told = subprocess.run(
            [*bound_by_permissions(), sys.executable, "-c", program, str(tmp_path / "state")],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    finally:
        tmp_path.chmod(0o755)
    assert "permission denied" in told
    assert "XDG_STATE_HOME" in told


def test_strays_of_dead_processes_are_swept_and_nothing_else(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "state")
    state.prepare()
    dead, tail = dead_pid(), "0123456789abcdef.tmp"
    stray = f".blob.codur-{dead}-{tail}"
    kept = [
        f".blob.codur-{os.getpid()}-{tail}",  # being written
        f"blob.codur-{dead}-{tail}",
        f".blob.codur-{dead}-short.tmp",
        ".mine.tmp",
    ]
    for name in (stray, *kept):
        (state.blobs / name).write_text("x")
    state.prepare()
    assert sorted(path.name for path in state.blobs.iterdir()) == sorted(kept)


def test_temporary_names(tmp_path: Path) -> None:
    name = temporary_name("ä" * 120)
    assert len(os.fsencode(name)) <= 255
    assert is_temporary(name)
    assert not is_stray(name)
    assert not is_temporary("a.py")


def test_a_private_file_replaces_a_planted_link_and_does_not_follow_it(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("keep")
    (tmp_path / "file").symlink_to("victim")
    write_private(tmp_path / "file", b"new")
    assert (tmp_path / "victim").read_text() == "keep"
    assert (mode(tmp_path / "file"), (tmp_path / "file").read_text()) == (0o600, "new")


def test_a_common_file_is_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "file", b"new")
    finally:
        os.umask(before)
    assert (mode(tmp_path / "file"), (tmp_path / "file").read_text()) == (0o640, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_setting_aside_never_overwrites(tmp_path: Path) -> None:
    names = []
    for text in ("one", "two", "three"):
        (tmp_path / "log").write_text(text)
        names.append(set_aside(tmp_path / "log", "now").name)
    assert names == ["log.damaged-now", "log.damaged-now-2", "log.damaged-now-3"]
    assert [(tmp_path / name).read_text() for name in names] == ["one", "two", "three"]
