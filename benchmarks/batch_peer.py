"""Run `codur solve` and the batch runner of mini-swe-agent side by side: the same tasks, the same scripted model.

    python benchmarks/batch_peer.py --peer MINI_EXTRA [--challenges N] [--jobs N] [--latency MS]

MINI_EXTRA is the program in an environment of its own: `python -m venv DIR; DIR/bin/pip install mini-swe-agent datasets
mcp`, then `DIR/bin/mini-extra`. It runs with an empty environment and home, and asks the loopback model only. Measured
with mini-swe-agent 2.4.6.

A task is a program with one unfinished function. The model answers after `--latency`; for Codur, with the change (one
call); for the peer, whose only tool is a shell, with a command that changes and runs the program, and then with the one
that hands in the difference (two calls). So the times are compared with each one's own ideal: calls x latency / jobs.

Not comparable: Codur runs each program four times, contained, and compares what it prints (before, after, once more,
and without the expected output); the peer runs it once, in a plain shell of its `local` environment, and nobody judges
it. Usually the peer works in containers, whose cost is left out here. In the end each of them is killed (SIGKILL) with
half of its work on record, and started again with the same words (Codur with `--resume`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batch import PROCESSORS, RIGHT, Sampler, answer, busy_s, command, environment, tree, write_challenges

BODY = RIGHT.split('"""')[2].strip("\n")
EDIT = f"""python3 - <<'EOF'
from pathlib import Path
path = Path("main.py")
path.write_text(path.read_text().replace("    raise NotImplementedError", {BODY!r}))
EOF
python3 main.py"""
CONFIG = """
agent:
  system_template: "You repair programs with the tool bash."
  instance_template: "{{task}}"
  step_limit: 5
  cost_limit: 0
environment:
  environment_class: local
  cwd: %(work)s
run:
  env_startup_command: "rm -rf %(work)s/{{instance_id}}; cp -r %(challenges)s/{{instance_id}} %(work)s/{{instance_id}}"
model:
  model_class: litellm
  model_name: openai/m
  cost_tracking: ignore_errors
  model_kwargs: {api_base: "%(url)s/v1", api_key: none}
"""


