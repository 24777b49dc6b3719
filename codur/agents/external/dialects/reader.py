"""What reads an agent's output: takes its events one by one, and knows at the end what it said and cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from codur.agents.external.protocol import Happening
from codur.types import Usage


class Reader(Protocol):
    """Reads the events of one run of an agent.

    Attributes:
        text: its last word so far.
        error: why it failed, as it says; empty if it does not.
    """

    text: str
    error: str

    @property
    def usage(self) -> Usage:
        """What it has told of its costs."""

    def take(self, event: Mapping[str, Any]) -> Iterable[Happening]:
        """Take one event, which may be anything; gives what happened."""
