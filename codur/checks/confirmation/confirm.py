"""Tests whether a pass holds: it repeats, it is computed, and the check that gave it can fail."""

import shutil
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from posixpath import basename, splitext
from secrets import token_hex

from codur.background import in_thread
from codur.checks.canned import canned_syntax
from codur.checks.canned.find_canned import find_canned
from codur.checks.checker import Checker, tampered
from codur.checks.compare import lines_of
from codur.checks.confirmation import hollow
from codur.checks.confirmation.inner_tests import changed_test
from codur.checks.confirmation.reaching import disarms, may_go_beyond, new_reaches
from codur.checks.entry import is_code, is_test_code, is_test_file, text_of
from codur.checks.stated_conditions import Conditions, allowed_by
from codur.errors import LimitReached, WorkspaceError
from codur.lazy import regex
from codur.structs import Struct, replace
from codur.types import Check, Verdict
from codur.workspace.copies import MAX_BYTES, content_of
from codur.workspace.workspace import Workspace

_MOST_SOURCES = 2_000
_MOST_TESTS = 20
_SLOWER, _LOADED_S = 2, 5.0
_IDLE_S = 20.0
_UNREADABLE = "((( ]]] '\n"  # in no language a program
_MOST_OF_GIT = 20_000  # a repository of more objects is not copied for this
_NAMED = 3
_READS = regex(rb"\binput\s*\(|\bstdin\b|\bfileinput\b|/dev/stdin|\bopen\s*\(\s*0\b")
_NUMBER = regex(rb"\d+")
_WORD = regex(rb"[A-Za-z]+")
_OF_EXAMPLES = regex(
    r"(?i)\b(?:doc-?strings?|doc-?tests?|examples?|assert(?:s|ions?)?)\b"
    r"|\b(?:update|edit|change|rewrite|adjust|correct)\s+(?:\w+\s+){0,3}tests?\b"
)
"""In a task they say that tests in the program's own file may be what is to be changed."""
_TEST_FRAMEWORKS = ("pytest plugin", "unittest", "test framework", "fixture")
"""In a task they say that it is about the test framework itself."""


class Change(Struct):
    """What was done before the check passed."""

    before: Mapping[str, bytes | None]  # original bytes of the changed files; None for a new one
    prompt: str = ""  # the task
    earlier: Verdict | None = None  # the verdict before anything was changed
    own: bool = False  # it is a change of the offline search, which makes none that reaches out of the program


def confirm(
    checker: Checker, check: Check, verdict: Verdict | None, change: Change, *, runs: int | None = None
) -> Verdict:
    """Test whether a pass holds, or the check, if that is still to be run: without a `verdict`.

    It must repeat `runs` times, or as the settings say. Gives the pass, with a note if the check does not reach what
    was changed, or a verdict `flaky` or `tampered` that says why; or the check's own, if it was run here and failed.
    """
    before, prompt = change.before, change.prompt
    workspace, conditions = checker.workspace, checker.conditions
    changed = conditions.changed(check, workspace, before)
    if check.beside is not None:
        changed |= conditions.changed(check.beside, workspace, before)
    # Cheapest first: this one runs nothing.
    reason = next((why for path, why in changed.items() if not allowed_by(prompt, path)), "")
    if reason:
        return tampered(verdict or checker.run(check), reason)
    with ExitStack() as stack:
        apart = None
        if check.kind == "output" and before:
            with suppress(WorkspaceError):  # too large to copy
                apart = _apart(stack, checker, check, before)
        if verdict is None:
            verdict = checker.run(check)
            if not verdict.passed:
                return verdict
        for _ in range(checker.settings.confirm_runs if runs is None else runs):
            again = checker.run(check)
            # The settings that decide how tests run are looked at before, because a change of theirs could make the
            # second run pass as well.
            if not again.passed:
                return replace(again, status="flaky", note="it passed once and failed when run again")
        if check.kind == "output" and before:
            reason = _needs_expected(checker, check, before, apart) or _ignores_input(checker, check, before)
    reason = reason or _canned(checker, check, before, prompt) or _rewritten(checker, check, change)
    reason = reason or _weakened(checker, check, before)
    if reason:
        return tampered(verdict, reason)
    # A linter runs nothing of what it looks at.
    told = change.own or check.of_linter or check.kind == "output"
    return verdict if told else _with_hollow(checker, check, verdict, change)


