"""Where nothing fails because of what the task tells, makes a test that does, before anything is edited."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from posixpath import basename, dirname, splitext

from codur import checks
from codur.checks.describe import error_text
from codur.checks.entry import bare_name, is_python_suite, text_of
from codur.checks.suites import made_for_runner
from codur.checks.suites.made_check import MOST_CHARS, made_check, text_problem, why_not_red
from codur.checks.suites.near_tests import near_tests
from codur.context.brief import question_text
from codur.context.file_order import standing
from codur.context.places import places_in
from codur.context.ranking import said_in, stems_of
from codur.context.selection import Want
from codur.errors import LimitReached, ModelError, WorkspaceError
from codur.events import TestMade
from codur.lazy import regex
from codur.llm.model import ChatRequest
from codur.llm.tokens import estimate_tokens
from codur.nodes import parts
from codur.nodes.parts.attempt_verdict import given_up, tried
from codur.nodes.parts.finding import near_by_name
from codur.nodes.parts.first_check import check_before, output_as_check, seen_before
from codur.nodes.parts.foreign_failures import any_unwritten
from codur.nodes.parts.offline_work import may_keep_output, may_make_check
from codur.nodes.parts.sources import brief_of
from codur.nodes.parts.updates import current_step, go, warn
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.parsing.bounded_text import listed
from codur.parsing.code import code_from_text
from codur.parsing.fences import strip_thinking
from codur.planning.replies import messages
from codur.questions import Answer, Question
from codur.structs import replace
from codur.types import Check, Message

_NONE = regex(r"\A\W*NONE\b\W*(?P<reason>[^\n]*)")
_FAILS = regex(r"\A\W*FAILS\b\W*(?P<names>.*?)(?=\n\s*\n|\Z)", re.DOTALL)
_OUTPUT_CHARS = 2_000
_FAILING_CHARS = 3_000  # of what the tests say that fail already
TRIES = 2
"""Tests that are asked for: one, and one more that knows what became of it."""
_FRAMES = 3  # of what a test of no use failed in, shown to who edits
_EXAMPLE_LINES = 40  # of such a test, shown in any case
_OWN_PACKAGE = 100  # what a test of the same package is worth, in words that it shares
_CALLED = 3.0  # what a word in its name is worth that no other test's name has
_ALIKE = 3  # of the tests in it, shown in any case
_FIRST = 3.0  # what a test of the first source is worth, in words that no other test has
_EXAMPLES = 60  # test files that are looked into for one that is like what is to be written
_SET_UP = frozenset({"setUp", "setup_method", "setUpClass"})
_WORD = regex(r"[A-Za-z_]\w{3,}")
_LISTED = 20  # tests that are named to a model
_HEAD_ROOM = 800  # tokens for the instructions


async def make_check(state: RunState, context: RunContext) -> RunUpdate:
    """Ask for a test that is red because of what the task tells; the user may see it before it becomes the check."""
    answer = state["answer"]
    # The node is entered again for what the user said of the test.
    if answer is not None:
        return RunUpdate(**{"answer": None, **await _after_answer(answer, state, context)})
    seen = await asyncio.to_thread(seen_before, state, context)
    seen["test_knows"] = len(state["guidance"])
    state = {**state, **seen}
    if may_keep_output(state, context):
        return RunUpdate(**{**seen, **await asyncio.to_thread(_kept_output, state, context)})
    # what was found only now decides: there is a failing check
    # What the user asks for is written with the change.
    own = state["discovery"].check is not None and parts.allowed_by_user.wishes_tests(state)
    if own or not may_make_check(state, context) or (near_by_name(state) and any_unwritten(context)):
        return RunUpdate(**seen, **_without("", state, context))
    check, problem, failure = await _made(state, context)
    if check is not None and not check.text:
        return RunUpdate(**{**seen, **await asyncio.to_thread(_adopt, check, state, context)})
    if check is None or problem:
        # A test that is of no use may still have failed where the fault is.
        frames = [place for place in places_in(failure, context.workspace.list_files()) if not standing(place.path)]
        looked = [f"{place.path}:{place.line}-{place.line}" for place in frames[:_FRAMES] if place.line]
        return RunUpdate(**seen, **_without(problem, state, context), looked=[*state["looked"], *looked])
    # Who has no tests did not ask for one to look over; it shows what is done all the same.
    if context.consult is None or state["task"].approved or not _has_tests(state):
        context.emit(TestMade(path=check.entry or "", text=check.text, failure=failure))
        return RunUpdate(**{**seen, **await asyncio.to_thread(_adopt, check, state, context)})
    return RunUpdate(**seen, **_asked(check, failure))


def _kept_output(state: RunState, context: RunContext) -> RunUpdate:
    """What programs print and write now as the check, if they do so alike each time."""
    discovery = state["discovery"]
    files = [path for path in discovery.files if path not in discovery.guessed]
    check, notes = output_as_check(files, state["task"].prompt, context)
    if check is None:
        return RunUpdate(**{**_without("", state, context), "notes": notes})
    verdict = checks.programs.kept_output.as_before(check, context.checker)
    context.checker.guard(check)
    context.best.found(verdict.progress)
    discovery = replace(discovery, check=check)
    why = f"what `{check.label}` gives now is known"
    known = RunUpdate(making="without", discovery=discovery, before=verdict, verdict=verdict)
    return go("policy", origin="pre_plan", why=why, **known)


def _has_tests(state: RunState) -> bool:
    check = state["discovery"].check
    return check is not None and check.kind == "tests"


async def _made(state: RunState, context: RunContext) -> tuple[Check | None, str, str]:
    """The check, why it is of no use (empty if it is of use), and how it fails now."""
    step = current_step(state)
    named = step.capability if context.agents.knows(step.capability) else ""
    agent = context.agents.coding(explicit=state["coder"] or named or state["task"].agent)
    profile = context.models.sizes.fitted(context.models.profiles.named(agent.profile))
    brief = await asyncio.to_thread(brief_of, state, step, context)
    example = await asyncio.to_thread(_example, brief.sources, state, context)
    files = context.workspace.list_files()
    # First, as a long source would take all the room: how a test here imports and calls what it is about.
    settings = made_for_runner.settings_of([*brief.sources], files)  # the crate of Rust, the settings of Jest
    stated = text_of(context.for_models, settings) if settings else ""
    shown = {**example, **({settings: stated} if stated else {})}
    heads = [Want(path=path, line=1, end=_EXAMPLE_LINES, need="needed") for path in shown if path not in example]
    alike = (want for path in example for want in _alike(path, stems_of(state["task"].prompt), files, context))
    wants = (*alike, *heads, *brief.wants, *(Want(path=path, partly=True) for path in example))
    brief = replace(brief, sources={**brief.sources, **shown}, wants=wants)
    room = profile.request_tokens - profile.max_completion_tokens - _HEAD_ROOM
    most = estimate_tokens(brief.task) + context.settings.context.source_tokens
    task = question_text(brief, budget_tokens=min(room, most))
    task = "\n\n".join(filter(None, (task, _failing_now(state, context))))
    near = made_for_runner.place_of(next(iter(example), ""), [*brief.sources], files)
    return await _written(task, near, context.models.profiles.named(agent.profile), state, context)


def _instructions(near: str, state: RunState, context: RunContext) -> str:
    """What a model is told to do: to write for pytest, or for the runner that finds tests beside `near`."""
    check, render = state["discovery"].check, context.prompts.render
    if check is None or not made_for_runner.is_found(check, state["before"], near):
        by_unittest = check is not None and check.kind == "tests" and "unittest" in check.argv
        what = "file of unittest's TestCase, which pytest can run" if by_unittest else "pytest file"
        return render("make_check", what=what, rules=render("make_check.pytest"))
    name = made_for_runner.path_of("", near, ())
    form = near if context.workspace.is_file(near) else f"other tests in {dirname(near)}/"
    rules = render("make_check.runner", command=check.label, name=name, near=form)
    return render("make_check", what=f"test file for `{check.label}`", rules=rules)


def _failing_now(state: RunState, context: RunContext) -> str:
    """What a model is told of the tests that fail already: one of them may be about the task."""
    before = state["before"]
    if before is None or not before.failing:
        return ""
    failing = listed(before.failing, _LISTED)
    return context.prompts.render("make_check.failing", tests=failing, said=error_text(before.error, _FAILING_CHARS))


async def _written(
    task: str, near: str, profile: str, state: RunState, context: RunContext
) -> tuple[Check | None, str, str]:
    """What comes of asking for a test, once more if it was of no use; it is to lie beside `near`, if that is known."""
    talk, problem, check, output = [*messages(_instructions(near, state, context), task)], "", None, ""
    for _ in range(TRIES):
        try:
            reply = await context.models.complete(profile, ChatRequest(purpose="test", messages=tuple(talk)))
        except (ModelError, LimitReached) as error:
            return None, error.message, output
        cut = reply.finish_reason == "length"
        said = "" if cut else strip_thinking(reply.text)
        fails = _FAILS.match(said)
        if fails is not None and (known := _failing_check(fails["names"], state)):
            return known, "", ""
        none = _NONE.match(said)
        if none is not None:
            return None, none["reason"].strip() or "the model sees no way to show it by a test", output
        text = None if cut or fails is not None else code_from_text(reply.text)
        missing = "the answer held no file" if fails is None else "none of the tests that fail has that name"
        problem, output = "the answer was cut off" if cut else missing, ""
        if text:
            check, problem, output = await asyncio.to_thread(_tried, text, near, state, context)
            if check is not None and not problem:
                break
        shown = f"{output[-_OUTPUT_CHARS:].strip()}\n" if output else ""
        again = context.prompts.render("make_check.retry", problem=problem, output=shown)
        talk += [Message(role="assistant", content=reply.text), Message(role="user", content=again)]
    return check, problem, output


def _failing_check(said: str, state: RunState) -> Check | None:
    """The project's check, of which those tests that are named have to pass; None if none that fails is named."""
    check, before = state["discovery"].check, state["before"]
    failing = before.failing if before is not None else ()
    named = _named(said, failing)
    if check is None or not named:
        return None
    return replace(check, left_out=tuple(test for test in failing if test not in named))


