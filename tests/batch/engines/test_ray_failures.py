"""Whatever becomes of a cluster's workers, nodes and driver: nothing is lost, done twice, or told to others."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from codur.batch.engines.cluster_task import require_alike, versions
from codur.batch.engines.ray_engine import Cluster, RayEngine
from codur.cli import machine
from codur.config.settings import Settings
from codur.errors import Refused, UsageError
from codur.session.host import Host
from codur.structs import replace
from codur.types import Limits
from tests.batch.kit import BUG, SEARCH_OFF, children, many, rows, setup, solve, table
from tests.cli.kit import environment
from tests.runs.kit import fill, host, settings_for
from tests.support.groq_server import GroqServer, calls

pytest.importorskip("ray")
pytestmark = pytest.mark.ray

PATIENCE_S = 300.0
KEY = "gsk_made_up_4f1c9e77a0b2"
SLOW = {**BUG, "main.py": "import time\ntime.sleep(1)\nprint(2)\n"}


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A cluster of two nodes with a processor each, whose workers have a key; its sessions are in `place`."""
    from ray.cluster_utils import Cluster as Nodes

    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as place, _with_key():
        os.environ["RAY_TMPDIR"] = place  # not an option: a file that names the head is always there
        cluster: Any = Nodes()
        options: dict[str, Any] = {"node_ip_address": "127.0.0.1", "include_dashboard": False}
        cluster.add_node(num_cpus=1, **options)
        cluster.add_node(num_cpus=1, resources={"agent": 1}, **options)
        cluster.place = place
        try:
            yield cluster
        finally:
            cluster.shutdown()


@contextmanager
def _with_key() -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(GROQ_API_KEY=KEY, RAY_USAGE_STATS_ENABLED="0")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def engine(nodes: Any, **fields: Any) -> Callable[..., RayEngine]:
    return partial(RayEngine, cluster=Cluster(**{"host": machine.host, "address": nodes.address, **fields}))


def busy_workers() -> list[int]:
    """Workers of clusters that this process has started, while they work on a challenge."""
    waiting, found = [os.getpid()], list[int]()
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError):  # it has ended meanwhile
            waiting += children(pid)
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::_solve"):
                found.append(pid)
    return found


@contextmanager
def killing(times: int) -> Iterator[list[int]]:
    """Kill so many workers, one after the other, as soon as each is at work."""
    killed, ended = list[int](), threading.Event()

    def kill() -> None:
        while len(killed) < times and not ended.wait(0.02):
            for pid in set(busy_workers()[:1]) - set(killed):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


def test_work_whose_worker_is_killed_is_done_again(tmp_path: Path, nodes: Any) -> None:
    given = many(tmp_path / "given", 2, SLOW)
    whole = solve(given, tmp_path / "whole")
    with killing(1) as killed:
        batch = solve(given, tmp_path / "out", jobs=2, engine=engine(nodes))
    assert len(killed) == 1
    assert table(batch.results) == table(whole.results)
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 2


def test_work_that_ends_three_workers_is_given_up(tmp_path: Path, nodes: Any) -> None:
    with killing(3) as killed:
        batch = solve(many(tmp_path / "given", 1, SLOW), tmp_path / "out", jobs=1, engine=engine(nodes))
    assert len(set(killed)) == 3
    assert rows(batch) == [("1", "error")]
    assert next(iter(batch.results)).reason == "crashed: it was lost 3 times (WorkerCrashedError)"


def test_a_resource_of_the_cluster_caps_what_goes_on_at_once(tmp_path: Path, nodes: Any) -> None:
    together, ended = list[int](), threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            together.append(len(busy_workers()))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        capped = engine(nodes, resources={"num_cpus": 0.5, "agent": 1.0})
        batch = solve(many(tmp_path / "given", 3, SLOW), tmp_path / "out", jobs=2, engine=capped)
    finally:
        ended.set()
        thread.join()
    assert len(rows(batch)) == 3
    assert max(together) == 1


def command(given: Path, results: Path, *more: str, jobs: int = 2) -> list[str]:
    words = ["solve", str(given), "--results", str(results), "--offline", "--engine", "ray", "--jobs", str(jobs)]
    return [sys.executable, "-m", "codur", *words, *more]


def variables(home: Path, **more: str) -> dict[str, str]:
    ray = {name: value for name, value in os.environ.items() if name.startswith("RAY_")}
    return environment(home, **{"CODUR_REPAIR__MODE": "off", **ray, **more})


