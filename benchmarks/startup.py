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
from pathlib import Path

ROUNDS = 11
WIDE, FOLDER = 20_000, 100
"""Files of the wide workspace, and of each of its directories."""
WIDE_CASE, SHOWN_CASE = "the same among 20,000 files", 'codur "fix main.py", until something is shown'
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
        shutil.rmtree(project)
    bare = statistics.median(times["python -c pass"])
    print(f"{'command':40} {'median ms':>10} {'x bare':>7}")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:40} {median * 1000:10.0f} {median / bare:7.1f}")
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


def _until_shown(argv: list[str], cwd: Path, environ: dict[str, str]) -> float:
    """Seconds from the start of a program on a terminal until it shows something; it is ended then."""
    ours, theirs = pty.openpty()
    started = time.perf_counter()
    with subprocess.Popen(
        argv, cwd=cwd, env={**environ, "TERM": "xterm"}, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        os.read(ours, 1)
        passed = time.perf_counter() - started
        process.terminate()
        os.close(ours)
    return passed


if __name__ == "__main__":
    sys.exit(main())