def _named(said: str, failing: Sequence[str]) -> set[str]:
    """The failing tests that are named: by id, or by less of it; what names one exactly names no others."""
    meant: dict[str, set[str]] = {}
    for test in failing:
        name, bracket, case = test.partition("[")
        parts = name.split("::")
        ends = [bare_name(test), *("::".join(parts[place:]) for place in range(len(parts)))]
        for form in (*ends, *(f"{end}{bracket}{case}" for end in ends), *("::".join(parts[:n]) for n in (1, 2))):
            meant.setdefault(form, set()).add(test)
    named = set[str]()
    for form in sorted((form for form in meant if form in said), key=len, reverse=True):
        # Of a file that could not be loaded any test may be named.
        more = r"(?![\w\[])" if form in failing else r"(?![\w\[]|::)"
        said, count = re.subn(rf"(?<!\w){re.escape(form)}{more}", " ", said)
        named |= meant[form] if count else set()
    return named


def _example(shown: Mapping[str, str], state: RunState, context: RunContext) -> dict[str, str]:
    """A test of the project that shows how its tests are written: of the same sources, sharing most with the task.

    A word that many tests have says little. Equally near ones: those that are shown anyway first, then short ones.
    """
    workspace, check = context.for_models, state["discovery"].check
    wanted, stems = set(_WORD.findall(state["task"].prompt)), stems_of(state["task"].prompt)
    tests = check.protected if check else ()
    other = made_for_runner.is_other(check)
    fits = made_for_runner.is_example if other else is_python_suite
    texts = {path: text for path, text in shown.items() if fits(path)}
    near = near_tests(shown if other else state["discovery"].files, tests, workspace)
    others = [path for path in dict.fromkeys((*near, *tests)) if fits(path) and path not in texts]
    others.sort(key=lambda path: (path not in near, -len(_called(path, stems))))
    for path in [path for path in others if not workspace.hides(path)][:_EXAMPLES]:
        with suppress(WorkspaceError):
            texts[path] = workspace.peek_text(path)
    shared = {path: wanted & set(_WORD.findall(text)) for path, text in texts.items()}
    spread = Counter(word for words in shared.values() for word in words)
    called = {path: _called(path, stems) for path in texts}
    spread_called = Counter(word for words in called.values() for word in words)
    first = {*near_tests([*state["discovery"].guessed, *state["discovery"].files][:1], tests, workspace)}
    own = {dirname(path) for path in shown if path.endswith(".go")}  # a test of Go belongs to its package

    def nearness(path: str) -> tuple[float, bool, int]:
        beside = _OWN_PACKAGE * (path.endswith(".go") and dirname(path) in own)
        named = _CALLED * sum(1 / spread_called[word] for word in called[path])
        said = sum(1 / spread[word] for word in shared[path])
        worth = beside + (path in near) + _FIRST * (path in first) + named + said
        return worth, path in shown, -len(texts[path])

    best = max(texts, key=nearness, default="")
    return {best: texts[best]} if best else {}


