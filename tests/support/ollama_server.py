"""A server that looks like Ollama: its chat at `/v1`, and what it tells of its models at `/v1/models` and `/api`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.groq_server import GroqServer, Replies, ServerReply


class OllamaServer(GroqServer):
    """The server; `openai_url` is its base URL.

    Args:
        models: what is pulled.
        listing: what is answered to a look at the list, instead of it.
        shown: what `/api/show` tells of a model.
    """

    def __init__(
        self,
        models: Sequence[str],
        replies: Replies = (),
        *,
        listing: ServerReply | None = None,
        shown: Mapping[str, Any] | None = None,
    ) -> None:
        listed = [{"id": name, "object": "model", "created": 1, "owned_by": "library"} for name in models]
        models_reply = ServerReply(body={"object": "list", "data": listed or None})
        tags = ServerReply(body={"models": [{"name": name, "model": name, "size": 1} for name in models]})
        gets = {"/v1/models": listing or models_reply, "/api/tags": tags}
        super().__init__(replies, gets=gets, posts={"/api/show": ServerReply(body=shown or {})})
        self.load()

    def load(self, **lengths: int) -> None:
        """From now on these models are loaded, each with a context of so many tokens."""
        running = [{"name": name, "model": name, "context_length": length} for name, length in lengths.items()]
        self.gets["/api/ps"] = ServerReply(body={"models": running})

    def __enter__(self) -> OllamaServer:
        super().__enter__()
        return self