def _weakened(checker: Checker, check: Check, before: Mapping[str, bytes | None]) -> str:
    """Which test lost assertions where a linter was to find nothing in it, or an empty text."""
    for path, old in before.items() if check.of_linter else ():
        if old is not None and path.endswith(".py") and is_test_code(path):
            now = checker.workspace.read_bytes(path) if checker.workspace.is_file(path) else b""
            if canned_syntax.assertions(now) < canned_syntax.assertions(old):
                return f"the change takes assertions out of {path}"
    return ""


def _canned(checker: Checker, check: Check, before: Mapping[str, bytes | None], prompt: str) -> str:
    """Why a change is a canned answer, or an empty text."""
    workspace, pristine = checker.workspace, checker.pristine
    after = {path: workspace.read_bytes(path) if workspace.is_file(path) else None for path in before}
    kept = "\n".join(run.output for run in check.runs if check.within_s)  # nothing is as quick as an answer
    expected = pristine.expected(check, workspace) if check.kind == "output" else kept
    tests = {
        path: check.text if check.text and path == check.entry else pristine.text(path, workspace)
        for path in check.protected
        if check.kind != "output" and path.endswith(".py")
    }
    return find_canned(before, after, expected, prompt=prompt, tests=tests) or ""


def _rewritten(checker: Checker, check: Check, change: Change) -> str:
    """Which test in a program's own file failed and was changed, as a reason; empty if none, or if the task asks it."""
    earlier, workspace = change.earlier, checker.workspace
    if check.kind == "output" or earlier is None or earlier.status != "failed" or _OF_EXAMPLES.search(change.prompt):
        return ""
    for path, old in change.before.items():
        if old is not None and workspace.is_file(path) and not is_test_code(path):
            test = changed_test(path, old, workspace.read_bytes(path), earlier.error)
            if test:
                return f"{path}: the change is to what the check tests there ({test}), which failed before"
    return ""


# --- expected output --------------------------------------------------------------------------------------------------


class _Apart(Struct):
    """A copy of the workspace that has neither `.git` nor any file with the expected output."""

    copy: Workspace
    # inside, copies: the files with it that are left out: the check's own, and others
    inside: Sequence[str]
    copies: Sequence[str]
    passes: Callable[[], bool]  # waits for the program's run there, and says whether it passed


def _apart(stack: ExitStack, checker: Checker, check: Check, before: Mapping[str, bytes | None]) -> _Apart:
    """Such a copy, in which the program runs beside what is done meanwhile, and ends with the stack."""
    copy = stack.enter_context(_copied(checker, before))
    expected = checker.pristine.expected(check, checker.workspace)
    inside = [check.expected_file] if check.expected_file is not None else []
    kept = {*inside, check.stdin_file, check.entry}
    copies = [
        each
        for each in copy.list_files()
        if each not in kept and _holds(copy, each, expected, new=each in before)
        # Of one that the program read before it was changed nothing is held against it: that is its input.
        if each in before or not any(basename(each).encode() in (text or b"") for text in before.values())
    ]
    for each in (*inside, *copies):
        (copy.root / each).unlink(missing_ok=True)
    same = (check, content_of(copy.root))
    # The very files passed in this very check, in the copy of a search a moment ago.
    if same in checker.passed_apart:
        return _Apart(copy=copy, inside=inside, copies=copies, passes=lambda: True)
    launcher, stop = checker.programs.launcher.stoppable()
    there = checker.on(copy, launcher, without=inside)
    # Side by side on two processors: 50 to 80 ms less for a program whose Python takes as long to start.
    run = in_thread(lambda: there.run(check), "codur-apart")
    stack.callback(run.exception)  # waits
    stack.callback(stop.cancel)

    def passes() -> bool:
        if run.result().passed:
            checker.passed_apart.add(same)
        return same in checker.passed_apart

    return _Apart(copy=copy, inside=inside, copies=copies, passes=passes)


