"""What services have told of how large a request may be, kept between runs, so that the next one starts right.

{"<fingerprint>": {"model": "groq openai/gpt-oss-120b", "window": 131072, "a_minute": 8000, "seen": 1790000000}}
"""

import contextlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codur.config.settings import Profile
from codur.llm.rate_limits.demand import Most
from codur.store.atomic import write_private

KEPT_S = 7 * 86_400
"""Accounts and servers change: what nobody has told for so long is found out again."""
_MAX_BYTES = 1 << 20  # of a file that others may have damaged


class Remembered:
    """The file; one that is missing, damaged or unreadable remembers nothing, and no error comes of it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def recall(self, fingerprint: str, now: float) -> Most | None:
        """What was told for a model by an account (see `Endpoint.fingerprint`); None if that is not known any more."""
        entry = self._read(now).get(fingerprint)
        return Most(_figure(entry.get("window")), _figure(entry.get("a_minute"))) if entry else None

    def keep(self, fingerprint: str, profile: Profile, most: Most, now: float) -> None:
        """Keep what was told; nothing happens if nothing is known, or the file cannot be written."""
        figures = {"window": most.window, "a_minute": most.a_minute}
        told = {name: int(value) for name, value in figures.items() if value < math.inf}
        if not told:
            return
        entry = {"model": f"{profile.provider} {profile.model}", **told, "seen": int(now)}
        kept = {**self._read(now), fingerprint: entry}
        with contextlib.suppress(OSError):  # what is not remembered is found out again
            write_private(self._file, json.dumps(kept, indent=1).encode(), durable=False)

    def _read(self, now: float) -> dict[str, Mapping[str, Any]]:
        try:
            with self._file.open("rb") as stream:
                found = json.loads(stream.read(_MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        items = found.items() if isinstance(found, dict) else ()
        return {
            name: entry
            for name, entry in items
            if isinstance(entry, dict) and now - KEPT_S < _figure(entry.get("seen")) <= now
        }


def _figure(value: Any) -> float:
    is_number = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return float(value) if is_number else math.inf
