"""Files as earlier versions wrote them are read, and what is written has their form: `tests/data/records`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from codur.batch.results.challenge_record import ChallengeResult, RouteEntry, result_from
from codur.batch.results.results_directory import read_results
from codur.events import (
    AgentMessage,
    Asked,
    CheckRan,
    Event,
    ModelChosen,
    ModelPrompted,
    PlanShown,
    TestMade,
)
from codur.patches import Distinction, Patch, RepairReport, RepairRequest
from codur.questions import Answer, PlanEffects, Question
from codur.session.record.codec import decode, encode
from codur.session.record.steps import Kept, Marks, StepLog, read_steps
from codur.session.record.trace import Trace
from codur.store.blobs import BlobStore
from codur.store.run_record import RunRecord, RunSummary
from codur.store.run_records import RunDirectory
from codur.structs import replace
from codur.types import (
    Attempt,
    BestAttempt,
    Check,
    Difference,
    Discovery,
    Limits,
    Plan,
    RouteStep,
    RunResult,
    ScopeRules,
    ScopeViolation,
    Step,
    StepRecord,
    Task,
    Usage,
    Verdict,
)
from codur.ui.shown.run_list import KeptRun, run_text
from codur.workspace.disk.path_state import PathState
from codur.workspace.history.journal import Entry, Journal
from tests.ui.samples import DONE, EVENTS, RED

DATA = Path(__file__).parents[2] / "data" / "records"
ID = "20261123-0950-abc"
PASSING = frozenset({"at", "crc"})
"""What differs from record to record."""

SINCE = {
    "Task": {"earlier", "may_edit_tests", "places", "made", "given"},
    "Check": {"suite", "sample_s", "left_out", "parses", "ran_without", "runs", "may_differ", "of_linter", "within_s"},
    "Discovery": {"edits_tests", "adds_tests", "rest_may_fail"},
    "StepRecord": {"said"},
    "RunResult": {"command", "made_test"},
    "Verdict": {"by_new_tests"},
    "RepairRequest": {"until"},
    "RepairReport": {"suspects", "compared"},
    "PlanEffects": {"tests"},
    "steps.jsonl": {"part_mark", "apart", "harmless_mark", "first_mark", "lost"},
    "file_changed": {"diff"},
    "model_answered": {"text"},
}
"""What kinds of values hold today that these do not."""

BESIDE = Check(kind="tests", argv=("{python}", "-m", "pytest"), source="the project's own", tests=("t.py::a",))
CHECK = Check(
    kind="command",
    argv=("sh", "-c", "make test"),
    source="--check",
    env=(("A", "1"), ("B", "")),
    protected=("Makefile",),
    timeout_s=2.5,
    beside=BESIDE,
)
PLAN = Plan(
    steps=(
        Step(id="1", action="tool", capability="write_file", arguments={"path": "a", "lines": [1, {"$type": "x"}]}),
        Step(id="2", action="respond", inputs=("1",), arguments={"text": "odd \udc80"}, tier="open", place="p.yaml:3"),
    ),
    origin="user",
    asks=True,
)
EFFECTS = PlanEffects(kinds=("write", "run"), files=("a",), commands=("make",), check="make test", most_calls=2)
TASK = Task(
    prompt="fix it",
    workspace="/w",
    limits=Limits(max_llm_calls=3, max_runtime_s=60.5),
    repair=RepairRequest(files=("a.py",), pick=2),
    plan=PLAN,
    scope=ScopeRules(allow=("*.py",), max_files=2),
    agent="codur-coding",
)
REPAIR = RepairReport(
    patches=(
        Patch(diff="-a\n+b\n", explanation="too few", operators=("bounds",)),
        Patch(diff="-a\n+c\n", explanation="other", distinction=Distinction(input="1", first="2", other="!KeyError")),
    ),
    chosen=0,
    chosen_by="rank",
    tier="guided",
    tried=10,
    passing=2,
    best_progress=1.0,
)
UPDATES: list[dict[str, Any]] = [
    {
        "route": "repair",
        "discovery": Discovery(task_type="code_fix", confidence=0.75, files=("a.py",), check=CHECK),
        "before": RED,
        "trail": [RouteStep(node="pattern_plan", route="repair", origin="pattern", tier="deterministic")],
        "plan": PLAN,
    },
    {
        "repair": REPAIR,
        "patched": ("ref1", "ref2"),
        "question": Question(kind="approval", plan=PLAN, effects=EFFECTS, renews=False),
        "answer": Answer(decision="edit", text="so", plan=PLAN, keep=True),
        "failures": {"edit": RED, "$odd": RED},
        "attempts": [Attempt(number=1, by="repair", progress=0.5)],
        "records": [StepRecord(step_id="1", node="repair", action="repair", origin="repair", tier="guided", held=True)],
        "violations": [ScopeViolation(path="x", change="made", reverted=False)],
        "usage": Usage(calls=1, cost_usd=0.25),
        "outcome": None,
    },
]

RESULT = RunResult(
    **{name: getattr(DONE, name) for name in ("answer", "workspace", "before", "verdict", "attempts", "records")},
    outcome="not_achieved",
    exit_code=1,
    repair=REPAIR,
    best=BestAttempt(number=1, by="repair", progress=0.5, kept=True),
    usage=Usage(calls=2, prompt_tokens=7, completion_tokens=1),
    duration_s=4.5,
    changed_files=("main.py", "odd \udc80"),
    scope_violations=(ScopeViolation(path="x", change="made"),),
    notes=("a note",),
)
EVENTS_KEPT: tuple[Event, ...] = (
    *EVENTS[:-1],
    Asked(question=Question(kind="approval", plan=PLAN, effects=EFFECTS)),
    PlanShown(plan=PLAN, effects=EFFECTS),
    TestMade(path="t.py", text="def test_a():\n    assert a()\n", failure="AssertionError"),
    CheckRan(
        when="before", verdict=Verdict(status="no_check", difference=Difference(line=1, expected=None, actual=""))
    ),
    ModelPrompted(profile="fast", model="m", purpose="edit", text="system: \udc80"),
    ModelChosen(profile="", model="", reason="none"),
    AgentMessage(agent="cli", text="working"),
    EVENTS[-1],
)
RECORD = RunRecord(
    id=ID,
    prompt="fix it",
    workspace="/w",
    started="2026-11-23T09:50:00.000+00:00",
    pid=7,
    process="7 1",
    version="1.0",
    sandbox="landlock",
    task=encode(TASK),
    resumed=1,
    graph="abc",
    status="interrupted",
    summary=RunSummary(outcome="not_achieved", exit_code=1, verdict="failed", cost_usd=0.5, changed_files=("main.py",)),
)
RESULTS = [
    ChallengeResult(
        name="a",
        directory="/x/a",
        key="k",
        status="solved",
        tier="retry",
        retries=2,
        changed_files=("a.py", "odd \udc80"),
        notes=("n",),
        route=(RouteEntry(node="review", route="end", origin="retry", tier="open"),),
        seconds=1.5,
        tokens=12,
    ),
    ChallengeResult(name="b", directory="/x/b", agent="cli", attempt=2, key="l", status="limit", reason="time"),
]


def write_all(run: RunDirectory) -> None:
    """All that is kept of a run, as this version writes it."""
    run.path.mkdir(parents=True)
    run.write_record(RECORD)
    run.write_result(RESULT.to_json())
    steps = StepLog(run.steps, redact=str, part=0, kept=Kept())
    steps.spent(Usage(calls=1), 1.0)
    for number, update in enumerate(UPDATES):
        marks = Marks(best_mark="0.1", best_progress=0.5)
        steps.step("repair", update, usage=Usage(calls=number, cost_usd=0.1), used_s=2.25, marks=marks)  # type: ignore[arg-type]
    steps.close()
    trace = Trace(lambda _: None, lambda text: text, run.trace)  # type: ignore[arg-type]
    for event in EVENTS_KEPT:
        trace(event)
    trace.close()


FILE = PathState(kind="file", content="ab" * 32, mode=0o644, stamp="1-2-3")
OTHER = PathState(kind="file", content="cd" * 32)
CHANGES = [
    Entry(path="a.py", by="tool", before=FILE, after=replace(OTHER, mode=0o600), confirmed=True),
    Entry(
        path="d/odd \udc80",
        by="command",
        before=None,
        after=PathState(kind="link", target="x"),
        confirmed=True,
        directories=("d",),
    ),
    Entry(path="b.py", by="restore", before=PathState(kind="other"), after=None, confirmed=True),
    Entry(path="a.py", by="undo", before=None, after=FILE),
]


def write_journal(path: Path) -> None:
    """A journal with a line of each kind, as this version writes it."""
    journal = Journal(path, BlobStore(path.with_name("blobs")))
    journal.start(Path("/w"))
    journal.mark("start")
    journal.announce(replace(CHANGES[0], after=OTHER, confirmed=False))
    journal.confirm(0, CHANGES[0].after)
    journal.program(running=True)
    journal.record([replace(CHANGES[1], confirmed=False)])
    journal.program(running=False)
    journal.mark("0.1")
    journal.announce(replace(CHANGES[2], confirmed=False))
    journal.confirm(2, None)
    journal.begin_undo()
    journal.announce(CHANGES[3])
    journal.end_undo()
    journal.close()


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """A run that an earlier version kept."""
    shutil.copytree(DATA / ID, tmp_path / ID)
    return RunDirectory(tmp_path / ID)


def assert_holds(now: Any, before: Any) -> None:
    """Whether all that a form of before told is told now, in the same way, and nothing more but `SINCE`."""
    if isinstance(before, dict):
        assert before.keys() <= now.keys()
        assert now.keys() - before.keys() == SINCE.get(_kind(before), set())
        for name in before.keys() - PASSING:
            assert_holds(now[name], before[name])
    elif isinstance(before, list):
        assert len(now) == len(before)
        for one, other in zip(now, before, strict=True):
            assert_holds(one, other)
    else:
        assert now == before


def _kind(value: dict[str, Any]) -> str:
    """The class of a value or the name of an event; what is in an event is plain."""
    plain = {
        "RunResult": "scope_violations",
        "PlanEffects": "other_files",
        "RepairReport": "chosen_by",
        "steps.jsonl": "best_mark",
        "StepRecord": "held",
        "Verdict": "excused",
    }
    found = (kind for kind, field in plain.items() if field in value)
    return value.get("$type") or value.get("event") or next(found, "")


def texts(path: Path) -> list[Any]:
    """The values of a file with one on each line, or with one."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_record_and_the_task_in_it(run: RunDirectory) -> None:
    assert replace(run.record(), task={}) == replace(RECORD, task={})
    assert decode(run.record().task) == TASK


