"""What `codur solve` was asked for, and the words that ask for the rest of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codur.batch.results.earlier import Mode
from codur.cli.solve_display import ShownAs, short
from codur.structs import Struct


class Which(Struct):
    """Which work: see `work_of`."""

    agents: tuple[str, ...] = ()
    attempts: int = 1
    pattern: str = ""
    limit: int | None = None


class How(Struct):
    """How it is done; `jobs` of None stands for the number of processors, `yes` approves of any plan.

    `record` keeps requests and answers, and `prompts` shows requests.
    """

    jobs: int | None = None
    budget_usd: float | None = None
    max_tokens: int | None = None
    offline: bool = False
    in_place: bool = False
    no_sandbox: bool = False
    yes: bool = False
    record: bool = False
    prompts: bool = False


class Where(Struct):
    """Where results go, and what becomes of those that are there."""

    results: Path | None = None
    mode: Mode = "new"
    junit: Path | None = None


def resume_words(
    directories: Sequence[Path],
    results: Path,
    which: Which,
    how: How,
    where: Where,
    shown: ShownAs,
    *,
    config: Path | None,
    overrides: Mapping[str, Any],
) -> str:
    """What to type to go on with the same batch: with other settings, the same challenges would be other work.

    Args:
        results: the directory of results.
        overrides: of `options.overrides`.
    """
    words = [*_valued(which, how, where, config, overrides), *_flags(how, shown)]
    # what failed again since is done once more: nothing tells it from what is still to be done again
    mode = "--rerun-failed" if where.mode == "rerun_failed" else "--resume"
    places = [str(directory) for directory in directories]
    first, last = (places, []) if not any(place.startswith("-") for place in places) else ([], ["--", *places])
    return shlex.join(["codur", "solve", *first, *words, mode, "--results", short(results), *last])


def _valued(which: Which, how: How, where: Where, config: Path | None, overrides: Mapping[str, Any]) -> list[str]:
    runtime: Mapping[str, Any] = overrides.get("runtime", {})
    scope: Mapping[str, Any] = overrides.get("scope", {})
    coding: Mapping[str, Any] = overrides.get("agents", {}).get("coding", {})
    values: list[tuple[str, object]] = [
        *(("--agent", name) for name in which.agents),
        ("--attempts", which.attempts if which.attempts > 1 else None),
        ("--filter", which.pattern or None),
        ("--limit", which.limit),
        ("--jobs", how.jobs),
        ("--timeout", runtime.get("max_runtime_s")),
        ("--max-llm-calls", runtime.get("max_llm_calls")),
        ("--max-iterations", runtime.get("max_iterations")),
        ("--budget", how.budget_usd),
        ("--max-tokens", how.max_tokens),
        *(("--scope", glob) for glob in scope.get("allow", ())),
        ("--max-files", scope.get("max_files")),
        ("--samples", coding.get("samples")),
        ("--config", config),
        ("--junit", where.junit),
    ]
    return [word for name, value in values if value is not None for word in (name, str(value))]


def _flags(how: How, shown: ShownAs) -> list[str]:
    flags = [
        ("--offline", how.offline),
        ("--in-place", how.in_place),
        ("--no-sandbox", how.no_sandbox),
        ("--yes", how.yes),
        ("--record", how.record),
        ("--show-prompts", how.prompts),
        ("--json", shown.json),
        ("--quiet", shown.quiet),
    ]
    return [name for name, is_given in flags if is_given]
