"""How a service is spoken to: the OpenAI chat protocol, or Anthropic's messages."""

from collections.abc import Mapping
from typing import Any

from codur.config.settings import Profile
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.profiles.endpoint import Endpoint
from codur.llm.services.anthropic_protocol import Blocks, MessageCollector, as_completion, messages_body
from codur.llm.services.chat_protocol import ChatCollector, request_body
from codur.llm.services.event_stream import Collector

_THOUGHTS = ("thinking", "redacted_thinking")
_KEPT = (*_THOUGHTS, "text", "tool_use")
_MOST_REMEMBERED = 64  # answers of one profile; a conversation of a step has far fewer


class Dialect:
    """The OpenAI chat protocol."""

    def __init__(self, profile: Profile, endpoint: Endpoint) -> None:
        self._profile = profile
        self._endpoint = endpoint

    def request(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        """The body to send."""
        return request_body(request, self._profile, self._endpoint, stream=stream)

    def collector(self) -> Collector:
        """What puts a streamed answer together."""
        return ChatCollector()

    def completion(self, body: Any) -> Any:
        """A decoded answer, as a chat completion."""
        return body

    def remember(self, reply: ChatReply, body: Any) -> None:
        """Take note of a reply and the decoded answer that it was read from; this protocol needs nothing again."""


class MessagesDialect(Dialect):
    """Anthropic's messages.

    Answers with thoughts and tool calls are remembered: the service wants them back, as they were, with the results.
    """

    def __init__(self, profile: Profile, endpoint: Endpoint) -> None:
        super().__init__(profile, endpoint)
        self._said: dict[str, Blocks] = {}

    def request(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        """See `Dialect.request`."""
        return messages_body(request, self._profile, self._said, stream=stream)

    def collector(self) -> Collector:
        """See `Dialect.collector`."""
        return MessageCollector()

    def completion(self, body: Any) -> Any:
        """See `Dialect.completion`."""
        return as_completion(body) if isinstance(body, Mapping) and "content" in body else body

    def remember(self, reply: ChatReply, body: Any) -> None:
        """See `Dialect.remember`."""
        blocks = [block for block in body["content"] if isinstance(block, dict)]
        # Without thoughts an answer can be made again from the message.
        if reply.tool_calls and any(block.get("type") in _THOUGHTS for block in blocks):
            self._said[reply.tool_calls[0].id] = [block for block in blocks if block.get("type") in _KEPT]
            while len(self._said) > _MOST_REMEMBERED:
                del self._said[next(iter(self._said))]


def dialect_of(profile: Profile, endpoint: Endpoint) -> Dialect:
    """The dialect of a profile's service."""
    return (MessagesDialect if endpoint.api == "anthropic" else Dialect)(profile, endpoint)
