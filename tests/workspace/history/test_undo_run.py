"""Undo brings back every byte, mode and kind that a run changed, and touches nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codur.errors import StateError, WorkspaceError
from codur.store.append_log import AppendLog
from codur.workspace.disk.path_state import file_state
from codur.workspace.disk.root import Root
from codur.workspace.history.journal import Entry, Journal
from codur.workspace.history.put_back import Conflict
from codur.workspace.history.undo_run import run_changes, undo
from codur.workspace.workspace import CommandChange, Workspace
from tests.workspace.kit import Run, picture

MIB = 1 << 20


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A workspace with files of all kinds, none of them new, and a git repository."""
    run = Run(tmp_path)
    root = run.root
    subprocess.run(["git", "init", "-q", "-b", "main", root], check=True)
    (root / ".gitignore").write_text("ignored.log\nbig.bin\n")
    (root / "text.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\nthree")
    (root / "ignored.log").write_text("log\n")
    (root / "untracked.txt").write_text("mine\n")
    (root / "image.bin").write_bytes(bytes(range(256)))
    (root / "run.sh").write_text("echo\n")
    (root / "run.sh").chmod(0o751)
    (root / "link").symlink_to("text.txt")
    (root / "dangling").symlink_to("nothing")
    (root / "sub" / "inner").mkdir(parents=True)
    (root / "sub" / "inner" / "deep.txt").write_text("deep\n")
    (root / "sub").chmod(0o750)
    (root / "empty").mkdir()
    return run


def by_tools(run: Run) -> None:
    workspace = run.open()
    workspace.write_text("text.txt", "one\n2\nthree")
    workspace.write_text("ignored.log", "gone\n")
    workspace.write_bytes("image.bin", b"\0" * 9)
    workspace.move("run.sh", "bin/new/run.sh")
    workspace.write_text("made/here.txt", "x\n")
    workspace.delete("sub/inner/deep.txt")
    workspace.write_text("untracked.txt", "theirs\n")
    workspace.write_text("untracked.txt", "mine again\n")


def by_programs(run: Run, script: str) -> None:
    """Let a shell command change the workspace between two looks."""
    workspace = run.open()
    workspace.programs.before()
    subprocess.run(["sh", "-ec", script], cwd=run.root, check=True)
    workspace.programs.after()


EVERYTHING = """
printf 'other' > text.txt
rm ignored.log image.bin
mv run.sh renamed.sh
chmod 600 untracked.txt
rm link && ln -s elsewhere link
rm dangling && echo now a file > dangling
rm -r sub
echo now a file > sub
rmdir empty
mkdir -p out/deep && echo out > out/deep/file
mkfifo out/pipe
echo x > 'odd
name'
"""


def test_what_tools_changed_comes_back(run: Run) -> None:
    before = picture(run.root)
    by_tools(run)
    after = picture(run.root)
    report = run.undo()
    assert picture(run.root) == before
    assert report.restored == ("ignored.log", "image.bin", "run.sh", "sub/inner/deep.txt", "text.txt", "untracked.txt")
    assert report.removed == ("bin/new/run.sh", "made/here.txt")
    assert (report.conflicts, report.notes) == ((), ())
    again = run.undo()
    assert (again.restored, again.removed, picture(run.root)) == ((), (), before)
    assert run.redo() is not None
    assert {path: state for path, state in picture(run.root).items() if state[0] != "directory"} == {
        path: state for path, state in after.items() if state[0] != "directory"
    }
    assert run.redo() is None
    run.undo()
    assert picture(run.root) == before


def test_what_programs_changed_comes_back(run: Run) -> None:
    before = picture(run.root)
    by_programs(run, EVERYTHING)
    after = picture(run.root)
    assert len(set(after.items()) ^ set(before.items())) > 20
    report = run.undo()
    assert picture(run.root) == before
    assert report.conflicts == ()
    run.redo()
    there = picture(run.root)
    assert {path for path in after if after[path] != there.get(path)} == {"out/pipe"}  # a pipe is not made again
    run.undo()
    assert picture(run.root) == before


def test_tools_and_programs_on_the_same_file(run: Run) -> None:
    before = picture(run.root)
    workspace = run.open()
    workspace.write_text("run.sh", "edited\n")
    workspace.programs.before()
    (run.root / "run.sh").write_text("formatted\n")
    workspace.programs.after()
    workspace.read_text("run.sh")
    workspace.write_text("run.sh", "edited again\n")
    assert [change.path for change in workspace.changes()] == ["run.sh"]
    assert workspace.command_changes() == ()
    run.undo()
    assert picture(run.root) == before


