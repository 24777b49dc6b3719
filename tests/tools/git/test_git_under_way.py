"""A merge, rebase, cherry-pick or revert that is under way is told, and gone on with where it is resolved."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.config.settings import ToolSettings
from codur.structs import replace
from codur.tools.git.git_repository import repository_of
from codur.tools.git.git_under_way import under_way
from codur.tools.toolbox import Toolbox
from codur.types import ToolResult
from tests.tools.conftest import toolbox_on
from tests.tools.git_vectors import git

BOTH = "one\nours and theirs\n"


def conflict(root: Path, *begin: str) -> Path:
    """A repository of two branches that change the same line, and a command of git that stops at it."""
    git(root, "init", "-q", "-b", "main")
    for name, value in (("user.name", "Ann"), ("user.email", "ann@example.org")):
        git(root, "config", name, value)
    for branch, text in (("main", "one\ntwo\n"), ("side", "one\ntheirs\n"), ("main", "one\nours\n")):
        git(root, *(("switch", "-q", branch) if branch == "main" else ("switch", "-q", "-c", branch)), check=False)
        (root / "a.txt").write_text(text)
        (root / f"{branch}.txt").write_text(text)
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", f"{branch}: {text.split()[1]}", "--author", "Bo <bo@example.org>")
    git(root, *begin, check=False)
    return root


def go_on(root: Path, *, allowed: bool = True) -> ToolResult:
    toolbox = toolbox_on(root, ToolSettings(allow_git_write=allowed))
    return Toolbox(replace(toolbox._context, environ={})).call("git_continue", {})


@pytest.mark.parametrize(
    ("begin", "kind", "told", "subject"),
    [
        (("merge", "side"), "merge", "Merge branch 'side'", "Ann <ann@example.org> Merge branch 'side'"),
        (("cherry-pick", "side"), "cherry-pick", "side: theirs", "Bo <bo@example.org> side: theirs"),
        (("revert", "side"), "revert", 'Revert "side: theirs"', 'Ann <ann@example.org> Revert "side: theirs"'),
        (("rebase", "side"), "rebase", "main: ours", "Bo <bo@example.org> main: ours"),
    ],
)
def test_what_is_resolved_is_gone_on_with(
    begin: tuple[str, ...], kind: str, told: str, subject: str, tmp_path: Path
) -> None:
    root = conflict(tmp_path, *begin)
    found = under_way(repository_of(toolbox_on(root)._context))
    assert found is not None
    assert (found.kind, found.about, list(found.marked)) == (kind, told, ["a.txt"])
    assert not go_on(root, allowed=False).ok
    marked = go_on(root)
    assert (marked.code, "conflict markers are left in a.txt: lines" in marked.text) == ("refused", True), marked.text
    hook = root / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    (root / "a.txt").write_text(BOTH)
    (root / "mine.txt").write_text("not mine to commit\n")
    done = go_on(root)
    assert done.ok, done.text
    assert f"the {kind} is finished: " in done.text
    assert git(root, "log", "-1", "--format=%an <%ae> %s").strip() == subject
    assert "Conflicts" not in git(root, "log", "-1", "--format=%B")
    assert git(root, "show", "HEAD:a.txt") == BOTH
    assert git(root, "status", "--porcelain", "--branch").startswith("## main\n?? ")
    again = go_on(root)
    assert (again.code, again.text) == ("no_match", "no merge, rebase, cherry-pick or revert is under way")


def test_the_next_conflict_is_told(tmp_path: Path) -> None:
    root = conflict(tmp_path)
    (root / "a.txt").write_text("one\nours again\n")
    git(root, "commit", "-qam", "main: again")
    git(root, "rebase", "side", check=False)
    (root / "a.txt").write_text(BOTH)
    done = go_on(root)
    assert done.ok
    assert " main: ours, and stopped again: a rebase is under way (main: again)" in done.text
    assert "unmerged, with conflict markers: a.txt: lines 2-6" in done.text


def test_what_is_staged_with_its_markers_is_not_committed(tmp_path: Path) -> None:
    root = conflict(tmp_path, "merge", "side")
    toolbox = toolbox_on(root, ToolSettings(allow_git_write=True))
    staged = toolbox.call("git_stage_files", {"paths": ["a.txt"]})
    assert (staged.code, staged.text) == ("refused", "conflict markers are left in a.txt; resolve them first")
    git(root, "add", "a.txt")
    refused = go_on(root)
    assert (refused.code, "markers are staged in a.txt" in refused.text) == ("refused", True), refused.text


def test_what_would_take_a_program_or_an_editor_is_left_to_the_user(tmp_path: Path) -> None:
    root = conflict(tmp_path, "rebase", "--exec", "touch ran", "side")
    (root / "a.txt").write_text(BOTH)
    refused = go_on(root)
    assert (refused.code, "holds `exec`" in refused.text) == ("refused", True), refused.text
    assert "git add a.txt && git rebase --continue" in refused.text
    assert not (root / "ran").exists()


def test_a_driver_of_the_repository_does_not_merge_what_is_left(tmp_path: Path) -> None:
    root = conflict(tmp_path)
    (root / "more.txt").write_text("x\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "more")
    git(root, "rebase", "side", check=False)
    fill = {"a.txt": BOTH, ".git/info/attributes": "more.txt merge=own\n"}
    for path, text in fill.items():
        (root / path).write_text(text)
    refused = go_on(root)
    assert (refused.code, "more.txt goes through the merge own" in refused.text) == ("refused", True), refused.text


def test_where_no_marker_can_tell_it_is_staged_first(tmp_path: Path) -> None:
    root = conflict(tmp_path)
    git(root, "rm", "-q", "a.txt")
    git(root, "commit", "-qm", "gone")
    git(root, "merge", "side", check=False)
    refused = go_on(root)
    assert (refused.code, "a.txt: only one side has it" in refused.text) == ("refused", True), refused.text
    git(root, "add", "a.txt")
    assert go_on(root).ok
    assert git(root, "show", "HEAD:a.txt") == "one\ntheirs\n"


def test_a_branch_is_made_and_switched_to(tmp_path: Path) -> None:
    root = conflict(tmp_path)
    (root / "main.txt").write_text("not committed\n")
    toolbox = toolbox_on(root, ToolSettings(allow_git_write=True))

    def switch(branch: str, *, new: bool = False) -> tuple[str, str]:
        result = toolbox.call("git_switch", {"branch": branch, "new": new})
        return result.code, result.text

    assert switch("feature/x", new=True) == ("ok", "on the new branch feature/x")
    assert git(root, "branch", "--show-current") == "feature/x\n"
    assert switch("main") == ("ok", "on the branch main")
    assert switch("nowhere")[0] == "not_found"
    assert switch("side", new=True)[0] == "failed"
    assert switch("--force")[0] == "invalid"
    code, text = switch("side")  # which has no main.txt of this content
    assert (code, "would be overwritten" in text) == ("failed", True), text
    assert (root / "main.txt").read_text() == "not committed\n"
    off = toolbox_on(root).call("git_switch", {"branch": "main"})
    assert (off.code, off.text) == ("refused", "git_switch needs tools.allow_git_write, which is off")


def two_sides(root: Path, path: str, texts: tuple[str, str, str], attributes: str = "") -> Path:
    """A merge that stopped at a file, or at a link where a text begins with `->`."""
    git(root, "init", "-q", "-b", "main")
    for name, value in (("user.name", "Ann"), ("user.email", "ann@example.org")):
        git(root, "config", name, value)
    (root / ".gitattributes").write_text(attributes)
    for switch, text in zip(((), ("-c", "side"), ("main",)), texts, strict=True):
        if switch:
            git(root, "switch", "-q", *switch)
        (root / path).unlink(missing_ok=True)
        if text.startswith("->"):
            (root / path).symlink_to(text[2:])
        else:
            (root / path).write_text(text)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", text[:9].strip())
    git(root, "merge", "side", check=False)
    return root


@pytest.mark.parametrize(
    ("texts", "attributes"),
    [
        (("1\n", "2\n", "3\n"), "* conflict-marker-size=12\n"),
        (("->a", "->b", "->c"), ""),
        (tuple(f"{n}\n" + ("x" * 79 + "\n") * 65_000 for n in "123"), ""),
    ],
    ids=["markers of another length", "links", "a very large file"],
)
def test_where_nobody_sees_whether_a_conflict_is_resolved_it_is_not_gone_on_with(
    texts: tuple[str, str, str], attributes: str, tmp_path: Path
) -> None:
    root = two_sides(tmp_path, "f", texts, attributes)
    assert go_on(root).code == "refused"
    assert (root / ".git" / "MERGE_HEAD").exists()


def test_a_file_that_git_ignores_is_not_written_over(tmp_path: Path) -> None:
    root = conflict(tmp_path, "status")
    (root / ".gitignore").write_text("local.cfg\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "ignore")
    git(root, "switch", "-q", "-c", "other")
    (root / "local.cfg").write_text("theirs")
    git(root, "add", "-f", "local.cfg")
    git(root, "commit", "-q", "-m", "theirs")
    git(root, "switch", "-q", "main")
    (root / "local.cfg").write_text("mine")
    toolbox = toolbox_on(root, ToolSettings(allow_git_write=True))
    assert not Toolbox(replace(toolbox._context, environ={})).call("git_switch", {"branch": "other"}).ok
    assert (root / "local.cfg").read_text() == "mine"
