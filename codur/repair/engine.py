"""Offline repair: searches for the smallest edit that makes the check pass, without a model.

Generate and validate, as GenProg (Le Goues et al. 2012) and PraPR (Ghanbari et al. 2019) do, but systematically:
candidates are judged in the order of localisation × prior × size, and those that bring the check further are combined
with a second edit. The same input gives the same order; only the budget can end the search early.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import heappop, heappush

from codur.errors import LimitReached, WorkspaceError
from codur.events import Emit, RepairProgress
from codur.repair.failure import read_failure
from codur.repair.judge import Judge
from codur.repair.localise import localise, moved
from codur.repair.program import Candidate, Program, Which, candidates, fingerprint
from codur.repair.tracing import Coverage, run_traced
from codur.sandbox.cancel import CancelToken
from codur.types import Check, Verdict
from codur.verification.checker import Checker
from codur.workspace.workspace import Workspace

Clock = Callable[[], float]

_MAX_OTHER_FILES = 20
_BEAM = 8
_EVERY = 20
_MORE_S = 1.0
_MORE_CANDIDATES = 8
_SAME_RANK = 0.5
"""After a pass, candidates of at least this share of its priority are counted too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOutcome:
    """What a search ends with.

    Attributes:
        files: new text by path of the files to change; empty if no candidate passed.
        verdict: the passing verdict, or that of the candidate which came furthest; None if none was judged.
        explanation: what the repair does, or why there is none.
        operators: names of the operators used, in order.
        tried: candidates judged.
        passing: candidates that passed, among those judged before the search stopped.
        best_progress: the highest progress seen, the program as found included.
        exhausted: whether every candidate was judged (else the budget ended the search, or it found a repair).
    """

    files: Mapping[str, str] = field(default_factory=dict)
    verdict: Verdict | None = None
    explanation: str = ""
    operators: tuple[str, ...] = ()
    tried: int = 0
    passing: int = 0
    best_progress: float = 0.0
    exhausted: bool = False


def search(
    *,
    workspace: Workspace,
    checker: Checker,
    check: Check | None,
    before: Verdict,
    files: Sequence[str],
    budget_s: float,
    max_order: int,
    emit: Emit,
    cancel: CancelToken,
    clock: Clock = time.monotonic,
) -> RepairOutcome:
    """Looks for edits of the workspace's Python files that make the check pass.

    Args:
        workspace: a scratch copy; it is as before afterwards.
        checker: bound to that copy.
        before: the check's verdict on the program as it is.
        files: workspace-relative paths, most relevant first; other executed Python files follow them.
        budget_s: seconds, by `clock`.
        max_order: edits combined at most.

    Raises:
        Interrupted: `cancel` was set; it is looked at between candidates.
    """
    if check is None or check.kind == "syntax":
        return RepairOutcome(explanation="There is no check that tells a right program from a wrong one.")
    if before.status == "no_check":
        return RepairOutcome(explanation="The check found nothing to judge by.")
    if before.passed:
        return RepairOutcome(explanation="The check passes already.", best_progress=before.progress)
    started = clock()
    paths = _python_files(workspace, check, files)
    if not paths:
        return RepairOutcome(explanation="There is no Python file that may be changed.", best_progress=before.progress)
    root = workspace.root
    coverage = run_traced(checker, root, check, usual_s=before.duration_s)
    texts = _texts(workspace, _in_question(paths, files, coverage))

    def next_candidates(program: Program, verdict: Verdict, which: Which) -> Iterator[Candidate]:
        failure = read_failure(verdict, root)
        suspicion = localise(moved(coverage, texts, program.texts), failure)
        return candidates(program, failure, suspicion, which)

    run = _Search(
        judge=Judge(workspace, checker, check, before),
        candidates=next_candidates,
        original=Program(texts=texts),
        before=before,
        max_order=max_order,
        emit=emit,
        time_left=lambda: budget_s - (clock() - started),
        cancel=cancel,
    )
    return run.run()


def _python_files(workspace: Workspace, check: Check, files: Sequence[str]) -> list[str]:
    """Python files that may be changed, the given ones first."""
    present = [path for path in files if path.endswith(".py") and workspace.is_file(path)]
    found = dict.fromkeys([*present, *workspace.list_files(pattern="*.py")])
    return [path for path in found if path not in check.protected and not workspace.is_protected(path)]


def _in_question(paths: list[str], files: Sequence[str], coverage: Coverage | None) -> list[str]:
    """The given files, and a limited number of others that the check executes (if that is known)."""
    others = [path for path in paths if path not in files]
    known = coverage.paths if coverage else frozenset()
    executed = [path for path in others if path in known] if known else others
    return [path for path in paths if path in files] + executed[:_MAX_OTHER_FILES]


def _texts(workspace: Workspace, paths: list[str]) -> dict[str, str]:
    """The files that can be read as text; one that cannot is no subject of a search."""
    found: dict[str, str] = {}
    for path in paths:
        with suppress(WorkspaceError):
            found[path] = workspace.read_text(path).text
    return found


