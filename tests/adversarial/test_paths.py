"""A01 to A11 and A17: no way leads out of a workspace, and no race does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adversarial.paths import CASES, gained, make_place, naive, race


@pytest.mark.parametrize("name", CASES)
def test_a01_a11_no_way_out(name: str, tmp_path: Path) -> None:
    assert gained(name, make_place(tmp_path)) == ""


@pytest.mark.parametrize(
    "name",
    [
        "read ../",
        "read a link to a file",
        "read through a linked directory",
        "read through a chain of links",
        "read a sibling with the same beginning",
    ],
)
def test_control_a_plain_open_gets_out(name: str, tmp_path: Path) -> None:
    assert naive(name, make_place(tmp_path)) == "canary-outside\n"


def test_a08_no_race_leads_out(tmp_path: Path) -> None:
    for directory in ("guarded", "plain"):
        (tmp_path / directory).mkdir()
    found = race(make_place(tmp_path / "guarded"), 300)
    assert (found.leaks, found.outside) == (0, 0)
    assert found.reads
    assert found.writes
    plain = race(make_place(tmp_path / "plain"), 50_000, guarded=False)
    assert plain.leaks
    assert plain.outside