def _needs_expected(checker: Checker, check: Check, before: Mapping[str, bytes | None], apart: _Apart | None) -> str:
    """Why the program depends on a copy of the expected output, or an empty text."""
    workspace, path = checker.workspace, check.expected_file
    try:
        if apart is None:
            return _names_expected(workspace, path, before)
        if apart.passes():
            return ""
        inside = apart.inside
        # Then with the one file put back: the difference between the two runs is what it depends on.
        if path is not None and checker.on(apart.copy).run(check).passed:
            return "the program reads the file with the expected output"
        if apart.copies:
            with _copied(checker, before, without=inside) as copy:
                if checker.on(copy, without=inside).run(check).passed:
                    return f"the program reads {apart.copies[0]}, which holds the expected output"
        # A program that had to do with git before may read it now.
        spoke = any(b"git" in (text or b"") for text in before.values())
        with _copied(checker, before, without=inside) as copy:
            if not spoke and _copy_git(workspace, copy) and checker.on(copy, without=inside).run(check).passed:
                return "the program reads what git keeps of the expected output"
    except WorkspaceError:  # too large to copy
        pass
    return _names_expected(workspace, path, before)  # not even the copy passes: look at the text instead


@contextmanager
def _copied(
    checker: Checker, before: Mapping[str, bytes | None], *, without: Sequence[str] = (), generated: bool = False
) -> Iterator[Workspace]:
    """A copy of the workspace, to be changed before a program runs in it: after that it may be full of links.

    `generated`: with what git ignores, maybe earlier output of the program. Raises WorkspaceError: it is too large.
    """
    workspace = checker.workspace
    with checker.programs.launcher.temporary_directory() as temporary:
        copy = workspace.scratch_copy(temporary / workspace.root.name, extra=before, generated=generated)
        for path in without:
            (copy.root / path).unlink(missing_ok=True)
        yield copy


def _copy_git(workspace: Workspace, copy: Workspace) -> bool:
    """Whether a copy now has git's files as well; it has not if there are none, or too many."""
    place = workspace.root / ".git"
    try:
        sizes = [each.lstat().st_size for each in islice(place.rglob("*"), _MOST_OF_GIT)]
        if place.is_symlink() or not sizes or len(sizes) == _MOST_OF_GIT or sum(sizes) > MAX_BYTES:
            return False
        shutil.copytree(place, copy.root / ".git", symlinks=True)
    except OSError:  # something is there that is no file, or is not readable
        return False
    return True


def _holds(workspace: Workspace, path: str, expected: str, *, new: bool) -> bool:
    """Whether a file that is no source is a copy of the expected output; of one that is new, a part is enough."""
    if path.endswith(".py"):
        return False
    wanted, lines = lines_of(expected), lines_of(text_of(workspace, path))
    places = range(len(lines) - len(wanted) + 1) if new and wanted else ()
    return wanted == lines or any(lines[at : at + len(wanted)] == wanted for at in places)


def _names_expected(workspace: Workspace, expected_file: str | None, before: Mapping[str, bytes | None]) -> str:
    """Which changed file newly names the expected output's file, or git, as a reason; or an empty text."""
    what = dict.fromkeys((b".git/", b"git show", b"cat-file", b"'git'", b'"git"'), "what git keeps")
    if expected_file is not None:
        what = {basename(expected_file).encode(): "the file with the expected output", **what}
    for changed, old in before.items():
        if workspace.is_file(changed):
            new = workspace.read_bytes(changed)
            found = next((kept for name, kept in what.items() if name in new and name not in (old or b"")), "")
            if found:
                return f"{changed} names {found}"
    return ""


