"""Plausible is not correct: which of the programs that pass is taken, and how sure that is.

A program's score is the priority with which it was searched, higher the more generated inputs it answers like the
program as it was found: a bug spoils some answers, seldom all, and a patch that changes them all fits by chance.
Programs with the same answers are one group; a repair is clear if hardly any score is left for other groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from math import exp

from codur.patches import Distinction, Patch, RepairTier
from codur.repair.candidates.candidates import Program, explained
from codur.repair.choice.probing import Inputs, Prober
from codur.repair.outcome import Repair
from codur.structs import Struct
from codur.types import Verdict

MOST_SHOWN = 6
_MOST_PROBED = 10  # each costs runs of the program, and of its examples
_MOST_OF_ALL = 40
_CLEAR = 0.75  # chosen, as the two below: what is not clear is asked about, or told as a guess
_CLEAR_BY_WEAK_CHECK = 0.95
_LIKENESS = 2.2
"""How much an answer like that of the program as it was found counts: fitted, a logarithm."""
_PER_CHANGE = 0.5  # a pair has its second edit's freedom to fit by chance
_NO_EXAMPLE = 0.1
"""What is left of a score if no example in a docstring comes out as it is written."""
_FEW = 3
"""More repairs than these that pass a weak check mean that it tells nothing, whatever they answer otherwise."""
_MANY = 5
"""The same for a single run of any output, where repairs that pass may all behave alike and be wrong."""
_NUDGES = frozenset(
    "range bound, comparison boundary, comparison swapped, constant shifted, constant replaced, index shifted, "
    "value shifted, step removed, slice bound, arithmetic swapped, variable replaced, update inserted, "
    "seen guarded".split(", ")
)
"""Operators that move a number or have many ways to go: one short answer is easily hit by chance."""
_SYNTHESISED = frozenset(
    "condition extended, constant named, else added, expression replaced, filter added, statement guarded".split(", ")
)
"""Operators that build something new out of what is in scope: many ways to fit the tests alone."""


class Passed(Struct):
    """A program that passed the check."""

    program: Program
    verdict: Verdict


class Choice(Struct):
    """The programs that passed, the one to take first."""

    ranked: tuple[Passed, ...]
    repairs: tuple[Repair, ...]  # one of each behaviour; the first is that of the first program
    tier: RepairTier


class _Scored(Struct):
    passed: Passed
    score: float
    answers: tuple[str, ...] = ()


class Doubts(Struct):
    """What makes a pass prove less."""

    compared: bool  # whether others of about the same rank were judged too, so that one that is alone is clear
    weak: bool  # the check compares one short answer only
    sample: bool  # the check compares the output of a single run


def choose(
    passed: Sequence[Passed], original: Program, prober: Prober, doubts: Doubts, *, every: bool = False
) -> Choice:
    """Ranks programs that passed.

    Args:
        passed: in the order of the search, not empty.
        every: all repairs are wanted, not only the likeliest.
    """
    most, weak = _MOST_OF_ALL if every else _MOST_PROBED, doubts.weak
    likely = sorted(passed, key=lambda each: -_score(each))[:most]
    trial = _Trial.of(original, prober, likely)
    scored = sorted((trial.scored(*each) for each in enumerate(likely)), key=lambda each: -each.score)
    groups: dict[tuple[str, ...] | int, list[_Scored]] = {}
    for index, each in enumerate(scored):
        # Without answers nothing says that two are alike: each is a behaviour of its own.
        groups.setdefault(each.answers or index, []).append(each)
    # Of programs that behave alike the one with the fewest edits is shown; they are in the order of their scores.
    behaviours = [sorted(group, key=lambda each: len(each.passed.program.changes)) for group in groups.values()]
    first = behaviours[0]
    share = sum(each.score for each in first) / sum(each.score for each in scored)
    too_many = (weak and len(passed) > _FEW) or (doubts.sample and len(passed) > _MANY)
    clear = doubts.compared and share >= (_CLEAR_BY_WEAK_CHECK if weak else _CLEAR) and not too_many
    clear = clear and not _doubtful(first[0].passed.program, doubts)
    return Choice(
        ranked=tuple(each.passed for group in behaviours for each in group),
        repairs=tuple(
            repair_of(group[0].passed.program, original, _distinction(first[0].answers, group[0].answers, trial.inputs))
            for group in behaviours[: most if every else MOST_SHOWN]
        ),
        tier="deterministic" if clear else "guided",
    )


def _doubtful(program: Program, doubts: Doubts) -> bool:
    """Whether a repair is of a kind that often passes by chance."""
    if doubts.sample and len(program.changes) > 1:
        return True
    operators = {change.operator for change in program.changes}
    return bool(operators & _SYNTHESISED) or (doubts.weak and bool(operators & _NUDGES))


class _Trial(Struct):
    """How programs answer inputs that tell them from the one as it was found, and that one's answers."""

    inputs: Inputs | None
    before: tuple[str, ...]
    # answers, shown: of each program, to the inputs and to the examples in docstrings
    answers: Sequence[tuple[str, ...]]
    shown: Sequence[tuple[str, ...]]

    @classmethod
    def of(cls, original: Program, prober: Prober, likely: Sequence[Passed]) -> _Trial:
        """There are no inputs for a single program."""
        several = len(likely) > 1
        inputs = prober.inputs(original, [each.program for each in likely]) if several else None
        examples = prober.examples(original) if several else None
        versions = [changed(each.program, original) for each in likely]
        none: tuple[str, ...] = ()
        before, *answers = prober.answers(inputs, [{}, *versions]) if inputs else [none] * (len(likely) + 1)
        shown = prober.answers(examples, versions) if examples else [none] * len(likely)
        return cls(inputs=inputs, before=before, answers=answers, shown=shown)

    def scored(self, number: int, passed: Passed) -> _Scored:
        answers, shown = self.answers[number], self.shown[number]
        agreed = _NO_EXAMPLE + sum(each == "ok" for each in shown) / len(shown) if shown else 1.0
        reached = self.inputs is not None and self.inputs.reach(passed.program)
        same = sum(new == old for new, old in zip(answers, self.before, strict=False)) if reached else 0
        # A change outside of the function that is called agrees with everything and earns nothing by it.
        alike = same / max(len(answers), 1)
        return _Scored(passed=passed, score=_score(passed) * agreed * exp(_LIKENESS * alike), answers=answers)


