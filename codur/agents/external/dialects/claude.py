"""The events of `claude --print --output-format stream-json`.

As https://code.claude.com/docs/en/headless describes them: a `system` message, then `assistant` and `user` messages
with content blocks as in the Messages API, and one `result` with the last text, the usage of all turns and their cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codur.agents.external.dialects.event_values import amount, count, items, mapping, text
from codur.agents.external.protocol import Happening, Said, Used
from codur.types import Usage

_SHOWN_INPUTS = ("file_path", "command", "pattern", "path", "url")


class ClaudeReader:
    """See `reader.Reader`. If no `result` comes (it was killed), the usage is the sum of its answers so far."""

    def __init__(self) -> None:
        self.text = ""
        self.error = ""
        self.usage = Usage()
        self._answers: dict[str, Usage] = {}

    def take(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        """Take one event."""
        match event.get("type"):
            case "assistant":
                yield from self._answer(mapping(event.get("message")))
            case "result":
                self._result(event)

    def _answer(self, message: Mapping[str, Any]) -> Iterator[Happening]:
        name = text(message.get("id"), 100) or str(len(self._answers))
        self._answers[name] = _usage(mapping(message.get("usage")), calls=1)  # one message comes in several events
        self.usage = sum(self._answers.values(), Usage())
        for block in map(mapping, items(message.get("content"))):
            if block.get("type") == "text":
                self.text = text(block.get("text"))
                yield Said(text=self.text)
            elif block.get("type") == "tool_use":
                given = mapping(block.get("input"))
                shown = next((text(given[key], 200) for key in _SHOWN_INPUTS if key in given), "")
                yield Used(tool=text(block.get("name"), 60) or "tool", summary=shown)

    def _result(self, event: Mapping[str, Any]) -> None:
        self.text = text(event.get("result")) or self.text
        if event.get("is_error") is True or text(event.get("subtype")).startswith("error"):
            self.error = text(event.get("result")) or text(event.get("subtype"), 100) or "an error"
        calls = count(event.get("num_turns")) or max(1, len(self._answers))
        self.usage = _usage(mapping(event.get("usage")), calls=calls, cost=amount(event.get("total_cost_usd")))


def _usage(told: Mapping[str, Any], *, calls: int, cost: float = 0.0) -> Usage:
    """The Messages API counts read from and written to the cache beside `input_tokens`."""
    cached = count(told.get("cache_read_input_tokens"))
    return Usage(
        calls=calls,
        prompt_tokens=count(told.get("input_tokens")) + cached + count(told.get("cache_creation_input_tokens")),
        cached_tokens=cached,
        completion_tokens=count(told.get("output_tokens")),
        cost_usd=cost,
    )
