"""Which directories hold files of other places, and what a program added: real files, real links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codur.sandbox.process.disk_quota import Quota
from codur.sandbox.tripwire.linked_files import changed, linked_directories, stamps


def make(path: Path, *, linked_to: Path | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    if linked_to is not None:
        linked_to.mkdir(exist_ok=True)
        os.link(path, linked_to / str(len(list(linked_to.iterdir()))))


def test_the_smallest_directories_with_linked_files(tmp_path: Path) -> None:
    root, cache = tmp_path / "w", tmp_path / "cache"
    make(root / "node_modules" / ".pnpm" / "a" / "index.js", linked_to=cache)
    make(root / "node_modules" / ".cache" / "own")
    make(root / "packages" / "b" / "node_modules" / "direct.js", linked_to=cache)
    make(root / "environment" / "pyvenv.cfg")
    make(root / "environment" / "lib" / "c.py", linked_to=cache)
    make(root / ".venv" / "lib" / "plain.py")
    make(root / "src" / "d.py", linked_to=cache)
    found = linked_directories(root)
    assert sorted(found) == ["environment/lib", "node_modules/.pnpm", "packages/b/node_modules"]
    before = stamps(root, found)
    assert changed(before) == ()
    (root / "environment" / "lib" / "c.py").write_text("theirs")
    assert changed(before) == (str(root / "environment" / "lib" / "c.py"),)


def test_many_directories_with_linked_files_are_one(tmp_path: Path) -> None:
    for number in range(70):
        make(tmp_path / "w" / "node_modules" / str(number) / "index.js", linked_to=tmp_path / "cache")
    assert linked_directories(tmp_path / "w") == ("node_modules",)


@pytest.mark.parametrize(
    ("deep", "bound", "told"), [(0, 300, "new files (over 300)"), (60, 300, "new files (over 300)"), (0, 100_000, "")]
)
def test_what_is_new_is_counted(tmp_path: Path, deep: int, bound: int, told: str) -> None:
    """Also below paths that are longer than any path may be. Others may free files in between, so there are more."""
    quota = Quota(places=(tmp_path,), bytes=1 << 50, files=bound)
    above = os.open(tmp_path, os.O_RDONLY)
    for _ in range(deep):
        os.mkdir("d" * 100, dir_fd=above)
        inner = os.open("d" * 100, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = inner
    for number in range(10_000):
        os.close(os.open(f"new-{number}", os.O_CREAT | os.O_WRONLY, dir_fd=above))
        if quota.exceeded():
            break
    os.close(above)
    quota.exceeded(at_once=True)
    assert quota.told == told