def _score(passed: Passed) -> float:
    program = passed.program
    return program.priority * _PER_CHANGE ** (len(program.changes) - 1)


def changed(program: Program, original: Program) -> dict[str, str]:
    """The texts that differ from the program as it was found."""
    return {path: text for path, text in program.texts.items() if text != original.texts[path]}


def repair_of(program: Program, original: Program, distinction: Distinction | None = None) -> Repair:
    """A program that passes, as the patch that it is."""
    files = changed(program, original)
    patch = Patch(
        diff=_diff(files, original.texts),
        explanation=explained(program.changes, program.texts, original.texts),
        operators=tuple(change.operator for change in program.changes),
        distinction=distinction,
    )
    return Repair(files=files, patch=patch)


def _distinction(best: tuple[str, ...], answers: tuple[str, ...], inputs: Inputs | None) -> Distinction | None:
    """The first input with two answers; one that neither fails on is preferred."""
    if inputs is None:
        return None
    found = [
        Distinction(input=f"{inputs.function}({given[1:-1]})" if inputs.function else given, first=first, other=second)
        for given, first, second in zip(inputs.given, best, answers, strict=False)
        if first != second
    ]
    # Two values say more to a reader than a value and a crash; the sort keeps the order of the inputs otherwise.
    found.sort(key=lambda each: each.first.startswith("!") or each.other.startswith("!"))
    return found[0] if found else None


def _diff(files: Mapping[str, str], originals: Mapping[str, str]) -> str:
    lines: list[str] = []
    for path, text in files.items():
        lines += unified_diff(
            originals[path].splitlines(), text.splitlines(), f"a/{path}", f"b/{path}", lineterm="", n=1
        )
    return "\n".join(lines)
