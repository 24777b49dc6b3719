"""Several answers to one coding request side by side: each edits a copy of the workspace and is judged there at once.

The first that holds ends the others; its edits are then made in the workspace, as those of a single answer are. Of
answers that all fail, the one that came furthest is taken. Nothing but its edits leaves a copy.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence

from codur.agents.coding import CodingOutcome, apply_edits
from codur.agents.registry import Agent
from codur.checks.confirmation.confirm import Change, confirm
from codur.checks.describe import diff_text, verdict_line
from codur.errors import LimitReached, ModelAnswerError, ModelUnavailable, WorkspaceError
from codur.events import Note
from codur.nodes.parts.attempt_verdict import edit_name
from codur.nodes.parts.finding import as_named_before
from codur.nodes.parts.handover import affordable
from codur.nodes.parts.updates import edits
from codur.nodes.run_state import RunContext, RunState
from codur.parsing.bounded_text import listed
from codur.repair.judge.worker_pool import processors
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher
from codur.sandbox.scratch import remove_tree
from codur.structs import Struct, replace
from codur.tools.toolbox import Toolbox
from codur.types import Check, Verdict
from codur.workspace.workspace import FileChange, Workspace

_AUTO = 4  # what `auto` asks for after a failure, at most
_HOTTEST = 1.0  # the temperature of the last answer of a profile, unless its own is higher
_OTHERS = 3  # so many of the answers that failed are told of
_DIFF_CHARS, _NAMED = 800, 5

Ask = Callable[[str, float | None, "Copy"], Awaitable[CodingOutcome]]
"""Asks a profile, at a temperature, for edits in a copy."""


def how_many(agent: Agent, state: RunState, context: RunContext) -> int:
    """How many answers are asked for: 1 where no check can judge them, else what the settings say and limits allow."""
    wanted = context.settings.agents.coding.samples
    tools = [context.toolbox.get(name) for name in agent.config.tools]
    # What is done to files can be done in copies first.
    copied = all(tool is not None and tool.side_effect in {"read", "write"} and not tool.permission for tool in tools)
    if wanted == 1 or not copied or not _judged_by_check(state, context):
        return 1
    used, attempts = context.models.usage, state["attempts"]
    if wanted != "auto":
        return max(1, min(wanted, state["task"].limits.max_llm_calls - used.calls))
    if not attempts:
        return 1
    most = next((n for n in range(_AUTO, 1, -1) if affordable(agent, state, context, answers=n)), 1)
    return max(1, context.models.at_once(agent.profile, used.prompt_tokens // max(1, used.calls), most))


def _judged_by_check(state: RunState, context: RunContext) -> bool:
    """Whether a red check will be run after this very step."""
    plan, verdict, check = state["plan"], state["verdict"], state["discovery"].check
    if plan is None or verdict is None or verdict.status != "failed" or check is None or check.kind == "syntax":
        return False
    return context.settings.tools.allow_run and not any(
        edits(step, context) for step in plan.steps[state["cursor"] + 1 :]
    )


class Copy:
    """A copy of the workspace that one answer edits. It is made in a thread, while the answer is waited for."""

    def __init__(self, context: RunContext, launcher: Launcher) -> None:
        self._context = context
        self._launcher = launcher
        self._busy = threading.Lock()  # what runs in here has ended before it is removed
        self._root = context.scratch()
        self._making: asyncio.Future[None] | None = None

    async def ready(self) -> tuple[Toolbox, Workspace]:
        """What works in the copy, as soon as it is made; WorkspaceError if it cannot be."""
        await asyncio.shield(self.begin())
        return self._toolbox, self._workspace

    def begin(self) -> asyncio.Future[None]:
        """Begin to make it, if that was not done."""
        if self._making is None:
            self._making = asyncio.ensure_future(asyncio.to_thread(self._make))
        return self._making

    def _make(self) -> None:
        context = self._context
        with self._busy:
            self._workspace = context.workspace.scratch_copy(self._root)
            self._toolbox = context.toolbox.on(self._workspace, self._launcher)
            self._checker = context.checker.on(self._workspace, self._launcher)

    def run(self, check: Check | None) -> Verdict:
        """The check's verdict on the copy as it is."""
        with self._busy:
            return self._checker.run(check)

    def judge(self, check: Check, state: RunState) -> Verdict:
        """The check's verdict on what was changed; a pass is confirmed."""
        with self._busy:
            verdict = as_named_before(self._checker.run(check), state["before"], self._workspace.changed_files())
            if not verdict.passed:
                return verdict
            originals = {change.path: change.before for change in self.changes()}
            change = Change(before=originals, prompt=state["task"].prompt, earlier=state["before"])
            return confirm(self._checker, check, verdict, change)

    def changes(self) -> tuple[FileChange, ...]:
        """How the copy differs from the workspace as it was found, earlier attempts that are kept included."""
        found = {change.path: change for change in self._context.workspace.changes()}
        for change in self._workspace.changes():
            kept = found.get(change.path)
            first = change if kept is None else replace(change, before=kept.before, mode_before=kept.mode_before)
            found[change.path] = first
        return tuple(found[path] for path in sorted(found) if found[path].before != found[path].after)

    def diff(self) -> str:
        """What the answer changed, without files that may hold secrets."""
        hidden = self._context.for_models
        return "".join(item.diff() for item in self._workspace.changes() if not hidden.withholds(item.path))

    async def remove(self) -> None:
        """Take it away, once nothing runs in it any more."""
        if self._making is not None:
            await asyncio.gather(self._making, return_exceptions=True)
            await asyncio.to_thread(self._remove)

    def _remove(self) -> None:
        with self._busy:
            remove_tree(self._root)


