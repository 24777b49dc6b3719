"""A rate limit as a service tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["requests", "tokens", "input_tokens", "output_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One limit as it stood when a response was made.

    Attributes:
        limit, remaining: of `unit`.
        reset_s: seconds until all of it is there again.
    """

    unit: Unit
    limit: float
    remaining: float
    reset_s: float
