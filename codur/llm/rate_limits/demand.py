"""What a request takes of a model's limits, and what is known of these beforehand."""

import math

from codur.llm.model import Unit
from codur.structs import Struct


class Rules(Struct):
    """What is known of a model's limits before it is asked; if it `probes`, the first request goes alone."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    probes: bool = False


class Most(Struct, kw_only=False):
    """The tokens that a request may come to, its answer among them; infinity where that is not known."""

    window: float = math.inf  # for the model's window
    a_minute: float = math.inf  # for the limit of a minute


class Demand(Struct, eq=False):
    """A request that wants to be sent."""

    # provider, model: whom it asks: limits are kept for each pair
    provider: str
    tokens: int  # what it may cost at most, with the answer's
    answer_tokens: int  # the answer's part of them
    cost_usd: float  # what it may cost at most
    model: str = ""
    estimate: int = 0  # the prompt's tokens before what is known of the model's way of counting was applied
    rules: Rules = Rules()  # what is known of the limits beforehand
    late_s: float = 0.0  # how long after it was let through it may still be on its way

    @property
    def place(self) -> tuple[str, str]:
        """What the limits are kept for."""
        return self.provider, self.model

    @property
    def prompt_tokens(self) -> int:
        """What of the tokens is not the answer's."""
        return self.tokens - self.answer_tokens

    def amount(self, unit: Unit) -> float:
        """What it takes of a limit; services count the longest possible answer in advance."""
        if unit == "requests":
            return 1.0
        if unit == "tokens":
            return float(self.tokens)
        return float(self.answer_tokens if unit == "output_tokens" else self.prompt_tokens)
