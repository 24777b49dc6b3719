"""What the models that plan and judge answer: types, their JSON schemas, and reading an answer into them."""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct, ValidationError

from codur.config.prompts import PromptLibrary
from codur.config.reading.setting_types import kind_at, words_of
from codur.config.settings import Profile
from codur.errors import ModelAnswerError
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.pool import Make, ModelPool
from codur.parsing.json_text import parse_json_object
from codur.structs import convert, replace
from codur.tools.arguments import meant
from codur.types import Message, TaskType, ToolSpec

SuggestedAction = Literal["edit", "explain", "tool", "command", "end", "plan"]


class ArgumentReply(Struct, frozen=True, kw_only=True):
    """One argument of a planned tool call; the value is JSON for everything but text."""

    name: str
    value: str


class PrePlanReply(Struct, frozen=True, kw_only=True):
    """The answer to the classification request, with a call for `tool` and the last word for `end`."""

    reasoning: str
    task_type: TaskType
    detected_files: tuple[str, ...]
    suggested_action: SuggestedAction
    confidence: float
    capability: str = ""
    arguments: tuple[ArgumentReply, ...] = ()
    answer: str = ""


class StepReply(Struct, frozen=True, kw_only=True):
    """One step of a planned sequence."""

    id: str
    action: Literal["tool", "coding", "delegate", "respond", "ask"]
    capability: str
    objective: str
    expected_output: str
    success_criteria: str
    inputs: tuple[str, ...]
    arguments: tuple[ArgumentReply, ...]


class PlanReply(Struct, frozen=True, kw_only=True):
    """The answer to the planning request."""

    reasoning: str
    steps: tuple[StepReply, ...]


class CriterionReply(Struct, frozen=True, kw_only=True):
    """Whether a criterion is met, by its number."""

    number: int
    met: bool
    why: str


class CriteriaReply(Struct, frozen=True, kw_only=True):
    """The answer to the request that judges criteria."""

    verdicts: tuple[CriterionReply, ...]


class ToolReply(Struct, frozen=True, kw_only=True):
    """The answer to the question which tool is next: its name, or `none`, and the arguments that are not known."""

    tool: str
    arguments: tuple[ArgumentReply, ...]


class CommitReply(Struct, frozen=True, kw_only=True):
    """The answer to the request for a commit's message."""

    subject: str
    body: str


Reply = TypeVar("Reply", PrePlanReply, PlanReply, CriteriaReply, ToolReply, CommitReply)


class Asker(Struct, frozen=True):
    """Who is asked what has to be planned and judged, in which words, and how often where answers cannot be read."""

    pool: ModelPool
    prompts: PromptLibrary
    attempts: int = 1

    async def ask(self, profile: str, request: ChatRequest | Make, kind: type[Reply]) -> Reply:
        """Ask for an answer of the given type, and once more with the error for each answer that cannot be read.

        Args:
            request: the request, or what makes one for a profile; its schema is set here.

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

        for _ in range(max(1, self.attempts)):
            reply: ChatReply = await self.pool.complete(profile, made)
            value, problem = read(reply, kind)
            if value is not None:
                return value
            # As a conversation, with its answer and what is wrong with it: the same request alone would likely get the
            # same answer.
            again = f"That answer cannot be used: {problem}. Answer with the JSON object alone."
            more = (*more, Message(role="assistant", content=reply.text[:2000]), Message(role="user", content=again))
        raise ModelAnswerError(f"the model's answer cannot be read: {problem}")


def messages(system: str, user: str) -> tuple[Message, Message]:
    """What a request begins with."""
    return Message(role="system", content=system), Message(role="user", content=user)


def read(reply: ChatReply, kind: type[Reply]) -> tuple[Reply | None, str]:
    """The answer as a value, or None and what is wrong with it."""
    # First: a cut answer may by chance be mended into an object, of which the end is missing.
    if reply.finish_reason == "length":
        return None, "it was cut off at the token limit"
    found = parse_json_object(reply.text)
    if found is None:
        return None, "it is not a JSON object"
    try:
        return convert(found, kind, strict=False), ""
    except ValidationError as error:
        # What is wrong, with the key first, and the words that it can have
        problem, _, where = str(error).partition(" - at `$.")
        key = where.rstrip("`")
        path = tuple(int(part) if part.isdigit() else part for part in re.findall(r"\w+", key))
        words = words_of(kind_at(kind, path))
        return None, f"{key or 'object'}: {problem}{'; it is one of ' if words else ''}{', '.join(words)}"


@cache
def strict_schema(kind: type[Struct]) -> Mapping[str, Any]:
    """The JSON schema of an answer in the form that strict modes demand: every field required, no others allowed."""
    _, definitions = msgspec.json.schema_components([kind])
    root = definitions.pop(kind.__name__)
    strict: Mapping[str, Any] = _strict(root | ({"$defs": definitions} if definitions else {}))
    return strict


def _strict(node: Any) -> Any:
    if isinstance(node, list | tuple):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _strict(value) for key, value in node.items() if key not in {"title", "default", "description"}}
    if "enum" in node:
        kept["type"] = "string"  # not every service takes words without it
    if "properties" in node:
        kept["properties"] = {name: _strict(value) for name, value in node["properties"].items()}
        kept["required"] = list(node["properties"])
        kept["additionalProperties"] = False
    return kept


def argument_values(arguments: tuple[ArgumentReply, ...], tool: ToolSpec | None) -> dict[str, Any]:
    """The planned arguments as a tool takes them: what its schema says is no text is read as JSON."""
    properties = tool.parameters.get("properties", {}) if tool is not None else {}
    given = {item.name: item.value for item in arguments}
    # Models call an argument by another tool's word for it, such as `file` for `path`.
    named = meant(tool.name if tool is not None else "", properties, given)
    return {name: _value(value, properties.get(name, {})) for name, value in named.items()}


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    if schema.get("type", "string") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text  # the tool refuses it with a sentence that names the field
