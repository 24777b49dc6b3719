"""What carrying out a plan will do, and whether the user is asked before."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from codur.config.settings import PlanningSettings
from codur.questions import EFFECTS, Effect, PlanEffects
from codur.types import Plan, SideEffect, Step

_GIT_WRITES = frozenset({"git_stage_files", "git_commit"})
_NAMED_FILES = ("path", "target", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What the steps of a plan may use.

    Attributes:
        tools: each tool's side effect.
        edits: whether a step may change files.
        delegates: whether a step hands work over to a program of somebody else.
        attempts: attempts of one edit at most.
        agent_steps: model calls of one delegation at most.
        check: the command of the check that judges what steps of this kind change; empty if none does.
    """

    tools: Mapping[str, SideEffect]
    edits: Callable[[Step], bool]
    delegates: Callable[[Step], bool]
    attempts: int
    agent_steps: int
    check: Callable[[Step], str] = lambda _step: ""


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
        commands=tuple(dict.fromkeys(text for step in plan.steps if (text := _command(step, means)))),
        check=next((text for step in plan.steps if (text := means.check(step))), ""),
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
    if not set(effects.commands) <= set(approved.commands):
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


def _command(step: Step, means: Means) -> str:
    """What a step starts, as a person would type it; empty if it starts nothing."""
    if step.action != "tool" or means.tools.get(step.capability) != "run":
        return ""
    given = step.arguments
    match step.capability:
        case "run_command":
            return str(given.get("command", "")) or step.capability
        case "run_python_file":
            return _typed("python", given.get("path"), given.get("args"))
        case "run_pytest":
            return _typed("pytest", given.get("paths"))
        case "run_check":
            return "the check"
        case "call_mcp_tool":
            return str(given.get("tool", "")) or step.capability
    return step.capability


def _typed(program: str, *arguments: Any) -> str:
    words = [str(word) for item in arguments for word in (item if isinstance(item, list | tuple) else [item]) if word]
    return " ".join([program, *(word if "${" in word else shlex.quote(word) for word in words)])


def _calls(step: Step, means: Means) -> tuple[int, int]:
    if step.action == "coding":
        return 1, means.attempts
    return (1, means.agent_steps) if step.action == "delegate" else (0, 0)
