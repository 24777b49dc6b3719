"""Runs the check after a step that edits, and puts back what is not kept of the workspace."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from codur import checks
from codur import context as shown
from codur.checks import confirmation, suites
from codur.checks.describe import ENDED, diff_text
from codur.checks.entry import is_document, is_test_code
from codur.errors import LimitReached, WorkspaceError
from codur.events import CheckBegan, CheckRan, Note
from codur.lazy import regex
from codur.nodes import parts
from codur.nodes.parts import check_runs, foreign_failures
from codur.nodes.parts.finding import (
    Judged,
    asks_for_tests,
    finding,
    is_about_tests,
    is_harmless,
    is_specified,
    keeps,
    may_fail,
)
from codur.nodes.parts.first_check import MANY_TESTS
from codur.nodes.run_state import RunContext, RunState
from codur.parsing.bounded_text import listed
from codur.python.test_command import PYTHON
from codur.structs import replace
from codur.types import Check, ScopeViolation, StepRecord, Verdict
from codur.workspace.copies import put_as_found

if TYPE_CHECKING:
    from codur.python.test_run import TestEnd
    from codur.workspace.workspace import FileChange

_LINE = regex(r":\d+")
_MOST_READ = 500  # sources and tests that are looked into for the names of documents
_RUN_MORE = frozenset({"cargo", "npm", "rake"})  # a README's code, a script of the project
_SETTINGS = ("pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini", "package.json", "Makefile")
"""What may say that documents are tested."""

_OF_SERVICES = regex(
    r"\.(?:github|circleci|gitlab)/.*|(?:.*/)?(?:Dockerfile.*|.*\.Dockerfile|Containerfile|(?:docker-)?compose[\w.-]*\.ya?ml"
    r"|\.dockerignore|Jenkinsfile|(?:ci|\.gitlab-ci|\.travis|azure-pipelines|appveyor)\.ya?ml|\.editorconfig"
    r"|.*\.(?:tf|tfvars|service|timer))"
)
"""Files that services and tools read, and no program or test does unless it names them."""

_LINT_SHARE, _LEAST_LINT_S = 0.5, 0.5
_WIDER_SHARE = 0.25  # of the time left, which a run of all tests may take where the task named one file of them
_NAMED_LINTERS, _NAMED = 4, 3
_SAID_CHARS = 200
_TEST = regex(r"^[ \t]*(?:async )?def test|\bTestCase\b", re.MULTILINE)
_NOT_RUN = "what failed before still fails; the other tests were not run"
AS_IT_WAS = "the edit as it was"
_BY_CHANCE = (
    r"(?:sometimes|occasionally|randomly|at random|from time to time|now and (?:then|again)|half (?:of )?the time"
    r"|once in a while|(?:one|\d+) (?:run|time)s? (?:in|of|out of)|every (?:few|other|second) runs?)"
)
_UNSTEADY = regex(
    r"\b(?:flak(?:e[sd]?|y|iness)\b|intermittent\w*|sporadic\w*|race condition"
    rf"|{_BY_CHANCE}\b[^.\n]{{0,40}}?\bfail(?:s|ed)?"
    rf"|(?:fail(?:s|ed|ing)?|pass(?:es)?)\b[^.\n]{{0,40}}?\b{_BY_CHANCE}|not always pass"
    r"|(?:unstable|non-?deterministic|unreliable) tests?|tests?\w* (?:is|are) (?:unstable|non-?deterministic))\b",
    re.IGNORECASE,
)
_MOST_RUNS, _RUNS_SHARE = 20, 0.15  # where tests fail by chance, one pass proves nothing
_UNCONFIRMED = "the run's time was up before the pass was looked at more closely"
_TOO_LONG = "the tests do not come to their end, as before the change, so that nothing was checked"
_NOT_INSTALLED = "{} is not installed here, so that what was written could not be run"
_MOST_NEW = 5  # tests that an edit broke, which are run once more to hear what they say
_LONG_S = 1.0  # what takes longer is worth a look at the tests that failed before all others are run


def judge(record: StepRecord, state: RunState, context: RunContext) -> Judged:
    """The verdict on a step that was to edit files; the check is run unless the step failed.

    An attempt that came further than where it started from becomes the new starting point; any other is undone, with
    the edits of earlier steps of the same plan.
    """
    verdict, edit, shown, harmless, foreign, lacks = None, "", "", False, False, list[str]()
    if record.ok:
        # Of all changes so far, as those are what the check judges.
        edit = edit_name(context.workspace.diff())
        if (told := _unread(state, context)) is not None and told.status == "no_check":
            return Judged(verdict=told, last=told, attempt=None)
        verdict = _known_failure(record, edit, state, context) or _check(record, state, context)
        if verdict.status in {"passed", "flaky"} or keeps(verdict, state) or _nothing_to_check(verdict, state, context):
            return Judged(verdict=verdict, last=verdict, attempt=None)
        harmless = is_harmless(verdict, state["before"])
        lacks = foreign_failures.not_installed(verdict, state, context) if harmless else []
        foreign = harmless and not is_specified(verdict.failing, state) and not _are_beside(verdict, state["before"])
        if (lacks or foreign) and (excused := _excused(verdict, lacks, state, context)):
            return excused
        shown = diff_text(context.for_models.diff())  # the next request holds it
    else:
        said = " ".join(record.error.split())[:_SAID_CHARS]
        context.emit(Note(level="info", text=f"attempt {len(state['attempts']) + 1} changed nothing: {said}"))
    judged = finding(record, verdict, (edit, shown), state, context.best)
    if harmless or (verdict is not None and _NOT_RUN in verdict.note):
        context.best.harmless = context.workspace.snapshot()
    if judged.gained and judged.last is not None:
        context.best.gained(context.workspace.snapshot(), judged.last.progress)
        with suppress(LimitReached):  # what is not known by then is not kept
            if rest := _rest_apart(record, judged.last, state, context):
                context.best.part, context.best.apart = context.best.start, rest
    else:
        if edit and judged.last is not None and judged.last.status == "failed":
            context.best.reached(context.workspace.snapshot(), judged.last.progress)
        context.workspace.restore(context.best.start)
    if foreign:
        judged = replace(judged, harmless="told" if context.best.claimed else "untold")
    return replace(judged, apart=bool(context.best.apart), lacks=lacks)


def steps_hold(record: StepRecord, state: RunState, context: RunContext) -> bool:
    """Whether what earlier steps of a plan edited loses nothing, where a later one fails: then it stays, and what is
    tried next goes on from there.
    """
    check, plan = state["discovery"].check, state["plan"]
    edited = any(each.ok and each.changed_files for each in state["records"][state["since"] : -1])
    if record.ok or check is None or plan is None or plan.origin != "plan" or not edited:
        return False
    with suppress(LimitReached):
        verdict = context.checker.run(check)
        if verdict.passed:
            verdict = _confirmed(check, verdict, record, state, context)
        if verdict.passed or keeps(verdict, state):
            context.best.start = context.best.part = context.workspace.snapshot()
            return True
    return False


def _excused(verdict: Verdict, lacks: Sequence[str], state: RunState, context: RunContext) -> Judged | None:
    """The end of an attempt whose agent says that what still fails does not count, if that is so."""
    if not context.best.claimed:
        return None
    if lacks:
        note = _NOT_INSTALLED.format(listed(lacks, _NAMED))
        verdict = Verdict(status="no_check", check=verdict.check, note=note)
    elif not foreign_failures.are_foreign(verdict, state, context):
        return None
    return Judged(verdict=verdict, last=verdict, attempt=None, excused=context.best.claimed)


def _are_beside(verdict: Verdict, before: Verdict | None) -> bool:
    """Whether a test that still fails lies in a file in which the change mended one: it may be about the same fault."""
    mended = set(before.failing if before is not None else ()) - set(verdict.failing)
    files = {test.partition("::")[0] for test in mended}
    return any(test.partition("::")[0] in files for test in verdict.failing if "::" in test)


def _is_too_long(check: Check, verdict: Verdict, state: RunState, context: RunContext) -> bool:
    """Whether a suite comes to no end, for its many tests or for what it uses, before the change and after, and nothing
    failed in it.

    What would be put back for that could be the right change.
    """
    before = state["before"]
    if before is None:
        return False
    both = before.timed_out and verdict.timed_out
    # What was asked for may be that it uses less; what it printed itself says nothing.
    over = all(ENDED in each.note for each in (verdict, before)) and set(verdict.failing) <= set(before.failing)
    if over and check.whole and state["discovery"].task_type != "code_fix":
        return 0 < (before.tests_passed or 0) <= (verdict.tests_passed or 0)
    # One of few tests may hang, which is what is to be mended.
    many = (verdict.tests_passed or 0) > 0 or len(check.protected) >= MANY_TESTS
    return both and many and bool(context.checker.long) and not verdict.failing


def _unread(state: RunState, context: RunContext) -> Verdict | None:
    """That no test can say anything of a change, as no code names what was changed: documents, a workflow; else None.

    Where tests fail that may be what the task is about, they decide all the same, and so does what the user named.
    """
    task, check, before = state["task"], state["discovery"].check, state["before"]
    changed = context.workspace.changed_files()
    if check is None or check.kind != "tests" or check.text or task.check_is_goal or task.check_command:
        return None
    if not suites.runner_output.is_plain_runner(check.label) or check.argv[0] in _RUN_MORE:
        return None
    documents = all(is_document(path) for path in changed)
    if before is None or not changed or not (documents or all(_OF_SERVICES.fullmatch(path) for path in changed)):
        return None
    # What the user names is what he means, whatever else fails.
    meant = all(posixpath.basename(path) in task.prompt for path in changed) and not documents
    about = (state["discovery"].task_type == "code_fix" and not meant) or is_specified(before.failing, state)
    if before.status == "failed" and about:
        return None
    code = [path for path in context.workspace.list_files() if checks.entry.is_code(path)]
    if len(code) > _MOST_READ:
        return None
    read = "\n".join(checks.entry.text_of(context.workspace, path) for path in (*code, *check.protected, *_SETTINGS))
    directories = [part for path in changed for part in _quoted(posixpath.dirname(path))]
    endings = {re.escape(posixpath.splitext(path)[1] or posixpath.basename(path)) for path in changed}
    # `text.rstrip()` names no document.
    named = any(name in read for name in directories) or re.search(rf"(?:{'|'.join(endings)})(?!\w)", read)
    if "doctest" in read or named:
        return None
    what = (
        "only documents were changed, which no code names" if documents else "no test or source names what was changed"
    )
    # What was changed is parsed all the same.
    return replace(context.checker.run(replace(check, kind="syntax", source=what)), check=check.label)


def _quoted(directory: str) -> Iterator[str]:
    """How a program may name a directory."""
    for name in filter(None, directory.split("/")):
        yield from (f'"{name}"', f"'{name}'", f"{name}/")


def _nothing_to_check(verdict: Verdict, state: RunState, context: RunContext) -> bool:
    """Whether there never was a check; one that was red and has gone is no success."""
    before, check = state["before"], state["discovery"].check
    was_red = before is not None and before.status == "failed" and check is not None and check.kind != "syntax"
    # Tests that were red and are found no more were removed, or are loaded no more.
    gone = was_red and context.settings.tools.allow_run
    changed = context.workspace.changed_files() or parts.updates.changed_by_programs(context)
    differs = bool(verdict.expected)  # what a program prints, where it may
    return verdict.status == "no_check" and bool(changed) and (not gone or differs or verdict.note == _TOO_LONG)


def start_clean(state: RunState, context: RunContext) -> None:
    """Put the workspace back to how it was found."""
    before = state["before"]
    context.best.start_clean(before.progress if before else -1.0)
    context.workspace.restore(context.best.start)


def put_back(context: RunContext) -> list[ScopeViolation]:
    """What programs changed out of scope; it is put back."""
    return list(context.workspace.enforce_scope())


def tried(check: Check, context: RunContext) -> tuple[Verdict, Mapping[str, TestEnd]]:
    """The verdict of a made test alone, and how each of its tests ended; WorkspaceError if it cannot be put there."""
    context.checker.conditions.forget(check)  # the one before at its place may have held more
    return context.checker.run(replace(check, beside=None)), context.checker.last_tests


def unguarded(check: Check | None, context: RunContext) -> None:
    """Free what only says how a check is run that no longer decides: "…, and let npm test run them"."""
    if check is not None:
        context.workspace.unprotect([path for path in check.protected if not is_test_code(path)])


def given_up(check: Check, state: RunState, context: RunContext) -> None:
    """Take back that a test which was made is the check: the one before it is."""
    context.workspace.unprotect([check.entry or ""])
    if state["discovery"].check is not None:
        context.checker.guard(state["discovery"].check)
    if state["before"] is not None:
        context.best.found(state["before"].progress)


def linted(context: RunContext) -> list[str]:
    """What the project's own linters find more than before in what was changed; it is told and nothing more.

    What passed the check is done: another attempt would cost as much as this one, and could spoil it.
    """
    if not (context.settings.verification.linters and context.settings.tools.allow_run):
        return []
    most_s = _LINT_SHARE * context.time_left()  # what is done must not be lost for them
    if most_s < _LEAST_LINT_S:
        return []
    found = checks.linters.look(context.workspace, context.launcher, context.scratch, most_s=most_s)
    finds = "finds" if len(found.clean) == 1 else "find"
    clean = f"{listed(found.clean, _NAMED_LINTERS)} {finds} nothing new in the files changed"
    return [*found.worse, *([clean] if found.clean else [])]


def still_used(context: RunContext) -> list[str]:
    """What other files use whose definition the change took out."""
    found = shown.dangling_names.dangling(context.workspace.changes(), context.workspace)
    return [f"taken out, and still used: {listed(found, _NAMED)}"] if found else []


def left_to_build(state: RunState, context: RunContext) -> list[str]:
    """That what is built in the workspace is of the sources as they were before the change."""
    check, native = state["discovery"].check, context.checker.native
    changed = check is not None and native.is_changed(context.workspace) and native.is_stale(check, context.workspace)
    if not (changed and native.is_older(context.workspace)):
        return []
    command = checks.programs.native_build.COMMAND
    return [f"what was tested was built in a copy; yours is still of the code before: `{command}`"]


def edit_name(diff: str) -> str:
    """What a change is called: equal for equal diffs."""
    return hashlib.sha256(diff.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _known_failure(record: StepRecord, edit: str, state: RunState, context: RunContext) -> Verdict | None:
    """The verdict on the same change earlier in this run, for an agent that ran no programs of its own."""
    known = state["failures"].get(edit)
    # An agent that runs programs of its own may have changed what the diff does not show.
    if known is None or record.action != "coding" or context.best.retaken:
        return None
    if context.best.claimed and _NOT_RUN in known.note:
        return None
    number = next(attempt.number for attempt in state["attempts"] if attempt.edit == edit)
    said = f"the same change as attempt {number}, so the check was not run again"
    # What was not run is still not known: who says later that this is all has to hear it.
    known = replace(known, note=f"{said}; {_NOT_RUN}" if _NOT_RUN in known.note else said)
    if record.summary != AS_IT_WAS:  # that edit was told
        _tell(known, state, context)
    return known


def _check(record: StepRecord, state: RunState, context: RunContext) -> Verdict:
    check = state["discovery"].check
    start = state["verdict"]
    # Who says that they are not about the task, or asks for something else, has to hear what the other tests say.
    foreign = start is not None and not is_about_tests(start.failing, state)
    others = foreign and (bool(context.best.claimed) or state["discovery"].task_type != "code_fix")
    narrow = not (record.action == "repair" or may_fail(state) or others)
    if check is not None:
        context.emit(CheckBegan(check=check.label))
    first = _still_failing(check, state["verdict"], context) if check and narrow else None
    verdict = first or check_runs.run_check(check, state, context)
    if first is None and check is not None and _is_too_long(check, verdict, state, context):
        verdict = Verdict(status="no_check", check=verdict.check, note=_TOO_LONG)
    if check is not None and keeps(verdict, state):
        # A refactoring passes without a pass, so that nothing confirms it: it is run once more instead.
        repeated = foreign_failures.run_after(check, state["before"], context)
        verdict = verdict if keeps(repeated, state) else repeated
    elif check is not None and verdict.passed and not _only_renames(state):  # that makes up no answers
        verdict = _told_by_new_tests(check, verdict, state, context)
        try:
            verdict = _confirmed(check, verdict, record, state, context) if verdict.passed else verdict
        except LimitReached:
            if record.action != "repair":
                raise
            # It has passed in a copy as well, and a search makes no canned answers.
            verdict = replace(verdict, note=_UNCONFIRMED)
        verdict = (_broken_elsewhere(check, context) or verdict) if verdict.passed else verdict
    verdict = _enough_tests(_usable_now(verdict, state, context) or verdict, state, context)
    _tell(verdict, state, context)
    return _newly_failing(check, verdict, state, context)


def _only_renames(state: RunState) -> bool:
    plan = state["plan"]
    return plan is not None and plan.origin == "repair" and plan.steps[-1].capability == "rename_symbol"


def _usable_now(verdict: Verdict, state: RunState, context: RunContext) -> Verdict | None:
    """What the check says that could not be run before the change, or was not there, if it can be: "use Python 3"."""
    if verdict.status not in {"passed", "no_check"}:
        return None
    check = context.best.unusable or _first_tests(state, context)
    if check is None:
        return None
    context.emit(CheckBegan(check=check.label))
    now = context.checker.run(check)
    problem = suites.run_problem.run_problem(check, now, root=context.workspace.root, python=context.python)
    # First tests that pass and do not tell how many ran may be none.
    told = now.status == "failed" or (now.passed and bool(context.best.unusable or now.tests_total))
    return now if told and (problem is None or problem.kind == "passed") else None


def _first_tests(state: RunState, context: RunContext) -> Check | None:
    """The first tests of a project that were written for another runner than pytest."""
    check, new = state["discovery"].check, [item.path for item in context.workspace.changes() if item.before is None]
    if (check is not None and check.kind != "syntax") or not any(
        checks.entry.is_test_file(path) and not path.endswith(".py") for path in new
    ):
        return None
    request = checks.find_check.CheckRequest()
    found = checks.find_check.find_check(context.workspace, context.settings.verification, request)
    return found if found is not None and found.kind == "tests" and "pytest" not in found.argv else None


def _told_by_new_tests(check: Check, verdict: Verdict, state: RunState, context: RunContext) -> Verdict:
    """The verdict; no pass where tests were asked for and those that were written pass without the change, too."""
    before, changes, by_pytest = state["before"], context.workspace.changes(), "pytest" in check.argv
    known, ran = (before.failing, before.tests_passed or 0) if before is not None else ((), 0)
    tests = [change.path for change in changes if checks.entry.is_test_file(change.path)]
    sources = [change for change in changes if change.path not in tests and checks.entry.is_code(change.path)]
    asked = state["discovery"].task_type != "refactor" and parts.allowed_by_user.wishes_tests(state)
    # Another runner may not run them, which is told by their number.
    runs = by_pytest or (verdict.tests_passed or 0) > ran
    if not (asked and tests and sources and runs) or check.text:
        return verdict
    with suppress(LimitReached, WorkspaceError):  # what is not known in time is not held against it
        copy = context.workspace.scratch_copy(context.scratch())
        put_as_found(copy.root, _originals(sources))
        narrow = replace(check, tests=tuple(tests)) if by_pytest else check
        without = context.checker.on(copy).run(narrow)
        if without.passed or (without.status == "failed" and without.failing and set(without.failing) <= set(known)):
            note = "the tests that were added pass without the change, too: one has to fail without it"
            return replace(verdict, status="failed", failing=(), error=note, note=note, signature=note)
        verdict = replace(verdict, by_new_tests=without.status == "failed" and not set(without.failing) <= set(known))
    return verdict


def _originals(changes: Iterable[FileChange]) -> dict[str, bytes | None]:
    return {change.path: change.before for change in changes}


def _newly_failing(check: Check | None, verdict: Verdict, state: RunState, context: RunContext) -> Verdict:
    """The verdict with what those tests say that passed before, where others failed already and take all the room."""
    before = state["before"]
    if check is None or before is None or not before.failing or verdict.status != "failed":
        return verdict
    broken = tuple(test for test in verdict.failing if test not in before.failing)[:_MOST_NEW]
    if not broken or set(broken) == set(verdict.failing):
        return verdict
    said = verdict.error
    if "pytest" in check.argv:
        alone = context.checker.run(replace(check, tests=broken))
        said = alone.error if alone.status == "failed" else "alone they pass"
    else:
        ends = context.checker.last_tests
        said = "\n\n".join(ends[test].text for test in broken if test in ends) or said
    return replace(verdict, error=f"These passed before the edit and fail now: {', '.join(broken)}\n\n{said}")


def _broken_elsewhere(check: Check, context: RunContext) -> Verdict | None:
    """What other tests say that pass without a change, where the check is a few of those that were found.

    None if all of them pass, or if that is not known in time.
    """
    # Of other runners no single tests can be asked for.
    if not check.suite or check.whole or check.argv[0] != PYTHON:
        return None
    whole = suites.near_tests.all_tests(check, _WIDER_SHARE * context.time_left())
    context.emit(CheckBegan(check=whole.label))
    with suppress(LimitReached, WorkspaceError):
        changed = context.checker.on(context.workspace.scratch_copy(context.scratch()))
        _, failing = _by_name(whole, changed)
        if not failing:
            return None
        as_found = context.workspace.scratch_copy(context.scratch())
        put_as_found(as_found.root, _originals(context.workspace.changes()))
        before, failed = _by_name(suites.near_tests.only(whole, failing), context.checker.on(as_found))
        broken = [test for test in failing if test not in failed]
        # Else some of them did not run there: a file that could not be loaded, a test that is new.
        ran = not before.timed_out and set(failed) <= set(failing) and (before.tests_passed or 0) >= len(broken)
        if not (broken and ran):
            return None
        again, broken_again = _by_name(suites.near_tests.only(whole, broken), changed)
        if broken_again and not again.timed_out:
            note = "these tests of other files passed before the change"
            return replace(again, progress=0.0, failing=broken_again, note=note)
    return None


def _by_name(check: Check, checker: checks.checker.Checker) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and the tests that failed as the runner is given them."""
    verdict = checker.run(check)
    if verdict.status != "failed":
        return verdict, ()
    by_pytest = "pytest" in check.argv
    return verdict, verdict.failing if by_pytest else suites.near_tests.labels(checker.conditions.failed(check))