def test_a_file_of_fifty_megabytes(run: Run) -> None:
    data = os.urandom(MIB) * 50
    (run.root / "big.bin").write_bytes(data)
    by_programs(run, "printf x >> big.bin")
    assert run.undo().restored == ("big.bin",)
    assert (run.root / "big.bin").read_bytes() == data


def test_the_users_later_edits_stay(run: Run) -> None:
    by_tools(run)
    root = run.root
    (root / "text.txt").write_text("the user's\n")
    (root / "ignored.log").unlink()
    (root / "made" / "here.txt").write_text("the user's, too\n")
    (root / "made" / "mine.txt").write_text("mine\n")
    (root / "bin" / "new" / "run.sh").chmod(0o700)  # a mode is not an edit
    planned = run.undo(dry=True)
    report = run.undo()
    assert report.conflicts == (
        Conflict(path="ignored.log", reason="was changed since", copy="ignored.log.codur-conflict"),
        Conflict(path="made/here.txt", reason="was changed since"),
        Conflict(path="text.txt", reason="was changed since", copy="text.txt.codur-conflict"),
    )
    assert [conflict.path for conflict in planned.conflicts] == [conflict.path for conflict in report.conflicts]
    assert (planned.restored, planned.removed) == (report.restored, report.removed)
    assert (root / "text.txt").read_text() == "the user's\n"
    assert (root / "text.txt.codur-conflict").read_bytes() == b"\xef\xbb\xbfone\r\ntwo\nthree"
    assert not (root / "ignored.log").exists()
    assert (root / "made" / "here.txt").read_text() == "the user's, too\n"
    assert not (root / "bin").exists()
    run.undo()
    assert len(list(root.rglob("*.codur-conflict*"))) == 2


def test_a_conflict_copy_overwrites_nothing(run: Run) -> None:
    by_tools(run)
    (run.root / "text.txt").write_text("the user's\n")
    (run.root / "text.txt.codur-conflict").write_text("mine\n")
    (run.root / "text.txt.codur-conflict-2").symlink_to("/nowhere")
    assert run.undo().conflicts[0].copy == "text.txt.codur-conflict-3"
    assert (run.root / "text.txt.codur-conflict").read_text() == "mine\n"


def test_a_dry_undo_changes_nothing(run: Run) -> None:
    by_tools(run)
    after, journal = picture(run.root), (run.directory / "journal.jsonl").read_bytes()
    assert len(run.undo(dry=True).restored) == 6
    assert picture(run.root) == after
    assert (run.directory / "journal.jsonl").read_bytes() == journal


def test_git_is_never_touched(run: Run) -> None:
    """Neither by a program's change to it nor by a journal that names it."""
    (run.root / "nested").mkdir()
    subprocess.run(["git", "init", "-q", run.root / "nested"], check=True)
    by_programs(run, "git config user.name x; git -C nested config user.name y; echo 1 > untracked.txt")
    journal = run.loaded()
    for path in (".git/HEAD", "nested/.GIT/HEAD", "../outside", "/etc/hostname"):
        number = journal.announce(_edit(path))
        journal.confirm(number, None)
    before = picture(run.root / ".git")
    (run.root.parent / "outside").write_text("x")
    report = run.undo()
    assert picture(run.root / ".git") == before
    assert report.restored == ("untracked.txt",)
    assert (run.root.parent / "outside").read_text() == "x"
    assert "user" in (run.root / "nested" / ".git" / "config").read_text()


def _edit(path: str) -> Entry:
    return Entry(path=path, by="tool", before=file_state(b"old", 0o644), after=None)


def test_a_worktree_of_git_stays_one(run: Run, tmp_path: Path) -> None:
    git = ["git", "-C", str(run.root), "-c", "user.name=a", "-c", "user.email=b@c"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "tree" / "w")], check=True)
    inner = Run(tmp_path / "tree")
    pointer = (inner.root / ".git").read_text()
    by_programs(inner, "echo x > new.txt")
    assert inner.undo().removed == ("new.txt",)
    assert (inner.root / ".git").read_text() == pointer


def test_a_directory_exchanged_for_a_link_is_a_conflict(run: Run, tmp_path: Path) -> None:
    by_tools(run)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "deep.txt").write_text("outside\n")
    (run.root / "sub" / "inner").rmdir()
    (run.root / "sub" / "inner").symlink_to(outside)
    report = run.undo()
    assert [conflict.path for conflict in report.conflicts] == ["sub/inner/deep.txt"]
    assert picture(outside) == {"deep.txt": ("file", (outside / "deep.txt").stat().st_mode & 0o777, b"outside\n")}


