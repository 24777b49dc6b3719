"""Measure `codur solve --engine ray` on a cluster of two nodes, both on this machine, against the local engine.

    python benchmarks/cluster.py [--challenges N] [--jobs N] [--latency MS] [--sizes 500,5000]
                                 [--only speed,node,driver,memory] [--check]

A model on the loopback interface answers each request after `--latency`; each challenge takes one request. The nodes
share the jobs evenly, and are started before the clock: a cluster is there for many batches. Workers have their key and
the model's address from the environment in which the nodes are started, and nowhere else.

speed: the wall time of the command with each engine, and the local one's as a share of the other.
node: the node without the driver is killed when half of the results are there; what is missing, what is there twice,
    and which share of the requests was made again.
driver: the command is killed at half, and goes on with `--resume`; in how many rows that differs from the local
    engine's.
memory: the largest proportional set size of the driver alone, sampled every 0.1 s; the challenges' check is `true`, and
    no model is asked. The store of objects is of the nodes, but what the driver has mapped of it counts.

`--check` makes the exit status 1 if a figure is beyond its bound.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from batch import _pss_kib, _table, command, counted_model, environment, write_challenges

RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_worker_niceness": "0"}
"""Nothing is reported, addresses stay those of loopback, and workers have the priority of the local engine's; read when
Ray is loaded."""
BOUNDS = {"requests made again, %": 5.0, "memory, large against small": 1.1}
LEAST = {"throughput, ray / local": 0.85}
_LOOKS_S = 0.1


class Place(NamedTuple):
    """Where commands run: the challenges, a home, the model's address, and jobs."""

    challenges: Path
    home: Path
    url: str
    jobs: int


def variables_of(place: Place) -> dict[str, str]:
    """What commands and workers see: a key, the model's address, and which Codur is measured."""
    own = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return {**environment(place.home, place.url), **own, **RAY}


