"""Codur and mini-swe-agent at the same desk: whoever sits there answers as the model, from what a request shows.

Usage: python benchmarks/desk.py prepare TASK DIR [--pairs PAIRS_DIR --root SCRATCH]
       python benchmarks/desk.py run codur|mini TASK DIR --box BOX --desk DESK --program PROGRAM
                                 [--pairs PAIRS_DIR --root SCRATCH] [--minutes N]
       python benchmarks/desk.py table FILE…

TASK is a directory of `desk_tasks` (stubs, a text with the rules, tests) or the id of a real bug (see
`real_bug_cases.py`; these need PAIRS_DIR and SCRATCH). DESK is a program with the commands `serve --box BOX`, which
prints the address of a chat service on loopback whose replies are written by hand, and `stats BOX`, which counts.
PROGRAM is `codur`, or `mini` of an environment of its own (`pip install mini-swe-agent mcp`; written for 2.4.6).

Both get the same sentence, the same model's name, an empty home, no telemetry, the task's environment first on the
PATH, and the same time. What differs from everyday: the time limits of a request and a run are those of a person;
classifying is asked of the same model; Codur's plans are approved beforehand, as the peer's commands are; the peer's
commands get 120 s in place of 30. Codur's own search goes first as in any run (8 s), and its limits of attempts, calls
and tokens are the default ones; so is the peer's (3 US dollars), but an unknown model costs nothing.

`run` prints a line of JSON. A stub is solved if the task's tests pass in a copy in which all but the files with stubs
are as they were; a real bug if the maintainers' whole suite accepts it. `chars` is what all prompts hold, tool schemas
too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from real_bug_cases import Pairs, Row

TASKS = Path(__file__).with_name("desk_tasks")
MODEL = "openai/gpt-oss-120b"
STUBS = "do what TASK.md says; the tests must pass"
BUG = "the tests fail, fix the bug"
AGENTS = ("codur", "mini")
GRACE_S = 60.0
COMMAND_S = 120


def main() -> int:
    options = _options()
    if options.command == "prepare":
        prepare(options.task, options.directory.absolute(), _pairs(options))
    elif options.command == "run":
        print(json.dumps(run(options)), flush=True)
    else:
        print(table([json.loads(line) for path in options.files for line in path.read_text().splitlines()]))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    fresh, attempt = commands.add_parser("prepare"), commands.add_parser("run")
    attempt.add_argument("agent", choices=AGENTS)
    for command in (fresh, attempt):
        command.add_argument("task")
        command.add_argument("directory", type=Path)
        command.add_argument("--pairs", type=Path)
        command.add_argument("--root", type=Path)
    for name in ("--box", "--desk", "--program"):
        attempt.add_argument(name, type=Path, required=True)
    attempt.add_argument("--minutes", type=float, default=40.0)
    commands.add_parser("table").add_argument("files", type=Path, nargs="+")
    return parser.parse_args()


def _pairs(options: argparse.Namespace) -> Pairs | None:
    """The real bugs; None for a task of stubs."""
    if (TASKS / options.task).is_dir():
        return None
    if not options.pairs or not options.root:
        raise SystemExit(f"{options.task} is no directory of {TASKS}; a real bug needs --pairs and --root")
    return Pairs(home=options.pairs.resolve(), root=options.root.resolve())


def prepare(task: str, project: Path, pairs: Pairs | None) -> None:
    """A fresh repository of one commit, with an environment in which its tests run."""
    if pairs:
        pairs.make(task, project)
        return
    shutil.copytree(TASKS / task, project, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    (project / ".venv").symlink_to(sys.prefix)
    git = ["git", "-C", str(project), "-c", "user.name=desk", "-c", "user.email=desk@example.invalid"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    (project / ".git" / "info" / "exclude").write_text(".venv\n__pycache__/\n.pytest_cache/\n", encoding="utf-8")
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", task], check=True)


# --- a run ------------------------------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> Row:
    """Let the agent work, and judge what it left."""
    pairs, project = _pairs(options), options.directory.absolute()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="desk-") as home, _served(options.desk, options.box) as url:
        words, environ = _command(options, url, home, BUG if pairs else STUBS)
        environ |= _everyday(project, home)
        status = _ended(words, project, environ, options.minutes * 60 + GRACE_S)
    spent = (time.monotonic() - begin) / 60
    counts = subprocess.run(
        [sys.executable, str(options.desk), "stats", str(options.box)], capture_output=True, text=True, check=True
    )
    stats = json.loads(counts.stdout)
    return {
        "agent": options.agent,
        "task": options.task,
        "kind": "bug" if pairs else "stubs",
        "solved": accepted(options.task, project, pairs),
        "exit": status,
        "requests": stats["requests"],
        "chars": stats["prompt_chars"],
        "largest": stats["largest_prompt_chars"],
        "replies": stats["reply_chars"],
        "minutes": round(spent, 1),
    }


@contextmanager
def _served(desk: Path, box: Path) -> Iterator[str]:
    """The address of the desk, while it is served."""
    if box.is_dir() and any(box.iterdir()):
        raise SystemExit(f"{box} holds requests of another run")
    words = [sys.executable, str(desk), "serve", "--box", str(box), "--wait", "3600"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()


def _command(options: argparse.Namespace, url: str, home: str, prompt: str) -> tuple[list[str], dict[str, str]]:
    """The words that start the agent, and the variables that point it to the desk."""
    program, seconds = str(options.program.absolute()), f"{options.minutes * 60:.0f}"
    if options.agent == "codur":
        return [program, "run", prompt, "--yes", "--json", "--timeout", seconds], {
            "GROQ_API_KEY": "gsk_desk",
            "CODUR_PROVIDERS__GROQ__BASE_URL": url,
            "CODUR_PROVIDERS__GROQ__TIMEOUT_S": seconds,
            "CODUR_LLM__FAST_PROFILE": "gpt-oss-120b",
        }
    settings = {
        "model": {
            "model_name": f"openai/{MODEL}",
            "cost_tracking": "ignore_errors",
            "model_kwargs": {"api_base": f"{url}/v1", "api_key": "none", "timeout": float(seconds)},
        },
        "agent": {"wall_time_limit_seconds": int(seconds)},
        "environment": {"timeout": COMMAND_S},
    }
    chosen = Path(home, "desk.yaml")
    chosen.write_text(json.dumps(settings), encoding="utf-8")
    return [program, "--yolo", "--exit-immediately", "-t", prompt, "-c", "mini.yaml", "-c", str(chosen)], {
        "MSWEA_CONFIGURED": "true",
        "MSWEA_SILENT_STARTUP": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def _everyday(project: Path, home: str) -> dict[str, str]:
    """The environment of a user who has activated the project's own, and can import it."""
    path = f"{project / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    source = project / "src"
    here = {"PYTHONPATH": str(source)} if any(source.glob("*/__init__.py")) else {}
    return {"PATH": path, "HOME": home, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **here}