def _called(path: str, stems: set[str]) -> set[str]:
    """Which of the stems the name of a test's file has."""
    return said_in(basename(path).partition(".test")[0], stems)[0]


def _alike(path: str, stems: set[str], files: Sequence[str], context: RunContext) -> list[Want]:
    """What is shown of a test in any case: the tests in it that are most like the task, or how it begins."""
    facts = context.repository.view(files, [path]).facts.get(path)
    blocks = facts.blocks if facts is not None else ()
    short = [block for block, after in pairwise(blocks) if block.test and after.line - block.line <= _EXAMPLE_LINES]
    said = {block: said_in(" ".join((block.name, *block.mentions)), stems)[0] for block in short}
    spread = Counter(word for words in said.values() for word in words)
    best = sorted(filter(said.get, short), key=lambda block: -sum(1 / spread[word] for word in said[block]))[:_ALIKE]
    lines = [block.line for block in best]
    for block in best:  # with the helpers that it calls; those nearest above it, if several are called alike
        above = {each.name: each.line for each in blocks if each.line < block.line and not each.test}
        lines += [line for name, line in above.items() if name in block.mentions]
        lines += [each.line for each in blocks if each.owner == block.owner and each.name in _SET_UP]
    wants = [Want(path=path, line=line, need="needed") for line in dict.fromkeys(lines)]
    return wants or [Want(path=path, line=1, end=_EXAMPLE_LINES, need="needed")]


