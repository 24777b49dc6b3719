"""The events of `opencode run --format json`: `text`, `tool_use`, `step_start`, `step_finish`, `error`.

The parts they carry are those of https://opencode.ai/v1/docs/sdk/: a step tells its tokens and its cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codur.agents.external.dialects.event_values import amount, count, mapping, text
from codur.agents.external.protocol import Happening, Said, Used
from codur.types import Usage


class OpencodeReader:
    """See `reader.Reader`."""

    def __init__(self) -> None:
        self.text = ""
        self.error = ""
        self.usage = Usage()

    def take(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        """Take one event."""
        part = mapping(event.get("part"))
        match event.get("type"):
            case "text":
                self.text = text(part.get("text"))
                yield Said(text=self.text)
            case "tool_use":
                state = mapping(part.get("state"))
                shown = text(state.get("title"), 200)
                yield Used(tool=text(part.get("tool"), 60) or "tool", ok=state.get("status") != "error", summary=shown)
            case "step_finish":
                self._count(part)
            case "error":
                problem = mapping(event.get("error"))
                self.error = (
                    text(mapping(problem.get("data")).get("message")) or text(problem.get("name")) or "an error"
                )

    def _count(self, part: Mapping[str, Any]) -> None:
        tokens = mapping(part.get("tokens"))
        cache = mapping(tokens.get("cache"))
        cached = count(cache.get("read"))
        self.usage += Usage(
            calls=1,
            prompt_tokens=count(tokens.get("input")) + cached + count(cache.get("write")),
            cached_tokens=cached,
            completion_tokens=count(tokens.get("output")) + count(tokens.get("reasoning")),
            cost_usd=amount(part.get("cost")),
        )
