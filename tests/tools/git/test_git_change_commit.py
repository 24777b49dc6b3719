"""A commit of some changes alone: what else is changed or staged stays out of it, as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pytest

from codur.config.settings import SandboxSettings
from codur.structs import replace
from codur.tools.git.git_change_commit import (
    Versions,
    Wanted,
    commit_changes,
    commit_files,
    files_of,
    known_files,
    uncommitted,
)
from codur.tools.git.git_repository import Repository, repository_around, repository_of
from codur.tools.tool import ToolError
from tests.runs.kit import fill
from tests.tools.conftest import toolbox_on
from tests.tools.git_vectors import WHO, git, mark_of

WANTED = Wanted(
    message="Fix the sum\n\nIt was off by one.", who=tuple((key, WHO[key]) for key in WHO if "_CONFIG" not in key)
)
LINES = "".join(f"line {number}\n" for number in range(12))
FIXED = LINES.replace("line 9", "line nine")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository whose `a.txt` has an edit of the user's in its first line; another file is staged."""
    root = tmp_path / "w"
    (root / "sub").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    for path, text in {"a.txt": LINES, "b.txt": "two\n", "sub/ü.txt": "below\n", ".gitignore": "*.log\n"}.items():
        (root / path).write_text(text)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    (root / "a.txt").write_text(LINES.replace("line 0", "mine"))
    (root / "staged.txt").write_text("staged\n")
    git(root, "add", "staged.txt")
    return root


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    path = tmp_path / "scratch"
    path.mkdir()
    return path


def repository(root: Path) -> Repository:
    return repository_of(toolbox_on(root, sandbox=SandboxSettings())._context)


def change(path: str, before: str | None, after: str | None, mode: str = "100644") -> Versions:
    one, two = (None if text is None else text.encode() for text in (before, after))
    return Versions(path=path, before=one, after=two, mode=mode)


def test_only_the_changes_are_committed(root: Path, scratch: Path) -> None:
    mine = LINES.replace("line 0", "mine")
    (root / "a.txt").write_text(FIXED.replace("line 0", "mine"))
    (root / "b.txt").unlink()
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    changes = [
        change("a.txt", mine, FIXED.replace("line 0", "mine")),
        change("b.txt", "two\n", None),
        change("run.sh", None, "#!/bin/sh\n", "100755"),
        change("sub/ü.txt", "below\n", "above\n"),
    ]
    commit = commit_changes(repository(root), changes, WANTED, scratch)
    assert (commit.author, commit.subject) == ("Ann", "Fix the sum")
    assert git(root, "log", "-1", "--format=%B").strip() == WANTED.message
    assert git(root, "show", "HEAD:a.txt") == FIXED
    assert git(root, "show", "HEAD:sub/ü.txt") == "above\n"
    assert git(root, "ls-tree", "--name-only", "HEAD").split() == [".gitignore", "a.txt", "run.sh", "sub"]
    assert git(root, "ls-tree", "HEAD", "run.sh").startswith("100755")
    # what was the user's own is as it was: an edit, something staged; and the last file was changed back since
    assert git(root, "-c", "core.quotePath=false", "status", "--porcelain").splitlines() == [
        " M a.txt",
        "A  staged.txt",
        " M sub/ü.txt",
    ]
    assert [line for line in git(root, "diff", "a.txt").splitlines() if line[:1] in "+-"][2:] == ["-line 0", "+mine"]
    with pytest.raises(ToolError) as caught:
        commit_changes(repository(root), changes, WANTED, scratch)
    assert caught.value.code == "no_match"


def test_several_changes_of_a_file_follow_each_other(root: Path, scratch: Path) -> None:
    mine = LINES.replace("line 0", "mine")
    once, twice = (mine.replace("line 9", words) for words in ("line nine", "line NINE"))
    changes = [change("a.txt", mine, once), change("a.txt", once, twice), change("new.txt", None, "x\n")]
    changes += [change("new.txt", "x\n", "y\n"), change("gone.txt", None, "x\n"), change("gone.txt", "x\n", None)]
    # The user wrote in between: the first is there already, the second is merged into it.
    changes += [change("b.txt", "one\n", "two\n"), change("b.txt", "two\nmine\n", "2\nmine\n")]
    git(root, "commit", "-q", "-m", "mine", "--only", "staged.txt")
    with pytest.raises(ToolError, match=r"b\.txt had changes of your own before, too close"):
        commit_changes(repository(root), changes, WANTED, scratch)
    commit_changes(repository(root), changes[:-1], WANTED, scratch)
    assert git(root, "show", "--format=", "--name-only", "HEAD").split() == ["a.txt", "new.txt"]
    assert git(root, "show", "HEAD:a.txt") == LINES.replace("line 9", "line NINE")
    assert git(root, "show", "HEAD:new.txt") == "y\n"


def test_files_as_they_are(root: Path, scratch: Path) -> None:
    (root / "sub/ü.txt").unlink()
    (root / "staged.txt").write_text("and changed\n")
    below = replace(repository(root), root=root / "sub")
    assert uncommitted(below, ["."]) == {"ü.txt"}
    files = uncommitted(repository(root), ["."])
    assert files == {"a.txt", "staged.txt", "sub/ü.txt"}
    done = commit_files(repository(root), sorted(files), WANTED, scratch)
    assert set(files_of(repository(root), done.hash)) == files
    assert git(root, "show", "HEAD:staged.txt") == "and changed\n"
    assert git(root, "status", "--porcelain") == ""


