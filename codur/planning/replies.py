"""What the models that plan and judge answer: types, their JSON schemas, and reading an answer into them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from codur.config.settings import Profile
from codur.errors import ModelAnswerError
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.pool import Make, ModelPool
from codur.parsing.json_text import parse_json_object
from codur.structs import replace
from codur.tools.synonyms import meant
from codur.types import Message, TaskType, ToolSpec

SuggestedAction = Literal["edit", "explain", "tool", "end", "plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentReply:
    """One argument of a planned tool call; the value is JSON for everything but text."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PrePlanReply:
    """The answer to the classification request.

    Attributes:
        capability, arguments: the call, for `tool`.
        answer: the last word, for `end`.
    """

    reasoning: str
    task_type: TaskType
    detected_files: tuple[str, ...]
    suggested_action: SuggestedAction
    confidence: float
    capability: str = ""
    arguments: tuple[ArgumentReply, ...] = ()
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReply:
    """One step of a planned sequence."""

    id: str
    action: Literal["tool", "coding", "delegate", "respond", "ask"]
    capability: str
    objective: str
    expected_output: str
    success_criteria: str
    inputs: tuple[str, ...]
    arguments: tuple[ArgumentReply, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReply:
    """The answer to the planning request."""

    reasoning: str
    steps: tuple[StepReply, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionReply:
    """Whether a criterion is met, by its number."""

    number: int
    met: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaReply:
    """The answer to the request that judges criteria."""

    verdicts: tuple[CriterionReply, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReply:
    """The answer to the question which tool is next: its name, or `none`, and the arguments that are not known."""

    tool: str
    arguments: tuple[ArgumentReply, ...]


Reply = TypeVar("Reply", PrePlanReply, PlanReply, CriteriaReply, ToolReply)


async def ask(pool: ModelPool, profile: str, request: ChatRequest | Make, kind: type[Reply], *, attempts: int) -> Reply:
    """Ask for an answer of the given type, and once more with the error for each answer that cannot be read.

    Args:
        request: the request, or what makes one for a profile; its schema is set here.
        attempts: requests at most.

    Raises:
        ModelAnswerError: no answer could be read.
        ModelUnavailable, LimitReached: as `ModelPool.complete`.
    """
    problem: str = ""
    more: tuple[Message, ...] = ()

    def made(fitted: Profile) -> ChatRequest:
        asked: ChatRequest = request(fitted) if callable(request) else request
        messages = (*asked.messages, *more)
        return replace(asked, messages=messages, schema=strict_schema(kind), schema_name=kind.__name__)

    for _ in range(max(1, attempts)):
        reply: ChatReply = await pool.complete(profile, made)
        value, problem = read(reply, kind)
        if value is not None:
            return value
        more = (*more, *_try_again(reply, problem))
    raise ModelAnswerError(f"the model's answer cannot be read: {problem}")


def read(reply: ChatReply, kind: type[Reply]) -> tuple[Reply | None, str]:
    """The answer as a value, or None and what is wrong with it."""
    from pydantic import ValidationError  # noqa: PLC0415 - lazy: only runs with a model need pydantic

    if reply.finish_reason == "length":
        return None, "it was cut off at the token limit"
    found = parse_json_object(reply.text)
    if found is None:
        return None, "it is not a JSON object"
    try:
        value: Reply = _made(kind)[0].validate_python(found)
        return value, ""
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return None, f"{place or 'object'}: {first['msg']}"


def _try_again(reply: ChatReply, problem: str) -> tuple[Message, Message]:
    return (
        Message(role="assistant", content=reply.text[:2000]),
        Message(role="user", content=f"That answer cannot be used: {problem}. Answer with the JSON object alone."),
    )


_MADE: dict[type, tuple[Any, Mapping[str, Any]]] = {}
"""By the kinds of answers, of which there are a few."""


def strict_schema(kind: type) -> Mapping[str, Any]:
    """The JSON schema of an answer in the form that strict modes demand: every field required, no others allowed."""
    return _made(kind)[1]


def _made(kind: type) -> tuple[Any, Mapping[str, Any]]:
    """What validates an answer, and its strict schema; to make them takes longer than to use them."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - lazy: only runs with a model need pydantic

    if kind not in _MADE:
        adapter: Any = TypeAdapter(kind)
        _MADE[kind] = (adapter, _strict(adapter.json_schema()))
    return _MADE[kind]


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _strict(value) for key, value in node.items() if key not in {"title", "default", "description"}}
    if "properties" in node:
        kept["properties"] = {name: _strict(value) for name, value in node["properties"].items()}
        kept["required"] = list(node["properties"])
        kept["additionalProperties"] = False
    return kept


def argument_values(arguments: tuple[ArgumentReply, ...], tool: ToolSpec | None) -> dict[str, Any]:
    """The planned arguments as a tool takes them.

    Args:
        tool: what its schema says is no text is read as JSON; None: all is text.
    """
    properties = tool.parameters.get("properties", {}) if tool is not None else {}
    given = {item.name: item.value for item in arguments}
    named = meant(tool.name if tool is not None else "", properties, given)
    return {name: _value(value, properties.get(name, {})) for name, value in named.items()}


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    if schema.get("type", "string") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text  # the tool refuses it with a sentence that names the field
