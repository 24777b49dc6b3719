"""Git tools on real repositories, and that a hostile repository executes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import SandboxSettings
from codur.sandbox.launcher import Launcher
from codur.tools.git.git_hardening import overrides
from codur.tools.git.git_repository import Repository
from codur.tools.tool import ToolError
from codur.tools.toolbox import Toolbox
from codur.types import ToolResult
from tests.adversarial.backends import AVAILABLE
from tests.tools.conftest import toolbox_on
from tests.tools.git_vectors import (
    VECTORS,
    Control,
    filter_clean,
    git,
    lazy_fetch,
    make_repository,
    mark_of,
    read_all,
    run_control,
    script,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path)


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
    missing = Repository(top=root, root=root, launcher=Launcher(os.environ), timeout_s=5.0, path="/nonexistent")
    with pytest.raises(ToolError) as caught:
        missing.call("status")
    assert (caught.value.code, caught.value.message) == ("failed", "git is not installed in /nonexistent")


@pytest.mark.parametrize("path", [".:{}", ":{}", "{}:.", "/nonexistent"])
def test_a_git_in_the_workspace_is_not_started(root: Path, path: str) -> None:
    """In a fresh process: GitPython starts git when it is imported."""
    program = (
        "import sys; from pathlib import Path; from tests.tools.conftest import toolbox_on\n"
        "result = toolbox_on(Path('.').resolve()).call('git_status', {}); print(result.code)\n"
        "import os; print('GIT_PYTHON_GIT_EXECUTABLE' in os.environ)"
    )
    for name in ("git", "env", "sh"):
        script(root, "exit 1").rename(root / name)
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env={"PATH": path.format(os.environ["PATH"]), "PYTHONPATH": str(Path(__file__).parents[3])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("ok\nFalse\n", "")
    assert not mark_of(root).exists()


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
    assert result.code == "refused"
    assert result.text.startswith(f"{other}/.git leads to a repository elsewhere; ")


def settings_of(backend: Any) -> SandboxSettings:
    return SandboxSettings(backend=backend)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Somebody's repository, whose only commit is called SECRET."""
    place = tmp_path / "other"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    git(place, "commit", "-q", "--allow-empty", "-m", "SECRET")
    return place


@pytest.mark.parametrize("name", ["objects", "refs", "packed-refs"])
def test_parts_of_a_repository_that_are_links_are_refused(root: Path, other: Path, name: str) -> None:
    git(other, "pack-refs", "--all")
    for part in {"objects", name}:
        place = root / ".git" / part
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
        place.symlink_to(other / ".git" / part)
    commit = git(other, "rev-parse", "HEAD").strip()
    assert git(root, "log", "--format=%s", commit) == "SECRET\n", "the attack is not live"
    for call in ("git_log", "git_show"):
        result = toolbox_on(root).call(call, {"revision": commit})
        assert (result.code, "is no " in result.text) == ("refused", True)


@pytest.mark.parametrize("backend", [*AVAILABLE, "none"])
def test_objects_that_are_links_are_out_of_reach(root: Path, other: Path, backend: str) -> None:
    """The directories of the objects themselves: only containment sees to these."""
    for place in (other / ".git" / "objects").iterdir():
        if len(place.name) == 2:
            shutil.rmtree(root / ".git" / "objects" / place.name, ignore_errors=True)
            (root / ".git" / "objects" / place.name).symlink_to(place)
    commit = git(other, "rev-parse", "HEAD").strip()
    result = toolbox_on(root, sandbox=settings_of(backend)).call("git_show", {"revision": commit})
    assert ("SECRET" in result.text) == (backend == "none")


