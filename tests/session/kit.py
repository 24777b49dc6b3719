"""Runs that are killed, stopped and gone on with: the real command line, a scripted server, a real state directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.kit import Ran, codur, codur_here, environment
from tests.runs.kit import EDIT, KEY, MEDIAN_ODD_ONLY, MEDIAN_RIGHT, NEEDS_MODEL, contents, fill
from tests.support import nursery
from tests.support.groq_server import GroqServer, Replies, ServerReply, calls

PATIENCE_S = 300.0


def edit(code: str, explanation: str = "") -> ServerReply:
    """An answer that replaces the program's one function."""
    given = {"path": "main.py", "function_name": "median", "new_code": code}
    return calls(("replace_function", given), content=explanation)


def by_content(body: Any) -> ServerReply:
    """What a model answers, whichever request comes: the task's type; a half right edit; then the right one."""
    if not body.get("tools"):
        return EDIT
    told = json.dumps(body["messages"])
    return edit(MEDIAN_RIGHT if "sorted(values)[len(values) // 2]" in told else MEDIAN_ODD_ONLY)


@dataclass(frozen=True)
class Place:
    """A project with a home and a state directory of its own, and the server that its models are on."""

    project: Path
    home: Path
    server: GroqServer

    @property
    def state(self) -> Path:
        return self.home / ".local" / "state" / "codur"

    def variables(self, more: Mapping[str, str]) -> dict[str, str]:
        off = {"CODUR_REPAIR__MODE": "off", "CODUR_VERIFICATION__MAKE_CHECK": "never"}
        return {"GROQ_API_KEY": KEY, **off, **more}

    def run(self, *words: str, **variables: str) -> Ran:
        """A command line, to its end."""
        return codur(*words, cwd=self.project, home=self.home, stdin=b"", before=(), **self.variables(variables))

    def here(self, *words: str) -> Ran:
        """A command line that asks no model, in this process."""
        return codur_here(*words, cwd=self.project, home=self.home)

    def json(self, *words: str, **variables: str) -> Any:
        """The JSON that a command line prints; it must succeed."""
        done = self.run(*words, "--json", **variables)
        assert done.code == 0, done.err
        return json.loads(done.out)

    def start(self, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        """A command line, in the background."""
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "codur", *words],
            cwd=self.project,
            env=self._environment(variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def _environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        return environment(self.home, **self.variables(variables))

    def until(self, process: subprocess.Popen[bytes] | nursery.Child, *path: str) -> None:
        """Read the events of `--json-stream` until these nodes were entered, one after the other."""
        assert process.stdout is not None
        wanted = list(path)
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "node_entered" and event["node"] == wanted[0]:
                wanted.pop(0)
                if not wanted:
                    return
        raise AssertionError(
            f"the run ended before {wanted}: {process.stderr.read().decode() if process.stderr else ''}"
        )

    def killed_at(
        self, *path: str, prompt: str = "main.py is wrong", words: Sequence[str] = (), **variables: str
    ) -> None:
        """Start a run, and kill it when it has entered these nodes, one after the other."""
        given = (*(words or (prompt,)), "--json-stream")
        child = nursery.shared().start(*given, cwd=self.project, variables=self._environment(variables))
        self.until(child, *path)
        child.kill()

    def runs(self) -> list[dict[str, Any]]:
        listed = json.loads(self.here("runs", "--json").out)
        assert isinstance(listed, list)
        return listed

    def asked_again(self) -> int:
        """How many requests the server got that it had got before."""
        sent = Counter(json.dumps(body, sort_keys=True) for body in self.server.bodies)
        return sum(times - 1 for times in sent.values())

    def bytes_kept(self) -> bytes:
        """All that is in the state directory."""
        return b"".join(path.read_bytes() for path in sorted(self.state.rglob("*")) if path.is_file())


@contextmanager
def place(
    directory: Path,
    replies: Replies = by_content,
    files: Mapping[str, str] = NEEDS_MODEL,
) -> Iterator[Place]:
    """A project with these files, and a server that gives these replies."""
    project, home = directory / "project", directory / "home"
    project.mkdir()
    home.mkdir()
    fill(project, files)
    with GroqServer(replies) as server:
        fill(home, {".config/codur/config.yaml": f"providers:\n  groq:\n    api: groq\n    base_url: {server.url}\n"})
        yield Place(project, home, server)


def programs_named(token: str) -> list[str]:
    """The command lines that hold a word, of all processes; but not of this one."""
    listed = subprocess.run(["ps", "-axww", "-o", "pid=,command="], capture_output=True, text=True, check=True)
    rows = (row.strip() for row in listed.stdout.splitlines())
    return [row for row in rows if token in row and not row.startswith(f"{os.getpid()} ")]


__all__ = [
    "KEY",
    "MEDIAN_ODD_ONLY",
    "MEDIAN_RIGHT",
    "NEEDS_MODEL",
    "PATIENCE_S",
    "Place",
    "by_content",
    "contents",
    "edit",
    "place",
    "programs_named",
]
