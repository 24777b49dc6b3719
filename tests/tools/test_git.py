"""Git tools on real repositories, and that a hostile repository executes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codur.tools.git_config import overrides
from codur.tools.toolbox import Toolbox
from codur.types import ToolResult
from tests.tools.conftest import toolbox_on

WHO = {
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.org",
    "GIT_AUTHOR_DATE": "2024-01-02T03:04:05+00:00",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.org",
    "GIT_COMMITTER_DATE": "2024-01-02T03:04:05+00:00",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(root: Path, *arguments: str, check: bool = True) -> str:
    """Plain git, as a person runs it."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=root,
        check=check,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **WHO},
    )
    return done.stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one commit, one edit, one staged file and one new file."""
    root = tmp_path / "w"
    (root / "sub").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("one\n")
    (root / "sub" / "ü.txt").write_text("below\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first\n\nwith a body")
    (root / "a.txt").write_text("two\n")
    (root / "staged.txt").write_text("staged\n")
    git(root, "add", "staged.txt")
    (root / "new.txt").write_text("new\n")
    return root


def test_status(root: Path) -> None:
    assert toolbox_on(root).call("git_status", {}) == ToolResult(
        text="on branch main\n M a.txt\nA  staged.txt\n?? new.txt",
        data={
            "branch": "main",
            "entries": [
                {"status": " M", "path": "a.txt"},
                {"status": "A ", "path": "staged.txt"},
                {"status": "??", "path": "new.txt"},
            ],
        },
    )


def test_status_of_a_part_of_a_repository(root: Path) -> None:
    (root / "sub" / "ü.txt").write_text("edited\n")
    result = toolbox_on(root / "sub").call("git_status", {})
    assert result.text == "on branch main\n M ü.txt"


def test_status_of_a_clean_repository_and_without_a_branch(root: Path) -> None:
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "second")
    assert toolbox_on(root).call("git_status", {}).text == "on branch main\nnothing changed"
    git(root, "checkout", "-q", "--detach")
    assert toolbox_on(root).call("git_status", {}).text == "on no branch\nnothing changed"


DIFF = "diff --git a/a.txt b/a.txt\nindex 5626abf..f719efd 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"
STAGED = (
    "diff --git a/staged.txt b/staged.txt\nnew file mode 100644\nindex 0000000..19d9cc8\n--- /dev/null\n"
    "+++ b/staged.txt\n@@ -0,0 +1 @@\n+staged\n"
)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, DIFF),
        ({"path": "a.txt"}, DIFF),
        ({"path": "sub"}, "no differences"),
        ({"path": "*.txt"}, "no differences"),
        ({"staged": True}, STAGED),
        ({"revision": "HEAD"}, DIFF + STAGED),
    ],
)
def test_diff(root: Path, arguments: dict[str, object], text: str) -> None:
    assert toolbox_on(root).call("git_diff", arguments).text == text


def test_log_and_show(root: Path) -> None:
    toolbox = toolbox_on(root)
    commit = git(root, "rev-parse", "HEAD").strip()
    log = toolbox.call("git_log", {})
    assert log.text == f"{commit[:10]} 2024-01-02 Ann: first"
    assert log.data == {
        "commits": [{"hash": commit, "author": "Ann", "date": "2024-01-02T03:04:05+00:00", "subject": "first"}]
    }
    assert toolbox.call("git_log", {"path": "new.txt"}).text == "no commits yet"
    shown = toolbox.call("git_show", {"path": "a.txt"}).text
    assert shown.startswith(f"commit {commit}\nAuthor: Ann\nDate:   2024-01-02T03:04:05+00:00\n\n    first\n")
    assert shown.endswith("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "second")
    assert [item["subject"] for item in toolbox.call("git_log", {"limit": 1}).data["commits"]] == ["second"]


@pytest.mark.parametrize(
    ("name", "arguments", "code", "text"),
    [
        (
            "git_show",
            {"revision": "--output=x"},
            "invalid",
            "'--output=x' is no revision; give a commit, branch or tag such as HEAD~1",
        ),
        (
            "git_log",
            {"revision": "no-such"},
            "not_found",
            "git knows no such revision: bad revision 'no-such'",
        ),
        (
            "git_diff",
            {"path": "../x"},
            "refused",
            "'../x' is outside the workspace; name a file inside the workspace directory",
        ),
    ],
)
def test_bad_arguments(root: Path, name: str, arguments: dict[str, object], code: str, text: str) -> None:
    result = toolbox_on(root).call(name, arguments)
    assert (result.code, result.text) == (code, text)
    assert sorted(path.name for path in root.iterdir()) == [".git", "a.txt", "new.txt", "staged.txt", "sub"]


def test_an_empty_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    toolbox = toolbox_on(tmp_path)
    assert toolbox.call("git_log", {}).text == "no commits yet"
    assert toolbox.call("git_status", {}).text == "on branch No commits yet on main\nnothing changed"


def test_no_repository(toolbox: Toolbox) -> None:
    for name in ("git_status", "git_diff", "git_log", "git_show"):
        result = toolbox.call(name, {})
        assert (result.code, result.text) == (
            "not_found",
            "the workspace is not in a git repository; git init makes one",
        )


def test_without_git(root: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.tools.conftest import toolbox_on\n"
        "result = toolbox_on(Path(sys.argv[1])).call('git_status', {}); print(result.code, result.text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(root)],
        cwd=Path(__file__).parents[2],
        env={"PATH": "/nonexistent"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("failed git is not installed\n", "")


def test_a_damaged_repository(root: Path) -> None:
    (root / ".git" / "HEAD").unlink()
    result = toolbox_on(root).call("git_status", {})
    assert result.code == "failed"
    assert result.text.startswith("git cannot read this repository")


def test_reading_leaves_the_repository_as_it_was(root: Path) -> None:
    os.utime(root / "a.txt", (1, 1))  # git would write refreshed times into its index
    before = {path: path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file()}
    toolbox = toolbox_on(root)
    for name in ("git_status", "git_diff", "git_log", "git_show"):
        assert toolbox.call(name, {}).ok
    assert {path: path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file()} == before


# --- where a repository may lead --------------------------------------------------------------------------------------


def test_linked_work_trees_and_submodules_are_read(root: Path) -> None:
    git(root, "worktree", "add", "-q", "../linked")
    assert toolbox_on(root.parent / "linked").call("git_status", {}).text == "on branch linked\nnothing changed"
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "module")
    assert toolbox_on(root / "module").call("git_status", {}).text.endswith("nothing changed")


@pytest.mark.parametrize("kind", ["file", "link", "commondir"])
def test_a_repository_that_leads_elsewhere_is_refused(root: Path, tmp_path: Path, kind: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    if kind == "file":
        (other / ".git").write_text(f"gitdir: {root}/.git\n")
    elif kind == "link":
        (other / ".git").symlink_to(root / ".git")
    else:
        git(other, "init", "-q", "-b", "main")
        (other / ".git" / "commondir").write_text(f"{root}/.git\n")
    assert git(other, "log", "--format=%s") == "first\n"
    result = toolbox_on(other).call("git_log", {})
    assert (result.code, result.text) == ("refused", f"{other}/.git leads to a repository elsewhere")


def test_another_work_tree_is_not_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("secret\n")
    git(root, "config", "core.worktree", str(tmp_path / "outside"))
    assert "secret" in git(root, "diff")
    assert toolbox_on(root).call("git_diff", {}).text == DIFF


# --- hostile repositories ---------------------------------------------------------------------------------------------


def script(root: Path, body: str = "cat") -> Path:
    """A program that leaves a mark when it is executed."""
    path = root.parent / "evil.sh"
    path.write_text(f"#!/bin/sh\necho run >> {root.parent}/mark\n{body}\n")
    path.chmod(0o755)
    return path


def attributes(root: Path, text: str) -> None:
    (root / ".gitattributes").write_text(text)


def fsmonitor(root: Path) -> list[str]:
    git(root, "config", "core.fsmonitor", str(script(root, "exit 1")))
    return ["status"]


def hooks_path(root: Path) -> list[str]:
    (root / "hooks").mkdir()
    script(root).rename(root / "hooks" / "post-index-change")
    git(root, "config", "core.hooksPath", "hooks")
    os.utime(root / "sub" / "ü.txt", (1, 1))
    return ["status"]


def hook(root: Path) -> list[str]:
    (root / ".git" / "hooks").mkdir(exist_ok=True)
    script(root).rename(root / ".git" / "hooks" / "post-index-change")
    os.utime(root / "sub" / "ü.txt", (1, 1))
    return ["status"]


def filter_clean(root: Path) -> list[str]:
    attributes(root, "*.txt filter=x\n")
    git(root, "config", "filter.x.clean", str(script(root)))
    git(root, "config", "filter.x.required", "true")
    return ["diff"]


def filter_with_dots(root: Path) -> list[str]:
    attributes(root, "*.txt filter=x.Y.z\n")
    git(root, "config", "filter.x.Y.z.clean", str(script(root)))
    return ["diff"]


def filter_process(root: Path) -> list[str]:
    attributes(root, "*.txt filter=x\n")
    git(root, "config", "filter.x.process", str(script(root, "exit 1")))
    return ["diff"]


def textconv(root: Path) -> list[str]:
    attributes(root, "*.txt diff=x\n")
    git(root, "config", "diff.x.textconv", str(script(root, 'cat "$1"')))
    return ["diff"]


def diff_command(root: Path) -> list[str]:
    attributes(root, "*.txt diff=x\n")
    git(root, "config", "diff.x.command", str(script(root)))
    return ["diff"]


def diff_external(root: Path) -> list[str]:
    git(root, "config", "diff.external", str(script(root)))
    return ["diff"]


def included(root: Path) -> list[str]:
    (root / "more.config").write_text(f"[core]\n\tfsmonitor = {script(root, 'exit 1')}\n")
    git(root, "config", "include.path", "../more.config")
    return ["status"]


def included_filter(root: Path) -> list[str]:
    attributes(root, "*.txt filter=x\n")
    (root / "more.config").write_text(f'[filter "x"]\n\tclean = {script(root)}\n')
    git(root, "config", "includeIf.gitdir:/.path", str(root / "more.config"))
    return ["diff"]


def worktree_config(root: Path) -> list[str]:
    attributes(root, "*.txt filter=x\n")
    git(root, "config", "extensions.worktreeConfig", "true")
    git(root, "config", "--worktree", "filter.x.clean", str(script(root)))
    return ["diff"]


def info_attributes(root: Path) -> list[str]:
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "attributes").write_text("* filter=x\n")
    git(root, "config", "filter.x.clean", str(script(root)))
    return ["diff"]


def signature(root: Path) -> list[str]:
    seal = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = git(root, "cat-file", "commit", "HEAD").replace("\n\n", f"\n{seal}\n\n", 1)
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=root,
        input=signed,
        capture_output=True,
        text=True,
        check=True,
    )
    git(root, "reset", "-q", "--soft", made.stdout.strip())
    git(root, "config", "log.showSignature", "true")
    git(root, "config", "gpg.program", str(script(root)))
    return ["log"]


def lazy_fetch(root: Path) -> list[str]:
    """A partial clone that misses a blob: showing it makes git fetch it, by a program of the repository's choice."""
    git(root, "config", "core.repositoryFormatVersion", "1")
    git(root, "config", "extensions.partialClone", "x")
    git(root, "config", "remote.x.promisor", "true")
    git(root, "config", "remote.x.url", f"ext::{script(root, 'exit 1')}")
    git(root, "config", "protocol.ext.allow", "always")
    blob = git(root, "rev-parse", "HEAD:a.txt").strip()
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    return ["diff"]


