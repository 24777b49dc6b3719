"""The coding agent: looks where it must, then one answer with edits, applied whole or not at all."""

import asyncio
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import normpath
from typing import Literal

from codur.agents.added_tests import only_adds
from codur.agents.assignment import Assignment, CodingTask
from codur.agents.coding_messages import Talk
from codur.agents.look_tool import ASK, CANNOT, FINISH, LOOK, READS, RUN_CHECK, Looks, Sight, specs, windows
from codur.agents.registry import Agent
from codur.events import ToolRan
from codur.llm.model import ChatReply
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.parsing.bounded_text import listed
from codur.parsing.code import code_from_text
from codur.parsing.fences import strip_thinking
from codur.parsing.tool_calls import tool_calls_from_text
from codur.questions import MAY_CHANGE
from codur.structs import replace
from codur.tools.files.file_tools import line_numbers, nearest_line
from codur.tools.toolbox import Toolbox
from codur.types import ToolCall, ToolCode, ToolResult
from codur.workspace.history.edits import Snapshot
from codur.workspace.text import as_shown
from codur.workspace.workspace import Workspace

WHOLE_FILE_TOOL, DELETES = "replace_file_content", "delete_file"
REFUSALS = 2
"""Edits that are sent back within one step, because their lines were not shown, or cannot be made as they are given."""
_MENDABLE = frozenset({"no_match", "many_matches", "not_found", "invalid", "syntax_error", "too_large"})
"""Why an edit was not made, where another one may be: what is refused of principle stays so."""
_LOOK_SHARE = 8  # of a request: what the looks of one answer, or the lines of edits sent back, may add; a divisor
_MORE = f"Call {LOOK} to see what is not shown and matters for the edit."
_DECIDE = "Nobody can answer that now. Decide from what is known, and give the edits."
_QUESTION_CHARS = 800
_SAID_CHARS = 1_000
_NOT_CARRIED_OUT = "not carried out"
_KEPT = "kept, and made with the others; do not give it again"
_LEFT_OUT = "left out: this file decides whether the task is done, and stays as it is"
_AGAIN = "Give what could not be made once more, made for what is there, and nothing else"
_ALL_AGAIN = "Give the edits of this step once more, made for what is there"
_SAME_PLACES = 4  # of a text that is there several times, which are shown

