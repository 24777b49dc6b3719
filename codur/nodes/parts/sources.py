"""The files that a model-backed step sees."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from posixpath import basename, dirname, splitext

from codur.agents.assignment import Assignment
from codur.agents.registry import Agent
from codur.checks.describe import failures_told
from codur.checks.entry import is_document, is_test_code, text_of
from codur.checks.suites.near_tests import near_tests
from codur.config.settings import Profile
from codur.context.brief import CodingBrief
from codur.context.file_order import is_vendored, standing
from codur.context.outline import outline_of
from codur.context.places import edited_lines, places_in
from codur.context.quoted_text import quoted_places
from codur.context.ranking import TestRun, identified
from codur.context.selection import Clues, Selection, Want, select
from codur.errors import LimitReached, WorkspaceError
from codur.lazy import regex
from codur.nodes.parts.finding import asks_for_tests, is_about_tests, may_fail, spoken_of
from codur.nodes.parts.updates import origin_of, warn
from codur.nodes.run_state import RunContext, RunState, task_told
from codur.parsing.bounded_text import bounded
from codur.planning.plans.full_plan import LISTED_FILES, RETRY_OBJECTIVE, shortened
from codur.repair.evidence.tracing import run_traced
from codur.structs import replace
from codur.tools import git
from codur.types import Step, Verdict
from codur.workspace.text import TextFile
from codur.workspace.workspace import Workspace

_MOST_BESIDE = 2  # tests of the same sources that are shown where tests are to be written
_FEW = 10  # times as many tests pass as fail
_MOST_TELLING = 8  # failing tests that may say what something new is to be like
_MOST_TRACED = 20  # failing tests whose lines are noted
_TRACE_S = 5.0
_LEAST_LEFT_S = 60.0  # with less time left, no program is run only to choose what is shown
_NOT_SHOWN = frozenset({"challenge.yaml", "args.txt"})  # files whose content the check's command line says already
_EXPECTED = frozenset({"expected.txt", "expected_output.txt"})
"""Expected output, of this check or of others: what a program should print is told by the check's verdict alone."""
_FRAME_TEXT = r"\bline \d+|\.\w{1,4}:\d+"
_FRAME = regex(_FRAME_TEXT)
_PLACE = regex(_FRAME_TEXT + r"|`[^`]+`|\b[A-Za-z]\w*[_.][A-Za-z]\w*|\b[a-z]+[A-Z]\w*")
"""A line of a file, or the name of something in the program."""
_PATHS = regex(r"[\w./+@-]+")
_PATH_WORD = regex(r"[^\W_]{4,}")
_OF_GIT = regex(r"\b(?:(?:un)?commit\w*|git)\b", re.IGNORECASE)
_STATUS_CHARS = 1_500
_COPY_CHARS = 400  # a shorter document that is there twice is shown twice
_MOST_SIZED = 5_000
_BEGINNING = 2_000  # bytes of data that are too large to be read whole
_LOOKED_LINES = 240  # the longest part of a file that is shown again because the coding agent had a look at it


def brief_of(state: RunState, step: Step, context: RunContext) -> CodingBrief:
    """What a model is told of a step, beside what failed.

    Of the workspace: the step's own file and the discovered ones, what the failure and the last attempt point to, what
    these lead to, what a classifier guessed, and what the check reads; an outline of the rest.
    """
    workspace, check = context.for_models, state["discovery"].check
    files = workspace.list_files()
    hidden = {*_NOT_SHOWN, *([check.expected_file] if check is not None and check.expected_file else [])}
    named = _named(state, step, files)
    selection = _selection(state, step, context, files, named)
    looked = [want for text in state["looked"] if (want := _looked_at(text))]
    found = {*selection.paths, *(want.path for want in looked)}
    paths = sorted(found, key=lambda path: (standing(path), path))  # so that attempts show the same beginning
    shown = [path for path in paths if path not in hidden]
    made = {check.entry: check.text} if check and check.text and check.entry else {}
    read = {path: file for path in shown if (file := _read(path, workspace)) is not None}
    texts = {**made, **{path: file.text for path, file in read.items()}}
    copies = _copies(selection.paths, texts, files, workspace)
    wants = (*looked, *(Want(path=path, need="needed") for path in made), *_without_other_tests(selection.wants, named))
    return CodingBrief(
        task="\n\n".join(filter(None, (task_told(state), _under_way(context)))),
        objective=objective(state, step),
        inputs=inputs(state, step, context),
        sources=texts,
        wants=tuple(want for want in sorted(wants, key=lambda want: want.need != "asked") if want.path in texts),
        copies=copies,
        forms={path: file.form for path, file in read.items() if file.form},
        outline=outline_of(
            selection.ranked,
            files,
            # Not what a program should print, nor what a model must not see.
            lambda path: None if path in hidden or basename(path) in _EXPECTED else text_of(workspace, path),
            partial(_beginning, workspace),
        ),
        withheld=tuple(path for path in named if workspace.hides(path) and workspace.is_file(path)),
        guessed=frozenset(state["discovery"].guessed) - {want.path for want in wants if want.need != "useful"},
    )


