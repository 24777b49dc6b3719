"""What programs change is found, whatever they do to hide it, and what they did not make is never taken for theirs."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from codur.workspace.disk.root import Root
from codur.workspace.history.journal import Entry
from codur.workspace.history.program_changes import Observed
from codur.workspace.history.scan import scan
from codur.workspace.workspace import Workspace
from tests.workspace.kit import Run, picture


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run(tmp_path)
    for number in range(3):
        path = run.root / "src" / f"{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{number}\n")
    settle(run.root)
    return run


def settle(root: Path) -> None:
    """Let all files be old, as they are when a run starts; the change time follows the clock, so wait for it."""
    time.sleep(0.06)


def observe(workspace: Workspace, script: str) -> Observed:
    assert workspace.programs.before() == ""
    subprocess.run(["sh", "-ec", script], cwd=workspace.root, check=True)
    return workspace.programs.after()


def paths(changes: tuple[Entry, ...]) -> list[str]:
    return [change.path for change in changes]


def test_nothing_changed_is_nothing(run: Run) -> None:
    workspace = run.open()
    assert observe(workspace, "cat src/*.py > /dev/null; touch -a src/0.py") == Observed()
    assert observe(workspace, "touch src/0.py; cp -p src/1.py x; mv x src/1.py") == Observed()


def test_changes_by_kind(run: Run) -> None:
    workspace = run.open()
    found = observe(workspace, "echo new > src/0.py; chmod 600 src/1.py; rm src/2.py; mkdir d; ln -s a l")
    assert {
        change.path: (change.before and change.before.kind, change.after and change.after.kind)
        for change in found.changes
    } == {
        "d": (None, "directory"),
        "l": (None, "link"),
        "src/0.py": ("file", "file"),
        "src/1.py": ("file", "file"),
        "src/2.py": ("file", None),
    }


def test_same_size_and_time_put_back_is_still_seen(run: Run) -> None:
    workspace = run.open()
    found = observe(workspace, "touch -r src/0.py stamp; printf 'X\\n' > src/0.py; touch -r stamp src/0.py; rm stamp")
    assert paths(found.changes) == ["src/0.py"]


def test_a_change_within_one_tick_of_the_clock_is_seen(run: Run) -> None:
    """Each round writes the same number of bytes right after the look, with nothing in between to wait for."""
    workspace = run.open()
    target = run.root / "src" / "0.py"
    descriptor = os.open(target, os.O_WRONLY)
    for number in range(200):
        os.pwrite(descriptor, b"%04d\n" % number, 0)
        workspace.programs.before()
        os.pwrite(descriptor, b"%04d\n" % (number + 5000), 0)
        assert paths(workspace.programs.after().changes) == ["src/0.py"], number
    os.close(descriptor)


def test_the_users_edits_between_programs_are_not_the_programs(run: Run) -> None:
    workspace = run.open()
    observe(workspace, "echo one > src/0.py")
    (run.root / "src" / "1.py").write_text("the user's\n")
    (run.root / "src" / "mine.py").write_text("the user's\n")
    observe(workspace, "echo two > src/0.py")
    assert [change.path for change in workspace.command_changes()] == ["src/0.py"]
    workspace.restore()
    assert (run.root / "src" / "mine.py").read_text() == (run.root / "src" / "1.py").read_text() == "the user's\n"


def test_what_changed_while_a_program_ran_stays_and_can_be_undone(run: Run) -> None:
    """It may be the user's own work of that moment, so only the user has it put back."""
    workspace = run.open()
    observe(workspace, "echo more >> src/0.py; echo new > mine.txt; rm src/1.py")
    workspace.write_text("src/2.py", "edited\n")
    before = (run.root / "src" / "0.py").read_text()

    assert workspace.restore() == ()

    assert ((run.root / "src" / "0.py").read_text(), (run.root / "mine.txt").read_text()) == (before, "new\n")
    assert not (run.root / "src" / "1.py").exists()
    assert (run.root / "src" / "2.py").read_text() != "edited\n"
    report = run.undo()
    assert (report.restored, report.removed) == (("src/0.py", "src/1.py"), ("mine.txt",))