class Server(threading.Thread):
    """A scripted model on the loopback interface for both of them.

    Attributes:
        url: its address.
        answered: requests so far.
    """

    def __init__(self, latency_s: float, challenges: Path, work: Path) -> None:
        super().__init__(daemon=True)
        self.answered = 0
        self._latency_s = latency_s
        self._challenges, self._work = challenges, work
        self._ready = threading.Event()

    def run(self) -> None:
        asyncio.run(self._serve())

    def begin(self) -> Server:
        self.start()
        self._ready.wait()
        return self

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._handle, "127.0.0.1", 0, backlog=512)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await server.serve_forever()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower()[:15] == b"content-length:")
                body = json.loads(await reader.readexactly(length))
                self.answered += 1
                await asyncio.sleep(self._latency_s)
                data = json.dumps(self._answer(body)).encode()
                start = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(data)
                writer.write(start + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _answer(self, body: Any) -> dict[str, Any]:
        if "bash" not in [tool["function"]["name"] for tool in body.get("tools") or ()]:
            return answer(body)
        found = re.search(r"challenge-\d+", json.dumps(body["messages"]))
        if found is None:
            raise SystemExit("the peer's task names no challenge")
        old, new = (shlex.quote(f"{place}/{found[0]}/main.py") for place in (self._challenges, self._work))
        words = f"cd {shlex.quote(str(self._work / found[0]))}\n{EDIT}"
        if any(message["role"] == "tool" for message in body["messages"]):
            words = f"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; diff -u {old} {new}; true"
        call = {
            "id": "1",
            "type": "function",
            "function": {"name": "bash", "arguments": json.dumps({"command": words})},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }


@dataclass(frozen=True, kw_only=True)
class Peer:
    """One that is measured: its words for so many challenges, its environment, and what it has on record.

    Attributes:
        more: words that only go on with what is there.
        kept: the names and patches that a results directory holds; None if its file cannot be read.
    """

    name: str
    words: Callable[[Path, Path], list[str]]
    environ: dict[str, str]
    more: tuple[str, ...]
    kept: Callable[[Path], list[tuple[str, str]] | None]


@dataclass(frozen=True, kw_only=True)
class Run:
    """Wall and processor seconds, the most memory in MiB, requests, and processors that others left free."""

    wall_s: float
    cpu_s: float
    memory_mib: float
    calls: int
    free: float


def measure(peer: Peer, server: Server, challenges: Path, out: Path, home: Path) -> Run:
    calls, before = server.answered, resource.getrusage(resource.RUSAGE_CHILDREN)
    begin, busy = time.perf_counter(), busy_s()
    with subprocess.Popen(
        peer.words(challenges, out), env=peer.environ, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        sampler = Sampler(process.pid)
        sampler.start()
        process.wait()
        wall, busy = time.perf_counter() - begin, busy_s() - busy
        sampler.stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime + sampler.programs_s
    free = PROCESSORS - max(0.0, busy - cpu) / wall
    return Run(wall_s=wall, cpu_s=cpu, memory_mib=sampler.largest_mib, calls=server.answered - calls, free=free)


def after_a_kill(peer: Peer, server: Server, challenges: Path, out: Path, home: Path, half: int) -> dict[str, float]:
    """Kill it when half is on record, and go on with it; what is left of it, and what that took."""
    calls = server.answered
    words = peer.words(challenges, out)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, env=peer.environ, cwd=home, **quiet) as process:  # type: ignore[call-overload]
        while len(peer.kept(out) or ()) < half and process.poll() is None:
            time.sleep(0.01)
        members = tree(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
    time.sleep(3)
    left = sum(Path(f"/proc/{pid}").exists() for pid in members)
    at_kill = peer.kept(out)
    subprocess.run([*words, *peer.more], env=peer.environ, cwd=home, check=False, **quiet)  # type: ignore[call-overload]
    return {
        "processes left after SIGKILL": left,
        "record readable after it": float(at_kill is not None),
        "on record then": len(at_kill or ()),
        "with a patch at the end": sum(bool(patch) for _, patch in peer.kept(out) or ()),
        "calls in all": server.answered - calls,
    }


def figures(peer: Peer, server: Server, places: dict[int, Path], base: Path, jobs: int, latency_s: float) -> None:
    one_number, number = places
    home = base / "home"
    one = measure(peer, server, places[one_number], base / f"{peer.name}-one", home)
    batch = measure(peer, server, places[number], base / f"{peer.name}-all", home)
    kept = peer.kept(base / f"{peer.name}-all") or []
    ideal = batch.calls * latency_s / jobs
    killed = after_a_kill(peer, server, places[number], base / f"{peer.name}-killed", home, number // 2)
    shown = {
        "with a patch": sum(bool(patch) for _, patch in kept),
        "calls": batch.calls,
        "wall, s": batch.wall_s,
        f"of {PROCESSORS} processors, free of other work": batch.free,
        "wall for one, s": one.wall_s,
        "wall against calls x latency / jobs": batch.wall_s / ideal,
        "CPU for one with the start, s": one.cpu_s,
        "CPU a further challenge, ms": 1000 * (batch.cpu_s - one.cpu_s) / (number - one_number),
        "memory of the tree, MiB (PSS)": batch.memory_mib,
        **killed,
    }
    print(f"\n{peer.name}: {number} challenges, {jobs} at a time, model {latency_s:g} s")
    for name, value in shown.items():
        print(f"  {name:<38} {value:>10.2f}" if value % 1 else f"  {name:<38} {value:>7.0f}")


def codur(home: Path, url: str, jobs: int) -> Peer:
    def kept(out: Path) -> list[tuple[str, str]] | None:
        try:
            lines = [json.loads(line) for line in (out / "results.jsonl").read_bytes().split(b"\n")[:-1]]
        except OSError:
            return []
        return [(line["name"], line["patch"]) for line in lines]

    return Peer(
        name="codur",
        words=lambda challenges, out: command(challenges, out, "--jobs", str(jobs)),
        environ=environment(home, url),
        more=("--resume",),
        kept=kept,
    )


def mini(program: Path, base: Path, work: Path, url: str, jobs: int) -> Peer:
    def words(challenges: Path, out: Path) -> list[str]:
        data = base / f"data-of-{challenges.name}"
        data.mkdir(exist_ok=True)
        names = sorted(path.name for path in challenges.iterdir())
        rows = [{"instance_id": name, "problem_statement": f"Repair main.py in {name}."} for name in names]
        (data / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        config = base / f"{challenges.name}.yaml"
        config.write_text(CONFIG % {"work": work, "challenges": challenges, "url": url})
        options = ["--subset", str(data), "--split", "test", "-w", str(jobs), "-c", str(config), "-o", str(out)]
        return [str(program), "swebench", *options]

    def kept(out: Path) -> list[tuple[str, str]] | None:
        try:
            text = (out / "preds.json").read_text()
        except OSError:
            return []
        try:
            return [(name, entry["model_patch"]) for name, entry in json.loads(text).items()]
        except ValueError:
            return None

    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(base / "home"),
        "LANG": "C.UTF-8",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "MSWEA_CONFIGURED": "true",
        "MSWEA_SILENT_STARTUP": "1",
    }
    return Peer(name="mini-swe-agent", words=words, environ=environ, more=(), kept=kept)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, required=True, metavar="MINI_EXTRA")
    parser.add_argument("--challenges", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--latency", type=float, default=500.0, metavar="MS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        (base / "home").mkdir()
        (base / "work").mkdir()
        places = {
            1: write_challenges(base / "one", 1),
            options.challenges: write_challenges(base / "all", options.challenges),
        }
        server = Server(options.latency / 1000, base / "all", base / "work").begin()
        for peer in (
            codur(base / "home", server.url, options.jobs),
            mini(options.peer.absolute(), base, base / "work", server.url, options.jobs),
        ):
            figures(peer, server, places, base, options.jobs, options.latency / 1000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