_NAMED = ("class_name", "method_name", "function_name", "name")
"""Arguments that name the definition which an edit is of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingOutcome:
    """What came of one step of the coding agent."""

    # `question`: it wants to know what `error` says, before it edits; `cannot`: it gave up, for that reason;
    # `finished`: an edit that was tried before is all that is asked for, and what still fails does so for that reason
    kind: Literal["edits", "question", "cannot", "finished"] = "edits"
    code: ToolCode  # `ok`, or why nothing was changed
    summary: str  # the edits in a line
    changed_files: tuple[str, ...] = ()
    error: str = ""  # one sentence, empty if all went well
    looked: tuple[str, ...] = ()  # the parts of files that it had a look at, as `path:start-end`, the latest last
    # the calls that were carried out, or that would be if the answer to the question is yes
    edits: tuple[ToolCall, ...] = field(default=(), compare=False)
    held: bool = False  # they were made to pass the check in a copy, where that pass was confirmed
    adds: tuple[str, ...] = ()  # tests of the check to which lines were added
    foreign: str = ""  # why the tests that failed before do not count, as it says
    left_out: tuple[str, ...] = ()  # tests whose edits were not made, because they decide, while the others were
    others: str = ""  # what other answers to the same request came to, as text
    said: str = field(default="", compare=False)  # what the model said beside its edits, bounded


async def write_code(task: CodingTask, work: Assignment) -> CodingOutcome:
    """Ask the agent for edits, let it look before, and apply them.

    Raises:
        ModelUnavailable, ModelAnswerError, LimitReached: as `ModelPool.complete`; LimitReached also if the task and the
            code to be changed cannot be told within what a request may have.
    """
    answered = task.asking != "nobody"
    own = specs(looks=task.max_looks > 0, check=task.run_check is not None, finish=task.may_finish, answered=answered)
    task = replace(task, brief=replace(task.brief, more=_MORE if task.max_looks else ""))
    talk = Talk(task, work, own)
    reply = await work.pool.complete(work.agent.profile, talk.request)
    if task.elsewhere is not None:
        toolbox, workspace = await task.elsewhere()
        task, work = replace(task, workspace=workspace), replace(work, toolbox=toolbox)
    step = _Step(task, work, talk)
    task.workspace.unprotect(task.addable)
    try:
        for _ in range(task.max_looks + REFUSALS + 1):
            outcome = await step.take(reply)
            if outcome is not None:
                return replace(outcome, looked=tuple(step.looks.ranges))
            reply = await work.pool.complete(work.agent.profile, talk.request)
    finally:
        task.workspace.protect(task.addable)
    raise AssertionError("a step goes on for each look and each edit sent back, and no longer")


class _Step:
    """What was shown and looked at in one step, and what becomes of an answer."""

    def __init__(self, task: CodingTask, work: Assignment, talk: Talk) -> None:
        self.task = task
        self.work = work
        self.talk = talk
        self.looks_left = task.max_looks
        self.refusals_left = REFUSALS
        self.told_to_decide = False
        self.sight = Sight()
        self.looks = Looks(work.toolbox, self.sight)
        self.kept: list[ToolCall] = []  # edits that could be made, while others are asked for again
        self.told: list[str] = []  # what was said beside these
        self.left_out: list[str] = []  # tests that decide, whose edits are not made

    async def take(self, reply: ChatReply) -> CodingOutcome | None:
        """What comes of an answer; None if the step goes on."""
        self.sight.add(self.talk.shown)
        if reply.finish_reason == "length":
            limit = reply.max_completion_tokens or self.work.profile.max_completion_tokens
            return _nothing("invalid", f"the answer was cut off at {limit} tokens; answer with smaller edits")
        if reply.problem:  # a part of the answer was lost, and half an answer is not applied
            return _nothing("invalid", reply.problem)
        in_text = self.task.read_text_calls or not self.work.native
        calls = reply.tool_calls or (_calls_in_text(reply.text, self.task.target) if in_text else ())
        if not calls:
            return self._edit(reply, (), ()) if self.kept else self._words(reply)
        own = {LOOK, RUN_CHECK, ASK, CANNOT, FINISH, *(set(READS) - {*self.work.agent.config.tools})}
        edits = [call for call in calls if call.name not in own]
        if edits:
            ended = self._last_word([call for call in calls if call.name == FINISH])
            made = self._edit(reply, calls, edits)
            words = strip_thinking(reply.text) if reply.tool_calls else ""
            asks = self._last_word([call for call in calls if call.name == ASK])
            if made is not None and made.code == "ok" and asks is not None:
                if self.task.asking == "user":  # what it edited stays, and it goes on with the answer
                    return replace(asks, changed_files=made.changed_files, adds=made.adds)
                words = f"{words} It asks: {asks.error}"
            self.told = [*self.told, words] if self.kept or made else []
            said = textwrap.shorten(" ".join(self.told), _SAID_CHARS, placeholder=" …")
            return made and replace(made, said=said, foreign=ended.foreign if ended is not None else "")
        return self._last_word(calls) or await self._look(reply, calls)

    def _words(self, reply: ChatReply) -> CodingOutcome | None:
        """An answer without a call: if it ends as a question, it is put, or answered once; else it is no answer."""
        text = reply.text.strip()
        if text.endswith("?") and len(text) <= _QUESTION_CHARS:
            if self.task.asking == "user":
                return CodingOutcome(kind="question", code="refused", summary="", error=text)
            if not self.told_to_decide:
                self.told_to_decide = True
                self.talk.add(reply, (), (), more=_DECIDE)
                return None
        return _nothing("invalid", f"the answer held no edit; it said: {' '.join(text.split())[:300] or '(nothing)'}")

    def _last_word(self, calls: Sequence[ToolCall]) -> CodingOutcome | None:
        """The end of the step by a question that can be put, or by giving up."""
        for call in calls:
            said = next((str(value).strip() for value in call.arguments.values()), "")
            if call.name == ASK and said and self.task.asking != "asked":
                return CodingOutcome(kind="question", code="refused", summary="", error=said[:2000])
            if call.name in {CANNOT, FINISH}:
                why = said[:2000] or "it gave no reason"
                if call.name == FINISH and self.task.may_finish:
                    return CodingOutcome(kind="finished", code="refused", summary="", error=why, foreign=why)
                return CodingOutcome(kind="cannot", code="refused", summary="", error=why)
        return None

    async def _look(self, reply: ChatReply, calls: Sequence[ToolCall]) -> CodingOutcome | None:
        if self.looks_left <= 0:
            found = listed([text[:80] for text in self.looks.told], 8)
            return _nothing("invalid", f"it only looked ({found}) and made no edit" if found else "it made no edit")
        self.looks_left -= 1
        room = self._room() // len(calls)
        results = [await self._seen(call, room) for call in calls]
        left = self.looks_left
        more = f"{left} more look{'s' if left > 1 else ''}, then edit." if left else ""
        results[-1] += f"\n\n({more or f'No further look: edit now, or call {CANNOT}.'})"
        self.talk.add(reply, calls, results)
        return None

    async def _seen(self, call: ToolCall, room: int) -> str:
        if call.name == ASK:
            return "The user has been asked already in this run; decide from what is known."
        if call.name == RUN_CHECK:
            self.looks.told.append("the check")
            text = await asyncio.to_thread(self.task.run_check) if self.task.run_check else "There is no check."
        else:
            text = self.looks.carry_out(call, room)
        self.work.emit(ToolRan(tool=call.name, code="ok", summary=text.partition("\n")[0][:120]))
        return text

    def _room(self) -> int:
        return int(self.work.profile.request_tokens * BYTES_PER_TOKEN) // _LOOK_SHARE

    def _edit(self, reply: ChatReply, calls: Sequence[ToolCall], edits: Sequence[ToolCall]) -> CodingOutcome | None:
        """Apply the edits; those to lines that were not shown, or that cannot be made, are sent back and told why.

        The others are kept, and made with those that come instead.
        """
        names = {call.name for call in edits}
        edits = [_bound(call, self.task.target, self.work.toolbox) for call in edits]
        fixed = [_path_of(call) in self.task.fixed - self.task.addable for call in edits]
        fixed = fixed if not all(fixed) or self.kept else [False] * len(edits)
        self.left_out += [_path_of(call) for call, is_fixed in zip(edits, fixed, strict=True) if is_fixed]
        edits = [call for call, is_fixed in zip(edits, fixed, strict=True) if not is_fixed]
        if tests := sorted({_path_of(call) for call in edits} & self.task.guarded - self.task.addable):
            return _asked_for(tests, self._waiting(edits, tests))
        gone, may = (_path_of(call) for call in edits if call.name == DELETES), self.task.deletable
        if refused := next((path for path in gone if may is not None and path not in may), ""):
            return _nothing("refused", f"{refused} may be deleted only where the task names it")
        known = [(call.name, call.arguments) for call in self.kept]
        again = [(call.name, call.arguments) in known for call in edits]
        edits = [call for call, is_known in zip(edits, again, strict=True) if not is_known]
        start = self.task.workspace.snapshot()
        earlier = {change.path: change.after for change in self.task.workspace.changes()}
        outcome, problems = self._applied(edits)
        unseen = self._unseen(outcome, earlier)
        why = outcome.error
        if unseen:
            self.task.workspace.restore(start)
            lines = listed([f"{path}:{lines.start}-{lines.stop - 1}" for path, lines in unseen], 6)
            why = f"lines that you had not been shown would change ({lines})"
            paths = {"", *(path for path, _ in unseen)}
            problems = [
                why if _path_of(call) in paths and self._touches(call, unseen) else "" for call in (*self.kept, *edits)
            ]
            why += "; no edit was applied"
        elif not any(problems):
            return self._with_added(outcome, start)
        elif outcome.code not in _MENDABLE:
            return outcome
        if self.refusals_left <= 0:
            return _nothing("refused", why)
        self.refusals_left -= 1
        before, own = problems[: len(self.kept)], problems[len(self.kept) :]
        self.kept = [call for call, problem in zip([*self.kept, *edits], problems, strict=True) if not problem]
        places = unseen or [
            place for call, problem in zip(edits, own, strict=True) if problem for place in self._at(call)
        ]
        fresh = iter(own)
        others = iter(["" if is_known else next(fresh) for is_known in again])
        said = iter([_LEFT_OUT if is_fixed else next(others) for is_fixed in fixed])
        told = [(next(said) or _KEPT) if call.name in names else _NOT_CARRIED_OUT for call in calls]
        told = ["kept" if text == _KEPT and _KEPT in told[:at] else text for at, text in enumerate(told)]
        fine = {_KEPT, "kept", _NOT_CARRIED_OUT, _LEFT_OUT}
        first = next((at for at, text in enumerate(told) if text not in fine), 0)
        lost = [f"Of the edits before: {problem}" for problem in dict.fromkeys(before) if problem]
        lead = f"{told[first]}. {_AGAIN if self.kept else _ALL_AGAIN}."
        told[first] = "\n\n".join([lead, *lost, *self._shown(places)])
        self.talk.add(reply, calls, told)
        return None

    def _waiting(self, edits: Sequence[ToolCall], tests: Sequence[str]) -> tuple[ToolCall, ...]:
        """All edits, if they can be made once these tests may be changed, and take out nothing that was not shown."""
        workspace, all_edits = self.task.workspace, (*self.kept, *edits)
        start = workspace.snapshot()
        earlier = {change.path: change.after for change in workspace.changes()}
        workspace.unprotect(tests)
        outcome, _ = apply_edits(all_edits, self.work.agent, self.work.toolbox, workspace)
        held = outcome.code == "ok" and not self._unseen(outcome, earlier)
        workspace.restore(start)
        workspace.protect(tests)
        return all_edits if held else ()

    def _with_added(self, outcome: CodingOutcome, start: Snapshot) -> CodingOutcome:
        """The outcome of edits that could be made; none stays if one takes lines out of tests that decide."""
        changes = {change.path: change for change in self.task.workspace.changes()}
        tests = [path for path in outcome.changed_files if path in self.task.addable and path in changes]
        held = ((path, changes[path].before, changes[path].after) for path in tests)
        gone = self.task.gone
        less = [path for path, old, new in held if old is None or not only_adds(path, old, new or b"", gone=gone)]
        if not less:
            return self._told_left_out(replace(outcome, adds=tuple(tests)))
        self.task.workspace.restore(start)
        if set(less) <= self.task.guarded:
            return _asked_for(sorted(less), outcome.edits)
        rest = [call for call in outcome.edits if _path_of(call) not in {"", *less}]
        if (
            rest
            and set(less) <= self.task.fixed
            and len(rest) + sum(_path_of(call) in less for call in outcome.edits) == len(outcome.edits)
        ):
            self.left_out += less
            return self._with_added(
                apply_edits(rest, self.work.agent, self.work.toolbox, self.task.workspace)[0], start
            )
        return _nothing("refused", f"{', '.join(less)}: tests may be added, and what stands there stays as it is")

    def _told_left_out(self, outcome: CodingOutcome) -> CodingOutcome:
        left = tuple(dict.fromkeys(self.left_out))
        text = f"{outcome.summary}; left out: {listed(left, 3)}, which decides and stays" if left else outcome.summary
        return replace(outcome, summary=text, left_out=left)

    def _applied(self, edits: Sequence[ToolCall]) -> tuple[CodingOutcome, list[str]]:
        """Apply what was kept and these edits; where they take its place, these and what still fits."""
        agent, toolbox, workspace = self.work.agent, self.work.toolbox, self.task.workspace
        outcome, problems = apply_edits([*self.kept, *edits], agent, toolbox, workspace)
        if any(problems) and self.kept:
            _, instead = apply_edits([*edits, *self.kept], agent, toolbox, workspace)
            if len(instead) == len(problems) and not any(instead[: len(edits)]):
                fits = zip(self.kept, instead[len(edits) :], strict=True)
                self.kept = [call for call, problem in fits if not problem]
                return apply_edits([*edits, *self.kept], agent, toolbox, workspace)
        return outcome, problems

    def _unseen(self, outcome: CodingOutcome, earlier: Mapping[str, bytes | None]) -> list[tuple[str, range]]:
        """The lines that edits took out although they had not been shown; a text replaced everywhere is known."""
        found: list[tuple[str, range]] = []
        others = {_path_of(call) for call in outcome.edits if not _is_everywhere(call)}
        known = {_path_of(call) for call in outcome.edits} - others if "" not in others else set()
        for change in self.task.workspace.changes():
            before, after = earlier.get(change.path, change.before), change.after
            if change.path in {*outcome.changed_files} - known and before is not None and after is not None:
                old, new = (as_shown(change.path, text) for text in (before, after))
                found += [(change.path, lines) for lines in self.sight.blind(change.path, old, new)]
        return found

    def _touches(self, call: ToolCall, unseen: Sequence[tuple[str, range]]) -> bool:
        """Whether an edit changes one of these lines, or may: which it does is known of a text that is replaced."""
        places = self._at(call) if call.name == "replace_in_file" and call.arguments.get("old") else []
        return not places or any(
            normpath(path) == other and lines.start < far.stop and far.start < lines.stop
            for path, lines in places
            for other, far in unseen
        )

    def _at(self, failed: ToolCall) -> list[tuple[str, range]]:
        """The lines that hold the text that an edit was to replace, or are most like it."""
        path, old = str(failed.arguments.get("path", "")), str(failed.arguments.get("old", ""))
        text = self.work.toolbox.call("read_file", {"path": path}).text if path and old else ""
        lines = (line_numbers(text, old) if old else []) or [nearest_line(text, old)]
        return [(path, range(line, line + old.strip().count("\n") + 1)) for line in lines[:_SAME_PLACES] if line]

    def _shown(self, places: Sequence[tuple[str, range]]) -> list[str]:
        """These lines with those around them."""
        room = self._room() // max(1, len(places))
        return [
            self.looks.lines(path, lines, room)
            for path in dict.fromkeys(path for path, _ in places)
            for lines in windows([lines for other, lines in places if other == path], self.looks.count(path))
        ]


def _asked_for(tests: Sequence[str], edits: Sequence[ToolCall]) -> CodingOutcome:
    question = MAY_CHANGE.format(paths=", ".join(tests))
    return CodingOutcome(kind="question", code="refused", summary="", error=question, edits=tuple(edits))


def _path_of(call: ToolCall) -> str:
    """The file that an edit changes; empty if it may be several, as with a patch."""
    path = str(call.arguments.get("path", ""))
    return normpath(path) if path else ""


def _is_everywhere(call: ToolCall) -> bool:
    """Whether an edit replaces a piece of a line wherever it stands: what goes is known without the lines around it."""
    old = str(call.arguments.get("old", ""))
    return call.name == "replace_in_file" and call.arguments.get("all") is True and "\n" not in old.strip("\n")


def _calls_in_text(text: str, target: str | None) -> tuple[ToolCall, ...]:
    calls = tool_calls_from_text(text)
    if calls:
        return calls
    code = code_from_text(text)
    if code is None or target is None:
        return ()
    return (ToolCall(name=WHOLE_FILE_TOOL, arguments={"path": target, "new_code": code}),)


def apply_edits(
    calls: Sequence[ToolCall], agent: Agent, toolbox: Toolbox, workspace: Workspace
) -> tuple[CodingOutcome, list[str]]:
    """Run edits in order; if one fails none stays. What came of it, and of each why it failed, empty if it did not."""
    start = workspace.snapshot()
    changed: list[str] = []
    problems: list[str] = []
    code: ToolCode = "ok"
    error = ""
    for number, call in enumerate(calls, 1):
        result = _made(call, agent, toolbox)
        changed += [path for path in result.changed_files if path not in changed]
        problems.append("" if result.ok else f"edit {number} of {len(calls)}, {call.name}: {result.text}")
        if not result.ok and (code == "ok" or result.code not in _MENDABLE):
            code, error = result.code, problems[-1]
        if code not in {"ok", *_MENDABLE}:
            break
    if error:
        workspace.restore(start)
        return _nothing(code, f"{error}; no edit was applied"), problems
    deeds = Counter(map(_described, calls))
    summary = ", ".join(f"{deed} ({times} times)" if times > 1 else deed for deed, times in deeds.items())
    return CodingOutcome(code="ok", summary=summary, changed_files=tuple(changed), edits=tuple(calls)), problems


def _made(call: ToolCall, agent: Agent, toolbox: Toolbox) -> ToolResult:
    """What came of one edit."""
    if call.name in agent.config.tools:
        problem = toolbox.guess_refused(call)
    else:
        problem = f"there is no such tool here; there are: {', '.join(agent.config.tools)}"
    return ToolResult(code="invalid", text=problem) if problem else toolbox.call(call.name, call.arguments)


def _bound(call: ToolCall, target: str | None, toolbox: Toolbox) -> ToolCall:
    """The call with the tool's own names, and the file it means where a path that is needed was left out."""
    call = replace(call, arguments=toolbox.own_names(call.name, call.arguments))
    if call.arguments.get("path") or target is None or toolbox.get(call.name) is None:
        return call
    needs_path = "path" in toolbox.spec(call.name).parameters["required"]
    return replace(call, arguments={**call.arguments, "path": target}) if needs_path else call


def _described(call: ToolCall) -> str:
    if "source" in call.arguments and "target" in call.arguments:
        return f"{call.name} {call.arguments['source']} to {call.arguments['target']}"
    path = call.arguments.get("path")
    name = ".".join(str(call.arguments[key]) for key in _NAMED if call.arguments.get(key))
    if not path:
        return call.name
    return f"{call.name} {name} in {path}" if name else f"{call.name} {path}"


def _nothing(code: ToolCode, error: str) -> CodingOutcome:
    return CodingOutcome(code=code, summary="", error=error)
