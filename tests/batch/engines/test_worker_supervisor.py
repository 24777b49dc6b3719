"""Whatever becomes of the worker or of the supervisor: nothing is lost, nothing is done twice, nothing is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codur.batch.discovery import find_challenges
from codur.batch.engines.worker_supervisor import Supervisor
from codur.batch.results.kept_files import Keeper, Keys
from codur.batch.results.results_directory import ResultsDirectory, read_results, read_spent
from codur.batch.work import Work, work_of
from codur.types import Limits
from tests.batch.kit import BUG, Watched, children, many, rows, send_worker, setup, solve, table, worker_of
from tests.cli.kit import environment
from tests.runs.kit import EDIT, fill, host, settings_for
from tests.support.groq_server import GroqServer

PATIENCE_S = 300.0


def test_a_worker_that_is_killed_is_replaced_and_costs_nothing(tmp_path: Path) -> None:
    given = many(tmp_path / "given", 4)
    whole = solve(given, tmp_path / "whole", jobs=2)
    killed: list[int] = []

    def kill(work: Work) -> None:
        if work.title in ("2", "3") and len(killed) < 2:
            killed.append(worker_of())
            send_worker(signal.SIGKILL)

    watch = Watched(on_start=kill)
    batch = solve(given, tmp_path / "out", jobs=2, watch=watch)
    assert len(set(killed)) == 2
    assert table(batch.results) == table(whole.results)
    assert sorted(watch.finishes) == ["1", "2", "3", "4"]
    lines = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["name"] for line in lines) == ["1", "2", "3", "4"]


def test_what_ends_the_worker_each_time_is_an_error_and_the_others_are_not(tmp_path: Path) -> None:
    given = many(tmp_path / "given", 4)

    def kill(work: Work) -> None:
        if work.title == "2":
            send_worker(signal.SIGSEGV)

    watch = Watched(on_start=kill)
    batch = solve(given, tmp_path / "out", jobs=4, watch=watch)
    assert rows(batch) == [("1", "failed"), ("2", "error"), ("3", "failed"), ("4", "failed")]
    assert [*batch.results][1].reason == "it ended the worker (SIGSEGV)"
    assert watch.starts.count("2") == 3  # among others, and twice alone


def run(given: Path, out: Path, watch: Watched, *, seconds: float, jobs: int, processors: int = 2) -> None:
    """A batch in which the time for a challenge, and the patience with it, are short."""
    made = setup(limits=Limits(max_runtime_s=seconds), jobs=jobs, processors=processors)
    with ResultsDirectory(out) as directory:
        supervisor = Supervisor(
            made,
            work_of(find_challenges([given])),
            Keeper(directory, made, Keys("settings")),
            watch,
            obey_s=0.5,
        )
        assert supervisor.run() == "all"


def test_what_a_lost_run_has_cost_is_told(tmp_path: Path) -> None:
    def kill(work: Work, phase: str) -> None:
        if phase == "reading":
            send_worker(signal.SIGKILL)

    with GroqServer(lambda body: EDIT) as server:
        (result,) = solve(
            fill(tmp_path / "given", BUG),
            tmp_path / "out",
            watch=Watched(on_phase=kill),
            settings=settings_for(server),
            host=host(),
            offline=False,
        ).results
    assert (result.status, result.reason, result.calls) == ("error", "it ended the worker (SIGKILL)", 1)
    assert result.tokens > 0
    assert read_spent(tmp_path / "out")[0] == 2 * result.tokens  # it was tried twice


def test_one_that_hangs_beyond_its_time_is_cancelled_and_costs_only_itself(tmp_path: Path) -> None:
    """Its worker does nothing more, as if it were caught in a computation."""
    given = many(tmp_path / "given", 2)

    def freeze(work: Work) -> None:
        if work.title == "1":
            send_worker(signal.SIGSTOP)

    watch = Watched(on_start=freeze)
    run(given, tmp_path / "out", watch, seconds=4.0, jobs=1)
    first, second = read_results(tmp_path / "out")
    assert (first.name, first.status, first.reason) == ("1", "limit", "its time of 4 s is used up")
    assert (second.name, second.status) == ("2", "failed")
    assert watch.starts == ["1", "2"]


def test_waiting_for_a_turn_is_not_time_of_a_challenge(tmp_path: Path) -> None:
    """Of these, two at a time can run their programs; the last ones wait longer than their time would be."""
    given = many(tmp_path / "given", 10, {**BUG, "main.py": "import time\ntime.sleep(2)\nprint(2)\n"})
    run(given, tmp_path / "out", Watched(), seconds=6.0, jobs=10, processors=1)
    reasons = {(item.status, item.reason.partition(":")[0]) for item in read_results(tmp_path / "out")}
    assert reasons == {("failed", "needs a model")}


def test_who_is_asked_twice_to_stop_does_not_wait_for_what_hangs(tmp_path: Path) -> None:
    given = many(tmp_path / "given", 1)
    stopping: list[Supervisor] = []

    def freeze(work: Work) -> None:
        send_worker(signal.SIGSTOP)
        stopping[0].stop(3_600.0)
        stopping[0].stop(3_600.0)

    made = setup()
    with ResultsDirectory(tmp_path / "out") as directory:
        keeper, watch = Keeper(directory, made, Keys("settings")), Watched(on_start=freeze)
        stopping.append(Supervisor(made, work_of(find_challenges([given])), keeper, watch))
        assert stopping[0].run() == "stopped"
    stopping[0].stop(0.0)
    assert not read_results(tmp_path / "out")


def test_a_program_that_does_not_end_is_ended_with_the_time_of_its_challenge(tmp_path: Path) -> None:
    given = fill(tmp_path / "given", {**BUG, "main.py": "import time\ntime.sleep(600)\n"})
    (result,) = solve(given, tmp_path / "out", limits=Limits(max_runtime_s=8.0)).results
    # Its check ends before, to leave time for that.
    assert (result.status, result.reason) == ("failed", "needs a model: it did not end")
    assert "timeout" in result.signature


def test_a_worker_that_cannot_start_ends_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = many(tmp_path / "given", 1)
    words = [sys.executable, "-c", CANNOT, str(given), str(tmp_path / "out")]
    done = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert "the worker of the batch ends before it can work: exit status 1" in done.stdout, done.stderr


CANNOT = """
import sys
from pathlib import Path
from codur.errors import CodurError
from tests.batch.kit import solve
from codur.batch.worker import worker_process
worker_process._BOOT = "raise SystemExit(1)"
try:
    solve(Path(sys.argv[1]), Path(sys.argv[2]))
