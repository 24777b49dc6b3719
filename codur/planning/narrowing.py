"""What comes after a step: settled by code, chosen among a few tools, or open.

- `deterministic`: one tool can follow or is promoted, all that it requires is known and it only reads: nobody is asked.
- `guided`: a few can; a `DecisionCallback` sees them and the fields of the output that they use, and names one.
- `open`: none can, or nobody made use of the choice; all tools of the kind of task are there.

Nothing here knows a model or its service: a callback may be a model, a rule or a person.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, Protocol

from codur.structs import Struct, field
from codur.tools.catalogue import all_tools
from codur.tools.compatibility import (
    MAX_CANDIDATES,
    MIN_COMPATIBILITY,
    Available,
    CompatibilityGraph,
    Edge,
    promoted_after,
    runs_unasked,
)
from codur.tools.flow.io_kinds import gives
from codur.types import SideEffect, TaskType, Tier, ToolCall

FIELD_CHARS = 300
"""Longest value of a field that a callback is shown, in characters of its JSON."""
TIMEOUT_S = 30.0
"""Time that a callback has, in seconds."""
NONE = "none"
"""The answer that no candidate fits."""


class ToolCandidate(Struct):
    """A tool that may be next, its inputs as `needed, optional?`; `arguments` are all that it requires, where known."""

    name: str
    description: str
    input_schema_summary: str
    compatibility_score: float
    arguments: Mapping[str, Any] | None = None
    side_effect: SideEffect = "read"


class GuidedDecisionPoint(Struct):
    """A choice after a step."""

    after_step: str
    candidate_tools: tuple[ToolCandidate, ...]
    decision_prompt: str = ""  # the question; empty for one made of the candidates' descriptions
    context_fields: tuple[str, ...] = ()  # names of what the callback is shown of the context; empty shows all of it
    fallback_tool: str | None = None  # what is taken if the callback names none; None leaves the choice open
    promoted: str = ""  # the candidate that the user wants to follow, where all that it requires is known


By = Literal["code", "callback", "fallback"]
"""Who decided: the code, the callback, or what applies when it names none."""


class DecisionCallback(Protocol):
    """Whoever chooses: an object with a coroutine, so that a slow one can be left behind when its time is up."""

    async def decide(
        self, context: Mapping[str, Any], candidates: Sequence[ToolCandidate], prompt: str
    ) -> ToolCall | str | None:
        """The name of a candidate, or a call of it with what is not known; None or `none` if none fits.

        `context` has the fields that matter, bounded; `prompt` the question with the candidates, for a model.
        """
        ...


class Decision(Struct):
    """The record of one decision."""

    after_step: str
    tier: Tier
    # candidates, scores: their names and scores, the best first
    candidates: tuple[str, ...]
    choice: str = ""  # the tool; empty if it is open
    by: By = "code"
    reason: str = ""
    # what is known for the chosen tool, with what the callback gave
    arguments: Mapping[str, Any] = field(default_factory=dict)
    duration_s: float = 0.0  # time that it took, in seconds
    scores: tuple[float, ...] = ()
    settled: bool = False  # the arguments are those that were known, and the tool only reads


@cache
def builtin_graph() -> CompatibilityGraph:
    """The graph of all built-in tools."""
    return CompatibilityGraph(all_tools())


class Narrowing(Struct):
    """What a choice is narrowed by, and how it is put."""

    max_candidates: int = MAX_CANDIDATES
    min_compatibility: float = MIN_COMPATIBILITY
    task_type: TaskType | None = None
    # the output of the tool as plain JSON, if it has run: its values are counted then, not its declaration
    data: Any = None
    known: Available | None = None  # values that are known beside it
    decision_prompt: str = ""
    fallback_tool: str | None = None
    promote: Sequence[str] = ()  # what follows what without asking, as `TOOL > NEXT`


def guided_decision_points(
    after_tool: str | None = None, by: Narrowing | None = None, *, graph: CompatibilityGraph | None = None
) -> tuple[GuidedDecisionPoint, ...]:
    """The choice after a tool, or after each tool if none is named; none where no tool can follow.

    The empty name stands for a step that was no tool; where no graph is given, the tools are the built-in ones.
    """
    tools, by = graph or builtin_graph(), by or Narrowing()
    points = []
    for name in tools.names() if after_tool is None else (after_tool,):
        edges = tools.after(name, task_type=by.task_type, data=by.data, known=by.known)
        near = tools.nearest(edges, max_candidates=by.max_candidates, min_compatibility=by.min_compatibility)
        if near:
            # The fields of an output that some candidate uses
            ends = tools.get(name)
            used = {kind for edge in near for kind in edge.supplied.values()}
            given = gives(ends.tool.output) if ends else {}
            found = (place.partition("[]")[0].partition(".")[0] for place, kind in given.items() if kind in used)
            points.append(
                GuidedDecisionPoint(
                    after_step=name,
                    candidate_tools=tuple(_candidate(tools, edge) for edge in near),
                    decision_prompt=by.decision_prompt,
                    context_fields=tuple(dict.fromkeys(found)),
                    fallback_tool=by.fallback_tool,
                    promoted=promoted_after(name, by.promote),
                )
            )
    return tuple(points)


def tier_of(point: GuidedDecisionPoint) -> Tier:
    """How much a choice leaves to whoever decides."""
    if not point.candidate_tools:
        return "open"
    return "deterministic" if _unasked(point) is not None else "guided"


def _unasked(point: GuidedDecisionPoint) -> ToolCandidate | None:
    """The candidate that is taken without asking, or None."""
    wanted = next((each for each in point.candidate_tools if each.name == point.promoted), None)
    if wanted is not None and runs_unasked(wanted.arguments, 1.0, wanted.side_effect):
        return wanted
    first = point.candidate_tools[0]
    unasked = runs_unasked(first.arguments, first.compatibility_score, first.side_effect)
    return first if len(point.candidate_tools) == 1 and unasked else None


def prompt_for(point: GuidedDecisionPoint) -> str:
    """What a callback is asked: the point's own question or a usual one, with the candidates and what is known."""
    rows = []
    for each in point.candidate_tools:
        known = f" Known: {json.dumps(each.arguments, ensure_ascii=False, default=str)}" if each.arguments else ""
        rows.append(f"- {each.name}({each.input_schema_summary}): {each.description}{known}")
    ran = f"{point.after_step} has run. " if point.after_step else ""
    usual = f"{ran}Which tool is next? Answer with one name, or {NONE} if none fits."
    return "\n".join([point.decision_prompt or usual, *rows])