def _enough_tests(verdict: Verdict, state: RunState, context: RunContext) -> Verdict:
    """The verdict, with new tests that the check passes over.

    Where tests were to be written, none is a pass in which no more of them pass than before; nor is one in which fewer
    do, where tests were changed too.
    """
    before, passed = state["before"], verdict.tests_passed or 0
    known = before.tests_passed if before is not None else None
    wanted = asks_for_tests(state["task"].prompt) and not state["discovery"].edits_tests
    if known is None and verdict.status in {"passed", "no_check"}:
        written = _new_tests(state, context)  # the first tests of a project are its check
        return verdict if written is None or written.status == "no_check" else written
    # What fails for other reasons may be left, and says no more of what is wanted than a pass does.
    if known is None or not (verdict.passed or (wanted and is_harmless(verdict, before))):
        return verdict
    beside = _new_tests(state, context, more=passed > known)
    if beside is not None and beside.status == "failed":
        return beside
    if beside is not None and beside.tests_passed:
        total = (verdict.tests_total or 0) + (beside.tests_total or 0)
        return replace(verdict, tests_passed=passed + beside.tests_passed, tests_total=total)
    fewer = state["discovery"].edits_tests and not parts.allowed_by_user.takes_out(state)
    if passed > known or (passed == known and not wanted) or not (wanted or fewer):
        return verdict
    note = f"{passed} tests pass, and {known} did before the tests were changed"
    if wanted:
        note = f"no test is new among those that ran: {passed} pass, and {known} did before"
    return replace(verdict, status="failed", failing=(), error=note, note=note, signature=note)


