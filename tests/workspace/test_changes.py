"""Writing, the stale check, diffs and undo."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

import pytest

from codur.workspace.workspace import FileChange, FileError, Workspace


def picture(root: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and mode of every file, and the directories."""
    return {
        str(path.relative_to(root)): (path.read_bytes() if path.is_file() else b"", path.stat().st_mode)
        for path in root.rglob("*")
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "keep.txt").write_bytes(b"a\r\nb\r\n")
    (tmp_path / "run.sh").write_text("echo\n")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "old.txt").write_text("old\n")
    (tmp_path / "old.txt").chmod(0o600)
    return tmp_path


def edited(root: Path) -> Workspace:
    """One change of each kind."""
    workspace = Workspace.open(root)
    workspace.write_text("keep.txt", "a\nB\n")
    workspace.write_text("new/deep/file.txt", "new\n")
    workspace.move("run.sh", "bin/run.sh")
    workspace.copy("old.txt", "copy.txt")
    workspace.delete("old.txt")
    workspace.write_bytes("same.bin", b"\0\1")
    workspace.delete("same.bin")
    return workspace


def test_every_kind_of_change(root: Path) -> None:
    workspace = edited(root)
    assert workspace.changes() == (
        FileChange(path="bin/run.sh", before=None, after=b"echo\n", mode_after=0o755),
        FileChange(path="copy.txt", before=None, after=b"old\n", mode_after=0o600),
        FileChange(path="keep.txt", before=b"a\r\nb\r\n", after=b"a\r\nB\r\n", mode_before=0o644, mode_after=0o644),
        FileChange(path="new/deep/file.txt", before=None, after=b"new\n", mode_after=0o644),
        FileChange(path="old.txt", before=b"old\n", after=None, mode_before=0o600),
        FileChange(path="run.sh", before=b"echo\n", after=None, mode_before=0o755),
    )
    assert workspace.changed_files() == ("bin/run.sh", "copy.txt", "keep.txt", "new/deep/file.txt", "old.txt", "run.sh")
    assert (root / "bin" / "run.sh").stat().st_mode & 0o777 == 0o755
    assert not list(root.rglob("*.tmp"))


def test_restore_brings_everything_back(root: Path) -> None:
    before = picture(root)
    workspace = edited(root)
    assert picture(root) != before
    assert workspace.restore() == ()
    assert picture(root) == before
    assert (workspace.changes(), workspace.diff()) == ((), "")


def test_restore_to_a_snapshot(root: Path) -> None:
    workspace = edited(root)
    between = picture(root)
    snapshot = workspace.snapshot()
    workspace.write_text("keep.txt", "z\n")
    workspace.delete("new/deep/file.txt")
    workspace.write_text("later.txt", "x\n")
    workspace.write_text("old.txt", "again\n")
    assert workspace.restore(snapshot) == ()
    assert picture(root) == between
    workspace.restore()
    assert workspace.changes() == ()