def context_for(point: GuidedDecisionPoint, context: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a context that matter for a choice; long values are cut to their JSON's beginning."""
    names = point.context_fields or tuple(context)
    texts = {name: json.dumps(context[name], ensure_ascii=False, default=str) for name in names if name in context}
    short = {name: f"{text[:FIELD_CHARS]}…" for name, text in texts.items() if len(text) > FIELD_CHARS}
    return {name: short.get(name, context[name]) for name in texts}


async def decide_next(
    point: GuidedDecisionPoint,
    context: Mapping[str, Any],
    callback: DecisionCallback | None = None,
    *,
    timeout_s: float = TIMEOUT_S,
    problem: Callable[[str, Mapping[str, Any]], str] = lambda _tool, _arguments: "",
) -> Decision:
    """Decide what comes after a step. What the callback raises ends the step: it is not caught here.

    Args:
        context: what is known, such as the output of the step; the callback sees the point's fields of it.
        callback: who chooses in the guided tier; in `timeout_s` seconds.
        problem: why a tool cannot be called with what is known of its arguments; empty if it can. One that cannot
            is not taken.
    """
    started, tools = time.monotonic(), {each.name: each for each in point.candidate_tools}

    def known(name: str) -> Mapping[str, Any]:
        return (tools[name].arguments if name in tools else None) or {}

    def decided(choice: str, by: By, reason: str, given: Mapping[str, Any] | None = None) -> Decision:
        arguments = {**known(choice), **(given or {})}
        reads = choice in tools and tools[choice].side_effect == "read"
        tier: Tier = "deterministic" if by == "code" else "guided"
        return Decision(
            after_step=point.after_step,
            tier=tier if choice else "open",
            candidates=tuple(tools),
            choice=choice,
            by=by,
            reason=reason,
            arguments=arguments,
            duration_s=time.monotonic() - started,
            scores=tuple(each.compatibility_score for each in point.candidate_tools),
            settled=reads and bool(arguments) and arguments == known(choice),
        )

    if not tools:
        return decided("", "code", "no tool follows from this output")
    unasked = _unasked(point)
    if unasked is not None:
        why = "promoted" if len(tools) > 1 else "the only tool that can follow"
        return decided(unasked.name, "code", f"{why}, and all that it requires is known")
    answer, given, reason = await _asked(callback, point, context, timeout_s)
    wrong = problem(answer, {**known(answer), **given}) if answer else ""
    if answer and not wrong:
        return decided(answer, "callback", reason, given)
    fallback = point.fallback_tool or ""
    usable = fallback and not problem(fallback, known(fallback))
    return decided(fallback if usable else "", "fallback", f"{answer}: {wrong}" if wrong else reason)


async def _asked(
    callback: DecisionCallback | None, point: GuidedDecisionPoint, context: Mapping[str, Any], timeout_s: float
) -> tuple[str, Mapping[str, Any], str]:
    """The candidate that the callback names, or nothing; the arguments that it gave; and why."""
    if callback is None:
        return "", {}, "nobody is there to choose"
    try:
        async with asyncio.timeout(timeout_s) as scope:
            answer = await callback.decide(context_for(point, context), point.candidate_tools, prompt_for(point))
    except TimeoutError:
        # The callback's own TimeoutError is a failure of the callback, not the end of its time.
        if not scope.expired():
            raise
        return "", {}, f"no answer within {timeout_s:g} s"
    name, given = (answer.name, answer.arguments) if isinstance(answer, ToolCall) else (answer, dict[str, Any]())
    # Models put names in quotes or end them with a full stop.
    name = name.strip().strip("`'\".") if isinstance(name, str) else ""
    if not name or name.lower() == NONE:
        return "", {}, "none of the candidates was chosen"
    if name not in {each.name for each in point.candidate_tools}:
        return "", {}, f"{name:.60} is no candidate"
    return name, given, f"chosen of {len(point.candidate_tools)}"


def _candidate(graph: CompatibilityGraph, edge: Edge) -> ToolCandidate:
    ends = graph.get(edge.tool)
    if ends is None:
        raise KeyError(edge.tool)
    return ToolCandidate(
        name=ends.tool.name,
        description=ends.tool.description,
        input_schema_summary=ends.summary,
        compatibility_score=edge.score,
        arguments=edge.arguments,
        side_effect=ends.tool.side_effect,
    )
