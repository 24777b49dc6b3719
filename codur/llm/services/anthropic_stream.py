"""A streamed answer of Anthropic's Messages API: events in, the message that they make up out."""

from collections.abc import Mapping
from typing import Any

from codur.llm.services.event_stream import Collector, UnreadableEventError
from codur.parsing.json_values import read_json

MOST_BLOCKS = 1000  # a stream that opens more is broken
_PIECES = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The field of a piece, and of the block that it belongs to, by the piece's type."""


class MessageCollector(Collector):
    """Puts the events of one message together.

    Kinds of events and blocks that are not known are left alone, as the service asks.
    """

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, dict[str, list[str]]] = {}
        self._open: set[int] = set()
        self._stopped = False

    @property
    def ended(self) -> bool:
        """See `Collector.ended`."""
        return self._stopped and not self._open and isinstance(self._message.get("stop_reason"), str)

    def _add(self, value: Mapping[str, Any]) -> str:
        match value.get("type"):
            case "message_start":
                message = _mapping(value.get("message"))
                self._message = {name: part for name, part in message.items() if name not in ("content", "usage")}
                self._count(message.get("usage"))
            case "content_block_start":
                self._begin(_index(value), _mapping(value.get("content_block")))
            case "content_block_delta":
                return self._piece(_index(value), _mapping(value.get("delta")))
            case "content_block_stop":
                self._open.discard(_index(value))
            case "message_delta":
                self._message |= _mapping(value.get("delta"))
                self._count(value.get("usage"))
            case "message_stop":
                self._stopped = True
        return ""

    def body(self) -> dict[str, Any]:
        """See `Collector.body`."""
        content = [self._block(index) for index in sorted(self._blocks)]
        return {**self._message, "content": content, "usage": self._usage}

    def _count(self, usage: Any) -> None:
        """Later counts stand for all that came before."""
        counts = usage if isinstance(usage, Mapping) else {}
        self._usage |= {name: count for name, count in counts.items() if count is not None}

    def _begin(self, index: int, block: Mapping[str, Any]) -> None:
        if len(self._blocks) >= MOST_BLOCKS:
            raise UnreadableEventError
        self._blocks[index] = dict(block)
        self._pieces[index] = {}
        self._open.add(index)

    def _piece(self, index: int, delta: Mapping[str, Any]) -> str:
        # A piece of a block that was not begun, or has ended: parts of the answer are lost.
        if index not in self._open:
            raise UnreadableEventError
        kind = delta.get("type")
        name = _PIECES.get(kind) if isinstance(kind, str) else None
        piece = delta.get(name) if name else None
        if name is None or not isinstance(piece, str):
            return ""
        self._pieces[index].setdefault(name, []).append(piece)
        return piece if name == "text" else ""

    def _block(self, index: int) -> dict[str, Any]:
        block = dict(self._blocks[index])
        given = {name: "".join(pieces) for name, pieces in self._pieces[index].items()}
        arguments = given.pop("partial_json", "")
        for name, text in given.items():
            first = block.get(name)
            block[name] = (first if isinstance(first, str) else "") + text
        # What cannot be read stays as it is: whoever reads the call says so.
        return {**block, "input": read_json(arguments, arguments)} if arguments else block


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UnreadableEventError
    return value


def _index(value: Mapping[str, Any]) -> int:
    index = value.get("index")
    if isinstance(index, bool) or not isinstance(index, int):
        raise UnreadableEventError
    return index
