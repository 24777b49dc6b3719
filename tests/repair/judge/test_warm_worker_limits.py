"""What bounds a candidate in a warm worker, and what is left when the search itself is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codur.repair.judge.candidate_judge import Judge
from codur.repair.judge.warm_worker import Answer, Limits, Worker
from codur.repair.judge.worker_job import job_of
from codur.structs import replace
from tests.repair.support import OUTPUT, Bench, bench

LIMITS = Limits(cpu_s=0.4, keep=10_000)


@pytest.fixture
def found(tmp_path: Path) -> Bench:
    return bench(tmp_path, {"main.py": "print(1)\n", "expected.txt": "1\n2\n"})


@pytest.fixture
def worker(found: Bench) -> Iterator[Worker]:
    job, reason = job_of(OUTPUT, found.checker)
    assert job is not None, reason
    started = Worker.start(found.checker.programs.launcher, replace(job, stdin=b"x" * 200_000, hidden=()))
    assert started is not None
    assert started.problem() == ""
    started.ask_adopt({})
    assert started.problem() == ""
    yield started
    started.close()


def answer_to(worker: Worker, text: str, limits: Limits = LIMITS) -> Answer:
    worker.ask({"main.py": text.encode()}, limits)
    answer = worker.answer()
    assert answer is not None
    return answer


def test_processor_time_wall_time_and_output_are_bounded(worker: Worker) -> None:
    spins = answer_to(worker, "while True: pass\n").result
    sleeps = answer_to(worker, "import time\ntime.sleep(60)\n").result
    floods = answer_to(worker, "while True: print('x' * 1000)\n", Limits(cpu_s=60, keep=10_000)).result
    ignores = answer_to(worker, "import signal\nfor n in (1, 2, 15): signal.signal(n, 1)\nwhile True: pass\n").result
    threads = answer_to(
        worker, "import threading, time\nthreading.Thread(target=time.sleep, args=[60]).start()\n"
    ).result
    ends = [(each.exit_status, each.timed_out, each.flooded) for each in (spins, sleeps, floods, ignores, threads)]
    timed_out = (None, True, False)
    assert ends == [timed_out, timed_out, (None, False, True), timed_out, timed_out]
    assert "bytes left out" in floods.stdout
    assert len(floods.stdout) < 11_000


def test_memory_is_bounded(worker: Worker) -> None:
    result = answer_to(worker, "x = bytearray(8 * 2**30)\n", Limits(cpu_s=20, keep=10_000)).result
    assert (result.exit_status, result.stderr.splitlines()[-1]) == (1, "MemoryError")


def test_standard_input_is_fed_whole_or_left(worker: Worker) -> None:
    generous = Limits(cpu_s=20, keep=10_000)
    assert answer_to(worker, "import sys\nprint(len(sys.stdin.read()))\n", generous).result.stdout == "200000\n"
    assert answer_to(worker, "import sys\nprint(sys.stdin.read(3))\n", generous).result.stdout == "xxx\n"
    assert answer_to(worker, "print(1)\n", generous).result.stdout == "1\n"


def test_a_candidate_that_ends_processes_does_not_end_the_worker(worker: Worker) -> None:
    plain = answer_to(worker, "import os\nos.kill(os.getppid(), 9)\n").plain
    assert plain == "it leaves its process (os.kill)"
    assert answer_to(worker, "print(1)\n").result.stdout == "1\n"


def test_children_that_hide_from_the_guard_end_too(worker: Worker) -> None:
    code = (
        "import _posixsubprocess, os, sys\nprint(os.getpid(), flush=True)\n"
        "r, w = os.pipe()\n"
        "_posixsubprocess.fork_exec([b'/bin/sleep', b'60'], [b'/bin/sleep'], True, (), None, None,"
        " -1, -1, -1, -1, -1, -1, r, w, True, True, -1, None, None, None, -1, None, False)\n"
    )
    assert answer_to(worker, code).plain == ""
    assert answer_to(worker, "print(1)\n").result.stdout == "1\n"
    assert [children(pid) for pid in workers_below(os.getpid())] == [[]]


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def below(pid: int) -> list[int]:
    return [each for child in children(pid) for each in (child, *below(child))]


def is_worker(pid: int) -> bool:
    try:
        return b"_repair_worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return False


def workers_below(pid: int) -> list[int]:
    """The workers that a process has started, without their forks."""
    return [
        each for parent in (pid, *below(pid)) if not is_worker(parent) for each in children(parent) if is_worker(each)
    ]


def test_a_worker_that_is_lost_is_made_up_for_by_plain_processes(found: Bench) -> None:
    with Judge(found.checker, found.check, found.before, workers=1) as judge:
        assert judge.judge({"main.py": "print(1)\nprint(3)\n"}).progress == 0.5
        (worker,) = workers_below(os.getpid())
        os.kill(worker, signal.SIGKILL)
        progress = [verdict.progress for verdict in judge.judge_apart([{"main.py": f"print({n})\n"} for n in (1, 2)])]
    assert (progress, judge.warm, judge.plain) == ([0.5, 0.0], 1, 2)


KILLED = """
import sys
from pathlib import Path
from codur.repair.judge.candidate_judge import Judge
from tests.repair.support import bench, OUTPUT, Bench
found = bench(Path(sys.argv[1]), {"main.py": "print(1)\\n", "expected.txt": "1\\n2\\n"})
judge = Judge(found.checker, found.check, found.before, workers=2)
judge.judge({"main.py": "print(1)\\nprint(5)\\n"})
print("judged", flush=True)
hang = "import time\\nprint(1)\\ntime.sleep(60)\\n"
list(judge.judge_apart([{"main.py": hang + "#" * n} for n in range(200)], patient=True))
"""


def test_kill_9_of_the_search_ends_the_workers_and_leaves_the_files(tmp_path: Path) -> None:
    search = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert search.stdout is not None
    assert search.stdout.readline() == "judged\n"
    end = time.monotonic() + 20
    while len(workers_below(search.pid)) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.3)
    workers, started = workers_below(search.pid), below(search.pid)
    search.kill()
    search.communicate()
    assert len(workers) == 2
    assert set(workers) < set(started)
    while any(Path(f"/proc/{pid}").exists() for pid in started) and time.monotonic() < end:
        time.sleep(0.02)
    assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "main.py": "print(1)\n",
        "expected.txt": "1\n2\n",
    }
