"""The search itself: a queue of candidates by priority, judged in batches, and the programs that came further."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from math import inf, sqrt

from codur.errors import LimitReached
from codur.events import Emit, RepairProgress
from codur.parsing.bounded_text import listed
from codur.repair.candidates.candidates import Candidate, Mark, Program
from codur.repair.candidates.fingerprint import fingerprint
from codur.repair.candidates.late_candidates import Prospect, Which
from codur.repair.candidates.queue import Agenda
from codur.repair.choice.probing import Prober
from codur.repair.choice.ranked_repairs import Choice, Doubts, Passed, changed, choose, repair_of
from codur.repair.judge.candidate_judge import Judge
from codur.repair.outcome import Repair, RepairOutcome
from codur.sandbox.cancel import CancelToken
from codur.structs import Struct, replace
from codur.types import Verdict

_BATCH = 16
"""Candidates that are judged before what they show is used; fixed, so that the order never depends on the machine."""
_BETWEEN, _LATER = 96, 3
"""After so many candidates, so many of those are judged that need a process of their own."""
_BEAM = 8  # programs that came further; chosen: with more of them, first edits would wait behind pairs
_PAIR = 0.1  # a pair explains less than an edit of its own: it comes late unless its first edit gained much
_EVERY = 20  # one progress event for so many, because each is redacted, recorded and drawn
_MORE_S = 2.5  # the user waits for a repair that is there already
_MORE_CANDIDATES = 400
_LEAST_MORE = 40  # fewer than these say nothing about whether the check is weak
_SLOWLY = 4  # as many times as long is waited for these, if that is enough for them: a machine may be busy
_MOST_SLOW = 12  # each may take all of its time, so that more would use up the search
_SAME_RANK = 0.15
"""After a pass, candidates of at least this share of its priority are judged too, within these bounds."""
_COMPARED = 1 / 3
"""The share where a hint led to the pass, at most: what is likelier than that would leave it unclear."""
_SHOWN_FILES = 3
_PARTS = 3
"""Candidates that mend some of the failing tests, which are looked at once more if none mends all."""
_PART_ALONE = 400
"""Candidates, or as many as came before, that mend nothing of what a part leaves: then it is taken."""
_PART = "it mends all failing tests that run what it changes; the others fail as before"
_UNCONFIRMED = "the time was up before what passed could be run once more in a process of its own"
_SHORT = 3
"""An output of fewer words is easily hit by chance."""

Confirm = Callable[[Mapping[str, str]], Verdict]
"""The verdict on these texts in a clean process: a pass, or why it does not count."""
Changes = Callable[[Program, Verdict, Which], Iterable[Candidate | Prospect]]


class Means(Struct):
    """What makes candidates, and what tells which are right."""

    judge: Judge
    changes: Changes
    prober: Prober
    confirm: Confirm
    # the verdict of these texts if they mend all failing tests that run what is changed, and others fail as before
    confirm_part: Callable[[Mapping[str, str]], Verdict | None]


class Bounds(Struct):
    """How far a search goes."""

    max_order: int  # edits combined at most
    every: bool = False  # go on after the first repair
    time_left: Callable[[], float]
    cancel: CancelToken
    emit: Emit  # is told how far it has come


class Search:
    """One search."""

    def __init__(self, original: Program, before: Verdict, means: Means, bounds: Bounds) -> None:
        self._original = original
        self._before = before
        self._judge = means.judge
        self._means = means
        self._bounds = bounds
        self._time_left = bounds.time_left
        self._agenda = Agenda(bounds.time_left)
        # Marks, and texts; that of the program as it is, as a change back to it is none.
        self._seen: set[Mark | int] = {()}
        self._tried = 0
        self._places_judged: set[tuple[str, int]] = set()
        # For the report alone: what is repaired is never decided by it.
        self._best: Verdict | None = None
        self._best_place = ""
        self._refused: Verdict | None = None
        self._parts: list[tuple[float, int, Program]] = []
        self._sure: dict[int, Verdict | None] = {}  # what became of parts that were looked at once more
        self._left: frozenset[str] | None = None  # failing tests that a sure part leaves
        self._end: float = inf  # how many candidates are judged at most
        self._beam: list[float] = []
        self._widened = False
        self._later: list[tuple[Candidate, Program]] = []
        self._turn = _BETWEEN
        self._aside: list[tuple[float, int, Program, Verdict]] = []
        self._passed: list[Passed] = []
        self._slow: list[tuple[float, float, int, Candidate, Program]] = []

    def run(self) -> RepairOutcome:
        """Judges candidates until some pass and hold, none is left or the time is up."""
        outcome = self._run()
        if self._tried >= _EVERY:
            self._tell("", outcome.passing)
        return outcome

    def _run(self) -> RepairOutcome:
        self._expand(self._original, self._before, 1.0, "executed")
        while True:
            exhausted = self._search()
            if not self._passed:
                return self._failed(exhausted=exhausted)
            compared = exhausted or self._bounds.every or self._gather()
            found = self._chosen(compared=compared)
            if found is not None:
                return replace(found, exhausted=exhausted, compared=exhausted if self._bounds.every else compared)
            if exhausted or self._time_left() <= 0:
                return self._failed(exhausted=exhausted)

    def _search(self) -> bool:
        """Judges candidates until some pass (or, for every repair, until the end); whether none is left."""
        try:
            while self._time_left() > 0 and self._tried < self._end and (self._bounds.every or not self._passed):
                batch = self._batch(_BATCH)
                if not batch and not self._widen():
                    return True
                self._take(self._judged(batch))
                self._look_at_parts()
                # By the number of candidates and not by time: a slow machine must judge in the same order as a quick
                # one.
                if self._tried >= self._turn:
                    self._turn = self._tried + _BETWEEN
                    self._judge_later(_LATER)
        except LimitReached:  # what passed until then is not lost
            self._judge.close()
        return False

    def _take(self, judged: Iterable[tuple[Program, Verdict]]) -> None:
        for program, verdict in judged:
            if not verdict.passed:
                self._keep(program, verdict)

    def _judge_later(self, most: int) -> None:
        """Judges the likeliest of those that take long, because nothing that is loaded can be used for them."""
        self._later.sort(key=lambda each: -each[1].priority * each[1].hinted)
        batch, self._later = self._later[:most], self._later[most:]
        self._take(self._judged(batch, apart=True))

    def _batch(self, size: int, *, least: float = 0.0) -> list[tuple[Candidate, Program]]:
        """The next candidates that are new and compile, with a priority of at least `least`."""
        found: list[tuple[Candidate, Program]] = []
        while len(found) < size and self._time_left() > 0:
            candidate = self._agenda.next(least)
            if candidate is None:
                break
            mark = fingerprint(candidate)
            # No mark: it does not compile. Two edits that come to the same code are one candidate.
            if mark is None or mark in self._seen:
                continue
            program = candidate.program(mark)
            text = hash(frozenset(changed(program, self._original).items()))
            if text not in self._seen:
                found.append((candidate, program))
            self._seen |= {mark, text}
        return found

    def _judged(
        self, batch: Sequence[tuple[Candidate, Program]], *, patient: bool = False, apart: bool = False
    ) -> Generator[tuple[Program, Verdict]]:
        """The batch with its verdicts, in order; those that take long wait.

        Args:
            patient: give each more time.
            apart: also judge those that take long.

        Raises:
            LimitReached: the time is up.
        """
        texts = [changed(program, self._original) for _, program in batch]
        with closing(self._judge.judge_many(texts, patient=patient, apart=apart)) as verdicts:
            for (candidate, program), verdict in zip(batch, verdicts, strict=False):
                self._bounds.cancel.raise_if_cancelled()
                if verdict is None:
                    self._later.append((candidate, program))
                    continue
                self._note(candidate, program, verdict)
                yield program, verdict

    def _note(self, candidate: Candidate, program: Program, verdict: Verdict) -> None:
        self._tried += 1
        self._places_judged.add((candidate.path, candidate.line))
        if self._best is None or verdict.progress > self._best.progress:
            self._best = verdict
            self._best_place = f"{candidate.path}:{candidate.line}" if self._progress() > self._before.progress else ""
        if verdict.progress > max(0.0, self._before.progress) and not verdict.passed:
            self._parts.append((-verdict.progress, self._tried, program))
            self._parts.sort(key=lambda each: each[:2])
            del self._parts[_PARTS:]
            if self._left and self._mends(verdict.progress) > len(self._reached(program) - self._left):
                self._end = inf  # what the part leaves can be mended, too: both together may pass
        if verdict.passed:
            self._passed.append(Passed(program=program, verdict=verdict))
        # Limits are tight, as most candidates that run long never end. The few that do get more time at the end.
        elif verdict.timed_out:
            self._slow.append((-verdict.progress, -program.priority, self._tried, candidate, program))
        if self._tried % _EVERY == 0:
            self._tell(f"{candidate.path}:{candidate.line}", len(self._passed))

    def _tell(self, place: str, passing: int) -> None:
        best = self._progress()
        self._bounds.emit(
            RepairProgress(tried=self._tried, best=best, place=place, passing=passing, best_place=self._best_place)
        )

    def _progress(self) -> float:
        return max(self._before.progress, self._best.progress if self._best else 0.0)

    def _expand(self, program: Program, verdict: Verdict, factor: float, which: Which = "all") -> None:
        """Queues further changes of a program; `factor` scales their priorities."""
        self._agenda.add(self._means.changes(program, verdict, which), factor)

    def _keep(self, program: Program, verdict: Verdict) -> None:
        """A program that came further is combined with more edits at once; one that fails in another way waits."""
        # Of one that ran out of time nobody knows how far it came.
        if len(program.changes) >= self._bounds.max_order or verdict.timed_out:
            return
        gain = _gain(self._before, verdict)
        if gain > 0 and (len(self._beam) < _BEAM or gain > min(self._beam)):
            self._beam = sorted([*self._beam, gain])[-_BEAM:]
            self._expand(program, verdict, (_PAIR + gain) * sqrt(program.priority))
        elif gain >= 0 and verdict.signature != self._before.signature:
            self._aside.append((-program.priority, self._tried, program, verdict))

    def _widen(self) -> bool:
        """Takes up statements that were not executed, then the likeliest program set aside; False if all is done."""
        if self._time_left() <= 0:
            return True
        if self._later:
            self._judge_later(_BATCH)
            return True
        # Last, since a fault in what was not executed explains a failure only if the wrong way was taken.
        if not self._widened:
            self._widened = True
            self._expand(self._original, self._before, 1.0, "not executed")
            return True
        if self._slow:
            self._retry_slow()
            return True
        if not self._aside:
            return False
        self._aside.sort(key=lambda each: each[:2])
        _, _, program, verdict = self._aside.pop(0)
        self._expand(program, verdict, 1.0)
        return True

    def _retry_slow(self) -> None:
        """Gives the likeliest of those that ran out of time more of it, once: a right program may be slow."""
        slow = sorted(self._slow, key=lambda each: each[:3])[:_MOST_SLOW]
        self._take(self._judged([each[3:] for each in slow], patient=True))
        self._slow.clear()

    # --- after a pass -------------------------------------------------------------------------------------------------

    def _gather(self) -> bool:
        """Judges the next candidates of about the same rank: others that pass are a sign of a weak check.

        Returns:
            Whether all of them were judged, or at least a fair number.
        """
        begun, before = self._time_left(), self._tried

        def is_over() -> bool:
            times = _SLOWLY if _LEAST_MORE / _SLOWLY <= self._tried - before < _LEAST_MORE else 1
            return self._time_left() <= max(begun - times * _MORE_S, 0.0)

        # Who gave a hint knows what is wrong, and need not wait as long for others that pass.
        programs = [each.program for each in self._passed]
        least = max(min(_SAME_RANK * each.hinted, _COMPARED) * each.priority for each in programs)
        left = most = max(int(_MORE_CANDIDATES / max(each.hinted for each in programs)), _LEAST_MORE)
        try:
            while left > 0 and not is_over():
                batch = self._batch(min(_BATCH, left), least=least)
                left -= len(batch)
                if not batch:
                    return True
                with closing(self._judged(batch)) as verdicts:
                    for _ in verdicts:
                        if is_over():
                            break
        except LimitReached:  # a repair is found; only the comparison would be longer
            self._judge.close()
        return most - left >= _LEAST_MORE

    def _chosen(self, *, compared: bool) -> RepairOutcome | None:
        """The best of what passed that holds in a clean process; None if nothing does."""
        while self._passed:
            choice = choose(
                self._passed,
                self._original,
                self._means.prober,
                Doubts(compared=compared, weak=_weak(self._before), sample=self._before.tests_total is None),
                every=self._bounds.every,
            )
            best = choice.ranked[0]
            try:
                verdict = self._means.confirm(changed(best.program, self._original))
            except LimitReached:  # whoever takes it runs the check once more
                unconfirmed = self._outcome(choice, best.verdict)
                return replace(unconfirmed, tier="guided", note=_UNCONFIRMED)
            if verdict.passed:
                return self._outcome(choice, verdict)
            self._refused = verdict
            self._passed.remove(best)
            # Workers that let one pass wrongly may have let others fail wrongly: all is judged anew in plain processes.
            if verdict.status == "failed" and not verdict.note and not self._judge.note:
                self._judge.distrust("a candidate passed there and failed in a plain process")
                self._passed.clear()
        return None

    def _outcome(self, choice: Choice, verdict: Verdict) -> RepairOutcome:
        holding: list[Repair] = []
        with suppress(LimitReached):  # those that were not tried in time are not told
            for each in choice.repairs[1:]:
                if not self._bounds.every or self._means.confirm(each.files).passed:
                    holding.append(each)  # noqa: PERF401 - what comes before the end of the time is kept
        return RepairOutcome(
            repairs=(choice.repairs[0], *holding),
            verdict=verdict,
            tier=choice.tier,
            tried=self._tried,
            passing=len(self._passed) - (len(choice.repairs) - 1 - len(holding)),
            best_progress=self._progress(),
            note=self._judge.note,
        )

    def _reached(self, program: Program) -> frozenset[str]:
        return self._judge.reached(changed(program, self._original))

    def _mends(self, progress: float) -> int:
        """How many of the failing tests pass with this progress."""
        return round((progress - self._before.progress) * (self._before.tests_total or 0))

    def _look_at_parts(self) -> None:
        """Bound the search once a part is sure: it mends all failing tests that run what it changes.

        Where tests always fail no candidate passes, and all of the time would go by.
        """
        if self._bounds.every or self._passed:
            return
        for progress, number, program in self._parts:
            if self._left is not None or len(self._sure) >= _PARTS:
                return
            if number not in self._sure and self._mends(-progress) == len(self._reached(program)):
                verdict = self._confirmed_part(number, program)
                if verdict is not None:
                    self._left = frozenset(self._before.failing) & frozenset(verdict.failing)
                    self._end = self._tried + max(_PART_ALONE, self._tried)

    def _confirmed_part(self, number: int, program: Program) -> Verdict | None:
        if number not in self._sure:
            self._sure[number] = self._means.confirm_part(changed(program, self._original))
        return self._sure[number]

    def _part(self) -> RepairOutcome | None:
        """The candidate that mends most of the failing tests, if the others have nothing to do with what it changes."""
        with suppress(LimitReached):
            for _, number, program in self._parts:
                verdict = self._confirmed_part(number, program)
                if verdict is not None:
                    repair = repair_of(program, self._original)
                    return RepairOutcome(
                        repairs=(repair,),
                        verdict=verdict,
                        tried=self._tried,
                        best_progress=self._progress(),
                        note=_PART,
                    )
        return None

    def _failed(self, *, exhausted: bool) -> RepairOutcome:
        part = None if self._bounds.every else self._part()
        if part is not None:
            return part
        ended = "No edit made the check pass" if exhausted else "The time was up before an edit made the check pass"
        files = sorted({path for path, _ in self._places_judged})
        where = f" in {listed(files, _SHOWN_FILES)}" if files else ""
        reason = f"{ended}; {count(self._tried)} judged{where}"
        if self._best is not None and self._before.progress < self._best.progress < 1.0:
            reason += f", the best came to {self._best.progress:.0%}"
        if self._judge.plain > self._judge.loaded and self._judge.note and not exhausted:
            reason += f", slowly, each in a process of its own: {self._judge.note}"
        reason += "."
        if self._refused is not None and self._refused.note:
            reason = f"What passed does not hold: {self._refused.note.removesuffix('.')}."
        return RepairOutcome(
            verdict=self._refused or self._best,
            reason=reason,
            tried=self._tried,
            best_progress=self._progress(),
            exhausted=exhausted,
            note=self._judge.note,
        )


def count(candidates: int) -> str:
    """`1 candidate was`, `12 candidates were`."""
    return f"{candidates:,} candidate was" if candidates == 1 else f"{candidates:,} candidates were"


def _weak(before: Verdict) -> bool:
    """Whether the check compares a word or number or two, or is a single test."""
    if before.tests_total is not None:
        return before.tests_total < 2
    return len(before.expected.split()) < _SHORT


def _gain(before: Verdict, verdict: Verdict) -> float:
    """How much further a verdict is: the rise of progress, or a little for an output in place of a crash."""
    rise = verdict.progress - before.progress
    ended = verdict.exit_status == 0 or bool(verdict.tests_total)
    had_ended = before.exit_status == 0 or bool(before.tests_total)
    return 0.01 if rise == 0 and ended and not had_ended else rise
