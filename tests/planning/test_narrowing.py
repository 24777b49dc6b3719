"""The three tiers: nobody asked, a few candidates, everything; and what becomes of answers that are none."""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from codur.llm.tokens import prompt_tokens
from codur.planning.narrowing import (
    Decision,
    DecisionCallback,
    GuidedDecisionPoint,
    Narrowing,
    ToolCandidate,
    builtin_graph,
    context_for,
    decide_next,
    guided_decision_points,
    prompt_for,
    tier_of,
)
from codur.structs import replace
from codur.types import ToolCall

READ = ToolCandidate(name="read_file", description="Read.", input_schema_summary="path", compatibility_score=1.0)
GREP = ToolCandidate(name="grep_files", description="Grep.", input_schema_summary="pattern", compatibility_score=0.5)
POINT = GuidedDecisionPoint(after_step="list_files", candidate_tools=(READ, GREP), context_fields=("files",))


@dataclass
class Says:
    """Answers one thing and keeps what it was asked."""

    answer: Any
    asked: list[tuple[Mapping[str, Any], Sequence[ToolCandidate], str]] = field(default_factory=list)

    async def decide(self, context: Mapping[str, Any], candidates: Sequence[ToolCandidate], prompt: str) -> str | None:
        self.asked.append((context, candidates, prompt))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


class Never:
    """Never answers, and sees that it is left."""

    left = False

    async def decide(self, context: Mapping[str, Any], candidates: Sequence[ToolCandidate], prompt: str) -> str | None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.left = True
            raise
        return None


def decide(point: GuidedDecisionPoint, callback: DecisionCallback | None, timeout_s: float = 30.0) -> Decision:
    context = {"files": ["a.py"], "secret": "not for this choice"}
    return asyncio.run(decide_next(point, context, callback, timeout_s=timeout_s))


def test_a_deterministic_step_asks_nobody() -> None:
    callback = Says("grep_files")
    only = replace(READ, arguments={"path": "a.py"})
    decision = decide(replace(POINT, candidate_tools=(only,)), callback)
    assert callback.asked == []
    assert (decision.tier, decision.choice, decision.by) == ("deterministic", "read_file", "code")
    assert decision.arguments == {"path": "a.py"}


@pytest.mark.parametrize(
    "only",
    [
        READ,
        replace(READ, arguments={"path": "a.py"}, compatibility_score=0.75),
        replace(READ, arguments={"path": "a.py"}, side_effect="write"),
        replace(READ, arguments={"path": "a.py"}, side_effect="run"),
    ],
)
def test_one_candidate_is_a_choice_while_something_is_open(only: ToolCandidate) -> None:
    assert tier_of(replace(POINT, candidate_tools=(only,))) == "guided"


def test_a_guided_step_shows_the_narrowed_set_and_the_fields_that_matter() -> None:
    callback = Says(" `grep_files`. ")
    decision = decide(POINT, callback)
    ((context, candidates, prompt),) = callback.asked
    assert context == {"files": ["a.py"]}
    assert candidates == (READ, GREP)
    assert "- read_file(path): Read.\n- grep_files(pattern): Grep." in prompt
    assert replace(decision, duration_s=0.0) == Decision(
        after_step="list_files",
        tier="guided",
        candidates=("read_file", "grep_files"),
        choice="grep_files",
        by="callback",
        reason="chosen of 2",
        scores=(1.0, 0.5),
    )


@pytest.mark.parametrize(
    ("callback", "reason"),
    [
        (None, "nobody is there to choose"),
        (Says(None), "none of the candidates was chosen"),
        (Says("None"), "none of the candidates was chosen"),
        (Says(""), "none of the candidates was chosen"),
        (Says(3), "none of the candidates was chosen"),
        (Says("delete_file"), "delete_file is no candidate"),
        (Says("I would read the file"), "I would read the file is no candidate"),
    ],
)
@pytest.mark.parametrize("fallback", ["read_file", None])
def test_no_answer_falls_back(callback: DecisionCallback | None, reason: str, fallback: str | None) -> None:
    decision = decide(replace(POINT, fallback_tool=fallback), callback)
    assert (decision.by, decision.reason) == ("fallback", reason)
    if fallback:
        assert (decision.tier, decision.choice) == ("guided", "read_file")
    else:
        assert (decision.tier, decision.choice) == ("open", "")


def test_a_slow_callback_is_left_behind() -> None:
    callback = Never()
    decision = decide(replace(POINT, fallback_tool="read_file"), callback, timeout_s=0.0)
    assert (decision.choice, decision.by, decision.reason) == ("read_file", "fallback", "no answer within 0 s")
    assert callback.left