def test_another_repository_as_a_store_of_objects_is_refused_by_name(root: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--shared", str(root), "shared")
    result = toolbox_on(tmp_path / "shared").call("git_log", {})
    assert result.code == "refused"
    assert "objects/info/alternates names another repository" in result.text
    assert "git repack -a -d" in result.text


@pytest.mark.parametrize("backend", [*AVAILABLE, "none"])
def test_a_work_tree_linked_to_nothing_of_its_own_is_refused(root: Path, other: Path, backend: str) -> None:
    """A directory that looks like a linked work tree's, in the workspace itself, and names another repository."""
    shutil.rmtree(root / ".git")
    shutil.copytree(other / ".git", root / "fake")
    (root / "fake" / "commondir").write_text(f"{other}/.git\n")
    (root / "fake" / "gitdir").write_text(f"{root}/.git\n")
    (root / ".git").write_text(f"gitdir: {root}/fake\n")
    assert git(root, "log", "--format=%s") == "SECRET\n", "the attack is not live"
    result = toolbox_on(root, sandbox=settings_of(backend)).call("git_log", {})
    assert result.code == "refused"
    assert result.text.startswith(f"{root}/.git leads to a repository elsewhere; ")


def test_a_setting_that_names_a_file_shows_nothing_of_it(root: Path) -> None:
    (root / ".env").write_text("SECRET=1\n")
    git(root, "config", "blame.ignoreRevsFile", ".env")
    with pytest.raises(subprocess.CalledProcessError) as live:
        git(root, "blame", "a.txt")
    assert "SECRET" in live.value.stderr, "the attack is not live"
    result = toolbox_on(root).call("git_blame", {"path": "a.txt"})
    assert (result.code, result.text) == ("refused", "blame.ignoreRevsFile names a file that is no list of commits")
    (root / ".env").write_text(f"{git(root, 'rev-parse', 'HEAD')}")
    assert toolbox_on(root).call("git_blame", {"path": "a.txt"}).ok


def test_names_of_people_come_from_no_file_elsewhere(root: Path, tmp_path: Path) -> None:
    (tmp_path / "names").write_text("SECRET <ann@example.org>\n")
    git(root, "config", "mailmap.file", str(tmp_path / "names"))
    assert "SECRET" in git(root, "blame", "sub/ü.txt"), "the attack is not live"
    assert "SECRET" not in toolbox_on(root).call("git_blame", {"path": "sub/ü.txt"}).text


@pytest.mark.parametrize("name", ["index", "config", "HEAD"])
def test_a_pipe_in_place_of_a_file_is_refused(root: Path, name: str) -> None:
    (root / ".git" / name).unlink()
    os.mkfifo(root / ".git" / name)
    for call in ("git_status", "git_log"):
        result = toolbox_on(root).call(call, {})
        assert (result.code, result.text) == (
            "refused",
            f"{root}/.git/{name} is no file of the repository; git is not started with it",
        )


def test_git_that_waits_is_stopped(root: Path) -> None:
    (root / ".git" / "refs" / "heads" / "main").unlink()
    os.mkfifo(root / ".git" / "refs" / "heads" / "main")
    result = toolbox_on(root, timeout_s=1.0).call("git_log", {})
    assert (result.code, result.text) == ("timeout", "git ran longer than 1 s")


def test_steps_at_the_same_time(root: Path) -> None:
    toolbox = toolbox_on(root)
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda _: toolbox.call("git_status", {}), range(16)))
    assert {result.code for result in results} == {"ok"}


def test_another_work_tree_is_not_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("secret\n")
    git(root, "config", "core.worktree", str(tmp_path / "outside"))
    assert "secret" in git(root, "diff")
    assert toolbox_on(root).call("git_diff", {}).text == DIFF


# --- hostile repositories ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.__name__)
def test_a_hostile_repository_executes_nothing(root: Path, vector: Callable[[Path], Control]) -> None:
    """The tools leave no mark; plain git, run afterwards on the same repository, does: the attack is live."""
    control = vector(root)
    mark_of(root).unlink(missing_ok=True)
    codes = set(read_all(root, control).values())
    assert not mark_of(root).exists()
    assert run_control(root, control), "the attack is not live"
    if vector is not lazy_fetch:
        assert codes == ({"refused"} if control.refused else {"ok"})


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