def test_a_file_that_was_edited_and_then_changed_while_a_program_ran_is_left(run: Run) -> None:
    workspace = run.open()
    workspace.write_text("src/2.py", "edited\n")
    observe(workspace, "echo mine >> src/2.py")
    assert workspace.restore() == ("src/2.py",)
    assert (run.root / "src" / "2.py").read_text() == "edited\nmine\n"


@pytest.mark.parametrize(
    "script",
    [
        "touch src/CACHEDIR.TAG; echo X > src/0.py",
        "touch src/pyvenv.cfg; rm src/0.py",
        "mv src node_modules",
        "touch Cargo.toml; mv src target",
        "chmod 000 src",
    ],
)
def test_a_source_directory_made_to_look_like_a_cache_comes_back(run: Run, script: str) -> None:
    before = picture(run.root)
    workspace = run.open()
    observe(workspace, script)
    assert run.undo().conflicts == ()
    assert {path: state for path, state in picture(run.root).items() if path.startswith("src")} == before


@pytest.mark.parametrize(
    ("made", "script"),
    [
        ("venv2/pyvenv.cfg", "rm venv2/pyvenv.cfg"),
        ("build/CACHEDIR.TAG", "rm build/CACHEDIR.TAG"),
        ("target/out", "touch target/more; rm Cargo.toml"),
        ("node_modules/x", "rm node_modules/x"),
        (".git/HEAD", "echo x > .git/HEAD"),
    ],
)
def test_what_was_in_a_cache_before_is_never_taken_for_the_programs(run: Run, made: str, script: str) -> None:
    path = run.root / made
    path.parent.mkdir()
    path.write_text("the user's\n")
    (path.parent / "precious.txt").write_text("the user's\n")
    (run.root / "Cargo.toml").write_text("")
    workspace = run.open()
    observe(workspace, script)
    workspace.restore()
    assert (path.parent / "precious.txt").read_text() == "the user's\n"
    assert run.undo().removed == ()


def test_what_is_too_large_is_told_once_and_never_deleted(tmp_path: Path) -> None:
    run = Run(tmp_path, max_bytes=1000)
    (run.root / "small.txt").write_text("small\n")
    (run.root / "large.bin").write_bytes(b"x" * 2000)
    (run.root / "larger.bin").write_bytes(b"x" * 3000)
    workspace = run.open()
    assert workspace.programs.before().startswith("2 files are not copied before programs run")
    (run.root / "large.bin").write_bytes(b"y" * 2000)
    (run.root / "larger.bin").unlink()
    (run.root / "small.txt").write_text("SMALL\n")
    workspace.programs.after()
    assert workspace.programs.before() == ""
    workspace.programs.after()
    report = run.undo()
    assert report.restored == ("small.txt",)
    assert [(conflict.path, conflict.reason) for conflict in report.conflicts] == [
        ("large.bin", "is not as it was, and its old content was not kept"),
        ("larger.bin", "is not as it was, and its old content was not kept"),
    ]
    assert (run.root / "large.bin").read_bytes() == b"y" * 2000


def test_a_workspace_with_too_many_files_is_told_and_its_unseen_files_are_safe(tmp_path: Path) -> None:
    run = Run(tmp_path, max_files=5)
    for number in range(30):
        (run.root / f"d{number:02}").mkdir()
        (run.root / f"d{number:02}" / "f.txt").write_text("the user's\n")
    workspace = run.open()
    assert "too large to watch whole" in workspace.programs.before()
    subprocess.run(["rm", "-r", *(f"d{number:02}" for number in range(12))], cwd=run.root, check=True)
    before = picture(run.root)
    workspace.programs.after()
    run.undo()
    after = picture(run.root)
    assert {path: after[path] for path in before} == before


def test_the_next_run_copies_only_what_changed(run: Run) -> None:
    first = run.open()
    first.programs.before()
    first.programs.after()
    next_run = Run(run.root.parent, "next")
    blobs = {path: path.stat().st_ino for path in run.state.blobs.rglob("*") if len(path.name) == 64}
    (run.root / "src" / "0.py").write_text("changed\n")
    workspace = next_run.open()
    workspace.programs.before()
    (run.root / "src" / "1.py").unlink()
    workspace.programs.after()
    now = {path: path.stat().st_ino for path in run.state.blobs.rglob("*") if len(path.name) == 64}
    assert {path: now[path] for path in blobs} == blobs
    assert len(now) == len(blobs) + 1
    assert next_run.undo().restored == ("src/1.py",)


