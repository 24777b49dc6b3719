"""Judging candidates by the failing tests alone, with the project and its tests loaded once."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress

from codur.checks.checker import Checker
from codur.errors import LimitReached
from codur.python.test_run import files_of
from codur.repair.judge.warm_judge import Unfit
from codur.repair.judge.warm_worker import Answer, Edit, Limits, Tests, Worker
from codur.repair.judge.worker_job import job_of
from codur.repair.judge.worker_pool import Pool, Question
from codur.structs import replace
from codur.types import Check, Verdict

_FIRST_S = 8.0  # chosen; the first run also imports what tests import late
"""Processor time of the first run of the tests that fail."""
_TOGETHER = 8  # a fork with a project loaded costs more than most tests; more in one spoil each other more often
"""Edits that are tried in one process."""
_ENOUGH = 3
"""Of the tests that failed: after so many failures the others are not run."""
_FIRST_OF_TEST_S = 4.0
_OTHERS = 20_000  # numbers of tests that there may be; the worker passes over those that are not
_OTHERS_S, _OTHERS_TIMES = 3.0, 1.5
"""Processor time of all other tests once: seconds, and times of the whole check before."""
_WHOLE_S, _WHOLE_TESTS = 40.0, 5_000
"""Of a suite that takes longer or has more tests, only the files with tests that fail are loaded."""
_SLOWER = 8.0  # of times so short that the scheduler's share is most of them
_LEAST_S, _LEAST_AFTER_HANG_S = 0.1, 0.3
_IDLE_S = 0.5  # a test that waits for nothing (a lock, a socket) uses no processor time and would never end by that
_KEEP = 4_096  # outputs are not looked at: the tests tell how they ended
_LEFT_OUT = ("-q", "--tb=short")  # given in the form below instead
_OPTIONS = ("-q", "--capture=sys", "--tb=native", "-p", "no:cacheprovider")


End = tuple[int, str, str, float]
"""How a test ended: its number, `passed`, `failed`, `skipped` or `hung`, what it raised, and its seconds."""


class Loaded:
    """Workers with the project loaded. `close` ends them.

    Args:
        checker: bound to the workspace of the search.
        check: of the failing tests (`Check.tests`), or of all; the other tests of their files are judged with them.
        before: the plain verdict on these tests.
        workers: how many to start.
        whole: the plain verdict on all tests.

    Raises:
        Unfit: the check cannot be judged in this way.
    """

    def __init__(self, checker: Checker, check: Check, before: Verdict, workers: int, whole: Verdict) -> None:
        # With all tests loaded a candidate that passes can be tried on the others at once; in a large suite loading
        # alone would take the budget.
        quick = whole.duration_s <= _WHOLE_S and (whole.tests_total or 0) <= _WHOLE_TESTS and not whole.timed_out
        job, reason = job_of(check, checker, () if quick else files_of(check.tests))
        if job is None or job.command.target != "pytest":
            raise Unfit(reason or "the check is no run of pytest")
        kept = [word for word in job.command.argv if word not in _LEFT_OUT and not word.startswith("--junitxml=")]
        command = replace(job.command, kind="loaded", argv=(*kept, *_OPTIONS))
        # A small suite is run whole each time, in its own order; of a large one the tests that fail come first.
        self._part = bool(check.tests)
        tests = before.failing if self._part else ()
        self._job = replace(job, command=command, tests=tests, in_order=self._part and tests != check.tests)
        self._check, self._before, self._wanted = check, before, workers
        self._launcher = checker.programs.launcher
        self._pool = Pool()
        self._needed = tuple(range(len(before.failing)))
        self._enough = _ENOUGH
        self._tests = Tests(needed=self._needed, cpu_s=0.0)
        self._limits = Limits(cpu_s=_FIRST_S, keep=_KEEP)
        self._others_known = False
        self._others_s = _OTHERS_S + _OTHERS_TIMES * whole.duration_s
        self._as_is: dict[int, tuple[str, str, float]] = {}
        self._usual = ""
        self._first = Worker.start(self._launcher, self._job)

    def try_out(self) -> None:
        """Wait for the first worker; the tests must fail there as they did.

        Raises:
            Unfit: the project cannot be judged in this way.
        """
        problem = self._first.problem()
        if not problem:
            # The worker must be at rest, with one thread, before it forks; the answer says so.
            self._first.ask_adopt({})
            problem = self._first.problem()
        if problem:
            raise Unfit(problem)
        self._pool.take(self._first)
        self._take_measure()
        for _ in range(self._wanted - 1):
            worker = Worker.start(self._launcher, self._job)
            self._pool.add(worker)
            worker.ask_adopt({})

    def judged(self, edits: Sequence[Edit | None], reached: Sequence[frozenset[str]]) -> Iterator[Verdict | None]:
        """A verdict on each edit, in their order; None where it must be judged in another way.

        Several are tried in one process. What passes there, and what one of them may have spoilt for the others, is
        tried again in a process of its own. When the time is up, what is known by then is told.

        Args:
            reached: by edit the failing tests that run its lines: the others cannot pass by it. Empty: all may.
        """
        found: dict[int, Verdict | None] = {}
        alike: dict[tuple[int, ...], list[int]] = {}
        for place, edit in enumerate(edits):
            if edit is not None:
                alike.setdefault(self._needed_by(reached[place]), []).append(place)
        asked = [place for places in alike.values() for place in places]
        needed = {place: numbers for numbers, places in alike.items() for place in places}
        groups = [
            places[start : start + _TOGETHER] for places in alike.values() for start in range(0, len(places), _TOGETHER)
        ]
        questions = (self._question([edits[place] for place in group], needed[group[0]]) for group in groups)
        with suppress(LimitReached):
            with closing(self._pool.judged(questions)) as answers:
                for group, answer in zip(groups, answers, strict=True):
                    found |= self._read(group, answer, needed[group[0]])
            # Alone now: what passed beside others may have passed because of them.
            unsure = sorted(place for place in asked if place not in found)
            if unsure and not self._others_known:
                self._find_others()
            with closing(
                self._pool.judged(self._question([edits[place]], needed[place]) for place in unsure)
            ) as answers:
                for place, answer in zip(unsure, answers, strict=True):
                    ends = answer.learnt.get("0") if answer and not answer.plain else None
                    found[place] = None if answer is None or ends is None else self._verdict(ends, answer)
        yield from (found.get(place) for place in range(len(edits)))

    def _needed_by(self, reached: frozenset[str]) -> tuple[int, ...]:
        """The numbers of these tests, all failing ones if there are none."""
        failing = self._before.failing
        return tuple(each for each in self._needed if self._part and failing[each] in reached) or self._needed

    def _read(self, group: Sequence[int], answer: Answer | None, needed: Sequence[int]) -> dict[int, Verdict | None]:
        """The verdicts that an answer for several edits tells; not of those that need another try."""
        if answer is None:
            return {}
        # The last try of a process is the program as it is. If that ends otherwise than it always does, a candidate has
        # left something behind.
        sound = _outcomes(answer.learnt.get("as it is", ())) == _outcomes(self._base(needed)) or len(group) == 1
        found: dict[int, Verdict | None] = {}
        for number, place in enumerate(group):
            ends = answer.learnt.get(str(number))
            # Code that ran while the project was loaded still has the old values: a pass is possible there, a failure
            # proves nothing.
            stale = number in answer.learnt["stale"] and _fails(ends)
            if stale or str(number) in answer.learnt["refused"]:
                found[place] = None
            elif ends and (len(group) == 1 or (sound and _fails(ends))):
                found[place] = self._verdict(ends, answer)
        return found

    def settle(self) -> None:
        """Wait until nothing is being judged."""
        self._pool.settle()

    def close(self) -> None:
        """End the workers."""
        self._first.close()
        self._pool.close()

    def _base(self, needed: Sequence[int]) -> list[End]:
        """How these tests end on the program as it is, as far as they are run."""
        return [(number, *self._as_is[number]) for number in needed if number in self._as_is][: self._enough]

    def _question(self, edits: Sequence[Edit | None], needed: tuple[int, ...]) -> Question:
        tests, limits = replace(self._tests, needed=needed), self._limits
        limits = replace(limits, cpu_s=limits.cpu_s * (len(edits) + 1))
        return lambda worker: worker.ask_try(edits, tests, limits)

    def _run_as_it_is(self, tests: Tests, limits: Limits) -> dict[int, tuple[str, str, float]]:
        """How tests end on the program as it is: by number, the outcome, what they raise, and seconds.

        Raises:
            Unfit: they could not be run.
        """
        (answer,) = self._pool.judged([lambda worker: worker.ask_try([None], tests, limits)])
        if answer is None or answer.plain:
            raise Unfit(answer.plain if answer else "the worker did not answer")
        return {number: (outcome, why, seconds) for number, outcome, why, seconds in answer.learnt.get("0", ())}

    def _take_measure(self) -> None:
        """Whether the tests that must pass fail here too, and how long they may take."""
        count = len(self._needed)
        if not count:
            raise Unfit("the tests that failed are not there when the project is loaded")
        first_s = _LEAST_AFTER_HANG_S if self._before.timed_out else _FIRST_OF_TEST_S
        # As others and not as needed, because a run ends at the first needed test that fails.
        numbers = self._needed if self._part else tuple(range(_OTHERS))
        every = Tests(needed=(), others=numbers, most_failed=_OTHERS, cpu_s=first_s)
        limits = Limits(cpu_s=max(_FIRST_S, self._others_s), idle_s=_FIRST_S, keep=_KEEP)
        ends = self._run_as_it_is(every, limits)
        failed = [number for number, (outcome, *_) in ends.items() if outcome in ("failed", "hung")]
        hung = self._before.timed_out or any(outcome == "hung" for outcome, *_ in ends.values())
        # After tests that hang the others are not run.
        if not failed or (len(failed) != count and not hung):
            raise Unfit("tests that fail otherwise do not fail when the project is loaded")
        if not self._part:
            # How many of all tests pass tells how far a candidate is.
            self._needed = tuple(number for number, (outcome, *_) in ends.items() if outcome != "skipped")
            self._enough, self._others_known = len(self._needed), not hung
        self._as_is = ends
        self._usual = "" if self._part else _signature(self._base(self._needed))
        usual = max(seconds for *_, seconds in ends.values())
        after_hang_s = _LEAST_AFTER_HANG_S if self._part else _LEAST_S
        each = after_hang_s if hung else max(_LEAST_S, _SLOWER * usual)
        self._tests = Tests(needed=self._needed, enough=self._enough, cpu_s=each)
        self._limits = Limits(cpu_s=max(len(self._needed) * each, _LEAST_S), idle_s=max(_IDLE_S, 2 * each), keep=_KEEP)

    def _find_others(self) -> None:
        """Which of the other tests pass before anything is changed: a repair must not break them.

        It takes about as long as the whole check, so it is done when the first candidate passes what failed.
        """
        self._others_known = True
        count = len(self._needed)
        others = tuple(range(count, count + _OTHERS))
        every = Tests(needed=(), others=others, most_failed=count + _OTHERS, cpu_s=_FIRST_OF_TEST_S)
        limits = Limits(cpu_s=self._others_s, idle_s=_FIRST_S, keep=_KEEP)
        with suppress(Unfit):
            ends = self._run_as_it_is(every, limits)
            passing = {number: seconds for number, (outcome, _, seconds) in ends.items() if outcome == "passed"}
            each = max([self._tests.cpu_s, *(_SLOWER * seconds for seconds in passing.values())])
            self._tests = replace(self._tests, others=tuple(passing), cpu_s=each)
            self._limits = replace(self._limits, cpu_s=self._limits.cpu_s + _SLOWER * sum(passing.values()))

    def _ask_first(self, numbers: Sequence[int]) -> None:
        """Run these first of the other tests from now on: what one candidate breaks another one often breaks, too."""
        if numbers:
            rest = (number for number in self._tests.others if number not in numbers)
            self._tests = replace(self._tests, others=(*numbers, *rest))

    def _verdict(self, ends: Sequence[End], answer: Answer) -> Verdict:
        """What the tests that were run come to; it is a pass only if all that failed were needed."""
        failed = [end for end in ends if end[1] != "passed"]
        self._ask_first([number for number, *_ in failed if number not in self._needed])
        ran = {number for number, *_ in ends}
        complete = ran >= {*self._needed, *self._tests.others}
        total = len(self._needed) + len(self._tests.others)
        green = complete and not failed  # never of a part of the needed ones: the rest was not run
        reached = sum(number in ran for number in self._needed) - sum(number in self._needed for number, *_ in failed)
        broken = any(number not in self._needed for number, *_ in failed)
        signature = _signature(failed)
        return Verdict(
            status="passed" if green else "failed",
            check=self._check.label,
            exit_status=0 if green else 1,
            timed_out=any(outcome == "hung" for _, outcome, _, _ in ends),
            signature="" if green else self._before.signature if signature == self._usual else signature,
            # One that breaks another test is no step on the way, however many of the failing tests pass.
            progress=1.0 if green else 0.0 if broken else min(0.99, reached / max(1, len(self._needed))),
            tests_passed=total if green else reached,
            tests_total=total,
            duration_s=answer.result.duration_s,
        )


def _outcomes(ends: Iterable[End]) -> tuple[tuple[int, str], ...]:
    return tuple((number, outcome) for number, outcome, *_ in ends)


def _signature(ends: Iterable[End]) -> str:
    return " | ".join(f"{number} {why}" for number, outcome, why, _ in ends if outcome != "passed")


def _fails(ends: Iterable[End] | None) -> bool:
    return any(outcome != "passed" for _, outcome, *_ in ends or ())
