"""Which steps of a plan may run side by side, and which cannot run any more because one before them failed."""

from collections.abc import Callable, Collection

from codur.planning.plans.step_references import referred
from codur.types import Plan, Step

MOST_AT_ONCE = 8


def needs(step: Step) -> frozenset[str]:
    """The ids of the steps whose output a step works with."""
    return frozenset(step.inputs) | frozenset(referred(step.arguments))


def side_by_side(plan: Plan, cursor: int, only_reads: Callable[[Step], bool]) -> int:
    """How many steps from `cursor` on may run at the same time, as each only reads and none needs another's output."""
    group: set[str] = set()
    for step in plan.steps[cursor : cursor + MOST_AT_ONCE]:
        if not only_reads(step) or needs(step) & group:
            break
        group.add(step.id)
    return max(1, len(group))


def blocked_by(plan: Plan, failed: Collection[str]) -> tuple[str, ...]:
    """The ids of the steps that need, directly or by others, the output of a failed one; in the plan's order."""
    lost = set(failed)
    blocked = []
    for step in plan.steps:
        if step.id not in failed and needs(step) & lost:
            lost.add(step.id)
            blocked.append(step.id)
    return tuple(blocked)
