"""What a worker needs to know before its first challenge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import structs, to_builtins

from codur.config.settings import Settings
from codur.session.host import Host
from codur.structs import Struct, convert, field
from codur.types import Limits


class Keeping(Struct):
    """What is kept of each attempt.

    Attributes:
        below: the directory of all; empty keeps nothing.
        exchange: also requests and answers.
        log: also a log in words of all that happened.
        prompts: requests are shown as they are sent.
    """

    below: str = ""
    exchange: bool = False
    log: bool = False
    prompts: bool = False


class Setup(Struct):
    """The same for all challenges of a batch.

    Attributes:
        jobs: challenges at the same time.
        processors: programs that can run at full speed at the same time.
        max_tokens, max_cost_usd: for the whole batch; None is no limit.
        tokens, cost_usd: what was spent before.
        in_place: write what is solved back to the challenge's own directory.
        keeping: what is kept of each attempt.
    """

    settings: Settings
    limits: Limits
    host: Host
    offline: bool = False
    jobs: int = 1
    processors: int = 1
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    tokens: int = 0
    cost_usd: float = 0.0
    in_place: bool = False
    keeping: Keeping = field(default_factory=Keeping)

    def to_json(self) -> dict[str, Any]:
        """The setup as plain JSON types."""
        host = self.host
        paths = {"home": host.home, "state": host.state, "cache": host.cache}
        return {
            "settings": to_builtins(self.settings),
            "limits": to_builtins(self.limits),
            "host": {"environ": dict(host.environ)} | {key: path and str(path) for key, path in paths.items()},
            "keeping": to_builtins(self.keeping),
            **{name: getattr(self, name) for name in _PLAIN},
        }


_PLAIN = ("offline", "jobs", "processors", "max_tokens", "max_cost_usd", "tokens", "cost_usd", "in_place")


def setup_from(value: Mapping[str, Any]) -> Setup:
    """What `Setup.to_json` was called on."""
    host = value["host"]
    return Setup(
        settings=convert(value["settings"], Settings),
        limits=Limits(**value["limits"]),
        keeping=Keeping(**value["keeping"]),
        host=Host(
            environ=host["environ"],
            home=Path(host["home"]),
            state=Path(host["state"]) if host["state"] else None,
            cache=Path(host["cache"]) if host["cache"] else None,
        ),
        **{name: value[name] for name in _PLAIN},
    )


def side_by_side(setup: Setup) -> Settings:
    """The settings for a run that is one of several: the processors are shared."""
    settings = setup.settings
    if settings.repair.workers:
        return settings
    workers = max(1, setup.processors // min(setup.jobs, setup.processors))
    return structs.replace(settings, repair=structs.replace(settings.repair, workers=workers))
