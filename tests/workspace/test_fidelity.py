"""Edits change the bytes they are about and no others; what cannot be written leaves the file as it was."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from codur.workspace.workspace import FileError, Workspace
from tests.cli.kit import bound_by_permissions
from tests.workspace.kit import Run, picture

CASES = [
    # before, the text it is read as, the text that is written, after
    (b"a\r\nb\r\nc", "a\nb\nc", "a\nB\nc", b"a\r\nB\r\nc"),
    (b"a\r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nc\n", b"a\r\nB\nc\r\n"),
    (b"a\rb\nc\n", "a\nb\nc\n", "a\nb\nC\n", b"a\rb\nC\n"),
    (b"a\r\r\nb\n", "a\n\nb\n", "a\n\nB\n", b"a\r\r\nB\n"),
    (b"no end", "no end", "no end\nmore", b"no end\nmore"),
    (b"\xef\xbb\xbfx\r\ny\r\n", "x\ny\n", "x\nz\n", b"\xef\xbb\xbfx\r\nz\r\n"),
    (b"caf\xe9\nx\n", None, None, None),
    (b"", "", "new\n", b"new\n"),
]


@pytest.mark.parametrize(("before", "read", "write", "after"), CASES)
def test_only_the_changed_lines_change(
    tmp_path: Path, before: bytes, read: str | None, write: str | None, after: bytes | None
) -> None:
    path = tmp_path / "f.txt"
    path.write_bytes(before)
    workspace = Workspace.open(tmp_path)
    found = workspace.read_text("f.txt").text
    if read is None:  # bytes that are no UTF-8 are kept, whatever they are shown as
        workspace.write_text("f.txt", found.replace("x", "y"))
        assert path.read_bytes() == before.replace(b"x", b"y")
        return
    assert (found, write is not None) == (read, True)
    workspace.write_text("f.txt", write or "")
    assert path.read_bytes() == after


@pytest.mark.parametrize("data", [b"a\0b", "é\nx\n".encode("utf-16"), "x\n".encode("utf-32-be")])
def test_binary_files_are_not_read_as_text(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.bin").write_bytes(data)
    workspace = Workspace.open(tmp_path)
    with pytest.raises(FileError) as caught:
        workspace.read_text("x.bin")
    assert caught.value.code == "binary"
    assert (tmp_path / "x.bin").read_bytes() == data


@pytest.mark.parametrize("name", ["'quoted'\".txt", "-rf", "ü🎉.txt", "n" * 255, "a b\u00a0c", "$(touch x)", "*"])
def test_odd_names_are_names(tmp_path: Path, name: str) -> None:
    run = Run(tmp_path)
    workspace = run.open()
    workspace.write_text(name, "one\n")
    workspace.write_text(name, "two\n")
    assert picture(run.root)[name][2] == b"two\n"
    assert workspace.list_files() == [name]
    run.undo()
    assert picture(run.root) == {}


def test_attributes_and_mode_stay_and_hard_links_part(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    (tmp_path / "outside").write_text("old\n")
    (tmp_path / "outside").chmod(0o751)
    (root / "hard").hardlink_to(tmp_path / "outside")
    has_attributes = hasattr(os, "setxattr")
    if has_attributes:
        os.setxattr(root / "hard", "user.note", b"kept")
    workspace = Workspace.open(root)
    assert workspace.read_bytes("hard") == b"old\n"
    workspace.write_text("hard", "new\n")
    assert (tmp_path / "outside").read_text() == "old\n"
    assert (root / "hard").stat().st_mode & 0o777 == 0o751
    if has_attributes:
        assert os.getxattr(root / "hard", "user.note") == b"kept"


def test_planted_links_at_temporary_names_are_not_followed(tmp_path: Path) -> None:
    """The names cannot be guessed; and if they could, they are made anew, and private until they are renamed."""
    root = tmp_path / "w"
    root.mkdir()
    (tmp_path / "victim").write_text("keep")
    for name in (".a.py.tmp", "a.py~", ".a.py.swp", f".a.py.codur-{os.getpid()}-0000000000000000.tmp"):
        (root / name).symlink_to(tmp_path / "victim")
    Workspace.open(root).write_text("a.py", "x\n")
    assert (tmp_path / "victim").read_text() == "keep"


WRITER = """
import sys
from pathlib import Path
from codur.errors import CodurError
from tests.workspace.kit import Run
run = Run(Path(sys.argv[1]))
try:
    run.open(max_file_bytes=1 << 24).write_bytes("f.bin", b"n" * int(sys.argv[2]))
