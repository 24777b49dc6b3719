"""Finds the commit that made the check fail: git bisect's way, over copies outside of the repository."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from math import log2
from pathlib import Path
from typing import Literal

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.describe import verdict_line
from codur.config.settings import Settings
from codur.errors import LimitReached, UsageError, may_not_run
from codur.planning.patterns.decide import decide
from codur.python.interpreter import find_python
from codur.sandbox.launcher import Launcher
from codur.sandbox.scratch import remove_tree
from codur.session.host import Host
from codur.structs import Struct, field, replace
from codur.tools.flow.code_outputs import Commit
from codur.tools.git import git_commits as commits
from codur.tools.git.git_repository import Repository, repository_around
from codur.tools.tool import ToolError
from codur.types import Check, Outcome, Task, Verdict
from codur.workspace.workspace import Workspace

_GIT_TIMEOUT_S = 60.0
_MAX_COMMITS = 20_000  # of the first parents: one line of text each
_MAX_TAGS = 4  # each is a commit to be judged; before these the steps double
_UNTESTABLE = (125, 126, 127)
"""As for git bisect run: 125 asks to leave the commit out; of the others a shell says that there is no such program."""
_NOT_COLLECTED = (2, 3, 4, 5)
"""How pytest ends if it could not run the tests."""

Word = Literal["passes", "fails", "cannot be tested"]


class Step(Struct):
    """One commit that was judged."""

    commit: str  # its hash; empty for the files as they are
    word: Word  # what the check said; `told` is its verdict in a line
    told: str
    seconds: float
    left: int = 0  # commits among which the one is that is looked for, before this step; 0 as long as none passes
    # whose tests ran: the present ones, though the commit's differ, or its own
    tests: Literal["", "present", "own"] = ""


class Bisection(Struct):
    """What came of it."""

    outcome: Outcome
    reason: str
    remedy: str = ""
    check: str = ""  # the check as a person would type it
    commit: Commit | None = None  # the first that fails; None if it is not known
    stat: str = ""  # what that commit changed
    uncommitted: bool = False  # the last commit passes: what is not committed makes the check fail
    suspects: tuple[str, ...] = ()  # more commits that it may be, as they cannot be tested
    good: str = ""  # the last commit that is known to pass; empty if none is
    bad: str = ""
    steps: tuple[Step, ...] = ()


class Wanted(Struct):
    """What is looked for."""

    good: str = ""  # a revision at which the check passes; empty: an earlier one is looked for
    bad: str = ""  # a revision at which it fails; empty: the files as they are, and the last commit
    # check_command, expect_file: the check, where the user names it
    check_command: str | None = None
    expect_file: str | None = None


def bisect(root: Path, settings: Settings, wanted: Wanted, *, host: Host, tell: Callable[[Step], None]) -> Bisection:
    """Look for the commit since which the check fails; the user's files and repository are left as they are.

    Raises UsageError: there is no check, no repository that can be read, or no such revision; Refused: no program may
    be run.
    """
    if not settings.tools.allow_run:
        raise may_not_run()
    started = time.monotonic()
    try:
        with ExitStack() as stack:
            workspace = Workspace.open(root, home=host.home, max_file_bytes=settings.tools.max_file_kb * 1024)
            python = find_python(workspace.root, host.environ)
            launcher = stack.enter_context(
                Launcher(
                    host.environ,
                    max_output_bytes=settings.verification.max_output_kb * 1024,
                    python=python,
                    sandbox=settings.sandbox,
                    state_cache=host.cache,
                    beside=workspace.beside,
                )
            )
            repository = repository_around(workspace.root, launcher, _GIT_TIMEOUT_S)
            head = commits.commit_of(repository, wanted.bad or "HEAD")
            known = commits.commit_of(repository, wanted.good) if wanted.good else ""
            check = _check(workspace, settings, launcher, wanted)
            # From the start of the command, as the user counts, and not from the first commit.
            end = started + settings.runtime.max_runtime_s
            programs = CheckPrograms(workspace, launcher, python=python, deadline=lambda: end - time.monotonic())
            own = Checker(workspace, settings.verification, programs)
            # Guarded apart from `own`, which must not know the present files: it runs a commit's own tests.
            checker = own.on(workspace)
            checker.guard(check)
            judging = _Judging(
                workspace=workspace,
                repository=repository,
                checker=checker,
                own=own,
                check=check,
                place=stack.enter_context(launcher.temporary_directory()),
                extra=commits.generated(repository),
            )
            return _Bisecting(judging=judging, bad=head, tell=tell).run(known, judge_files=not wanted.bad)
    except ToolError as error:
        remedy = "Run `git log --oneline` for the commits that there are." if error.code == "not_found" else ""
        raise UsageError(error.message, remedy=remedy) from error


def _check(workspace: Workspace, settings: Settings, launcher: Launcher, wanted: Wanted) -> Check:
    task = Task(
        prompt="the tests fail",
        workspace=str(workspace.root),
        check_command=wanted.check_command,
        expect_file=wanted.expect_file,
        check_is_goal=True,
    )
    check = decide(task, workspace, settings=settings, launcher=launcher).discovery.check
    if check is None or check.kind == "syntax":
        raise UsageError(
            "no check was found: no tests, no expected output",
            remedy="Give one: codur bisect --check 'python -m pytest tests/test_x.py'",
        )
    return check


class _Judging(Struct, frozen=False):
    """Runs the check over a commit's files, in a copy."""

    workspace: Workspace
    repository: Repository
    checker: Checker  # puts the present files of the check into each copy; `own` leaves the commit's
    own: Checker
    check: Check  # what is run; the failing tests alone, once they are known
    place: Path
    extra: list[str]  # files that no commit has and the program may need
    failure: Verdict | None = None
    numbers: Iterator[int] = field(default_factory=count)

    def step(self, commit: str, left: int = 0) -> Step:
        """Judge a commit; without a name, the files as they are. Raises LimitReached: the time is up."""
        begun = time.monotonic()
        verdict, tests = self._verdict(commit, own=False)
        word = self._word(verdict)
        if tests == "present" and word != "passes" and not (word == "fails" and self.check.tests):
            # some of the present tests may need what came later; of those that fail now it is known that they count
            other, _ = self._verdict(commit, own=True)
            if self._word(other) != "cannot be tested":
                verdict, tests, word = other, "own", self._word(other)
        if verdict is not None and word == "fails" and self.failure is None:
            self.failure = verdict
            # From here on the failing tests alone: others may fail at old commits for reasons of their own.
            if "pytest" in self.check.argv:
                self.check = replace(self.check, tests=verdict.failing)
        told = verdict_line(verdict) if verdict is not None else "its files are not here"
        seconds = round(time.monotonic() - begun, 3)
        return Step(commit=commit, word=word, told=told, seconds=seconds, left=left, tests=tests)

    def _verdict(self, commit: str, *, own: bool) -> tuple[Verdict | None, Literal["", "present", "own"]]:
        target = self.place / f"copy-{next(self.numbers)}"
        try:
            if not commit:
                # The files as they are, with all that is not committed.
                return self.checker.on(self.workspace.scratch_copy(target)).run(self.check), ""
            copy = self.workspace.scratch_copy(target, only=self.extra)
            commits.export(self.repository, commit, copy.root, self.place / "index")
            differ = any(not self._is_as_now(path, copy) for path in self.check.protected)
            checker = (self.own if own else self.checker).on(copy)
            return checker.run(self.check), "present" if differ and not own else ""
        except ToolError:
            return None, ""
        finally:
            remove_tree(target)

    def _is_as_now(self, path: str, copy: Workspace) -> bool:
        present = self.workspace.root / path
        if Path(path).is_absolute() or not present.is_file():
            return True
        return copy.is_file(path) and copy.read_bytes(path) == present.read_bytes()

    def _word(self, verdict: Verdict | None) -> Word:
        if verdict is None or verdict.status not in ("passed", "failed"):
            return "cannot be tested"
        if verdict.passed:
            return "passes"
        # A status that the failure itself has says nothing of a commit that cannot be tested.
        usual = self.failure.exit_status if self.failure else None
        left_out = _UNTESTABLE + (_NOT_COLLECTED if "pytest" in self.check.label and self.failure else ())
        untestable = verdict.exit_status in left_out and verdict.exit_status != usual
        return "cannot be tested" if untestable else "fails"