def _tried(text: str, near: str, state: RunState, context: RunContext) -> tuple[Check | None, str, str]:
    """The check of a test, why it is of no use (empty if it is of use), and what its run said."""
    discovery, before, prompt = state["discovery"], state["before"], state["task"].prompt
    files = context.workspace.list_files()
    if len(text) > MOST_CHARS:
        return None, f"it has {len(text):,} characters; a test of one fault needs far less than {MOST_CHARS:,}", ""
    project = discovery.check if before is not None and before.status in {"passed", "failed"} else None
    if project is not None and before is not None and before.failing:
        project = replace(project, left_out=before.failing)
    if before is not None and project is not None and made_for_runner.is_found(project, before, near):
        among = made_for_runner.among(text, project, before.tests_passed or 0, near, files)
        return _tried_among(among, state, context)
    problem = text_problem(text, prompt, [*files, *discovery.missing_files])
    if problem:
        return None, problem, ""
    check = made_check(text, project, files, near=near, timeout_s=context.settings.verification.test_timeout_s)
    try:
        verdict, ended = tried(check, context)
    except WorkspaceError as error:
        return None, error.message, ""
    known, earlier = partial(_defined, files, context), state["task"].earlier
    return check, why_not_red(check, verdict, ended, prompt, earlier=earlier, known=known), verdict.error


