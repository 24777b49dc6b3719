"""Judges what a step did. The only place that counts iterations and decides to go on, try again or stop.

What a failed attempt is (`finding`) is pure; where the run goes (`next_move`) is decided without changing anything.
"""

from codur.nodes.parts.attempt_verdict import (
    judge,
    left_to_build,
    linted,
    put_back,
    start_clean,
    steps_hold,
    still_used,
)
from codur.nodes.parts.next_move import is_due, next_move
from codur.nodes.parts.step_criteria import left_open
from codur.nodes.parts.updates import go, held_to_git, warn
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.parsing.bounded_text import listed
from codur.structs import replace

_HELD = "what the steps before did stays, as the check says no worse of it; codur undo takes it back"
_PLAN_REST = "What the steps before edited stays in place ({}). Plan what is left, and not that again."


def review(state: RunState, context: RunContext) -> RunUpdate:
    """What follows the step just done; what programs changed out of scope meanwhile is put back first."""
    record = state["records"][-1]
    broken = put_back(context)
    held = steps_hold(record, state, context)
    judged = judge(record, state, context) if is_due(record, state, context) else None
    context.best.claimed = ""  # whoever edits next has to say so of its own edit
    update = next_move(record, judged, state, context)
    if judged is not None and judged.excused:
        update["discovery"] = replace(state["discovery"], rest_may_fail=True)
        update["notes"] = [*update.get("notes", []), f"{record.capability} says of what still fails: {judged.excused}"]
    if held:
        update["notes"] = [*update.get("notes", []), *([] if _HELD in state["notes"] else [_HELD])]
        if update["route"] == "llm_plan":
            update["reason"] = _PLAN_REST.format(listed(context.workspace.changed_files(), 10))
    update = held_to_git(update, state, context)
    if update.get("outcome") == "done" and left_open(state):
        to_accept = go("accept", origin=record.origin, why="what the plan says must hold")
        update = RunUpdate(**{**update, **to_accept})
    if judged is not None and judged.attempt is None and judged.last is not None and judged.last.status != "flaky":
        update["notes"] = [*update.get("notes", []), *linted(context), *left_to_build(state, context)]
        warn(still_used(context), context)
    if judged is not None and "coder" in update and context.settings.agents.preferences.escalation_start == "clean":
        start_clean(state, context)
        update["verdict"] = state["before"]
    return RunUpdate(**update, violations=broken) if broken else update
