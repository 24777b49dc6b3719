"""One request as limits see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codur.llm.rate_limit import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A request that wants to be sent. Two of them are never the same one, even if they are equal.

    Attributes:
        provider, model: whom it asks: limits are kept for each pair.
        tokens: what it may cost at most, with the answer's.
        answer_tokens: the answer's part of them.
        cost_usd: what it may cost at most.
        estimate: the prompt's tokens before what is known of the model's way of counting was applied.
        requests_per_minute, tokens_per_minute: limits known beforehand; None: what the service tells.
        probes: the first such request goes alone, for its answer tells the limits.
    """

    provider: str
    tokens: int
    answer_tokens: int
    cost_usd: float
    model: str = ""
    estimate: int = 0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    probes: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """What the limits are kept for."""
        return self.provider, self.model

    def amount(self, unit: Unit) -> float:
        """What it takes of a limit; services count the longest possible answer in advance."""
        if unit == "requests":
            return 1.0
        if unit == "tokens":
            return float(self.tokens)
        return float(self.answer_tokens if unit == "output_tokens" else self.tokens - self.answer_tokens)
