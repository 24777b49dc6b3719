"""The copy that an agent gets: what does not reach it."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.agents.external.copy import copy_workspace
from codur.errors import WorkspaceError
from codur.workspace.workspace import Workspace
from tests.agents.external.kit import WRONG, fill


def test_a_link_to_a_file_of_secrets_does_not_reach_it(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    fill(root, {**WRONG, ".gitignore": ".env\n", ".env": "TOKEN=1", ".codex/config.toml": "x", "a.md": "Hello."})
    for link, target in (("notes.txt", ".env"), ("its.txt", ".codex/config.toml"), ("b.md", "a.md")):
        (root / link).symlink_to(target)

    copy = copy_workspace(Workspace.open(root), tmp_path / "work", may_instruct=lambda path, content: False)

    found = {path.name: path.read_text() for path in copy.root.iterdir()}
    assert found == {**WRONG, ".gitignore": ".env\n", "a.md": "Hello.", "b.md": "Hello."}
    assert sorted(copy.digests) == sorted(found)
    assert copy.withheld == {"notes.txt", "its.txt", ".codex/config.toml"}


def test_a_copy_of_many_directories_is_filtered_whole(tmp_path: Path) -> None:
    root = tmp_path / "project"
    for number in range(7_200):  # with what is in them more entries than a look at a copy takes in
        place = root / f"d{number:04}" / "a/b/c/d/e"
        place.mkdir(parents=True)
        (place / "x.txt").touch()
    names = ("AGENTS.md", "server.pem", ".opencode/x.json")
    for directory in ("d0000", "d4000", "d7199"):
        fill(root / directory, dict.fromkeys(names, "x"))

    copy = copy_workspace(Workspace.open(root), tmp_path / "work", may_instruct=lambda path, content: False)

    assert [path for path in copy.root.rglob("*") if path.name in {"AGENTS.md", "server.pem", ".opencode"}] == []
    assert len(copy.digests) == 7_200
    assert len(copy.withheld) == 9
    assert copy.unaccepted == ("d0000/AGENTS.md", "d4000/AGENTS.md", "d7199/AGENTS.md")


def test_more_files_than_are_copied_are_refused_with_what_to_do(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for number in range(10_001):
        (root / f"{number}.pem").touch()

    with pytest.raises(WorkspaceError, match="too many to copy") as refused:
        copy_workspace(Workspace.open(root), tmp_path / "work", may_instruct=lambda path, content: False)

    assert ".gitignore" in refused.value.remedy