def _new_tests(state: RunState, context: RunContext, *, more: bool = False) -> Verdict | None:
    """The verdict of the Python test files that are new and that the check does not run; None if there are none.

    Args:
        more: more tests pass than before. Which ones, only pytest tells.
    """
    check, changes = state["discovery"].check, context.workspace.changes()
    by_pytest = check is not None and "pytest" in check.argv
    ran = context.checker.last_tests if by_pytest else ()
    tests = [change for change in changes if checks.entry.is_python_suite(change.path)]
    new = [change.path for change in tests if change.before is None]
    # Of tests that were moved there are no more than before.
    if not by_pytest and (more or len(new) < len(tests)):
        return None
    holds = (path for path in new if _TEST.search(checks.entry.text_of(context.workspace, path)))
    new = [path for path in holds if not any(name.startswith(f"{path}::") for name in ran)]
    if not new:
        return None
    if check is None or not by_pytest:
        env = check.env if check is not None else ()
        first = Check(kind="tests", argv=("{python}", "-m", "pytest"), source="the tests that were written", env=env)
        verdict = context.checker.run(replace(first, tests=tuple(new)))
        called = any(end.outcome == "failed" and end.when == "call" for end in context.checker.last_tests.values())
        # Outside of their own runner some cannot be loaded, which says nothing of them.
        alone = check is None or check.kind == "syntax"
        return verdict if alone or called or verdict.status != "failed" else None
    return context.checker.run(replace(check, tests=tuple(new)))