def submodule(root: Path) -> list[str]:
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "module")
    git(root / "module", "config", "core.fsmonitor", str(script(root, "exit 1")))
    return ["status"]


VECTORS: list[Callable[[Path], list[str]]] = [
    fsmonitor,
    hooks_path,
    hook,
    filter_clean,
    filter_with_dots,
    filter_process,
    textconv,
    diff_command,
    diff_external,
    included,
    included_filter,
    worktree_config,
    info_attributes,
    signature,
    lazy_fetch,
    submodule,
]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.__name__)
def test_a_hostile_repository_executes_nothing(root: Path, vector: Callable[[Path], list[str]]) -> None:
    """The tools leave no mark; plain git, run afterwards on the same repository, does: the attack is live."""
    command = vector(root)
    mark = root.parent / "mark"
    mark.unlink(missing_ok=True)
    toolbox = toolbox_on(root)
    codes = {
        (name, str(arguments)): toolbox.call(name, arguments).code
        for name, arguments in (
            ("git_status", {}),
            ("git_diff", {}),
            ("git_diff", {"staged": True}),
            ("git_diff", {"revision": "HEAD"}),
            ("git_log", {}),
            ("git_show", {}),
        )
    }
    assert not mark.exists()
    if vector is not lazy_fetch:
        assert set(codes.values()) == {"ok"}
    git(root, *command, check=False)
    assert mark.exists()