class _Answer(Struct):
    """One answer, and what came of it."""

    outcome: CodingOutcome | None = None  # None if there was no answer, for the reason `error`
    error: ModelUnavailable | LimitReached | None = None
    verdict: Verdict | None = None  # of the check; None if there was nothing to judge, or the same was judged already
    diff: str = ""
    same: bool = False
    known: bool = False  # the change failed in an earlier attempt

    @property
    def held(self) -> bool:
        return self.verdict is not None and self.verdict.passed

    @property
    def progress(self) -> float:
        return self.verdict.progress if self.verdict is not None and self.verdict.status == "failed" else 0.0


async def best_of(count: int, agent: Agent, ask: Ask, state: RunState, context: RunContext) -> CodingOutcome | None:
    """Ask for several answers and make the edits of the best one; None if the workspace cannot be copied.
    ModelUnavailable or LimitReached if nobody answered; Interrupted if the run was cancelled.
    """
    stop = CancelToken()
    launcher = context.launcher.ended_by(stop)
    copies = [Copy(context, launcher) for _ in range(count)]
    try:
        await copies[0].ready()
    except WorkspaceError as error:
        await copies[0].remove()
        context.emit(Note(level="warning", text=f"{error.message}; so only one answer is asked for"))
        return None
    judging = _Judging(state)
    orders = zip(_orders(count, agent, context), copies, strict=True)
    with context.cancel.calling(stop.cancel):
        tasks = [asyncio.ensure_future(_answer(profile, heat, copy, ask, judging)) for (profile, heat), copy in orders]
        try:
            answers = await _until_one_holds(tasks)
        finally:
            stop.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.gather(*(copy.remove() for copy in copies))
    return _taken(answers, count, agent, state, context)


