"""Nothing outside the workspace is reached, and nothing but regular files is opened."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from codur.errors import WorkspaceError
from codur.workspace.workspace import FileError, Workspace


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A workspace `w` with files, and things beside it that must not be reached."""
    root = tmp_path / "w"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("inside\n")
    (root / "sub" / "b.txt").write_text("below\n")
    (tmp_path / "secret.txt").write_text("secret\n")
    (tmp_path / "w-evil").mkdir()
    (tmp_path / "w-evil" / "x.txt").write_text("secret\n")
    (root / "link.txt").symlink_to("a.txt")
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    (root / "outdir").symlink_to(tmp_path / "w-evil")
    (root / "chain").symlink_to("outdir")
    (root / "dangling").symlink_to(tmp_path / "new.txt")
    (root / "gone").symlink_to("nothing.txt")
    (root / "loop").symlink_to("loop")
    (root / "magic").symlink_to("/proc/self/environ")
    os.mkfifo(root / "fifo")
    (root / "zero").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "sock"))
    with (root / "sparse").open("wb") as stream:
        stream.truncate(5_000_000_000)
    return root


REFUSED_READS = [
    ("../secret.txt", "refused", "'../secret.txt' is outside the workspace"),
    ("sub/../../secret.txt", "refused", "'sub/../../secret.txt' is outside the workspace"),
    ("../w-evil/x.txt", "refused", "'../w-evil/x.txt' is outside the workspace"),
    ("/etc/passwd", "refused", "'/etc/passwd' is outside the workspace"),
    ("out.txt", "refused", "'out.txt' is outside the workspace"),
    ("outdir/x.txt", "refused", "'outdir/x.txt' is outside the workspace"),
    ("chain/x.txt", "refused", "'chain/x.txt' is outside the workspace"),
    ("dangling", "refused", "'dangling' is outside the workspace"),
    ("magic", "refused", "'magic' is outside the workspace"),
    ("zero", "refused", "'zero' is outside the workspace"),
    ("a\0b", "invalid", "a path must not contain a NUL character"),
    ("nothing.txt", "not_found", "there is no file nothing.txt"),
    ("gone", "not_found", "there is no file nothing.txt"),
    ("a.txt/x", "not_found", "there is no file a.txt/x: a part of its path is not a directory"),
    ("sub", "not_a_file", "sub is a directory, not a file"),
    ("", "not_a_file", ". is a directory, not a file"),
    (".", "not_a_file", ". is a directory, not a file"),
    ("fifo", "not_a_file", "fifo is not a regular file"),
    ("sock", "not_a_file", "sock is not a regular file"),
    ("sparse", "too_large", "sparse is larger than 1024 KiB"),
    ("x" * 300, "invalid", "a name in the path is longer than 255 bytes"),
    ("ä" * 128, "invalid", "a name in the path is longer than 255 bytes"),
    ("d/" * 3000, "invalid", "the path is longer than 4095 bytes"),
    ("a\udcff.txt", "invalid", "a path must not contain '\\udcff', which is no character"),
    ("sub/\ud800", "invalid", "a path must not contain '\\ud800', which is no character"),
    ("/\ud800", "invalid", "a path must not contain '\\ud800', which is no character"),
]


@pytest.mark.parametrize(("path", "code", "message"), REFUSED_READS)
def test_reads_that_are_refused(place: Path, path: str, code: str, message: str) -> None:
    workspace = Workspace.open(place)
    with pytest.raises(FileError) as caught:
        workspace.read_bytes(path)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_a_link_to_itself_is_refused(place: Path) -> None:
    with pytest.raises(WorkspaceError):
        Workspace.open(place).read_bytes("loop")


def test_absolute_sibling_is_refused(place: Path) -> None:
    with pytest.raises(WorkspaceError, match="outside the workspace"):
        Workspace.open(place).read_bytes(f"{place}-evil/x.txt")


@pytest.mark.parametrize("path", ["a.txt", "./a.txt", "sub/../a.txt", "link.txt", "ABS"])
def test_reads_inside(place: Path, path: str) -> None:
    workspace = Workspace.open(place)
    assert workspace.read_bytes(path.replace("ABS", str(place / "a.txt"))) == b"inside\n"


REFUSED_WRITES = [
    ("../new.txt", "refused"),
    ("outdir/new.txt", "refused"),
    ("dangling", "refused"),
    ("gone", "refused"),
    ("out.txt", "refused"),
    ("sub", "not_a_file"),
    ("", "not_a_file"),
    ("fifo", "not_a_file"),
    ("sparse", "too_large"),
    ("a\x1b[2Jb", "invalid"),
    ("a\nb", "invalid"),
    (".git/config", "refused"),
    (".GIT/hooks/x", "refused"),
    ("sub/.git/config", "refused"),
    (".git ./config", "refused"),
    (".g\u200cit/config", "refused"),
    ("．git/config", "refused"),
    (".codur/config.yaml", "refused"),
    (".vscode/tasks.json", "refused"),
    (".idea/x", "refused"),
    (".envrc", "refused"),
    (".mcp.json", "refused"),
    (".claude/settings.json", "refused"),
    (".gitmodules", "refused"),
    ("tests/test_a.py", "refused"),
    ("TESTS/test_a.py", "refused"),
    ("expected.txt", "refused"),
    ("to_expected", "refused"),
]


