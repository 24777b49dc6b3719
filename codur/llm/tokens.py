"""A rough token count that needs no tokenizer, and what an answer costs, by the prices of its profile.

English text and source code come to about four bytes a token with current tokenizers; 3.5 is on the safe side. Bytes
of UTF-8 are counted, not characters, because scripts outside ASCII need more tokens a character.
"""

import json
import math

from codur.config.settings import Profile
from codur.llm.model import ChatRequest

BYTES_PER_TOKEN = 3.5
TOKENS_PER_MESSAGE = 4  # the marks around a message, in the chat formats of the common models
SMALLEST_ANSWER = 256
"""An answer is never limited below this to make room for a long prompt; the service decides then."""


def estimate_tokens(text: str) -> int:
    """The estimated number of tokens of `text`."""
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def prompt_chars(request: ChatRequest) -> int:
    """Characters of the request's messages, tools and schema."""
    return sum(len(part) for part in _parts(request))


def prompt_tokens(request: ChatRequest) -> int:
    """The estimated number of prompt tokens of `request`, tools and schema included."""
    return sum(estimate_tokens(part) for part in _parts(request)) + TOKENS_PER_MESSAGE * len(request.messages)


def answer_tokens(request: ChatRequest, profile: Profile) -> int:
    """The answer's limit in tokens: what was asked for, less what the prompt leaves of the profile's `request_tokens`.

    A service that counts prompt and limit together in advance refuses a request that is over its allowance.
    """
    wanted = request.max_completion_tokens or profile.max_completion_tokens
    room = profile.request_tokens - prompt_tokens(request)
    return min(wanted, max(room, SMALLEST_ANSWER))


def _parts(request: ChatRequest) -> list[str]:
    parts = [message.content for message in request.messages]
    for call in (call for message in request.messages for call in message.tool_calls):
        parts += [call.name, json.dumps(dict(call.arguments), ensure_ascii=False, default=str)]
    for tool in request.tools:
        parts += [tool.name, tool.description, json.dumps(tool.parameters, ensure_ascii=False, default=str)]
    if request.schema is not None and not request.tools:
        parts.append(json.dumps(request.schema, ensure_ascii=False, default=str))
    return parts


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
