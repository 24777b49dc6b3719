"""Listing files, ignore rules and copies."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from codur.workspace.workspace import FileError, Workspace


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{path}\n")


def test_caches_and_environments_are_left_out(tmp_path: Path) -> None:
    make(
        tmp_path,
        "a.py",
        "a/b.py",
        "a-b.py",
        ".github/ci.yml",
        ".git/config",
        ".venv/x.py",
        "env/pyvenv.cfg",
        "env/lib/x.py",
        "out/CMakeCache.txt",
        "out/x.cpp",
        "a/Cargo.toml",
        "a/target/debug/x.rs",
        "target/b.py",
        "node_modules/x.js",
        "a/__pycache__/b.pyc",
        ".codur/x",
        ".pytest_cache/x",
        "bad\x1bname.py",
        ".abc.codur-1-0123456789abcdef.tmp",
    )
    (tmp_path / "inner.py").symlink_to("a.py")
    (tmp_path / "outer.py").symlink_to("/etc/passwd")
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "gone.py").symlink_to("nothing")
    os.mkfifo(tmp_path / "fifo")
    workspace = Workspace.open(tmp_path)
    assert workspace.list_files() == [
        ".github/ci.yml",
        "a-b.py",
        "a.py",
        "a/Cargo.toml",
        "a/b.py",
        "inner.py",
        "target/b.py",
    ]
    assert workspace.list_files("a") == ["a/Cargo.toml", "a/b.py"]
    assert workspace.list_files(limit=2) == [".github/ci.yml", "a-b.py"]


PATTERNS = [
    ("*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
    ("src/*.py", ["src/b.py"]),
    ("src/**/*.py", ["src/b.py", "src/deep/c.py"]),
    ("**/c.py", ["src/deep/c.py"]),
    ("src/**", ["src/b.py", "src/d.txt", "src/deep/c.py"]),
    ("./src/?.txt", ["src/d.txt"]),
    ("[ab].py", ["a.py", "src/b.py"]),
    ("../*", []),
    ("*" * 60 + "x", []),
]


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS)
def test_patterns(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    make(tmp_path, "a.py", "src/b.py", "src/deep/c.py", "src/d.txt")
    assert Workspace.open(tmp_path).list_files(pattern=pattern) == expected


def test_refused_listings(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path)
    for under in ("..", "absent"):
        with pytest.raises(FileError):
            workspace.list_files(under)
    with pytest.raises(FileError, match="longer than 300"):
        workspace.list_files(pattern="x" * 301)


def test_ignore_rules_agree_with_git(tmp_path: Path) -> None:
    """Nested files, negation, anchors, directories, odd lines: what git leaves out is left out."""
    make(
        tmp_path,
        *["a.log", "keep.log", "build/x.py", "src/build/y.py", "src/a.log", "src/b.tmp", "src/deep/c.tmp"],
        *[
            "docs/a.txt",
            "docs/b.txt",
            "docs/sub/a.txt",
            "out/x",
            "src/out/x",
            "name with space",
            "#hash",
            "ünïcode.txt",
        ],
    )
    (tmp_path / ".gitignore").write_text(
        "# comment\n*.log\n!keep.log\n/out\nbuild/\ndocs/**/a.txt\n\\#hash\nname\\ with\\ space\n!\n/\nü*.txt\n\n"
    )
    (tmp_path / "src" / ".gitignore").write_text("*.tmp\n!a.log\n")
    (tmp_path / "src" / "deep" / ".gitignore").write_text("!c.tmp\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command = ["git", "-c", "core.quotePath=false", "ls-files", "-o", "--exclude-standard"]
    listed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.splitlines()
    workspace = Workspace.open(tmp_path)
    assert workspace.list_files() == sorted(listed)
    assert "src/a.log" in listed
    assert "src/deep/c.tmp" in listed
    assert workspace.list_files("src") == [path for path in sorted(listed) if path.startswith("src/")]


def git(place: Path, *words: str) -> None:
    own = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", *own, *words], cwd=place, check=True, capture_output=True)


@pytest.mark.parametrize("where", ["top", "below", "worktree"])
def test_what_git_has_is_listed_though_a_pattern_ignores_it(where: str, tmp_path: Path) -> None:
    top = tmp_path / "repository"
    base = "packages/fast/" if where == "below" else ""
    kept = ["lib/enc.c", "lib/deep/dec.c", "made.log"]
    make(top, *(f"{base}{path}" for path in kept), f"{base}x.py", f"{base}xlib/enc.c")
    (top / base / ".gitignore").write_text("lib/\n*.log\n")
    git(top, "init", "-q")
    git(top, "add", "-f", *(f"{base}{path}" for path in kept), f"{base}x.py", f"{base}.gitignore")
    git(top, "commit", "-qm", "first")
    place = top / base
    if where == "worktree":
        place = tmp_path / "other"
        git(top, "worktree", "add", "-q", str(place))
    make(place, "lib/new.c", "lib/deep/dec.cc", "other.log", "b/lib/enc.c", "lib/enc.c.orig")

    workspace = Workspace(place)

    assert set(kept) < set(workspace.list_files())
    assert not {"lib/new.c", "lib/deep/dec.cc", "other.log", "b/lib/enc.c"} & set(workspace.list_files())
    assert not any(map(workspace.ignores, kept))
    assert all(map(workspace.ignores, ["lib/new.c", "lib/deep/dec.cc", "other.log", "b/lib/enc.c", "lib/enc.c.orig"]))


def test_so_is_what_is_only_meant_to_be_added(tmp_path: Path) -> None:
    make(tmp_path, "lib/enc.c", "lib/other.c", f"lib/{'d' * 200}/x.c", "x.py")
    (tmp_path / ".gitignore").write_text("lib/\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "x.py")
    git(tmp_path, "add", "-N", "-f", "lib/other.c", f"lib/{'d' * 200}/x.c")

    assert {"lib/other.c", f"lib/{'d' * 200}/x.c", "x.py"} <= set(Workspace(tmp_path).list_files())
    assert Workspace(tmp_path).ignores("lib/enc.c")


def test_a_git_file_that_leads_nowhere_tells_nothing(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "x.py")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / ".git").write_bytes(b"gitdir: a\0b\n")

    assert Workspace(tmp_path).list_files() == [".git", ".gitignore", "x.py"]


@pytest.mark.parametrize("index", [b"", b"DIRC\0\0\0\4\0\0\0\1lib/enc.c\0", b"\0lib/enc.c\0", None])
def test_an_index_that_cannot_be_read_tells_nothing(index: bytes | None, tmp_path: Path) -> None:
    make(tmp_path, "lib/enc.c", "x.py", ".git/HEAD")
    (tmp_path / ".gitignore").write_text("lib/\n")
    if index is None:
        os.mkfifo(tmp_path / ".git/index")
    else:
        (tmp_path / ".git/index").write_bytes(index)

    assert Workspace(tmp_path).list_files() == [".gitignore", "x.py"]


def test_a_line_that_is_no_pattern_matches_nothing(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("\\\n*.log\n")
    (tmp_path / "a.log").touch()
    assert Workspace.open(tmp_path).list_files() == [".gitignore"]


def test_an_unusable_gitignore_ignores_nothing(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b/a.py")
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "b" / ".gitignore").write_bytes(b"\xff\n" + b"*a" * 50 + b"\n")
    assert Workspace.open(tmp_path).list_files() == ["a.py", "b/.gitignore", "b/a.py"]


def test_scratch_copy(tmp_path: Path) -> None:
    root, target = tmp_path / "w", tmp_path / "copy"
    make(root, "main.py", "data/in.txt", "expected.txt", "ignored/big.txt", "ignored/asked.txt", ".git/config")
    (root / "main.py").chmod(0o755)
    (root / "link.txt").symlink_to("data/in.txt")
    (root / ".gitignore").write_text("ignored/\nexpected.txt\n")
    workspace = Workspace.open(root)
    workspace.protect(["expected.txt"])
    copy = workspace.scratch_copy(target, extra=["ignored/asked.txt", "absent.txt"])
    assert sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()) == [
        ".gitignore",
        "data/in.txt",
        "expected.txt",
        "ignored/asked.txt",
        "link.txt",
        "main.py",
    ]
    assert (target / "main.py").stat().st_mode & 0o777 == 0o755
    assert not (target / "link.txt").is_symlink()
    assert copy.is_protected("expected.txt")
    copy.write_text("main.py", "changed\n")
    assert (root / "main.py").read_text() == "main.py\n"
    assert (copy.root, copy.changed_files(), workspace.changes()) == (target.resolve(), ("main.py",), ())


def test_a_scratch_copy_has_a_size_limit(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    with (root / "large").open("wb") as stream:
        stream.truncate(300 << 20)
    with pytest.raises(FileError, match="more than 256 MiB"):
        Workspace.open(root).scratch_copy(tmp_path / "copy")


def test_links_are_told_from_files(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b/c.py")
    (tmp_path / "b" / "link.py").symlink_to("c.py")
    (tmp_path / "broken.py").symlink_to("nowhere")
    found = Workspace.open(tmp_path).find_files()
    assert (found.paths, found.links) == (["a.py", "b/c.py", "b/link.py"], {"b/link.py"})


@pytest.mark.parametrize(("limit", "expected"), [(3_000_000, (True, 1_048_583)), (1_048_578, (False, 1_048_578))])
def test_bytes_of_a_large_file_are_found_across_the_pieces_that_are_read(
    tmp_path: Path, limit: int, expected: tuple[bool, int]
) -> None:
    (tmp_path / "large.log").write_bytes(b"." * 1_048_573 + b"needle" + b"." * 4)
    workspace = Workspace.open(tmp_path)
    assert workspace.holds_bytes("large.log", re.compile(b"needle"), limit=limit) == expected
