"""A directory that is exchanged for a link while it is used leads nowhere."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codur.errors import WorkspaceError
from codur.workspace import listing
from codur.workspace.disk import file_access
from codur.workspace.disk.root import Root
from codur.workspace.workspace import Workspace
from tests.workspace.kit import Run, picture

_HERE, _EXCHANGE = -100, 2
_MOST_ROUNDS = 20_000


def exchange(one: Path, other: Path) -> None:
    """Give each the other's name, in one step: renameat2(2)."""
    if not hasattr(ctypes.CDLL(None), "renameat2"):
        pytest.skip("this system has no renameat2")
    if ctypes.CDLL(None).renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) != 0:
        raise OSError("renameat2 failed")


@contextlib.contextmanager
def swapping(place: Path) -> Iterator[Path]:
    """A workspace whose `sub` is by turns a directory and a link to a directory outside."""
    root, outside = place / "w", place / "outside"
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    (root / "sub" / "b.txt").write_text("below\n")
    (outside / "b.txt").write_text("secret\n")
    (outside / "secret-name.txt").write_text("secret\n")
    (root / "swap").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            exchange(root / "sub", root / "swap")

    exchange(root / "sub", root / "swap")
    exchange(root / "sub", root / "swap")
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield root
    finally:
        stop.set()
        thread.join()


def race(place: Path, *, enough: int) -> tuple[int, int]:
    """Read, list and write until enough was done; gives the number of things done and of leaks."""
    done = leaks = 0
    with swapping(place) as path:
        before = picture(place / "outside")
        root = Root(path)
        for _ in range(_MOST_ROUNDS):
            if done >= enough:
                break
            with contextlib.suppress(WorkspaceError):
                leaks += file_access.read_image(root, "sub/b.txt", max_bytes=100).data != b"below\n"
                done += 1
            with contextlib.suppress(WorkspaceError):
                file_access.write_image(root, "sub/new.txt", b"ours\n", mode=0o600, durable=False)
                done += 1
            with contextlib.suppress(WorkspaceError):
                file_access.remove(root, "sub/new.txt", durable=False)
                done += 1
            names = listing.find(root, "sub", None, limit=1_000).paths
            leaks += any("secret" in name for name in names)
            done += bool(names)
        leaks += picture(place / "outside") != before
    return done, leaks


def test_a_short_race_leaks_nothing(tmp_path: Path) -> None:
    done, leaks = race(tmp_path, enough=300)
    assert done >= 300
    assert leaks == 0


def test_the_workspace_itself_leaks_nothing(tmp_path: Path) -> None:
    """The same through the object that tools use, with a journal and with a look at programs."""
    with swapping(tmp_path) as root:
        workspace = Workspace.open(root, journal=Run(tmp_path).journal())
        before = picture(tmp_path / "outside")
        for number in range(150):
            with contextlib.suppress(WorkspaceError):
                assert workspace.read_bytes("sub/b.txt") in (b"below\n", b"%d" % (number - 1))
            with contextlib.suppress(WorkspaceError):
                workspace.write_bytes("sub/new.txt", b"%d" % number)
            with contextlib.suppress(WorkspaceError):
                assert not any("secret" in name for name in workspace.list_files())
            if number % 30 == 0:
                workspace.programs.before()
                assert not any("secret" in change.path for change in workspace.programs.after().changes)
        assert picture(tmp_path / "outside") == before
    kept = [path.read_bytes() for path in (tmp_path / "state" / "blobs").rglob("*") if len(path.name) == 64]
    assert b"secret\n" not in kept


def test_only_real_directories_are_opened(tmp_path: Path) -> None:
    (tmp_path / "w" / "a" / "b").mkdir(parents=True)
    (tmp_path / "w" / "in").symlink_to("a")
    (tmp_path / "w" / "out").symlink_to(tmp_path)
    (tmp_path / "w" / "root").symlink_to("/proc/self/root")
    (tmp_path / "w" / "file").write_text("")
    root, opened = Root(tmp_path / "w"), []
    for path in "", "a", "a/b", *"in in/b out out/w root root/etc file file/x none a/none/x".split():
        with contextlib.suppress(OSError), root.directory(path):
            opened.append(path)
    assert opened == ["", "a", "a/b"]


def test_missing_directories_are_made_inside(tmp_path: Path) -> None:
    root = Root(tmp_path)
    with root.parent("a/b/c.txt", make=True) as (_, name):
        assert name == "c.txt"
    assert (tmp_path / "a" / "b").is_dir()


def test_a_workspace_that_is_replaced_is_noticed(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    (root / "a.txt").write_text("a\n")
    workspace = Workspace.open(root)
    root.rename(tmp_path / "moved")
    (tmp_path / "elsewhere").mkdir()
    root.symlink_to(tmp_path / "elsewhere")
    for name in ("a.txt", "new.txt"):
        with pytest.raises(WorkspaceError):
            workspace.write_text(name, "x")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    root.unlink()
    root.mkdir()
    with pytest.raises(WorkspaceError, match="was moved, deleted or replaced"):
        workspace.write_text("a.txt", "x")
    assert list(root.iterdir()) == []
