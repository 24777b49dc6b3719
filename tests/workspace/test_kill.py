"""Whatever moment a run is killed at, no file is torn and an undo brings everything back."""

from __future__ import annotations

from pathlib import Path

from tests.workspace.kill_loop import kill_loop


def test_twenty_kills(tmp_path: Path) -> None:
    kills = kill_loop(tmp_path, 21)
    assert (kills.kills, kills.torn, kills.unswept, kills.not_undone, kills.git, kills.journals) == (
        21,
        0,
        0,
        0,
        0,
        0,
    ), kills.details
