"""Judging candidates in warm workers, as long as that gives the verdicts of plain processes."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from codur.checks.check_programs import TestFiles
from codur.checks.checker import PYTEST_WRONG_USAGE, Checker
from codur.repair.judge.warm_worker import Answer, Command, Files, Limits, Worker
from codur.repair.judge.worker_job import at_exit, job_of, library
from codur.repair.judge.worker_pool import Pool, Question
from codur.sandbox.process.process_result import ProcessResult
from codur.structs import replace
from codur.types import Check, Verdict

_LEARN_S = 10.0  # with everything imported for the first time, which later runs find loaded
_SLOWER = 8.0  # chosen; larger than for plain processes, since without the start of an interpreter the times are short
_LEAST_S = 0.03  # chosen: less would end candidates for what the scheduler does
_IDLE, _LEAST_IDLE_S = 4.0, 0.25
_AFTER_HANG_S = 0.1  # nothing is known of how long it should take; who needs more is retried, patiently
_OWN_AFTER_HANG_S = 0.5
_PATIENT, _PATIENT_S = 4.0, 1.0
_SESSION_AFTER_HANG_S = 3.0
_MARGIN_BYTES = 65_536
_KEPT_BYTES = 262_144
_KNOWN_ANSWERS = 512  # verdicts hold whole outputs
_TOLD = ("exit_status", "timed_out", "flooded", "truncated", "stdout", "stderr")


class Unfit(Exception):
    """The check cannot be judged warm; the text says why."""


class Answered:
    """Programs that have been run in a worker."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def run(self, *_: Any, **__: Any) -> ProcessResult:
        """As a process would have ended."""
        return self._answer.result

    def run_tests(self, _: Check, files: TestFiles, /, **__: Any) -> tuple[ProcessResult, bool]:
        """The same, with pytest's report."""
        if self._answer.report is not None:
            files.report.write_bytes(self._answer.report)
        return self._answer.result, False


