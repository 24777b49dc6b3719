"""The events of `codex exec --json`.

As in codex-rs/exec/src/exec_events.rs of openai/codex: `thread.started`, `turn.started`, `item.started`,
`item.updated`, `item.completed`, `turn.completed` (with the turn's usage), `turn.failed`, `error`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codur.agents.external.dialects.event_values import count, items, mapping, text
from codur.agents.external.protocol import Happening, Said, Used
from codur.types import Usage


class CodexReader:
    """See `reader.Reader`. Usage is that of each turn, `input_tokens` with the cached ones among them."""

    def __init__(self) -> None:
        self.text = ""
        self.error = ""
        self.usage = Usage()

    def take(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        """Take one event."""
        match event.get("type"):
            case "item.completed":
                yield from self._item(mapping(event.get("item")))
            case "turn.completed":
                self.error = ""  # what was told on the way did not end it
                self._count(mapping(event.get("usage")))
            case "turn.failed":
                self.error = text(mapping(event.get("error")).get("message")) or "the turn failed"
            case "error":
                self.error = text(event.get("message")) or "an error"

    def _item(self, item: Mapping[str, Any]) -> Iterator[Happening]:
        match item.get("type"):
            case "agent_message":
                self.text = text(item.get("text"))
                yield Said(text=self.text)
            case "command_execution":
                done = item.get("exit_code") == 0
                yield Used(tool="command", ok=done, summary=text(item.get("command"), 200))
            case "file_change":
                paths = [text(mapping(change).get("path"), 200) for change in items(item.get("changes"))]
                yield Used(tool="edit", ok=item.get("status") != "failed", summary=", ".join(filter(None, paths)))
            case "mcp_tool_call":
                name = f"{text(item.get('server'), 60)}.{text(item.get('tool'), 60)}"
                yield Used(tool="mcp", ok=item.get("status") != "failed", summary=name)
            case "web_search":
                yield Used(tool="web_search", summary=text(item.get("query"), 200))

    def _count(self, usage: Mapping[str, Any]) -> None:
        self.usage += Usage(
            calls=1,
            prompt_tokens=count(usage.get("input_tokens")),
            cached_tokens=count(usage.get("cached_input_tokens")),
            completion_tokens=count(usage.get("output_tokens")),
        )
