"""What an answer costs, by the prices of its profile."""

from codur.config.settings import Profile

PER_MILLION = 1_000_000


def cost_usd(
    profile: Profile, *, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0, written_tokens: int = 0
) -> float:
    """US dollars for an answer; tokens of the prompt may come from the service's cache, or have been put there."""
    # Services count cached tokens within the prompt's; the parts may not add up where a proxy counts by itself.
    fresh = max(0, prompt_tokens - cached_tokens - written_tokens)
    write = profile.price_in if profile.price_cache_write is None else profile.price_cache_write
    prompt = fresh * profile.price_in + cached_tokens * profile.price_cached + written_tokens * write
    return (prompt + completion_tokens * profile.price_out) / PER_MILLION
