"""What a program did to protected files is noticed and undone, and nothing else is touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codur.errors import CodurError
from codur.sandbox.tripwire.tripwire import Tripwire
from tests.cli.kit import bound_by_permissions


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    for name in (".git/hooks", ".git/info", ".git/objects", ".git/modules/sub/hooks", ".vscode/deep"):
        (path / name).mkdir(parents=True)
    for name, content in {
        ".git/config": "[core]\n",
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/index": "index",
        ".git/hooks/commit-msg": "#!/bin/sh\n",
        ".git/info/exclude": "x\n",
        ".git/modules/sub/config": "[core]\n",
        ".vscode/tasks.json": "{}",
        ".vscode/deep/more.json": "{}",
        ".envrc": "export A=1\n",
        "main.py": "print(1)\n",
    }.items():
        (path / name).write_text(content)
    (path / ".git/hooks/commit-msg").chmod(0o755)
    (path / ".claude").symlink_to("../elsewhere")
    return path


@pytest.fixture
def quarantine(tmp_path: Path) -> Path:
    return tmp_path / "state" / "quarantine"


def tree(root: Path) -> dict[str, tuple[int, bytes]]:
    """Kind, permissions and content of everything."""

    def walk(directory: Path) -> Iterator[Path]:
        for path in directory.iterdir():
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from walk(path)

    return {
        str(path.relative_to(root)): (
            path.lstat().st_mode,
            os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b"",
        )
        for path in walk(root)
    }


def move_git(root: Path) -> None:
    (root / ".git").rename(root / "old")
    shutil.copytree(root / "old", root / ".git")
    (root / ".git/config").write_text("evil")


def hide_git(root: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / ".git").rename(root / "a/b/c")
    (root / ".git").symlink_to("a/b/c")
    (root / "a/b/c/config").write_text("evil")


def replace_hooks(root: Path) -> None:
    shutil.rmtree(root / ".git/hooks")
    (root / ".git/hooks").symlink_to(root.parent)


def cover_hook(root: Path) -> None:
    (root / ".git/hooks/pre-commit").write_text("evil")
    (root / ".git/hooks").chmod(0)


def turn_link(root: Path) -> None:
    (root / ".claude").unlink()
    (root / ".claude").symlink_to("/etc")


def fill_in(root: Path) -> None:
    (root / ".envrc").unlink()
    (root / ".envrc").mkdir()
    (root / ".envrc/x").write_text("")


def same_times(root: Path) -> None:
    path = root / ".git/config"
    before = path.stat()
    path.write_text("[kore]\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, tuple[Callable[[Path], object], set[str]]] = {
    "a file": (lambda root: (root / ".envrc").write_text("evil"), {".envrc"}),
    "a file with its times put back": (same_times, {".git/config"}),
    "a file in a directory": (
        lambda root: (root / ".vscode/deep/more.json").write_text("evil"),
        {".vscode/deep/more.json"},
    ),
    "a file taken away": (lambda root: (root / ".envrc").unlink(), {".envrc"}),
    "permissions": (lambda root: (root / ".git/hooks/commit-msg").chmod(0o644), {".git/hooks/commit-msg"}),
    "a directory taken away": (
        lambda root: shutil.rmtree(root / ".vscode"),
        {".vscode", ".vscode/tasks.json", ".vscode/deep", ".vscode/deep/more.json"},
    ),
    "a new hook": (lambda root: (root / ".git/hooks/pre-commit").write_text("evil"), {".git/hooks/pre-commit"}),
    "a new hook that is covered": (cover_hook, {".git/hooks"} | ({".git/hooks/pre-commit"})),
    "a submodule's hook": (
        lambda root: (root / ".git/modules/sub/hooks/pre-commit").write_text("evil"),
        {".git/modules/sub/hooks/pre-commit"},
    ),
    "a new file": (lambda root: (root / ".mcp.json").write_text("evil"), {".mcp.json"}),
    "a new directory": (lambda root: (root / ".codur/deep").mkdir(parents=True), {".codur"}),
    "a new link": (lambda root: (root / ".husky").symlink_to("/etc"), {".husky"}),
    "a new pipe": (lambda root: os.mkfifo(root / ".gitmodules"), {".gitmodules"}),
    "a link that leads elsewhere": (turn_link, {".claude"}),
    "a directory in place of a file": (fill_in, {".envrc"}),
    "a link in place of a directory": (replace_hooks, {".git/hooks", ".git/hooks/commit-msg"}),
    "the repository exchanged": (move_git, {".git"}),
    "the repository moved and changed": (hide_git, {".git", ".git/config"}),
}


@pytest.mark.parametrize("keep", [True, False], ids=["quarantine", "no quarantine"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_told_and_undone(name: str, keep: bool, root: Path, quarantine: Path) -> None:
    change, expected = CHANGES[name]
    before = tree(root)
    tripwire = Tripwire(root, quarantine if keep else None)
    tripwire.arm()
    change(root)
    assert tree(root) != before
    tripped = set(tripwire.settle())
    if os.geteuid() == 0:
        # Root sees what is covered at once.
        assert tripped == expected
    assert tripped
    after = {path: entry for path, entry in tree(root).items() if path not in ("a", "a/b")}
    assert after == before


def test_new_things_are_kept_in_quarantine_as_they_were(root: Path, quarantine: Path) -> None:
    tripwire = Tripwire(root, quarantine)
    for number in (1, 2):
        tripwire.arm()
        (root / ".mcp.json").write_text(f"evil {number}")
        (root / ".codur").symlink_to("/etc/passwd")
        tripwire.settle()
    kept = sorted(quarantine.iterdir())
    assert len(kept) == 4
    assert {path.read_text() for path in kept if not path.is_symlink()} == {"evil 1", "evil 2"}
    assert all(str(path.readlink()) == "/etc/passwd" for path in kept if path.is_symlink())
    assert quarantine.stat().st_mode & 0o077 == 0


def test_a_quarantine_on_another_file_system_works(root: Path) -> None:
    if not os.access("/dev/shm", os.W_OK) or Path("/dev/shm").stat().st_dev == root.stat().st_dev:
        pytest.skip("there is no other file system to write to")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        tripwire = Tripwire(root, Path(other) / "quarantine")
        tripwire.arm()
        (root / ".codur/deep").mkdir(parents=True)
        (root / ".codur/deep/settings.yaml").write_text("evil")
        (root / ".codur/deep").chmod(0o500)
        os.mkfifo(root / ".husky")
        assert set(tripwire.settle()) >= {".codur", ".husky"}
        assert not os.path.lexists(root / ".codur")
        assert not os.path.lexists(root / ".husky")
        assert [path.read_text() for path in Path(other).rglob("settings.yaml")] == ["evil"]


def test_what_is_not_protected_is_left_alone(root: Path, quarantine: Path) -> None:
    tripwire = Tripwire(root, quarantine)
    tripwire.arm()
    (root / "main.py").write_text("print(2)\n")
    (root / ".git/index").write_text("new index")
    (root / ".git/objects/aa").mkdir()
    (root / "hooks").mkdir()
    (root / "HEAD").touch()
    before = tree(root)
    assert tripwire.settle() == ()
    assert tree(root) == before
    assert not quarantine.exists()


def test_an_empty_workspace_is_left_alone(tmp_path: Path) -> None:
    tripwire = Tripwire(tmp_path, None)
    tripwire.arm()
    assert tripwire.settle() == ()


def test_a_lost_repository_is_told_but_not_half_made(root: Path) -> None:
    tripwire = Tripwire(root, None)
    tripwire.arm()
    shutil.rmtree(root / ".git")
    assert ".git" in tripwire.settle()
    assert not (root / ".git").exists()


@pytest.mark.parametrize("keep", [True, False], ids=["quarantine", "no quarantine"])
def test_a_flood_of_new_files_is_taken_away(keep: bool, root: Path, quarantine: Path) -> None:
    before = tree(root)
    tripwire = Tripwire(root, quarantine if keep else None)
    tripwire.arm()
    for number in range(6000):
        (root / ".vscode" / f"{number}.json").touch()
        (root / f"new {number}/.git").mkdir(parents=True)
    (root / ".claude2").mkdir()
    deep = os.open(root / ".claude2", os.O_RDONLY)
    for _ in range(700):
        os.mkdir("deeper", dir_fd=deep)
        deep, above = os.open("deeper", os.O_RDONLY, dir_fd=deep), deep
        os.close(above)
    os.mkdir(".git", dir_fd=deep)
    os.close(deep)
    told = tripwire.settle()
    assert told[-1] == f"{12_001 - 50} more"
    assert {path: entry for path, entry in tree(root).items() if not path.startswith("new ")} == before
    assert not [path for path in tree(root) if path.endswith(".git") and path != ".git"]


def test_a_workspace_that_is_gone_is_told(root: Path) -> None:
    tripwire = Tripwire(root, None)
    tripwire.arm()
    shutil.rmtree(root)
    assert ".git" in tripwire.settle()


def test_links_are_not_followed_out_of_the_workspace(root: Path, quarantine: Path) -> None:
    elsewhere = root.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "tasks.json").write_text("of someone else")
    tripwire = Tripwire(root, quarantine)
    tripwire.arm()
    shutil.rmtree(root / ".vscode")
    (root / ".vscode").symlink_to(elsewhere)
    (elsewhere / "more.json").write_text("also")
    assert ".vscode" in tripwire.settle()
    assert sorted(path.name for path in elsewhere.iterdir()) == ["more.json", "tasks.json"]
    assert (elsewhere / "tasks.json").read_text() == "of someone else"
    assert (root / ".vscode/tasks.json").read_text() == "{}"


def test_what_cannot_be_undone_is_an_error(root: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x")
    tripwire = Tripwire(root, blocked / "quarantine")
    tripwire.arm()
    (root / ".mcp.json").write_text("evil")
    with pytest.raises(CodurError, match="could be put back") as caught:
        tripwire.settle()
    assert str(root) in caught.value.remedy


def test_permissions_do_not_stop_it(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from codur.sandbox.tripwire.tripwire import Tripwire\n"
        "root = Path(sys.argv[1])\n"
        "(root / '.git/hooks').mkdir(parents=True)\n"
        "(root / '.git/config').write_text('as before')\n"
        "tripwire = Tripwire(root, root.parent / 'quarantine')\n"
        "tripwire.arm()\n"
        "(root / '.git/hooks/pre-commit').write_text('evil')\n"
        "(root / '.git/hooks').chmod(0)\n"
        "(root / 'closed').mkdir()\n"
        "(root / '.git').rename(root / 'closed/git')\n"
        "(root / 'closed').chmod(0)\n"
        "(root / '.husky/deep').mkdir(parents=True)\n"
        "(root / '.husky/deep').chmod(0)\n"
        "(root / '.husky').chmod(0)\n"
        "print(*tripwire.settle())\n"
    )
    root = tmp_path / "project"
    root.mkdir()
    done = subprocess.run(
        [*bound_by_permissions(), sys.executable, "-c", script, str(root)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert {".git", ".git/hooks/pre-commit", ".husky"} <= set(done.stdout.split())
    assert (root / ".git/config").read_text() == "as before"
    assert list((root / ".git/hooks").iterdir()) == []
    assert not (root / ".husky").exists()


def test_what_a_back_end_keeps_is_the_users_to_change(root: Path, quarantine: Path) -> None:
    repository(root / "deep/sub/.git")
    (root / "deep/.claude").symlink_to("../elsewhere")
    tripwire = Tripwire(root, quarantine)
    tripwire.arm(keeps=True)
    assert {".envrc", ".vscode", "deep/sub/.git"} <= set(tripwire.kept)
    assert "deep/.claude" not in tripwire.kept
    (root / ".envrc").write_text("export A=2\n")
    (root / ".vscode" / "new.json").write_text("{}")
    (root / ".idea").mkdir()
    (root / "deep/sub/.git/hooks/pre-commit").write_text("mine")
    (root / "deep/.claude").unlink()
    (root / "deep/.claude").symlink_to("/etc")
    assert tripwire.settle() == (".idea", "deep/.claude")
    assert (root / ".envrc").read_text() == "export A=2\n"
    assert (root / ".vscode" / "new.json").exists()
    assert not (root / ".idea").exists()
    assert (root / "deep/sub/.git/hooks/pre-commit").exists()


def test_the_present_version_goes_to_quarantine(root: Path, quarantine: Path) -> None:
    tripwire = Tripwire(root, quarantine)
    tripwire.arm()
    (root / ".envrc").write_text("mine\n")
    assert tripwire.settle() == (".envrc",)
    assert (root / ".envrc").read_text() == "export A=1\n"
    assert [path.read_text() for path in quarantine.iterdir()] == ["mine\n"]


def repository(place: Path) -> None:
    """As git makes it, as far as it counts here."""
    for name in ("hooks", "objects", "refs", "info"):
        (place / name).mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/main\n")
    (place / "config").write_text("[core]\n")


@pytest.mark.parametrize("place", ["deep/sub/.git", "deep/fixture"])
def test_a_repository_in_a_subdirectory_is_watched(place: str, root: Path) -> None:
    repository(root / place)
    tripwire = Tripwire(root, None)
    tripwire.arm()
    (root / place / "config").write_text("[core]\nfsmonitor = evil\n")
    (root / place / "hooks/pre-commit").write_text("evil")
    (root / place / "index").write_text("git's own")
    (root / place / "HEAD").write_text("ref: refs/heads/other\n")
    (root / place / "objects/aa").mkdir()
    assert tripwire.settle() == (f"{place}/config", f"{place}/hooks/pre-commit")
    assert (root / place / "config").read_text() == "[core]\n"
    assert not (root / place / "hooks/pre-commit").exists()


def swap_above(root: Path) -> None:
    (root / "deep/sub").rename(root / "old")
    repository(root / "deep/sub/.git")


def swap_by_a_link(root: Path) -> None:
    repository(root.parent / "elsewhere/.git")
    (root.parent / "elsewhere/.git/config").write_text("of someone else")
    (root / "deep/sub").rename(root / "old")
    (root / "deep/sub").symlink_to(root.parent / "elsewhere")


def swap_within(root: Path) -> None:
    (root / "deep/sub/.git").rename(root / "deep/sub/git")
    repository(root / "deep/sub/.git")


def swap_around(root: Path) -> None:
    (root / "deep/sub/.git").rename(root / "git")
    repository(root / "deep/sub/.git")
    (root / "git").rename(root / "deep/sub/.git/inner")


def move_away(root: Path) -> None:
    (root / "deep").rename(root / "old")


@pytest.mark.parametrize("swap", [swap_above, swap_by_a_link, swap_within, swap_around, move_away])
@pytest.mark.parametrize("keeps", [True, False])
def test_a_repository_that_is_exchanged_comes_back(keeps: bool, swap: Callable[[Path], None], root: Path) -> None:
    if keeps and swap in (swap_within, swap_around):
        pytest.skip("a mount there forbids it")
    repository(root / "deep/sub/.git")
    before = tree(root / "deep/sub/.git")
    inode = (root / "deep/sub/.git").stat().st_ino
    tripwire = Tripwire(root, None)
    tripwire.arm(keeps=keeps)
    swap(root)
    elsewhere = tree(root.parent / "elsewhere") if swap is swap_by_a_link else {}
    assert tripwire.settle() == ("deep/sub/.git",)
    assert tree(root / "deep/sub/.git") == before
    assert (root / "deep/sub/.git").stat().st_ino == inode
    assert not (root / "deep/sub").is_symlink()
    assert not elsewhere or tree(root.parent / "elsewhere") == elsewhere
    assert tripwire.settle() == ()


@pytest.mark.parametrize("there", ["", "HEAD config", "objects config refs", "HEAD config objects"])
@pytest.mark.parametrize("parts", ["HEAD config objects refs", "HEAD commondir config hooks"])
def test_a_directory_becomes_no_repository(parts: str, there: str, root: Path, quarantine: Path) -> None:
    for name in there.split():
        (root / "sub" / name).parent.mkdir(exist_ok=True)
        (root / "sub" / name).touch()
    (root / "main").mkdir()
    before = tree(root)
    tripwire = Tripwire(root, quarantine)
    tripwire.arm()
    for name in parts.split():
        (root / "sub").mkdir(exist_ok=True)
        (root / "sub" / name).touch()
    (root / "sub/kept").touch()
    told = set(tripwire.settle())
    assert told == {f"sub/{name}" for name in set(parts.split()) - set(there.split())}
    assert {path for path in tree(root) if path not in ("sub", "sub/kept")} == before.keys() - {"sub"}


@pytest.mark.parametrize("name", [".git", ".envrc", ".vscode", ".GIT"])
def test_a_protected_name_does_not_appear_at_any_depth(name: str, root: Path, quarantine: Path) -> None:
    (root / "node_modules/x").mkdir(parents=True)
    (root / "a/b").mkdir(parents=True)
    tripwire = Tripwire(root, quarantine)
    for place in ("a/b", "node_modules/x", "a/new/deep", "a"):
        tripwire.arm()
        (root / place / name).mkdir(parents=True)
        (root / place / name / "x").touch()
        (root / place).chmod(0o500)
        assert tripwire.settle() == (f"{place}/{name}",)
        assert (root / place).is_dir()
        assert not (root / place / name).exists()
        assert tripwire.settle() == ()
    assert len(list(quarantine.iterdir())) == 4


def test_a_planted_spare_name_does_not_stop_it(root: Path) -> None:
    tripwire = Tripwire(root, None)
    tripwire.arm()
    for pid in range(os.getpid() - 50, os.getpid() + 50):
        (root / ".git" / f".config.codur-{pid}-0.tmp").write_text("planted")
    (root / ".git/config").write_text("evil")
    assert tripwire.settle() == (".git/config",)
    assert (root / ".git/config").read_text() == "[core]\n"
