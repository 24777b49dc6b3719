"""A rate limit as a service tells it."""

from typing import Literal

from codur.structs import Struct

Unit = Literal["requests", "tokens", "input_tokens", "output_tokens"]


class Quota(Struct):
    """One limit as it stood when a response was made; in `reset_s` seconds all of it is there again."""

    unit: Unit
    limit: float
    remaining: float
    reset_s: float