@contextmanager
def two_nodes(place: Place) -> Iterator[tuple[Any, Any]]:
    """A cluster on loopback, and its second node; workers see the environment of a command, and no more."""
    before, variables = dict(os.environ), variables_of(place)
    os.environ.clear()
    os.environ.update(variables)
    from ray.cluster_utils import Cluster  # reads the environment when it is loaded

    try:
        # A path of a socket must be short, so its directory is not in that of the results.
        with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as sessions:
            os.environ["RAY_TMPDIR"] = sessions  # not an option: a file that names the head is always there
            cluster, options = Cluster(), {"node_ip_address": "127.0.0.1", "include_dashboard": False}
            cluster.add_node(num_cpus=place.jobs - place.jobs // 2, **options)
            second = cluster.add_node(num_cpus=place.jobs // 2, **options)
            try:
                yield cluster, second
            finally:
                cluster.shutdown()
    finally:
        os.environ.clear()
        os.environ.update(before)


class Driver(threading.Thread):
    """A batch from the command line, looked at while it goes on.

    Attributes:
        largest_mib: the most memory that the command alone had.
        wall_s: how long it took.
        result: what it printed; empty if it was killed.
    """

    def __init__(self, place: Place, results: Path, *more: str) -> None:
        super().__init__()
        argv = command(place.challenges, results, *more, "--jobs", str(place.jobs))
        self.results = results / "results.jsonl"
        self.largest_mib = self.wall_s = 0.0
        self.result: dict[str, Any] = {}
        self._begun = time.perf_counter()
        self.process = subprocess.Popen(argv, env=variables_of(place), cwd=place.home, stdout=subprocess.PIPE)
        self.start()

    def run(self) -> None:
        threading.Thread(target=self._look, daemon=True).start()
        out, _ = self.process.communicate()
        self.wall_s = time.perf_counter() - self._begun
        self.result = json.loads(out) if out else {}

    def _look(self) -> None:
        while self.process.poll() is None:
            self.largest_mib = max(self.largest_mib, _pss_kib(self.process.pid) / 1024)
            time.sleep(_LOOKS_S)

    def wait_for(self, number: int) -> None:
        """Wait until so many results are on disk, or the command has ended."""
        while len(names_in(self.results)) < number and self.is_alive():
            time.sleep(_LOOKS_S)

    def ended(self) -> Driver:
        """Wait for its end."""
        self.join()
        return self


def names_in(results: Path) -> list[str]:
    """The challenge of each whole line."""
    lines = results.read_bytes().split(b"\n")[:-1] if results.exists() else []
    return [json.loads(line)["name"] for line in lines]


def on(cluster: Any) -> Sequence[str]:
    """The options that name a cluster."""
    return "--engine", "ray", "--address", cluster.address


# --- figures ----------------------------------------------------------------------------------------------------------


def speed(work: Path, place: Place, local: Driver) -> dict[str, float]:
    _tell_speed("local", local, place)
    with two_nodes(place) as (cluster, _):
        batch = Driver(place, work / "ray", *on(cluster)).ended()
    _tell_speed("ray", batch, place)
    return {
        "throughput, ray / local": local.wall_s / batch.wall_s,
        "rows that differ": float(differences(local, batch)),
    }


def _tell_speed(name: str, batch: Driver, place: Place) -> None:
    solved, calls = batch.result["challenges_solved"], batch.result["model_calls"]
    print(f"speed: {name}: {solved} solved, {calls} calls, --jobs {place.jobs}: {batch.wall_s:.1f} s", flush=True)


def differences(one: Driver, other: Driver) -> int:
    """In how many rows two batches differ."""
    return len(set(_table(one.result)) ^ set(_table(other.result)))


def node(work: Path, place: Place, asked: Any, number: int) -> dict[str, float]:
    """Lose a node in the middle."""
    asked.value = 0
    with two_nodes(place) as (cluster, second):
        batch = Driver(place, work / "node", *on(cluster))
        batch.wait_for(number // 2)
        had = len(names_in(batch.results))
        cluster.remove_node(second, allow_graceful=False)
        batch.ended()
    found = names_in(batch.results)
    again = asked.value - number
    statuses = [row["status"] for row in batch.result["results"]]
    print(f"node: killed after {had} results; {statuses.count('solved')} of {number} solved, {again} requests again")
    return {
        "missing after a node": float(number - len(set(found))),
        "twice after a node": float(len(found) - len(set(found))),
        "requests made again, %": 100 * again / number,
    }


def driver(work: Path, place: Place, local: Driver, number: int) -> dict[str, float]:
    """Lose the command in the middle, and go on."""
    with two_nodes(place) as (cluster, _):
        batch = Driver(place, work / "driver", *on(cluster))
        batch.wait_for(number // 2)
        batch.process.kill()
        batch.ended()
        had = len(names_in(batch.results))
        rest = Driver(place, work / "driver", *on(cluster), "--resume").ended()
    found = names_in(rest.results)
    print(f"driver: killed after {had} results; {len(found)} lines at the end")
    return {
        "twice after a driver": float(len(found) - len(set(found))),
        "rows that differ after a driver": float(differences(local, rest)),
    }


def memory(work: Path, place: Place, sizes: Sequence[int]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for size in sizes:
        given = write_challenges(work / f"trivial-{size}", size)
        for challenge in given.iterdir():
            (challenge / "challenge.yaml").write_text('check: "true"\n')
        trivial = place._replace(challenges=given)
        with two_nodes(trivial) as (cluster, _):
            batch = Driver(trivial, work / f"memory-{size}", *on(cluster), "--offline").ended()
        done = len(batch.result["results"])
        print(f"memory: {batch.largest_mib:.0f} MiB at {size}: {done} results in {batch.wall_s:.0f} s", flush=True)
        figures[f"memory at {size}, MiB"] = batch.largest_mib
    least, *_, most = figures.values()
    return {**figures, "memory, large against small": most / least}


def measured(work: Path, options: argparse.Namespace) -> dict[str, float]:
    wanted, number = options.only.split(","), options.challenges
    home = work / "home"
    home.mkdir()
    figures: dict[str, float] = {}
    with counted_model(options.latency / 1000) as (url, asked):
        place = Place(write_challenges(work / "given", number), home, url, options.jobs)
        if {"speed", "driver"} & set(wanted):
            local = Driver(place, work / "local").ended()
        if "speed" in wanted:
            figures |= speed(work, place, local)
        if "node" in wanted:
            figures |= node(work, place, asked, number)
        if "driver" in wanted:
            figures |= driver(work, place, local, number)
        if "memory" in wanted:
            figures |= memory(work, place, [int(size) for size in options.sizes.split(",")])
    return figures


def is_beyond(figure: str, value: float) -> bool:
    if figure in LEAST:
        return value < LEAST[figure]
    zero = figure.startswith(("rows", "missing", "twice"))
    return value > BOUNDS.get(figure, 0.0 if zero else float("inf"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--challenges", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--latency", type=float, default=200.0, metavar="MS")
    parser.add_argument("--sizes", default="500,5000", help="challenges of the batches whose memory is measured")
    parser.add_argument("--only", default="speed,node,driver,memory")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        figures = measured(Path(name), options)
    print()
    for figure, value in figures.items():
        print(f"{figure:<36} {value:8.2f}" + ("   beyond its bound" if is_beyond(figure, value) else ""))
    return 1 if options.check and any(is_beyond(*figure) for figure in figures.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