@pytest.mark.parametrize(("path", "code"), REFUSED_WRITES)
def test_writes_that_are_refused(place: Path, path: str, code: str) -> None:
    (place / "to_expected").symlink_to("expected.txt")
    (place / "expected.txt").write_text("42\n")
    workspace = Workspace.open(place)
    workspace.protect(["tests", "expected.txt", "/elsewhere/expected.txt"])
    before = sorted(place.parent.rglob("*"))
    with pytest.raises(FileError) as caught:
        workspace.write_text(path, "x")
    assert caught.value.code == code
    assert sorted(place.parent.rglob("*")) == before
    assert workspace.changes() == ()


@pytest.mark.parametrize(
    ("path", "told"),
    [("test/a.test.js", True), ("test/expected.txt", False), ("latest.json", False), (".git/x", False)],
)
def test_a_refusal_to_edit_a_test_names_what_allows_it(place: Path, path: str, told: bool) -> None:
    workspace = Workspace.open(place)
    workspace.protect(["test/a.test.js", "test/expected.txt", "latest.json"], tests=["test/a.test.js"])
    with pytest.raises(FileError) as caught:
        workspace.write_text(path, "x")
    assert ("--may-edit-tests" in caught.value.remedy) is told


def test_protection_can_be_lifted(place: Path) -> None:
    workspace = Workspace.open(place)
    workspace.protect(["a.txt", "sub"])
    assert [workspace.is_protected(path) for path in ("a.txt", "link.txt", "sub/b.txt", "c.txt")] == [
        True,
        True,
        True,
        False,
    ]
    workspace.unprotect(["a.txt", ".git"])
    assert [workspace.is_protected(path) for path in ("a.txt", ".git/x", "sub/b.txt")] == [False, True, True]
    workspace.write_text("a.txt", "new\n")
    assert (place / "a.txt").read_text() == "new\n"


def test_writing_through_a_link_inside_changes_its_target(place: Path) -> None:
    workspace = Workspace.open(place)
    workspace.write_text("link.txt", "new\n")
    assert (place / "link.txt").is_symlink()
    assert (place / "a.txt").read_text() == "new\n"
    assert workspace.changed_files() == ("a.txt",)


def test_a_hard_link_outside_is_not_changed(place: Path) -> None:
    (place / "hard.txt").hardlink_to(place.parent / "secret.txt")
    Workspace.open(place).write_text("hard.txt", "new\n")
    assert (place.parent / "secret.txt").read_text() == "secret\n"


def test_names(place: Path) -> None:
    workspace = Workspace.open(place)
    assert workspace.relative(place / "sub" / ".." / "a.txt") == "a.txt"
    assert workspace.relative("./sub//b.txt") == "sub/b.txt"
    assert workspace.relative(place) == ""
    assert workspace.resolve("link.txt") == place / "a.txt"
    expected = {
        "a.txt": (True, True, False),
        "sub": (True, False, True),
        "": (True, False, True),
        "nothing": (False, False, False),
        "../secret.txt": (False, False, False),
        "out.txt": (False, False, False),
        "link.txt": (True, True, False),
        "fifo": (True, False, False),
        "gone": (False, False, False),
        "a\0b": (False, False, False),
    }
    asked = (workspace.exists, workspace.is_file, workspace.is_dir)
    assert {path: tuple(ask(path) for ask in asked) for path in expected} == expected


def test_a_directory_exchanged_for_a_link_leaks_nothing(place: Path) -> None:
    """While another thread swaps `sub` with a link to a directory outside, reads stay inside."""
    outside = place.parent / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("secret\n")
    real, link = place / "sub", place / "swap"
    link.symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for old, new in ((real, "parked"), (link, "sub"), (real, "swap"), (place / "parked", "sub")):
                old.rename(place / new)
            stop.wait(0.0002)  # some reads must find the directory in its place

    thread = threading.Thread(target=swap)
    thread.start()
    workspace = Workspace(place, durable=False)
    read: list[bytes] = []
    try:
        for _ in range(1500):
            with contextlib.suppress(WorkspaceError):
                read.append(workspace.read_bytes("sub/b.txt"))
    finally:
        stop.set()
        thread.join()
    assert set(read) == {b"below\n"}


def test_a_root_given_through_a_link(place: Path) -> None:
    alias = place.parent / "alias"
    alias.symlink_to(place)
    workspace = Workspace.open(alias)
    assert workspace.root == place.resolve()
    assert workspace.relative(alias / "sub" / "b.txt") == "sub/b.txt"


def test_roots_that_are_refused(tmp_path: Path) -> None:
    home = tmp_path / "users" / "me"
    home.mkdir(parents=True)
    (tmp_path / "file").write_text("")
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")], check=True)
    messages = {}
    for name, path in {
        "absent": tmp_path / "absent",
        "file": tmp_path / "file",
        "root": Path("/"),
        "home": home,
        "above home": home.parent,
        "NUL": Path("a\0b"),
        "bare": tmp_path / "bare",
    }.items():
        with pytest.raises(WorkspaceError) as caught:
            Workspace.open(path, home=home)
        messages[name] = caught.value.message.replace(str(tmp_path), "T")
        assert caught.value.remedy
    assert messages == {
        "absent": "there is no directory T/absent",
        "file": "T/file is not a directory",
        "root": "/ is no project: it holds your whole home or system",
        "home": "T/users/me is no project: it holds your whole home or system",
        "above home": "T/users is no project: it holds your whole home or system",
        "NUL": "there is no directory a\0b",
        "bare": "T/bare is a bare git repository, which has no files to work on",
    }
    assert Workspace.open(home, home=None).root == home.resolve()
