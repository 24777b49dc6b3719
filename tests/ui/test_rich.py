"""What rich makes of it on a terminal."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codur.events import (
    AgentMessage,
    AnswerDelta,
    CheckBegan,
    CheckRan,
    Decided,
    FileChanged,
    ModelAnswered,
    ModelCalled,
    ModelWaiting,
    NodeEntered,
    RepairProgress,
    RunStarted,
    StepBegan,
    ToolRan,
)
from codur.structs import replace
from codur.types import RunResult, StepRecord, Verdict
from codur.ui.output_formats import choose_kind, make_output
from codur.ui.shown.diffs import diff_lines
from codur.ui.shown.progress_lines import Narrator, Status
from codur.ui.shown.run_report import summary_lines
from codur.ui.styled_lines import fold, line

from .samples import ANSWER, DIFF, DONE, EVENTS, FAILED, Terminal, play

ROOT = Path(__file__).parents[2]
QUIET = tuple(event for event in EVENTS if event.kind != "node_entered")
"""Events without those that start the live line, whose frames depend on time."""


def test_colours_on_a_terminal() -> None:
    out, err = Terminal(), Terminal()
    play(make_output("rich", stdout=out, stderr=err), QUIET[:3], DONE)
    assert out.getvalue() == (
        "Fixed \x1b[1mthe sum\x1b[0m.\nIt left out one value.\n\n"
        "\x1b[1m--- a/main.py\x1b[0m\n\x1b[1m+++ b/main.py\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n"
        " \x1b[94;49mdef\x1b[0m\x1b[90;49m \x1b[0m\x1b[92;49mtotal\x1b[0m\x1b[49m():\x1b[0m\n"
        "\x1b[31m-    return 10\x1b[0m\n"
        "\x1b[32m+\x1b[0m\x1b[32;49m    \x1b[0m\x1b[94;49mreturn\x1b[0m\x1b[32;49m \x1b[0m\x1b[94;49m15\x1b[0m\n"
    )
    assert err.getvalue() == (
        "\x1b[2mbefore: \x1b[0m\x1b[31mred: line 3: expected `15`, got `10`\x1b[0m\n"
        "\x1b[33mnote: \x1b[0mprograms run without a sandbox\n"
        "\x1b[32m✔ checked: \x1b[0m`python main.py` prints what is expected\n"
        "changed: main.py\n\x1b[32msolved\x1b[0m · codur-coding, attempt 2 · "
        "\x1b[2m1 call (1 repeated) · 3,210 tokens · $0.0012 · 4.5 s\x1b[0m\n"
    )


def test_who_sees_both_streams_is_told_a_reason_once() -> None:
    told = replace(FAILED, answer="There is no file x.py.", reason="There is no file x.py.")
    for err, times in ((Terminal(), 1), (io.StringIO(), 2)):
        out = Terminal()
        make_output("rich", stdout=out, stderr=err).result(told)
        assert (out.getvalue() + err.getvalue()).count("There is no file x.py.") == times


def test_no_colour_means_no_control_codes() -> None:
    out, err = Terminal(), Terminal()
    kind = choose_kind(stdout_is_tty=True, environ={"NO_COLOR": "1"})
    play(make_output(kind, verbose=True, stdout=out, stderr=err), QUIET, FAILED)
    assert "\x1b" not in out.getvalue() + err.getvalue()


def test_colour_stays_out_of_a_stream_that_is_no_terminal() -> None:
    out, err = Terminal(), io.StringIO()
    play(make_output("rich", stdout=out, stderr=err), EVENTS, DONE)
    assert "\x1b[32m" in out.getvalue()
    assert "\x1b" not in err.getvalue()


def test_foreign_markup_emoji_and_long_lines_stay_as_they_are() -> None:
    answer = "[bold]x[/bold] :smile: [link=file:///etc]y[/link] 3.14 'a' http://a.b " + "word " * 60 + "end"
    out = Terminal()
    play(
        make_output("rich", stdout=out, stderr=Terminal()),
        (),
        replace(DONE, answer=answer),
    )
    assert " ".join(out.getvalue().split("\n\n")[0].split()) == answer


def test_diff_styles_follow_the_hunks() -> None:
    diff = (
        "diff --git a/a b/a\nindex 1..2\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@ def f():\n"
        " x\n--- not a header\n+++ nor this\n @@ -1 +1 @@\n\\ No newline at end of file\n"
        "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-a\n+b\n"
    )
    assert [item.spans[0].style for item in diff_lines(diff)] == [
        *("strong", "dim", "strong", "strong", "hunk"),
        *("plain", "removed", "added", "plain", "dim"),
        *("strong", "strong", "hunk", "removed", "added"),
    ]


def test_diff_of_nothing() -> None:
    assert diff_lines("") == []


def test_of_a_new_file_the_first_lines_are_shown_on_a_terminal() -> None:
    new = "".join(f"+line {number}\n" for number in range(60))
    head = "diff --git a/{0} b/{0}\n"
    diff = (
        f"{head.format('a.py')}new file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,60 @@\n{new}"
        f"{head.format('b.py')}--- a/b.py\n+++ b/b.py\n@@ -1,0 +1,60 @@\n{new}"
    )
    shown = [item.text for item in diff_lines(diff, limit=200)]
    assert shown[4:30] == ["@@ -0,0 +1,60 @@", *(f"+line {n}" for n in range(24)), "… 36 lines more of this new file"]
    assert shown[-60:] == [f"+line {number}" for number in range(60)]
    assert len(diff_lines(diff)) == len(diff.splitlines())
    changed = f"--- a/a.sql\n+++ b/a.sql\n@@ -1,1 +1,60 @@\n--- /dev/null\n{new}"
    assert len(diff_lines(changed, limit=200)) == len(changed.splitlines())


def test_of_a_longer_check_another_is_told_as_it_begins() -> None:
    status, verdict = Status(), Verdict(status="failed", check="pytest test_a.py", tests_passed=0, tests_total=1)
    for event in (CheckBegan(check="pytest test_a.py"), CheckRan(when="before", verdict=verdict)):
        status.see(event)
    status.see(CheckBegan(check="pytest test_a.py"))
    assert status.phase == "running `pytest test_a.py` (0 of 1 passed)"
    status.see(CheckBegan(check="pytest"))
    assert status.phase == "running `pytest`"
    narrator = Narrator(verbose=False)
    first = narrator.lines(CheckRan(when="before", verdict=verdict))
    narrator.lines(RunStarted(prompt="another", workspace="/x", sandbox="none"))
    assert narrator.lines(CheckRan(when="before", verdict=verdict)) == first != []


def test_the_end_tells_all_tests_that_fail_and_whether_it_began() -> None:
    names = [f"test_m.py::test_{name}" for name in ("add_1", "add_2", "add_3", "add_4", "add")]
    error = "\n\n".join(f"{name}\nE   assert 1 == 2" for name in names)
    verdict = Verdict(status="failed", check="pytest", tests_passed=0, tests_total=5, failing=tuple(names), error=error)
    result = RunResult(outcome="usage", exit_code=2, reason="too many open files", before=verdict, verdict=verdict)
    told = [line.text for line in summary_lines(result)]
    assert told[0] == "✘ stopped: too many open files"
    assert "  also: test_m.py::test_add" in told
    assert summary_lines(replace(result, before=None))[0].text == "✘ not started: too many open files"


def test_status_words() -> None:
    status = Status()
    seen = [status.text(0.4)]
    for event in (
        NodeEntered(node="pattern_plan"),
        NodeEntered(node="own\x1bnode"),
        RepairProgress(tried=1200, best=0.5, place="main.py:3"),
        RepairProgress(tried=1201, best=1.0, place="main.py:3", passing=1),
        RepairProgress(tried=1300, best=1.0, place="main.py:3", passing=2),
        ModelCalled(profile="fast", model="m", purpose="planning", prompt_chars=1),
        ModelWaiting(profile="fast", seconds=7, reason="busy"),
        ModelAnswered(profile="fast", purpose="planning", prompt_tokens=1, completion_tokens=1, duration_s=1),
        NodeEntered(node="review"),
    ):
        status.see(event)
        seen.append(status.text(61.6))
    assert seen == [
        "starting · 0 s · 0 calls",
        "reading the request · 62 s · 0 calls",
        "own\\x1bnode · 62 s · 0 calls",
        "searching for a repair (1,200 tried, best 50 %, at main.py:3) · 62 s · 0 calls",
        "1 fix passes so far; looking for others · 62 s · 0 calls",
        "2 fixes pass so far; comparing them · 62 s · 0 calls",
        "asking fast (planning) · 62 s · 0 calls",
        "waiting 7 s for fast · 62 s · 0 calls",
        "reading the answer · 62 s · 1 call · 2 tokens · $0",
        "running the check · 62 s · 1 call · 2 tokens · $0",
    ]


def test_what_stands_above_the_line() -> None:
    status = Status()
    steps = ("read cart.py", "mend total", "say what\nwas wrong")
    status.see(StepBegan(number=2, steps=steps))
    status.see(FileChanged(path="main.py", added=1, removed=1, diff=DIFF))
    plan = ["✔ 1 read cart.py", "▸ 2 mend total", "  3 say what\\nwas wrong"]
    changed = ["@@ -1,2 +1,2 @@", " def total():", "-    return 10", "+    return 15"]
    assert [item.text for item in status.above(40)] == [*plan, *changed]
    status.see(AnswerDelta(profile="fast", purpose="explain", text="It adds."))
    assert [item.text for item in status.above(40)] == [*plan, "It adds."]
    status.see(NodeEntered(node="review"))
    status.see(
        CheckRan(when="attempt", verdict=Verdict(status="failed", check="pytest", tests_total=3, tests_passed=1))
    )
    assert [item.text for item in status.above(40)] == plan
    status.see(Decided(node="review", route="coding", origin="plan", tier="open"))
    status.see(NodeEntered(node="review"))
    assert status.text(3.0) == "running `pytest` (1 of 3 passed) · open · 3 s · 0 calls"
    status.see(StepBegan(number=20, steps=tuple(map(str, range(1, 31)))))
    assert [item.text for item in status.above(40)][::3] == ["✔ 17 17", "▸ 20 20", "  23 23"]


def test_what_a_model_does_is_told_as_it_comes() -> None:
    events = (
        Decided(node="pattern_plan", route="policy", origin="pattern", tier="deterministic"),
        ToolRan(tool="read_file", code="ok", summary="of a rule"),
        Decided(node="llm_plan", route="policy", origin="plan", tier="open"),
        ToolRan(tool="codex:shell", code="ok", summary="pytest -q"),
        AgentMessage(agent="codex", text="I look " + "again " * 40),
    )
    told = Narrator(verbose=False, works=True)
    lines = [item.text for event in events for item in told.lines(event)]
    assert lines[0] == "tool: codex:shell: ok: pytest -q"
    assert len(lines) == 2
    assert lines[1].startswith("codex: I look again")
    assert len(lines[1]) == 100
    quiet = Narrator(verbose=False)
    assert [item for event in events for item in quiet.lines(event)] == []
    whole = Narrator(verbose=True).lines(events[-1])
    assert whole[0].text == "codex: I look " + "again " * 40


def test_the_last_words_of_an_answer() -> None:
    status = Status()
    assert status.words(40) == []
    for text in ("One two three\n", "four \x1b[31mfive", "\n\nsix"):
        status.see(AnswerDelta(profile="fast", purpose="explain", text=text))
    assert status.words(9) == ["One two ", "three", "four \\x1b", "[31mfive", "", "six"]
    assert status.text(1.0) == "fast answers · 1 s · 0 calls"
    status.see(AnswerDelta(profile="fast", purpose="explain", text="x\n" * 9000))
    assert status.words(80) == ["x"] * 8
    status.see(ModelCalled(profile="fast", model="m", purpose="explain", prompt_chars=1))
    assert status.words(40) == [], "another request, another answer"


LIVE = """
import sys
from codur.events import AnswerDelta, NodeEntered
from codur.ui.output_formats import make_output
from tests.ui.samples import DONE, EVENTS, play
output = make_output("rich", stdout=sys.stdout, stderr=sys.stderr)
if sys.argv[1] == "whole":
    play(output, EVENTS, DONE)
