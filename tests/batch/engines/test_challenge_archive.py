"""A directory on its way to another machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.batch.engines.challenge_archive import pack, unpack
from tests.runs.kit import fill


def test_equal_files_make_equal_archives_at_any_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = fill(tmp_path / "given", {"main.py": "print(1)\n", "part/data.txt": "1\n", "results": "left out\n"})
    first = pack(given, leave_out="results")
    monkeypatch.setattr("time.time", lambda: 4e9)
    assert pack(given, leave_out="results") == first
    unpack(first, tmp_path / "there")
    assert sorted(path.name for path in (tmp_path / "there").rglob("*")) == ["data.txt", "main.py", "part"]