def test_what_cannot_be_brought_back_is_told(root: Path) -> None:
    before = "long\n" * 100
    (root / "keep.txt").write_text(before)
    workspace = Workspace.open(root)
    workspace.write_text("keep.txt", "z\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))  # as where the disk is full
    try:
        with pytest.raises(FileError):
            workspace.restore()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert workspace.restore() == ()
    assert (root / "keep.txt").read_text() == before


def test_what_someone_else_changed_is_left_alone(root: Path) -> None:
    workspace = edited(root)
    (root / "keep.txt").write_text("mine\n")
    (root / "copy.txt").unlink()
    (root / "old.txt").write_text("mine\n")
    (root / "new" / "deep" / "mine.txt").write_text("mine\n")
    assert workspace.restore() == ("keep.txt", "old.txt")
    assert (root / "keep.txt").read_text() == "mine\n"
    assert (root / "old.txt").read_text() == "mine\n"
    assert (root / "run.sh").read_text() == "echo\n"
    assert sorted(path.name for path in root.rglob("*")) == ["deep", "keep.txt", "mine.txt", "new", "old.txt", "run.sh"]


def test_restore_writes_protected_files_that_it_changed(root: Path) -> None:
    workspace = edited(root)
    workspace.protect(["keep.txt", "old.txt"])
    assert workspace.restore() == ()
    assert (root / "keep.txt").read_bytes() == b"a\r\nb\r\n"


def test_an_edit_of_someone_else_between_two_of_ours_is_not_lost(root: Path) -> None:
    workspace = Workspace.open(root)
    workspace.write_text("old.txt", "first\n")
    (root / "old.txt").write_text("theirs\n")
    workspace.read_text("old.txt")
    workspace.write_text("old.txt", "second\n")
    assert workspace.restore() == ()
    assert (root / "old.txt").read_text() == "theirs\n"


@pytest.mark.parametrize("action", ["write_text", "delete", "move"])
def test_a_file_changed_meanwhile_is_refused(root: Path, action: str) -> None:
    workspace = Workspace.open(root)
    workspace.read_text("old.txt")
    (root / "old.txt").write_text("theirs\n")
    calls = {
        "write_text": lambda: workspace.write_text("old.txt", "x"),
        "delete": lambda: workspace.delete("old.txt"),
        "move": lambda: workspace.move("old.txt", "other.txt"),
    }
    with pytest.raises(FileError) as caught:
        calls[action]()
    assert (caught.value.code, caught.value.message) == ("refused", "old.txt was changed meanwhile by someone else")
    assert (root / "old.txt").read_text() == "theirs\n"
    assert not (root / "other.txt").exists()
    workspace.read_text("old.txt")
    calls[action]()
    assert workspace.changed_files()


def test_a_file_that_was_deleted_or_made_meanwhile_is_refused(root: Path) -> None:
    workspace = Workspace.open(root)
    workspace.write_text("old.txt", "ours\n")
    (root / "old.txt").unlink()
    with pytest.raises(FileError, match="changed meanwhile"):
        workspace.write_text("old.txt", "x")
    workspace.delete("run.sh")
    (root / "run.sh").write_text("theirs\n")
    with pytest.raises(FileError, match="changed meanwhile"):
        workspace.write_text("run.sh", "x")


def test_looking_through_files_does_not_count_as_reading_them(root: Path) -> None:
    workspace = Workspace.open(root)
    workspace.read_text("old.txt")
    (root / "old.txt").write_text("theirs\n")
    assert workspace.peek_text("old.txt") == "theirs\n"
    with pytest.raises(FileError, match="changed meanwhile"):
        workspace.write_text("old.txt", "x")


REFUSED = [
    (lambda w: w.copy("old.txt", "run.sh"), "run.sh exists already"),
    (lambda w: w.move("old.txt", "run.sh"), "run.sh exists already"),
    (lambda w: w.move("old.txt", ".git/x"), ".git/x is protected and is not edited"),
    (lambda w: w.move(".git/config", "x"), ".git/config is protected and is not edited"),
    (lambda w: w.write_text("sub/HEAD", "ref: refs/heads/main\n"), "sub/HEAD is protected and is not edited"),
    (lambda w: w.write_text("fixture/config", "x"), "fixture/config is protected and is not edited"),
    (lambda w: w.move("old.txt", "fixture/refs/x"), "fixture/refs/x is protected and is not edited"),
    (lambda w: w.delete("nothing"), "there is no file nothing"),
    (lambda w: w.delete("dir"), "dir is a directory, not a file"),
    (lambda w: w.delete("link"), "link is a symbolic link, which is left alone"),
    (lambda w: w.write_text("locked.txt", "x"), "locked.txt is read-only"),
    (lambda w: w.write_text("big.txt", "x" * 3000), "big.txt would be larger than 2 KiB"),
    (lambda w: w.write_text("old.txt/x", "x"), "there is no file old.txt/x: a part of its path is not a directory"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_changes_that_are_refused_change_nothing(root: Path, call: object, message: str) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n")
    (root / "dir").mkdir()
    (root / "fixture").mkdir()
    (root / "fixture" / "HEAD").touch()
    (root / "link").symlink_to("old.txt")
    (root / "locked.txt").write_text("locked\n")
    (root / "locked.txt").chmod(0o444)
    before = picture(root)
    workspace = Workspace.open(root, max_file_bytes=2048)
    with pytest.raises(FileError) as caught:
        call(workspace)  # type: ignore[operator]
    assert caught.value.message == message
    assert picture(root) == before
    assert workspace.changes() == ()


def test_writing_the_same_again_is_no_change(root: Path) -> None:
    workspace = Workspace.open(root)
    inode = (root / "keep.txt").stat().st_ino
    workspace.write_text("keep.txt", "a\nb\n")
    assert (root / "keep.txt").stat().st_ino == inode
    assert workspace.changes() == ()


def test_the_umask_decides_a_new_files_mode(root: Path) -> None:
    old = os.umask(0o027)
    try:
        Workspace.open(root).write_text("new.txt", "x")
    finally:
        os.umask(old)
    assert (root / "new.txt").stat().st_mode & 0o777 == 0o640


def test_git_applies_the_diff(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The diff turns a copy of the old tree into the new one."""
    other = tmp_path_factory.mktemp("other")
    subprocess.run(["cp", "-a", f"{root}/.", str(other)], check=True)
    workspace = edited(root)
    workspace.write_text("no_newline.txt", "a\nb")
    diff = workspace.diff()
    subprocess.run(["git", "apply", "-"], cwd=other, input=diff.encode(), check=True)
    mine, theirs = ({name: data for name, (data, _) in picture(place).items()} for place in (root, other))
    assert theirs == mine
    assert os.access(other / "bin" / "run.sh", os.X_OK)


def test_diff_text(root: Path) -> None:
    workspace = Workspace.open(root)
    workspace.write_text("old.txt", "new")
    workspace.delete("run.sh")
    workspace.write_bytes("x.bin", b"\0")
    assert workspace.diff() == (
        "diff --git a/old.txt b/old.txt\n--- a/old.txt\n+++ b/old.txt\n@@ -1 +1 @@\n-old\n+new\n"
        "\\ No newline at end of file\n"
        "diff --git a/run.sh b/run.sh\ndeleted file mode 100755\n--- a/run.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-echo\n"
        "diff --git a/x.bin b/x.bin\nnew file mode 100644\nBinary files /dev/null and b/x.bin differ\n"
    )
