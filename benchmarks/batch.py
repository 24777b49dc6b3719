"""Measure `codur solve`: how close it comes to the ideal time, what it needs of memory and processor, and 20 kills.

    python benchmarks/batch.py [--challenges N] [--jobs N] [--latency MS] [--kills N]
                               [--only speed,memory,kills,finding] [--sizes 50,500,5000]
                               [--check]

A model on the loopback interface answers each request after `--latency`; each challenge takes one request, for the
change (a challenge with one source needs no classification). The ideal is calls x latency / jobs, or the processor time
of the whole batch / processors if that is more. Memory is the proportional set size (PSS) of the command with all that
it started, the largest of samples taken every 0.2 s. Overhead is processor time beyond that of the programs under
check, which are run alone for comparison. The bound holds against contained programs. Finding is measured on 5,000
challenges, by the processor time of a plain `os.walk` of the same directories (the least of several turns of each, one
after the other); and the whole of `codur solve --list` is timed. `--check` makes the exit status 1 if a figure is
beyond its bound.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from codur.batch.discovery import find_challenges
from codur.config.settings import SandboxSettings
from codur.python.interpreter import find_python
from codur.sandbox.launcher import Launcher

PROGRAM = '''"""Prints two medians."""


def median(values):
    """The middle value, or the mean of the two in the middle."""
    raise NotImplementedError


print({number})
print(median([3, 1, 2]))
print(median([4, 1, 3, 2]))
'''
RIGHT = '''def median(values):
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
'''
DECISION = {
    "task_type": "code_fix",
    "confidence": 0.95,
    "detected_files": ["main.py"],
    "suggested_action": "edit",
    "reasoning": "One function is unfinished.",
}
CALLS = 1
RUNS = 4
"""Program runs of a challenge: before, after, the confirming run, and the one without the expected output."""
PROCESSORS = len(os.sched_getaffinity(0))
BOUNDS = {"time against the ideal": 1.25, "overhead, CPU ms a challenge": 60.0, "memory at 500, MiB": 400.0}
BOUNDS |= {"finding against os.walk": 2.5, "list of 5,000, s": 2.0}


# --- the model --------------------------------------------------------------------------------------------------------


def serve(latency_s: float, told: Connection, asked: Any) -> None:
    """Answer chat requests until the process is ended; `asked` counts them."""
    asyncio.run(_serve(latency_s, told, asked))


async def _serve(latency_s: float, told: Connection, asked: Any) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower()[:15] == b"content-length:")
                body = json.loads(await reader.readexactly(length))
                asked.value += 1
                await asyncio.sleep(latency_s)
                data = json.dumps(answer(body)).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(data)
                )
                writer.write(data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=512)
    told.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def answer(body: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": json.dumps(DECISION)}
    if body.get("tools"):
        arguments = json.dumps({"path": "main.py", "name": "median", "code": RIGHT})
        call = {"id": "1", "type": "function", "function": {"name": "replace_function", "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if body.get("tools") else "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


@contextmanager
def model(latency_s: float) -> Iterator[str]:
    """A model's address."""
    with counted_model(latency_s) as (url, _):
        yield url


@contextmanager
def counted_model(latency_s: float) -> Iterator[tuple[str, Any]]:
    """A model's address, and what has the number of requests that it got as its `value`."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    asked = context.Value("q", 0)
    process = context.Process(target=serve, args=(latency_s, theirs, asked), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}", asked
    finally:
        process.terminate()
        process.join()


# --- batches ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A batch: wall and processor seconds, largest memory in MiB, processor seconds of all else, what it printed."""

    wall_s: float
    cpu_s: float
    memory_mib: float
    others_s: float
    result: dict[str, Any]


def write_challenges(directory: Path, number: int) -> Path:
    for index in range(number):
        challenge = directory / f"challenge-{index:03}"
        challenge.mkdir(parents=True)
        (challenge / "prompt.txt").write_text("fix main.py\n")
        (challenge / "main.py").write_text(PROGRAM.replace("{number}", str(index)))
        (challenge / "expected.txt").write_text(f"{index}\n2\n2.5\n")
    return directory


