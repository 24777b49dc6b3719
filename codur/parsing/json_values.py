"""Values of JSON that may be anything: each reader gives the type that is wanted, or nothing of it."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

_MOST = 10**12


def read_json(data: bytes | str, default: Any = None) -> Any:
    """The value of a JSON text; `default` if it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):  # not JSON, not UTF-8, a number of too many digits, or nested too deeply
        return default


def text(value: Any, limit: int | None = None) -> str:
    """A text, cut to its limit if there is one; empty if it is none."""
    return value[:limit] if isinstance(value, str) else ""


def mapping(value: Any) -> Mapping[str, Any]:
    """A mapping; an empty one if it is none."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> Sequence[Any]:
    """A list; an empty one if it is none."""
    return value if isinstance(value, list) else ()


def count(value: Any) -> int:
    """A whole number from 0 up; 0 if it is none, or no sensible one."""
    return int(amount(value))


def amount(value: Any) -> float:
    """A number from 0 up; 0 if it is none, or no sensible one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if math.isfinite(value) and 0 <= value <= _MOST else 0.0


def at(value: Any, path: str) -> Any:
    """What lies at a dotted path (`choices.0.message`); None if there is nothing."""
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.lstrip("-").isdigit():
            index = int(part) if len(part) < 8 else len(value)
            value = value[index] if -len(value) <= index < len(value) else None
        else:
            return None
    return value