class Warm:
    """Warm workers for one check. `close` ends them.

    The first worker starts, and runs the program as it is, while other things are done; `try_out` waits for that.

    Args:
        before: the plain verdict on the program as it is; two warm ones must equal it.
        workers: how many to start.

    Raises:
        Unfit: this check forbids the warm way.
    """

    def __init__(self, checker: Checker, check: Check, before: Verdict, workers: int) -> None:
        self._check = check
        self._wanted = workers
        self._before = before
        self._checker = checker
        job, reason = job_of(check, checker, check.tests)
        if job is None:
            raise Unfit(reason)
        self._job = job
        self._learnt: dict[str, Any] = {"modules": library(job.files), "inside": []}
        self._keep = _kept_bytes(checker, check)
        self._known: dict[tuple[object, ...], Verdict] = {}
        self._pool = Pool()
        # This run ends only by its limit if the program hangs.
        hung_s = _OWN_AFTER_HANG_S if self.runs_scripts else _SESSION_AFTER_HANG_S
        least_s = hung_s if before.timed_out else max(_LEARN_S, _SLOWER * before.duration_s)
        self._limits = self._patient = self._limited(least_s)
        self._first = self._start()
        # The second one starts beside the first; where tests are traced meanwhile both processors are busy.
        with self._first.kept():
            self._first.ask({}, self._limits, learn=True)
            self._second = self._start() if workers > 1 and self.runs_scripts else None

    def _start(self) -> Worker:
        return Worker.start(self._checker.programs.launcher, self._job)

    def try_out(self) -> None:
        """Wait for the first worker, which must come to the known verdict on the program as it is; start the others.

        Raises:
            Unfit: the program forbids the warm way.
        """
        try:
            self._limits, self._patient = self._tried()
        except Unfit:
            self.close()
            raise
        for _ in range(self._wanted - 1):
            worker, self._second = self._second or self._start(), None
            self._pool.add(worker)
            worker.ask_adopt(self._learnt)

    @property
    def runs_scripts(self) -> bool:
        """Whether what is run is a program, and no tests."""
        return self._job.command.target != "pytest"

    @property
    def files(self) -> Files:
        """The files that candidates may change, as they are."""
        return self._job.files

    def judged(self, candidates: Iterable[Files | None], *, patient: bool = False) -> Generator[Verdict | None]:
        """A verdict for each candidate, in their order; None where a plain process must tell.

        Args:
            candidates: None stands for one that cannot be judged here.
            patient: give each as much time as a plain process has.

        Raises:
            LimitReached: the run's time was used up.
        """
        limits = self._patient if patient else self._limits
        with closing(self._pool.judged(self._question(files, limits) for files in candidates)) as answers:
            yield from map(self._verdict, answers)

    def _question(self, files: Files | None, limits: Limits) -> Question | None:
        return None if files is None else lambda worker: worker.ask(files, limits)

    def run_instead(self, program: Command, versions: Sequence[Files], seconds: float) -> list[bytes | None]:
        """What this program, run in place of the check's, reports of each version; None where it cannot be run here."""
        limits = Limits(cpu_s=seconds, idle_s=seconds, keep=self._keep)
        questions = [self._instead(program, files, limits) for files in versions]
        with closing(self._pool.judged(questions)) as answers:
            return [None if answer is None or answer.plain else answer.report or b"" for answer in answers]

    def _instead(self, program: Command, files: Files, limits: Limits) -> Question:
        return lambda worker: worker.ask(files, limits, instead=program)

    def settle(self) -> None:
        """Wait until nothing is being judged, so that a plain process may change the workspace's files."""
        self._pool.settle()

    def close(self) -> None:
        """End the workers."""
        self._first.close()
        if self._second is not None:
            self._second.close()
        self._pool.close()

    # --- the start ----------------------------------------------------------------------------------------------------

    def _tried(self) -> tuple[Limits, Limits]:
        """Takes the verdict on the program as it is, learns from it, and has it judged again; gives the limits."""
        problem = self._first.problem()
        if problem:
            raise Unfit(problem)
        first = self._first.answer()
        at_end = at_exit(self._check, self._job, first.learnt.get("inside")) if first else ""
        if at_end:
            raise Unfit(at_end)
        told = self._same(first)
        self._pool.take(self._first)
        # What the run loaded is loaded before the next fork; only then are a candidate's times those that it will have.
        self._adopt(told.learnt)
        (again,) = self._pool.judged([lambda worker: worker.ask({}, self._limits, learn=True)])
        usual = self._same(again)
        if self._before.timed_out:
            limits = self._limited(_AFTER_HANG_S if self.runs_scripts else _SESSION_AFTER_HANG_S)
            return limits, self._limited(max(_PATIENT_S, _PATIENT * _OWN_AFTER_HANG_S, limits.cpu_s))
        if self.runs_scripts:
            idle_s = max(_LEAST_IDLE_S, _IDLE * usual.result.duration_s)
            limits = self._limited(max(_LEAST_S, _SLOWER * usual.cpu_s), idle_s)
        else:  # what a session imports late, the first one alone has shown
            limits = self._limited(_SLOWER * max(usual.cpu_s, told.cpu_s))
        return limits, self._limited(max(_PATIENT_S, _PATIENT * self._before.duration_s, limits.cpu_s))

    def _same(self, answer: Answer | None) -> Answer:
        """An answer for the program as it is, if it comes to the verdict that is known."""
        verdict = self._verdict(answer)
        if answer is None or verdict is None:
            raise Unfit(answer.plain if answer else "the worker did not answer")
        if _essence(verdict) != _essence(self._before):
            raise Unfit("it behaves in another way there")
        return answer

    def _adopt(self, told: Mapping[str, Any]) -> None:
        """Have the workers load what the program loads."""
        self._learnt["inside"] = told.get("inside", [])
        self._learnt["modules"] = list(dict.fromkeys([*told.get("modules", []), *self._learnt["modules"]]))
        for worker in self._pool.coming:
            worker.ask_adopt(self._learnt)
        for worker in self._pool.workers:
            worker.ask_adopt(self._learnt)
            problem = worker.problem()
            if problem:
                raise Unfit(problem)

    def _limited(self, seconds: float, idle_s: float = 0.0) -> Limits:
        most = self._check.timeout_s
        idle_s = min(idle_s or max(_PATIENT_S, seconds), most)
        return Limits(cpu_s=min(seconds, most), idle_s=idle_s, keep=self._keep)

    def _verdict(self, answer: Answer | None) -> Verdict | None:
        if answer is None or answer.plain:
            return None
        # It may be a fault of the worker's own options: a plain process adapts them to the pytest that is installed.
        if not self.runs_scripts and answer.result.exit_status == PYTEST_WRONG_USAGE:
            return None
        told = (*(getattr(answer.result, name) for name in _TOLD), answer.report)
        known = self._known.get(told)
        if known is not None:  # most candidates fail as others did
            return replace(known, duration_s=answer.result.duration_s)
        verdict = self._checker.judge(self._check, Answered(answer))
        if len(self._known) < _KNOWN_ANSWERS:
            self._known[told] = verdict
        return verdict


def _kept_bytes(checker: Checker, check: Check) -> int:
    """How many bytes of an output the check needs."""
    size = (checker.workspace.root / check.expected_file).stat().st_size if check.expected_file else 0
    # Twice the expected output, else the cut middle of a right one would be judged as wrong.
    size = max(size, len((check.expected_text or "").encode("utf-8", "surrogatepass")))
    return max(_KEPT_BYTES, checker.settings.max_output_kb * 1024, 2 * size + _MARGIN_BYTES)


def _essence(verdict: Verdict) -> tuple[object, ...]:
    """What two judgements of one program must agree in."""
    if verdict.timed_out:
        return (verdict.status, True)
    # What a test says of its failure may hold random values; which tests fail does not.
    failure = verdict.signature if verdict.tests_total is None else verdict.signature.rpartition(" | ")[2]
    return (
        verdict.status,
        verdict.exit_status,
        verdict.progress,
        failure,
        verdict.tests_passed,
        verdict.tests_total,
    )
