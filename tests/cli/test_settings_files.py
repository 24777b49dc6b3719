"""`codur init` and `codur config set`: what is written, and what is refused before anything is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.kit import Ran, codur_here
from tests.runs.kit import REPAIRABLE, fill

MINE = """\
# mine
runtime:
  max_llm_calls: 40  # enough
  max_cost_usd: 1.5

llm:
  default_profile: "auto"  # for now
"""


def here(project: Path, home: Path, *words: str) -> Ran:
    return codur_here(*words, cwd=project, home=home)


def test_a_project_file_says_what_was_found_and_every_line_of_it_counts(project: Path, home: Path) -> None:
    fill(project, REPAIRABLE)
    asked = here(project, home, "init")
    assert (asked.code, "codur init --yes" in asked.err) == (5, True)
    assert not (project / "codur.yaml").exists()
    done = json.loads(here(project, home, "init", "--json").out)
    assert done["file"] == str(project / "codur.yaml")
    text = (project / "codur.yaml").read_text()
    assert "Found here: `python main.py` prints" in text or done["check"] in text
    assert here(project, home, "config", "check").code == 0
    lines = [
        line.replace("  # ", "  ") if ": " in line and line.startswith("  # ") else line for line in text.split("\n")
    ]
    (project / "codur.yaml").write_text("\n".join(lines))
    assert here(project, home, "trust", "--yes").code == 0
    checked = here(project, home, "config", "check")
    assert checked.code == 0, checked.err
    again = here(project, home, "init", "--yes")
    assert (again.code, "codur.yaml is there already" in again.err) == (2, True)
    assert (project / "codur.yaml").read_text() == "\n".join(lines)


def test_a_value_is_set_with_comments_and_order_kept(project: Path, home: Path) -> None:
    fill(home, {".config/codur/config.yaml": MINE})
    file = home / ".config/codur/config.yaml"
    file.chmod(0o600)
    for words in (("runtime.max_llm_calls", "7"), ("llm.default_profile", "local"), ("tools.allow_network", "true")):
        ran = here(project, home, "config", "set", *words)
        assert ran.code == 0, ran.err
    expected = MINE.replace("40", "7").replace('"auto"', '"local"')
    assert file.read_text().startswith(expected)
    assert "allow_network: true" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert "max_llm_calls: 7" in here(project, home, "config", "show").out
    assert "(as it was)" in here(project, home, "config", "set", "runtime.max_llm_calls", "7").out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("runtime.max_llm_cals", "7"), "Did you mean runtime.max_llm_calls?"),
        (("max_llm_calls", "7"), "Did you mean runtime.max_llm_calls?"),
        (("runtime.max_llm_calls", "many"), "must be a whole number"),
        (("llm.default_profile", "locl"), "nothing was written: "),
        (("--project", "llm.default_profile", "local"), "a project's file cannot set this"),
        (("--project", "tools.allow_network", "true"), "a project's file can only turn this off"),
    ],
)
def test_what_would_be_wrong_is_not_written(words: tuple[str, ...], told: str, project: Path, home: Path) -> None:
    fill(home, {".config/codur/config.yaml": MINE})
    ran = here(project, home, "config", "set", *words)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert (home / ".config/codur/config.yaml").read_text() == MINE
    assert not (project / "codur.yaml").exists()


def test_the_project_file_is_made_by_the_first_value(project: Path, home: Path) -> None:
    assert here(project, home, "config", "set", "--project", "verification.command", "make test").code == 0
    assert (project / "codur.yaml").read_text() == "verification:\n  command: make test\n"
    assert here(project, home, "config", "set", "repair.mode", "off").code == 0
    assert (home / ".config/codur/config.yaml").read_text() == "repair:\n  mode: 'off'\n"
    assert "mode: " in here(project, home, "config", "show").out
