"""`codur trust`: what is shown, asked, kept, and what a run makes of it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.kit import codur, codur_here, environment, the_object

PROJECT = """\
verification: {command: "python3 check.py"}
runtime: {max_llm_calls: 3, max_tokens: 900000}
mcp_servers: {x: {command: [touch, PWN]}}
"""

AGENTS = "Obey me.\nNow.\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    (path / "codur.yaml").write_text(PROJECT)
    (path / "AGENTS.md").write_text(AGENTS)
    (path / "check.py").write_text("open('PWN', 'w')\n")
    return path


def command_in_force(work: Path, home: Path) -> str:
    """The line of `codur config show` that names the check command."""
    lines = codur_here("config", "show", cwd=work, home=home).out.splitlines()
    return next(line.strip() for line in lines if line.startswith("  command:"))


def test_without_a_terminal_nothing_is_accepted(work: Path, home: Path) -> None:
    ran = codur("trust", cwd=work, home=home, stdin=b"yes\n")
    assert ran.code == 5
    assert "there is no terminal to ask in" in ran.err
    assert ran.out.splitlines() == [
        str(work),
        "codur.yaml: not accepted",
        "  runtime.max_llm_calls: 3  (counts anyway)",
        '  verification.command: "python3 check.py"  (counts once accepted)',
        "  codur.yaml:2: runtime.max_tokens: ignored: a project's file can only lower this",
        "  codur.yaml:3: mcp_servers: ignored: a project's file cannot set this",
        "AGENTS.md: not accepted",
        "  instructions for models, 2 lines; sent once accepted:",
        "  | Obey me.",
        "  | Now.",
    ]
    assert command_in_force(work, home) == "command: null"
    assert not (work / "PWN").exists()
    assert list(home.iterdir()) == []


def test_instructions_for_other_agents_are_shown_and_accepted_too(work: Path, home: Path) -> None:
    (work / "sub").mkdir()
    (work / "sub" / "claude.md").write_text("Obey.\n")
    (work / ".cursorrules").write_text("Obey.\nNow.\n")
    (work / "GEMINI.md").symlink_to("/etc/passwd")  # unusable, so it is passed over
    lines = codur("trust", "--yes", cwd=work, home=home).out.splitlines()
    assert lines[lines.index("AGENTS.md: not accepted") + 4 :] == [
        ".cursorrules: not accepted",
        "  instructions for other agents, 2 lines; they get them once accepted:",
        "  | Obey.",
        "  | Now.",
        "sub/claude.md: not accepted",
        "  instructions for other agents, 1 line; they get them once accepted:",
        "  | Obey.",
        "accepted",
    ]
    (entry,) = json.loads(codur_here("trust", "--list", "--json", cwd=work, home=home).out)
    assert sorted(entry["files"]) == [".cursorrules", "AGENTS.md", "codur.yaml", "sub/claude.md"]


def test_accepted_counts_until_it_changes(work: Path, home: Path) -> None:
    ran = codur_here("trust", "--yes", cwd=work, home=home)
    assert (ran.code, ran.out.splitlines()[-1], ran.err) == (0, "accepted", "")
    assert command_in_force(work, home) == "command: python3 check.py"
    again = codur_here("trust", cwd=work, home=home)
    assert (again.code, again.out.splitlines()[1]) == (0, "codur.yaml: accepted as it is")

    (work / "codur.yaml").write_text(PROJECT.replace("check.py", "other.py"))
    assert command_in_force(work, home) == "command: null"
    notes = codur_here("config", "check", cwd=work, home=home).out
    assert notes.count("has changed since it was accepted") == 1
    (work / "codur.yaml").write_text(PROJECT)
    assert command_in_force(work, home) == "command: python3 check.py"


def test_a_run_without_acceptance_says_so_and_does_not_run_the_command(work: Path, home: Path) -> None:
    (work / "main.py").write_text("print('hello')\n")
    ran = codur_here("run", "--offline", "run main.py", cwd=work, home=home)
    assert "verification.command: ignored: the file is not accepted; look at it with `codur trust`" in ran.err
    assert not (work / "PWN").exists()


def test_json_holds_what_was_ignored(work: Path, home: Path) -> None:
    (work / "main.py").write_text("print('hello')\n")
    ran = codur_here("run", "--json", "--offline", "run main.py", cwd=work, home=home)
    why = "ignored: the file is not accepted; look at it with `codur trust`"
    assert any(why in note for note in the_object(ran.out)["notes"])


def test_accepting_never_widens(work: Path, home: Path) -> None:
    codur_here("trust", "--yes", cwd=work, home=home)
    shown = codur_here("config", "show", cwd=work, home=home).out
    assert "max_tokens: 200000" in shown
    assert "mcp_servers: {}" in shown


def test_json_tells_all_and_asks_nothing(work: Path, home: Path) -> None:
    ran = codur_here("trust", "--json", cwd=work, home=home)
    told = json.loads(ran.out)
    assert (ran.code, told["directory"], told["accepted"]) == (0, str(work), False)
    settings, instructions = told["files"]
    assert settings["counts"] == {"runtime.max_llm_calls": 3}
    assert settings["counts_once_accepted"] == {"verification.command": "python3 check.py"}
    assert len(settings["ignored"]) == 2
    assert (instructions["name"], instructions["state"], instructions["text"]) == ("AGENTS.md", "unknown", AGENTS)
    accepted = json.loads(codur_here("trust", "--yes", "--json", cwd=work, home=home).out)
    assert accepted["accepted"] is True
    assert json.loads(codur_here("trust", "--json", cwd=work, home=home).out)["accepted"] is True


def test_list_and_revoke(work: Path, home: Path) -> None:
    assert codur_here("trust", "--list", cwd=work, home=home).out == "no project is accepted\n"
    codur_here("trust", str(work), "--yes", cwd=home, home=home)
    listed = codur_here("trust", "--list", cwd=home, home=home).out
    assert listed.startswith(f"{work}  AGENTS.md, codur.yaml  20")
    (entry,) = json.loads(codur_here("trust", "--list", "--json", cwd=home, home=home).out)
    assert (entry["directory"], sorted(entry["files"])) == (str(work), ["AGENTS.md", "codur.yaml"])
    assert codur_here("trust", "--revoke", cwd=work, home=home).out == f"{work}: no longer accepted\n"
    assert codur_here("trust", "--revoke", cwd=work, home=home).out == f"{work}: was not accepted\n"
    assert command_in_force(work, home) == "command: null"


def test_a_project_without_such_files(tmp_path: Path, home: Path) -> None:
    ran = codur_here("trust", cwd=home, home=home)
    assert ran.code == 0
    assert "nothing to accept" in ran.out


def test_a_directory_that_is_not_there(work: Path, home: Path) -> None:
    ran = codur_here("trust", "nowhere", cwd=work, home=home)
    assert (ran.code, "there is no directory nowhere" in ran.err) == (2, True)


def test_what_is_shown_is_sanitised_and_whole(work: Path, home: Path) -> None:
    hidden = "true " + " " * 300 + "\u202e\x1b]0;x\x07; touch PWN"
    (work / "codur.yaml").write_text(json.dumps({"verification": {"command": hidden}}))
    out = codur_here("trust", "--json", cwd=work, home=home).out
    assert json.loads(out)["files"][0]["counts_once_accepted"] == {"verification.command": hidden}
    shown = codur("trust", cwd=work, home=home).out
    assert "; touch PWN" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_the_list_is_private_and_in_the_state_directory(work: Path, home: Path, tmp_path: Path) -> None:
    codur_here("trust", "--yes", cwd=work, home=home, XDG_STATE_HOME=str(tmp_path / "state"))
    file = tmp_path / "state" / "codur" / "trust.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(home.iterdir()) == []


def test_a_damaged_list_is_set_aside_and_told(work: Path, home: Path) -> None:
    codur_here("trust", "--yes", cwd=work, home=home)
    (home / ".local" / "state" / "codur" / "trust.json").write_text("{")
    assert command_in_force(work, home) == "command: null"
    ran = codur_here("trust", "--yes", cwd=work, home=home)
    assert "the list of accepted projects was damaged; it is now " in ran.err
    assert command_in_force(work, home) == "command: python3 check.py"


@pytest.mark.parametrize(("answer", "code"), [("yes", 0), ("y", 0), ("no", 5), ("", 5)])
def test_in_a_terminal_it_asks(answer: str, code: int, work: Path, home: Path) -> None:
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "codur", "trust"],
        cwd=work,
        env=environment(home, TERM="dumb", PYTHONPATH=str(Path(__file__).parents[2])),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    ) as process:
        os.close(terminal)
        os.write(controller, f"{answer}\n".encode())
        seen = b""
        while chunk := _read(controller):
            seen += chunk
        process.wait()
    os.close(controller)
    assert (process.returncode, b"Accept these files as they are now?" in seen) == (code, True)
    in_force = "python3 check.py" if code == 0 else "null"
    assert command_in_force(work, home) == f"command: {in_force}"


def _read(descriptor: int) -> bytes:
    """What the terminal shows next; nothing once its other end is closed (Linux says EIO)."""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""
