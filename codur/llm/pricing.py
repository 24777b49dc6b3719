"""What an answer costs, by the prices of its profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codur.config.settings import Profile

PER_MILLION = 1_000_000


def cost_usd(profile: Profile, *, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
    """US dollars for one answer; `cached_tokens` are the part of `prompt_tokens` that the service had seen before."""
    fresh = max(0, prompt_tokens - cached_tokens)
    total = fresh * profile.price_in + cached_tokens * profile.price_cached + completion_tokens * profile.price_out
    return total / PER_MILLION