@pytest.mark.parametrize("error", [RuntimeError("broken"), TimeoutError("its own")])
def test_a_callback_that_raises_ends_the_step(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        decide(replace(POINT, fallback_tool="read_file"), Says(error))


def test_no_candidate_is_open_and_asks_nobody() -> None:
    callback = Says("read_file")
    decision = decide(replace(POINT, candidate_tools=()), callback)
    assert callback.asked == []
    assert (decision.tier, decision.choice, decision.candidates) == ("open", "", ())


def test_a_custom_prompt_takes_the_place_of_the_one_from_the_metadata() -> None:
    callback = Says("read_file")
    (point,) = guided_decision_points("list_files", Narrowing(decision_prompt="Which?"))
    decide(point, callback)
    ((_, candidates, prompt),) = callback.asked
    assert prompt.splitlines()[0] == "Which?"
    assert len(prompt.splitlines()) == 1 + len(candidates)


def test_points_are_made_of_the_graph() -> None:
    (point,) = guided_decision_points("grep_files", Narrowing(fallback_tool="read_file"))
    assert point.after_step == "grep_files"
    assert point.fallback_tool == "read_file"
    assert point.context_fields == ("matches",)
    assert point.candidate_tools[0].name == "read_file"
    assert point.candidate_tools[0].input_schema_summary == "path, start_line?, end_line?"
    assert "- read_file(path, start_line?, end_line?): Read a text file" in prompt_for(point)
    assert len(guided_decision_points()) == len(builtin_graph().names())


@pytest.mark.parametrize("limit", [1, 3, 10])
def test_the_limit(limit: int) -> None:
    (point,) = guided_decision_points("read_file", Narrowing(max_candidates=limit))
    assert len(point.candidate_tools) == limit


@pytest.mark.parametrize("least", [0.5, 0.7, 1.0])
def test_filtering_by_compatibility(least: float) -> None:
    (point,) = guided_decision_points("read_file", Narrowing(max_candidates=100, min_compatibility=least))
    kept = {each.name for each in point.candidate_tools}
    assert kept == {edge.tool for edge in builtin_graph().after("read_file") if edge.score >= least}


def test_no_point_where_nothing_fits() -> None:
    assert guided_decision_points("read_file", Narrowing(min_compatibility=1.01)) == ()
    assert guided_decision_points("read_file", Narrowing(max_candidates=0)) == ()


def test_a_result_narrows_further_than_its_declaration() -> None:
    data = {"files": ["a.txt"], "complete": True}
    (point,) = guided_decision_points("list_files", Narrowing(max_candidates=100, data=data))
    names = {each.name: each.arguments for each in point.candidate_tools}
    assert names["read_file"] == {"path": "a.txt"}
    assert "python_ast_outline" not in names


def test_a_call_gives_what_is_not_known_and_one_that_cannot_be_made_is_none() -> None:
    known = replace(READ, arguments={"path": "a.py"})
    point = replace(POINT, candidate_tools=(known, GREP))
    first = decide(point, Says(ToolCall(name="read_file", arguments={"start_line": 3})))
    assert (first.choice, first.arguments, first.settled) == ("read_file", {"path": "a.py", "start_line": 3}, False)
    assert decide(point, Says(ToolCall(name="read_file"))).settled
    wrong = asyncio.run(
        decide_next(point, {}, Says(ToolCall(name="grep_files")), problem=lambda tool, given: "" if given else "what?")
    )
    assert (wrong.tier, wrong.choice, wrong.reason) == ("open", "", "grep_files: what?")


def test_what_is_promoted_is_taken_if_it_is_known_whole_and_reads() -> None:
    known = replace(READ, arguments={"path": "a.py"}, compatibility_score=0.6)
    point = replace(POINT, candidate_tools=(GREP, known), promoted="read_file")
    decision = decide(point, Says("grep_files"))
    assert (decision.tier, decision.choice, decision.settled) == ("deterministic", "read_file", True)
    for other in (READ, replace(known, side_effect="write")):
        assert decide(replace(point, candidate_tools=(GREP, other)), Says("grep_files")).choice == "grep_files"
    (made,) = guided_decision_points(
        "list_files", Narrowing(promote=("grep_files > find_usages", "list_files > read_file"))
    )
    assert made.promoted == "read_file"


def test_long_fields_are_cut() -> None:
    shown = context_for(POINT, {"files": ["x" * 1000]})
    assert len(shown["files"]) == 301


def test_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "narrowing.py"), run_name="benchmark")
    toolbox = benchmark["toolbox_on"](tmp_path)
    worst, mean = benchmark["guided"](toolbox)
    assert mean <= worst <= benchmark["MOST"]
    sizes = {}
    for narrow in (True, False):
        requests = benchmark["converse"](tmp_path, toolbox, narrow=narrow, native=True)
        sizes[narrow] = sum(map(prompt_tokens, requests))
    assert sizes[True] < sizes[False] / 2
    assert "mean" in capsys.readouterr().out
