"""How long a start takes: medians of wall time, and their ratio to a bare `python -c pass` in the same run.

The last rows are a request that rules settle among 20,000 files, and how long it takes on a terminal until something
is shown of a run.

Usage: python benchmarks/startup.py [CODUR]    (default: the `codur` beside this interpreter)
Measure an installed wheel: an editable install is compiled anew where bytecode is not written.
"""

from __future__ import annotations

import os
import pty
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROUNDS = 11
WIDE, FOLDER = 20_000, 100
"""Files of the wide workspace, and of each of its directories."""
WIDE_CASE, SHOWN_CASE = "the same among 20,000 files", 'codur "fix main.py", until something is shown'
TURNS = 200
PROMPT = b"codur>"
BARE_PROMPT = "from prompt_toolkit import PromptSession; PromptSession().prompt('codur> ')"
PROGRAM = "def total(n):\n    return sum(range(1, n))\n\n\nfor n in (3, 10, 100):\n    print(n, total(n))\n"
EXPECTED = "3 6\n10 55\n100 5050\n"


def main() -> int:
    codur = sys.argv[1] if len(sys.argv) > 1 else str(Path(sys.executable).with_name("codur"))
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        project = home / "project"
        project.mkdir()
        (project / "notes.txt").write_text("milk\n")
        (project / "expected.txt").write_text(EXPECTED)
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        wide = _wide(home / "wide")
        cases = {
            "python -c pass": [sys.executable, "-c", "pass"],
            # No run that asks a model can be quicker than these imports.
            'python -c "import langgraph.graph, groq"': [sys.executable, "-c", "import langgraph.graph, groq"],
            "codur --version": [codur, "--version"],
            "codur --help": [codur, "--help"],
            "codur hello": [codur, "hello"],
            'codur "list files"': [codur, "list files"],
            "codur runs": [codur, "runs"],
            "codur diff": [codur, "diff"],
            'codur "show me notes.txt"': [codur, "show me notes.txt"],
            'codur route "fix main.py"': [codur, "route", "fix main.py"],
            'codur "fix main.py" (offline repair)': [codur, "fix main.py"],
            WIDE_CASE: [codur, "show me notes.txt"],
        }
        times: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name, argv in cases.items():
                (project / "main.py").write_text(PROGRAM)
                started = time.perf_counter()
                place = wide if name == WIDE_CASE else project
                done = subprocess.run(argv, cwd=place, env=environ, capture_output=True, check=False)
                times[name].append(time.perf_counter() - started)
                if done.returncode and name != "codur diff":  # its first round has nothing to show
                    print(done.stderr.decode(), file=sys.stderr)
                    return 1
            (project / "main.py").write_text(PROGRAM)
            times.setdefault(SHOWN_CASE, []).append(_until_shown([codur, "fix main.py"], project, environ))
            for name, argv, words in (
                ("prompt_toolkit alone, to its prompt", [sys.executable, "-c", BARE_PROMPT], PROMPT),
                ("codur, to its first line", [codur], b"codur"),
                ("codur, to its prompt", [codur], PROMPT),
            ):
                times.setdefault(name, []).append(_until_shown(argv, project, environ, words))
        memory = _conversation([codur], project, environ)
        shutil.rmtree(project)
    bare = statistics.median(times["python -c pass"])
    print(f"{'command':40} {'median ms':>10} {'x bare':>7}")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:40} {median * 1000:10.0f} {median / bare:7.1f}")
    print("a conversation, resident MiB after a number of tasks:", ", ".join(f"{at}: {mib:.1f}" for at, mib in memory))
    return 0


def _wide(root: Path) -> Path:
    """A directory of many files, one of them notes."""
    for number in range(WIDE // FOLDER):
        folder = root / f"part{number}"
        folder.mkdir(parents=True)
        for name in range(FOLDER):
            (folder / f"module{name}.py").write_text(f"NAME = {name}\n")
    (root / "notes.txt").write_text("milk\n")
    return root


@contextmanager
def _at_terminal(argv: list[str], cwd: Path, environ: dict[str, str]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A program on a terminal, and our end of that; it is ended afterwards."""
    ours, theirs = pty.openpty()
    environ = {**environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    with subprocess.Popen(argv, cwd=cwd, env=environ, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        try:
            yield process, ours
        finally:
            process.terminate()
            os.close(ours)


def _read_until(terminal: int, *wanted: bytes) -> None:
    """Read until each of these was shown, one after the other."""
    seen = b""
    for words in wanted:
        while words not in seen:
            seen += os.read(terminal, 65536)
        seen = seen.partition(words)[2]


def _until_shown(argv: list[str], cwd: Path, environ: dict[str, str], words: bytes = b"") -> float:
    """Seconds from the start of a program on a terminal until it shows these words, or anything; it is ended then."""
    started = time.perf_counter()
    with _at_terminal(argv, cwd, environ) as (_, terminal):
        os.read(terminal, 1) if not words else _read_until(terminal, words)
        return time.perf_counter() - started


def _conversation(argv: list[str], cwd: Path, environ: dict[str, str]) -> list[tuple[int, float]]:
    """What a conversation has in memory after some numbers of tasks, in MiB."""
    found = []
    with _at_terminal(argv, cwd, environ) as (process, terminal):
        _read_until(terminal, PROMPT)
        for number in range(1, TURNS + 1):
            os.write(terminal, b"!true\r")
            _read_until(terminal, b"done", PROMPT)
            if number in (1, 20, 100, TURNS):
                pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
                found.append((number, pages * os.sysconf("SC_PAGE_SIZE") / 2**20))
    return found


if __name__ == "__main__":
    sys.exit(main())
