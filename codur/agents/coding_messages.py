"""The messages of one step of the coding agent: its brief, made for the size that is asked for, and what was said.

The tokens of a request are shared: what is to be written, how edits are told, what is left to show.
"""

import re
from collections.abc import Mapping, Sequence

from codur.agents.assignment import Assignment, CodingTask
from codur.agents.instruction_text import SHARE_OF_REQUEST
from codur.agents.look_tool import size_of
from codur.agents.loop import heard_message, result_message, said
from codur.config.settings import Profile
from codur.context.brief import Briefing, CodingBrief, brief_text
from codur.context.places import is_unfinished
from codur.lazy import regex
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.tokens import BYTES_PER_TOKEN, estimate_tokens
from codur.parsing.bounded_text import bounded
from codur.structs import Struct, replace
from codur.types import Message, ToolCall, ToolSpec

SMALL_REQUEST = 12_000
"""Below this, in tokens, edits are told of in short, so that more of the code can be shown."""
SHORT_FORM = ("replace_in_file", "replace_file_content")
FOR_CLASSES = ("replace_class", "replace_method")
_USUAL_ANSWER = 3000
_LEAST_ANSWER = 1000
_AROUND_EDITS = 1500  # what a model thinks and says beside its edits, in tokens
_LINE_TOKENS = 12
_SITUATION_TOKENS = 200
_CLASS = regex(r"^[ \t]*(?:\w+[ \t]+)*(?:class|struct|interface|trait|impl|enum)\b", re.MULTILINE)


class Room(Struct, kw_only=False):
    """Tokens for the answer and the user message, both 0 where the task and the code to be changed cannot be told."""

    answer: int
    message: int
    needed: int  # what the whole request would come to at least


def is_small(profile: Profile) -> bool:
    """Whether edits have to be told of in short."""
    return profile.request_tokens < SMALL_REQUEST


def offered(specs: Sequence[ToolSpec], profile: Profile, sources: Mapping[str, str]) -> tuple[ToolSpec, ...]:
    """The editing tools that are told of: in a small request two that can make any edit, if they are there.

    Else all, but those for classes where there is none: each costs as much as ten lines of code. A model may call them
    all the same.
    """
    short = tuple(spec for spec in specs if spec.name in SHORT_FORM)
    if is_small(profile) and len(short) == len(SHORT_FORM):
        return tuple(map(_shortened, short))
    # By an expression and not by a tree: this also holds for languages whose grammar is not installed.
    flat = not any(_CLASS.search(text) for text in sources.values())
    return tuple(_shortened(spec) for spec in specs if not (flat and spec.name in FOR_CLASSES))


def _shortened(spec: ToolSpec) -> ToolSpec:
    """Without what tells nothing: that paths are relative (the message says so), and that no more is read."""
    properties = {**spec.parameters["properties"]}
    if "path" in properties:
        properties["path"] = {"type": properties["path"]["type"]}
    needed = spec.parameters["required"]
    return replace(spec, parameters={"type": "object", "properties": properties, "required": needed})


def share(
    brief: CodingBrief, profile: Profile, *, target: str | None, whole_file_lines: int, overhead_tokens: int
) -> Room:
    """The room of a request: an answer as long as what is to be written, the message with the rest.

    The answer gives way, down to a bound, where the task and the code to be changed need its room.

    Args:
        target: the file to be changed; None if no single one is known.
        overhead_tokens: what instructions and tools take.
    """
    total = profile.request_tokens - overhead_tokens
    # The code to be changed: a short file, or as much of a long one as a short one would take.
    path = target or next((want.path for want in brief.wants), "")
    code = min(estimate_tokens(brief.sources.get(path, "")), whole_file_lines * _LINE_TOKENS)
    must = estimate_tokens(brief.task) + code + _SITUATION_TOKENS
    answer = min(_answer_tokens(brief, target, whole_file_lines, profile), total - must)
    least = min(_LEAST_ANSWER, profile.max_completion_tokens)
    if answer < least:
        return Room(answer=0, message=0, needed=overhead_tokens + must + least)
    return Room(answer=answer, message=total - answer, needed=overhead_tokens + must + least)


