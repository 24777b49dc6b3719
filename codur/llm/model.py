"""The interface to a model: one question, one answer."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from codur.config.settings import Profile
from codur.structs import Struct, field
from codur.types import Message, ToolCall, ToolSpec, Usage

Unit = Literal["requests", "tokens", "input_tokens", "output_tokens"]


class Quota(Struct):
    """One limit as it stood when a response was made; in `reset_s` seconds all of it is there again."""

    unit: Unit
    limit: float
    remaining: float
    reset_s: float


ToolChoice = Literal["auto", "required", "none"]


class ChatRequest(Struct):
    """One question."""

    messages: tuple[Message, ...]
    purpose: str  # a word for the trace, for example `plan` or `coding`
    # tools that the model may call; never combined with a form of the answer, which is then not asked for. A profile
    # whose `tool_calls` is `json` is not sent any: who asks it tells the tools in the prompt.
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"
    # JSON schema of the answer; how it is asked for depends on the profile's `json_mode`
    schema: Mapping[str, Any] | None = None
    schema_name: str = ""
    # the answer is any JSON object, of which the prompt tells the form (and it must say "JSON"); not asked for if there
    # is a `schema`, or if the profile's `json_mode` is `text`
    json_object: bool = False
    # temperature, max_completion_tokens: instead of the profile's
    temperature: float | None = None
    max_completion_tokens: int | None = None


class ChatReply(Struct):
    """One answer."""

    text: str = ""  # what the model wrote, without its `<think>` part
    # the calls that can be carried out; a call with unreadable arguments is not among them
    tool_calls: tuple[ToolCall, ...] = ()
    # `stop`, `tool_calls`, `length` (cut off: `tool_calls` is empty), or the service's own word
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)  # what this answer cost, with the requests that failed before it
    # model, profile: who answered; after a switch not the profile that was asked
    model: str = ""
    profile: str = ""
    # the limit of this answer that was sent, in tokens: less than was asked for if the prompt left no room; None if
    # none was sent
    max_completion_tokens: int | None = None
    problem: str = ""  # one sentence for the model when a part of its answer had to be dropped; else empty
    limits: tuple[Quota, ...] = ()  # what the service told of its rate limits with this answer


class ChatModel(Protocol):
    """A model that can be asked."""

    @property
    def profile_name(self) -> str:
        """Name of its profile."""

    @property
    def profile(self) -> Profile:
        """Its settings."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once, without a second try.

        Raises:
            ModelUnavailable: nothing came back (`ServiceFailure` says whether it may pass).
            ModelAnswerError: something came back that cannot be used; its `usage` counts the call.
        """

    async def close(self) -> None:
        """Close connections; a later `complete` opens new ones."""
