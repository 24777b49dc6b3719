"""Judging candidates: the one place of a search that has programs run.

Candidates are judged in warm workers where the check allows that, else in plain processes: write the texts, run the
check, put the files back. A repair must pass in a plain process too before it is told; `Search` sees to that.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, suppress

from codur.checks.checker import Checker
from codur.errors import WorkspaceError
from codur.repair.code.source_edits import replacement
from codur.repair.evidence.tracing import Coverage
from codur.repair.judge.loaded_project import Loaded
from codur.repair.judge.obstacles import why_flaky
from codur.repair.judge.warm_judge import Unfit, Warm
from codur.repair.judge.warm_worker import Command
from codur.repair.judge.warm_worker import Edit as Replaced
from codur.structs import replace
from codur.types import Check, Verdict
from codur.workspace import text

Texts = Mapping[str, str]


class Flaky(Exception):
    """The check's verdict on the unchanged program varies; the text says how.

    Attributes:
        note: why it was judged in a plain process.
    """

    def __init__(self, text: str, note: str = "") -> None:
        super().__init__(text)
        self.note = note


_SLOWER = 4.0  # chosen: a machine under load takes about twice as long, and the right program may do more
_LEAST_S = 1.0
_AFTER_HANG_S = 2.0  # how long the right program takes is not known; most candidates still hang


class Judge:
    """Judges candidates in the scratch workspace of a checker, whose files are as before afterwards.

    In a plain process a candidate has a few times the time that the program took before, at least a second; after a
    program that did not end, two seconds. In a warm worker, where nothing has to be loaded, it has less.

    Args:
        before: the plain verdict on the program as it is.
        workers: warm workers to start when the first candidate is judged; 0 for plain processes alone.
        whole: the verdict on all tests, of which `check` runs some; None if it runs them all.

    Where it is known which tests fail, candidates are judged with the project loaded; what cannot be judged so, in
    one of these ways.

    Attributes:
        note: why candidates are judged in plain processes; empty as long as not all of them are.
        slow: why they are not judged with the project loaded, where the failing tests are known; empty if they are.
        loaded, warm, plain: how many candidates were judged in each way.
        coverage: which lines each test runs, once that is known: an edit is judged by those that run its lines.
    """

    def __init__(
        self,
        checker: Checker,
        check: Check,
        before: Verdict,
        *,
        workers: int = 0,
        whole: Verdict | None = None,
    ) -> None:
        limit = _AFTER_HANG_S if before.timed_out else max(_LEAST_S, _SLOWER * before.duration_s)
        self._workspace = checker.workspace
        self._checker = checker
        self._check = check
        self._plain_check = replace(check, timeout_s=min(check.timeout_s, limit))
        self._before = before
        self._workers = workers
        self._whole = whole or before
        self._project: Loaded | None = None
        self._project_is_ready = False
        self._warmed: Warm | None = None
        self._started = False
        self._originals: dict[str, str] = {}
        self._editable: dict[str, bool] = {}
        self.coverage: Coverage | None = None
        self.note = self.slow = ""
        self.loaded = self.warm = self.plain = 0

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def prepare(self) -> None:
        """Start the first worker, and have it run the program as it is, without waiting for that.

        Raises:
            WorkspaceError: a file of the check cannot be read.
        """
        with suppress(Unfit):  # the first candidate tells why
            if self._before.failing and self._project is None and self._workers:
                self._project = Loaded(self._checker, self._check, self._before, self._workers, self._whole)
            # Either way is started, never both: a loaded project that fails its trial is followed by the warm way.
            elif not self._started and self._warmed is None:
                self._warmed = self._made()

    def judge(self, texts: Texts) -> Verdict:
        """The verdict with these files' texts in place.

        Raises:
            Interrupted: the run was cancelled.
            LimitReached: the run's time was used up.
            Flaky: the unchanged program's verdict varies (only told at the first candidate).
            WorkspaceError: a file of the check cannot be read, or a candidate's cannot be written.
        """
        return next(self.judge_apart([texts]))

    def judge_many(
        self, candidates: Sequence[Texts], *, patient: bool = False, apart: bool = False
    ) -> Generator[Verdict | None]:
        """The verdict on each candidate, in their order whatever the number of workers.

        None stands for one that cannot be judged with the project loaded, and would take long.

        Args:
            apart: judge each by a process that loads what it changes.
            patient: give a candidate as much time as in a plain process; one that only ran out of time before may then
                get another verdict.

        Raises:
            Interrupted, LimitReached, Flaky, WorkspaceError: as `judge`.
        """
        project = self._with_project()
        # The loaded project has one limit for all; more time for one candidate takes a process of its own.
        if project is None or patient or apart:
            yield from self.judge_apart(candidates, patient=patient)
            return
        edits = [*map(self._edit, candidates)]
        for verdict in project.judged(edits, [*map(self.reached, candidates)]):
            self.loaded += verdict is not None
            yield verdict

    def _with_project(self) -> Loaded | None:
        """The workers with the project loaded, once they are ready; None if there are none."""
        # Tried as late as possible: the worker loads while the program is traced.
        if self._project is not None and not self._project_is_ready:
            try:
                self._project.try_out()
                self._project_is_ready = True
            except Unfit as reason:
                self._project.close()
                self._project, self.slow = None, str(reason)
        return self._project

    def _edit(self, texts: Texts) -> Replaced | None:
        """The one edit that a candidate is; None if it changes several files."""
        if len(texts) != 1:
            return None
        ((path, new),) = texts.items()
        if path not in self._originals:
            self._originals[path] = self._workspace.read_text(path).text
        return (path, *replacement(self._originals[path], new))

    def reached(self, texts: Texts) -> frozenset[str]:
        """The failing tests that run the changed lines; empty if that is not known, or if all may."""
        edit = self._edit(texts)
        if edit is None or self.coverage is None:
            return frozenset()
        path, start, end, _ = edit
        text = self._originals[path]
        first, last = (text.count("\n", 0, place) + 1 for place in (start, end))
        # What is put between two lines belongs to both.
        lines = {(path, line) for line in range(first - (start == end), last + 1 + (start == end))}
        if lines & self.coverage.lines:
            return frozenset()
        return frozenset(name for name, test in self.coverage.tests.items() if test.failed and lines & test.lines)

    def judge_apart(self, candidates: Sequence[Texts], *, patient: bool = False) -> Generator[Verdict]:
        """As `judge_many`, by processes that load what a candidate changes."""
        self._start()
        place = 0
        warm = self._warmed
        if warm is not None:
            encoded = (self._encoded(warm, texts) for texts in candidates)
            with closing(warm.judged(encoded, patient=patient)) as verdicts:
                for verdict in verdicts:
                    yield self._settled(warm, candidates[place], verdict)
                    place += 1
                    if self.note:
                        break
        for texts in candidates[place:]:
            yield self._plain(texts)

    def run_there(
        self, program: str, words: Sequence[str], seconds: float, versions: Sequence[Texts]
    ) -> list[bytes | None]:
        """What a program of ours reports of each version, run in a fork of a warm worker; None where it cannot be."""
        if self._warmed is not None:
            self._start()
        encoded = [self._encoded(self._warmed, texts) if self._warmed else None for texts in versions]
        if self._warmed is None or not self._warmed.runs_scripts or None in encoded:
            return [None] * len(versions)
        command = Command(kind="code", target=program, argv=("-c", *words))
        return self._warmed.run_instead(command, [each for each in encoded if each is not None], seconds)

    def close(self) -> None:
        """End the workers; candidates that are judged later start them again."""
        for workers in (self._warmed, self._project):
            if workers is not None:
                workers.close()
        self._warmed, self._started = None, False
        self._project, self._project_is_ready = None, False

    def _start(self) -> None:
        if self._started:
            return
        self._started = True
        try:
            self._warmed = self._warmed or self._made()
            self._warmed.try_out()
        except Unfit as reason:
            self.note, self._warmed = str(reason), None
            # Often nothing forbids workers but a verdict that varies, and then no candidate's verdict means anything.
            why = why_flaky(self._before, self._plain({}))
            if why:
                raise Flaky(why, self.note) from reason

    def _made(self) -> Warm:
        if self._workers < 1:
            raise Unfit("no workers are wanted")
        return Warm(self._checker, self._check, self._before, self._workers)

    def distrust(self, reason: str) -> None:
        """Judge in plain processes from now on."""
        self.note = reason
        for workers in (self._warmed, self._project):
            if workers is not None:
                workers.close()
        self._warmed = self._project = None

    def _settled(self, warm: Warm, texts: Texts, verdict: Verdict | None) -> Verdict:
        """The warm verdict, or a plain process's one where there is none."""
        if verdict is not None:
            self.warm += 1
            return verdict
        # Workers read the files that they did not load from disk, so none may run while a plain process's texts are
        # there.
        warm.settle()
        return self._plain(texts)

    def _encoded(self, warm: Warm, texts: Texts) -> dict[str, bytes] | None:
        """The files' bytes as they would be written; None if they cannot be, or are not in the worker's hands."""
        if any(path not in warm.files or not self._may_edit(path) for path in texts):
            return None
        if any("\0" in new for new in texts.values()):  # the interpreter reads such a file in another way
            return None
        try:
            return {path: text.encode(path, new, warm.files[path]) for path, new in texts.items()}
        except WorkspaceError:
            return None

    def _may_edit(self, path: str) -> bool:
        """Asked once for each file: it looks at the disk, and a search has thousands of candidates."""
        if path not in self._editable:
            self._editable[path] = self._workspace.may_edit(path)
        return self._editable[path]

    def _plain(self, texts: Texts) -> Verdict:
        self.plain += 1
        if self._project is not None:
            self._project.settle()
        with self._workspace.replaced(texts):
            return self._checker.run(self._plain_check)
