"""What a worker needs to know before its first challenge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import structs

from codur.config.settings import Settings
from codur.session.host import Host
from codur.structs import Struct, field, names
from codur.types import Limits


class Keeping(Struct):
    """What is kept of each attempt."""

    below: str = ""  # the directory of all; empty keeps nothing
    exchange: bool = False  # also requests and answers
    log: bool = False  # also a log in words of all that happened
    prompts: bool = False  # requests are shown as they are sent


class Place(Struct):
    """Where a batch runs; see `Host`."""

    environ: dict[str, str]
    home: Path
    state: Path | None = None
    cache: Path | None = None

    @staticmethod
    def of(host: Host) -> Place:
        """That of a host."""
        return Place(environ=dict(host.environ), home=host.home, state=host.state, cache=host.cache)


class Funds(Struct):
    """What all workers of a batch may spend together, and what was spent before."""

    # max_tokens, max_cost_usd: None is no limit
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    # tokens, cost_usd: what was spent before
    tokens: int = 0
    cost_usd: float = 0.0

    @property
    def funds(self) -> dict[str, Any]:
        """These alone, by their names."""
        return {name: getattr(self, name) for name in names(Funds)}


class Setup(Funds):
    """The same for all challenges of a batch."""

    settings: Settings
    limits: Limits
    place: Place
    offline: bool = False
    jobs: int = 1  # challenges at the same time
    processors: int = 1  # programs that can run at full speed at the same time
    in_place: bool = False  # write what is solved back to the challenge's own directory
    keeping: Keeping = field(default_factory=Keeping)  # what is kept of each attempt

    @property
    def host(self) -> Host:
        """What runs of the batch take from the machine."""
        place = self.place
        return Host(environ=place.environ, home=place.home, state=place.state, cache=place.cache)


def side_by_side(setup: Setup) -> Settings:
    """The settings for a run that is one of several: the processors are shared."""
    settings = setup.settings
    if settings.repair.workers:
        return settings
    workers = max(1, setup.processors // min(setup.jobs, setup.processors))
    return structs.replace(settings, repair=structs.replace(settings.repair, workers=workers))
