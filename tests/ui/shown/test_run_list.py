"""Runs that are kept, in words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import to_builtins

from codur.events import (
    CheckRan,
    Decided,
    Event,
    ModelAnswered,
    ModelCalled,
    NodeEntered,
    Note,
    RunStarted,
    ToolRan,
)
from codur.store.run_record import RunRecord, RunSummary
from codur.structs import replace
from codur.types import Difference, RunResult, Verdict
from codur.ui.shown.run_list import KeptRun, age, run_text, runs_table

NOW = datetime(2026, 11, 21, 4, 43, tzinfo=UTC)
RUN = RunRecord(
    id="20261121-0443-k7q",
    prompt="fix main.py\nnow \x1b[31mred",
    workspace="/w/project",
    started="2026-11-21T04:40:00.000+00:00",
    status="finished",
    summary=RunSummary(outcome="not_achieved", verdict="failed", model_calls=2, cost_usd=0.002),
)
FAILED = Verdict(status="failed", check="python main.py", difference=Difference(line=1, expected="2", actual="3"))


@pytest.mark.parametrize(
    ("started", "shown"),
    [
        ("2026-11-21T04:42:50+00:00", "10 s"),
        ("2026-11-21T04:40:00+00:00", "3 min"),
        ("2026-11-21T01:40:00+00:00", "3 h"),
        ("2026-11-01T04:40:00+00:00", "20 d"),
        ("2026-11-21T05:00:00+00:00", "0 s"),
        ("2026-11-21T04:40:00", "-"),
        ("yesterday", "-"),
    ],
)
def test_how_long_ago(started: str, shown: str) -> None:
    assert age(started, NOW) == shown


def test_the_list() -> None:
    rows = runs_table([RUN], now=NOW, undone={}, workspaces=True).split("\n")
    assert rows[0].split() == ["run", "age", "outcome", "check", "calls", "cost", "task", "directory"]
    assert rows[2].split()[:7] == ["20261121-0443-k7q", "3", "min", "not", "achieved", "failed", "2"]
    assert rows[2].endswith("/w/project")
    assert "\x1b" not in rows[2]


def test_what_a_run_did() -> None:
    events: list[Event] = [
        RunStarted(prompt="fix", workspace="/w", sandbox="landlock"),
        NodeEntered(node="policy"),
        Decided(node="policy", route="coding", origin="plan", tier="open", reason="because"),
        NodeEntered(node="coding"),
        ModelCalled(profile="fast", model="m", purpose="edit", prompt_chars=10),
        ModelAnswered(profile="fast", purpose="edit", prompt_tokens=1000, completion_tokens=10, duration_s=1.0),
        ToolRan(tool="read_file", code="ok"),
        CheckRan(when="attempt", verdict=FAILED),
        Note(text="note \x1b]0;title\x07"),
    ]
    trace = [{"at": number / 2, "event": event.kind, **to_builtins(event)} for number, event in enumerate(events)]
    unknown: list[dict[str, Any]] = [
        {"event": "from the future", "at": 1.0},
        {"event": "decided"},
        {"event": "check_ran", "verdict": 3},
        {},
    ]
    result = RunResult(
        outcome="not_achieved", exit_code=1, reason="it stayed red", verdict=FAILED, diff="", model_calls=2
    )
    text = run_text(KeptRun(record=RUN, trace=[*trace, *unknown], result=to_builtins(result)))
    assert text.split("\n")[5:15] == [
        "",
        "├─ policy → coding · open · 1.0 s",
        "└─ coding 1 call · 1,010 tokens · $0 · 2.5 s",
        "      model: fast (m), edit, 10 characters",
        "      answer: fast, edit, 1,000 + 10 tokens, 1.0 s",
        "      tool: read_file: ok",
        "      attempt 1: red: line 1: expected `2`, got `3`",
        "      note: note \\x1b]0;title\\x07",
        "",
        "✘ not achieved: it stayed red",
    ]
    assert "\x1b" not in text
    whole = run_text(KeptRun(record=RUN, trace=trace, result=to_builtins(result)), verbose=True).split("\n")
    assert whole[6:9] == [
        "task: fix (in /w, sandbox: landlock)",
        "├─ policy → coding · open · 1.0 s",
        "│     route: policy → coding (plan, open): because",
    ]
    narrow = run_text(KeptRun(record=RUN, trace=trace, result=to_builtins(result)), width=40)
    assert max(map(len, narrow.split("\n"))) <= 40


def test_a_run_that_was_cut_off_says_how_to_go_on() -> None:
    cut = replace(RUN, prompt="fix", status="crashed", task={"prompt": "fix"})
    assert run_text(KeptRun(record=cut, trace=[], result=None)).endswith(f"→ codur resume {RUN.id}")
