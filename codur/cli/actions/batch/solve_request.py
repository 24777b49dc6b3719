"""What `codur solve` was asked for, and the words that ask for the rest of it."""

import shlex
from pathlib import Path
from typing import Any, Literal

from codur.batch.results.earlier import Mode
from codur.cli import options
from codur.structs import Struct, replace

_NOT_AGAIN = frozenset({"directories", "results", "mode", "list_only"})
"""What is not asked for in the same words when a batch is gone on with."""


class SolveRequest(Struct):
    """The options, each under its own name."""

    directories: tuple[Path, ...] = ()
    dataset: Path | None = None
    agent: tuple[str, ...] = ()
    attempts: int = 1
    only: tuple[str, ...] = ()  # of `--filter`
    limit: int | None = None
    jobs: int | None = None  # None stands for the number of processors
    engine: Literal["local", "ray"] = "local"
    # address, resource: of a Ray cluster; see `Cluster`
    address: str = ""
    resource: tuple[str, ...] = ()
    timeout: float | None = None
    max_llm_calls: int | None = None
    max_iterations: int | None = None
    # budget, max_tokens: for the whole batch
    budget: float | None = None
    max_tokens: int | None = None
    scope: tuple[str, ...] = ()
    max_files: int | None = None
    samples: str | None = None
    config: Path | None = None
    junit: Path | None = None
    offline: bool = False
    in_place: bool = False
    no_sandbox: bool = False
    yes: bool = False
    record: bool = False
    show_prompts: bool = False
    json: bool = False
    quiet: bool = False
    list_only: bool = False
    results: Path | None = None
    mode: Mode = "new"  # what becomes of results that are there

    def overrides(self) -> dict[str, dict[str, Any]]:
        """The settings that the options stand for."""
        return options.overrides(
            no_sandbox=self.no_sandbox,
            scope=self.scope,
            max_files=self.max_files,
            samples=self.samples,
            max_llm_calls=self.max_llm_calls,
            max_iterations=self.max_iterations,
            max_runtime_s=self.timeout,
        )

    def with_twice_the_budget(self) -> "SolveRequest":
        """The same with twice what the whole batch may spend."""
        budget, tokens = self.budget and 2 * self.budget, self.max_tokens and 2 * self.max_tokens
        return replace(self, budget=budget, max_tokens=tokens)

    def resume_words(self, results: str) -> str:
        """What to type to go on with the same batch: with other settings, the same challenges would be other work.

        Args:
            results: the directory of results.
        """
        plain, words = SolveRequest(), list[str]()
        for name in SolveRequest.__annotations__:
            value = getattr(self, name)
            if name in _NOT_AGAIN or value == getattr(plain, name):
                continue
            option = "--filter" if name == "only" else "--" + name.replace("_", "-")
            for each in value if isinstance(value, tuple) else (value,):
                words += [option] if each is True else [option, str(each)]
        # what failed again since is done once more: nothing tells it from what is still to be done again
        mode = "--rerun-failed" if self.mode == "rerun_failed" else "--resume"
        places = [str(directory) for directory in self.directories]
        first, last = (places, []) if not any(place.startswith("-") for place in places) else ([], ["--", *places])
        return shlex.join(["codur", "solve", *first, *words, mode, "--results", results, *last])