except CodurError as error:
    print(error.message)
"""


# --- kills from outside ---------------------------------------------------------------------------------------------


def started(given: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    home = out.parent / "home"
    home.mkdir(exist_ok=True)
    words = ["solve", str(given), "--results", str(out), "--offline", "--json", "--jobs", "2", *more]
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "codur", *words],
        env=environment(home, CODUR_REPAIR__MODE="off"),
        cwd=out.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def lines_in(out: Path) -> int:
    file = out / "results.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def family(pid: int) -> list[int]:
    """A process and all that it started."""
    found, waiting = [], [pid]
    while waiting:
        member = waiting.pop()
        found.append(member)
        waiting += children(member)
    return found


def all_gone(pids: list[int]) -> None:
    until(lambda: not [pid for pid in pids if Path(f"/proc/{pid}").exists()])


def test_killed_itself_it_leaves_no_process_and_is_gone_on_with(tmp_path: Path) -> None:
    given, out = many(tmp_path / "given", 6), tmp_path / "out"
    process = started(given, out)
    until(lambda: lines_in(out) >= 2)
    pids = family(process.pid)
    assert len(pids) > 2
    process.kill()
    process.communicate()
    all_gone(pids)
    kept = lines_in(out)
    assert 2 <= kept <= 6
    again = started(given, out, "--resume")
    text, err = again.communicate(timeout=PATIENCE_S)
    assert again.returncode == 1, err.decode()
    assert [item["name"] for item in json.loads(text)["results"]] == ["1", "2", "3", "4", "5", "6"]
    assert lines_in(out) == 6


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_it_keeps_what_is_done_and_says_how_to_go_on(number: signal.Signals, tmp_path: Path) -> None:
    given, out = many(tmp_path / "given", 3), tmp_path / "out"
    fill(given / "2", {"main.py": "import time\ntime.sleep(600)\n"})
    process = started(given, out)
    until(lambda: lines_in(out) >= 2)
    pids = family(process.pid)
    process.send_signal(number)
    text, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == (130 if number == signal.SIGINT else 143), err.decode()
    all_gone(pids)
    told = json.loads(text)
    assert [item["name"] for item in told["results"]] == ["1", "3"]
    assert (told["ended"], told["attempts"], told["attempts_finished"]) == ("stopped", 3, 2)
    assert err.decode().splitlines() == [
        f"go on with: codur solve {given} --jobs 2 --offline --json --resume --results out",
        "interrupted; 2 of 3 challenges finished",
    ]
    assert (out / "report.html").exists()
    assert not list(Path("/tmp").glob(f"codur-*-{os.getpid()}-*"))
