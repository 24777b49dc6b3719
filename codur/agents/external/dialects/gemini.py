"""The events of `gemini --output-format stream-json`.

As https://geminicli.com/docs/cli/headless describes them: `init`, `message` (the assistant's in pieces), `tool_use`,
`tool_result`, `error` (which ends nothing), and one `result` with its status and statistics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codur.agents.external.dialects.event_values import count, mapping, text
from codur.agents.external.protocol import Happening, Said, Used
from codur.types import Usage

_MAX_TEXT = 20_000
_SHOWN_INPUTS = ("file_path", "command", "path", "pattern", "dir_path")


class GeminiReader:
    """See `reader.Reader`."""

    def __init__(self) -> None:
        self.text = ""
        self.error = ""
        self.usage = Usage()
        self._in_pieces = False
        self._tools: dict[str, Used] = {}

    def take(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        """Take one event."""
        kind = event.get("type")
        if kind != "message" and self._in_pieces:
            self._in_pieces = False
            yield Said(text=self.text)
        match kind:
            case "message":
                yield from self._message(event)
            case "tool_use":
                given = mapping(event.get("parameters"))
                shown = next((text(given[key], 200) for key in _SHOWN_INPUTS if key in given), "")
                name = text(event.get("tool_name"), 60) or "tool"
                self._tools[text(event.get("tool_id"), 100)] = Used(tool=name, summary=shown)
            case "tool_result":
                begun = self._tools.pop(text(event.get("tool_id"), 100), Used(tool="tool"))
                yield Used(tool=begun.tool, ok=event.get("status") == "success", summary=begun.summary)
            case "result":
                self._result(event)

    def _message(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        if event.get("role") != "assistant":
            return
        said = text(event.get("content"))
        if event.get("delta") is True:
            self.text = ((self.text if self._in_pieces else "") + said)[:_MAX_TEXT]
            self._in_pieces = True
        else:
            self.text = said
            yield Said(text=said)

    def _result(self, event: Mapping[str, Any]) -> None:
        if event.get("status") == "error":
            self.error = text(mapping(event.get("error")).get("message")) or "an error"
        stats = mapping(event.get("stats"))
        self.usage = Usage(
            calls=1,
            prompt_tokens=count(stats.get("input_tokens")),
            cached_tokens=count(stats.get("cached")),
            completion_tokens=count(stats.get("output_tokens")),
        )
