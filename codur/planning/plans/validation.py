"""Rules that a plan must keep before any of it is carried out. No model, nothing executed."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from codur.config.settings import ToolSettings
from codur.lazy import late, regex
from codur.mcp.offered_tools import server_of
from codur.planning.plans.step_references import SHELL_ARGUMENTS, referred, unprotected
from codur.structs import Struct, replace
from codur.types import Plan, SideEffect, Step

difflib = late("difflib")

_NAMED, _LISTED = 3, 10
"""Names near an unknown one that are told, and how many there may be for all of them to be told."""
_DELETE = regex(
    r"\b(?:delet\w*|remov\w*|eras\w*|drop\w*|clean\w*|undo\w*|revert\w*|get rid|rm"
    r"|lösch\w*|entfern\w*|supprim\w*|borra\w*)\b",
    re.IGNORECASE,
)
_PUSH = regex(r"\b(?:push\w*|publish\w*|upload\w*|release\w*)\b", re.IGNORECASE)
_COMMIT = regex(r"\b(?:commit\w*|stage\w*|staging|git|check(?:ed)? in)\b", re.IGNORECASE)
_GIT = r"\bgit(?:\s+-\S+(?:\s+[^-\s]\S*)?)*\s+"  # git with its own options, up to its command
_PUSHES = regex(rf"{_GIT}push\b|\b(?:twine\s+upload|npm\s+publish|cargo\s+publish)\b")
_COMMITS = regex(rf"{_GIT}(?:commit|add|stage|merge|rebase)\b")
_DELETES = regex(
    r"(?:^|[\s;&|(\"'`/])(?:rm|rmdir|shred|unlink)(?:\s|$)"
    rf"|{_GIT}(?:rm|clean|reset\s+(?:\S+\s+)?--hard|restore|checkout\s+(?:\S+\s+)?--)(?=\s|$)"
    r"|\bfind\b.*\s-delete\b|\bshutil\.rmtree\b|\bos\.(?:remove|unlink|rmdir)\b|\.unlink\("
)
_DELETES_IN_PATCH = regex(r"^\+\+\+ /dev/null\s*$|^deleted file mode ", re.MULTILINE)
_BRANCH = regex(r"\b(?:branch\w*|switch\w*|check(?:s|ed|ing)?[ -]?out)\b", re.IGNORECASE)
_GOES_ON = regex(r"\b(?:merg\w*|rebas\w*|cherry[ -]?pick\w*|revert\w*|commit\w*|continue|finish)\b", re.IGNORECASE)
_GIT_WRITES: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "git_stage_files": ("stages files", _COMMIT),
    "git_commit": ("commits", _COMMIT),
    "git_continue": ("finishes what git has begun", _GOES_ON),
    "git_switch": ("switches the branch", _BRANCH),
}


class Capabilities(Struct):
    """What a plan may name and do."""

    tools: Mapping[str, SideEffect]  # each tool's side effect
    agents: Collection[str]
    knows_agent: Callable[[str], bool]  # whether there is an agent of that name, or one that the name stands for
    # codes, only_codes: whether an agent edits files in one answer, and does so whatever it is asked
    codes: Callable[[str], bool]
    allowed: ToolSettings
    max_steps: int
    only_codes: Callable[[str], bool] = lambda _name: False
    # what is wrong with the arguments of a tool; empty if nothing is
    argument_problem: Callable[[str, Mapping[str, Any]], str] = lambda _tool, _arguments: ""


class Asked(Struct):
    """What the user asked for, whether it is sure that the task changes nothing (`only_looks`), and the files that his
    words let go (`may_go`)."""

    prompt: str
    only_looks: bool = False
    may_go: frozenset[str] = frozenset()


class Problem(Struct):
    """Why a plan, or a step of it, cannot be carried out; `refused` if policy forbids it, else the plan is wrong."""

    text: str
    refused: bool = False
    step_id: str = ""


def complete(plan: Plan, *, explainer: str, speaks: Callable[[str], bool] = lambda _tool: False) -> Plan:
    """The plan with what it lacks, and with its steps in an order in which they can be carried out.

    - Outputs that the arguments of a step refer to are among its inputs.
    - A step comes after the steps whose output it needs, if no two of them need each other.
    - A plan without steps says why it has none; one that ends with what a tool found says it in words.

    A plan that changes files needs no step of its own for the check: `review` runs it after the last change.

    Args:
        explainer: the agent that gives the last word.
        speaks: whether what a tool does says all: it changes files, and the user is shown what changed.
    """
    if plan.origin not in {"plan", "user"}:
        return plan
    if not plan.steps:
        text = plan.reason or "There is nothing to do."
        return replace(plan, steps=(Step(id="answer", action="respond", arguments={"text": text}),))
    before = (None, *plan.steps)
    steps = _in_order(tuple(_with_inputs(step, last) for step, last in zip(plan.steps, before, strict=False)))
    if steps[-1].action != "tool" or plan.origin == "user" or speaks(steps[-1].capability):
        return replace(plan, steps=steps)
    taken = {step.id for step in steps}
    last_word = Step(
        id=next(name for name in ("answer", *(f"answer-{number}" for number in range(2, 1000))) if name not in taken),
        action="delegate",
        capability=explainer,
        objective="Answer the task from what the steps found.",
        inputs=tuple(step.id for step in steps),
        tier="open",
    )
    return replace(plan, steps=(*steps, last_word))


def _with_inputs(step: Step, last: Step | None) -> Step:
    more = tuple(name for name in referred(step.arguments) if name not in step.inputs)
    if step.undecided and last is not None and not step.inputs and not more:  # what it gave decides
        more = (last.id,)
    return replace(step, inputs=(*step.inputs, *more)) if more else step


def _in_order(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps after those that they need; as they are, where two need each other or a name stands for two."""
    known = {step.id for step in steps}
    if len(known) < len(steps):
        return steps
    ordered: list[Step] = []
    waiting = list(steps)
    while waiting:
        done = {step.id for step in ordered}
        ready = next((step for step in waiting if set(step.inputs) & known <= done), None)
        if ready is None:
            return steps
        ordered.append(ready)
        waiting.remove(ready)
    return tuple(ordered)


