"""Staging and committing: off until allowed, and nothing that a repository names is executed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codur.config.settings import ToolSettings
from codur.structs import replace
from codur.tools.toolbox import Toolbox
from tests.tools.conftest import toolbox_on
from tests.tools.git_vectors import VECTORS, Control, git, make_repository, mark_of, script

ALLOWED = ToolSettings(allow_git_write=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(tmp_path)
    git(root, "config", "user.name", "Ann")
    git(root, "config", "user.email", "ann@example.org")
    return root


def writer(root: Path, **environ: str) -> Toolbox:
    toolbox = toolbox_on(root, ALLOWED)
    return Toolbox(replace(toolbox._context, environ=environ))


def test_stage_and_commit(root: Path) -> None:
    (root / "sub" / "ü.txt").unlink()
    toolbox = writer(root)
    staged = toolbox.call("git_stage_files", {"paths": ["a.txt", "sub/ü.txt", "new.txt"]})
    assert (staged.code, staged.text) == ("ok", "staged a.txt\nstaged new.txt\nstaged sub/ü.txt")
    result = toolbox.call("git_commit", {"message": "second\n\n# not a comment\nBody"})
    commit = result.data["commits"][0]
    assert result.text == f"committed {commit['hash'][:10]}: second"
    assert git(root, "log", "-1", "--format=%an <%ae>%n%B").strip() == (
        "Ann <ann@example.org>\nsecond\n\n# not a comment\nBody"
    )
    assert git(root, "status", "--porcelain") == ""
    again = toolbox.call("git_commit", {"message": "third"})
    assert (again.code, again.text) == ("no_match", "nothing is staged; stage files first")


def test_writes_are_off_until_allowed(root: Path) -> None:
    before = (git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain"))
    for name, arguments in (("git_stage_files", {"paths": ["a.txt"]}), ("git_commit", {"message": "x"})):
        result = toolbox_on(root).call(name, arguments)
        assert (result.code, result.text) == ("refused", f"{name} needs tools.allow_git_write, which is off")
        off = toolbox_on(root, ToolSettings(allow_git_write=True, allow_write=False)).call(name, arguments)
        assert off.code == "refused"
    assert (git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain")) == before


@pytest.mark.parametrize(
    ("name", "arguments", "code", "text"),
    [
        ("git_stage_files", {"paths": []}, "invalid", "give 1 to 1000 files"),
        ("git_stage_files", {"paths": ["a.txt", "no"]}, "not_found", "there is no file no, and git knows none"),
        ("git_stage_files", {"paths": ["sub"]}, "not_a_file", "sub is a directory; name its files"),
        (
            "git_stage_files",
            {"paths": ["../x"]},
            "refused",
            "'../x' is outside the workspace; name a file inside the workspace directory",
        ),
        ("git_commit", {"message": " "}, "invalid", "message must not be empty"),
    ],
)
def test_bad_arguments(root: Path, name: str, arguments: dict[str, object], code: str, text: str) -> None:
    before = git(root, "status", "--porcelain")
    result = writer(root).call(name, arguments)
    assert (result.code, result.text) == (code, text)
    assert git(root, "status", "--porcelain") == before


def test_who_commits(tmp_path: Path) -> None:
    """The user's own settings say it if the repository does not; without them nothing is committed."""
    root = make_repository(tmp_path)
    nobody = writer(root).call("git_commit", {"message": "x"})
    assert (nobody.code, nobody.text) == (
        "refused",
        "git does not know who commits; set user.name with git config",
    )
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f"[user]\n\tname = Bo\n\temail = bo@example.org\n[core]\n\thooksPath = {script(root).parent}\n"
    )
    assert writer(root, HOME=str(home)).call("git_commit", {"message": "x"}).ok
    assert git(root, "log", "-1", "--format=%an <%ae>") == "Bo <bo@example.org>\n"
    (root / "a.txt").write_text("another\n")
    author = {f"GIT_{who}_{what}": f"{who} {what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    mine = writer(root, HOME=str(tmp_path / "none"), **author)
    assert mine.call("git_stage_files", {"paths": ["a.txt"]}).ok
    assert mine.call("git_commit", {"message": "y"}).ok
    assert git(root, "log", "-1", "--format=%an <%ae> %cn") == "AUTHOR NAME <AUTHOR EMAIL> COMMITTER NAME\n"


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.__name__)
def test_a_hostile_repository_executes_nothing(root: Path, vector: Callable[[Path], Control]) -> None:
    control = vector(root)
    mark_of(root).unlink(missing_ok=True)
    toolbox = writer(root / control.directory)
    toolbox.call("git_stage_files", {"paths": ["a.txt"]})
    toolbox.call("git_commit", {"message": "x"})
    toolbox.call("git_switch", {"branch": "x", "new": True})
    toolbox.call("git_switch", {"branch": "main"})
    git(root, "-c", "core.fsmonitor=false", "update-ref", "MERGE_HEAD", "HEAD", check=False)
    toolbox.call("git_continue", {})
    toolbox.call("git_blame", {"path": "a.txt"})
    assert not mark_of(root).exists()