class _Search:
    """One search: a queue of candidates by priority, and the programs that came further than the one found."""

    def __init__(
        self,
        *,
        judge: Judge,
        candidates: Callable[[Program, Verdict, Which], Iterator[Candidate]],
        original: Program,
        before: Verdict,
        max_order: int,
        emit: Emit,
        time_left: Callable[[], float],
        cancel: CancelToken,
    ) -> None:
        self._judge = judge
        self._candidates = candidates
        self._original = original
        self._before = before
        self._max_order = max_order
        self._emit = emit
        self._time_left = time_left
        self._cancel = cancel
        self._queue: list[tuple[float, int, Candidate]] = []
        self._queued = 0
        self._seen = {fingerprint(original, original)}
        self._tried = 0
        self._best: Verdict | None = None
        self._beam: list[float] = []
        self._widened = False
        self._aside: list[tuple[float, int, Program, Verdict]] = []

    def run(self) -> RepairOutcome:
        """Judges candidates until one passes, none is left or the time is up."""
        self._expand(self._original, self._before, 1.0, "executed")
        while self._time_left() > 0:
            judged = self._next()
            if judged is None:
                if not self._widen():
                    return self._failed(exhausted=True)
                continue
            program, verdict = judged
            if verdict.passed:
                return self._passed(program, verdict)
            self._keep(program, verdict)
        return self._failed(exhausted=False)

    def _next(self) -> tuple[Program, Verdict] | None:
        """The next candidate that is new and compiles, with its verdict; None if the queue or the time has ended."""
        while self._queue and self._time_left() > 0:
            self._cancel.raise_if_cancelled()
            _, _, candidate = heappop(self._queue)
            program = candidate.program()
            found = fingerprint(program, self._original)
            if found is None or found in self._seen:
                continue
            self._seen.add(found)
            verdict = self._judge.judge(self._changed(program))
            self._tried += 1
            if self._best is None or verdict.progress > self._best.progress:
                self._best = verdict
            if self._tried % _EVERY == 0:
                place = f"{candidate.path}:{candidate.line}"
                self._emit(RepairProgress(tried=self._tried, best=self._progress(), place=place))
            return program, verdict
        return None

    def _progress(self) -> float:
        return max(self._before.progress, self._best.progress if self._best else 0.0)

    def _changed(self, program: Program) -> dict[str, str]:
        return {path: text for path, text in program.texts.items() if text != self._original.texts[path]}

    def _expand(self, program: Program, verdict: Verdict, factor: float, which: Which = "all") -> None:
        """Queues further changes of a program; `factor` scales their priorities."""
        for candidate in self._candidates(program, verdict, which):
            heappush(self._queue, (-candidate.priority * factor, self._queued, candidate))
            self._queued += 1

    def _keep(self, program: Program, verdict: Verdict) -> None:
        """A program that came further is combined with more edits at once; one that fails in another way waits."""
        if len(program.changes) >= self._max_order or verdict.timed_out:
            return
        gain = _gain(self._before, verdict)
        if gain > 0 and (len(self._beam) < _BEAM or gain > min(self._beam)):
            self._beam = sorted([*self._beam, gain])[-_BEAM:]
            self._expand(program, verdict, 0.5 + gain)
        elif gain >= 0 and verdict.signature != self._before.signature:
            self._aside.append((-program.priority, self._tried, program, verdict))

    def _widen(self) -> bool:
        """Takes up statements that were not executed, then the likeliest program set aside; False if all is done."""
        if self._time_left() <= 0:
            return True
        if not self._widened:
            self._widened = True
            self._expand(self._original, self._before, 1.0, "not executed")
            return True
        if not self._aside:
            return False
        self._aside.sort(key=lambda each: each[:2])
        _, _, program, verdict = self._aside.pop(0)
        self._expand(program, verdict, 1.0)
        return True

    def _passed(self, program: Program, verdict: Verdict) -> RepairOutcome:
        return RepairOutcome(
            files=self._changed(program),
            verdict=verdict,
            explanation=" ".join(change.says for change in program.changes),
            operators=tuple(change.operator for change in program.changes),
            tried=self._tried,
            passing=1 + self._count_more(program),
            best_progress=self._progress(),
        )

    def _count_more(self, passed: Program) -> int:
        """How many of the next candidates of about the same rank pass too: a sign of a weak check."""
        stop = self._time_left() - _MORE_S
        more = 0
        with suppress(LimitReached):  # the repair is found; only the count would be longer
            for _ in range(_MORE_CANDIDATES):
                rank = -self._queue[0][0] if self._queue else 0.0
                if rank < _SAME_RANK * passed.priority or self._time_left() <= max(stop, 0):
                    break
                judged = self._next()
                more += judged is not None and judged[1].passed
        return more

    def _failed(self, *, exhausted: bool) -> RepairOutcome:
        reason = "No edit made the check pass" if exhausted else "The time was up before an edit made the check pass"
        return RepairOutcome(
            verdict=self._best,
            explanation=f"{reason}; {self._tried} candidates were judged.",
            tried=self._tried,
            best_progress=self._progress(),
            exhausted=exhausted,
        )


def _gain(before: Verdict, verdict: Verdict) -> float:
    """How much further a verdict is: the rise of progress, or a little for an output in place of a crash."""
    rise = verdict.progress - before.progress
    ended = verdict.exit_status == 0 or bool(verdict.tests_total)
    had_ended = before.exit_status == 0 or bool(before.tests_total)
    return 0.01 if rise == 0 and ended and not had_ended else rise