def find_problem(plan: Plan, known: Capabilities, asked: Asked, outputs: Collection[str] = ()) -> Problem | None:
    """The first rule that the plan breaks, or None; `outputs`: ids of steps of earlier plans, which are still there."""
    if not plan.steps:
        return Problem(text="the plan has no steps")
    if len(plan.steps) > known.max_steps:
        return Problem(text=f"the plan has {len(plan.steps)} steps; {known.max_steps} are allowed")
    seen: set[str] = set()
    inputs = {step.id: step.inputs for step in plan.steps}
    for step in plan.steps:
        problem = _order_problem(step, seen, inputs, outputs)
        problem = replace(problem, step_id=step.id) if problem else chosen_problem(step, plan, known, asked)
        if problem:
            return problem
        seen.add(step.id)
    return None


def _order_problem(
    step: Step, seen: Collection[str], inputs: Mapping[str, tuple[str, ...]], outputs: Collection[str]
) -> Problem | None:
    if step.id in seen:
        return Problem(text=f"two steps have the id {step.id!r}")
    for name in step.inputs:
        if name == step.id:
            return Problem(text=f"step {step.id!r} needs its own output")
        if name in seen or name in outputs:
            continue
        if name in inputs and step.id in _all_inputs(name, inputs):
            return Problem(text=f"steps {step.id!r} and {name!r} need each other's output")
        if name in inputs:
            return Problem(text=f"step {step.id!r} needs the output of {name!r}, which comes later")
        return Problem(text=f"step {step.id!r} needs the output of {name!r}, which is no earlier step")
    return None


def _all_inputs(name: str, inputs: Mapping[str, tuple[str, ...]]) -> set[str]:
    """The ids of the steps that a step needs, directly or by others."""
    found: set[str] = set()
    waiting = list(inputs.get(name, ()))
    while waiting:
        item = waiting.pop()
        if item not in found:
            found.add(item)
            waiting += inputs.get(item, ())
    return found


def _step_problem(step: Step, known: Capabilities) -> Problem | None:
    if step.action == "tool":
        return _tool_problem(step, known)
    if step.action in {"delegate", "coding"} and step.capability and not known.knows_agent(step.capability):
        return Problem(text=_unknown("agent", step.capability, known.agents))
    if step.action == "coding" and step.capability and not known.codes(step.capability):
        return Problem(text=f"{step.capability} does not edit files; use it in a delegate step")
    if step.action in {"coding", "repair"} and not known.allowed.allow_write:
        return Problem(text="changing files is not allowed (tools.allow_write is off)", refused=True)
    if step.action == "ask" and not step.arguments.get("text"):
        return Problem(text=f"step {step.id!r} asks nothing; give the question as argument text")
    return None