def _confirmed(check: Check, verdict: Verdict, record: StepRecord, state: RunState, context: RunContext) -> Verdict:
    """What is left of a pass when it is looked at closely; before that it is not told as one."""
    unsteady = _UNSTEADY.search(state["task"].prompt) is not None
    often = min(_MOST_RUNS, max(1, int(_RUNS_SHARE * context.time_left() / max(verdict.duration_s, 0.1))))
    # A repair has passed more than once in a copy already.
    again = often if unsteady else 0 if record.action == "repair" or record.held else None
    originals = _originals(context.workspace.changes())
    own = record.action == "repair"
    change = confirmation.confirm.Change(
        before=originals, prompt=state["task"].prompt, earlier=state["before"], own=own
    )
    held = confirmation.confirm.confirm(context.checker, check, verdict, change, runs=again)
    if unsteady and held.passed:
        context.emit(Note(level="info", text=f"it passes in {often + 1} runs, one after the other"))
    if unsteady and held.status == "flaky":  # that is what was to be mended
        return replace(held, status="failed", note="it passed, and failed in a later run")
    if held.status != "flaky" or not check_runs.is_by_chance(held, check, state, context):
        return held
    how, before = "failed once and passed when run again", state["before"]
    if before is not None and set(held.failing) <= set(before.failing):
        how, passed = "failed before, passed once and failed when run again", verdict.tests_passed
        verdict = replace(verdict, excused=held.failing, tests_passed=passed and passed - len(held.failing))
    check_runs.tell_by_chance(held.failing, context, how)
    return confirmation.confirm.confirm(context.checker, check, verdict, change, runs=0)


