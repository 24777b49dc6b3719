"""The check before anything is changed: which it is, that its files are guarded, and what it says."""

import os
import re
from collections.abc import Sequence
from itertools import chain

from codur import checks
from codur.checks import suites
from codur.checks.entry import is_test_code
from codur.context.places import places_in
from codur.errors import UsageError
from codur.events import CheckBegan, CheckRan, Note
from codur.lazy import regex
from codur.nodes.parts import foreign_failures
from codur.nodes.parts.updates import warn
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.parsing.bounded_text import listed
from codur.structs import replace
from codur.tools import git
from codur.types import Check, Discovery, Verdict

_COMMAND_NOT_FOUND = 127  # as a shell says it
_LINTER_WRONG_USAGE = 2  # ruff, black, mypy and eslint; they end so for a file that they cannot read, too
_SHOWN_LINES, _NAMED = 2, 3
_FIRST_SHARE, _SHORT_SHARE, _LEAST_FIRST_S = 0.4, 0.6, 10.0
"""Of the run's time, which its first check may take, so that there is some left to act on what it says."""
_SAMPLE_SHARE = 0.1  # of the check's time, after which it is clear enough that all tests would take many times that
MANY_TESTS = 400  # files, of which a task is about few, and all would take most of its time
_TIME = regex(r"\d ?(?:m?s|secs?|mins?)\b|second|minute", re.IGNORECASE)
_LEADS_OUT = regex(r"(?<![\w./])(?:/|\.\./)[\w./+@-]+")
_PATH_PARTS = regex(r"[/, ]+")
_WRITES = regex(
    r"\b(?:wr[io]t|creat|leav|touch)\w*\b[^.\n]*\b(?:where|though|should(?:n['’]t| not)|must not|behind|outside)\b",
    re.IGNORECASE,
)
_MISSING = regex(
    r"(?:can(?:no|')t open(?: file)?|[Nn]o such file or directory:?|cannot (?:access|find)|Cannot find module)\s+"
    r"[`'\"]?([\w./+@-]+)"
    r"|([\w./+@-]+)[`'\"]?:\s+(?:\[Errno 2\] )?(?:[Nn]o such file|not found|cannot open)"
)
"""What a program says of a file that is not there."""


def seen_before(state: RunState, context: RunContext) -> RunUpdate:
    """What is to be known before a step edits: the check, its files guarded, and its verdict so far.

    Empty if it is known already. Rules that did not take the task for one about code have not looked for a check.
    """
    # After an edit it is too late to learn how it was before.
    if state["before"] is not None or state["attempts"] or context.workspace.changed_files():
        return RunUpdate()
    task, discovery = state["task"], state["discovery"]
    if discovery.check is None:
        check = checks.find_check.find_check(
            context.workspace,
            context.settings.verification,
            checks.find_check.CheckRequest(
                prompt=task.prompt,
                files=[path for path in discovery.files if path not in discovery.guessed],
                command=task.check_command,
                expect_file=task.expect_file,
                made=task.made,
                changed=lambda: git.git_history.uncommitted(context.workspace.root, context.launcher),
            ),
        )
        discovery = replace(discovery, check=check)
    discovery = fewer_first(discovery, task.prompt, context)
    before = check_before(discovery, context, sample=True)
    discovery, verdict = timed(*fitted(discovery, before, task.prompt, context), task.prompt, context)
    return RunUpdate(discovery=discovery, before=verdict, verdict=verdict)


def fewer_first(discovery: Discovery, prompt: str, context: RunContext) -> Discovery:
    """With a check of the tests that the task names, or that are near to its files, of a project with very many."""
    check = discovery.check
    if check is None or not check.whole or len(check.protected) < MANY_TESTS:
        return discovery
    near = suites.near_tests.named_tests(prompt, check.protected)
    # Of a traceback the frames, the innermost first.
    files = discovery.files or [place.path for place in places_in(prompt, context.workspace.list_files())]
    near = near or suites.near_tests.near_tests(files, check.protected, context.workspace)
    fewer = suites.near_tests.fewer_tests(check, near, context.workspace)
    if fewer is None:
        return discovery
    many = f"{len(check.protected):,} files of tests"
    context.emit(Note(level="warning", text=f"there are {many}, so that `{fewer.label}` is the check"))
    return replace(discovery, check=replace(fewer, source=f"{fewer.source}, as there are {many}"))


