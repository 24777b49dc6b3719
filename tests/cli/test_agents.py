"""`codur agents`, and runs of the command line in which another program does the work."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml

from tests.agents.external.kit import CODEX_DONE, PROGRAM, RIGHT, Script
from tests.cli.kit import Ran, codur, codur_here, the_object

WRONG = {"main.py": "print(1)\n", "expected.txt": "2\n"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A home and a workspace whose program prints the wrong number."""
    (tmp_path / "home").mkdir()
    root = tmp_path / "w"
    root.mkdir()
    for name, text in WRONG.items():
        (root / name).write_text(text)
    return tmp_path


def declare(place: Path, name: str, script: Script, **fields: object) -> Path:
    """Declare an agent in the user's directory that does what the script says."""
    directory = place / "home" / ".config" / "codur" / "agents"
    directory.mkdir(parents=True, exist_ok=True)
    steps = place / f"{name}.json"
    steps.write_text(json.dumps(script))
    values = {
        "type": "cli",
        "description": "Does as told.",
        "command": [sys.executable, str(PROGRAM), str(steps)],
        "prompt_by": "stdin",
        "output": "jsonl",
        "dialect": "codex",
        "readable": [str(PROGRAM), str(steps)],
        **fields,
    }
    file = directory / f"{name}.yaml"
    file.write_text(yaml.safe_dump(values, sort_keys=False))
    return file


def here(place: Path, *words: str, **variables: str) -> Ran:
    return codur_here(*words, cwd=place / "w", home=place / "home", **variables)


def prefer(place: Path, text: str) -> None:
    file = place / "home" / ".config" / "codur" / "config.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_run_that_is_routed_to_another_program(place: Path) -> None:
    declare(place, "its", [["write", "main.py", RIGHT], ["write", "helper.py", "X = 1\n"], *CODEX_DONE])
    prefer(place, "agents: {preferences: {routing: {code_fix: its}}}\nrepair: {mode: 'off'}\n")

    ran = codur("run", "fix main.py", "--json", cwd=place / "w", home=place / "home")

    result = the_object(ran.out)
    assert (ran.code, result["solved_by"]) == (0, "its"), ran.err
    assert result["changed_files"] == ["helper.py", "main.py"]
    assert "-print(1)\n+print(2)" in result["diff"]
    assert result["usage"]["prompt_tokens"] == 100
    assert (place / "w" / "main.py").read_text() == RIGHT
    assert "+print(2)" in here(place, "diff").out
    undone = here(place, "undo")
    assert undone.code == 0
    assert {path.name: path.read_text() for path in (place / "w").iterdir() if path.is_file()} == WRONG


def test_a_wrong_answer_leaves_the_workspace_as_it_was(place: Path) -> None:
    declare(place, "its", [["write", "main.py", "print(3)\n"], *CODEX_DONE])

    ran = codur(
        "fix main.py", "--agent", "its", "--json", "--config", _no_repair(place), cwd=place / "w", home=place / "home"
    )

    assert ran.code == 1
    assert (place / "w" / "main.py").read_text() == WRONG["main.py"]


def _no_repair(place: Path) -> str:
    file = place / "no-repair.yaml"
    file.write_text("repair: {mode: 'off'}\n")
    return str(file)


def test_an_unknown_agent_is_an_error_with_the_nearest_names(place: Path) -> None:
    ran = here(place, "fix main.py", "--agent", "codx")

    assert ran.code == 2
    assert "there is no agent named 'codx'" in ran.err
    assert "Did you mean codex" in ran.err