def _rest_apart(record: StepRecord, verdict: Verdict, state: RunState, context: RunContext) -> tuple[str, ...]:
    """The tests that fail as before and run nothing of what was changed, if a change mends all the others; else none.

    Of a real project some tests often fail where it is used: they lack a host, a tool, an older package.
    """
    before, check = state["before"], state["discovery"].check
    rest = verdict.failing
    if before is None or check is None or not rest or not set(rest) < set(before.failing):
        return ()
    mended = tuple(test for test in before.failing if test not in rest)
    if (verdict.tests_passed or 0) < (before.tests_passed or 0) + len(mended):
        return ()
    if "pytest" not in check.argv:
        # What they run is not known there. The task names what is mended, and the others fail in the same words.
        now = foreign_failures.words(context.checker.last_tests)
        same = all(test in now and now[test] == context.best.words.get(test) for test in rest)
        named = any(checks.entry.bare_name(test) in state["task"].prompt for test in mended)
        return (
            rest
            if same and named and set(foreign_failures.run_after(check, before, context).failing) == set(rest)
            else ()
        )
    alone = replace(check, tests=mended)
    passed = context.checker.run(alone)
    if not (passed.passed and _confirmed(alone, passed, record, state, context).passed):
        return ()
    return rest if foreign_failures.are_unreached(rest, check, verdict, context) else ()


