"""What a terminal shows before a task has anything to say."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.cli.kit import codur, environment
from tests.support.terminal import Terminal

SHOWN = b"\x1b[2mstarting: "
ERASED = b"\r\x1b[2K"


def at_terminal(
    *words: str, cwd: Path, home: Path, stdout: Path | None = None, variables: Mapping[str, str] = MappingProxyType({})
) -> bytes:
    """All that a terminal gets from a command line."""
    program = [sys.executable, "-W", "error", "-m", "codur", *words]
    with Terminal(program, cwd=cwd, environ=environment(home, **variables), stdout=stdout) as terminal:
        terminal.ended()
        return terminal.bytes


@pytest.mark.parametrize("words", [("hello",), ("run", "hello"), ("-C", ".", "hello", "-v")])
def test_a_task_is_named_at_once_and_gives_way_to_what_it_says(
    words: tuple[str, ...], project: Path, home: Path
) -> None:
    shown = at_terminal(*words, cwd=project, home=home)
    assert shown.startswith(SHOWN + " ".join(words).encode() + b"\x1b[0m" + ERASED)
    assert shown.count(SHOWN) == 1
    assert b"Hello" in shown


def test_it_gives_way_to_an_error(project: Path, home: Path) -> None:
    assert at_terminal("rnu", "fix it", cwd=project, home=home).startswith(SHOWN + b"rnu fix it\x1b[0m" + ERASED)


@pytest.mark.parametrize(
    "words", [("hello", "--json"), ("hello", "--raw"), ("runs",), ("-C", ".", "runs"), ("run", "--help")]
)
def test_what_shows_no_progress_does_not_name_it(words: tuple[str, ...], project: Path, home: Path) -> None:
    assert SHOWN not in at_terminal(*words, cwd=project, home=home)


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"CI": "true"}])
def test_nor_where_terminal_codes_are_unwanted(variables: dict[str, str], project: Path, home: Path) -> None:
    shown = at_terminal("hello", cwd=project, home=home, variables=variables)
    assert b"\x1b" not in shown
    assert b"Hello" in shown


def test_nor_where_the_answer_goes_elsewhere(project: Path, home: Path) -> None:
    assert SHOWN not in at_terminal("hello", cwd=project, home=home, stdout=home / "answer")
    (project / "notes.txt").write_text("milk\n")
    assert codur("show notes.txt", cwd=project, home=home).out == "milk\n"
