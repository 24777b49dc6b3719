"""A request in words, as it is shown by `--show-prompts` and kept in a run's trace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codur.llm.model import ChatRequest
    from codur.types import Message

MAX_CHARS = 64_000
"""Of one request; the middle of a longer one is left out."""


def prompt_text(request: ChatRequest) -> str:
    """All that is sent, message by message; the tools by their names."""
    parts = [_message(message) for message in request.messages]
    if request.tools:
        parts.append(f"--- tools ({request.tool_choice})\n{', '.join(tool.name for tool in request.tools)}")
    if request.schema is not None and not request.tools:
        parts.append(f"--- form of the answer: {request.schema_name or 'JSON'}")
    return _cut("\n".join(parts))


def _message(message: Message) -> str:
    calls = [
        f"{call.name} {json.dumps(dict(call.arguments), ensure_ascii=False, default=str)}"
        for call in message.tool_calls
    ]
    return "\n".join([f"--- {message.role}", *([message.content] if message.content else []), *calls])


def _cut(text: str) -> str:
    if len(text) <= MAX_CHARS:
        return text
    half = MAX_CHARS // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
