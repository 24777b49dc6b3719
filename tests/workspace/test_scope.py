"""Which files may change: globs, their number, and what programs changed beyond."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.errors import WorkspaceError
from codur.types import ScopeRules, ScopeViolation
from codur.workspace.problems import FileError
from codur.workspace.scope import Scope
from codur.workspace.workspace import Workspace
from tests.workspace.kit import Run, picture


@pytest.mark.parametrize(
    ("allow", "deny", "path", "allowed"),
    [
        ((), (), "anything", True),
        (("*.py",), (), "a/b/main.py", True),
        (("*.py",), (), "main.PY", False),
        (("*.py",), (), "main.pyc", False),
        (("src",), (), "src/a/b.py", True),
        (("src/",), (), "src/a/b.py", True),
        (("src/*.py",), (), "src/a/b.py", False),
        (("src/**",), (), "src/a/b.py", True),
        (("/main.py",), (), "main.py", True),
        (("./main.py",), (), "lib/main.py", False),
        (("main.py",), (), "lib/main.py", True),
        (("a.py", "b.py"), (), "b.py", True),
        (("src/**",), ("src/secret*",), "src/secret.py", False),
        ((), ("secret",), "src/SECRET/x", False),
        ((), ("Secret",), "sec\u200bret/x", False),
        (("src/**",), (), "src/../other.py", False),
        (("src/**",), (), "other/../src/x.py", True),
        (("src/**",), (), "../outside.py", False),
        (("src/**",), (), "a\0b", False),
    ],
)
def test_what_a_scope_allows(
    allow: tuple[str, ...], deny: tuple[str, ...], path: str, allowed: bool, tmp_path: Path
) -> None:
    assert Scope(tmp_path, ScopeRules(allow=allow, deny=deny)).allows(path) is allowed


def test_all_of_several_rules_hold(tmp_path: Path) -> None:
    scope = Scope(tmp_path, ScopeRules(allow=("*.py",), max_files=5), ScopeRules(allow=("src",), max_files=2))
    assert scope.allows("src/a.py")
    assert not scope.allows("a.py")
    assert not scope.allows("src/a.txt")
    assert scope.max_files == 2


@pytest.mark.parametrize("glob", ["../x", "a/../b", "/", "", " ", "."])
def test_a_pattern_that_names_nothing_is_an_error(glob: str, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="names nothing"):
        Scope(tmp_path, ScopeRules(allow=(glob,)))


def test_a_link_is_in_scope_only_with_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "other.py").write_text("x = 1\n")
    (tmp_path / "src" / "link.py").symlink_to("../other.py")
    assert not Scope(tmp_path, ScopeRules(allow=("src",))).allows("src/link.py")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for name in ("src/a.py", "src/b.py", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")
    found = Workspace.open(tmp_path)
    found.scope = Scope(tmp_path, ScopeRules(allow=("src",), max_files=2))
    return found


def refused(workspace: Workspace, *change: str) -> str:
    with pytest.raises(FileError) as caught:
        getattr(workspace, change[0])(*change[1:])
    assert caught.value.code == "refused"
    return caught.value.message


def test_writing_out_of_scope_is_refused_and_changes_nothing(workspace: Workspace) -> None:
    before = picture(workspace.root)
    told = refused(workspace, "write_text", "notes.txt", "x\n")
    assert told == "notes.txt is out of scope and must not be changed; only src may change"
    for change in (
        ("write_bytes", "new.txt", "x"),
        ("delete", "notes.txt"),
        ("move", "src/a.py", "a.py"),
        ("move", "notes.txt", "src/notes.txt"),
        ("copy", "src/a.py", "a.py"),
        ("write_text", "src/../notes.txt", "x\n"),
    ):
        assert "out of scope" in refused(workspace, *change)
    assert picture(workspace.root) == before
    assert workspace.changes() == ()


def test_one_file_too_many_is_refused(workspace: Workspace) -> None:
    workspace.write_text("src/a.py", "1\n")
    workspace.write_text("src/new.py", "2\n")
    workspace.write_text("src/a.py", "3\n")
    told = refused(workspace, "write_text", "src/b.py", "4\n")
    assert told == "src/b.py would be one file too many: at most 2 may change, and src/a.py, src/new.py did already"
    workspace.restore()
    workspace.write_text("src/b.py", "4\n")
    assert workspace.changed_files() == ("src/b.py",)


def test_a_copy_has_the_same_scope(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> None:
    copy = workspace.scratch_copy(tmp_path_factory.mktemp("copy") / "w")
    assert "out of scope" in refused(copy, "write_text", "notes.txt", "x\n")
    assert copy.may_edit("src/a.py")
    assert not copy.may_edit("notes.txt")


# --- what programs change ---------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = Run(tmp_path)
    for name in ("src/a.py", "src/b.py", "notes.txt", "data/old.csv"):
        (made.root / name).parent.mkdir(exist_ok=True)
        (made.root / name).write_text(f"{name}\n")
    (made.root / "link").symlink_to("notes.txt")
    (made.root / "notes.txt").chmod(0o640)
    return made


def scoped(run: Run, **rules: object) -> Workspace:
    workspace = Workspace.open(run.root, journal=run.journal())
    workspace.scope = Scope(run.root, ScopeRules(**rules))  # type: ignore[arg-type]
    return workspace


def test_what_programs_did_out_of_scope_is_put_back_and_told(run: Run) -> None:
    workspace = scoped(run, allow=("src",))
    before = picture(run.root)
    workspace.programs.before()
    (run.root / "src/a.py").write_text("better\n")
    (run.root / "notes.txt").write_text("worse\n")
    (run.root / "data/old.csv").rename(run.root / "data/new.csv")
    (run.root / "deep/er").mkdir(parents=True)
    (run.root / "deep/er/file").write_text("new\n")
    (run.root / "link").unlink()
    (run.root / "link").symlink_to("/etc/passwd")
    workspace.programs.after()
    found = workspace.enforce_scope()
    assert {(item.path, item.change, item.reverted) for item in found} == {
        ("notes.txt", "changed", True),
        ("data/old.csv", "deleted", True),
        ("data/new.csv", "made", True),
        ("deep/er/file", "made", True),
        ("link", "changed", True),
    }
    after = picture(run.root)
    assert after.pop("src/a.py") == ("file", before.pop("src/a.py")[1], b"better\n")
    assert after == before
    assert workspace.enforce_scope() == ()
    assert [change.path for change in workspace.command_changes()] == ["src/a.py"]
    assert workspace.changes() == ()


def test_programs_keep_to_the_number_of_files_too(run: Run) -> None:
    workspace = scoped(run, max_files=2)
    workspace.write_text("src/b.py", "tool\n")
    workspace.programs.before()
    for name in ("data/old.csv", "notes.txt", "src/a.py"):
        (run.root / name).write_text("program\n")
    workspace.programs.after()
    assert [item.path for item in workspace.enforce_scope()] == ["notes.txt", "src/a.py"]
    assert (run.root / "data/old.csv").read_text() == "program\n"
    assert (run.root / "notes.txt").read_text() == "notes.txt\n"


def test_what_someone_changed_once_more_is_told_and_left(run: Run) -> None:
    workspace = scoped(run, allow=("src",))
    workspace.programs.before()
    (run.root / "notes.txt").write_text("by the program\n")
    workspace.programs.after()
    (run.root / "notes.txt").write_text("by the user, afterwards\n")
    assert workspace.enforce_scope() == (ScopeViolation(path="notes.txt", change="changed", reverted=False),)
    assert (run.root / "notes.txt").read_text() == "by the user, afterwards\n"


def test_an_edit_after_a_violation_is_undone_to_the_byte(run: Run) -> None:
    before = picture(run.root)
    workspace = scoped(run, allow=("src",))
    workspace.programs.before()
    (run.root / "notes.txt").unlink()
    workspace.programs.after()
    workspace.enforce_scope()
    workspace.write_text("src/a.py", "edited\n")
    workspace.restore()
    assert picture(run.root) == before


def test_what_is_denied_is_told_as_that(tmp_path: Path) -> None:
    scope = Scope(tmp_path, ScopeRules(deny=("setup.py",)), ScopeRules(allow=("setup.py",)))
    with pytest.raises(FileError) as caught:
        scope.require("setup.py", ())
    assert caught.value.message == "setup.py is denied by scope.deny and must not be changed"
    assert caught.value.remedy == "Change other files, or take it out of scope.deny."
