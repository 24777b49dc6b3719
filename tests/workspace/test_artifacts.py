"""Texts kept under their hash."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.errors import WorkspaceError
from codur.workspace.artifacts import ArtifactStore


@pytest.mark.parametrize("text", ["", "a\r\nb", "é\0", "\ud800"])
def test_round_trip(tmp_path: Path, text: str) -> None:
    store = ArtifactStore(tmp_path / "new" / "store")
    reference = store.put(text)
    assert store.put(text) == reference
    assert ArtifactStore(tmp_path / "new" / "store").get(reference) == text
    assert [path.name for path in (tmp_path / "new" / "store").iterdir()] == [reference]
    assert (tmp_path / "new" / "store").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "new" / "store" / reference).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("reference", ["../x", "", "0" * 64, "G" * 64])
def test_unknown_references(tmp_path: Path, reference: str) -> None:
    with pytest.raises(WorkspaceError):
        ArtifactStore(tmp_path).get(reference)


def test_damage_is_noticed(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    reference = store.put("text")
    (tmp_path / reference).write_text("other")
    with pytest.raises(WorkspaceError, match="damaged"):
        store.get(reference)


def test_a_store_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="cannot keep an output"):
        ArtifactStore(tmp_path / "file" / "store").put("x")
