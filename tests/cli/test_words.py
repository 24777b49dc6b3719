"""A word that is no command is a task."""

from __future__ import annotations

import pytest

from codur.cli.default_command import with_command
from codur.errors import UsageError

COMMANDS = ("run", "route", "solve", "config")
VALUES = ("-C", "--directory", "--check")
APP = ("--help", "-h", "--version")


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ([], []),
        (["fix main.py"], ["run", "fix main.py"]),
        (["fix", "main.py"], ["run", "fix", "main.py"]),
        (["-C", "route", "fix main.py"], ["run", "-C", "route", "fix main.py"]),
        (["-C", "x", "route", "fix main.py"], ["route", "-C", "x", "fix main.py"]),
        (["--check=make test", "fix it"], ["run", "--check=make test", "fix it"]),
        (["--json", "solve", "dir"], ["solve", "--json", "dir"]),
        (["run", "route"], ["run", "route"]),
        (["solve the riddle"], ["run", "solve the riddle"]),
        (["--", "solve"], ["run", "--", "solve"]),
        (["-"], ["run", "-"]),
        (["--help"], ["--help"]),
        (["config", "--help"], ["config", "--help"]),
        (["--json"], ["run", "--json"]),
        (["--unknown", "fix"], ["run", "--unknown", "fix"]),
    ],
)
def test_with_command(typed: list[str], understood: list[str]) -> None:
    assert with_command(typed, commands=COMMANDS, value_options=lambda: VALUES, app_options=APP) == understood


@pytest.mark.parametrize(
    ("typed", "near"),
    [(["solv", "dir"], "solve"), (["rout", "x"], "route"), (["confg"], "config"), (["solves"], "solve")],
)
def test_a_misspelt_command_is_no_task(typed: list[str], near: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean {near}"):
        with_command(typed, commands=COMMANDS, value_options=lambda: VALUES, app_options=APP)


@pytest.mark.parametrize("typed", [["resolve", "the", "conflict"], ["--", "solv"], ["find", "bugs"], ["hello"]])
def test_other_words_are_tasks(typed: list[str]) -> None:
    assert with_command(typed, commands=COMMANDS, value_options=lambda: VALUES, app_options=APP) == ["run", *typed]
