"""The words that go on with a batch: all that was asked for, as it can be typed."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from codur.batch.results.earlier import Mode
from codur.cli.actions.batch.solve_request import SolveRequest
from codur.cli.commands.batch import solve

EVERYTHING: dict[str, Any] = {
    "dataset": Path("t.jsonl"),
    "agent": ("a", "llm:b"),
    "attempts": 3,
    "only": ("x y*",),
    "limit": 7,
    "jobs": 4,
    "engine": "ray",
    "address": "h:1",
    "resource": ("agent=1",),
    "budget": 1.5,
    "max_tokens": 9,
    "offline": True,
    "in_place": True,
    "no_sandbox": True,
    "yes": True,
    "record": True,
    "show_prompts": True,
    "results": Path("out"),
    "junit": Path("j.xml"),
    "json": True,
    "quiet": True,
    "list_only": True,
    "config": Path("c.yaml"),
    "scope": ("*.py", "a b"),
    "max_files": 2,
    "samples": "3",
    "max_llm_calls": 5,
    "max_iterations": 6,
    "timeout": 8.5,
}


def words(*directories: str, mode: Mode = "new", given: Mapping[str, Any] = EVERYTHING) -> list[str]:
    """What is said, for all that can be asked for if nothing else is given."""
    request = SolveRequest(directories=tuple(map(Path, directories)), mode=mode, **given)
    return shlex.split(request.resume_words("/nowhere/out"))


def test_everything_that_was_asked_for_is_asked_for_again() -> None:
    assert words("given", "more of it") == [
        *(
            "codur",
            "solve",
            "given",
            "more of it",
            "--dataset",
            "t.jsonl",
            "--agent",
            "a",
            "--agent",
            "llm:b",
            "--attempts",
            "3",
        ),
        *(
            "--filter",
            "x y*",
            "--limit",
            "7",
            "--jobs",
            "4",
            "--engine",
            "ray",
            "--address",
            "h:1",
            "--resource",
            "agent=1",
            "--timeout",
            "8.5",
            "--max-llm-calls",
            "5",
        ),
        *("--max-iterations", "6", "--budget", "1.5", "--max-tokens", "9", "--scope", "*.py", "--scope", "a b"),
        *(
            "--max-files",
            "2",
            "--samples",
            "3",
            "--config",
            "c.yaml",
            "--junit",
            "j.xml",
            "--offline",
            "--in-place",
            "--no-sandbox",
        ),
        *("--yes", "--record", "--show-prompts", "--json", "--quiet", "--resume", "--results", "/nowhere/out"),
    ]


def test_no_option_is_forgotten() -> None:
    parameters = set(inspect.signature(solve).parameters)
    left_out = {"directories", "list_only", "fresh", "rerun_failed"}
    named = {"--" + name.replace("_", "-") for name in parameters - left_out}
    assert (named - {"--only"}) | {"--filter"} == {word for word in words("given") if word.startswith("--")}


@pytest.mark.parametrize(
    ("mode", "option"),
    [("new", "--resume"), ("fresh", "--resume"), ("resume", "--resume"), ("rerun_failed", "--rerun-failed")],
)
def test_going_on_again_is_going_on(mode: Mode, option: str) -> None:
    assert words("given", mode=mode)[-3:] == [option, "--results", "/nowhere/out"]


def test_little_is_said_where_little_was_asked_for() -> None:
    assert words("given", given={}) == ["codur", "solve", "given", "--resume", "--results", "/nowhere/out"]
    said = words("given", "-x", given={})
    assert said == ["codur", "solve", "--resume", "--results", "/nowhere/out", "--", "given", "-x"]
