"""What comes of a stream: pieces of text while it lasts, and in the end a body as it would have come in one piece."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from codur.llm.services.event_stream import ServerEvent


class StreamError(Exception):
    """An event says that the answer has failed, or cannot be read.

    Attributes:
        body: the decoded event.
        status: the HTTP status that stands for it.
    """

    def __init__(self, body: Mapping[str, Any], status: int) -> None:
        super().__init__(status)
        self.body = body
        self.status = status


class UnreadableEventError(Exception):
    """An event is not what the protocol allows."""


class Collector(Protocol):
    """Puts the events of one answer together."""

    @property
    def ended(self) -> bool:
        """Whether the stream has said that the answer is whole."""

    def add(self, event: ServerEvent) -> str:
        """Take an event; gives the text that it adds to the answer.

        Raises:
            StreamError: it tells an error.
            UnreadableEventError: it cannot be read.
        """

    def body(self) -> dict[str, Any]:
        """What has come so far, as the service would have sent it in one piece; complete if `ended`."""


def decoded(event: ServerEvent) -> Mapping[str, Any]:
    """The object that an event's data holds.

    Raises:
        UnreadableEventError: it holds none.
    """
    try:
        value = json.loads(event.data)
    except (ValueError, RecursionError):
        raise UnreadableEventError from None
    if not isinstance(value, Mapping):
        raise UnreadableEventError
    return value
