"""Whether a server of models runs on this machine (Ollama, or one that speaks as it does), and what it has."""

import json
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from codur.lazy import regex
from codur.parsing.json_values import mapping, read_json
from codur.structs import Struct

LOOK_S = 1.0
"""A server that is there answers such a request at once."""
MAX_BYTES = 1 << 20  # whoever answers on that port may be anything
_PIECE = 1 << 14
_NUM_CTX = regex(r"^num_ctx\s+(\d+)", re.MULTILINE)
_NOT_FOR_CHAT = ("embed", "rerank", "whisper", "bge-", "minilm", "clip")


class ServedWindow(Struct, kw_only=False):
    """Tokens that a local server's model takes; `settled` if the model is loaded with them."""

    tokens: int
    settled: bool


def served_window(base_url: str, model: str) -> ServedWindow | None:
    """What Ollama tells of a model's context window: of one that is loaded, else of how it is set up, else its longest.

    Ollama cuts a longer prompt without a word; what it takes by default depends on the machine's memory, and is known
    only while the model is loaded (docs.ollama.com/context-length, /api/ps and /api/show). None if it is no Ollama.
    """
    root = base_url.rstrip("/").removesuffix("/v1")
    running = _json(f"{root}/api/ps").get("models")
    if not isinstance(running, list):
        return None
    for item in running:
        length = item.get("context_length") if isinstance(item, Mapping) else None
        # The window that it is loaded with counts more than any setting.
        if isinstance(length, int) and length > 0 and item.get("name") in {model, f"{model}:latest"}:
            return ServedWindow(length, settled=True)
    shown = _json(f"{root}/api/show", {"model": model})
    set_up = _NUM_CTX.search(str(shown.get("parameters", "")))
    details = shown.get("model_info")
    lengths = [
        value
        for name, value in (details.items() if isinstance(details, Mapping) else ())
        if name.endswith(".context_length") and isinstance(value, int) and value > 0
    ]
    tokens = int(set_up[1]) if set_up else max(lengths, default=0)
    return ServedWindow(tokens, settled=False) if tokens else None


def served_models(base_url: str) -> tuple[str, ...] | None:
    """The names of the models that can be asked at a provider's `base_url`, in the server's order.

    One look of a second at most; nothing is sent but the request for the list. None if nobody answers with a list.
    """
    listed = read_json(_fetched(f"{base_url.rstrip('/')}/models"))
    if not isinstance(listed, Mapping) or listed.get("data", ()) is None:  # Ollama without a model answers so
        return () if isinstance(listed, Mapping) else None
    items = listed.get("data")
    if not isinstance(items, list):
        return None
    found = [item.get("id") for item in items if isinstance(item, Mapping)]
    names = [name for name in found if isinstance(name, str) and name and name.isprintable()]
    return tuple(name for name in names if not any(word in name.lower() for word in _NOT_FOR_CHAT))


def matching(wanted: str, names: tuple[str, ...]) -> str:
    """The name among `names` that means the model `wanted` (`qwen3` is `qwen3:latest`), else the first; or empty."""
    for name in (wanted, f"{wanted}:latest"):
        if name in names:
            return name
    return names[0] if names else ""


def _json(url: str, question: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    """The object that is answered; empty if there is none."""
    return mapping(read_json(_fetched(url, question)))


def _fetched(url: str, question: Mapping[str, str] | None = None) -> bytes:
    """The body of an answer with status 200; empty for any other, for none, and for one too long or too slow."""
    # A plain connection: it is asked before it is known whether any SDK is needed.
    import http.client  # noqa: PLC0415 - lazy: only where a local server may run

    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=LOOK_S)
    deadline = time.monotonic() + LOOK_S
    try:
        body = json.dumps(question) if question else None
        connection.request("POST" if body else "GET", parts.path, body, {"Accept": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            return b""
        answer = bytearray()
        while piece := response.read1(_PIECE):
            answer += piece
            # The socket's time limit begins anew with each piece; a server that drips must not hold up the start.
            if len(answer) > MAX_BYTES or time.monotonic() > deadline:
                return b""
        return bytes(answer)
    except (OSError, http.client.HTTPException, ValueError):
        return b""
    finally:
        connection.close()