def wait_for_lines(path: Path) -> None:
    """Wait until the first result is kept."""
    deadline = time.monotonic() + PATIENCE_S
    while not (path.exists() and path.read_bytes().count(b"\n")) and time.monotonic() < deadline:
        time.sleep(0.05)


def test_a_lost_node_loses_nothing_and_nothing_is_there_twice(tmp_path: Path, nodes: Any) -> None:
    given, results = many(tmp_path / "given", 6, SLOW), tmp_path / "out"
    third = nodes.add_node(num_cpus=2, node_ip_address="127.0.0.1", include_dashboard=False)
    argv = command(given, results, "--address", nodes.address, "--json", jobs=4)
    with subprocess.Popen(argv, env=variables(tmp_path), cwd=tmp_path, stdout=subprocess.PIPE) as driver:
        wait_for_lines(results / "results.jsonl")
        nodes.remove_node(third, allow_graceful=False)
        said, _ = driver.communicate()
    shown = json.loads(said)["results"]  # Ray tells of the lost node, elsewhere
    assert [(row["name"], row["status"]) for row in shown] == [(str(number), "failed") for number in range(1, 7)]
    names = [json.loads(line)["name"] for line in (results / "results.jsonl").read_text().splitlines()]
    assert sorted(names) == ["1", "2", "3", "4", "5", "6"]