def _tried_among(check: Check, state: RunState, context: RunContext) -> tuple[Check | None, str, str]:
    """The same of a test that runs among the project's own."""
    files = context.workspace.list_files()
    problem = made_for_runner.text_problem(check.text)
    if problem:
        return None, problem, ""
    try:
        verdict, _ = tried(check, context)
    except WorkspaceError as error:
        return None, error.message, ""
    frames = [place.path for place in places_in(verdict.error, [*files, check.entry or ""])]
    view, stems = context.repository.view(files, frames), {splitext(basename(path))[0] for path in files}
    problem = made_for_runner.why_not_red(
        check, verdict, state["task"].prompt, frames, known=lambda name: name in stems or bool(view.defined(name))
    )
    return check, problem, verdict.error


def _defined(files: Sequence[str], context: RunContext, name: str) -> bool:
    """Whether a function, class, variable or module of the workspace's Python files has this name."""
    workspace = context.for_models
    files = [path for path in files if path.endswith(".py") and not workspace.hides(path)]
    if any(path.endswith((f"/{name}.py", f"/{name}/__init__.py")) or path == f"{name}.py" for path in files):
        return True
    mark = re.compile(
        rf"^[ \t]*(?:(?:async\s+)?def|class)\s+{name}\b|^[ \t]*(?:self\.)?{name}\s*(?::[^=\n]+)?=", re.MULTILINE
    )
    return any(mark.search(text_of(workspace, path)) for path in files)


def _asked(check: Check, failure: str, problem: str = "") -> RunUpdate:
    question = Question(kind="test", text=problem, check=check, failure=failure)
    why = "a test was made, and you can say whether it is the right one"
    return go("consult", origin="pre_plan", why=why, proposed=check, question=question)


async def _after_answer(answer: Answer, state: RunState, context: RunContext) -> RunUpdate:
    check = state["proposed"]
    if check is None:
        raise AssertionError("an answer came for a test that was not made")
    if answer.decision == "edit":
        edited, problem, output = await asyncio.to_thread(_tried, answer.text, check.entry or "", state, context)
        if edited is None or problem:
            return _asked(edited or replace(check, text=answer.text), output, problem or "it cannot be run")
        check = edited
    elif answer.decision == "reject" and answer.text:
        another, problem, failure = await _made(state, context)
        if another is not None and another.text and not problem:
            return RunUpdate(**{**_asked(another, failure), "test_knows": len(state["guidance"])})
        return _without(problem or "none could be made in the way that you want", state, context)
    elif answer.decision == "reject":
        return _without("you did not want the one that was made", state, context)
    keep = answer.keep or state["task"].keep_test
    knows = len(state["guidance"]) if answer.decision == "edit" or answer.text else state["test_knows"]
    return RunUpdate(keep_test=keep, test_knows=knows, **await asyncio.to_thread(_adopt, check, state, context))


def _adopt(check: Check, state: RunState, context: RunContext) -> RunUpdate:
    """The test as the run's check, run once more: it must be red again."""
    discovery = replace(state["discovery"], check=check)
    # Once more, with all that a check has to hold: a test that is red by chance must not become what is done.
    verdict = check_before(discovery, context)
    if verdict.status != "failed":
        given_up(check, state, context)
        return _without(f"the one that was made is not red each time: {verdict.note or verdict.status}", state, context)
    why = f"{check.entry or listed(verdict.failing, _LISTED)} is red"
    known = RunUpdate(proposed=None, making="made", discovery=discovery, before=verdict, verdict=verdict)
    return go("policy", origin="pre_plan", tier="open", why=why, **known)


def _without(reason: str, state: RunState, context: RunContext) -> RunUpdate:
    """Go on as if no test had been thought of, and say so where there are tests."""
    notes = []
    if reason and _has_tests(state):
        text = f"no test shows that this is done; there is none that fails now because of the task: {reason}"
        notes = warn([text], context)
    why = reason or "there is a check that fails"
    return go("policy", origin="pre_plan", tier="open", why=why, proposed=None, making="without", notes=notes)
