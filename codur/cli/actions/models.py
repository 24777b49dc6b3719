"""What `codur models` shows: each profile, its model, its key's variable, its price; and who answers, if asked to."""

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from codur.cli import machine
from codur.cli.printing import say_found
from codur.config.reading.origin import did_you_mean
from codur.config.settings import Profile, Settings
from codur.errors import CodurError, UsageError
from codur.llm.model import ChatRequest
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.llm.profiles.auto import AutoChoice
from codur.llm.profiles.endpoint import key_of
from codur.session.host import limits_of
from codur.structs import Struct, replace
from codur.types import EXIT_CODES, Message, Usage

_QUESTION = "Answer with the one word: ok"
_MAX_ANSWER_TOKENS = 400
"""Room for a model that thinks before it says a word."""


class ModelRow(Struct):
    """A profile."""

    profile: str
    model: str
    provider: str
    used: tuple[str, ...]  # what for: `default`, `fast`, `fallback`
    key: str  # where the key comes from: a variable's name, and whether it is set; empty if none is needed
    # price_in, price_out: US dollars per million tokens
    price_in: float
    price_out: float
    # problem, remedy: why it cannot be asked; empty if it could be
    problem: str = ""
    remedy: str = ""
    answered: bool | None = None  # whether it did; None if it was not asked
    # seconds, usage: of the answer
    seconds: float = 0.0
    usage: Usage = Usage()


def show_models(names: Sequence[str], directory: Path, config: Path | None, *, test_s: float | None, json: bool) -> int:
    """Print the profiles; with a test, what came of asking them.

    Returns:
        The exit code: 0; 3 if one that was asked did not answer, or none could be.
    """
    settings = machine.settings_for(machine.existing(directory), config, {}).settings
    pool = ModelPool(settings, os.environ, limits_of(settings), PoolOptions())
    choice = pool.profiles.chosen()
    rows = [_row(name, settings, pool, choice) for name in _named(names, settings)]
    if test_s:
        rows = [row if row.problem else _asked(row, settings, test_s) for row in rows]
    say_found({"auto": choice.reason, "models": rows}, _lines(rows, choice), as_json=json)
    fine = not test_s or (any(row.answered for row in rows) and all(row.answered is not False for row in rows))
    return 0 if fine else EXIT_CODES["no_model"]


def _named(names: Sequence[str], settings: Settings) -> Sequence[str]:
    known = list(settings.llm.profiles)
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no profile {name!r}", remedy=did_you_mean(name, known, f"There are: {', '.join(known)}.")
            )
    return names or known


def _row(name: str, settings: Settings, pool: ModelPool, choice: AutoChoice) -> ModelRow:
    profile = choice.profiles.get(name) or settings.llm.profiles[name]
    uses = {
        "default": choice.default if choice.found else "",
        "fast": choice.fast if choice.found else "",
        **{f"fallback {place}": other for place, other in enumerate(settings.llm.fallback_profiles, start=1)},
    }
    problem = pool.problem(name)
    return ModelRow(
        profile=name,
        model=profile.model,
        provider=profile.provider,
        used=tuple(use for use, whose in uses.items() if whose == name),
        key=_key(profile, settings),
        price_in=profile.price_in,
        price_out=profile.price_out,
        problem=problem,
        remedy=pool.why_unavailable(name).remedy if problem else "",
    )


def _key(profile: Profile, settings: Settings) -> str:
    provider = settings.providers[profile.provider]
    if not provider.api_key_env:
        return ""
    return f"{provider.api_key_env} is {'set' if key_of(provider, os.environ) else 'not set'}"


def _asked(row: ModelRow, settings: Settings, seconds: float) -> ModelRow:
    """The row, with what came of asking its model and no other."""
    alone = structs.replace(
        settings.llm, default_profile=row.profile, fast_profile=row.profile, fallback_profiles=(), max_attempts=1
    )
    settings = structs.replace(settings, llm=alone)
    pool = ModelPool(settings, os.environ, limits_of(settings), PoolOptions())
    begun = time.monotonic()
    try:
        usage = asyncio.run(_answer(pool, row.profile, seconds))
    except TimeoutError:
        return replace(row, answered=False, problem=f"it did not answer within {seconds:g} s")
    except CodurError as error:
        return replace(row, answered=False, problem=error.message, remedy=error.remedy)
    return replace(row, answered=True, seconds=round(time.monotonic() - begun, 2), usage=usage)


async def _answer(pool: ModelPool, profile: str, seconds: float) -> Usage:
    request = ChatRequest(
        messages=(Message(role="user", content=_QUESTION),), purpose="test", max_completion_tokens=_MAX_ANSWER_TOKENS
    )
    try:
        async with asyncio.timeout(seconds):
            return (await pool.complete(profile, request)).usage
    finally:
        await pool.close()


def _lines(rows: Sequence[ModelRow], choice: AutoChoice) -> list[str]:
    lines = []
    for row in rows:
        marks = {True: "✔ ", False: "✘ ", None: ""}
        used = f" ({', '.join(row.used)})" if row.used else ""
        free = "its price is not set" if row.key else "free"
        price = f"${row.price_in:g} in, ${row.price_out:g} out a million tokens" if row.price_out else free
        lines.append(f"{marks[row.answered]}{row.profile}{used}: {row.model} of {row.provider}")
        lines.append(f"    {row.key or 'no key needed'}; {price}")
        if row.answered:
            cost = f", ${row.usage.cost_usd:.6f}" if row.usage.cost_usd else ""
            lines.append(f"    answered in {row.seconds:.1f} s, {row.usage.total_tokens} tokens{cost}")
        elif row.answered is False:
            lines += [f"    {row.problem}", *([f"    → {row.remedy}"] if row.remedy else [])]
    return [*lines, f"auto: {choice.reason}"]
