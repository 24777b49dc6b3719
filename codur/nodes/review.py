"""Judges what a step did. The only place that counts iterations and decides to go on, try again or stop.

What it finds (`finding`), what it keeps of it (`comes_further`, by `judge`) and where it goes (`onward`) are pure.
"""

from __future__ import annotations

import re
from functools import partial

from codur.nodes.parts.attempt_verdict import judge, linted, put_back, start_clean
from codur.nodes.parts.handover import affordable, escalation_after, stand_in_for
from codur.nodes.parts.onward import Around, is_due, onward
from codur.nodes.parts.step_criteria import left_open
from codur.nodes.parts.updates import (
    can_ask,
    can_repair,
    edits,
    go,
    left_failed,
    only_words_left,
    unfinished,
    why_not,
    without_words,
)
from codur.nodes.run_state import RunContext, RunState, RunUpdate


def review(state: RunState, context: RunContext) -> RunUpdate:
    """What follows the step just done; what programs changed out of scope meanwhile is put back first."""
    record, around = state["records"][-1], _around(context)
    broken = put_back(context)
    judged = judge(record, state, context) if is_due(record, state, around) else None
    update = onward(record, judged, state, around)
    if update.get("outcome") == "done" and left_open(state):
        to_accept = go("review", "accept", origin=record.origin, reason="what the plan says must hold")
        update = RunUpdate(**{**update, **to_accept})
    if judged is not None and judged.attempt is None and judged.last is not None and judged.last.status != "flaky":
        update["notes"] = [*update.get("notes", []), *linted(context)]
    if judged is not None and "coder" in update and context.settings.agents.preferences.escalation_start == "clean":
        start_clean(state, context)
        update["verdict"] = state["before"]
    return RunUpdate(**update, violations=broken) if broken else update


def _around(context: RunContext) -> Around:
    return Around(
        can_ask=partial(can_ask, context=context),
        why_not=partial(why_not, context=context),
        can_repair=partial(can_repair, context=context),
        edits=partial(edits, context=context),
        output=context.artifacts.get,
        left_failed=partial(left_failed, context=context),
        unfinished=partial(unfinished, context=context),
        stand_in=partial(stand_in_for, context=context),
        next_agent=partial(escalation_after, context=context),
        affordable=partial(affordable, context=context),
        left_out=partial(_left_out, context=context),
        only_words_left=partial(only_words_left, context=context),
        without_words=partial(without_words, context=context),
        patience=context.settings.agents.preferences.patience,
    )


def _left_out(state: RunState, context: RunContext) -> list[str]:
    """Sources that the task names beside others and that stayed as they were: the check may not have seen them."""
    changed = context.workspace.changed_files()
    named = [path for path in state["discovery"].files if path.endswith(".py") and _names(state["task"].prompt, path)]
    rest = [path for path in named if path not in changed and context.workspace.may_edit(path)]
    return [f"named in the task and not changed: {', '.join(rest)}"] if rest and len(named) > len(rest) else []


def _names(prompt: str, path: str) -> bool:
    return re.search(rf"(?<![\w/.-]){re.escape(path)}(?![\w/-])", prompt) is not None
