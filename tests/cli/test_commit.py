"""`codur commit` and `codur run --commit`: what is committed, in which words, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.kit import Ran, codur, codur_here, the_object
from tests.runs.kit import REPAIRABLE, fill
from tests.tools.git_vectors import git


@pytest.fixture
def repository(project: Path) -> Path:
    """A repository with a program that is repaired without a model, and work of the user's own."""
    fill(project, {**REPAIRABLE, "notes.txt": "milk\n", ".gitignore": "__pycache__\n"})
    git(project, "init", "-q", "-b", "main")
    git(project, "config", "user.name", "Ann")
    git(project, "config", "user.email", "ann@example.org")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    (project / "notes.txt").write_text("milk, eggs\n")
    return project


def commit(project: Path, home: Path, *words: str) -> Ran:
    return codur_here("commit", *words, cwd=project, home=home)


def test_a_fix_is_committed_and_what_was_dirty_before_is_not(repository: Path, home: Path) -> None:
    ran = codur("fix main.py", "--offline", cwd=repository, home=home)
    assert ran.code == 0, ran.err
    shown = commit(repository, home, "--dry-run")
    assert "would be committed: main.py" in shown.out
    assert git(repository, "log", "--format=%s").strip() == "first"
    git(repository, "config", "--unset", "user.email")
    unknown = commit(repository, home)
    assert (unknown.code, "git does not know who commits" in unknown.err) == (2, True)
    assert "git config user.name" in unknown.err
    git(repository, "config", "user.email", "ann@example.org")
    done = commit(repository, home)
    assert done.code == 0, done.err
    assert "fix main.py" in done.out
    said = git(repository, "log", "-1", "--format=%an%n%B")
    assert said.startswith("Ann\nfix main.py\n\n`range(start, end)`")
    assert "Checked: " in said
    assert git(repository, "show", "--format=", "--name-only", "HEAD").split() == ["main.py"]
    assert git(repository, "status", "--porcelain") == " M notes.txt\n"
    again = commit(repository, home)
    assert (again.code, "the last commit has all of it already" in again.err) == (2, True)
    assert codur_here("undo", cwd=repository, home=home).code == 0
    assert (repository / "main.py").read_text() == REPAIRABLE["main.py"]
    back = commit(repository, home)
    assert (back.code, "was put back" in back.err, "--redo" in back.err) == (2, True, True)


def test_a_run_that_commits_itself(repository: Path, home: Path) -> None:
    ran = codur("fix main.py", "--offline", "--commit", "--json", cwd=repository, home=home)
    value = the_object(ran.out)
    assert (ran.code, value["exit_code"]) == (0, 0), ran.err
    head = git(repository, "rev-parse", "HEAD").strip()
    assert value["notes"][-1].startswith(f"committed {head[:10]}: fix main.py")
    told = json.loads(codur_here("commit", "-m", "again", "--dry-run", "--json", cwd=repository, home=home).out)
    assert (told["message"], told["files"], told["left"], told["commit"]) == ("again", ["main.py"], [], None)


def test_without_a_repository_nothing_is_begun(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    ran = codur_here("fix main.py", "--offline", "--commit", cwd=project, home=home)
    assert (ran.code, ran.out) == (2, "")
    assert "not in a git repository" in ran.err
    assert "git init" in ran.err
    assert (project / "main.py").read_text() == REPAIRABLE["main.py"]
    assert commit(project, home).code == 2
    assert codur_here("fix main.py", "--commit", "--dry-run", cwd=project, home=home).code == 2
