"""What carrying out a plan will do, and whether the user is asked before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from codur.config.settings import PlanningSettings
from codur.questions import EFFECTS, Effect, PlanEffects
from codur.types import Plan, SideEffect, Step

_GIT_WRITES = frozenset({"git_stage_files", "git_commit"})
_NAMED_FILES = ("path", "target", "source")
_COMMANDS = {"run_python_file": "python {path}", "run_pytest": "pytest {path}", "run_command": "{command}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What the steps of a plan may use.

    Attributes:
        tools: each tool's side effect.
        edits: whether a step may change files.
        delegates: whether a step hands work over to a program of somebody else.
        attempts: attempts of one edit at most.
        agent_steps: model calls of one delegation at most.
    """

    tools: Mapping[str, SideEffect]
    edits: Callable[[Step], bool]
    delegates: Callable[[Step], bool]
    attempts: int
    agent_steps: int


def effects_of(plan: Plan, means: Means) -> PlanEffects:
    """What carrying out the plan will do."""
    kinds = {kind for step in plan.steps for kind in _kinds(step, means)}
    changing = [step for step in plan.steps if means.edits(step)]
    named = [path for step in changing for path in _paths(step)]
    calls = [_calls(step, means) for step in plan.steps]
    return PlanEffects(
        kinds=tuple(kind for kind in EFFECTS if kind in kinds),
        files=tuple(dict.fromkeys(named)),
        other_files=any(step.action != "tool" and not _paths(step) for step in changing),
        commands=tuple(text for step in plan.steps if (text := _command(step))),
        least_calls=sum(least for least, _ in calls),
        most_calls=sum(most for _, most in calls),
    )


def needs_approval(effects: PlanEffects, settings: PlanningSettings, *, asked_for: bool) -> bool:
    """Whether the user is asked before a plan with these effects is carried out.

    Args:
        asked_for: the user wants to see this run's plan, whatever the settings say.
    """
    if asked_for or settings.approval == "always":
        return True
    if settings.approval == "writes" and "write" in effects.kinds:
        return True
    return any(kind in settings.approve for kind in effects.kinds)


def covers(approved: PlanEffects | None, effects: PlanEffects) -> bool:
    """Whether what the user has approved of holds for these effects too, as for the retry of an edit."""
    if approved is None or not set(effects.kinds) <= set(approved.kinds):
        return False
    if approved.other_files:
        return True
    return not effects.other_files and set(effects.files) <= set(approved.files)


def _kinds(step: Step, means: Means) -> set[Effect]:
    kinds: set[Effect] = {"write"} if means.edits(step) else set()
    if step.action == "tool":
        effect = means.tools.get(step.capability)
        if effect in {"run", "network"}:
            kinds.add("run" if effect == "run" else "network")
        if step.capability in _GIT_WRITES:
            kinds = {"git"}
    elif step.action == "repair":
        kinds.add("run")
    if means.delegates(step):
        kinds |= {"delegate", "write"}
    return kinds


def _paths(step: Step) -> list[str]:
    return [value for key in _NAMED_FILES if isinstance(value := step.arguments.get(key), str) and value]


def _command(step: Step) -> str:
    form = _COMMANDS.get(step.capability) if step.action == "tool" else None
    if form is None:
        return ""
    name = form[form.index("{") + 1 : form.index("}")]
    value = step.arguments.get(name, "")
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return form.replace(f"{{{name}}}", text).strip()


def _calls(step: Step, means: Means) -> tuple[int, int]:
    if step.action == "coding":
        return 1, means.attempts
    return (1, means.agent_steps) if step.action == "delegate" else (0, 0)