def test_content_that_is_not_kept_any_more_is_told(run: Run) -> None:
    by_tools(run)
    for blob in run.state.blobs.rglob("*"):
        if len(blob.name) == 64:
            blob.unlink()
    after = picture(run.root)
    report = run.undo()
    assert {conflict.reason for conflict in report.conflicts} == {"is not as it was, and its old content was not kept"}
    assert len(report.conflicts) == 5
    assert report.restored == ("run.sh",)  # its content was still there, under another name
    assert report.removed == ("bin/new/run.sh", "made/here.txt")
    assert (run.root / "text.txt").read_bytes() == after["text.txt"][2]


def test_a_journal_with_a_damaged_line_undoes_the_rest(run: Run) -> None:
    by_tools(run)
    path = run.directory / "journal.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"path":"ignored.log"', b'"path":"ignored.lob"'))
    report = run.undo()
    assert "ignored.log" not in report.restored
    assert "text.txt" in report.restored
    assert (run.root / "ignored.log").read_text() == "gone\n"
    assert "was damaged" in report.notes[0]
    assert len(list(run.directory.glob("journal.jsonl.damaged-*"))) == 1


def test_a_journal_of_another_version_or_workspace_is_refused(run: Run, tmp_path: Path) -> None:
    by_tools(run)
    elsewhere = Run(tmp_path / "state" / "runs", "x")
    with pytest.raises(StateError, match="belongs to"):
        Workspace.open(elsewhere.root, journal=run.journal())
    newer = run.directory.parent / "newer"
    newer.mkdir()
    AppendLog(newer / "journal.jsonl").append({"op": "start", "schema": 99, "workspace": "/w"})
    with pytest.raises(StateError, match="not a journal of this version"):
        Journal(newer / "journal.jsonl", run.journal().blobs).load()
    assert [path.name for path in newer.iterdir()] == ["journal.jsonl"]


def test_a_workspace_that_was_replaced_is_left_alone(run: Run) -> None:
    by_tools(run)
    root = Root(run.root)
    run.root.rename(run.root.with_name("moved"))
    run.root.mkdir()
    with pytest.raises(WorkspaceError, match="was moved, deleted or replaced"):
        undo(root, run.loaded())
    assert list(run.root.iterdir()) == []


def test_the_changes_of_a_run(run: Run) -> None:
    by_tools(run)
    by_programs(run, "chmod 700 untracked.txt; rm link; printf '\\0' > image.bin; mkdir d")
    changes = {change.path: change for change in run_changes(run.loaded())}
    assert changes["image.bin"].by == ("command", "tool")
    assert changes["link"].diff.endswith(
        "--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-text.txt\n\\ No newline at end of file\n"
    )
    assert "-two\n+2\n" in changes["text.txt"].diff.replace("\r", "")
    assert changes["d"].diff == ""
    run.undo()
    assert {change.path for change in run_changes(run.loaded())} == changes.keys()


def test_what_programs_did_in_a_run_that_failed_is_put_back_by_undo(run: Run) -> None:
    before = picture(run.root)
    workspace = run.open()
    workspace.write_text("text.txt", "edited\n")
    workspace.programs.before()
    subprocess.run(["sh", "-ec", EVERYTHING + "mkdir __pycache__ && echo x > __pycache__/c"], cwd=run.root, check=True)
    workspace.programs.after()
    assert CommandChange(path="ignored.log", kind="deleted") in workspace.command_changes()
    assert CommandChange(path="untracked.txt", kind="mode") in workspace.command_changes()
    workspace.restore()
    assert picture(run.root) != before
    run.undo()
    after = picture(run.root)
    assert {path for path in after if path not in before} == {"__pycache__", "__pycache__/c"}
    assert {path: after[path] for path in before} == before


def test_going_back_to_a_mark(run: Run) -> None:
    start = picture(run.root)
    workspace = run.open()
    workspace.mark("start")
    workspace.write_bytes("text.txt", b"first\n")
    workspace.mark("middle")
    middle = picture(run.root)
    workspace.write_text("text.txt", "second\n")
    workspace.write_text("made/new.txt", "x\n")
    workspace.programs.before()
    (run.root / "image.bin").unlink()
    workspace.programs.after()
    (run.root / "ignored.log").write_text("someone else's\n")
    middle["ignored.log"] = ("file", middle["ignored.log"][1], b"someone else's\n")
    resumed = run.open()
    assert [change.path for change in resumed.changes()] == ["made/new.txt", "text.txt"]
    assert resumed.rewind("middle") == ()
    image = middle.pop("image.bin")  # it went while a program ran, and that stays
    assert picture(run.root) == middle
    middle["image.bin"] = image
    assert [(change.path, change.after) for change in resumed.changes()] == [("text.txt", b"first\n")]
    resumed.write_text("run.sh", "after\n")
    with pytest.raises(StateError, match="no mark"):
        resumed.rewind("unknown")
    run.undo()
    start["ignored.log"] = middle["ignored.log"]
    assert picture(run.root) == start