def fitted(discovery: Discovery, before: Verdict, prompt: str, context: RunContext) -> tuple[Discovery, Verdict]:
    """With a check of fewer tests, where all of them did not end in time and some have to do with the task.

    Else no edit could be found right, however few of the tests it concerns.

    Raises UsageError: what runs writes where other programs act, of which the task says nothing.
    """
    check, long = discovery.check, context.checker.long
    acts = check is not None and check.kind != "output" and checks.checker.ACTED_ON in before.note
    said = _WRITES.search(prompt) or any("." in part and part in prompt for part in _PATH_PARTS.split(before.note))
    # Told now: every attempt would fail in the same way, and be paid for.
    if acts and not said:
        raise UsageError(
            f"the check cannot be used: {before.note}",
            remedy="See what in the program or its tests does that, or name another check: --check COMMAND.",
        )
    if check is None or not (check.whole and long):
        return discovery, before
    sources = discovery.files or git.git_history.uncommitted(context.workspace.root, context.launcher)
    near = suites.near_tests.near_tests(sources, check.protected, context.workspace)
    if not near and long == "sample":
        before = check_before(discovery, context)  # what fails until its time is up is all that there is to go by
        long = context.checker.long
    if not long:
        return discovery, before
    takes = f"{'many times' if long == 'sample' else 'longer than'} {before.duration_s:.0f} s"
    found = _narrowed(discovery, near, takes, context)
    # Those near come first: of so many tests some fail here whatever is changed.
    if found is None or (found[1].passed and discovery.task_type == "code_fix"):
        found = _narrowed(discovery, before.failing, takes, context) or found
    return found or (discovery, before)


def timed(discovery: Discovery, before: Verdict, prompt: str, context: RunContext) -> tuple[Discovery, Verdict]:
    """With the time that the request gives a program, before the tests, where it takes longer and can be run."""
    check = discovery.check
    other = check is not None and check.kind not in {"tests", "syntax"}
    if other or before.status == "tampered" or not _TIME.search(prompt):  # the module is not loaded for every task
        return discovery, before
    limit = suites.time_limit.time_limit(context.workspace, prompt)
    if limit is None:
        return discovery, before
    limit = replace(limit, beside=check if before.tests_passed else None)
    kept, _ = output_as_check((), prompt, context, limit)
    if kept is None:
        return discovery, before
    problem = suites.run_problem.run_problem(check, before, root=context.workspace.root, python=context.python)
    tests = problem is None or problem.kind == "passed"
    kept = replace(kept, beside=check if tests else None)
    verdict = late = checks.programs.kept_output.too_slow(kept, kept.runs[0])
    if tests:  # what of them fails is still to be mended, or may go on to
        told = replace(before, status="failed", error=f"{before.error}\n{late.error}".strip(), note=late.error)
        verdict = replace(told, check=kept.label, progress=late.progress / 2, signature=late.signature)
    context.checker.guard(kept)
    context.best.found(verdict.progress)
    context.emit(CheckRan(when="before", verdict=verdict))
    return replace(discovery, check=kept, confidence=1.0), verdict


def output_as_check(
    files: Sequence[str], prompt: str, context: RunContext, limit: Check | None = None
) -> tuple[Check | None, list[str]]:
    """What programs print and write now as the check, if they do so alike each time; else what was told of that."""
    check, left = checks.programs.kept_output.find(
        context.checker,
        files,
        prompt,
        context.time_left(),
        lambda command: context.emit(CheckBegan(check=command)),
        limit,
    )
    if check is None:
        why = "its time is not the check" if limit else "nothing will tell whether this still does the same"
        return None, warn([f"{why}: {left}"] if left else [], context)
    where = "" if limit else "no tests; "
    verb = "is compared with" if check.may_differ else "has to give"
    rest = f"; not compared: {left}" if left else ""
    what = checks.programs.kept_output.what_of(check)
    context.emit(Note(level="info", text=f"{where}`{check.label}` {verb} what it gives now: {what}{rest}"))
    return check, []


_NO_PACKAGE = regex(r"Cannot find (?:module|package) '(?![./])")
"""Said by Node of a package that is not installed."""


def with_others(discovery: Discovery, before: Verdict, context: RunContext, *, ends: bool) -> tuple[Discovery, Verdict]:
    """With the tests of another language that fail, where those that were found pass; others are told to be there.

    `ends`: that those pass would be the answer, so that the others are run.
    """
    check = discovery.check
    if check is None or check.beside is not None or before.status not in {"passed", "failed"}:
        return discovery, before
    others = checks.find_check.other_checks(context.workspace, context.settings.verification, check)
    told = []
    for other in others:
        if before.passed and ends:
            verdict = check_before(replace(discovery, check=other), context)
            if verdict.status == "failed" and not verdict.unfit and not _NO_PACKAGE.search(verdict.error):
                both = replace(other, beside=check)  # what passes now must pass then
                context.checker.guard(both)
                return replace(discovery, check=both), verdict
            told += [] if verdict.passed else [f"{other.label} ({verdict.unfit or verdict.note or verdict.status})"]
        else:
            told.append(other.label)
    if others:
        context.checker.guard(check)
    if told:
        context.emit(Note(level="warning", text=f"also there, and not run: {listed(told, _NAMED)}; --check runs it"))
    return discovery, before


def _narrowed(
    discovery: Discovery, tests: Sequence[str], takes: str, context: RunContext
) -> tuple[Discovery, Verdict] | None:
    """With a check of these tests and its verdict, as all tests take so long; None if these are no files of tests."""
    check = discovery.check and suites.near_tests.fewer_tests(discovery.check, tests, context.workspace)
    if check is None:
        return None
    context.emit(Note(level="warning", text=f"all tests take {takes}, so that `{check.label}` is the check"))
    discovery = replace(discovery, check=replace(check, source=f"{check.source}, as all take {takes}"))
    return discovery, check_before(discovery, context)


