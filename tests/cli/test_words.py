"""A word that is no command is a task."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codur.cli import app, plain_words
from codur.cli.default_command import COMMIT_OPTIONS, TASK_COMMAND, VALUE_OPTIONS, with_command
from codur.errors import UsageError
from tests.cli.kit import codur_here

COMMANDS = ("run", "route", "solve", "config")
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
        (["please commit this"], ["commit"]),
        (["-C", "x", "commit everything with message 'a b'"], ["commit", "--all", "--message=a b", "-C", "x"]),
        (["commit", "this"], ["commit"]),
        (["commit it", "--yes"], ["run", "commit it", "--yes"]),
        (["-y", "commit everything"], ["run", "-y", "commit everything"]),
        (["--", "commit this"], ["run", "--", "commit this"]),
        (["-C/a b/two  dirs", "fix total"], ["run", "-C/a b/two  dirs", "fix total"]),
        (["--json", "--config should take a file, too"], ["run", "--json", "--", "--config should take a file, too"]),
        (["--hint=a b c", "fix it"], ["run", "--hint=a b c", "fix it"]),
    ],
)
def test_with_command(typed: list[str], understood: list[str]) -> None:
    assert with_command(typed, commands=COMMANDS, app_options=APP) == understood


@pytest.mark.parametrize(
    ("typed", "near"),
    [(["solv", "dir"], "solve"), (["rout", "x"], "route"), (["confg"], "config"), (["solves"], "solve")],
)
def test_a_misspelt_command_is_no_task(typed: list[str], near: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean {near}"):
        with_command(typed, commands=COMMANDS, app_options=APP)


@pytest.mark.parametrize("typed", [["resolve", "the", "conflict"], ["--", "solv"], ["find", "bugs"], ["hello"]])
def test_other_words_are_tasks(typed: list[str]) -> None:
    assert with_command(typed, commands=COMMANDS, app_options=APP) == ["run", *typed]


PARSED = ("-C", ".")
"""An option that changes nothing, so that the parser is asked."""


@pytest.mark.parametrize(
    "words",
    [
        ("list files",),
        ("run", "show", "notes.txt"),
        ("fix notes.txt", "--offline"),
        ("route", "fix", "main.py"),
        ("route", "list files", "--offline"),
        ("route", " "),
        ("runs",),
        ("runs", "x"),
        ("diff",),
        ("diff", "nothing"),
        ("show",),
        ("",),
        ("--offline",),
    ],
)
def test_words_alone_mean_what_the_parser_takes_them_for(words: tuple[str, ...], tmp_path: Path) -> None:
    told = []
    for name, more in (("plain", ()), ("parsed", PARSED)):
        place = tmp_path / name / "project"
        place.mkdir(parents=True)
        (place / "notes.txt").write_text("milk\n")
        if words[0] in {"runs", "diff", "show"}:
            codur_here("list files", *PARSED, cwd=place, home=tmp_path / name)
        ran = codur_here(*words, *more, cwd=place, home=tmp_path / name)
        told.append(
            (ran.code, len(ran.out.splitlines()), re.sub(rf"[\d.]+ s$|{name}", "", ran.err, flags=re.MULTILINE))
        )
    assert told[0] == told[1]


def test_the_parser_has_the_commands_that_are_known_without_it() -> None:
    assert set(plain_words.COMMANDS) == set(app.NAMES)


def test_the_parser_has_the_options_of_a_commit_that_are_known_without_it() -> None:
    parameters = app.program(["commit"]).commands["commit"].params
    known = {name for parameter in parameters for name in parameter.opts if name.startswith("-")}
    assert set(COMMIT_OPTIONS) == known - {"--help", "-h"}


def test_the_parser_has_the_options_with_values_that_are_known_without_it() -> None:
    parameters = app.program([TASK_COMMAND]).commands[TASK_COMMAND].params
    assert set(VALUE_OPTIONS) == {
        name
        for parameter in parameters
        if not getattr(parameter, "is_flag", False)
        for name in parameter.opts
        if name.startswith("-")
    }
