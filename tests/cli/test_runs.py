"""`codur runs` and `codur show`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.kit import codur, codur_here, environment, the_object
from tests.runs.kit import NEEDS_MODEL, REPAIRABLE, fill
from tests.session.kit import place


def test_what_runs_did(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        assert here.run("fix main.py", "--max-llm-calls", "0").code == 4
        assert here.run("fix main.py").code == 0
        newest, oldest = here.runs()
        assert (newest["summary"]["outcome"], oldest["summary"]["outcome"]) == ("done", "limit")
        assert newest["summary"]["verdict"] == "passed"
        assert newest["summary"]["model_calls"] == 2
        listed = here.run("runs").out.splitlines()
        assert [row.split()[0] for row in listed[2:]] == [newest["id"], oldest["id"]]
        assert "fix main.py" in listed[2]
        shown = here.run("show").out
        for words in (newest["id"], "─ coding → review · ", "attempt 1: ", "model: ", "+    ordered = ", "solved · "):
            assert words in shown
        assert "route: coding → review" not in shown
        assert "route: coding → review (" in here.run("show", "-v").out
        whole = json.loads(here.run("show", oldest["id"], "--json").out)
        assert whole["record"]["id"] == oldest["id"]
        assert whole["result"]["outcome"] == "limit"
        assert whole["trace"][0]["event"] == "run_started"
        assert whole["trace"][-1]["event"] == "run_finished"


def test_runs_of_other_directories(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        here.run("hello")
        other = tmp_path / "other"
        other.mkdir()
        assert codur("runs", cwd=other, home=here.home).out.startswith("no run is kept of this directory")
        everywhere = codur("runs", "--all", cwd=other, home=here.home).out
        assert str(here.project) in everywhere
        missing = codur("show", cwd=other, home=here.home)
        assert missing.code == 2
        assert f"no run of {other} is kept" in missing.err
        assert f"no run of {here.project} changed anything" in here.run("undo").err
        assert f"no run of {here.project} was cut off" in here.run("resume").err


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for command in ("runs", "doctor"):
        ran = codur_here(command, "-C", "nowhere", cwd=tmp_path, home=tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "there is no directory nowhere" in ran.err


def test_a_relative_home_counts_as_none(tmp_path: Path) -> None:
    assert "no home directory is known" in codur_here("runs", cwd=tmp_path, home=Path("some/where")).err
    assert list(tmp_path.iterdir()) == []


def test_the_way_to_a_home_is_not_made(tmp_path: Path) -> None:
    assert "no home directory is known" in codur_here("runs", cwd=tmp_path, home=tmp_path / "none" / "x").err
    assert "no home directory is known" in codur_here("runs", cwd=tmp_path, home=Path(__file__) / "x").err
    assert list(tmp_path.iterdir()) == []


def test_without_a_home_nothing_is_kept_and_that_is_said(tmp_path: Path) -> None:
    fill(tmp_path, NEEDS_MODEL)
    ran = codur_here("hello", cwd=tmp_path, home=Path("/"))
    assert ran.code == 0
    assert "the run is not kept" in ran.err
    assert codur_here("runs", cwd=tmp_path, home=Path("/")).code == 2


def test_a_state_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    project = tmp_path / "project"
    project.mkdir()
    ran = codur_here("hello", "--json", cwd=project, home=tmp_path, XDG_STATE_HOME=str(tmp_path / "state"))
    assert ran.code == 2
    told = the_object(ran.out)
    assert str(tmp_path / "state") in told["reason"]
    assert "XDG_STATE_HOME" in told["remedy"]


def test_a_relative_state_directory_does_not_count(tmp_path: Path) -> None:
    """As the XDG base directory specification says."""
    project = tmp_path / "project"
    project.mkdir()
    codur_here("hello", cwd=project, home=tmp_path, XDG_STATE_HOME="state")
    assert (tmp_path / ".local/state/codur/runs").is_dir()
    assert not list(project.iterdir())


def test_a_dry_run_is_not_kept(tmp_path: Path) -> None:
    with place(tmp_path, files={"notes.txt": ""}) as here:
        assert here.run("append 'hello' to notes.txt", "--dry-run").code == 0
        assert not (here.state / "runs").exists() or not list((here.state / "runs").iterdir())


def test_a_model_free_run_loads_neither_langgraph_nor_sqlite(tmp_path: Path) -> None:
    import subprocess
    import sys

    project = fill(tmp_path / "project", {"notes.txt": "hello\n"})
    program = (
        "import sys\nfrom codur.cli.main import run\ncode = run(['show me notes.txt'])\n"
        "heavy = {'langgraph', 'sqlite3', 'pydantic', 'asyncio', 'groq', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / ".local/state/codur/runs").iterdir())


REPAIRABLE_CHALLENGE = {**REPAIRABLE, "prompt.txt": "fix main.py\n"}


def test_a_batch_does_not_run_uncontained_unless_that_is_wanted(tmp_path: Path) -> None:
    fill(tmp_path / "challenge", REPAIRABLE_CHALLENGE)
    fill(tmp_path, {".config/codur/config.yaml": "sandbox:\n  backend: none\n"})
    words = ("solve", "challenge", "--offline", "--json")
    refused = codur_here(*words, cwd=tmp_path, home=tmp_path)
    assert refused.code == 5
    told = the_object(refused.out)
    assert "without a sandbox" in told["reason"]
    assert "--no-sandbox" in told["remedy"]
    solved = codur_here(*words, "--no-sandbox", cwd=tmp_path, home=tmp_path)
    assert solved.code == 0, solved.err
    (row,) = json.loads(solved.out)["results"]
    assert row["sandbox"] == "none"


def test_that_nothing_contains_programs_is_said_once_and_kept(tmp_path: Path) -> None:
    project = fill(tmp_path / "project", REPAIRABLE)
    ran = codur_here("fix main.py", "--offline", "--no-sandbox", cwd=project, home=tmp_path)
    assert ran.code == 0, ran.err
    assert ran.err.count("WITHOUT a sandbox") == 1
    assert "codur doctor" in ran.err
    (run,) = json.loads(codur_here("runs", "--json", cwd=project, home=tmp_path).out)
    assert run["sandbox"] == "none"
    assert not run.keys() & {"task", "process"}
    shown = json.loads(codur_here("show", "--json", cwd=project, home=tmp_path).out)
    assert shown["trace"][0]["sandbox"] == "none"
    assert shown["result"]["sandbox"] == "none"
    quiet = codur_here("hello", "--no-sandbox", cwd=project, home=tmp_path)
    assert "sandbox" not in quiet.err  # nothing was started