except CodurError as error:
    print(error.message, "|", error.remedy)
"""


def write_in_a_child(place: Path, size: int, *, before: Sequence[str] = (), limit: int | None = None) -> str:
    """What a process tells that replaces `f.bin` of the workspace below `place`."""
    return subprocess.run(
        [*before, sys.executable, "-c", WRITER, str(place), str(size)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None,
    ).stdout


def test_a_file_too_large_for_the_system(tmp_path: Path) -> None:
    run = Run(tmp_path)
    (run.root / "f.bin").write_bytes(b"o" * 100)
    before = picture(run.root)
    told = write_in_a_child(tmp_path, 300_000, limit=100_000)
    assert "ulimit -f" in told
    assert picture(run.root) == before
    assert write_in_a_child(tmp_path, 300_000) == ""
    assert run.undo().restored == ("f.bin",)
    assert picture(run.root) == before


def test_a_directory_that_may_not_be_written(tmp_path: Path) -> None:
    run = Run(tmp_path)
    (run.root / "f.bin").write_bytes(b"o" * 100)
    run.root.chmod(0o555)
    try:
        before = picture(run.root)
        told = write_in_a_child(tmp_path, 10, before=bound_by_permissions())
        assert "no permission to use f.bin" in told
        assert picture(run.root) == before
    finally:
        run.root.chmod(0o755)


def in_own_mounts(script: str, place: Path) -> str:
    """What a shell script prints in a mount namespace of its own, where nothing it mounts is seen elsewhere."""
    tool = shutil.which("unshare")
    if tool is None:
        pytest.skip("unshare (util-linux) is not here")
    options = ["--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--mount"]
    probe = subprocess.run(
        [tool, *options, "mount", "-t", "tmpfs", "none", str(place)], capture_output=True, check=False
    )
    if probe.returncode != 0:
        pytest.skip(f"no mounts of our own here: {probe.stderr.decode().strip()}")
    done = subprocess.run(
        [tool, *options, "sh", "-ec", script, "sh", str(place), sys.executable, WRITER],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_full_disk_under_the_workspace(tmp_path: Path) -> None:
    told = in_own_mounts(
        'mkdir "$1/w"; mount -t tmpfs -o size=1m none "$1/w"; head -c 600000 /dev/zero > "$1/w/f.bin"\n'
        '"$2" -c "$3" "$1" 700000; ls -A "$1/w"; head -c 600000 /dev/zero | cmp - "$1/w/f.bin" && echo intact',
        tmp_path,
    )
    assert told == "no space left to write f.bin | Make room on the disk.\nf.bin\nintact\n"


def test_a_full_disk_under_the_state_directory(tmp_path: Path) -> None:
    told = in_own_mounts(
        'mkdir "$1/w" "$1/state"; mount -t tmpfs -o size=1m,mode=700 none "$1/state"\n'
        'head -c 2000000 /dev/zero > "$1/w/f.bin"\n'
        '"$2" -c "$3" "$1" 100; ls -A "$1/w"; head -c 2000000 /dev/zero | cmp - "$1/w/f.bin" && echo intact\n'
        'find "$1/state" -name "*.tmp"',
        tmp_path,
    )
    first, *rest = told.splitlines()
    assert "no space left on device" in first
    assert "XDG_STATE_HOME" in first
    assert rest == ["f.bin", "intact"]


def test_a_read_only_file_system(tmp_path: Path) -> None:
    told = in_own_mounts(
        'mkdir "$1/w"; mount -t tmpfs -o size=1m none "$1/w"; echo old > "$1/w/f.bin"\n'
        'mount -o remount,ro none "$1/w"; "$2" -c "$3" "$1" 100; cat "$1/w/f.bin"',
        tmp_path,
    )
    assert told == "f.bin is on a read-only file system | Work on a copy.\nold\n"