def test_a_lost_or_damaged_cache_is_found_out_again(run: Run) -> None:
    first = run.open()
    first.programs.before()
    first.programs.after()
    (cache,) = run.state.cache.iterdir()
    for name, data in {"a": b"not json", "b": b'{"src/0.py": 5}', "c": cache.read_bytes()}.items():
        cache.write_bytes(data)
        if name == "c":
            for path in run.state.blobs.rglob("*"):
                if len(path.name) == 64:
                    path.unlink()
        later = Run(run.root.parent, name)
        before = picture(run.root)
        observe(later.open(), "rm src/0.py")
        later.undo()
        assert picture(run.root) == before


def test_names_that_are_no_text_and_pipes(run: Run) -> None:
    workspace = run.open()
    found = observe(workspace, "printf x > \"$(printf 'odd\\377')\"; printf x > \"$(printf 'line\\nfeed')\"; mkfifo p")
    assert paths(found.changes) == ["line\nfeed", "odd\udcff", "p"]
    assert run.undo().removed == ("line\nfeed", "odd\udcff", "p")
    assert [path.name for path in run.root.iterdir()] == ["src"]


def test_without_a_journal_on_disk_nothing_is_looked_at(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path)
    assert (workspace.programs.before(), workspace.programs.after()) == ("", Observed())
    assert workspace.command_changes() == ()
    workspace.mark("x")


def test_strays_beside_the_files_are_swept(run: Run) -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    tail = "0123456789abcdef.tmp"
    stray = f".0.py.codur-{process.pid}-{tail}"
    kept = [f".0.py.codur-{os.getpid()}-{tail}", f"0.py.codur-{process.pid}-{tail}", ".0.py.tmp"]
    for name in (stray, *kept):
        for directory in (run.root, run.root / "src"):
            (directory / name).write_text("x")
    workspace = run.open()
    assert not (run.root / stray).exists()
    assert (run.root / "src" / stray).exists()
    assert workspace.list_files() == sorted(
        ["src/0.py", "src/1.py", "src/2.py", *(f"{d}{name}" for d in ("", "src/") for name in kept[1:])]
    )
    workspace.programs.before()
    assert not (run.root / "src" / stray).exists()
    assert all((directory / name).exists() for directory in (run.root, run.root / "src") for name in kept)


def test_a_very_deep_tree_is_looked_through_as_far_as_paths_go(tmp_path: Path) -> None:
    root = Root(tmp_path)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("dddddddd", dir_fd=descriptor)
        inner = os.open("dddddddd", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    found = scan(root, limit=10_000)
    assert 400 < len(found.entries) <= 1500
    assert len(found.unseen) == 1
    subprocess.run(["rm", "-rf", str(tmp_path / "dddddddd")], check=True)


def kept(run: Run) -> bytes:
    """All that lies in the state directory."""
    return b"".join(path.read_bytes() for path in run.state.root.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", [".env", "deploy/id_rsa", "server.pem"])
def test_secrets_are_copied_only_where_a_program_changed_them(name: str, run: Run) -> None:
    path = run.root / name
    path.parent.mkdir(exist_ok=True)
    for text in ("canary-settled", "canary-new"):
        path.write_text(text)
        workspace = run.open()
        assert paths(observe(workspace, f"echo x >> src/0.py; touch {name}").changes) == ["src/0.py"]
        assert b"canary" not in kept(run)
    change = observe(workspace, f"echo stolen > {name}").changes[0]
    assert change.before is not None
    assert run.journal().blobs.get(change.before.content) == b"canary-new"


def test_a_large_secret_is_not_copied_and_told(run: Run) -> None:
    (run.root / "big.key").write_text("canary" * 1_000_000)
    assert run.open().programs.before().startswith("1 file is not copied before programs run")
    assert b"canary" not in kept(run)
