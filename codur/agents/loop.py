"""An agent that works in a bounded loop of tool calls and ends with an answer in words."""

import json
import time
from collections.abc import Sequence
from functools import partial

from msgspec import structs

from codur.agents.assignment import Assignment
from codur.agents.offers import EVERYTHING, MORE, Offering, Offers
from codur.config.settings import Profile
from codur.events import ToolChosen, ToolRan
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.parsing.bounded_text import beginning, bounded, plain
from codur.parsing.tool_calls import is_call_alone, tool_calls_from_text
from codur.structs import Struct, replace
from codur.types import Message, Tier, ToolCall, ToolResult, ToolSpec

CALLS_PER_ANSWER = 8
OUTPUT_CHARS = 4000
MIN_OUTPUT_CHARS = 200
RESERVE_CHARS = 1500
"""Kept free for the last outputs, their notes and the model's own calls."""
ANSWER_TOKENS = 1500
DROPPED = "[left out to make room for later results; call again if you need it]"
_SUMMARY_CHARS = 120
LINE_CHARS = 40
"""A usual line of a program, so that room can be told in lines."""
SMALL_CHARS = 1000
"""Outputs up to this length, such as lists of places, give way after all that are longer."""
LAST_WORD = "This is your last step: answer now, in words, from what you know by now."


class LoopOutcome(Struct):
    """The agent's answer; `error` is one sentence if there is none."""

    text: str
    changed_files: tuple[str, ...] = ()
    error: str = ""


async def run_agent(task: str, work: Assignment, offering: Offering = EVERYTHING) -> LoopOutcome:
    """Let the agent work until it answers without a tool call, or its steps are used up; `task`: the whole message.

    Raises ModelUnavailable, ModelAnswerError, LimitReached: as `ModelPool.complete`.
    """
    agent = work.agent
    conversation = _Conversation(task, work, Offers(work.toolbox, agent.config.tools, offering))
    for step in range(agent.config.max_steps):
        last = step == agent.config.max_steps - 1
        reply = await conversation.ask(last=last)
        calls = conversation.calls_in(reply)
        if last or not (calls or reply.problem):
            return conversation.ended(reply)
        conversation.carry_out(reply, calls)
    return conversation.outcome("", f"{agent.name} has no steps to work with; raise its max_steps")


_Output = tuple[int, str]  # where the output of a call stands among the messages, and the call