def _copies(
    order: Sequence[str], texts: dict[str, str], files: Sequence[str], workspace: Workspace
) -> dict[str, tuple[str, ...]]:
    """The other files with the text of a document that may be edited alike, links left out: a README is often a page
    of a site as well.

    Of files with one text the first in `order` stays in `texts`.
    """
    sizes = workspace.sizes(files) if len(files) <= _MOST_SIZED and any(map(is_document, texts)) else {}
    found = dict[str, tuple[str, ...]]()
    for path in [path for path in dict.fromkeys((*order, *texts)) if is_document(path)]:
        if len(text := texts.get(path, "")) >= _COPY_CHARS:
            same = [each for each in sizes if each != path and sizes[each] == sizes.get(path) and not is_vendored(each)]
            same = [each for each in same if workspace.may_edit(each) and text_of(workspace, each) == text]
            found[path] = tuple(same)
            for each in same:
                texts.pop(each, None)
    return {path: others for path, others in found.items() if others}


def _known(state: RunState) -> list[str]:
    """The files that rules found."""
    discovery = state["discovery"]
    return [path for path in discovery.files if path not in discovery.guessed]


def _named(state: RunState, step: Step, files: Sequence[str]) -> list[str]:
    """The step's own file, those that a plan says it is about, and the files found; of those that may be no more than a
    test check's, what is written.
    """
    check = state["discovery"].check
    said = f"{state['task'].prompt}\n{step.objective}".casefold()
    by_rules = check is not None and check.kind == "tests"
    named = [path for path in _known(state) if not by_rules or splitext(basename(path))[0].casefold() in said]
    added = [place for place in state["task"].places if not _FRAME.search(place)]
    written = {word.strip(".") for word in _PATHS.findall(objective(state, step))}
    planned = [path for path in files if path in written]
    return list(dict.fromkeys(filter(None, (str(step.arguments.get("path", "")), *planned, *named, *added))))


def _about(state: RunState) -> str:
    """The words that tell which code a task is about: its own, and where these name nothing, what came before it."""
    said = state["task"].said_with()
    names = _known(state) or _PLACE.search(said)
    return "\n\n".join((said, *state["guidance"])) if names else task_told(state)


def _selection(
    state: RunState, step: Step, context: RunContext, files: Sequence[str], named: Sequence[str]
) -> Selection:
    """What to show, for what failed now and in the last attempt."""
    discovery, failed = state["discovery"], _telling(state)
    last = state["attempts"][-1] if state["attempts"] else None
    said = state["task"].said_with()
    stated = said if _FRAME.search(said) else ""
    told = [stated, failed.error if failed else "", last.error if last else "", edited_lines(last.diff if last else "")]
    quoted = quoted_places(state["task"].prompt, files, context.for_models)
    runs = test_runs(state, context) if failed is not None else ()
    check = discovery.check
    # Failures lead to what is to be mended, and not to where something new belongs. A test that was made shows that
    # something is lacking.
    leads = failed is not None and discovery.task_type == "code_fix" and not (check is not None and check.text)
    ran = {path for _, lines in runs for path, _ in lines}
    # Where tests are to be written, those of the same sources show how, and where more belong.
    tests = check.protected if check is not None and not leads and asks_for_tests(state["task"].prompt) else ()
    beside = near_tests(discovery.files, tests, context.workspace)[:_MOST_BESIDE]
    clues = Clues(
        task=_about(state),
        named=named,
        step=objective(state, step),
        failure="\n\n".join(told),
        failing=failed.failing if failed else (),
        likely=[path for path in _known(state) if not runs or path in ran],
        runs=runs,
        looked_at="\n\n".join([quoted, *inputs(state, step, context).values()]),
        placed=places_in("\n".join(state["task"].places), files),
        guessed=() if leads else (*discovery.guessed, *beside),
        also=(*discovery.guessed, *(check.protected if check is not None else ())),
    )
    return select(context.repository, files, clues)


