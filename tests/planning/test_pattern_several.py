"""Requests that are a list of steps."""

from __future__ import annotations

import pytest

from codur.planning.patterns.classify import lists_steps


@pytest.mark.parametrize(
    "prompt",
    [
        'read a.py, replace "x" with "y" in b.py, run main.py and tell me what it prints',
        "1. read config.json\n2. set the port to 9000\n3. run server.py",
        "First find all callers of total, then rename it to amount, and finally run the tests.",
        "search for TODO and list the files; then write them to todo.txt. Report how many there are.",
        "Please open notes.txt, then append a line, and then show it.",
    ],
)
def test_a_list_of_steps(prompt: str) -> None:
    assert lists_steps(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "fix main.py",
        "fix main.py and run it",
        "what does read, write and run mean here?",
        "run main.py and run other.py and run third.py",
        'replace "read, write, run" with "go" in a.txt',
        "the program should read a file, sort it and print it",
        "",
        "```\nread a\nwrite b\nrun c\n```",
    ],
)
def test_other_requests(prompt: str) -> None:
    assert not lists_steps(prompt)
