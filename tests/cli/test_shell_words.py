"""What a shell is told: words to complete, the help of each command on a screen, the man page."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codur.cli.app import program
from tests.cli.kit import ROOT, codur
from tests.runs.kit import fill
from tests.support.man_page import man_page

SCREEN = (24, 80)
LONG = ("codur", "codur run", "codur solve", "codur repair")
"""Commands with more options than a screen has lines."""


def commands(name: str, command: Any, parent: Any = None) -> Iterator[tuple[str, str]]:
    """Each command with its help, as a terminal of 80 columns shows it."""
    context = command.make_context(name, [], parent=parent, resilient_parsing=True, terminal_width=SCREEN[1])
    yield name, context.get_help()
    for inner, below in getattr(command, "commands", {}).items():
        yield from commands(f"{name} {inner}", below, context)


HELP = dict(commands("codur", program()))


@pytest.mark.parametrize("name", HELP)
def test_the_help_of_each_command_fits_on_a_screen(name: str) -> None:
    lines = HELP[name].splitlines()
    assert max(map(len, lines)) <= SCREEN[1]
    assert name in LONG or len(lines) <= SCREEN[0]


def test_the_man_page_is_that_of_now(tmp_path: Path) -> None:
    page = man_page()
    # To renew: python -m tests.support.man_page >docs/codur.1
    assert (ROOT / "docs" / "codur.1").read_text() == page
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("no groff")
    done = subprocess.run(
        [groff, "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stderr == ""
    assert "Set one value in a settings file" in done.stdout


@pytest.mark.parametrize(
    ("shell", "words", "found"),
    [
        ("bash", "codur agents show c", "claude_code"),
        ("bash", "codur run --agent llm:gpt", "llm:gpt-oss-120b"),
        ("zsh", "codur tools --after git_b", "git_blame"),
        ("fish", "codur models loc", "local"),
        ("fish", "codur undo ", "RUN"),
        ("bash", "codur config se", "set"),
    ],
)
def test_words_are_completed(shell: str, words: str, found: str, project: Path, home: Path) -> None:
    if found == "RUN":
        fill(project, {"notes.txt": "milk\n"})
        assert codur("show me notes.txt", cwd=project, home=home).code == 0
        (found,) = (path.name for path in (home / ".local/state/codur/runs").iterdir())
    asked = {
        "bash": {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))},
        "zsh": {"_TYPER_COMPLETE_ARGS": words},
        "fish": {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }
    ran = codur(cwd=project, home=home, stdin=b"", _CODUR_COMPLETE=f"complete_{shell}", **asked[shell])
    assert found in ran.out.replace('"', " ").split(), ran.out + ran.err