class _Bisecting(Struct, frozen=False):
    """Narrows down which commit it is."""

    judging: _Judging
    bad: str
    tell: Callable[[Step], None]
    good: list[str] = field(default_factory=list)
    untestable: set[str] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)

    @property
    def repository(self) -> Repository:
        return self.judging.repository

    def run(self, known: str, *, judge_files: bool) -> Bisection:
        """Judge what is to fail and what is to pass, then halve what is between."""
        try:
            return self._begun(judge_files=judge_files) or self._good(known) or self._halved()
        except LimitReached:
            return self._late()

    def _judge(self, commit: str, left: int = 0) -> Word:
        step = self.judging.step(commit, left)
        self.steps.append(step)
        self.tell(step)
        if step.word == "cannot be tested":
            self.untestable.add(commit)
        return step.word

    def _begun(self, *, judge_files: bool) -> Bisection | None:
        """What ends the search before it begins: there is no failure, or no commit has it."""
        changed = judge_files and not commits.is_clean(self.repository)
        # The files first: if they pass there is nothing to look for, whatever the last commit does.
        first = self._judge("" if changed else self.bad)
        if first == "passes":
            return self._result("not_achieved", "The check passes, so no commit has made it fail.")
        if first == "cannot be tested":
            reason = f"The check cannot be run here: {self.steps[-1].told}."
            return self._result("not_achieved", reason, remedy="Give another one with --check.")
        if changed and self._judge(self.bad) == "passes":
            reason = "The last commit passes: what is not committed makes the check fail."
            return replace(self._result("done", reason, remedy="Then: codur repair"), uncommitted=True)
        return None

    def _good(self, known: str) -> Bisection | None:
        """Find a commit that passes; what ends the search if there is none."""
        if known and not commits.is_ancestor(self.repository, known, self.bad):
            raise UsageError(f"{known[:10]} is not an ancestor of {self.bad[:10]}", remedy="Give another --good.")
        for commit in [known] if known else self._earlier():
            word = self._judge(commit)
            if word == "passes":
                self.good.append(commit)
                return None
            # An older commit that fails is a better bound than the last one.
            if word == "fails" and not known:
                self.bad = commit
        if known:
            return self._result("not_achieved", f"The check does not pass at {known[:10]} either.", remedy=_OTHER_GOOD)
        shallow = (self.repository.top / ".git" / "shallow").is_file()
        remedy = "The clone is shallow: `git fetch --unshallow` gets older commits." if shallow else _OTHER_GOOD
        return self._result("not_achieved", "The check passes at none of the earlier commits tried.", remedy=remedy)

    def _earlier(self) -> Iterator[str]:
        """Earlier commits to try: the last tags, then ever longer steps back, then the first of all."""
        line = commits.first_parents(self.repository, self.bad, _MAX_COMMITS)
        tags = commits.tagged(self.repository)
        places = [place for place, commit in enumerate(line) if place and commit in tags][:_MAX_TAGS]
        least = places[-1] if places else 0
        places += [2**power for power in range(len(line).bit_length()) if least < 2**power < len(line) - 1]
        yield from (line[place] for place in places)
        if len(line) > 1 and len(line) - 1 not in places:
            yield line[-1]  # the first commit of all: before it nothing can have passed

    def _halved(self) -> Bisection:
        while True:
            # Git's own order, which halves graphs with merges well, and not only lines.
            left = commits.halving(self.repository, self.bad, self.good)
            ahead = [each for each in left if each != self.bad and each not in self.untestable]
            if not ahead:
                return self._found(left)
            word = self._judge(ahead[0], len(left))
            if word == "passes":
                self.good.append(ahead[0])
            elif word == "fails":
                self.bad = ahead[0]

    def _found(self, left: list[str]) -> Bisection:
        commit, stat = commits.described(self.repository, self.bad)
        suspects = tuple(each for each in left if each != self.bad)
        outcome: Outcome = "not_achieved"
        since = f"{self.good[-1][:10]}"
        if self.bad in self.untestable:  # only the files as they are fail for sure
            reason = f"It is {commit.hash[:10]}, which cannot be tested, or what is not committed."
        elif suspects:
            reason = f"It is {commit.hash[:10]} or one of the {len(suspects)} before it that cannot be tested."
        else:
            outcome, since = "done", f"{commit.hash[:10]}^"
            reason = f"Since {commit.hash[:10]} the check fails."
        found = self._result(outcome, reason, remedy=f"Then: codur repair --since {since}")
        return replace(found, commit=commit, stat=stat, suspects=suspects)

    def _late(self) -> Bisection:
        if not self.good:
            return self._result("limit", "The time was up before a commit was found that passes.", remedy=_OTHER_GOOD)
        number = len(commits.halving(self.repository, self.bad, self.good))
        reason = f"The time was up; it is one of {number} commits."
        given = " ".join(f"--good {each[:10]}" for each in self.good[-1:])
        return self._result("limit", reason, remedy=f"Go on with: codur bisect {given} --bad {self.bad[:10]}")

    def _result(self, outcome: Outcome, reason: str, *, remedy: str = "") -> Bisection:
        return Bisection(
            outcome=outcome,
            reason=reason,
            remedy=remedy,
            check=self.judging.check.label,
            good=self.good[-1] if self.good else "",
            bad=self.bad,
            steps=tuple(self.steps),
        )


_OTHER_GOOD = "Name a commit at which it passes: codur bisect --good REV"


def steps_left(step: Step) -> int:
    """About how many more commits will be judged after this one."""
    return max(round(log2(step.left)) - 1, 0) if step.left else 0
