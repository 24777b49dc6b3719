"""A run of pytest tells its tests one by one, also when it is ended."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from codur.checks.suites.junit import read_report
from codur.python.project_files import read_text
from codur.python.test_run import TestRun, files_of, narrowed, read_run, reported_argv
from tests.support import plain_python

TESTS = """
import socket, time, pytest
def test_good(): pass
def test_bad(): assert 1 == 2
@pytest.mark.skip
def test_left(): pass
@pytest.mark.parametrize("n", [1, 2])
def test_each(n): assert n == 1
def test_denied(): raise PermissionError(13, "denied") from ValueError()
def test_wrapped():
    try: raise OSError(101, "Network is unreachable")
    except OSError: raise RuntimeError("no answer")
class TestBox:
    def test_in(self): pass
def test_endless():
    while True: time.sleep(0.01)
"""


def run(root: Path, *words: str, tests: tuple[str, ...] = (), limit: float = 0.5) -> TestRun:
    events = root / "events.jsonl"
    events.unlink(missing_ok=True)
    argv = reported_argv(
        [plain_python.executable(), "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        events,
        timeout_s=120.0,
        tests=tests,
    )
    assert argv is not None
    told = json.loads(argv[-1])
    argv[-1] = json.dumps({**told, "limit": limit})
    subprocess.run(argv, cwd=root, capture_output=True, check=False)
    found = read_run(events)
    assert found is not None
    return found


def test_each_test_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "test_lacks.py").write_text("import nothing_of_this_name\n")
    (tmp_path / "test_own.py").write_text("import helper.gone\n")
    (tmp_path / "helper").mkdir()
    found = run(tmp_path)
    assert found.collected == 9
    assert {name.rpartition("::")[2]: end.outcome for name, end in found.ends.items()} == {
        "test_lacks.py": "failed",
        "test_own.py": "failed",
        "test_good": "passed",
        "test_bad": "failed",
        "test_left": "skipped",
        "test_each[1]": "passed",
        "test_each[2]": "failed",
        "test_denied": "failed",
        "test_wrapped": "failed",
        "test_in": "passed",
        "test_endless": "failed",
    }
    blocked = {name.rpartition("::")[2]: end.blocked for name, end in found.ends.items() if end.blocked}
    assert blocked == {
        "test_lacks.py": "nothing_of_this_name is not installed",
        "test_denied": "PermissionError: [Errno 13] denied",
        "test_wrapped": "OSError: [Errno 101] Network is unreachable",
    }
    endless = found.ends["test_it.py::test_endless"]
    assert "did not end within 0.5 s" in endless.text
    assert "time.sleep(0.01)" in endless.text
    assert "in stop" not in endless.text  # what stopped it is not where it was


def test_threads_that_a_stopped_test_leaves_are_not_waited_for(tmp_path: Path) -> None:
    body = "import threading\n\ndef test_a():\n    lock = threading.Lock()\n    lock.acquire()\n"
    body += "    other = threading.Thread(target=lock.acquire)\n    other.start()\n    other.join()\n"
    (tmp_path / "test_it.py").write_text(body)
    found = run(tmp_path, limit=0.5)
    assert [end.outcome for end in found.ends.values()] == ["failed"]


def test_where_threads_and_tasks_wait_is_told(tmp_path: Path) -> None:
    (tmp_path / "bank.py").write_text(
        "import asyncio\nlock = __import__('threading').Lock()\n\ndef transfer():\n    with lock:\n        pass\n\n"
        "async def acquire():\n    await asyncio.Event().wait()\n\nasync def get():\n    await acquire()\n"
    )
    (tmp_path / "test_it.py").write_text(
        "import asyncio, threading\nimport bank\n\ndef test_a(tmp_path, monkeypatch):\n"
        "    monkeypatch.chdir(tmp_path)\n    bank.lock.acquire()\n"
        "    other = threading.Thread(target=bank.transfer, daemon=True)\n    other.start()\n    other.join()\n\n"
        "def test_b():\n    asyncio.run(bank.get())\n"
    )
    found = {name[-1]: end.text for name, end in run(tmp_path, limit=0.5).ends.items()}
    assert "bank.py:5: in transfer waits, too" in found["a"]
    assert "bank.py:9: in acquire waits, too" in found["b"]


def test_a_test_as_slow_as_others_is_not_stopped_for_one_that_hangs(tmp_path: Path) -> None:
    body = "import time\ndef test_a(): time.sleep(0.4)\ndef test_b():\n    while True: time.sleep(0.01)\n"
    (tmp_path / "test_it.py").write_text(f"{body}def test_c(): time.sleep(0.8)\n")
    found = run(tmp_path, limit=1.5)
    assert {name[-1]: end.outcome for name, end in found.ends.items()} == {"a": "passed", "b": "failed", "c": "passed"}


def test_what_a_method_of_unittest_lacks_is_told(tmp_path: Path) -> None:
    body = (
        "import unittest\n\nclass T(unittest.TestCase):\n    def test_x(self):\n        import nothing_of_this_name\n"
    )
    (tmp_path / "test_it.py").write_text(body)
    (end,) = run(tmp_path).ends.values()
    assert (end.raised, end.blocked) == ("ModuleNotFoundError", "nothing_of_this_name is not installed")


@pytest.mark.parametrize("module", ["StringIO", "store"])
def test_what_python_2_would_find_is_not_lacking(tmp_path: Path, module: str) -> None:
    package = {"__init__.py": "", "store.py": "", "report.py": f"import {module}\n"}
    (tmp_path / "inventory").mkdir()
    for name, text in package.items():
        (tmp_path / "inventory" / name).write_text(text)
    (tmp_path / "test_it.py").write_text("import inventory.report\ndef test_x(): pass\n")
    (end,) = run(tmp_path).ends.values()
    assert f"No module named '{module}'" in end.text
    assert not end.blocked


def test_some_tests_alone(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "test_other.py").write_text("def test_x(): pass\ndef test_y(): pass\n")
    one = run(tmp_path, "-x", tests=("test_it.py::test_bad", "test_it.py::test_each[2]"))
    assert one.ids("failed") == ("test_it.py::test_bad", "test_it.py::test_each[2]")
    assert one.collected == 2
    whole = run(tmp_path, tests=("test_other.py",))
    assert whole.ids("passed") == ("test_other.py::test_x", "test_other.py::test_y")


def test_what_was_running_is_known(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text('{"collected": 2}\n{"start": "a"}\n{"id": "a", "outcome": "passed"}\n{"start": "b"}\n{"id"')
    found = read_run(events)
    assert found is not None
    assert (found.collected, found.ids("passed"), found.running) == (2, ("a",), "b")
    assert read_run(tmp_path / "absent") is None


def test_the_report_of_a_test_that_was_stopped_may_take_its_time(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_endless():\n    while True: pass\ndef test_good(): pass\n")
    slow = "import time\ndef pytest_runtest_makereport(call):\n    if call.excinfo: time.sleep(1.5)\n"
    (tmp_path / "conftest.py").write_text(slow)
    found = run(tmp_path)
    assert (found.ids("failed"), found.ids("passed")) == (("test_it.py::test_endless",), ("test_it.py::test_good",))


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "x", "outcome": "failed", "what": 1}',
        '{"id": ["x"], "outcome": "failed"}',
        '{"id": "x"}',
        '{"id": "x", "outcome": "odd"}',
        '{"id": "x", "outcome": "failed", "text": 4}',
        '{"start": 3}',
        '{"collected": "x"}',
        "[1]",
        "[" * 100_000,
    ],
)
def test_what_a_test_writes_there_is_no_event(tmp_path: Path, line: str) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(f'{line}\n{{"id": "a", "outcome": "passed"}}\n')
    found = read_run(events)
    assert found is not None
    assert (found.collected, [*found.ends], found.running) == (None, ["a"], "")


def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "events.jsonl")
    assert read_run(tmp_path / "events.jsonl") is None
    assert read_report(tmp_path / "events.jsonl") is None
    assert read_text(tmp_path / "events.jsonl") == ""


def test_named_files_give_way_to_those_of_the_tests() -> None:
    words = ["-k", "x or y", "tests/test_a.py", "--tb", "short", "-q", "tests", "-o", "addopts="]
    assert narrowed(words, files_of(["tests/t.py::test_a", "tests/t.py::test_b"])) == [
        "tests/t.py", "-k", "x or y", "--tb", "short", "-q", "-o", "addopts=",
    ]  # fmt: skip


def test_other_commands_stay_as_they_are(tmp_path: Path) -> None:
    assert reported_argv(["python", "main.py"], tmp_path, timeout_s=1.0) is None
    assert reported_argv(["python", "-c", "pass", "-m", "pytest"], tmp_path, timeout_s=1.0) is None


def test_what_is_printed_is_told_and_a_program_without_network_is_blocked(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import subprocess\n\n"
        "def call(words):\n    subprocess.check_call(['sh', '-c', f'echo {words} >&2; exit 128'])\n\n"
        "def test_clone(): call('fatal: Could not resolve host: git.example')\n"
        "def test_fault(): call('no such option')\n"
        "def test_words():\n    print('Could not resolve host: a')\n    assert False\n"
    )
    ends = run(tmp_path).ends
    assert [end.printed for end in ends.values()] == [
        "fatal: Could not resolve host: git.example", "no such option", "Could not resolve host: a"
    ]  # fmt: skip
    assert [end.blocked for end in ends.values()] == ["Could not resolve host: git.example", "", ""]


def test_a_slow_test_of_a_run_with_time_is_no_endless_one(tmp_path: Path) -> None:
    argv = reported_argv(["python", "-m", "pytest"], tmp_path / "events", timeout_s=120)
    assert argv is not None
    assert json.loads(argv[-1])["limit"] >= 15


def test_a_long_report_keeps_the_place_and_what_was_wrong(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_long():\n    raise ValueError('x' * 9_000)\n")
    (end,) = run(tmp_path, "--tb=short").ends.values()
    assert end.text.startswith("test_it.py:2: in test_long")
    assert len(end.text) < 4_100