def test_the_steps(run: RunDirectory) -> None:
    kept = read_steps(run.steps, on_damage=pytest.fail)
    assert [update for _, update in kept.done] == UPDATES
    marks = kept.marks
    assert (kept.mark, marks.best_mark, marks.best_progress, marks.start_progress) == ("0.2", "0.1", 0.5, -1.0)
    assert (kept.usage, kept.used_s) == (Usage(calls=1, cost_usd=0.1), 2.25)


def test_the_trace_and_the_result_are_shown(run: RunDirectory) -> None:
    text = run_text(
        KeptRun(record=run.record(), trace=run.trace.read(), result=run.result()), prompts=True, verbose=True
    )
    assert text.split("\n") == (DATA / "shown.txt").read_text().split("\n")


def test_a_pass_that_did_not_hold_is_shown(run: RunDirectory) -> None:
    told = {"event": "check_ran", "at": 2.0, "verdict": {"status": "tampered", "check": "pytest", "note": "is canned"}}
    text = run_text(KeptRun(record=run.record(), trace=[{**told, "when": "confirm"}], result=None))
    assert "is canned" in text


def test_the_journal(run: RunDirectory, tmp_path: Path) -> None:
    journal = Journal(run.journal, BlobStore(tmp_path / "blobs"))
    journal.load()
    assert journal.entries == CHANGES
    assert (journal.workspace, journal.position("0.1"), journal.undone_at()) == (Path("/w"), 2, 3)
    write_journal(tmp_path / "journal.jsonl")
    assert (tmp_path / "journal.jsonl").read_text() == run.journal.read_text()


def test_results_of_a_batch() -> None:
    assert [*read_results(DATA / "results.jsonl")] == [*RESULTS]
    for text, result in zip((DATA / "results.jsonl").read_text().splitlines(), RESULTS, strict=True):
        assert json.dumps(result.to_json(), separators=(",", ":")) == text
        assert result_from(json.loads(text)) == result


def test_what_is_written_has_the_same_form(run: RunDirectory, tmp_path: Path) -> None:
    now = RunDirectory(tmp_path / "now" / ID)
    write_all(now)
    for name in ("run.json", "result.json", "steps.jsonl"):
        assert_holds(texts(now.path / name), texts(run.path / name))
    assert_holds(list(now.trace.read()), list(run.trace.read()))