def _orders(count: int, agent: Agent, context: RunContext) -> Iterator[tuple[str, float | None]]:
    """Profile and temperature of each answer: profiles in turn, the first answer of each at the profile's own."""
    named = [name for name in context.settings.agents.coding.sample_profiles if not context.models.problem(name)]
    profiles = named or [agent.profile]
    rounds = -(-count // len(profiles))
    for number in range(count):
        profile, turn = profiles[number % len(profiles)], number // len(profiles)
        own = context.models.profile(profile).temperature
        spread = (max(own, _HOTTEST) - own) / max(1, rounds - 1) if own is not None else 0.0
        yield profile, None if own is None or turn == 0 else round(own + turn * spread, 2)


class _Judging:
    """Judges each change once, as many at a time as there are processors."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._turns = asyncio.Semaphore(processors())
        self._seen: set[str] = set()

    async def judge(self, outcome: CodingOutcome, copy: Copy) -> _Answer:
        """What the check says of an answer's edits."""
        check = self._state["discovery"].check
        edit = edit_name("".join(change.diff() for change in copy.changes()))
        if check is None or edit in self._seen:
            return _Answer(outcome=outcome, same=True)
        self._seen.add(edit)
        known = self._state["failures"].get(edit)
        if known is not None:
            return _Answer(outcome=outcome, verdict=known, diff=copy.diff(), known=True)
        async with self._turns:
            verdict = await asyncio.to_thread(copy.judge, check, self._state)
        return _Answer(outcome=outcome, verdict=verdict, diff=copy.diff())


async def _answer(profile: str, temperature: float | None, copy: Copy, ask: Ask, judging: _Judging) -> _Answer:
    copy.begin()
    try:
        outcome = await ask(profile, temperature, copy)
        return await judging.judge(outcome, copy) if outcome.edits else _Answer(outcome=outcome)
    except ModelAnswerError as error:
        return _Answer(outcome=CodingOutcome(code="invalid", summary="", error=error.message))
    except (ModelUnavailable, LimitReached) as error:
        return _Answer(error=error)
    except WorkspaceError as error:
        return _Answer(outcome=CodingOutcome(code="failed", summary="", error=error.message))


async def _until_one_holds(tasks: Sequence[asyncio.Future[_Answer]]) -> list[_Answer]:
    """The answers in the order in which they were judged, up to the first that holds."""
    answers: list[_Answer] = []
    for following in asyncio.as_completed(tasks):
        answers.append(await following)
        if answers[-1].held:
            break
    return answers


def _taken(answers: Sequence[_Answer], count: int, agent: Agent, state: RunState, context: RunContext) -> CodingOutcome:
    """The outcome of the answer that is best to go on with; its edits are made in the workspace."""
    best = _best(answers, state, may_finish=context.best.harmless is not None)
    context.emit(Note(text=_told(answers, count)))
    if best.outcome is None:
        raise best.error or AssertionError("an answer is an outcome or an error")
    looked = tuple(dict.fromkeys(part for item in answers if item.outcome for part in item.outcome.looked))
    if not best.outcome.edits:
        return replace(best.outcome, looked=looked)
    outcome, _ = apply_edits(best.outcome.edits, agent, context.toolbox, context.workspace)
    # How the others that were judged differ, in what they change and in what the check says.
    rest = [item for item in answers if item.verdict is not None and item is not best]
    others = [_other(item, best) for item in sorted(rest, key=lambda item: -item.progress)[:_OTHERS]]
    return replace(outcome, looked=looked, held=best.held, foreign=best.outcome.foreign, others="\n".join(others))


def _best(answers: Sequence[_Answer], state: RunState, *, may_finish: bool) -> _Answer:
    """One that holds or came further; else a question, what came furthest, an answer of no use, or the first error.

    Args:
        may_finish: there is an edit that broke nothing, which may be all that is asked for.
    """
    start = state["verdict"].progress if state["verdict"] is not None else 0.0

    def rank(item: _Answer) -> tuple[int, float, bool]:
        if item.verdict is not None:
            return (5 if item.held or item.progress > start else 3), item.progress + item.held, not item.known
        if item.outcome is None or item.same:
            return 0, 0.0, False
        finished = 4 if may_finish else 1
        return {"question": 4, "finished": finished, "edits": 2, "cannot": 1}[item.outcome.kind], 0.0, False

    return max(answers, key=rank)


def _told(answers: Sequence[_Answer], count: int) -> str:
    """What became of the answers, for the user."""
    judged, same = sum(item.verdict is not None for item in answers), sum(item.same for item in answers)
    parts = [f"{judged} judged"]
    parts += [f"{same} the same as another"] if same else []
    failed = sum(item.error is not None for item in answers)
    parts += [f"{failed} not given"] if failed else []
    rest = count - len(answers)
    parts += [f"{rest} ended, as one holds"] if rest else []
    return f"{count} answers side by side: {', '.join(parts)}"


def _other(item: _Answer, best: _Answer) -> str:
    if item.verdict is None or best.verdict is None:
        raise AssertionError("only answers that were judged are compared")
    mine, its = best.verdict.failing, item.verdict.failing
    parts = [verdict_line(item.verdict)]
    parts += [f"passes {listed(better, _NAMED)}"] if (better := [name for name in mine if name not in its]) else []
    parts += [f"breaks {listed(worse, _NAMED)}"] if (worse := [name for name in its if name not in mine]) else []
    return f"- {'; '.join(parts)}\n{diff_text(item.diff, _DIFF_CHARS)}"
