"""Rules that a plan must keep before any of it is carried out. No model, nothing executed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from codur.config.settings import ToolSettings
from codur.types import Plan, SideEffect, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a plan may name: tools with their side effect, agents, and which of these edit files."""

    tools: Mapping[str, SideEffect]
    agents: Collection[str]
    knows_agent: Callable[[str], bool]
    codes: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a plan cannot be carried out; `refused` if policy forbids it, else the plan itself is wrong."""

    text: str
    refused: bool = False


def complete(plan: Plan, *, explainer: str) -> Plan:
    """The plan with what it lacks: a last word after steps that only read.

    A plan that changes files needs no step of its own for the check: `review` runs it after the last change.

    Args:
        explainer: the agent that gives the last word.
    """
    if plan.origin != "plan" or not plan.steps or plan.steps[-1].action != "tool":
        return plan
    last_word = Step(
        id=_unused("answer", {step.id for step in plan.steps}),
        action="delegate",
        capability=explainer,
        objective="Answer the task from what the steps found.",
        inputs=tuple(step.id for step in plan.steps),
        tier="open",
    )
    return replace(plan, steps=(*plan.steps, last_word))


def _unused(name: str, taken: Collection[str]) -> str:
    return next(item for item in (name, *(f"{name}-{number}" for number in range(2, 1000))) if item not in taken)


def find_problem(plan: Plan, known: Capabilities, allowed: ToolSettings, *, max_steps: int) -> Problem | None:
    """The first rule that the plan breaks, or None."""
    if not plan.steps:
        return Problem(text="the plan has no steps")
    if len(plan.steps) > max_steps:
        return Problem(text=f"the plan has {len(plan.steps)} steps; {max_steps} are allowed")
    seen: set[str] = set()
    for step in plan.steps:
        problem = _step_problem(step, known, allowed, seen)
        if problem:
            return problem
        seen.add(step.id)
    return None


def _step_problem(step: Step, known: Capabilities, allowed: ToolSettings, seen: Collection[str]) -> Problem | None:
    if step.id in seen:
        return Problem(text=f"two steps have the id {step.id!r}")
    strangers = [name for name in step.inputs if name not in seen]
    if strangers:
        return Problem(text=f"step {step.id!r} needs the output of {strangers[0]!r}, which is no earlier step")
    if step.action == "tool":
        return _tool_problem(step, known, allowed)
    if step.action in {"delegate", "coding"} and step.capability and not known.knows_agent(step.capability):
        return Problem(text=_unknown("agent", step.capability, known.agents))
    if step.action == "coding" and step.capability and not known.codes(step.capability):
        return Problem(text=f"{step.capability} does not edit files; use it in a delegate step")
    if step.action in {"coding", "repair"} and not allowed.allow_write:
        return Problem(text="changing files is not allowed (tools.allow_write is off)", refused=True)
    return None


def _tool_problem(step: Step, known: Capabilities, allowed: ToolSettings) -> Problem | None:
    effect = known.tools.get(step.capability)
    if effect is None:
        return Problem(text=_unknown("tool", step.capability, known.tools))
    rules = {"write": allowed.allow_write, "run": allowed.allow_run, "network": allowed.allow_network}
    if not rules.get(effect, True):
        return Problem(text=f"{step.capability} is not allowed (tools.allow_{effect} is off)", refused=True)
    return None


def _unknown(kind: str, name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    hint = f"the nearest is {near[0]}; " if near else ""
    return f"there is no {kind} named {name!r}; {hint}there are: {', '.join(sorted(known))}"