def _ignores_input(checker: Checker, check: Check, before: Mapping[str, bytes | None]) -> str:
    """Why the output cannot come from the input, or an empty text: it stays the same whatever the input is."""
    workspace = checker.workspace
    given = check.stdin_file
    # A program that was never meant to read it may print the same for every input.
    if given is None or not _is_read(given, before, workspace):
        return ""
    try:
        for other in _other_inputs(checker.pristine.data(given, workspace)):
            with _copied(checker, before) as copy:
                name = f"other-{token_hex(4)}.txt"
                (copy.root / name).write_bytes(other)
                (copy.root / given).write_bytes(other)
                protected = tuple(path for path in check.protected if path != given)
                judge = checker.on(copy, without=[given, name])
                if not judge.run(replace(check, stdin_file=name, protected=protected)).passed:
                    return ""
    except WorkspaceError:  # too large to copy
        return ""
    return f"the program prints the same whatever {given} says"


def _is_read(stdin_file: str, before: Mapping[str, bytes | None], workspace: Workspace) -> bool:
    """Whether the program reads, or read before its change, the file that is its standard input."""
    name = basename(stdin_file).encode()
    present = [workspace.read_bytes(path) for path in before if workspace.is_file(path)]
    texts = [text for text in (*before.values(), *present) if text]
    return any(_READS.search(text) or name in text for text in texts)