def _answer_tokens(brief: CodingBrief, target: str | None, whole_file_lines: int, profile: Profile) -> int:
    """What may be written: a short file whole, else some functions; anything if a file or a body is not there yet."""
    usual = min(_USUAL_ANSWER, profile.request_tokens // 4)
    most = min(profile.max_completion_tokens, max(usual, profile.request_tokens // 3))
    own = brief.sources.get(target or "", "")
    texts = [own] if own else [text for path, text in brief.sources.items() if path not in brief.read_only]
    if not texts or brief.missing_files or any(map(is_unfinished, texts)):
        return most
    # A short file may come back whole; of a long one only functions do.
    longest = max((estimate_tokens(text) for text in texts if text.count("\n") <= whole_file_lines), default=0)
    return min(most, max(usual, _AROUND_EDITS + longest * 3 // 2))


_GIVEN_WAY = "[left out to make room; look again if you need it]"


class Talk:
    """What is sent from request to request of one step; `shown` is what of files the brief of the last one showed."""

    def __init__(self, task: CodingTask, work: Assignment, own: Sequence[ToolSpec]) -> None:
        self.shown: Mapping[str, tuple[range, ...]] = {}
        self._task = task
        self._work = work
        self._own = own
        self._since: list[Message] = []
        self._heard: Sequence[str] = ()

    def request(self, profile: Profile) -> ChatRequest:
        """The request for a profile of that size; LimitReached if the task and the code to be changed do not fit."""
        edits = self._work.toolbox.specs(self._work.agent.config.tools)
        specs = (*offered(edits, profile, self._task.brief.sources), *self._own)
        system = self._system(specs, profile)
        before = len(system) + (size_of(specs) if self._work.native else 0)
        room, briefing = self._briefed(profile, before)
        self.shown = briefing.shown
        return ChatRequest(
            purpose="coding",
            messages=(
                Message(role="system", content=system),
                Message(role="user", content=briefing.text),
                *self._since,
                *self._meanwhile(),
            ),
            tools=specs if self._work.native else (),
            tool_choice="required" if self._work.native else "auto",
            json_object=not self._work.native,
            temperature=self._task.temperature if profile.temperature is not None else None,
            max_completion_tokens=room.answer,
        )

    def add(self, reply: ChatReply, calls: Sequence[ToolCall], results: Sequence[str], *, more: str = "") -> None:
        """Take an answer in, what came of its calls, and `more` to say to it."""
        native = self._work.native and bool(reply.tool_calls)
        self._heard = self._work.heard()
        named = [replace(call, id=call.id or f"call_{number}") for number, call in enumerate(calls)]
        self._since.append(said(reply, named if native else ()))
        self._since += [
            result_message(call, text, as_tool=native) for call, text in zip(named, results, strict=True) if text
        ]
        self._since += [Message(role="user", content=more)] if more else []

    def _system(self, specs: Sequence[ToolSpec], profile: Profile) -> str:
        lines = str(self._task.whole_file_lines)
        text = self._work.system_prompt("coding", short=is_small(profile), whole_file_lines=lines)
        if not self._work.native:
            rows = (f"- {spec.name}({', '.join(spec.parameters.get('properties', {}))})" for spec in specs)
            lines = "\n".join(f"{row}: {spec.description}" for row, spec in zip(rows, specs, strict=True))
            text += self._work.prompts.render("coding.json_mode", tools=lines)
        room = int(profile.request_tokens * BYTES_PER_TOKEN) // SHARE_OF_REQUEST
        return text + bounded(self._work.instructions, room)

    def _briefed(self, profile: Profile, before: int) -> tuple[Room, Briefing]:
        """The brief as it was before, if what was said since fits beside it; else a shorter one, then less of that."""
        room = self._room(profile, before)
        briefing = self._brief(room)
        while self._since and (
            not room.message or len(briefing.text) + self._said() > int(room.message * BYTES_PER_TOKEN)
        ):
            shorter = self._room(profile, before + self._said())
            if shorter.message:
                return shorter, self._brief(shorter)
            if not self._drop():
                break
        if not room.message:
            raise self._work.pool.sizes.too_small(
                "The task with the code to be changed", self._work.agent.profile, room.needed
            )
        return room, briefing

    def _brief(self, room: Room) -> Briefing:
        return brief_text(self._task.brief, budget_tokens=room.message, source_tokens=self._task.source_tokens)

    def _room(self, profile: Profile, overhead: int) -> Room:
        return share(
            self._task.brief,
            profile,
            target=self._task.target,
            whole_file_lines=self._task.whole_file_lines,
            overhead_tokens=int(overhead / BYTES_PER_TOKEN),
        )

    def _said(self) -> int:
        calls = sum(len(str(dict(call.arguments))) for message in self._since for call in message.tool_calls)
        return calls + sum(len(message.content) + 20 for message in (*self._since, *self._meanwhile()))

    def _meanwhile(self) -> list[Message]:
        """What the user said since the brief was made: always last, so that no result comes after it."""
        return list(map(heard_message, self._heard))

    def _drop(self) -> bool:
        """Take the oldest result out of what is sent; False if there is none."""
        for place, message in enumerate(self._since):
            if message.role != "assistant" and len(message.content) > len(_GIVEN_WAY):
                self._since[place] = replace(message, content=_GIVEN_WAY)
                return True
        return False
