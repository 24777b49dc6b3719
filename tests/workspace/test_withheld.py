"""The same workspace for somebody who must not read some of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.workspace.workspace import FileError, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "key").write_text("hunter2\n")
    (tmp_path / "link").symlink_to("key")
    return Workspace.open(tmp_path)


def test_what_is_withheld_is_neither_read_nor_changed_through_the_view(workspace: Workspace) -> None:
    view = workspace.withholding(lambda path: path == "key")
    for path in ("key", "link"):
        for attempt in (
            lambda path=path: view.read_text(path),
            lambda path=path: view.require_readable(path),
            lambda path=path: view.write_text(path, "x"),
            lambda path=path: view.write_bytes(path, b"x"),
            lambda path=path: view.delete(path),
            lambda path=path: view.move(path, "other"),
        ):
            with pytest.raises(FileError) as refused:
                attempt()
            assert refused.value.code == "refused"
        assert view.hides(path)
    assert (workspace.root / "key").read_text() == "hunter2\n"
    assert workspace.read_text("link").text == "hunter2\n"


def test_one_that_there_is_not_can_be_made(workspace: Workspace) -> None:
    workspace.withholding(lambda path: path == "new").write_text("new", "x")
    assert (workspace.root / "new").read_text() == "x"


def test_a_diff_of_the_view_leaves_it_out(workspace: Workspace) -> None:
    workspace.delete("key")
    workspace.write_text("other", "x\n")
    assert "hunter2" in workspace.diff()
    diff = workspace.withholding(lambda path: path == "key").diff()
    assert ("hunter2" in diff, "+x" in diff) == (False, True)