def test_a_filter_that_is_shut_off_lets_content_through(root: Path) -> None:
    filter_clean(root)
    assert toolbox_on(root).call("git_diff", {"path": "a.txt"}).text == DIFF


def test_configuration_that_cannot_be_overridden_is_refused(root: Path) -> None:
    with (root / ".git" / "config").open("a") as stream:
        stream.write(f'[filter "a=b"]\n\tclean = {script(root)}\n')
    result = toolbox_on(root).call("git_diff", {})
    assert (result.code, result.text) == (
        "refused",
        "the repository's configuration could run programs in ways that cannot be shut off",
    )


def test_overrides() -> None:
    assert overrides(f"filter.f{number}.clean" for number in range(600)) is None
    assert overrides(["filter.a=b.clean"]) is None
    assert (
        dict(overrides(["filter.A.b.clean", "user.name", "credential.helper", "core.sshcommand"]) or ()).items()
        >= {
            "filter.A.b.clean": "",
            "credential.helper": "",
            "core.sshcommand": "false",
            "core.fsmonitor": "false",
        }.items()
    )


def test_secrets_of_the_environment_are_not_handed_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git sees only what it needs: a `GIT_*` variable of the user changes nothing."""
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(script(root)))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert toolbox_on(root).call("git_diff", {}).text == DIFF
    assert not (root.parent / "mark").exists()