class _Conversation:
    """The messages of one delegation and what it cost."""

    def __init__(self, task: str, work: Assignment, offers: Offers) -> None:
        agent, prompts, instructions = work.agent, work.prompts, work.instructions
        self._work = work
        self._profile = work.profile
        self._offers = offers
        self._after = ""
        tools = map(work.toolbox.get, agent.config.tools)
        self._edits = any(tool is not None and tool.side_effect == "write" for tool in tools)
        self._changed: list[str] = []
        self._seen: set[str] = set()
        self._outputs: list[_Output] = []
        self._spent, self._tokens = 0.0, 0
        self._heard = 0
        system = work.system_prompt("explaining")
        if not self._work.native:
            system += prompts.render("agent.json_mode", tools=_tool_lines(offers.specs()))
        self._messages = [Message(role="system", content=system + instructions), Message(role="user", content=task)]
        if agent.config.tools:
            # The room beside what is said so far, in lines of results that are in view at a time at least.
            lines = max(MIN_OUTPUT_CHARS, self._free()) // LINE_CHARS
            lines -= lines % 10 ** max(0, len(f"{lines}") - 2)  # more than two figures would claim to be exact
            system += prompts.render("agent.room", steps=f"{agent.config.max_steps}", lines=f"{lines}")
        self._messages[0] = Message(role="system", content=system + instructions)

    async def ask(self, *, last: bool) -> ChatReply:
        pool = self._work.pool
        started, tokens = time.monotonic(), pool.usage.total_tokens
        said = self._work.heard()[self._heard :]  # what the user said since the last request
        self._messages += [heard_message(text) for text in said]
        self._heard += len(said)
        reply = await pool.complete(self._work.agent.profile, partial(self._request, last))
        self._spent = time.monotonic() - started
        self._tokens = pool.usage.total_tokens - tokens
        return reply

    def _request(self, last: bool, profile: Profile) -> ChatRequest:
        """The request for a profile of that size; what was read first gives way if it is smaller than it was."""
        if profile.request_tokens < self._profile.request_tokens:
            self._profile = structs.replace(self._profile, request_tokens=profile.request_tokens)
            while self._outputs and self._free() < 0:
                self._drop(self._outputs.pop(self._least(self._outputs)))
            task = self._messages[1]
            fits = bounded(task.content, max(MIN_OUTPUT_CHARS, len(task.content) + min(0, self._free())))
            self._messages[1] = replace(task, content=fits)
        messages = [*self._messages, Message(role="user", content=LAST_WORD)] if last else self._messages
        return ChatRequest(
            purpose=self._work.agent.name,
            messages=tuple(messages),
            tools=self._offers.specs() if self._work.native else (),
            tool_choice="none" if last else "auto",
            max_completion_tokens=min(ANSWER_TOKENS, profile.max_completion_tokens),
        )

    def calls_in(self, reply: ChatReply) -> tuple[ToolCall, ...]:
        if reply.finish_reason == "length":
            return ()
        calls, names = reply.tool_calls, self._work.agent.config.tools
        if not self._work.native and is_call_alone(reply.text, names):  # others may be quotations
            calls = calls or tool_calls_from_text(reply.text, names)
        return calls[:CALLS_PER_ANSWER]

    def carry_out(self, reply: ChatReply, calls: Sequence[ToolCall]) -> None:
        named = [replace(call, id=call.id or f"call_{number}") for number, call in enumerate(calls)]
        native = self._work.native and bool(reply.tool_calls)
        self._messages.append(said(reply, named if native else ()))
        offered, last = self._offers.names, None
        earlier, self._outputs = self._outputs, []
        for place, call in enumerate(named):
            self._tell(self._offers.tier, offered, call)
            last = self._answer(call, earlier, share=len(named) - place, as_tool=native)
        self._outputs = [*earlier, *self._outputs]
        added = [name for call in named for name in self._offers.take(call.name)]
        self._offer([*added, *self._offers.open()] if reply.problem else added)
        if reply.problem:
            self._messages.append(Message(role="user", content=reply.problem))
        elif last is not None and last.ok:
            self._follow(named[-1].name, last, alone=len(named) == 1)

    def ended(self, reply: ChatReply) -> LoopOutcome:
        """The last answer as the outcome; one that was cut off says so."""
        text = reply.text.strip()
        if text and reply.finish_reason == "length":
            text += "\n(cut off at the token limit)"
        return self.outcome(text, "" if text else f"{self._work.agent.name} ended without an answer")

    def outcome(self, text: str, error: str) -> LoopOutcome:
        return LoopOutcome(text=text, changed_files=tuple(self._changed), error=error)

    def _follow(self, tool: str, result: ToolResult, *, alone: bool) -> None:
        """Offer what fits a result; run what alone can follow it, once, and if nothing else was asked for."""
        added, forced = self._offers.follow(tool, result.data)
        self._offer(added)
        self._after = tool
        if forced is not None and alone:
            call = ToolCall(name=forced.tool, arguments=forced.arguments or {})
            self._tell("deterministic", (forced.tool,), call)
            self._answer(call, [], share=1, as_tool=False)
            self._after = forced.tool

    def _offer(self, added: Sequence[str]) -> None:
        """Where tools are part of the text, tell those that are new at its end."""
        if added and not self._work.native:
            lines = _tool_lines(self._work.toolbox.specs(added))
            self._messages.append(Message(role="user", content=f"You can also call:\n{lines}"))

    def _tell(self, tier: Tier, candidates: Sequence[str], call: ToolCall) -> None:
        asked = tier != "deterministic"
        self._work.emit(
            ToolChosen(
                after=self._after,
                tier=tier,
                candidates=tuple(candidates),
                choice=call.name,
                duration_s=self._spent if asked else 0.0,
                by="model" if asked else "code",
                scores=self._offers.scores(candidates),
                settled=self._offers.settles(call),
                tokens=self._tokens if asked else 0,
            )
        )

    def _answer(self, call: ToolCall, earlier: list[_Output], *, share: int, as_tool: bool) -> ToolResult:
        """Run a call and add its output.

        Args:
            earlier: outputs after earlier answers, the oldest first; they give way where there is no room,
                and are taken out of the list then.
            share: how many outputs have to do with the room that there is.
        """
        result = self._run(call)
        self._changed += [path for path in result.changed_files if path not in self._changed]
        # What the output may take, so that the request still fits the profile.
        free = self._free() + sum(max(0, len(self._messages[place].content) - len(DROPPED)) for place, _ in earlier)
        limit = max(MIN_OUTPUT_CHARS, min(OUTPUT_CHARS, free // share))
        text = result.text if result.ok else f"error: {result.text}"
        tool = self._work.toolbox.get(call.name)
        reads = tool is not None and tool.side_effect == "read"
        # What was read is told by where it is, as the first line of it says nothing.
        where = " ".join(map(str, call.arguments.values())) if result.ok and reads else ""
        summary = (where or result.text).partition("\n")[0][:_SUMMARY_CHARS]
        self._work.emit(ToolRan(tool=call.name, code=result.code, summary=summary))
        data = result.data if result.ok and isinstance(result.data, dict) else {}
        first_line = data.get("start_line") if "total_lines" in data else None  # of a part of a file
        if first_line is not None and not self._edits:
            # For who is to tell of lines, and does not copy them.
            numbered = enumerate(text.rstrip("\n").split("\n"), first_line)
            text = "\n".join(f"{number}\t{line}" for number, line in numbered)
        text = beginning(text, limit, first_line) if reads else bounded(plain(text), limit)
        while earlier and self._free() < len(text):
            self._drop(earlier.pop(self._least(earlier)))
        self._outputs.append((len(self._messages), _key(call)))
        self._messages.append(result_message(call, text, as_tool=as_tool))
        return result

    def _least(self, outputs: Sequence[_Output]) -> int:
        """The position of the output that gives way first: the oldest of the long ones, else the oldest."""
        long = (at for at, (place, _) in enumerate(outputs) if len(self._messages[place].content) > SMALL_CHARS)
        return next(long, 0)

    def _drop(self, output: _Output) -> None:
        """Take an output out of what is sent; the call may be made again."""
        place, call = output
        self._messages[place] = replace(self._messages[place], content=DROPPED)
        self._seen.discard(call)

    def _run(self, call: ToolCall) -> ToolResult:
        key, names = _key(call), self._work.agent.config.tools
        if key in self._seen:
            return ToolResult(code="refused", text="this call was already made; its result is above")
        self._seen.add(key)
        if call.name == MORE:
            return ToolResult(text="all tools are offered now")
        if call.name not in names:
            return ToolResult(code="invalid", text=f"no such tool here; there are: {', '.join(names)}")
        guessed = self._work.toolbox.guess_refused(call)
        if guessed:
            return ToolResult(code="refused", text=guessed)
        return self._work.toolbox.call(call.name, call.arguments)

    def _free(self) -> int:
        tools = sum(len(json.dumps(dict(spec.parameters))) for spec in self._offers.specs())
        used = sum(len(message.content) for message in self._messages) + tools + RESERVE_CHARS
        return int((self._profile.request_tokens - ANSWER_TOKENS) * BYTES_PER_TOKEN) - used


def said(reply: ChatReply, calls: Sequence[ToolCall]) -> Message:
    """An answer as a message of the conversation, with its calls, if they came as the service's own."""
    return Message(role="assistant", content=reply.text, tool_calls=tuple(calls))


def result_message(call: ToolCall, text: str, *, as_tool: bool) -> Message:
    """What came of a call, as the service's own form of it or as text."""
    if as_tool:
        return Message(role="tool", content=text, tool_call_id=call.id)
    return Message(role="user", content=f"Result of {call.name}:\n{text}")


def heard_message(text: str) -> Message:
    """What the user says while an agent works, as a message of the conversation."""
    return Message(role="user", content=f"The user says, while you work, and it holds: {text}")


def _key(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(dict(call.arguments), sort_keys=True, default=str)}"


def _tool_lines(specs: Sequence[ToolSpec]) -> str:
    return "\n".join(f"- {spec.name}: {spec.description} {json.dumps(dict(spec.parameters))}" for spec in specs)
