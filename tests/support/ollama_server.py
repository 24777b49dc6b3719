"""A server that looks like Ollama: its chat at `/v1`, and the list of its models at `/v1/models` and `/api/tags`."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.groq_server import GroqServer, Replies, ServerReply


class OllamaServer(GroqServer):
    """The server; `openai_url` is its base URL.

    Args:
        models: what is pulled.
        listing: what is answered to a look at the list, instead of it.
    """

    def __init__(self, models: Sequence[str], replies: Replies = (), *, listing: ServerReply | None = None) -> None:
        listed = [{"id": name, "object": "model", "created": 1, "owned_by": "library"} for name in models]
        models_reply = ServerReply(body={"object": "list", "data": listed or None})
        tags = ServerReply(body={"models": [{"name": name, "model": name, "size": 1} for name in models]})
        super().__init__(replies, gets={"/v1/models": listing or models_reply, "/api/tags": tags})
