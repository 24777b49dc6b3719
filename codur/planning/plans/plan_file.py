"""A plan as a YAML file: to be looked at, edited, kept and run again.

codur_plan: 1
task: what was asked for
workspace: /the/directory/it/was/made/for
steps:
  - id: find
    action: tool
    …
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import Struct, field

from codur.config import reading
from codur.config.settings import Amount, Count
from codur.lazy import regex
from codur.types import Action, Plan, Step, Tier

if TYPE_CHECKING:
    from codur.config.reading.origin import Source

VERSION = 1
_ID = regex(r"[A-Za-z0-9_-]{1,60}")
_NO_CAPABILITY = frozenset({"respond", "ask", "repair"})


class PlanFile(Struct, frozen=True, kw_only=True):
    """What a plan file holds."""

    task: str
    workspace: str  # the absolute path of the directory that the plan was made for; empty: it fits any
    plan: Plan
    workspace_line: int = 0  # the line that says so


class StepEntry(Struct, frozen=True, kw_only=True):
    """A step as the file states it."""

    id: str = ""
    action: Action = "tool"
    capability: str = ""
    objective: str = ""
    expected_output: str = ""
    success_criteria: str = ""
    inputs: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    decide: Literal["", "guided"] = ""
    decision_prompt: str = ""
    max_candidates: Count = -1
    min_compatibility: Amount = -1.0
    fallback_tool: str = ""


_STEP = StepEntry()


class PlanDocument(Struct, frozen=True, kw_only=True):
    """The file's keys."""

    codur_plan: Count = 0
    task: str = ""
    workspace: str = ""
    steps: tuple[StepEntry, ...] = ()


def plan_text(plan: Plan, *, task: str, workspace: str) -> str:
    """The plan as YAML; `read_plan` reads it back."""
    steps = [_entry(step) for step in plan.steps]
    document = {"codur_plan": VERSION, "task": task, "workspace": workspace, "steps": steps}
    return reading.yaml_source.yaml_text(document)


def read_plan(data: bytes, name: str) -> PlanFile:
    """The plan in the content of a file; ConfigError if it is no plan: what is wrong, with file, line and key."""
    source = reading.yaml_source.parse_yaml(data, name)
    values = reading.values.check(source, PlanDocument, noun="key")
    found = source.values.get("codur_plan")
    if found is None:
        raise source.error(("codur_plan",), "is missing; this is no plan file", f"Begin it with codur_plan: {VERSION}.")
    if found != VERSION or isinstance(found, bool):
        raise source.error(
            ("codur_plan",), f"this version reads plans of version {VERSION}", "Make the plan anew with `codur plan`."
        )
    steps = tuple(_step(source, number, entry) for number, entry in enumerate(values.get("steps", ())))
    first: dict[str, int] = {}
    for number, step in enumerate(steps):
        if step.id in first:
            line = source.place(("steps", first[step.id])).line
            raise source.error(
                ("steps", number, "id"),
                f"there is a step {step.id} already, on line {line}",
                "Give each step an id of its own.",
            )
        first[step.id] = number
    if not steps:
        raise source.error(("steps",), "the plan has no steps", "Give it at least one, with an id and an action.")
    if not values.get("task", "").strip():
        raise source.error(("task",), "the task is missing", "Say in a sentence what the plan is for.")
    plan = Plan(steps=steps, origin="user", reason=f"the plan of {name}")
    return PlanFile(
        task=values["task"],
        workspace=values.get("workspace", ""),
        plan=plan,
        workspace_line=source.place(("workspace",)).line,
    )


def _entry(step: Step) -> dict[str, Any]:
    """A step without what it does not say."""
    stated = {name: getattr(step, name) for name in StepEntry.__struct_fields__}
    return {name: _plain(value) for name, value in stated.items() if value != getattr(_STEP, name) or name == "action"}


def _plain(value: Any) -> Any:
    """The value with lists and dicts alone, which is what YAML has."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _step(source: Source, number: int, entry: Mapping[str, Any]) -> Step:
    path = ("steps", number)
    for key in ("id", "action"):
        if not entry.get(key):
            raise source.error(path, f"the step has no {key}", f"Give it one: {key}: …")
    if not _ID.fullmatch(entry["id"]):
        raise source.error(
            (*path, "id"), "must be a short name of letters, digits, - and _", "Later steps refer to it by this name."
        )
    action = cast("Action", entry["action"])
    decided = bool(entry.get("decide"))
    if decided and action != "tool":
        raise source.error(
            (*path, "decide"), f"a step of action {action} has nothing to decide", "Make it a tool step."
        )
    if action not in _NO_CAPABILITY and action != "coding" and not (entry.get("capability") or decided):
        kind = "tool" if action == "tool" else "agent"
        remedy = f"Name the {kind} as capability" + (", or write decide: guided." if kind == "tool" else ".")
        raise source.error(path, f"the step names no {kind}", remedy)
    tier: Tier = "open" if action in {"coding", "delegate"} else "deterministic"
    place = source.place(path)
    return Step(
        **{**entry, "action": action, "arguments": dict(entry.get("arguments", {}))},
        tier=tier,
        place=f"{place.file}:{place.line}",
    )
