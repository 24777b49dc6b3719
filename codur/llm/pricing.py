"""What an answer costs, by the prices of its profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codur.config.settings import Profile

PER_MILLION = 1_000_000


def cost_usd(
    profile: Profile, *, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0, written_tokens: int = 0
) -> float:
    """US dollars for one answer.

    Args:
        cached_tokens, written_tokens: the parts of `prompt_tokens` that came from the service's cache, and that were
            put there.
    """
    # Services count cached tokens within the prompt's; the parts may not add up where a proxy counts by itself.
    fresh = max(0, prompt_tokens - cached_tokens - written_tokens)
    write = profile.price_in if profile.price_cache_write is None else profile.price_cache_write
    prompt = fresh * profile.price_in + cached_tokens * profile.price_cached + written_tokens * write
    return (prompt + completion_tokens * profile.price_out) / PER_MILLION