def _telling(state: RunState) -> Verdict | None:
    """What failed, if that may show where the task is to be done.

    Tests that failed before and of which the task does not speak say nothing of it, but where it says nothing either.
    """
    verdict, before = state["verdict"], state["before"]
    if verdict is None or verdict.status != "failed" or not verdict.failing:
        return verdict if verdict is not None and verdict.status == "failed" else None
    if set(verdict.failing) <= set(may_fail(state)):
        return None
    prompt, known = state["task"].prompt, before.failing if before is not None else ()
    said = (*spoken_of(verdict.failing, prompt), *failures_told(verdict, prompt))
    # What is new is told by few tests; of a check that was named many may fail for what this machine lacks.
    few = state["discovery"].task_type != "code_generation" or len(verdict.failing) <= _MOST_TELLING or said
    if is_about_tests(verdict.failing, state) and (few or not set(verdict.failing) <= set(known)):
        return verdict
    telling = tuple(test for test in verdict.failing if test not in known or test in said)
    if telling:
        return replace(verdict, failing=telling, error=verdict.error if telling == verdict.failing else "")
    found = state["discovery"]
    # A few among many that pass are seldom about something else; they cost little room.
    if found.task_type == "code_fix" and _FEW * len(verdict.failing) <= (verdict.tests_total or 0):
        return verdict
    leads = found.task_type != "code_fix" or found.files or _PLACE.search(prompt)
    return None if leads else verdict


def listed_files(state: RunState, context: RunContext) -> list[str]:
    """The workspace's files as a list shows them: where the task's rare words are, what fails and what that imports,
    what defines a name that the task writes, then sources, those first that are called as it speaks, of a directory the
    largest, and what is made last; shortened.
    """
    files, verdict = context.workspace.list_files(), state["verdict"] or state["before"]
    told = (verdict.error, *verdict.failing) if verdict is not None and verdict.status == "failed" else ()
    prompt, known = state["task"].prompt, _known(state)
    named = quoted_places(prompt, files, context.for_models)
    near = dict.fromkeys(place.path for place in places_in("\n".join((named, *told, *state["task"].places)), files))
    view = context.repository.view(files, list(near)) if near or _PLACE.search(prompt) else None
    imported = {path for source in near for path in view.imports(source)} if view is not None else set()
    defining = {path for path, _ in identified(view, prompt)} if view is not None else set()
    said = _words_in(prompt)
    # Where not all can be listed, what a directory is about is mostly in its large files.
    sizes = context.workspace.sizes(files) if LISTED_FILES < len(files) <= _MOST_SIZED else {}

    def order(path: str) -> tuple[bool | int | str, ...]:
        near_by = (path not in near, path not in imported, path not in known, path not in defining)
        # A list of many files is cut: those that are called as the task speaks come before the alphabet.
        largest = (dirname(path), -sizes.get(path, 0)) if sizes else ()
        return *near_by, standing(path), -len(_words_in(path) & said), *largest, path

    # By its own name: a word of a directory's is that of all files in it.
    marked = {path for path in files if _words_in(basename(path)) & said}.union(near, imported, known, defining)
    own = [path for path in files if path in near or path in known or not is_vendored(path)]
    return shortened(sorted(own or files, key=order), marked)


def task_with_git(state: RunState, context: RunContext, *, in_short: bool = False) -> str:
    """The task as `task_told` has it; one that speaks of commits with what git sees as changed, after its own words."""
    told, said = task_told(state, in_short=in_short), state["task"].said_with(state["guidance"])
    status = context.toolbox.call("git_status", {}) if _OF_GIT.search(state["task"].prompt) else None
    seen = [f"What git status says now:\n{bounded(status.text, _STATUS_CHARS)}"] if status and status.ok else []
    more = "\n\n".join(filter(None, (said, *seen, _under_way(context))))
    return f"{more}{told[len(said) :]}"


def _under_way(context: RunContext) -> str:
    """What git has under way, and which files are unmerged; empty if nothing is."""
    found = git.git_under_way.seen_under_way(context.workspace.root, context.launcher)
    return f"What git has under way now: {found.told}" if found is not None else ""


def _words_in(text: str) -> set[str]:
    return {word.removesuffix("s") for word in _PATH_WORD.findall(text.casefold())}


