"""Results, events and streams that several tests use."""

from __future__ import annotations

import io
from collections.abc import Iterable

from codur.events import (
    CheckRan,
    Decided,
    Event,
    FileChanged,
    ModelAnswered,
    ModelCalled,
    ModelSwitched,
    ModelWaiting,
    NodeEntered,
    Note,
    RepairProgress,
    RunFinished,
    RunStarted,
    ToolChosen,
    ToolRan,
)
from codur.structs import replace
from codur.types import Attempt, Difference, RouteStep, RunResult, StepRecord, Usage, Verdict
from codur.ui.output_formats import Output

COMMAND = "python main.py"
RED = Verdict(
    status="failed",
    check=COMMAND,
    exit_status=0,
    difference=Difference(line=3, expected="15", actual="10"),
    expected="1\n2\n15\n",
    actual="1\n2\n10\n",
    progress=2 / 3,
)
GREEN = Verdict(status="passed", check=COMMAND, exit_status=0, expected="1\n2\n15\n", actual="1\n2\n15\n", progress=1.0)
DIFF = "--- a/main.py\n+++ b/main.py\n@@ -1,2 +1,2 @@\n def total():\n-    return 10\n+    return 15\n"
BY_REPAIR = Attempt(number=1, by="repair", summary="312 candidates, none passes", progress=2 / 3)

DONE = RunResult(
    outcome="done",
    exit_code=0,
    answer="Fixed **the sum**.\nIt left out one value.",
    task_type="code_fix",
    workspace="/w",
    before=RED,
    verdict=GREEN,
    solved_by="codur-coding",
    iterations=2,
    model_calls=1,
    usage=Usage(calls=1, retries=1, prompt_tokens=3000, completion_tokens=210, cost_usd=0.0012),
    duration_s=4.5,
    changed_files=("main.py",),
    diff=DIFF,
    attempts=(BY_REPAIR,),
    records=(StepRecord(step_id="s1", node="coding", action="coding", origin="plan", tier="open"),),
    route=(RouteStep(node="pattern_plan", route="repair", origin="pattern", tier="deterministic", reason="red"),),
    notes=("programs run without a sandbox",),
)
FAILED = RunResult(
    outcome="not_achieved",
    exit_code=1,
    reason="two attempts made no progress",
    remedy="Try another agent with --agent.",
    before=RED,
    verdict=RED,
    model_calls=2,
    usage=Usage(calls=2, prompt_tokens=100, completion_tokens=20),
    duration_s=9.04,
    attempts=(BY_REPAIR, Attempt(number=2, by="codur-coding", summary="rewrote total", progress=2 / 3)),
)
ANSWER = RunResult(outcome="done", exit_code=0, answer="Hello.", solved_by="pattern", duration_s=0.02)

EVENTS: tuple[Event, ...] = (
    RunStarted(prompt="fix main.py", workspace="/w"),
    NodeEntered(node="pattern_plan"),
    CheckRan(when="before", verdict=RED),
    Decided(node="pattern_plan", route="repair", origin="pattern", tier="deterministic", reason="the check is red"),
    NodeEntered(node="repair"),
    RepairProgress(tried=10, best=0.3),
    RepairProgress(tried=1312, best=0.666, place="main.py:9", best_place="main.py:3"),
    CheckRan(when="attempt", verdict=replace(RED, difference=Difference(line=2, expected="2", actual=None))),
    NodeEntered(node="coding"),
    ModelCalled(profile="fast", model="vendor/fast", purpose="coding", prompt_chars=3210),
    ModelWaiting(profile="fast", seconds=12.4, reason="too many requests"),
    ModelSwitched(from_profile="fast", to_profile="spare", reason="no connection"),
    ModelAnswered(profile="spare", purpose="coding", prompt_tokens=3000, completion_tokens=210, duration_s=1.25),
    ToolChosen(
        after="read_file",
        tier="guided",
        candidates=("find_usages", "replace_function"),
        choice="replace_function",
        duration_s=1.25,
    ),
    ToolRan(tool="replace_function", code="ok", summary="total replaced"),
    FileChanged(path="main.py", added=1, removed=1),
    Note(level="warning", text="programs run without a sandbox"),
    CheckRan(when="attempt", verdict=GREEN),
    RunFinished(result=DONE),
)


class Terminal(io.StringIO):
    """A text stream that calls itself a terminal."""

    def isatty(self) -> bool:
        return True


def play(output: Output, events: Iterable[Event], result: RunResult) -> None:
    """Show a whole run."""
    for event in events:
        output.event(event)
    output.result(result)
    output.close()
