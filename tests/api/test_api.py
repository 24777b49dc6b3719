"""The Python interface: the examples of its page, what a job does, and what a caller may get wrong."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path

import pytest

import codur
from codur import Job, api, repair, solve, verify
from codur.errors import ConfigError
from codur.types import RunResult
from tests.cli.kit import ROOT, environment
from tests.runs.kit import REPAIRABLE, contents, fill

PAGE = (ROOT / "docs" / "PYTHON.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
RIGHT = {"main.py": "print(6)\n", "expected.txt": "6\n"}
WAITS = "touch began; sleep 60"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path / "home")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return fill(tmp_path / "project", {**REPAIRABLE, "notes.txt": "milk\n"})


def begun(job: Job) -> Job:
    """The job, once its check runs."""
    for event in job:
        if event.kind == "node_entered":
            break
    return job


def test_there_are_five_examples() -> None:
    assert len(EXAMPLES) == 5


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_examples(code: str, printed: str, project: Path, tmp_path: Path) -> None:
    fill(tmp_path / "other", RIGHT)
    before = contents(project)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={**environment(tmp_path / "home"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")
    assert contents(project) == before


def test_what_is_public_is_what_is_documented() -> None:
    names = {*codur.__all__, *codur.Options.__annotations__, *codur.TaskOptions.__annotations__}
    assert {name for name in names if f"`{name}" not in PAGE and f"{name} " not in PAGE} == set()
    assert set(dir(codur)) >= set(codur.__all__)
    with pytest.raises(AttributeError, match="no attribute 'secret'"):
        codur.secret  # noqa: B018 - asking for it is the test


def test_nothing_is_loaded_before_it_is_named() -> None:
    code = "import sys, codur; print(sorted(name for name in sys.modules if name.startswith('codur')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "['codur']\n"


def test_a_repair_is_applied_and_nothing_of_the_process_changes(project: Path, home: dict[str, str]) -> None:
    before = dict(os.environ), Path.cwd(), threading.active_count()
    result = repair(project, environ=home).result()
    assert (result.outcome, result.solved_by, result.changed_files) == ("done", "repair", ("main.py",))
    assert verify(project, environ=home).result().outcome == "done"
    assert (dict(os.environ), Path.cwd()) == before[:2]


def test_a_workspace_without_a_check(tmp_path: Path, home: dict[str, str]) -> None:
    result = verify(fill(tmp_path / "bare", {"notes.txt": "milk\n"}), environ=home).result()
    assert (result.outcome, result.reason) == ("usage", "there is no check: no tests, no expected output")
    assert result.remedy == "Name one with --check COMMAND, or the right output with --expect FILE."
    (tmp_path / ".git").mkdir()
    assert f"with -C {tmp_path}." in verify(tmp_path / "bare", environ=home).result().remedy


def test_a_check_that_passes_has_nothing_to_explain(tmp_path: Path, home: dict[str, str]) -> None:
    result = codur.explain(fill(tmp_path / "right", RIGHT), environ=home).result()
    assert result.outcome == "not_achieved"
    assert "passes already" in result.reason


def test_several_listeners_get_every_event(project: Path, home: dict[str, str]) -> None:
    job = verify(project, environ=home)
    first = [event.kind for event in job]
    assert first == [event.kind for event in job]
    assert first[-1] == "run_finished"

    async def heard() -> list[str]:
        return [event.kind async for event in job]

    assert asyncio.run(heard()) == first


def test_cancelled(project: Path, home: dict[str, str]) -> None:
    before = contents(project)
    job = begun(verify(project, check=WAITS, environ=home))
    with pytest.raises(TimeoutError):
        job.result(timeout=0)
    job.cancel()
    assert job.result().outcome == "interrupted"
    assert {name for name in contents(project) if name not in before} <= {"began"}


def test_a_cancelled_await_ends_the_job(project: Path, home: dict[str, str]) -> None:
    async def given_up() -> Job:
        job = verify(project, check=WAITS, environ=home)
        async for event in job:
            if event.kind == "node_entered":
                break
        waiting: asyncio.Task[RunResult] = asyncio.ensure_future(job)
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return job

    assert asyncio.run(given_up()).result(timeout=0).outcome == "interrupted"


def test_two_at_once_on_one_workspace(project: Path, home: dict[str, str]) -> None:
    first = begun(verify(project, check=WAITS, environ=home))
    second = verify(project, environ=home).result()
    first.cancel()
    assert (second.outcome, second.exit_code) == ("refused", 5)
    assert first.result().outcome == "interrupted"


def test_what_a_caller_may_get_wrong(project: Path, home: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="nonsense"):
        verify(project, nonsense=True)  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="max_tokens"):
        solve("fix main.py", project, settings={"runtime": {"max_tokens": "many"}}, environ=home).result()
    assert verify(tmp_path / "nowhere", environ=home).result().outcome == "usage"


def test_jobs_that_begin_at_once_read_what_nothing_has_read_yet() -> None:
    code = """
import sys, threading
from codur.config.settings import Settings
from codur.structs import convert
sys.setswitchinterval(1e-6)
together = threading.Barrier(8)
read = []
def work():
    together.wait()
    read.append(convert({"runtime": {"max_llm_calls": 3}}, Settings).runtime.max_llm_calls)
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(read)
"""
    for _ in range(4):  # without the lock, two in five such processes died
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, f"{[3] * 8}\n")


def test_the_function_is_not_hidden_by_the_package_of_its_name() -> None:
    assert import_module("codur.repair.engine").search
    assert codur.repair is api.repair