def test_what_the_user_untracked_goes_and_is_not_read(root: Path, scratch: Path) -> None:
    git(root, "rm", "-q", "--cached", "b.txt")
    (root / "b.txt").write_text("sekret\n")
    commit_files(repository(root), ["b.txt"], WANTED, scratch)
    assert git(root, "show", "--format=", "--name-status", "HEAD") == "D\tb.txt\n"
    assert "sekret" not in git(root, "log", "-p")
    assert "?? b.txt" in git(root, "status", "--porcelain")


def test_a_directory_in_the_place_of_a_file(root: Path, scratch: Path) -> None:
    (root / "b.txt").unlink()
    fill(root, {"b.txt/secret.txt": "sekret\n", "b.txt/new.txt": "new\n"})
    commit_files(repository(root), ["b.txt", "b.txt/new.txt"], WANTED, scratch)
    shown = git(root, "show", "--format=", "--no-renames", "--name-status", "HEAD").splitlines()
    assert shown == ["D\tb.txt", "A\tb.txt/new.txt"]
    assert git(root, "status", "--porcelain").splitlines() == [" M a.txt", "A  staged.txt", "?? b.txt/secret.txt"]
    (root / "staged.txt").unlink()
    rmtree(root / "b.txt")
    (root / "b.txt").write_text("a file again\n")
    commit_files(repository(root), ["b.txt", "b.txt/new.txt"], WANTED, scratch)
    assert git(root, "show", "HEAD:b.txt") == "a file again\n"


def test_a_file_staged_and_deleted_before_the_first_commit(tmp_path: Path, scratch: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    fill(root, {"a.txt": "a\n", "b.txt": "b\n"})
    git(root, "add", ".")
    (root / "a.txt").unlink()
    assert uncommitted(repository(root), ["."]) == {"b.txt"}
    commit_files(repository(root), ["a.txt", "b.txt"], WANTED, scratch)
    assert git(root, "ls-tree", "--name-only", "HEAD") == "b.txt\n"


def test_in_a_directory_of_a_repository_without_a_commit(tmp_path: Path, scratch: Path) -> None:
    (tmp_path / "w" / "part").mkdir(parents=True)
    git(tmp_path / "w", "init", "-q", "-b", "main")
    (tmp_path / "w" / "part" / "a.txt").write_text("new\n")
    commit_changes(repository(tmp_path / "w" / "part"), [change("a.txt", None, "new\n")], WANTED, scratch)
    assert git(tmp_path / "w", "show", "HEAD:part/a.txt") == "new\n"
    assert git(tmp_path / "w", "status", "--porcelain") == ""


def test_what_git_knows(root: Path) -> None:
    (root / "new.txt").write_text("new\n")
    (root / "x.log").write_text("ignored\n")
    paths = ["a.txt", "sub/ü.txt", "new.txt", "x.log", "gone"]
    assert known_files(repository(root), paths, new=False) - {""} == {"a.txt", "sub/ü.txt"}
    assert known_files(repository(root), paths, new=True) - {""} == {"new.txt"}


@pytest.mark.parametrize(
    ("versions", "words"),
    [
        (change("a.txt", LINES.replace("line 0", "mine"), LINES.replace("line 0", "ours")), "too close to these"),
        (change("b.txt", "other\n", None), "b.txt had changes of your own before"),
        (change("staged.txt", "staged\n", "more\n"), "changes of staged.txt are staged already"),
    ],
)
def test_what_is_in_the_way_is_named_and_nothing_is_done(
    root: Path, scratch: Path, versions: Versions, words: str
) -> None:
    before = (git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain"))
    with pytest.raises(ToolError) as caught:
        commit_changes(repository(root), [versions], WANTED, scratch)
    assert caught.value.code == "many_matches"
    assert words in caught.value.message
    assert (git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")) == before


def test_a_merge_that_is_under_way_is_not_ended(root: Path, scratch: Path) -> None:
    (root / ".git" / "MERGE_HEAD").write_text(git(root, "rev-parse", "HEAD"))
    with pytest.raises(ToolError, match="a merge is under way"):
        commit_changes(repository(root), [change("b.txt", "two\n", "2\n")], WANTED, scratch)


@pytest.fixture
def hooked(root: Path) -> Iterator[Path]:
    """The repository with a hook that refuses what holds a word, and would leave a mark outside."""
    hook = root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    refuses = "git diff --cached | grep -q FORBIDDEN && { echo no such words >&2; exit 1; }"
    hook.write_text(f"#!/bin/sh\ntouch {mark_of(root)} a.txt 2>/dev/null\n{refuses}\nexit 0\n")
    hook.chmod(0o755)
    yield root
    assert not mark_of(root).exists()


def test_hooks_see_it_contained_unless_the_user_leaves_them_out(hooked: Path, scratch: Path) -> None:
    wrong = change("b.txt", "two\n", "FORBIDDEN\n")
    head = git(hooked, "rev-parse", "HEAD")
    with pytest.raises(ToolError, match=r"a hook may have refused: [^\n]*no such words") as caught:
        commit_changes(repository(hooked), [wrong], WANTED, scratch)
    assert caught.value.code == "refused"
    assert git(hooked, "rev-parse", "HEAD") == head
    commit_changes(repository(hooked), [change("b.txt", "two\n", "2\n")], WANTED, scratch)
    assert git(hooked, "show", "HEAD:b.txt") == "2\n"
    commit_changes(repository(hooked), [change("b.txt", "2\n", "FORBIDDEN\n")], replace(WANTED, hooks=False), scratch)
    assert git(hooked, "show", "HEAD:b.txt") == "FORBIDDEN\n"


def test_a_repository_elsewhere_is_none(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        repository_around(tmp_path, toolbox_on(tmp_path)._context.launcher, 10)
    assert caught.value.code == "not_found"
