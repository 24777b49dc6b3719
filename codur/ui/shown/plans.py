"""A plan as lines: its steps, and what carrying it out will do."""

from collections.abc import Sequence

from codur.checks.describe import headline
from codur.parsing.bounded_text import listed
from codur.questions import PlanEffects, Question
from codur.types import Plan, Step
from codur.ui.styled_lines import Line, block, clip, count, line

_MOST_SHOWN = 6
_MOST_WIDE = 40
_LEAST_WIDE = 30
_MOST_OF_A_COMMAND = 500
"""Characters of a command that are shown: whoever approves of it has to see what it is."""
_BETWEEN = 9
"""Columns of a row of the table that are not its three texts."""
_WORDS = {
    "run": "runs programs",
    "network": "uses the network",
    "git": "writes to git",
    "delegate": "hands work over to another program",
}


def question_lines(question: Question, *, width: int = 100) -> list[Line]:
    """What the user is shown before the prompt: the question, or the plan that is to be approved."""
    if question.check is not None:
        lines = test_lines(question.check.entry or "", question.check.text, question.failure)
        return [*lines, line(("✘ it cannot be used: ", "bad"), question.text)] if question.text else lines
    if question.plan is None or question.effects is None:
        first, _, rest = question.text.strip().partition("\n")
        return [line(("? ", "warn"), first), *block(rest, prefix="  ")]
    lines = plan_lines(question.plan, question.effects, width=width)
    if question.text:
        lines.append(line(("✘ it cannot be carried out: ", "bad"), question.text))
    return lines


def test_lines(path: str, text: str, failure: str) -> list[Line]:
    """A test that was made for the task, and how it fails now."""
    return [
        line(("test made for the task: ", "strong"), path),
        *block(text.rstrip(), prefix="  "),
        line(("     red now: ", "dim"), clip(headline(failure))),
    ]


def plan_lines(plan: Plan, effects: PlanEffects, *, width: int = 100) -> list[Line]:
    """A plan with its effects."""
    return [
        line(("plan: ", "strong"), f"{count(len(plan.steps), 'step')}, {_calls(effects)}"),
        *_table(plan.steps, width),
        *_effect_lines(effects),
    ]


def _table(steps: Sequence[Step], columns: int) -> list[Line]:
    ids = [clip(step.id, width=_MOST_WIDE) for step in steps]
    whats = [clip(f"{step.action} {step.capability or step.decide}".strip(), width=_MOST_WIDE) for step in steps]
    names, width = max(map(len, ids)), max(map(len, whats))
    lines = []
    room = columns - names - width - _BETWEEN
    for number, (step, name, what) in enumerate(zip(steps, ids, whats, strict=True), start=1):
        needs = f"  (needs {', '.join(step.inputs)})" if step.inputs else ""
        lines.append(
            line(
                (f"{number:>3}  ", "dim"),
                (f"{name:<{names}}  ", "strong"),
                f"{what:<{width}}  ",
                clip(step.objective or str(step.arguments.get("text", "")), width=max(_LEAST_WIDE, room - len(needs))),
                (needs, "dim"),
            )
        )
        if step.action == "tool" and step.arguments:
            before = " " * (names + _BETWEEN - 2)
            # What a tool is called with: what it does is in this, whatever the objective says
            given = (f"{name}={clip(str(value), width=50)!r}" for name, value in step.arguments.items())
            lines.append(line((before + clip(", ".join(given), width=max(_LEAST_WIDE, columns - len(before))), "dim")))
    return lines


def _effect_lines(effects: PlanEffects) -> list[Line]:
    lines = []
    if "write" in effects.kinds:
        named = [listed(effects.files, _MOST_SHOWN)] if effects.files else []
        rest = ["files that its steps choose"] if effects.other_files else []
        lines.append(line(("     changes: ", "dim"), " and ".join([*named, *rest]) or "nothing that it names"))
    if effects.tests:
        judged = "; they judge it as changed, and no fewer may pass than before"
        lines.append(line(("     changes tests: ", "dim"), f"{listed(effects.tests, _MOST_SHOWN)}{judged}"))
    lines += _named("runs", effects.commands, rest=" more, see the steps")
    lines += _named("checked by", (effects.check,) if effects.check else ())
    lines += _named("asks the network", effects.addresses)
    told = {"run"} if effects.commands or effects.check else set[str]()
    told |= {"network"} if effects.addresses else set()
    others = [_WORDS[kind] for kind in effects.kinds if kind in _WORDS and kind not in told]
    if others:
        lines.append(line(("     also: ", "dim"), ", ".join(others)))
    return lines or [line(("     changes nothing and runs nothing", "dim"))]


def _named(what: str, items: Sequence[str], *, rest: str = " more") -> list[Line]:
    """A line for each of the first items, and one for how many more there are."""
    shown = [clip(item, width=_MOST_OF_A_COMMAND) for item in items[:_MOST_SHOWN]]
    more = [f"{len(items) - _MOST_SHOWN}{rest}"] if len(items) > _MOST_SHOWN else []
    return [line((f"     {what}: ", "dim"), text) for text in (*shown, *more)]


def _calls(effects: PlanEffects) -> str:
    if not effects.most_calls:
        return "no model calls"
    if effects.least_calls == effects.most_calls:
        return count(effects.most_calls, "model call")
    return f"{effects.least_calls} to {effects.most_calls} model calls"
