"""One job, whole processes, side by side with other agents: wall and CPU time, peak memory, requests, prompt bytes.

    python benchmarks/job.py [--rounds 7] [--codur PROGRAM] [--peers DIR]

The job is a wrong sum in `main.py` with `expected.txt` beside it. The model is a scripted service on this machine that
answers at once with what the agent needs: the edit for those that edit by themselves, for the others a look, the edit,
a run and the end. Each program starts with an empty home, no other key than a false one, and its telemetry off; they
are taken in turn, round by round, and each must leave the right file. DIR is what `make bench` installs the others
into; one that is not there is named and left out.

CPU time is that of the process and of all that it waited for; peak memory is that of the largest process. Ratios are to
codex (or else to the first row).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support.groq_server import GroqServer, ServerReply, calls, text
from tests.support.responses_server import ResponsesServer, call, message

WRONG = "def total(n):\n    return sum(range(1, n))\n\n\nfor n in (3, 10, 100):\n    print(n, total(n))\n"
RIGHT = WRONG.replace("range(1, n)", "range(1, n + 1)")
EXPECTED = "3 6\n10 55\n100 5050\n"
TASK = "fix main.py: it must print what is in expected.txt"
EDIT = "sed -i 's/range(1, n)/range(1, n + 1)/' main.py"
SHELL = ("cat main.py expected.txt", EDIT, "python3 main.py | diff - expected.txt", None)
OLD, NEW = "    return sum(range(1, n))", "    return sum(range(1, n + 1))"
BLOCK = f"main.py\n```python\n<<<<<<< SEARCH\n{OLD}\n=======\n{NEW}\n>>>>>>> REPLACE\n```\n"
REPLACED = calls(("replace_file_content", {"path": "main.py", "content": RIGHT}))
ENDS_MINI = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
CODEX_WORDS = ("exec", "--skip-git-repo-check", "--sandbox", "workspace-write", "--model", "none")
AIDER_WORDS = (
    *("--model", "openai/none", "--yes-always", "--no-analytics", "--no-check-update", "--no-show-model-warnings"),
    *(
        "--no-show-release-notes",
        "--no-detect-urls",
        "--no-gitignore",
        "--no-pretty",
        "--no-stream",
        "--edit-format",
        "diff",
    ),
)
MINI = {"MSWEA_CONFIGURED": "true", "MSWEA_COST_TRACKING": "ignore_errors", "MSWEA_SILENT_STARTUP": "1"}
LITELLM = {"OPENAI_API_KEY": "none", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
PEERS = {"codex": "codex/node_modules/.bin/codex", "aider": "aider/bin/aider", "mini": "mini/bin/mini"}
LIMIT_S = 120.0

Server = GroqServer | ResponsesServer


@dataclass(frozen=True, kw_only=True)
class Agent:
    """A program, how it is started against a server, and what the server answers."""

    command: Callable[[str], Sequence[str]]
    serve: Callable[[], Server]
    environ: Callable[[str], Mapping[str, str]] = lambda _url: {}
    git: bool = False


@dataclass
class Taken:
    """What the runs of an agent took: seconds, seconds, MiB, and of one run requests and bytes."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)
    requests: int = 0
    sent: int = 0


def main() -> int:
    """Print the table; 1 if an agent did not do the job."""
    options = _options()
    agents = _agents(options)
    taken = {name: Taken() for name in agents}
    for _ in range(options.rounds):
        for name, agent in agents.items():
            if not _round(agent, taken[name], verbose=name):
                return 1
    print(_table(taken))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="One job, side by side with other agents.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--codur", default=str(Path(sys.executable).with_name("codur")))
    parser.add_argument("--peers", type=Path, default=Path(".venv/peers"))
    return parser.parse_args()