def _other_inputs(data: bytes) -> Iterator[bytes]:
    """Inputs that differ from this one: with other numbers and words, with half of its lines, with none."""
    lines = data.splitlines(keepends=True)
    # Numbers first: a program that counts or computes answers otherwise, one that reads names may not notice other
    # words.
    changed = _NUMBER.sub(lambda found: str(int(found[0][:18]) + 1).encode(), data)
    yield changed if changed != data else _WORD.sub(lambda found: found[0][::-1] + b"q", data)
    yield b"".join(lines[: len(lines) // 2])
    yield b""


# --- a check that can fail --------------------------------------------------------------------------------------------


def _with_hollow(checker: Checker, check: Check, verdict: Verdict, change: Change) -> Verdict:
    """The verdict, once it is known what the check says of the same program with functions that only fail."""
    workspace, before, earlier = checker.workspace, change.before, change.earlier
    tests = [path for path in check.protected if path.endswith(".py")]
    written = {
        path: workspace.read_bytes(path)
        for path in before
        if is_code(path) and workspace.is_file(path) and path not in check.protected and not is_test_code(path)
    }
    after = {path: text for path, text in written.items() if path.endswith(".py")}
    about_tests = any(word in change.prompt.casefold() for word in _TEST_FRAMEWORKS)
    reason = "" if about_tests else disarms(before, written, tests)
    if reason:
        return tampered(verdict, reason)
    new = {path: _added(before[path], text) for path, text in after.items()}
    names = sorted({name for added in new.values() for name in added if not name.startswith("__")})
    try:
        if not after:
            deaf = _passes_otherwise(checker, check, verdict, change) if may_go_beyond(before, written) else ""
            if deaf:
                return tampered(verdict, f"the check passes whatever {deaf} asks for")
            idle = _idle(checker, check, verdict, change, list(written))
            return replace(verdict, note="; ".join(filter(None, (verdict.note, idle))))
        if names and not _passes_hollow(checker, check, before, earlier, new):
            return verdict
        # New functions alone first: one that no test calls is told, and is no reason for suspicion.
        unseen = bool(names) and _passes_hollow(checker, check, before, None, new)
        if not _passes_hollow(checker, check, before, earlier):
            return replace(verdict, note=f"not reached by the check: {', '.join(names)}") if unseen else verdict
    except WorkspaceError:  # too large to copy
        return verdict
    if earlier is None or earlier.status != "failed":  # nothing failed before, so that a pass is no news
        return replace(verdict, note="; ".join(filter(None, (verdict.note, _unreached(after)))))
    reaches = [f"{path}: {each}" for path, text in after.items() for each in new_reaches(before[path], text)]
    if reaches:
        what = ", ".join(reaches[:_NAMED])
        return tampered(verdict, f"the check passes even if no function does anything, and the change uses {what}")
    same = all(hollow.outside(before[path]) == hollow.outside(text) for path, text in after.items())
    texts = {path: text.decode("utf-8", "replace") for path, text in after.items()}
    if same and set(before) == set(after) and not hollow.calls_own(texts):
        return tampered(verdict, "the check passes even if the functions that were changed only fail")
    return replace(verdict, note=_unreached(after))


def _passes_hollow(
    checker: Checker,
    check: Check,
    before: Mapping[str, bytes | None],
    earlier: Verdict | None,
    only: Mapping[str, Container[str]] | None = None,
) -> bool:
    """Whether the check passes although functions of the program do nothing but fail.

    Args:
        earlier: the tests that failed in it are enough; None for all.
        only: the functions that are meant, by file; None for all of the workspace's.
    """
    tests = [path for path in check.protected if path.endswith(".py")]
    # If the failing ones fail in the hollow program, the check can fail; all tests would take as long as the whole run.
    failing = earlier.failing[:_MOST_TESTS] if earlier is not None and "pytest" in check.argv else ()
    narrow = replace(check, tests=failing) if failing and not check.text else check
    with _copied(checker, before, generated=True) as copy:
        sources = [path for path in copy.list_files() if path.endswith(".py") and path not in tests]
        found = False
        for path in sources[:_MOST_SOURCES] if only is None else only:
            meant = None if only is None else only[path]
            text = "" if is_test_code(path) else hollow.hollowed(text_of(copy, path), tests, meant)
            if text:
                (copy.root / path).write_text(text)
                found = True
        return found and checker.on(copy).run(narrow).passed


def _passes_otherwise(checker: Checker, check: Check, verdict: Verdict, change: Change) -> str:
    """The test that failed before, if the check passes although all of it asks for something else now."""
    error = change.earlier.error if change.earlier is not None and change.earlier.status == "failed" else ""
    names = {path: splitext(basename(path))[0] for path in check.protected if is_test_file(basename(path))}
    # The first alone: the others that an output names may have passed, and have to fail now.
    test = min((path for path in names if names[path] in error), key=lambda path: error.index(names[path]), default="")
    made = check.text if test == check.entry else ""
    other = hollow.asking_otherwise(made or checker.pristine.text(test, checker.workspace)) if test else ""
    # Where it is built anew in the copy it may take longer; that it did not end says nothing.
    slow = replace(check, timeout_s=min(check.timeout_s, _SLOWER * verdict.duration_s + _LOADED_S))
    if other:
        with _copied(checker, change.before, generated=True) as copy:
            judge = checker.on(copy, without=[test])
            judge.conditions = Conditions()  # tests of other names
            if made:
                slow = replace(slow, text=other)
            else:
                (copy.root / test).write_text(other)
            return test if judge.run(slow).passed else ""
    return ""


def _idle(checker: Checker, check: Check, verdict: Verdict, change: Change, files: Sequence[str]) -> str:
    """Which of the changed files of other languages the check passes without, as nothing can read them."""
    alone = len(files) == 1 and change.earlier is not None and change.earlier.status == "failed"
    if alone:  # what alone turned the check green was read
        return ""
    short = replace(check, timeout_s=min(check.timeout_s, _SLOWER * verdict.duration_s + _LOADED_S))
    found, until = [], time.monotonic() + min(_IDLE_S, checker.programs.time_left() / 2)
    for path in files:
        if time.monotonic() + short.timeout_s > until:  # it is no more than a note
            break
        with suppress(LimitReached), _copied(checker, change.before, generated=True) as copy:
            (copy.root / path).write_text(_UNREADABLE)
            if checker.on(copy).run(short).passed:
                found.append(path)
    return f"not reached by the check: {', '.join(found[:_NAMED])}" if found else ""


def _added(before: bytes | None, after: bytes) -> frozenset[str]:
    """The names of the functions that are new."""
    old, new = (canned_syntax.parse(text) if text is not None else None for text in (before, after))
    return frozenset(canned_syntax.functions(new) if new else ()) - frozenset(
        canned_syntax.functions(old) if old else ()
    )


def _unreached(after: Mapping[str, bytes]) -> str:
    trees = {path: canned_syntax.parse(text) for path, text in after.items()}
    found = sorted(path for path, tree in trees.items() if tree and canned_syntax.functions(tree))
    return f"not reached by the check: the functions of {', '.join(found[:_NAMED])}" if found else ""
