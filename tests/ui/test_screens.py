"""Whole screens at several widths, as a real terminal gets them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from codur.ui.styled_lines import cells
from tests.support.terminal import Terminal

ROOT = Path(__file__).parents[2]
SCREENS = ROOT / "tests" / "data" / "screens"
WIDTHS = (20, 60, 80, 120, 200)
SCREEN = """
import sys, os
from datetime import UTC, datetime
from codur.ui.output_formats import choose_kind, make_output, show
from codur.ui.shown.run_list import runs_table
from codur.structs import replace
from tests.ui.samples import DONE, EVENTS, FAILED, play
from tests.ui.shown.test_run_list import NOW, RUN
from tests.ui.test_rich import ANSWER_IN_MARKDOWN
quiet = tuple(event for event in EVENTS if event.kind != "node_entered")
kind = choose_kind(stdout_is_tty=True, environ=os.environ)
output = lambda: make_output(kind, stdout=sys.stdout, stderr=sys.stderr)
play(output(), quiet, replace(DONE, answer=ANSWER_IN_MARKDOWN, records=(), explanation="`10` should be `15`."))
play(output(), (), FAILED)
width = os.get_terminal_size().columns
show(runs_table([RUN, RUN], now=NOW, undone={RUN.id: "all"}, width=width if kind == "rich" else 0), sys.stdout)
"""
NAMES = ("switched", "20261121-0443-k7q", "codur-coding", "total(prices):", "programs")
"""Words of the screen that a terminal would break where they stand at its edge."""


def screen(columns: int, **variables: str) -> str:
    """What is shown on a terminal of that width, as text."""
    environ = {"PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8", **variables}
    with Terminal([sys.executable, "-c", SCREEN], cwd=ROOT, environ=environ, columns=columns) as terminal:
        assert terminal.ended() == 0, terminal.text
        return terminal.text


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_screen(columns: int) -> None:
    shown = screen(columns)
    # To renew: write what is shown to the file.
    assert shown == (SCREENS / f"{columns}.txt").read_text()
    assert all(name in shown for name in NAMES)


@pytest.mark.parametrize("columns", WIDTHS)
def test_only_code_and_words_are_wider_than_the_terminal(columns: int) -> None:
    rows = (SCREENS / f"{columns}.txt").read_text().splitlines()
    wide = [row for row in rows if cells(row) > columns and len(row.split()) > 1]
    assert all(row.startswith(("    ", "`total(prices)`", "It is *", "1. ", "# ")) for row in wide), wide


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_plain_terminal_gets_no_control_codes(variables: dict[str, str]) -> None:
    environ = {"PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8", **variables}
    with Terminal([sys.executable, "-c", SCREEN], cwd=ROOT, environ=environ, columns=60) as terminal:
        assert terminal.ended() == 0, terminal.text
        assert b"\x1b" not in terminal.bytes
        assert "solved · codur-coding, attempt 2 · " in terminal.text


def test_a_terminal_of_ascii_alone() -> None:
    shown = screen(60, PYTHONIOENCODING="ascii")
    assert shown.isascii()
    assert "[ok] checked: " in shown
    assert "solved - codur-coding, attempt 2 - " in shown
