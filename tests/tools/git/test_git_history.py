"""What is read from real repositories: hunks with their place in the present text, and earlier texts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codur.sandbox.launcher import Launcher
from codur.tools.git.git_history import History, Hunk, read_history
from tests.tools.git_vectors import VECTORS, Control, git, make_repository, mark_of, run_control

ONE = "def area(side):\n    return side * side\n\n\ndef twice(n):\n    return 2 * n\n"
TWO = ONE.replace("side * side", "side + side")
THREE = "import math\n" + TWO.replace("2 * n", "n + n")


def texts_in(root: Path) -> Callable[[str], str | None]:
    return lambda path: (root / path).read_text() if (root / path).is_file() else None


def read(root: Path, since: str = "") -> History:
    with Launcher(os.environ) as launcher:
        return read_history(root, launcher, texts_in(root), since=since)


def commit(root: Path, subject: str, **files: str) -> str:
    """Commit files (`a_py` for a.py); gives the commit's hash."""
    for name, text in files.items():
        (root / name.replace("_py", ".py")).write_text(text)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", subject)
    return git(root, "rev-parse", "HEAD").strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three commits of a.py, the second of which broke `area`."""
    (tmp_path / "w").mkdir()
    git(tmp_path / "w", "init", "-q", "-b", "main")
    for subject, text in (("first", ONE), ("second", TWO), ("third", THREE)):
        commit(tmp_path / "w", subject, a_py=text)
    return tmp_path / "w"


def test_hunks_stand_where_they_are_in_the_present_text(root: Path) -> None:
    third, second = git(root, "rev-parse", "HEAD", "HEAD~1").split()
    found = read(root)
    assert found.hunks == (
        Hunk(path="a.py", start=1, end=2, old="", commit=third, subject="third", age=1),
        Hunk(path="a.py", start=7, end=8, old="    return 2 * n\n", commit=third, subject="third", age=1),
        Hunk(path="a.py", start=3, end=4, old="    return side * side\n", commit=second, subject="second", age=2),
    )
    assert found.changed == {"a.py": {1, 3, 7}}
    assert [(each.text, each.commit, each.age) for each in found.versions] == [(TWO, third, 1), (ONE, second, 2)]
    assert (found.since, found.reason) == ("the last 2 commits", "")


def test_what_is_not_committed_comes_first_and_lines_that_are_gone_are_no_hunks(root: Path) -> None:
    (root / "a.py").write_text(THREE.replace("side + side", "side ** 3").replace("import math\n", ""))
    (root / "new.py").write_text("print()\n")
    found = read(root)
    assert [(each.start, each.end, each.old, each.subject, each.age) for each in found.hunks] == [
        (1, 1, "import math\n", "", 0),
        (2, 3, "    return side + side\n", "", 0),
        (6, 7, "    return 2 * n\n", "third", 1),
    ]
    assert found.changed == {"a.py": {1, 2}}
    assert found.since == "the last commit"
    assert [each.text for each in found.versions] == [THREE, TWO, ONE]


def test_the_last_tag_and_a_named_revision_bound_what_is_suspected(root: Path) -> None:
    git(root, "tag", "v1", "HEAD~1")
    assert read(root).changed == {"a.py": {1, 7}}
    assert read(root).since == "v1"
    git(root, "tag", "v2")  # a tag of the present commit bounds nothing
    assert read(root).since == "v1"
    assert read(root, "HEAD~2").changed == {"a.py": {1, 3, 7}}
    assert {each.subject for each in read(root, "v1").hunks} == {"third"}


def test_lines_that_two_commits_changed_are_undone_since_the_tag(root: Path) -> None:
    git(root, "tag", "v1", "HEAD~2")
    commit(root, "fourth", a_py=THREE.replace("side + side", "side + 2"))
    by_tag = [each for each in read(root).hunks if each.commit == "v1"]
    assert [(each.start, each.old, each.age) for each in by_tag] == [(3, "    return side * side\n", 4)]


def test_renamed_files_keep_their_past(root: Path) -> None:
    git(root, "mv", "a.py", "b.py")
    git(root, "commit", "-q", "-m", "move")
    assert [(each.path, each.start, each.subject) for each in read(root).hunks] == [
        ("b.py", 1, "third"),
        ("b.py", 7, "third"),
        ("b.py", 3, "second"),
    ]


def test_a_merge_counts_as_one_commit(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "side", "HEAD~1")
    commit(root, "aside", a_py=TWO.replace("side + side", "side + 1"))
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "--no-ff", "-m", "merge", "side")
    found = [(each.start, each.subject, each.age) for each in read(root).hunks]
    assert found == [(3, "merge", 1), (1, "third", 2), (7, "third", 2)]


def test_only_files_in_question_and_below_the_directory(root: Path) -> None:
    with Launcher(os.environ) as launcher:
        assert read_history(root, launcher, lambda _: None).hunks == ()
    (root / "part").mkdir()
    commit(root, "fourth", **{"part/b_py": "x = 1\n"})
    commit(root, "fifth", **{"part/b_py": "x = 2\n", "notes.txt": "x\n"})
    assert [(each.path, each.old) for each in read(root / "part").hunks] == [("b.py", "x = 1\n")]


def test_line_ends_of_windows(root: Path) -> None:
    (root / "a.py").write_bytes(THREE.replace("\n", "\r\n").encode())
    git(root, "commit", "-q", "-a", "-m", "fourth")
    (root / "a.py").write_bytes(THREE.replace("side + side", "side").replace("\n", "\r\n").encode())
    assert [(each.start, each.old) for each in read(root).hunks if not each.age] == [(3, "    return side + side\n")]


# --- kinds of repositories --------------------------------------------------------------------------------------------


def test_worktree_submodule_shallow_clone_and_detached_head(root: Path) -> None:
    git(root, "worktree", "add", "-q", "--detach", "../linked")
    git(root, "clone", "-q", "--depth", "2", f"file://{root}", "../shallow")
    outer = root.parent / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "module")
    for place, hunks in ((root.parent / "linked", 3), (outer / "module", 3), (root.parent / "shallow", 2)):
        assert (len(read(place).hunks), read(place).reason) == (hunks, "")


def test_without_history_there_is_a_reason(root: Path, tmp_path: Path) -> None:
    empty, plain = tmp_path / "empty", tmp_path / "plain"
    git(tmp_path, "init", "-q", str(empty))
    plain.mkdir()
    assert read(empty).reason == "the repository has no commits yet"
    assert read(plain).reason == "the workspace is not in a git repository; git init makes one"
    assert read(root, "v9").reason == "git knows no such revision: bad revision 'v9..HEAD'"
    assert read(root, "--output=x").reason.startswith("'--output=x' is no revision")
    (root / ".git" / "HEAD").unlink()
    assert read(root).reason.startswith("git cannot read this repository")


@pytest.mark.skipif(os.geteuid() != 0, reason="only the administrator can give files away")
def test_a_repository_of_another_user_is_left_alone(root: Path) -> None:
    os.chown(root / ".git", 12345, 12345)
    assert read(root).reason == f"the repository in {root} belongs to another user"


def test_an_attribute_that_hides_a_patch_does_no_harm(root: Path) -> None:
    (root / ".gitattributes").write_text("*.py binary\n")
    assert read(root).hunks == ()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.__name__)
def test_a_hostile_repository_executes_nothing(tmp_path: Path, vector: Callable[[Path], Control]) -> None:
    root = make_repository(tmp_path)
    (root / "a.py").write_text(ONE)
    git(root, "add", "a.py")
    git(root, "commit", "-q", "-m", "second", "--", "a.py")
    control = vector(root)
    (root / "a.py").write_text(TWO)
    mark_of(root).unlink(missing_ok=True)
    read(root / control.directory)
    assert not mark_of(root).exists()
    assert run_control(root, control), "the attack is not live"
