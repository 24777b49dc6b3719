"""JSON of a program that the settings describe: where in its object, or in each of its lines, what lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codur.agents.external.dialects.event_values import amount, at, count, text
from codur.agents.external.protocol import Happening, Said
from codur.types import Usage


class PlainReader:
    """See `reader.Reader`. The last value that is there counts.

    Args:
        answer: dotted paths, as in the settings.
    """

    def __init__(self, answer: Mapping[str, str]) -> None:
        self._answer = answer
        self.text = ""
        self.error = ""
        self._counts: dict[str, int] = {}
        self._cost = 0.0

    @property
    def usage(self) -> Usage:
        """What it told; nothing if it told nothing."""
        if not self._counts and not self._cost:
            return Usage()
        return Usage(calls=1, cost_usd=self._cost, **self._counts)

    def take(self, event: Mapping[str, Any]) -> Iterator[Happening]:
        """Take one object."""
        found = {key: at(event, path) for key, path in self._answer.items()}
        said = text(found.get("text"))
        if said:
            self.text = said
            yield Said(text=said)
        self.error = text(found.get("error")) or self.error
        self._cost = amount(found.get("cost_usd")) or self._cost
        for key in ("prompt_tokens", "cached_tokens", "completion_tokens"):
            if count(found.get(key)):
                self._counts[key] = count(found.get(key))
