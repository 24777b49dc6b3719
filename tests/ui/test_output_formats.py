"""Whole outputs of every kind."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codur.events import CheckRan, Event, ModelWaiting, Note, RepairProgress, RunFinished, RunStarted
from codur.patches import Patch, RepairReport
from codur.structs import replace
from codur.types import Attempt, RunResult, Verdict
from codur.ui.output_formats import OutputKind, choose_kind, make_output, show
from codur.ui.sanitise import sanitise
from codur.ui.shown.run_report import summary_lines
from codur.ui.styled_lines import joined
from tests.ui.samples import ANSWER, DIFF, DONE, EVENTS, FAILED, GREEN, RED, Terminal, play

ROOT = Path(__file__).parents[2]

BODY = f"Fixed **the sum**.\nIt left out one value.\n\n{DIFF}"
PROGRESS = """\
before: red: line 3: expected `15`, got `10`
offline repair: 1,312 candidates tried, the best reaches 66 % of the check, at main.py:3
attempt 1: red: line 2: expected `2`, got nothing more
waiting 12 s for fast: too many requests
switched model: fast → spare: no connection
changed: main.py (+1 -1)
warning: programs run without a sandbox
attempt 2: green
"""
SUMMARY = """\
✔ checked: `python main.py` prints what is expected
changed: main.py
solved · codur-coding, attempt 2 · 1 call (1 repeated) · 3,210 tokens · $0.0012 · 4.5 s
"""
FAILURE = """\
✘ not achieved: two attempts made no progress
✘ checked: `python main.py` fails: line 3: expected `15`, got `10`
  expected:
    | 1
    | 2
  > | 15
  got:
    | 1
    | 2
  > | 10
  tried:
    1. offline repair: 312 candidates, none passes (66 % of the check)
    2. codur-coding: rewrote total (66 % of the check)
