"""A streamed answer of the OpenAI chat protocol: chunks in, the completion that they make up out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codur.llm.services.service_errors import error_of, status_of_error
from codur.llm.services.stream_body import StreamError, UnreadableEventError, decoded

if TYPE_CHECKING:
    from codur.llm.services.event_stream import ServerEvent

END = "[DONE]"
MOST_CALLS = 1000
"""No answer within a token limit has as many tool calls."""


class ChatCollector:
    """Puts the chunks of one completion together; see `Collector`.

    An answer is whole when a chunk has told why it ended, and the end mark has come.
    """

    def __init__(self) -> None:
        self._done = False
        self._finish: str | None = None
        self._model = ""
        self._usage: Mapping[str, Any] | None = None
        self._texts: dict[str, list[str]] = {"content": [], "reasoning": [], "refusal": []}
        self._calls: dict[int, _Call] = {}
        self._order: list[_Call] = []

    @property
    def ended(self) -> bool:
        """See `Collector.ended`."""
        return self._done and self._finish is not None

    def add(self, event: ServerEvent) -> str:
        """See `Collector.add`."""
        if event.data.strip() == END:
            self._done = True
            return ""
        chunk = decoded(event)
        if chunk.get("error"):
            raise StreamError(chunk, status_of_error(error_of(chunk)))
        self._count(chunk)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return ""  # the chunk that tells the usage has none
        if isinstance(choice.get("finish_reason"), str):
            self._finish = choice["finish_reason"]
        delta = choice.get("delta")
        return self._delta(delta) if isinstance(delta, Mapping) else ""

    def body(self) -> dict[str, Any]:
        """See `Collector.body`."""
        message: dict[str, Any] = {name: "".join(parts) for name, parts in self._texts.items()}
        if self._order:
            message["tool_calls"] = [call.whole() for call in self._order]
        return {
            "model": self._model,
            "choices": [{"message": message, "finish_reason": self._finish}],
            "usage": self._usage,
        }

    def _count(self, chunk: Mapping[str, Any]) -> None:
        model = chunk.get("model")
        self._model = model if isinstance(model, str) and model else self._model
        own = chunk.get("x_groq")
        for usage in (chunk.get("usage"), own.get("usage") if isinstance(own, Mapping) else None):
            if isinstance(usage, Mapping):
                self._usage = usage

    def _delta(self, delta: Mapping[str, Any]) -> str:
        for name, parts in self._texts.items():
            text = delta.get(name)
            if isinstance(text, str):
                parts.append(text)
        calls = delta.get("tool_calls")
        for position, piece in enumerate(calls if isinstance(calls, list) else []):
            if not isinstance(piece, Mapping):
                raise UnreadableEventError
            index = piece.get("index", position)
            if isinstance(index, bool) or not isinstance(index, int):
                raise UnreadableEventError
            self._call(index, piece).add(piece)
        content = delta.get("content")
        return content if isinstance(content, str) else ""

    def _call(self, index: int, piece: Mapping[str, Any]) -> _Call:
        """The call that a piece belongs to: some servers give every call the index 0, with its own id and name."""
        known = self._calls.get(index)
        if known is None or known.is_another(piece):
            if len(self._order) >= MOST_CALLS:
                raise UnreadableEventError
            known = self._calls[index] = _Call()
            self._order.append(known)
        return known


class _Call:
    """One tool call, in pieces."""

    def __init__(self) -> None:
        self._id = ""
        self._name = ""
        self._arguments: list[str] = []

    def is_another(self, piece: Mapping[str, Any]) -> bool:
        """Whether a piece begins another call; an id alone does not, as some servers give every piece one."""
        given = piece.get("id")
        return isinstance(given, str) and given not in ("", self._id) and bool(_function(piece).get("name"))

    def add(self, piece: Mapping[str, Any]) -> None:
        """Take a piece; a name that is told again does not count."""
        given, function = piece.get("id"), _function(piece)
        name, arguments = function.get("name"), function.get("arguments")
        if isinstance(given, str):
            self._id = self._id or given
        if isinstance(name, str) and name != self._name:
            self._name += name
        if isinstance(arguments, str):
            self._arguments.append(arguments)

    def whole(self) -> dict[str, Any]:
        """The call as it would have come in one piece."""
        return {"id": self._id, "function": {"name": self._name, "arguments": "".join(self._arguments)}}


def _function(piece: Mapping[str, Any]) -> Mapping[str, Any]:
    function = piece.get("function")
    return function if isinstance(function, Mapping) else {}