def hook_before(root: Path) -> tuple[str, ...]:
    script(root, "exit 0").rename(root / ".git" / "hooks" / "pre-commit")
    return ("commit", "-q", "-m", "x")


def hook_after(root: Path) -> tuple[str, ...]:
    script(root, "exit 0").rename(root / ".git" / "hooks" / "post-commit")
    return ("commit", "-q", "-m", "x")


def hook_message(root: Path) -> tuple[str, ...]:
    script(root, "exit 0").rename(root / ".git" / "hooks" / "prepare-commit-msg")
    return ("commit", "-q", "-m", "x")


def signer(root: Path) -> tuple[str, ...]:
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "gpg.program", str(script(root, "exit 0")))
    return ("commit", "-q", "-m", "x")


def clean_filter(root: Path) -> tuple[str, ...]:
    git(root, "config", "filter.evil.clean", str(script(root)))
    (root / ".gitattributes").write_text("*.txt filter=evil\n")
    return ("add", "a.txt")


def hooks_elsewhere(root: Path) -> tuple[str, ...]:
    (root / "hooks").mkdir()
    script(root, "exit 0").rename(root / "hooks" / "pre-commit")
    git(root, "config", "core.hooksPath", "hooks")
    return ("commit", "-q", "-m", "x")


@pytest.mark.parametrize("attack", [hook_before, hook_after, hook_message, hooks_elsewhere, signer, clean_filter])
def test_what_plain_git_would_start_when_it_writes(root: Path, attack: Callable[[Path], tuple[str, ...]]) -> None:
    command = attack(root)
    mark_of(root).unlink(missing_ok=True)
    toolbox = writer(root)
    staged = toolbox.call("git_stage_files", {"paths": ["a.txt"]})
    if attack is clean_filter:
        told = "a.txt goes through the filter evil, which would run a program; stage it yourself"
        assert (staged.code, staged.text) == ("refused", told)
    assert toolbox.call("git_commit", {"message": "x"}).ok
    assert not mark_of(root).exists()

    (root / "a.txt").write_text("three\n")
    git(root, *(["add", "new.txt"] if attack is not clean_filter else ["status"]))
    git(root, *command, check=False)
    assert mark_of(root).exists(), "the attack is not live"


def test_blame(root: Path) -> None:
    git(root, "commit", "-q", "-m", "second")
    result = toolbox_on(root).call("git_blame", {"path": "sub/ü.txt"})
    first = git(root, "rev-parse", "HEAD~1").strip()
    assert result.text == f"{first[:10]} 2024-01-02 Ann 1: below"
    assert result.data["lines"][0]["commit"] == {
        "hash": first,
        "author": "Ann",
        "date": "2024-01-02",
        "subject": "first",
    }
    changed = toolbox_on(root).call("git_blame", {"path": "a.txt", "start_line": 1, "end_line": 1}).text
    assert changed.startswith("0000000000 ")
    assert changed.endswith(" Not Committed Yet 1: two")
    assert toolbox_on(root).call("git_blame", {"path": "a.txt", "revision": "HEAD"}).text.endswith("Ann 1: one")
    assert toolbox_on(root).call("git_blame", {"path": "a.txt", "start_line": 5}).code == "failed"
    assert toolbox_on(root).call("git_blame", {"path": "none.txt"}).code == "failed"