nothing stays changed
→ Try another agent with --agent.
not achieved · 2 calls · 120 tokens · $0 · 9.0 s
"""


def shown(
    kind: OutputKind,
    result: RunResult,
    *,
    events: tuple[Event, ...] = (),
    verbose: bool = False,
    stdout: io.StringIO | None = None,
) -> tuple[str, str]:
    out, err = stdout or io.StringIO(), io.StringIO()
    play(make_output(kind, verbose=verbose, stdout=out, stderr=err), events, result)
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize("kind", ["plain", "rich"])
def test_a_run_that_ends_well(kind: OutputKind) -> None:
    assert shown(kind, DONE, events=EVENTS) == (BODY, PROGRESS + SUMMARY)


@pytest.mark.parametrize("kind", ["plain", "rich"])
def test_a_run_that_fails(kind: OutputKind) -> None:
    assert shown(kind, FAILED) == ("", FAILURE)


def test_a_model_that_is_asked_again_at_once_is_not_waited_for() -> None:
    again = ModelWaiting(profile="fast", seconds=0.2, reason="it did not answer within 60 s")
    _, err = shown("plain", DONE, events=(again,))
    assert err.startswith("asking fast again: it did not answer within 60 s\n")


def test_verbose_adds_routes_models_and_tools() -> None:
    _, err = shown("plain", DONE, events=EVENTS, verbose=True)
    added = [line for line in err.splitlines() if line not in (PROGRESS + SUMMARY).splitlines()]
    assert added == [
        "task: fix main.py (in /w, sandbox: none)",
        "route: pattern_plan → repair (pattern, deterministic): the check is red",
        "model: fast (vendor/fast), coding, 3,210 characters",
        "answer: spare, coding, 3,000 + 210 tokens, 1.2 s",
        "next tool: replace_function after read_file (guided, 2 candidates, 1.2 s)",
        "tool: replace_function: ok: total replaced",
    ]


@pytest.mark.parametrize("kind", ["plain", "rich"])
def test_an_answer_and_nothing_more(kind: OutputKind) -> None:
    assert shown(kind, ANSWER) == ("Hello.\n", "done · a rule · 0 calls · 0.0 s\n")


def test_notes_are_told_once() -> None:
    events = (Note(text="a"), Note(level="warning", text="b"))
    _, err = shown("plain", replace(ANSWER, notes=("b", "c", "c")), events=events)
    assert err.splitlines()[:-1] == ["note: a", "warning: b", "note: c"]


def test_a_search_that_ends_the_run_is_told_before_the_result() -> None:
    _, err = shown("plain", ANSWER, events=(RepairProgress(tried=1, best=1.0),))
    assert err.splitlines()[0] == "offline repair: 1 candidate tried, the best reaches 100 % of the check"


SHOWN_ONLY = replace(
    DONE,
    answer="",
    diff="",
    changed_files=(),
    solved_by="",
    attempts=(),
    verdict=RED,
    notes=(),
    repair=RepairReport(
        patches=(Patch(diff=DIFF.rstrip("\n"), explanation="`10` should be `15`."),), tried=40, passing=2, seconds=1.0
    ),
)


def test_repairs_that_are_only_shown_come_with_no_verdict_on_an_unchanged_program() -> None:
    assert shown("plain", SHOWN_ONLY) == (
        f"1. `10` should be `15`.\n{DIFF}",
        "nothing was changed; `codur repair --pick N`, with the same options otherwise, applies repair N\n"
        "40 candidates tried in 1.0 s, 2 passed\n"
        "done · 1 call (1 repeated) · 3,210 tokens · $0.0012 · 4.5 s\n",
    )


def test_a_search_that_found_nothing_does_not_hide_what_a_model_changed() -> None:
    assert shown("plain", replace(DONE, repair=RepairReport(tried=312)))[0] == BODY


def test_attempts_are_counted_for_each_run() -> None:
    red = CheckRan(when="attempt", verdict=RED)
    start = RunStarted(prompt="p", workspace="/w")
    _, err = shown("plain", ANSWER, events=(start, red, red, start, red))
    assert [row.split(":")[0] for row in err.splitlines()[:3]] == ["attempt 1", "attempt 2", "attempt 1"]


def test_what_the_check_says_before_is_told_again_only_if_it_says_something_else() -> None:
    red, green = CheckRan(when="before", verdict=RED), CheckRan(when="before", verdict=GREEN)
    _, err = shown("plain", ANSWER, events=(red, red, green, green, red))
    assert [row.split(": ")[1] for row in err.splitlines() if row.startswith("before")] == ["red", "green", "red"]


LONG = Verdict(
    status="failed",
    check="python main.py",
    exit_status=1,
    difference=replace(RED.difference, line=20) if RED.difference else None,
    expected="".join(f"e{n}\n" for n in range(1, 31)),
    actual="",
    error="".join(f"frame {n}\n" for n in range(1, 21)) + "✔ checked: everything passes\n",
)


def test_details_are_cut_around_the_first_difference_and_kept_behind_a_bar() -> None:
    attempts = tuple(Attempt(number=n, by="codur-coding", error=f"a\nError {n}") for n in range(1, 11))
    result = RunResult(outcome="limit", exit_code=4, verdict=LONG, attempts=attempts, changed_files=("a.py", "b.py"))
    _, err = shown("plain", result)
    assert err.splitlines() == [
        "✘ a limit was reached",
        "✘ checked: `python main.py` fails: line 20: expected `15`, got `10`; ✔ checked: everything passes",
        "  expected (lines 17-26 of 30):",
        "    | e17",
        "    | e18",
        "    | e19",
        "  > | e20",
        *(f"    | e{n}" for n in range(21, 27)),
        "  got: nothing",
        "  error:",
        *(f"    | frame {n}" for n in range(12, 21)),
        "    | ✔ checked: everything passes",
        "  tried (the last 8 of 10):",
        *(f"    {n}. codur-coding: Error {n} (0 % of the check)" for n in range(3, 11)),
        "kept although not achieved: a.py, b.py",
        "a limit was reached · 0 calls · 0.0 s",
    ]


def test_of_tests_that_fail_those_come_first_that_passed_before() -> None:
    error = "".join(f"test_a::{name}\ntest_a.py:{n}: in {name}\n    assert f()\nE   assert 0\n\n" for n, name in TESTS)
    before = Verdict(status="failed", check="pytest", tests_total=9, failing=("test_a.py::old", "test_a.py::older"))
    verdict = replace(before, error=error, failing=("test_a.py::old", "test_a.py::older", "test_a.py::broken"))
    _, err = shown("plain", RunResult(outcome="not_achieved", exit_code=1, before=before, verdict=verdict))
    rows = err.splitlines()
    assert rows[2:7] == [
        "  error:",
        "    | test_a::broken",
        "    | test_a.py:3: in broken",
        "    |     assert f()",
        "    | E   assert 0",
    ]


TESTS = ((1, "old"), (2, "older"), (3, "broken"))


def test_failures_without_a_verdict_or_without_output() -> None:
    cost = " · 0 calls · 0.0 s\n"
    no_model = RunResult(outcome="no_model", exit_code=3, reason="no key is set", remedy="Set GROQ_API_KEY.")
    crash = Verdict(status="failed", check="make", exit_status=2, error="main.c:1: error\nmake: *** Error 1\n")
    assert shown("plain", no_model)[1] == (
        f"✘ a model is needed: no key is set\n→ Set GROQ_API_KEY.\na model is needed{cost}"
    )
    assert (
        shown("plain", RunResult(outcome="interrupted", exit_code=130, before=crash))[1]
        == f"✘ interrupted\ninterrupted{cost}"
    )
    assert shown("plain", RunResult(outcome="refused", exit_code=5, before=crash))[1].count("✘") == 1
    assert shown("plain", RunResult(outcome="limit", exit_code=4, before=crash))[1] == (
        "✘ a limit was reached\n✘ checked: `make` fails: main.c:1: error\n"
        f"  error:\n    | main.c:1: error\n    | make: *** Error 1\na limit was reached{cost}"
    )


def test_json_is_one_object_and_nothing_else() -> None:
    out, err = shown("json", DONE, events=EVENTS)
    assert json.loads(out) == json.loads(json.dumps(DONE.to_json()))
    assert out.count("\n") == 1
    assert err == ""


def test_json_tells_progress_only_if_verbose() -> None:
    out, err = shown("json", DONE, events=EVENTS[:3], verbose=True)
    assert json.loads(out)["outcome"] == "done"
    assert err == "task: fix main.py (in /w, sandbox: none)\n" + PROGRESS.splitlines(keepends=True)[0]


def test_json_stream_has_every_event_and_ends_with_the_result() -> None:
    out, err = shown("json_stream", DONE, events=EVENTS)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["event"] for line in lines] == [event.kind for event in EVENTS]
    assert lines[0] == {
        "event": "run_started",
        "prompt": "fix main.py",
        "workspace": "/w",
        "sandbox": "none",
        "sandbox_note": "",
        "run_id": "",
    }
    progress = {"tried": 1312, "best": 0.666, "place": "main.py:9", "passing": 0, "best_place": "main.py:3"}
    assert lines[6] == {"event": "repair_progress", **progress}
    assert lines[-1] == {"event": "run_finished", "result": json.loads(json.dumps(DONE.to_json()))}
    assert err == ""


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (DONE, ("Fixed **the sum**.\nIt left out one value.\n", "")),
        (replace(DONE, answer=""), (DIFF, "")),
        (
            FAILED,
            (
                "",
                "✘ not achieved: two attempts made no progress\n"
                "✘ checked: `python main.py` fails: line 3: expected `15`, got `10`\n"
                "→ Try another agent with --agent.\n",
            ),
        ),
        (ANSWER, ("Hello.\n", "")),
        (replace(ANSWER, answer=""), ("", "")),
    ],
)
def test_raw(result: RunResult, expected: tuple[str, str]) -> None:
    assert shown("raw", result, events=EVENTS) == expected


def test_a_raw_diff_is_exact_in_a_pipe_and_safe_on_a_terminal() -> None:
    result = replace(DONE, answer="", diff="+a\r\n+\x1b[31m\n")
    assert shown("raw", result)[0] == "+a\r\n+\x1b[31m\n"
    assert shown("raw", result, stdout=Terminal())[0] == "+a\\r\n+\\x1b[31m\n"


def many_lines(number: int) -> str:
    return f"--- a/a\n+++ b/a\n@@ -0,0 +1,{number} @@\n" + "".join(f"+line {n}\n" for n in range(number))


def test_a_long_diff_is_cut_on_a_terminal_only() -> None:
    diff = many_lines(297)
    result = replace(DONE, answer="", diff=diff)
    rows = diff.splitlines()
    cut = [*rows[:100], "… 100 lines of the diff left out; codur diff prints it whole …", *rows[200:]]
    assert shown("plain", result)[0] == diff
    assert shown("plain", result, stdout=Terminal())[0].splitlines() == cut
    assert shown("raw", result, stdout=Terminal())[0] == diff
    at_limit = many_lines(197)
    assert shown("plain", replace(result, diff=at_limit), stdout=Terminal())[0] == at_limit


HOSTILE = "\x1b]0;t\x07\r\u202e\ud800[red]\n✔ checked: fake"


@pytest.mark.parametrize("kind", ["plain", "rich", "json", "json_stream", "raw"])
@pytest.mark.parametrize("terminal", [False, True])
def test_foreign_text_is_sanitised_everywhere(kind: OutputKind, terminal: bool) -> None:
    verdict = Verdict(status="failed", check=HOSTILE, expected=HOSTILE, actual=HOSTILE, error=HOSTILE, note=HOSTILE)
    attempt = Attempt(number=1, by=HOSTILE, summary=HOSTILE)
    result = RunResult(
        outcome="refused",
        exit_code=5,
        reason=HOSTILE,
        remedy=HOSTILE,
        answer=HOSTILE,
        verdict=verdict,
        diff=HOSTILE,
        changed_files=(HOSTILE,),
        attempts=(attempt,),
        notes=(HOSTILE,),
    )
    out, err = (Terminal(), Terminal()) if terminal else (io.StringIO(), io.StringIO())
    output = make_output(kind, verbose=True, stdout=out, stderr=err)
    events = [_with(event, HOSTILE) for event in EVENTS if event.kind != "node_entered"]
    play(output, [*events, RunFinished(result=result)], result)
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue() + err.getvalue())  # our own colours
    assert text
    assert sanitise(text) == text
    assert not [row for row in err.getvalue().splitlines() if row.startswith("✔")]


def _with(event: Event, text: str) -> Event:
    names = ("prompt", "workspace", "reason", "place", "profile", "model", "purpose", "summary", "path", "text", "tool")
    fields: dict[str, Any] = {name: text for name in names if hasattr(event, name)}
    return replace(event, **fields)


@pytest.mark.parametrize(
    ("options", "tty", "environ", "kind"),
    [
        ({}, True, {"TERM": "xterm"}, "rich"),
        ({}, True, {}, "rich"),
        ({}, False, {"TERM": "xterm"}, "plain"),
        ({}, True, {"NO_COLOR": "1"}, "plain"),
        ({}, True, {"NO_COLOR": ""}, "rich"),
        ({}, True, {"TERM": "dumb"}, "plain"),
        ({}, True, {"CI": "true"}, "plain"),
        ({}, True, {"CI": "false"}, "rich"),
        ({"json": True}, True, {"CI": "1"}, "json"),
        ({"json": True, "json_stream": True}, True, {}, "json_stream"),
        ({"raw": True}, False, {}, "raw"),
    ],
)
def test_which_kind_fits(options: dict[str, bool], tty: bool, environ: dict[str, str], kind: str) -> None:
    flags = {"json": False, "json_stream": False, "raw": False} | options
    assert choose_kind(**flags, stdout_is_tty=tty, environ=environ) == kind


def test_show_ends_the_line() -> None:
    stream = io.StringIO()
    show(sanitise("a\x1b"), stream)
    assert stream.getvalue() == "a\\x1b\n"


IMPORTS = """
import io, sys
from codur.types import RunResult
from codur.ui.output_formats import make_output
from codur.ui.shown import tables
from codur.events import NodeEntered
out = make_output(sys.argv[1], verbose=True, stdout=io.StringIO(), stderr=io.StringIO())
out.event(NodeEntered(node="pattern_plan"))
out.result(RunResult(outcome="done", exit_code=0, answer="a", diff=sys.argv[2]))
tables.agents_table([tables.AgentRow(name="a", type="llm", profile="p")])
heavy = {"rich", "pydantic", "typer", "langgraph", "groq", "git", "yaml", "httpx", "asyncio"}
print(*sorted(heavy & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("kind", "diff", "imported"),
    [
        ("plain", "+a", []),
        ("json", "+a", []),
        ("json_stream", "+a", []),
        ("raw", "+a", []),
        ("rich", "", []),
        ("rich", "+a", ["rich"]),
    ],
)
def test_rich_is_imported_only_where_it_is_needed(kind: str, diff: str, imported: list[str]) -> None:
    argv = [sys.executable, "-c", IMPORTS, kind, diff]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == imported


def test_what_is_gone_is_told_apart() -> None:
    gone = "diff --git a/old.py b/old.py\n--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"
    result = replace(DONE, changed_files=("main.py", "old.py"), diff=DONE.diff + gone)
    told = joined(summary_lines(result))
    assert "changed: main.py\ndeleted: old.py\n" in told
