"""Where a text that a task quotes is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.nodes.parts.quoted_text import quoted_places
from codur.workspace.workspace import Workspace

SOURCE = "def take():\n    raise ValueError('there is nothing left in stock')\n"
TOLD = ("ValueError: there is nothing left in stock", "why is there 'there is nothing left in stock'?")


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("before", ["", "it says\n\n> ", "\n" * 15_000, "| - " * 4_000 + "\n", " \n" * 7_000])
def test_a_message_is_found_after_any_number_of_empty_lines(before: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "depot.py").write_text(SOURCE)
    (tmp_path / "test_depot.py").write_text(SOURCE)
    workspace = Workspace(tmp_path)
    assert quoted_places(f"{before}{told}\n", workspace.list_files(), workspace) == "depot.py:2"