def test_a_driver_that_is_killed_goes_on_to_the_same_table(tmp_path: Path, nodes: Any) -> None:
    given, results = many(tmp_path / "given", 4, SLOW), tmp_path / "out"
    argv = command(given, results, "--address", nodes.address)
    with subprocess.Popen(argv, env=variables(tmp_path), cwd=tmp_path, stdout=subprocess.PIPE) as driver:
        lines = results / "results.jsonl"
        wait_for_lines(lines)
        driver.kill()
    assert 1 <= lines.read_bytes().count(b"\n") < 4
    done = subprocess.run(
        [*argv, "--resume", "--json"], env=variables(tmp_path), cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert [(row["name"], row["status"]) for row in json.loads(done.stdout)["results"]] == [
        (str(number), "failed") for number in range(1, 5)
    ]
    assert lines.read_bytes().count(b"\n") == 4


def test_keys_are_the_workers_own_and_told_to_nobody(tmp_path: Path, nodes: Any) -> None:
    """The key is in the driver's environment too; what it sends, and all that Ray writes down, is looked through."""
    change = ("replace_function", {"path": "main.py", "name": "one", "code": "def one():\n    return 1\n"})
    broken = {**BUG, "main.py": "def one():\n    raise NotImplementedError\n\n\nprint(one())\n"}
    given = fill(tmp_path / "given", broken)
    with GroqServer(lambda body: calls(change)) as server:
        own, settings = host(key=KEY), settings_for(server)
        made = setup(settings, host=own, offline=False)
        sent = RayEngine(made, [], None, None, cluster=Cluster(host=machine.host))  # type: ignore[arg-type]
        payload = sent.shared()
        batch = solve(given, tmp_path / "out", settings=settings, host=own, offline=False, engine=engine(nodes))
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert [result.calls for result in batch.results] == [len(server.requests)]
    assert KEY.encode() not in payload
    written = [path for path in Path(nodes.place).rglob("*") if path.is_file()]
    assert any("worker" in path.name for path in written)
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []


def test_the_budget_of_the_batch_holds_on_a_cluster(tmp_path: Path, nodes: Any) -> None:
    given = many(tmp_path / "given", 4)
    with GroqServer(lambda body: calls(("cannot", {"reason": "no"}))) as server:
        common = {"settings": settings_for(server), "host": host(key=KEY), "offline": False}
        batch = solve(given, tmp_path / "out", jobs=1, max_tokens=100, engine=engine(nodes), **common)  # type: ignore[arg-type]
    assert (batch.ended, batch.code) == ("budget", 4)
    assert server.requests == []


@contextmanager
def _after(seconds: float) -> Iterator[None]:
    time.sleep(seconds)
    yield


def late_turn() -> Host:
    """A host whose turn for a search comes when the time of a challenge is over."""
    return replace(machine.host(), search_turn=partial(_after, 4.9))


def stuck_turn() -> Host:
    """A host whose turn for a search does not come."""
    return replace(machine.host(), search_turn=partial(_after, 600.0))


def broken() -> Host:
    """A machine that cannot be worked on."""
    raise OSError(28, "No space left on device")


def test_a_machine_that_cannot_be_worked_on_costs_its_own_work_alone(tmp_path: Path, nodes: Any) -> None:
    batch = solve(many(tmp_path / "given", 2), tmp_path / "out", engine=engine(nodes, host=broken))
    assert rows(batch) == [("1", "error"), ("2", "error")]
    found = next(iter(batch.results))
    assert found.reason == "a worker of the cluster has failed: OSError: [Errno 28] No space left on device"


def test_a_worker_without_a_sandbox_does_nothing_unless_that_is_wanted(tmp_path: Path, nodes: Any) -> None:
    given = fill(tmp_path / "given", BUG)
    bare = structs.replace(SEARCH_OFF, sandbox=structs.replace(SEARCH_OFF.sandbox, backend="none"))
    with pytest.raises(Refused, match="without a sandbox"):
        solve(given, tmp_path / "out", settings=bare, engine=engine(nodes))
    batch = solve(given, tmp_path / "bare", settings=bare, engine=engine(nodes, needs_sandbox=False))
    assert rows(batch) == [("given", "failed")]


@pytest.mark.parametrize("name", ["codur", "ray", "Python"])
def test_versions_that_differ_are_named(name: str) -> None:
    with pytest.raises(UsageError, match=f"a worker of the cluster has {name} .*, and this machine 0.0"):
        require_alike({**versions(), name: "0.0"})


def test_a_worker_of_another_version_ends_the_batch(
    tmp_path: Path, nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codur.batch.engines.ray_engine.versions", lambda: {**versions(), "codur": "0.0"})
    with pytest.raises(UsageError, match=r"a worker of the cluster has codur .*, and this machine 0.0"):
        solve(fill(tmp_path / "given", BUG), tmp_path / "out", engine=engine(nodes))


def test_where_ray_is_not_installed_the_command_is_told(tmp_path: Path) -> None:
    words = command(many(tmp_path / "given", 1), tmp_path / "out")[3:]
    without = f"import sys; sys.modules['ray'] = None; from codur.cli.main import run; sys.exit(run({words!r}))"
    argv = [sys.executable, "-c", without]
    done = subprocess.run(argv, env=variables(tmp_path), cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 2, done.stderr
    assert b"pip install 'codur[ray]'" in done.stderr


def listening(pid: int) -> set[str]:
    """The addresses, in hexadecimal, at which a process and all that it started listen for connections."""
    waiting, sockets = [pid], set[str]()
    while waiting:
        member = waiting.pop()
        with contextlib.suppress(OSError):  # it has ended meanwhile
            waiting += children(member)
            sockets |= {str(path.readlink()) for path in Path(f"/proc/{member}/fd").iterdir()}
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    return {line[1].split(":")[0] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets}


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def test_a_cluster_of_its_own_listens_on_loopback_alone_and_is_gone_at_the_end(tmp_path: Path) -> None:
    given = many(tmp_path / "given", 1, {**BUG, "main.py": "import time\ntime.sleep(4)\nprint(2)\n"})
    plain = environment(tmp_path, CODUR_REPAIR__MODE="off")
    found: set[str] = set()
    with subprocess.Popen(command(given, tmp_path / "out"), env=plain, cwd=tmp_path, stdout=subprocess.PIPE) as driver:
        while driver.poll() is None:
            found |= listening(driver.pid)
            time.sleep(0.1)
    assert found
    assert found <= LOOPBACK
    assert driver.returncode == 1


def test_at_an_address_of_this_machine_alone_nobody_else_is_waited_for(tmp_path: Path) -> None:
    """Ray takes a loopback address for this machine's own one, at which nobody may answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        argv = command(
            many(tmp_path / "given", 1), tmp_path / "out", "--address", f"127.0.0.1:{server.getsockname()[1]}"
        )
        plain = environment(tmp_path, CODUR_REPAIR__MODE="off")
        done = subprocess.run(argv, env=plain, cwd=tmp_path, capture_output=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 3
    assert b"no Ray cluster answers" in done.stderr


def test_work_beyond_its_time_is_kept_as_that(tmp_path: Path, nodes: Any) -> None:
    """It comes to an end after it was cancelled, before it is left behind; or it never does."""
    for name, late in (("late", late_turn), ("stuck", stuck_turn)):
        batch = solve(
            many(tmp_path / name, 2),
            tmp_path / f"{name}-results",
            settings=Settings(),
            limits=Limits(max_runtime_s=4.0),
            engine=engine(nodes, host=late),
        )
        assert rows(batch) == [("1", "limit"), ("2", "limit")]
