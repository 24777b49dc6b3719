"""A streamed answer of the OpenAI chat protocol: chunks in, the completion that they make up out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codur.llm.services.event_stream import Collector, ServerEvent, UnreadableEventError
from codur.parsing.json_values import at, items, mapping

END = "[DONE]"
MOST_CALLS = 1000
"""No answer within a token limit has as many tool calls."""


class ChatCollector(Collector):
    """Puts the chunks of one completion together.

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
        return super().add(event)

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

    def _add(self, value: Mapping[str, Any]) -> str:
        model = value.get("model")
        self._model = model if isinstance(model, str) and model else self._model
        # Groq tells it in a field of its own, in the last chunk.
        for usage in (value.get("usage"), at(value.get("x_groq"), "usage")):
            self._usage = usage if isinstance(usage, Mapping) else self._usage
        choice = at(value.get("choices"), "0")  # the chunk that tells the usage has none
        finish = at(choice, "finish_reason")
        self._finish = finish if isinstance(finish, str) else self._finish
        return self._delta(mapping(at(choice, "delta")))

    def _delta(self, delta: Mapping[str, Any]) -> str:
        for name, parts in self._texts.items():
            text = delta.get(name)
            if isinstance(text, str):
                parts.append(text)
        for position, piece in enumerate(items(delta.get("tool_calls"))):
            # Servers that leave the index out send the calls in their order.
            index = piece.get("index", position) if isinstance(piece, Mapping) else None
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
        return isinstance(given, str) and given not in ("", self._id) and bool(at(piece, "function.name"))

    def add(self, piece: Mapping[str, Any]) -> None:
        """Take a piece; a name that is told again does not count."""
        given, name, arguments = (at(piece, path) for path in ("id", "function.name", "function.arguments"))
        if isinstance(given, str):
            self._id = self._id or given
        # Some send the name in pieces, some whole with each piece.
        if isinstance(name, str) and name != self._name:
            self._name += name
        if isinstance(arguments, str):
            self._arguments.append(arguments)

    def whole(self) -> dict[str, Any]:
        """The call as it would have come in one piece."""
        return {"id": self._id, "function": {"name": self._name, "arguments": "".join(self._arguments)}}