def _looked_at(text: str) -> Want | None:
    """A part of a file that the coding agent had a look at, if it is not too long to be shown again."""
    path, _, lines = text.rpartition(":")
    start, end = (int(number) for number in lines.split("-"))
    # A single line stands for the function around it.
    last = end if end > start else 0
    return Want(path=path, line=start, end=last, need="needed") if start <= end < start + _LOOKED_LINES else None


def test_runs(state: RunState, context: RunContext) -> Sequence[TestRun]:
    """What the failing tests and those beside them execute, run once more in a copy; nothing if that is not known."""
    check, verdict = state["discovery"].check, state["verdict"]
    if check is None or "pytest" not in check.argv or verdict is None or not context.settings.tools.allow_run:
        return ()
    tests = verdict.failing[:_MOST_TRACED] if verdict.status == "failed" else ()
    if not tests or tests in context.traced or context.time_left() < _LEAST_LEFT_S:
        return context.traced.get(tests, ())
    try:
        copy = context.workspace.scratch_copy(context.scratch())
        coverage = run_traced(context.checker.on(copy), replace(check, tests=tests), verdict, most_s=_TRACE_S)
    except (LimitReached, WorkspaceError):
        coverage = None
    found = coverage.tests.values() if coverage is not None else ()
    context.traced[tests] = tuple((test.failed, test.lines) for test in found)
    return context.traced[tests]


def objective(state: RunState, step: Step) -> str:
    """What a plan of a model or of the user says of the step beyond the task; empty if it says nothing new."""
    if origin_of(state) not in {"plan", "user"} or step.objective == RETRY_OBJECTIVE:
        return ""
    said = (("", step.objective), ("Expected output: ", step.expected_output), ("Done when: ", step.success_criteria))
    return "\n".join(f"{word}{text}" for word, text in said if text)


def assignment(agent: Agent, profile: Profile, files: Iterable[str], context: RunContext) -> Assignment:
    """An agent of this run at work on these files."""
    known = len(context.guidance.given)
    return Assignment(
        agent=agent,
        profile=profile,
        pool=context.models,
        prompts=context.prompts,
        toolbox=context.toolbox,
        emit=context.emit,
        instructions=context.instructions.text(agent, profile, files),
        heard=lambda: context.heard()[known:],
    )


def instruction_notes(context: RunContext) -> list[str]:
    """What to tell the user of instructions that were left out: once in a run."""
    return warn(context.instructions.notes(), context)


def _without_other_tests(wants: Iterable[Want], named: Iterable[str]) -> Iterable[Want]:
    """The wants without tests that the failure says nothing of, if it names any test."""
    wants = tuple(wants)
    told = {want.path for want in wants if want.line} | set(named)
    if not any(is_test_code(path) for path in told):
        return wants
    told |= {f"{dirname(path)}/conftest.py".lstrip("/") for path in told}
    return [want for want in wants if want.path in told or not is_test_code(want.path)]


def _beginning(workspace: Workspace, path: str) -> tuple[str, int]:
    """The first lines of a file of any size, and that; nothing if it holds no text."""
    try:
        return workspace.read_beginning(path, limit=_BEGINNING)
    except WorkspaceError:
        return "", 0


def target(state: RunState, step: Step, texts: Iterable[str], context: RunContext) -> str | None:
    """The one file that an edit without a path means: the step's, else the only one that may change, else None."""
    named = str(step.arguments.get("path", ""))
    if named:
        return named
    writable = [path for path in texts if context.workspace.may_edit(path)]
    if len(writable) == 1:
        return writable[0]
    missing = state["discovery"].missing_files
    return missing[0] if not writable and len(missing) == 1 else None


def inputs(state: RunState, step: Step, context: RunContext) -> dict[str, str]:
    """Outputs of earlier steps that this one names, with what was read beside them; an answer with its question."""
    names = [name for item in step.inputs for name in (item, f"{item}.dependencies")]
    found = {name: context.artifacts.get(state["outputs"][name]) for name in names if name in state["outputs"]}
    for asking in state["plan"].steps if state["plan"] is not None else ():
        if asking.action == "ask" and asking.id in found:
            found[asking.id] = f"You asked: {asking.arguments.get('text', '')}\nThe user answered: {found[asking.id]}"
    return found


def _read(path: str, workspace: Workspace) -> TextFile | None:
    """The file; None if it holds no text (such a file is of no use to a model), or is withheld."""
    try:
        return workspace.read_text(path)
    except WorkspaceError:
        return None