def put_back_harmless(state: RunState, context: RunContext) -> Verdict | None:
    """Put back the last edit that broke nothing; gives its verdict."""
    context.workspace.restore(context.best.harmless)
    return state["failures"].get(edit_name(context.workspace.diff()))


def _tell(verdict: Verdict, state: RunState, context: RunContext) -> None:
    context.emit(CheckRan(when="attempt", verdict=verdict, number=len(state["attempts"]) + 1))


def _still_failing(check: Check, start: Verdict | None, context: RunContext) -> Verdict | None:
    """The verdict of the tests that failed before the attempt, run alone, if none of them passes; None: run them all.

    A test may need what others leave behind. So what these say counts only once they failed alone in the words in which
    they fail among all others; till then all are run, too, and that is found out.
    """
    tests = start.failing if start is not None and start.status == "failed" else ()
    few = start is not None and 0 < len(tests) * 2 <= (start.tests_total or 0) and start.duration_s > _LONG_S
    # Of half of the tests or more the whole is as quick, and tells more.
    if start is None or not few or "pytest" not in check.argv or check.text:
        return None
    verdict = context.checker.run(replace(check, tests=tests))
    if verdict.status != "failed" or verdict.timed_out or set(verdict.failing) != set(tests):
        return None
    # Once it is known that they fail alone as among the others, that need not be found out again.
    if tests not in context.alone and not _alike(verdict, start):
        whole = context.checker.run(check)
        if _alike(verdict, whole):
            context.alone.add(tests)
        return whole
    context.alone.add(tests)
    return replace(verdict, progress=start.progress, note=_NOT_RUN)


def _alike(one: Verdict, other: Verdict) -> bool:
    """Whether two runs failed in the same words, wherever the lines are now."""
    return _LINE.sub("", checks.signature.normalised(one.error)) == _LINE.sub(
        "", checks.signature.normalised(other.error)
    )