def command(challenges: Path, results: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "codur", "solve", str(challenges), "--results", str(results), "--json", *more]


def environment(home: Path, url: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "GROQ_API_KEY": "gsk_benchmark",
        "GROQ_BASE_URL": url,
        "CODUR_REPAIR__MODE": "off",
    }


def measure(challenges: Path, home: Path, url: str, jobs: int) -> Measured:
    """Run a batch to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as results:
        begin, busy = time.perf_counter(), busy_s()
        with subprocess.Popen(
            command(challenges, Path(results), "--jobs", str(jobs)),
            env=environment(home, url),
            cwd=home,
            stdout=subprocess.PIPE,
        ) as process:
            sampler = Sampler(process.pid)
            sampler.start()
            out, _ = process.communicate()
            wall, busy = time.perf_counter() - begin, busy_s() - busy
            sampler.stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime + sampler.programs_s
    return Measured(
        wall_s=wall, cpu_s=cpu, memory_mib=sampler.largest_mib, others_s=max(0.0, busy - cpu), result=json.loads(out)
    )


def busy_s() -> float:
    """Processor seconds that the machine has been busy, for anybody."""
    user, nice, system, _, _, irq, softirq, *_ = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


class Sampler(threading.Thread):
    """Looks at a process and all that it started, until it is stopped.

    Attributes:
        largest_mib: the most memory that they had together.
    """

    def __init__(self, pid: int) -> None:
        super().__init__()
        self.largest_mib = 0.0
        self._pid = pid
        self._ended = threading.Event()
        self._programs: dict[int, float] = {}

    @property
    def programs_s(self) -> float:
        """Processor seconds of the programs under check and of what looks after each of them.

        Nobody waits for the latter when the batch ends, so the system does not add them to those of the command.
        """
        return sum(self._programs.values())

    def run(self) -> None:
        while not self._ended.wait(0.1):
            members = tree(self._pid)
            self.largest_mib = max(self.largest_mib, sum(map(_pss_kib, members)) / 1024)
            named = [pid for pid in members if b"codur.sandbox.starter.starter" in _file(pid, "cmdline")]
            for starter in named[:1]:  # those that it forks have its name
                self._programs.update({pid: _cpu_s(pid) for pid in named[1:] if _parent(pid) == starter})

    def stop(self) -> None:
        self._ended.set()
        self.join()


def _file(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _stat(pid: int) -> list[bytes]:
    return _file(pid, "stat").rpartition(b") ")[2].split()


def _parent(pid: int) -> int:
    return int((_stat(pid) or [b"", b"0"])[1])  # read once: it may end meanwhile


def _cpu_s(pid: int) -> float:
    """Processor seconds of a process and of those that it has waited for."""
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def tree(pid: int) -> list[int]:
    """A process and all that it started."""
    found, waiting = [], [pid]
    while waiting:
        member = waiting.pop()
        found.append(member)
        try:
            for task in Path(f"/proc/{member}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return found


def _pss_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def checks_alone(challenges: Path, number: int) -> tuple[float, float]:
    """Processor seconds of a challenge's programs without a batch: bare, and contained as each check is."""
    places = sorted(challenges.iterdir())[:number]
    python = find_python(places[0], os.environ)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for place in places:
        for _ in range(RUNS):
            subprocess.run([python, "main.py"], cwd=place, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    bare = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with (
        Launcher(os.environ, sandbox=SandboxSettings(), python=python) as launcher,
        ThreadPoolExecutor(2 * PROCESSORS) as pool,
    ):

        def run(place: Path) -> None:
            launcher.run([python, "main.py"], cwd=place, timeout_s=60.0)

        run(places[0])
        begin = _started_s(os.getpid())
        list(pool.map(run, places * RUNS))
        contained = _started_s(os.getpid()) - begin
    return bare / len(places), contained / len(places)


def _started_s(pid: int) -> float:
    """Processor seconds of what a process's starter has started."""
    return sum(_cpu_s(member) for member in tree(pid) if b"codur.sandbox.starter.starter" in _file(member, "cmdline"))


# --- figures ----------------------------------------------------------------------------------------------------------


def speed(work: Path, home: Path, number: int, jobs: int, latency_s: float) -> dict[str, float]:
    challenges = write_challenges(work / "speed", number)
    bare, alone = checks_alone(challenges, 20)
    with model(latency_s) as url:
        one = measure(write_challenges(work / "one", 1), home, url, 1)
        batch = measure(challenges, home, url, jobs)
    solved = batch.result["challenges_solved"]
    by_calls = batch.result["model_calls"] * latency_s / jobs
    by_cpu = batch.cpu_s / PROCESSORS
    free = PROCESSORS - batch.others_s / batch.wall_s
    overhead = (batch.cpu_s - one.cpu_s) / (number - 1) - alone
    print(f"speed: {solved} of {number} solved, {batch.result['model_calls']} calls, --jobs {jobs}")
    print(f"  wall {batch.wall_s:.1f} s; ideal by calls {by_calls:.1f} s, by processor time {by_cpu:.1f} s")
    print(f"  of {PROCESSORS} processors, {free:.2f} were free of other work meanwhile")
    print(f"  CPU {batch.cpu_s:.1f} s; first challenge with the start {one.cpu_s:.2f} s")
    each, programs = (
        (batch.cpu_s - one.cpu_s) / (number - 1) * 1000,
        f"{alone * 1000:.0f} ms, bare {bare * 1000:.0f} ms",
    )
    print(f"  CPU a challenge {each:.0f} ms; of it its programs, contained as they are: {programs}")
    return {
        "time against the ideal": batch.wall_s / max(by_calls, by_cpu),
        "the same, on the free processors": batch.wall_s / max(by_calls, batch.cpu_s / free),
        "overhead, CPU ms a challenge": overhead * 1000,
    }


def memory(work: Path, home: Path, jobs: int, sizes: list[int]) -> dict[str, float]:
    figures: dict[str, float] = {}
    with model(0.05) as url:
        for number in sizes:
            batch = measure(write_challenges(work / f"memory-{number}", number), home, url, jobs)
            print(f"memory: {batch.memory_mib:.0f} MiB at {number} challenges, {batch.wall_s:.0f} s")
            figures[f"memory at {number}, MiB"] = batch.memory_mib
    return figures


def kills(work: Path, home: Path, number: int, jobs: int, times: int, seed: int) -> dict[str, float]:
    """Kill the command or its worker at random moments, go on, and compare with a batch that was left alone."""
    rng = random.Random(seed)
    challenges = write_challenges(work / "kills", number)
    lost = 0.0
    with model(0.1) as url:
        whole = measure(challenges, home, url, jobs)
        results = work / "killed"
        killed = 0
        while killed < times:
            mode = ("--resume",) if (results / "results.jsonl").exists() else ()
            killed += _killed_once(
                command(challenges, results, *mode, "--jobs", str(jobs)), home, url, whole.wall_s, rng
            )
            if _count(results) >= number:  # all is done already: start anew, so that each kill meets work
                lost += _differences(whole, challenges, results, home, url, jobs)
                results = work / f"killed-{killed}"
        lost += _differences(whole, challenges, results, home, url, jobs)
    print(f"kills: {killed} kills, {lost:.0f} differences to the batch that was left alone")
    return {"differences after kills": lost}


def _killed_once(argv: list[str], home: Path, url: str, usual_s: float, rng: random.Random) -> int:
    with subprocess.Popen(argv, env=environment(home, url), cwd=home, stdout=subprocess.DEVNULL) as process:
        time.sleep(rng.uniform(0.3, max(0.6, usual_s / 4)))
        members = tree(process.pid)
        victim = rng.choice(members[:2])
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return 0
        if victim != process.pid:
            time.sleep(rng.uniform(0.2, 2.0))
            process.kill()
        process.wait()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in members) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [pid for pid in members if Path(f"/proc/{pid}").exists()]
    if left:
        raise SystemExit(f"processes are left after a kill: {left}")
    return 1