def test_going_back_leaves_what_someone_else_changed(run: Run) -> None:
    workspace = run.open()
    workspace.mark("start")
    workspace.write_text("text.txt", "ours\n")
    (run.root / "text.txt").write_text("theirs\n")
    assert run.open().rewind("start") == ("text.txt",)
    assert (run.root / "text.txt").read_text() == "theirs\n"
    assert not list(run.root.glob("*conflict*"))


def test_a_change_that_was_announced_and_not_made(run: Run) -> None:
    """What is at the path tells whether a change happened."""
    before = picture(run.root)
    workspace = run.open()
    workspace.write_bytes("text.txt", b"ours\n")
    journal = run.loaded()
    journal.announce(
        Entry(path="text.txt", by="tool", before=file_state(b"ours\n", 0o644), after=file_state(b"never\n", 0o644))
    )
    journal.announce(
        Entry(path="never/made.txt", by="tool", before=None, after=file_state(b"x", 0), directories=("never",))
    )
    report = run.undo()
    assert (report.restored, report.conflicts) == (("text.txt",), ())
    assert picture(run.root) == before


def test_a_journal_whose_unsynced_lines_were_lost(run: Run) -> None:
    """After a power cut, confirmations may be gone; what was announced is there."""
    before = picture(run.root)
    by_tools(run)
    path = run.directory / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if b'"op":"done"' not in line))
    assert len(path.read_bytes().splitlines()) < len(lines)
    assert run.undo().conflicts == ()
    assert picture(run.root) == before


def test_a_program_that_was_cut_off(run: Run) -> None:
    """Nobody can say whether it or the user changed a file then: the old content is put beside it."""
    workspace = run.open()
    workspace.programs.before()
    (run.root / "text.txt").write_text("half\n")
    (run.root / "left.txt").write_text("half\n")
    report = run.undo()
    assert report.conflicts == (Conflict(path="text.txt", reason="was changed since", copy="text.txt.codur-conflict"),)
    assert "a program was running" in report.notes[0]
    assert (run.root / "text.txt").read_text() == "half\n"
    assert (run.root / "text.txt.codur-conflict").read_bytes() == b"\xef\xbb\xbfone\r\ntwo\nthree"
    assert (run.root / "left.txt").exists()


def test_a_full_state_directory_does_not_keep_a_failed_run_from_being_put_back(run: Run) -> None:
    before = picture(run.root)
    workspace = run.open()
    workspace.write_text("text.txt", "ours\n")
    run.state.blobs.rename(run.state.blobs.with_name("elsewhere"))
    run.state.blobs.write_text("no directory")
    with pytest.raises(StateError):
        workspace.write_text("untracked.txt", "not made\n")
    assert (run.root / "untracked.txt").read_text() == "mine\n"
    run.state.blobs.unlink()
    run.state.blobs.with_name("elsewhere").rename(run.state.blobs)
    assert workspace.restore() == ()
    assert picture(run.root) == before


def test_a_file_that_grew_beyond_what_is_read_was_changed_since(run: Run) -> None:
    rows = "some row of data\n" * 40_000
    (run.root / "data.csv").write_text(f"head\n{rows}")
    run.open().write_text("data.csv", f"HEAD\n{rows}")
    (run.root / "data.csv").write_text(f"HEAD\n{rows}{rows}mine\n")
    assert [conflict.reason for conflict in run.undo().conflicts] == ["was changed since"]


def test_lines_of_the_users_own_behind_what_a_run_put_at_the_end_are_in_its_way(run: Run) -> None:
    (run.root / "app.py").write_bytes(b"def a():\n    return 1")
    run.open().write_text("app.py", "def a():\n    return 2\n")
    (run.root / "app.py").write_bytes(b"def a():\n    return 2\nprint(a())\n")
    assert [conflict.reason for conflict in run.undo().conflicts] == ["was changed since"]
    assert (run.root / "app.py").read_bytes() == b"def a():\n    return 2\nprint(a())\n"
