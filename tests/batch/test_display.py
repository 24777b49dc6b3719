"""How a batch is shown: lines, the live table, the table at the end."""

from __future__ import annotations

import io
import os
import pty
import re
from contextlib import suppress
from pathlib import Path

from codur.batch.challenge_directory import Challenge
from codur.batch.work import Work
from codur.structs import replace
from codur.ui.batch_live import LiveDisplay
from codur.ui.shown.batch_progress import LineDisplay, Progress, batch_table
from codur.ui.stream import SafeStream
from tests.batch.report_kit import failed, solved

SOLVED = solved("sums", seconds=0.42)
BY_MODEL = solved(
    "世界",
    solved_by="codur-coding",
    tier="pre_plan",
    calls=2,
    tokens=1_234,
    cost_usd=0.01,
    seconds=8.0,
)
FAILED = failed("hard\x1b[2J\nx", calls=1, seconds=9.0, reason="a limit\nx")


def work(number: int, name: str) -> Work:
    """A piece of work."""
    return Work(number=number, challenge=Challenge(name=name, directory=Path(name)), agent="", attempt=1, file=name)


def test_lines_say_how_far_it_is_and_what_came_of_each() -> None:
    stream = io.StringIO()
    display = LineDisplay(SafeStream(stream))
    display.begins(189, [SOLVED] * 11, "")
    display.finished(work(3, "sums"), SOLVED)
    display.finished(work(4, "hard"), FAILED)
    assert stream.getvalue().splitlines() == [
        "[  12/200] solved  sums                      repair    0 calls  0.4 s",
        "[  13/200] failed  hard\\x1b[2J\\nx            -         1 call  9.0 s  a limit\\nx",
    ]


def test_the_table_at_the_end_has_totals_and_no_escapes() -> None:
    assert batch_table([SOLVED, BY_MODEL, FAILED]).splitlines() == [
        "challenge       result  solved by                calls  tokens     cost  seconds  note",
        "--------------  ------  -----------------------  -----  ------  -------  -------  ----------",
        "sums            solved  offline repair               0       0       $0      0.4",
        "世界            solved  codur-coding (pre_plan)      2   1,234  $0.0100      8.0",
        "hard\\x1b[2J\\nx  failed                               1       0       $0      9.0  a limit\\nx",
        "--------------  ------  -----------------------  -----  ------  -------  -------  ----------",
        "2 of 3 solved           1 without a model            3   1,234  $0.0100     17.4",
    ]
    assert batch_table([SOLVED, FAILED], wall_s=5.06).splitlines()[-1].endswith("  5.1 (sum 9.4)")


def test_agents_and_attempts_have_columns_where_there_are_several() -> None:
    rows = [replace(SOLVED, agent="a"), replace(SOLVED, agent="b", attempt=2)]
    head, _, *body = batch_table(rows).splitlines()
    assert head.split()[:4] == ["challenge", "agent", "attempt", "result"]
    assert [line.split()[:3] for line in body[:2]] == [["sums", "a", "1"], ["sums", "b", "2"]]
    assert "agent" not in batch_table([SOLVED])


def test_progress_knows_what_is_left() -> None:
    progress = Progress(4, [SOLVED])
    assert progress.left_s() is None
    assert progress.line().text == "1 solved of 1 done, 4 in all; 0 calls, $0"
    progress.done.add(BY_MODEL)
    progress.done.add(FAILED)
    assert progress.left_s() is not None
    told, _, left = progress.line().text.partition("; about ")
    assert told == "2 solved of 3 done, 4 in all; 3 calls, $0.0100"
    assert left.endswith(" s left")


def read(terminal: int) -> str:
    """All that a terminal shows, which its other end has left."""
    shown = b""
    with suppress(OSError):  # the end, on Linux
        while more := os.read(terminal, 1 << 16):
            shown += more
    os.close(terminal)
    return shown.decode()


def test_the_live_table_shows_what_runs_and_goes_away() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        display = LiveDisplay(SafeStream(terminal))
        display.begins(3, [], "")
        asks, again = work(0, "sums\x1b[2J"), work(1, "again")
        display.started(asks)
        display.started(again)
        display.phase(asks, "asking", 2)
        display.again(again)
        display.finished(work(2, "sums"), SOLVED)
        display.started(work(2, "late"))
        live = display._live
        assert live is not None
        live.refresh()
        display.close()
    shown = re.sub(r"\x1b\[[0-9;]*m", "", read(ours))  # its colours
    assert re.search(r"sums\\x1b\[2J  \d+ s  asking a model, 2 calls", shown)
    assert "1 solved of 1 done, 3 in all" in shown
    assert "[ 1/3] solved  sums" in shown
    assert "\x1b[2J" not in shown
