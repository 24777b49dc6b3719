"""A plan as lines: its steps, and what carrying it out will do."""

from __future__ import annotations

from collections.abc import Sequence

from codur.questions import PlanEffects, Question
from codur.types import Plan, Step
from codur.ui.lines import Line, clip, count, line

_MOST_SHOWN = 6
_WORDS = {
    "run": "runs programs",
    "network": "uses the network",
    "git": "writes to git",
    "delegate": "hands work over to another program",
}


def question_lines(question: Question) -> list[Line]:
    """What the user is shown before the prompt: the question, or the plan that is to be approved."""
    if question.plan is None or question.effects is None:
        return [line(("? ", "warn"), question.text)]
    lines = plan_lines(question.plan, question.effects)
    if question.text:
        lines.append(line(("✘ it cannot be carried out: ", "bad"), question.text))
    return lines


def plan_lines(plan: Plan, effects: PlanEffects) -> list[Line]:
    """A plan with its effects."""
    return [
        line(("plan: ", "strong"), f"{count(len(plan.steps), 'step')}, {_calls(effects)}"),
        *_table(plan.steps),
        *_effect_lines(effects),
    ]


def _table(steps: Sequence[Step]) -> list[Line]:
    names = max(len(step.id) for step in steps)
    whats = [f"{step.action} {step.capability}".strip() for step in steps]
    width = max(map(len, whats))
    lines = []
    for number, (step, what) in enumerate(zip(steps, whats, strict=True), start=1):
        needs = f"  (needs {', '.join(step.inputs)})" if step.inputs else ""
        text = step.objective or str(step.arguments.get("text", ""))
        lines.append(
            line(
                (f"{number:>3}  ", "dim"),
                (f"{step.id:<{names}}  ", "strong"),
                f"{what:<{width}}  ",
                clip(text, width=80),
                (needs, "dim"),
            )
        )
    return lines


def _effect_lines(effects: PlanEffects) -> list[Line]:
    lines = []
    if "write" in effects.kinds:
        named = [_some(effects.files)] if effects.files else []
        rest = ["files that its steps choose"] if effects.other_files else []
        lines.append(line(("     changes: ", "dim"), " and ".join([*named, *rest]) or "nothing that it names"))
    lines += [line(("     runs: ", "dim"), clip(command)) for command in effects.commands[:_MOST_SHOWN]]
    others = [_WORDS[kind] for kind in effects.kinds if kind in _WORDS and not (kind == "run" and effects.commands)]
    if others:
        lines.append(line(("     also: ", "dim"), ", ".join(others)))
    return lines or [line(("     changes nothing and runs nothing", "dim"))]


def _some(files: Sequence[str]) -> str:
    more = f" and {len(files) - _MOST_SHOWN} more" if len(files) > _MOST_SHOWN else ""
    return ", ".join(files[:_MOST_SHOWN]) + more


def _calls(effects: PlanEffects) -> str:
    if not effects.most_calls:
        return "no model calls"
    if effects.least_calls == effects.most_calls:
        return count(effects.most_calls, "model call")
    return f"{effects.least_calls} to {effects.most_calls} model calls"
