"""Whether a server of models runs on this machine (Ollama, or one that speaks as it does), and what it has."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

LOOK_S = 1.0
"""A server that is there answers such a request at once."""
MAX_BYTES = 1 << 20
_PIECE = 1 << 14
_NOT_FOR_CHAT = ("embed", "rerank", "whisper", "bge-", "minilm", "clip")


def served_models(base_url: str) -> tuple[str, ...] | None:
    """The names of the models that can be asked at `base_url`, in the server's order.

    One look of a second at most; nothing is sent but the request for the list.

    Args:
        base_url: as of a provider with `api: openai`, for example http://127.0.0.1:11434/v1.

    Returns:
        None if nobody answers there, or not with a list of models.
    """
    try:
        body = _fetched(f"{base_url.rstrip('/')}/models")
        listed = json.loads(body) if body else None
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return None
    if not isinstance(listed, Mapping) or listed.get("data", ()) is None:  # Ollama without a model answers so
        return () if isinstance(listed, Mapping) else None
    items = listed.get("data")
    if not isinstance(items, list):
        return None
    names = [item.get("id") for item in items if isinstance(item, Mapping)]
    return tuple(name for name in names if isinstance(name, str) and name.isprintable() and _chats(name))


def matching(wanted: str, names: tuple[str, ...]) -> str:
    """The name among `names` that means the model `wanted` (`qwen3` is `qwen3:latest`), else the first; or empty."""
    for name in (wanted, f"{wanted}:latest"):
        if name in names:
            return name
    return names[0] if names else ""


def _chats(name: str) -> bool:
    return bool(name) and not any(word in name.lower() for word in _NOT_FOR_CHAT)


def _fetched(url: str) -> bytes:
    """The body of an answer with status 200; empty for any other, and for one that is too long or too slow."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=LOOK_S)
    deadline = time.monotonic() + LOOK_S
    try:
        connection.request("GET", parts.path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            return b""
        body = bytearray()
        while piece := response.read1(_PIECE):
            body += piece
            if len(body) > MAX_BYTES or time.monotonic() > deadline:
                return b""
        return bytes(body)
    finally:
        connection.close()
