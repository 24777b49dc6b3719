"""The coding agent: one request, one answer with edits, applied whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from codur.agents.brief import CodingBrief, brief_text
from codur.agents.guessed import refusal
from codur.agents.instructions import SHARE_OF_REQUEST
from codur.agents.prompting import system_prompt
from codur.agents.registry import Agent
from codur.agents.room import is_small, offered, share
from codur.config.prompts import PromptLibrary
from codur.config.settings import Profile
from codur.llm.model import ChatRequest
from codur.llm.pool import ModelPool
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.parsing.code import code_from_text
from codur.parsing.tool_calls import tool_calls_from_text
from codur.tools.bounds import bounded
from codur.tools.toolbox import Toolbox
from codur.types import Message, ToolCall, ToolCode, ToolSpec
from codur.workspace.workspace import Workspace

WHOLE_FILE_TOOL = "replace_file_content"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingOutcome:
    """What came of one coding request.

    Attributes:
        code: `ok`, or why nothing was changed.
        summary: the edits in a line.
        error: one sentence, empty if all went well.
    """

    code: ToolCode
    summary: str
    changed_files: tuple[str, ...] = ()
    error: str = ""


async def write_code(
    brief: CodingBrief,
    agent: Agent,
    *,
    profile: Profile,
    target: str | None,
    pool: ModelPool,
    prompts: PromptLibrary,
    toolbox: Toolbox,
    workspace: Workspace,
    whole_file_lines: int,
    read_text_calls: bool,
    source_tokens: int | None = None,
    instructions: str = "",
) -> CodingOutcome:
    """Ask the agent for edits and apply them.

    Args:
        profile: the profile that answers.
        target: the file meant by an answer that is bare code; None if no single file is meant.
        read_text_calls: whether tool calls written as text count.
        source_tokens: tokens of source text at most; None: as many as the profile has room for.
        instructions: the end of the system prompt: what the user and the project want.

    Raises:
        ModelUnavailable, ModelAnswerError, LimitReached: as `ModelPool.complete`; LimitReached also if the task and the
            code to be changed cannot be told within what a request may have.
    """

    def request(fitted: Profile) -> ChatRequest:
        return _request(
            brief, agent, fitted, target, pool, prompts, toolbox, whole_file_lines, source_tokens, instructions
        )

    reply = await pool.complete(agent.profile, request)
    if reply.finish_reason == "length":
        limit = reply.max_completion_tokens or profile.max_completion_tokens
        return _nothing("invalid", f"the answer was cut off at {limit} tokens; answer with smaller edits")
    if reply.problem:  # a part of the answer was lost, and half an answer is not applied
        return _nothing("invalid", reply.problem)
    in_text = read_text_calls or profile.tool_calls == "json"
    calls = reply.tool_calls or (_calls_in_text(reply.text, target) if in_text else ())
    if not calls:
        said = " ".join(reply.text.split())[:300]
        return _nothing("invalid", f"the answer held no edit; it said: {said or '(nothing)'}")
    return _apply(calls, agent, target, toolbox, workspace)


def _request(
    brief: CodingBrief,
    agent: Agent,
    profile: Profile,
    target: str | None,
    pool: ModelPool,
    prompts: PromptLibrary,
    toolbox: Toolbox,
    whole_file_lines: int,
    source_tokens: int | None,
    instructions: str,
) -> ChatRequest:
    specs = offered(toolbox.specs(agent.config.tools), profile)
    lines = str(whole_file_lines)
    system = system_prompt(agent, prompts, default="coding", short=is_small(profile), whole_file_lines=lines)
    native = profile.tool_calls == "native"
    if not native:
        system += prompts.render("coding.json_mode", tools=_tool_lines(specs))
    system += bounded(instructions, int(profile.request_tokens * BYTES_PER_TOKEN) // SHARE_OF_REQUEST)
    overhead = len(system) + (len(json.dumps([asdict(spec) for spec in specs])) + 60 * len(specs) if native else 0)
    room = share(
        brief,
        profile,
        target=target,
        whole_file_lines=whole_file_lines,
        overhead_tokens=int(overhead / BYTES_PER_TOKEN),
    )
    if not room.message:
        raise pool.sizes.too_small("The task with the code to be changed", agent.profile, room.needed)
    return ChatRequest(
        purpose="coding",
        messages=(
            Message(role="system", content=system),
            Message(
                role="user",
                content=brief_text(brief, budget_tokens=room.message, source_tokens=source_tokens).text,
            ),
        ),
        tools=specs if native else (),
        tool_choice="required" if native else "auto",
        json_object=not native,
        max_completion_tokens=room.answer,
    )


def _tool_lines(specs: Sequence[ToolSpec]) -> str:
    return "\n".join(
        f"- {spec.name}({', '.join(spec.parameters.get('properties', {}))}): {spec.description}" for spec in specs
    )


def _calls_in_text(text: str, target: str | None) -> tuple[ToolCall, ...]:
    calls = tool_calls_from_text(text)
    if calls:
        return calls
    code = code_from_text(text)
    if code is None or target is None:
        return ()
    return (ToolCall(name=WHOLE_FILE_TOOL, arguments={"path": target, "content": code}),)


def _apply(
    calls: Sequence[ToolCall],
    agent: Agent,
    target: str | None,
    toolbox: Toolbox,
    workspace: Workspace,
) -> CodingOutcome:
    """Run the edits in order; the first that fails undoes those before it."""
    start = workspace.snapshot()
    changed: list[str] = []
    calls = [_with_path(call, target, toolbox) for call in calls]
    for number, call in enumerate(calls, 1):
        problem = _refuse(call, agent) or refusal(call, toolbox)
        if not problem:
            result = toolbox.call(call.name, call.arguments)
            changed += [path for path in result.changed_files if path not in changed]
            problem = "" if result.ok else result.text
            code = result.code
        else:
            code = "invalid"
        if problem:
            workspace.restore(start)
            return _nothing(code, f"edit {number} of {len(calls)}, {call.name}: {problem}; no edit was applied")
    return CodingOutcome(
        code="ok",
        summary=", ".join(_described(call) for call in calls),
        changed_files=tuple(changed),
    )


def _refuse(call: ToolCall, agent: Agent) -> str:
    if call.name in agent.config.tools:
        return ""
    return f"there is no such tool here; there are: {', '.join(agent.config.tools)}"


def _with_path(call: ToolCall, target: str | None, toolbox: Toolbox) -> ToolCall:
    """The call with the file it means, where the model left out a path that the tool needs."""
    if call.arguments.get("path") or target is None or toolbox.get(call.name) is None:
        return call
    needs_path = "path" in toolbox.spec(call.name).parameters["required"]
    return replace(call, arguments={**call.arguments, "path": target}) if needs_path else call


def _described(call: ToolCall) -> str:
    if "source" in call.arguments and "target" in call.arguments:
        return f"{call.name} {call.arguments['source']} to {call.arguments['target']}"
    name, path = call.arguments.get("name"), call.arguments.get("path")
    if not path:
        return call.name
    return f"{call.name} {name} in {path}" if name else f"{call.name} {path}"


def _nothing(code: ToolCode, error: str) -> CodingOutcome:
    return CodingOutcome(code=code, summary="", error=error)