def _tool_problem(step: Step, known: Capabilities) -> Problem | None:
    if step.undecided:
        return _choice_problem(step, known)
    allowed = known.allowed
    effect = known.tools.get(step.capability)
    if effect is None:
        why = known.argument_problem(step.capability, {}) if server_of(step.capability) else ""
        return Problem(text=why or _unknown("tool", step.capability, known.tools))
    rules = {"write": allowed.allow_write, "run": allowed.allow_run, "network": allowed.allow_network}
    if not rules.get(effect, True):
        return Problem(text=f"{step.capability} is not allowed (tools.allow_{effect} is off)", refused=True)
    loose = unprotected(str(step.arguments.get(SHELL_ARGUMENTS.get(step.capability, ""), "")))
    if loose:
        return Problem(
            text=f"step {step.id!r} puts {loose} where a shell's command cannot take it safely; write it as a word of "
            "its own, without quotes around it: it is quoted when it is put in"
        )
    if referred(step.arguments):  # what they become is looked at when the step runs
        return None
    wrong = known.argument_problem(step.capability, step.arguments)
    return Problem(text=f"step {step.id!r}: {wrong}") if wrong else None


def _choice_problem(step: Step, known: Capabilities) -> Problem | None:
    if not step.inputs:
        return Problem(text=f"step {step.id!r} names no tool, and there is no step before it whose output could decide")
    if step.fallback_tool and step.fallback_tool not in known.tools:
        return Problem(text=_unknown("tool", step.fallback_tool, known.tools))
    return None


def chosen_problem(step: Step, plan: Plan, known: Capabilities, asked: Asked) -> Problem | None:
    """What is wrong with a step by itself, or None."""
    found = _step_problem(step, known) or beyond(step, plan, known, asked)
    return replace(found, step_id=step.id) if found else None


def beyond(step: Step, plan: Plan, known: Capabilities, asked: Asked) -> Problem | None:
    """Whether a step of a model's plan, or of its classification, does what the task did not ask for."""
    if plan.origin not in {"plan", "pre_plan"}:
        return None
    # What a model has read in files can put a change into its plan; the request is the user's own.
    if asked.only_looks and _changes(step, known):
        return Problem(text=f"the task asks to look, and step {step.id!r} changes something", step_id=step.id)
    if step.action != "tool":
        return None
    if step.capability == "delete_file" and str(step.arguments.get("path", "")).removeprefix("./") in asked.may_go:
        return None
    for does, wanted in _deeds(step, known):
        if not wanted.search(asked.prompt):
            return Problem(text=f"step {step.id!r} {does}, which the task does not ask for", step_id=step.id)
    return None


def asks_to_delete(prompt: str) -> bool:
    """Whether the user's words ask for something to be deleted."""
    return _DELETE.search(prompt) is not None


def _changes(step: Step, known: Capabilities) -> bool:
    if step.action == "tool":
        return known.tools.get(step.capability) == "write"
    return step.action in {"coding", "repair"} or (step.action == "delegate" and known.only_codes(step.capability))


def _deeds(step: Step, known: Capabilities) -> Iterator[tuple[str, re.Pattern[str]]]:
    """What a tool call does that has to be asked for, each with the words that ask for it."""
    if step.capability in _GIT_WRITES:
        yield _GIT_WRITES[step.capability]
    if step.capability == "delete_file":
        yield "deletes a file", _DELETE
    if step.capability == "apply_patch" and _DELETES_IN_PATCH.search(str(step.arguments.get("patch", ""))):
        yield "deletes a file", _DELETE
    # By the command's text, which a program can hide what it does from: what it does is bounded by the sandbox. This
    # only sees to it that a plan keeps to the request.
    if known.tools.get(step.capability) == "run":
        given = step.arguments.get("command", "")
        command = " ".join(map(str, given)) if isinstance(given, list | tuple) else str(given)
        for does, pattern, wanted in (
            ("pushes", _PUSHES, _PUSH),
            ("commits", _COMMITS, _COMMIT),
            ("deletes files", _DELETES, _DELETE),
        ):
            if pattern.search(command):
                yield does, wanted


def _unknown(kind: str, name: str, known: Collection[str]) -> str:
    # Of a long list always the nearest, however far: all names would take more of the request than the plan does.
    near = difflib.get_close_matches(name, sorted(known), n=_NAMED, cutoff=0.0 if len(known) > _LISTED else 0.6)
    if near:
        hint = f"the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}"
    else:
        hint = f"there are: {', '.join(sorted(known))}"
    return f"there is no {kind} named {name!r}; {hint}"
