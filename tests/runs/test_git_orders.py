"""Tasks on what git has begun, and orders to commit or to make a branch: what is told, done, and called done."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from codur.patches import RepairRequest
from codur.planning.patterns.classify import ordered_of_git
from tests.runs.kit import Played, play
from tests.runs.test_plans import CODING, classified, plan, tool
from tests.support.groq_server import ServerReply, calls
from tests.tools.git.test_git_under_way import BOTH, conflict
from tests.tools.git_vectors import git

ALLOWED: Mapping[str, Mapping[str, Any]] = {"tools": {"allow_git_write": True}}
KIND = classified(task_type="code_fix", detected_files=["a.txt"])
RESOLVE = calls(("replace_file_content", {"path": "a.txt", "content": BOTH}))
GO_ON = tool("git_continue")
LINES = "a merge is under way (Merge branch 'side'); unmerged, with conflict markers: a.txt: lines 2-6"


def merging(directory: Path, prompt: str, *replies: ServerReply, **more: Any) -> Played:
    (directory / "project").mkdir()
    conflict(directory / "project", "merge", "side")
    return play(directory, {}, prompt, list(replies), **more)


def subject(directory: Path) -> str:
    return git(directory / "project", "log", "-1", "--format=%s").strip()


def test_what_is_under_way_is_told_and_that_it_still_is(tmp_path: Path) -> None:
    played = merging(tmp_path, "resolve the merge conflicts, keep both", KIND, plan(CODING), RESOLVE)
    assert (played.result.outcome, played.files["a.txt"]) == ("done", BOTH), played.result.reason
    assert all(f"What git has under way now: {LINES}" in str(each.body) for each in played.requests)
    note = "the merge is still under way; to finish it: git add a.txt && git commit --no-edit"
    assert note in played.result.notes


def test_who_is_to_go_on_with_it_and_may_not_says_so(tmp_path: Path) -> None:
    played = merging(tmp_path, "resolve the conflicts and finish the merge", KIND, plan(CODING), RESOLVE)
    assert (played.result.outcome, played.files["a.txt"]) == ("not_achieved", BOTH)
    assert played.result.reason.endswith("; it was not gone on with")
    assert "git add a.txt && git commit --no-edit (tools.allow_git_write: true" in played.result.remedy


def test_where_it_may_it_is_gone_on_with(tmp_path: Path) -> None:
    prompt = "resolve the conflicts and finish the merge"
    played = merging(tmp_path, prompt, KIND, plan(CODING, GO_ON), RESOLVE, sections=ALLOWED)
    assert (played.result.outcome, subject(tmp_path)) == ("done", "Merge branch 'side'"), played.result.reason
    assert "git_continue" in str(played.requests[1].body)


@pytest.mark.parametrize("prompt", ["finish the merge", "git add -A and commit the merge", "git merge --continue"])
def test_what_is_resolved_needs_no_model(prompt: str, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    root = conflict(tmp_path / "project", "merge", "side")
    marked = play(tmp_path, {}, prompt, [], key=None, sections=ALLOWED)
    assert (marked.result.exit_code, "a.txt: lines 2-6" in marked.result.reason) == (5, True), marked.result.reason
    off = play(tmp_path, {"a.txt": BOTH}, prompt, [], key=None)
    assert (off.result.exit_code, "allow_git_write" in off.result.reason) == (5, True)
    assert "git add a.txt && git commit --no-edit" in off.result.reason
    done = play(tmp_path, {}, prompt, [], key=None, sections=ALLOWED)
    assert (done.result.exit_code, git(root, "status", "--porcelain")) == (0, ""), done.result.reason
    assert subject(tmp_path) == "Merge branch 'side'"


def test_where_nothing_is_under_way_the_words_mean_something_else(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    conflict(tmp_path / "project", "status")
    assert play(tmp_path, {}, "finish the merge", [], key=None).result.outcome == "no_model"


def test_what_is_not_resolved_goes_to_a_model_that_can(tmp_path: Path) -> None:
    kind = classified(task_type="git", detected_files=["a.txt"])
    played = merging(tmp_path, "finish the merge", kind, plan(CODING, GO_ON), RESOLVE, sections=ALLOWED)
    assert (played.result.outcome, subject(tmp_path)) == ("done", "Merge branch 'side'"), played.result.reason


@pytest.mark.parametrize(("asked", "code"), [(None, 3), (RepairRequest(), 2)])
def test_no_search_is_made_where_conflict_markers_are(asked: RepairRequest | None, code: int, tmp_path: Path) -> None:
    played = merging(tmp_path, "fix the tests", key=None, search=True, repair=asked)
    assert (played.result.exit_code, played.result.before) == (code, None)
    assert played.result.reason.startswith(f"{LINES}; no search mends a conflict")
    assert "git add a.txt && git commit --no-edit" in played.result.remedy


WRITE = calls(("replace_file_content", {"path": "a.txt", "content": "new\n"}))
BRANCH = tool("git_switch", branch="sep", new="true")
STAGE, COMMIT = tool("git_stage_files", paths='["a.txt"]'), tool("git_commit", message="Say new")
ORDER = "do this on a new branch: replace all of a.txt with the word new. commit it there"


def on_a_branch(directory: Path, *steps: dict[str, Any], **more: Any) -> Played:
    (directory / "project").mkdir()
    conflict(directory / "project")
    kind = classified(task_type="refactor", detected_files=["a.txt"])
    return play(directory, {}, ORDER, [kind, plan(*steps), WRITE], **more)


def test_a_branch_and_a_commit_that_are_ordered_are_made(tmp_path: Path) -> None:
    played = on_a_branch(tmp_path, BRANCH, CODING, STAGE, COMMIT, sections=ALLOWED)
    assert (played.result.outcome, subject(tmp_path)) == ("done", "Say new"), played.result.reason
    assert git(tmp_path / "project", "branch", "--show-current") == "sep\n"


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ((CODING,), "no branch was made or switched to; it was not committed"),
        ((BRANCH, CODING), "it was not committed"),
    ],
)
def test_who_does_not_make_them_is_not_done(steps: tuple[dict[str, Any], ...], reason: str, tmp_path: Path) -> None:
    played = on_a_branch(tmp_path, *steps, sections=ALLOWED)
    assert (played.result.outcome, played.result.reason) == ("not_achieved", reason)
    assert played.files["a.txt"] == "new\n"


@pytest.mark.parametrize(
    ("prompt", "orders"),
    [
        (ORDER, {"branch", "commit"}),
        ("fix the parser, then commit", {"commit"}),
        ("fix it on a branch called x", {"branch"}),
        ("resolve the conflict and continue the rebase", {"continue"}),
        ("sort it out and go on", {"continue"}),
        ("fix the commit command", set()),
        ("fix what commit 12ab34 broke, don't commit", set()),
        ("the branch of the if in parse is wrong", set()),
        ("finish the merge function", set()),
        ("what does git commit do?", set()),
        ("fix transactions in db.py: commit the transaction after each insert", set()),
        ("save in db.py is wrong: it should insert the row and then commit", set()),
        ("create a new branch in save of db.py for the case of tuples", set()),
        ("fix the bug and make a commit", {"commit"}),
        ("create branch foo and fix the bug", {"branch"}),
    ],
)
def test_orders_to_git(prompt: str, orders: set[str]) -> None:
    assert ordered_of_git(prompt) == orders