def _agents(options: argparse.Namespace) -> dict[str, Agent]:
    codur = [str(Path(options.codur).absolute()), "fix main.py"]
    peers = {name: str(options.peers.absolute() / path) for name, path in PEERS.items()}
    found = {
        "codex": Agent(command=lambda url: [peers["codex"], *CODEX_WORDS, *_codex_provider(url), TASK], serve=_codex),
        "aider": Agent(
            command=lambda _: [peers["aider"], *AIDER_WORDS, "--message", TASK, "main.py"],
            serve=lambda: _steady(text(BLOCK)),
            environ=lambda url: {**LITELLM, "OPENAI_API_BASE": f"{url}/v1"},
            git=True,
        ),
        "mini": Agent(
            command=lambda url: [peers["mini"], *_mini_words(url), "--task", TASK],
            serve=lambda: GroqServer([calls(("bash", {"command": words or ENDS_MINI})) for words in SHELL]),
            environ=lambda _: {**LITELLM, **MINI},
        ),
    }
    given = {name: agent for name, agent in found.items() if Path(peers[name]).exists()}
    for name in peers.keys() - given.keys():
        print(f"{name} is not installed: {peers[name]}", file=sys.stderr)
    return {
        **given,
        "codur, offline": Agent(command=lambda _: [*codur, "--offline"], serve=lambda: _steady(REPLACED)),
        "codur, with the model": Agent(
            command=lambda _: codur,
            serve=lambda: _steady(REPLACED),
            environ=lambda url: {"GROQ_API_KEY": "gsk_none", "GROQ_BASE_URL": url, "CODUR_REPAIR__MODE": "off"},
        ),
    }


def _mini_words(url: str) -> Sequence[str]:
    kwargs = ("-c", "mini.yaml", "-c", f"model.model_kwargs.api_base={url}/v1")
    return ("--yolo", "--exit-immediately", "--model", "openai/none", *kwargs, "--output", "/dev/null")


def _codex_provider(url: str) -> Sequence[str]:
    provider = f'{{name="local",base_url="{url}",wire_api="responses",requires_openai_auth=false}}'
    return ("--config", f"model_providers.local={provider}", "--config", "model_provider=local")


def _codex() -> Server:
    return ResponsesServer([call("exec_command", {"cmd": words}) if words else message("Done.") for words in SHELL])


def _steady(reply: ServerReply) -> Server:
    return GroqServer(lambda _: reply)


def _round(agent: Agent, taken: Taken, *, verbose: str) -> bool:
    """One run in a directory of its own; whether the file is right then."""
    with tempfile.TemporaryDirectory() as temporary, agent.serve() as server:
        home, project = Path(temporary, "home"), Path(temporary, "project")
        home.mkdir()
        project.mkdir()
        (project / "main.py").write_text(WRONG)
        (project / "expected.txt").write_text(EXPECTED)
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **agent.environ(server.url)}
        if agent.git:
            _repository(project, environ)
        with (Path(temporary) / "told").open("w+b") as told:
            spent = _process(agent.command(server.url), project, environ, told)
            told.seek(0)
            printed = told.read().decode(errors="replace")
        right = (project / "main.py").read_text() == RIGHT
    if not right:
        print(f"{verbose} did not do the job:\n{printed[-3000:]}", file=sys.stderr)
    for values, value in zip((taken.wall, taken.cpu, taken.peak), spent, strict=True):
        values.append(value)
    bodies: list[Any] = [each.body if hasattr(each, "body") else each for each in server.requests]
    taken.requests, taken.sent = len(bodies), sum(len(json.dumps(body, ensure_ascii=False).encode()) for body in bodies)
    return right


def _process(
    command: Sequence[str], project: Path, environ: Mapping[str, str], told: Any
) -> tuple[float, float, float]:
    """Seconds by the clock, seconds of CPU, and MiB of a program that is waited for."""
    started = time.perf_counter()
    timed = ["timeout", str(LIMIT_S), *command]
    process = subprocess.Popen(
        timed, cwd=project, env=environ, stdin=subprocess.DEVNULL, stdout=told, stderr=subprocess.STDOUT
    )
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = 0  # it was waited for here
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _repository(project: Path, environ: Mapping[str, str]) -> None:
    git = shutil.which("git") or "git"
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.invalid")
    for words in (("init", "--quiet"), ("add", "."), (*who, "commit", "--quiet", "--message", "first")):
        subprocess.run([git, *words], cwd=project, env=environ, check=True)


def _table(taken: Mapping[str, Taken]) -> str:
    base = taken.get("codex") or next(iter(taken.values()))
    wall, cpu = statistics.median(base.wall), statistics.median(base.cpu)
    lines = [
        "| | wall | CPU | wall s (range) | CPU s | peak MiB | requests | prompt bytes |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, one in taken.items():
        middle = statistics.median(one.wall)
        lines.append(
            f"| {name} | {middle / wall:.2f} × | {statistics.median(one.cpu) / cpu:.2f} × "
            f"| {middle:.2f} ({min(one.wall):.2f} to {max(one.wall):.2f}) | {statistics.median(one.cpu):.2f} "
            f"| {statistics.median(one.peak):.0f} | {one.requests} | {one.sent:,} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