def test_list_says_what_each_needs_and_whether_it_can_run(place: Path) -> None:
    declare(place, "its", [], key_env=["ITS_KEY"])
    declare(place, "absent", [], command=["no-such-agent"])

    ran = here(place, "agents", "list", "--json", ITS_KEY="k")

    rows = {row["name"]: row for row in json.loads(ran.out)}
    assert (rows["its"]["ready"], rows["its"]["needs"]) == (True, f"{sys.executable}, ITS_KEY")
    assert (rows["absent"]["ready"], rows["absent"]["note"]) == (False, "the program no-such-agent is not installed")
    assert {"codex", "claude_code", "gemini", "opencode", "aider", "ollama", "codur-coding"} <= set(rows)
    assert "no: the program no-such-agent is not installed" in here(place, "agents").out


def test_show_prints_where_each_value_comes_from(place: Path) -> None:
    file = declare(place, "its", [], network=True)
    prefer(place, "agents:\n  configs:\n    its:\n      timeout_s: 7\n")

    shown = here(place, "agents", "show", "its")

    assert shown.code == 0
    assert "# may reach the network: by its own declaration" in shown.out
    assert "timeout_s: 7.0  # ~/.config/codur/config.yaml:4" in shown.out
    assert f'dialect: "codex"  # ~/.config/codur/agents/{file.name}:' in shown.out
    assert "key_env: []  # default" in shown.out
    told = json.loads(here(place, "agents", "show", "its", "--json").out)
    assert told["keys"]["network"]["value"] is True
    assert told["ready"] is True


@pytest.mark.parametrize(
    ("text", "code", "verdict"),
    [
        (
            "def mean_of_even(n):\n    e = [x for x in n if x % 2 == 0]\n    return sum(e) / len(e)\n\n\n"
            "print(mean_of_even([1, 2, 3, 4, 9]))\n",
            0,
            "passed",
        ),
        ("print(4)\n", 1, "failed"),
    ],
)
def test_an_agent_is_tried_on_a_task_that_is_checked(text: str, code: int, verdict: str, place: Path) -> None:
    declare(place, "its", [["write", "main.py", text], *CODEX_DONE])

    ran = here(place, "agents", "test", "its", "--json")

    told = json.loads(ran.out)
    assert (ran.code, told["verdict"]) == (code, verdict), ran.err
    assert told["usage"]["prompt_tokens"] >= 100
    assert told["duration_s"] > 0
    assert {path.name for path in (place / "w").iterdir()} == set(WRONG)
    assert "no run is kept" in here(place, "runs").out


def test_one_that_cannot_run_says_why(place: Path) -> None:
    ran = here(place, "agents", "test", "claude_code", PATH="/nonexistent")

    assert ran.code == 3
    assert "the program claude is not installed" in ran.out


@pytest.mark.parametrize("kind", ["cli", "llm", "coding", "python"])
def test_a_new_agent_can_be_shown_at_once(kind: str, place: Path) -> None:
    made = here(place, "agents", "new", "mine", "--type", kind)

    file = place / "home" / ".config" / "codur" / "agents" / "mine.yaml"
    assert made.code == 0, made.err
    assert str(file) in made.out
    assert f'type: "{kind}"' in here(place, "agents", "show", "mine").out
    again = here(place, "agents", "new", "mine")
    assert again.code == 2
    assert "file exists" in again.err


@pytest.mark.parametrize("name", ["../evil", "Big", "a:b", ""])
def test_a_name_that_cannot_be_one(name: str, place: Path) -> None:
    assert here(place, "agents", "new", name).code == 2
    assert not (place / "home" / ".config").exists()


def test_a_wrong_declaration_names_file_line_and_key(place: Path) -> None:
    declare(place, "its", [], prompt_by="argument")

    ran = here(place, "agents")

    assert ran.code == 2
    assert "~/.config/codur/agents/its.yaml:3: agents.configs.its.command: has no place for the prompt" in ran.err


def test_no_agent_starts_another(place: Path) -> None:
    declare(place, "its", [["write", "main.py", RIGHT], *CODEX_DONE])

    ran = here(place, "fix main.py", "--agent", "its", "--config", _no_repair(place), CODUR_INSIDE_AGENT="outer")

    assert ran.code == 3
    assert "was started by the agent outer" in ran.err + ran.out