elif sys.argv[1] == "words":
    output.event(NodeEntered(node="execute"))
    output.event(AnswerDelta(profile="fast", purpose="explain", text="It adds\\nthe numbers\x1b]0;up"))
    output.close()
else:
    for event in EVENTS[:5]:
        output.event(event)
    output.close()
    output.close()
"""


def on_a_terminal(how: str, encoding: str = "utf-8") -> str:
    reader, terminal = pty.openpty()
    environ = {"TERM": "xterm", "PYTHONIOENCODING": encoding}
    argv = [sys.executable, "-c", LIVE, how]
    with subprocess.Popen(argv, cwd=ROOT, env=environ, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        data = b""
        try:
            while chunk := os.read(reader, 65536):
                data += chunk
        except OSError:
            pass  # Linux reports the end of a terminal as an error
        os.close(reader)
    assert process.returncode == 0, data.decode()
    return data.decode(encoding).replace("\r\n", "\n")


@pytest.mark.parametrize("how", ["whole", "stopped"])
def test_the_live_line_appears_and_leaves_the_terminal_as_it_was(how: str) -> None:
    text = on_a_terminal(how)
    assert re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] searching for a repair · \\d+ s · 0 calls", text)
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1
    assert text.index("\x1b[?25l") < text.index("\x1b[?25h")
    tail = text.rsplit("\x1b[?25h", 1)[1]
    assert tail.startswith("\r\x1b[1A\x1b[2K")  # the live line is erased
    if how == "whole":
        assert tail.endswith("\x1b[2m1 call (1 repeated) · 3,210 tokens · $0.0012 · 4.5 s\x1b[0m\n")


def test_words_are_shown_above_the_live_line_and_taken_away() -> None:
    text = on_a_terminal("words")
    shown = re.search("It adds\n(?:\x1b\\[2K)?the numbers\\\\x1b\\]0;up\n.*fast answers", text)
    assert shown, repr(text)
    assert text.rsplit("\x1b[?25h", 1)[1].count("\x1b[1A\x1b[2K") == 3


def test_a_terminal_without_unicode() -> None:
    text = on_a_terminal("whole", "ascii")
    assert re.search(r"[-|/\\] searching for a repair - \d+ s - 0 calls", text)
    assert "[ok] checked: " in text
    assert "switched model: fast -> spare" in text


ANSWER_IN_MARKDOWN = """\
# What it does