def check_before(discovery: Discovery, context: RunContext, *, sample: bool = False, alone: bool = False) -> Verdict:
    """The check's verdict on the untouched program; its files are guarded from now on.

    `alone`: nothing follows, so that it may take all of the run's time. `sample`: end early if all tests would take far
    too long and the task has files, which others may be near to.
    """
    check = discovery.check
    if check is not None:
        context.checker.guard(check)
        known, left = context.checker.recalls(check), context.time_left()
        # A short run's first check would else be cut off at four tenths of a few seconds.
        share_s = left if alone else max(min(_LEAST_FIRST_S, left * _SHORT_SHARE), left * _FIRST_SHARE)
        share_s = min(check.timeout_s, share_s)
        sample_s = _SAMPLE_SHARE * share_s if sample and check.whole and discovery.files else 0.0
        check = replace(check, timeout_s=share_s, sample_s=sample_s)
        if known:
            context.emit(Note(level="info", text=f"nothing has changed since `{check.label}` ran: it is not run again"))
        else:
            context.emit(CheckBegan(check=check.label))
    verdict = context.checker.run(check)
    if check is not None and check.argv[:2] == ("sh", "-c") and verdict.exit_status == _COMMAND_NOT_FOUND:
        raise UsageError(
            f"the check cannot be run: {verdict.error.strip().splitlines()[-1] if verdict.error else verdict.check}",
            remedy="Install what it calls, or name another command with --check (or in challenge.yaml).",
        )
    if check is not None and check.of_linter and (wrong := _wrong_usage(verdict, context)):
        raise UsageError(
            f"the check cannot be run: {wrong}",
            remedy="Name a rule, an option or a file that it knows, or another check.",
        )
    if check is not None and check.argv[:2] == ("sh", "-c") and (unseen := _unseen(check.argv[2], verdict, context)):
        raise UsageError(
            f"the check cannot be run: where programs run, contained, there is no {unseen}",
            remedy="Copy it into the workspace, or run without containment: --no-sandbox.",
        )
    if verdict.status in {"failed", "passed"}:
        context.best.found(verdict.progress)
        # Of a made test too, whose run says nothing of the others that failed.
        context.best.words |= foreign_failures.words(context.checker.last_tests) if verdict.failing else {}
    context.emit(CheckRan(when="before", verdict=verdict))
    if verdict.status == "failed" and (names := context.launcher.withheld(verdict.error)):
        are = "is" if len(names) == 1 else "are"
        told = (
            f"{listed(names, _NAMED)} of your environment {are} not given to programs; name in the check what it needs"
        )
        context.emit(Note(level="warning", text=f"{told}: --check '{names[0]}=… COMMAND'"))
    return verdict


def _wrong_usage(verdict: Verdict, context: RunContext) -> str:
    """What a linter says of how it was called; empty if it says anything of a file."""
    # The compiler of TypeScript ends so for what it finds.
    if verdict.exit_status != _LINTER_WRONG_USAGE or "tsc" in verdict.check:
        return ""
    if any(path in verdict.error for path in context.workspace.list_files()):
        return ""
    lines = [line.strip() for line in verdict.error.splitlines() if line.strip()]
    return "; ".join(lines[:_SHOWN_LINES]) or "it ends with status 2"


def _unseen(command: str, verdict: Verdict, context: RunContext) -> str:
    """A file outside of the workspace that a command names and misses although it is there; empty if there is none."""
    root, missing = context.workspace.root, set(filter(None, chain.from_iterable(_MISSING.findall(verdict.error))))
    for path in _LEADS_OUT.findall(command):
        there = (root / path).resolve()
        names = {path, str(root / path), str(there)}  # a program names it as it was given, or whole
        if root not in there.parents and not missing.isdisjoint(names) and there.exists():
            return str(path)
    return ""


def with_linted_tests(discovery: Discovery, before: Verdict | None, context: RunContext) -> Discovery:
    """With tests that may be edited, as the linter that is to pass finds something in them; as many still must pass."""
    check = discovery.check
    if check is None or check.beside is None or not check.of_linter or before is None or before.status != "failed":
        return discovery
    # Not where tests run in it: one that fails would be named as well.
    runs = "Traceback" in before.error or suites.runner_output.counts_in(before.error) is not None
    tests = () if runs else filter(is_test_code, check.beside.protected)
    # Of hooks the settings, where these are what cannot be read.
    settings = check.protected if "InvalidConfigError" in before.error else ()
    found = tuple(path for path in (*tests, *settings) if path in before.error)
    if not found:
        return discovery
    context.checker.free(found)
    told = f"the check finds something in {', '.join(found)}, so that it may be edited, too"
    context.emit(Note(level="warning", text=told))
    return replace(discovery, check=check.without(found))


def no_check_remedy(context: RunContext) -> str:
    """What can be done where no check was found."""
    root = context.workspace.root
    top = next((above for above in (root, *root.parents) if os.path.lexists(above / ".git")), root)
    there = f", or look at the whole repository with -C {top}" if top != root else ""
    return f"Name one with --check COMMAND, or the right output with --expect FILE{there}."