def _count(results: Path) -> int:
    path = results / "results.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _differences(whole: Measured, challenges: Path, results: Path, home: Path, url: str, jobs: int) -> float:
    """Go on to the end; how many rows are lost, doubled or not those of the batch that was left alone."""
    mode = ("--resume",) if (results / "results.jsonl").exists() else ()
    done = subprocess.run(
        command(challenges, results, *mode, "--jobs", str(jobs)),
        env=environment(home, url),
        cwd=home,
        stdout=subprocess.PIPE,
        check=False,
    )
    rows = _table(json.loads(done.stdout))
    lines = [json.loads(line)["name"] for line in (results / "results.jsonl").read_text().splitlines()]
    return len(set(rows) ^ set(_table(whole.result))) + (len(lines) - len(set(lines))) + abs(len(rows) - len(lines))


def _table(result: dict[str, Any]) -> list[tuple[Any, ...]]:
    wanted = ("name", "status", "tier", "solved_by", "calls", "tokens", "diff", "verified", "key")
    return [tuple(row[name] for name in wanted) for row in result["results"]]


# --- finding ----------------------------------------------------------------------------------------------------------


def finding(work: Path, home: Path, number: int = 5_000, turns: int = 7) -> dict[str, float]:
    """What it takes to find challenges, against a plain walk of the same tree."""
    root = work / "many"
    for index in range(number):
        write_challenges(root / f"set-{index % 50:02}" / f"case-{index}", 1)
    found_s, walk_s = [], []
    for _ in range(turns):
        begin = time.process_time()
        found = find_challenges([root])
        found_s.append(time.process_time() - begin)
        begin = time.process_time()
        directories = sum(1 for _ in os.walk(root))
        walk_s.append(time.process_time() - begin)
    if len(found) != number:
        raise SystemExit(f"{len(found)} of {number} challenges were found")
    begin = time.perf_counter()
    argv = [sys.executable, "-m", "codur", "solve", str(root), "--list"]
    subprocess.run(argv, env=environment(home, ""), cwd=home, stdout=subprocess.DEVNULL, check=True)
    listed_s = time.perf_counter() - begin
    print(
        f"finding: {number} challenges in {directories} directories: {min(found_s):.3f} s, os.walk {min(walk_s):.3f} s"
    )
    return {"finding against os.walk": min(found_s) / min(walk_s), "list of 5,000, s": listed_s}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--challenges", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=32)
    parser.add_argument("--latency", type=float, default=500.0, metavar="MS")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="speed,memory,kills,finding")
    parser.add_argument("--sizes", default="50,500", help="challenges of the batches whose memory is measured")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    wanted = options.only.split(",")
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        work, home = Path(name) / "work", Path(name) / "home"
        work.mkdir()
        home.mkdir()
        if "speed" in wanted:
            figures |= speed(work, home, options.challenges, options.jobs, options.latency / 1000)
        if "memory" in wanted:
            figures |= memory(work, home, options.jobs, [int(size) for size in options.sizes.split(",")])
        if "finding" in wanted:
            figures |= finding(work, home)
        if "kills" in wanted:
            figures |= kills(work, home, 100, 8, options.kills, options.seed)
    print()
    for figure, value in figures.items():
        bound = BOUNDS.get(figure, 0.0 if figure.startswith("differences") else None)
        print(f"{figure:<32} {value:8.2f}" + ("" if bound is None else f"   bound {bound:g}"))
    beyond = [name for name, value in figures.items() if value > BOUNDS.get(name, 0.0 if "diff" in name else 1e9)]
    return 1 if options.check and beyond else 0


if __name__ == "__main__":
    sys.exit(main())