`total(prices)` sums **all** of `list<int>`; __init__ and List<T> and _x_ stay, see [the page](http://a.b/c).
It is *called* once.

1. first, of which there is more to say than fits into a line of sixty columns
2. second

```python
def total(prices):
    return sum(prices)  # which is longer than what fits into sixty columns
```

<div>not lost</div>
"""


def of_model(answer: str) -> RunResult:
    return replace(DONE, answer=answer, diff="", records=())


def test_an_answer_in_markdown_is_shown_as_what_it_means() -> None:
    out = Terminal()
    play(
        make_output("rich", stdout=out, stderr=Terminal()),
        (),
        of_model(ANSWER_IN_MARKDOWN),
    )
    lines = re.sub("\x1b\\[[0-9;]*m", "", out.getvalue()).splitlines()
    assert [row for row in lines if row] == [
        "What it does",
        "total(prices) sums all of list<int>; __init__ and List<T> and _x_ stay, see the",
        "page (http://a.b/c).",
        "It is called once.",
        " 1 first, of which there is more to say than fits into a line of sixty columns",
        " 2 second",
        "    def total(prices):",
        "        return sum(prices)  # which is longer than what fits into sixty columns",
        "    <div>not lost</div>",
    ]


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        (of_model("see " + "x" * 75 + " **now**"), "see " + "x" * 75 + " **now**\n"),
        (of_model("\x1b]0;up\x07**a**"), "\\x1b]0;up\\x07a\n"),
        (replace(ANSWER, answer="# a comment of a file"), "# a comment of a file\n"),
        (
            replace(
                of_model("# of a file"),
                records=(StepRecord(step_id="s", node="tool", action="tool", origin="plan", tier="open"),),
            ),
            "# of a file\n",
        ),
    ],
    ids=["a word that is too wide", "escapes", "what a rule found", "what a tool found"],
)
def test_what_is_no_markdown_stays_as_it_is(result: RunResult, shown: str) -> None:
    out = Terminal()
    play(make_output("rich", stdout=out, stderr=Terminal()), (), result)
    assert re.sub("\x1b\\[[0-9;]*m", "", out.getvalue()) == shown


def test_lines_are_folded_between_words_only() -> None:
    told = line(("✘ checked: ", "bad"), "`python -m pytest tests/test_of_a_long_name.py` fails: 1 of 3 tests passed")
    assert [part.text for part in fold(told, 20)] == [
        "✘ checked: `python",
        "-m pytest",
        "tests/test_of_a_long_name.py`",
        "fails: 1 of 3 tests",
        "passed",
    ]
    assert [part.spans[0].style for part in fold(told, 20)] == ["bad", *["plain"] * 4]
    behind = line(("  > | ", "dim"), "one two three 世界世界 end")
    assert [part.text for part in fold(behind, 18)] == ["  > | one two", "    | three", "    | 世界世界 end"]
    assert fold(told, None) == [told]
    assert fold(line("x " * 9), 18) == [line("x " * 9)]
