"""What carrying out a plan will do, and whether the user is asked before."""

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from codur.config.settings import PlanningSettings
from codur.mcp.offered_tools import server_of
from codur.planning.plans.step_references import referred
from codur.questions import EFFECTS, Effect, PlanEffects
from codur.structs import Struct
from codur.tools import files as file_tools
from codur.tools.tool import ToolError
from codur.types import Plan, SideEffect, Step

_GIT_WRITES = frozenset({"git_stage_files", "git_commit", "git_continue", "git_switch"})
_NAMED_FILES = ("path", "target", "source")
_REACHES_FURTHER = "rename_symbol"  # it names one file and changes every file that uses the name


class Means(Struct):
    """What the steps of a plan may use."""

    tools: Mapping[str, SideEffect]  # each tool's side effect
    edits: Callable[[Step], bool]  # whether a step may change files
    delegates: Callable[[Step], str]  # the program of somebody else that a step hands work over to; empty if none
    attempts: int  # attempts of one edit at most
    agent_steps: int  # model calls of one delegation at most
    # the command of the check that judges what steps of this kind change; empty if none does
    check: Callable[[Step], str] = lambda _step: ""
    # whether a step asks an MCP server that is reached over the network, or reaches it
    networked: Callable[[Step], bool] = lambda _step: False


def effects_of(plan: Plan, means: Means) -> PlanEffects:
    """What carrying out the plan will do."""
    kinds = {kind for step in plan.steps for kind in _kinds(step, means)}
    changing = [step for step in plan.steps if means.edits(step)]
    named = [path for step in changing for path in _paths(step)]
    calls = [_calls(step, means) for step in plan.steps]
    return PlanEffects(
        kinds=tuple(kind for kind in EFFECTS if kind in kinds),
        files=tuple(dict.fromkeys(named)),
        other_files=any(_chooses(step) for step in changing),
        commands=tuple(dict.fromkeys(text for step in plan.steps if (text := _command(step, means)))),
        addresses=tuple(dict.fromkeys(text for step in plan.steps if (text := _address(step, means)))),
        check=next((text for step in plan.steps if (text := means.check(step))), ""),
        least_calls=sum(least for least, _ in calls),
        most_calls=sum(most for _, most in calls),
    )


def needs_approval(effects: PlanEffects, settings: PlanningSettings, *, asked_for: bool) -> bool:
    """Whether the user is asked before such a plan is carried out; `asked_for`: whatever the settings say."""
    if asked_for or settings.approval == "always":
        return True
    if settings.approval == "writes" and "write" in effects.kinds:
        return True
    return any(kind in settings.approve for kind in effects.kinds)


def covers(approved: PlanEffects | None, effects: PlanEffects) -> bool:
    """Whether what the user has approved of holds for these effects too, as for the retry of an edit.

    What a reference will put into a command or an address was not known then, and is not now: that is asked again.
    """
    if approved is None or not set(effects.kinds) <= set(approved.kinds):
        return False
    asked, known = (*effects.commands, *effects.addresses), (*approved.commands, *approved.addresses)
    if referred(asked) or not set(asked) <= set(known):
        return False
    if not set(effects.tests) <= set(approved.tests):
        return False
    # A step that was free to choose its files was approved of as such.
    if approved.other_files:
        return True
    return not effects.other_files and set(effects.files) <= set(approved.files)


def _kinds(step: Step, means: Means) -> set[Effect]:
    kinds: set[Effect] = {"write"} if means.edits(step) else set()
    if step.action == "tool":
        effect = means.tools.get(step.capability)
        if effect in {"run", "network"}:
            kinds.add("run" if effect == "run" else "network")
        if means.networked(step):
            kinds.add("network")
        if step.capability in _GIT_WRITES:
            kinds = {"git"}
    elif step.action == "repair":
        kinds.add("run")
    if means.delegates(step):
        kinds |= {"delegate", "write"}
    return kinds


def _paths(step: Step) -> list[str]:
    """The files that a step names, as far as they are known before it runs."""
    if step.action == "tool" and step.capability == "apply_patch":
        # The files that a patch changes; none if it cannot be read, or is not known yet
        patch = step.arguments.get("patch")
        if not isinstance(patch, str) or referred(patch):
            return []
        try:
            files = file_tools.patch_text.read_patch(patch)
        except ToolError:
            return []
        return [path for file in files for path in (file.source, file.target) if path]
    values = (step.arguments.get(key) for key in _NAMED_FILES)
    return [value for value in values if isinstance(value, str) and value and not referred(value)]


def _chooses(step: Step) -> bool:
    """Whether a step that changes files may change some that it does not name."""
    if step.action == "tool" and step.capability in _GIT_WRITES:
        return False
    named = (step.arguments.get(key) for key in _NAMED_FILES)
    return step.capability == _REACHES_FURTHER or not _paths(step) or bool(referred(list(named)))


def _address(step: Step, means: Means) -> str:
    """What a step asks of the network; empty if it asks nothing."""
    if step.action != "tool" or means.tools.get(step.capability) != "network":
        return ""
    given = step.arguments
    return str(given.get("url") or given.get("query") or step.capability)


def _command(step: Step, means: Means) -> str:
    """What a step starts, as a person would type it; empty if it starts nothing."""
    if program := means.delegates(step):
        return program
    if step.action != "tool" or means.tools.get(step.capability) != "run":
        return ""
    given = step.arguments
    match step.capability:
        case "run_command":
            return _fed(str(given.get("command", "")) or step.capability, given.get("stdin"))
        case "run_python_file":
            return _fed(_typed("python", given.get("path"), given.get("args")), given.get("stdin"))
        case "run_pytest":
            return _typed("pytest", given.get("paths"))
        case "run_check":
            return "the check"
        case "call_mcp_tool":
            return f"{given.get('tool') or step.capability} {_sent(given.get('arguments'))}".strip()
    if server_of(step.capability):
        return f"{step.capability} {_sent(given)}".strip()
    return " ".join([step.capability, *(str(given[key]) for key in ("server", "uri") if given.get(key))])


def _sent(arguments: Any) -> str:
    """What a server's tool is given."""
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True, default=str) if arguments else ""


def _fed(command: str, stdin: Any) -> str:
    """A command with what it is given on standard input."""
    return f"{command} <<< {stdin if referred(stdin) else shlex.quote(str(stdin))}" if stdin else command


def _typed(program: str, *arguments: Any) -> str:
    words = [str(word) for item in arguments for word in (item if isinstance(item, list | tuple) else [item]) if word]
    return " ".join([program, *(word if "${" in word else shlex.quote(word) for word in words)])


def _calls(step: Step, means: Means) -> tuple[int, int]:
    if step.undecided:  # one call to choose, and an agent where none fits
        return 0, 1 + means.agent_steps
    if step.action == "coding":
        return 1, means.attempts
    return (1, means.agent_steps) if step.action == "delegate" else (0, 0)
