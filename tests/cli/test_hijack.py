"""Nothing that lies in the workspace is imported or started in place of what Codur means."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.kit import ROOT, environment

MODULES = "json re typing httpx groq rich typer yaml asyncio subprocess tempfile signal git sqlite3 pydantic".split()
PROGRAMS = "git rg python python3 sh bash env bwrap pytest uname".split()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository with a program, and with modules and programs of well-known names that leave a mark."""
    work = tmp_path / "w"
    work.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    (work / "main.py").write_text("print('hello')\n")
    for name in MODULES:
        (work / f"{name}.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'a').write({name!r})\n")
    for name in PROGRAMS:
        (work / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/mark\nexit 1\n")
        (work / name).chmod(0o755)
    return work


def started(words: tuple[str, ...], how: list[str], work: Path, **variables: str) -> str:
    """What `codur` printed, run in `work`."""
    home = work.parent / "home"
    home.mkdir(exist_ok=True)
    done = subprocess.run(
        [*how, *words], cwd=work, env=environment(home, **variables), capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def console_script(folder: Path) -> list[str]:
    """A script as installers make it."""
    script = folder / "bin" / "codur"
    script.parent.mkdir()
    script.write_text("import sys\nfrom codur.__main__ import main\nsys.exit(main())\n")
    return [sys.executable, str(script)]


@pytest.mark.parametrize("path", [".:{}", ":{}"])
def test_programs_of_the_workspace_are_not_started(path: str, work: Path, tmp_path: Path) -> None:
    how = console_script(tmp_path)
    for words in (("run", "run main.py"), ("git status",)):
        started(words, how, work, PATH=path.format(os.environ["PATH"]), PYTHONPATH=str(ROOT))
        assert not (tmp_path / "mark").exists(), words


@pytest.mark.parametrize("python_path", ["{}", ":{}", "{work}:{}"])
@pytest.mark.parametrize("kind", ["script", "module"])
def test_modules_of_the_workspace_are_not_imported(kind: str, python_path: str, work: Path, tmp_path: Path) -> None:
    for name in ("re", "typing") if kind == "module" or python_path != "{}" else ():
        (work / f"{name}.py").unlink()  # Python loads these itself, before it starts what it is told to start
    how = console_script(tmp_path) if kind == "script" else [sys.executable, "-m", "codur"]
    said = started(("git status",), how, work, PYTHONPATH=python_path.format(ROOT, work=work))
    assert not (tmp_path / "mark").exists()
    assert "main.py" in said


def test_a_module_of_the_workspace_would_be_imported_otherwise(work: Path, tmp_path: Path) -> None:
    """The live control: plain Python falls for it."""
    (work / "re.py").unlink()
    subprocess.run([sys.executable, "-c", "import json"], cwd=work, check=True)
    assert (tmp_path / "mark").read_text() == "json"


def test_codur_runs_from_its_own_directory(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-m", "codur", "--version"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.startswith("codur ")) == (0, True)


def test_env_files_are_not_loaded(work: Path, tmp_path: Path) -> None:
    for name in (".env", ".envrc", ".env.local"):
        (work / name).write_text("CODUR_RUNTIME__MAX_LLM_CALLS=7\nGROQ_API_KEY=gsk_planted\nLD_PRELOAD=/x\n")
    said = started(("config", "show"), console_script(tmp_path), work, PYTHONPATH=str(ROOT))
    assert "max_llm_calls: 20" in said
    assert "GROQ_API_KEY is not set" in started(
        ("agents",), [sys.executable, "-m", "codur"], work, PYTHONPATH=str(ROOT)
    )