def _ended(words: Sequence[str], project: Path, environ: dict[str, str], seconds: float) -> int | None:
    """The exit code; what it says goes to the standard error. None if it had to be ended."""
    with subprocess.Popen(
        words, cwd=project, env=environ, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True
    ) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def accepted(task: str, project: Path, pairs: Pairs | None) -> bool:
    """Whether what is in the directory passes the tests that the task came with."""
    if pairs:
        score = pairs.score(task, project)
        return score["solved"] and not score["broke"]
    with tempfile.TemporaryDirectory(prefix="desk-") as folder:
        copy = Path(folder, "project")
        shutil.copytree(project, copy, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__"))
        for file in TASKS.joinpath(task).glob("*.*"):
            if "raise NotImplementedError" not in file.read_text(encoding="utf-8"):
                shutil.copy(file, copy)
        tests = [path.name for path in sorted(TASKS.joinpath(task).glob("test_*.py"))]
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        return not subprocess.run(words, cwd=copy, stdout=sys.stderr, check=False).returncode


# --- the table --------------------------------------------------------------------------------------------------------


def table(rows: Sequence[Row]) -> str:
    """Both agents side by side, and what Codur takes of the peer's requests and characters."""
    by_key = {(row["agent"], row["task"]): row for row in rows}
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    lines = [f"{'task':28}" + "".join(f"{agent:>8} requests   chars  minutes" for agent in AGENTS)]
    lines += [f"{task:28}" + "".join(_cells(by_key.get((agent, task))) for agent in AGENTS) for task in tasks]
    both = [task for task in tasks if {("codur", task), ("mini", task)} <= by_key.keys()]
    sums = {agent: _sum(agent, [by_key[agent, task] for task in both]) for agent in AGENTS}
    lines.append(f"{f'{len(both)} by both':28}" + "".join(_cells(sums[agent]) for agent in sums))
    if both:
        shares = [sums["codur"][key] / max(1, sums["mini"][key]) for key in ("requests", "chars")]
        lines.append(f"codur takes {shares[0]:.2f} of the requests and {shares[1]:.2f} of the characters")
    return "\n".join(lines)


def _sum(agent: str, rows: Sequence[Row]) -> Row:
    sums = {key: sum(row[key] for row in rows) for key in ("solved", "requests", "chars", "minutes")}
    return {"agent": agent, **sums}


def _cells(row: Row | None) -> str:
    if row is None:
        return f"{'-':>8} {'-':>8} {'-':>7} {'-':>8}"
    solved = {True: "solved", False: "no"}[row["solved"]] if "task" in row else row["solved"]
    return f"{solved:>8} {row['requests']:8} {row['chars']:7} {row['minutes']:8.1f}"


if __name__ == "__main__":
    sys.exit(main())
