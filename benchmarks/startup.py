"""How long a start takes: medians of wall time, and their ratio to a bare `python -c pass` in the same run.

Usage: python benchmarks/startup.py [CODUR]    (default: the `codur` beside this interpreter)
Measure an installed wheel: an editable install is compiled anew where bytecode is not written.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 11
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
        cases = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "codur --version": [codur, "--version"],
            "codur --help": [codur, "--help"],
            "codur hello": [codur, "hello"],
            'codur "show me notes.txt"': [codur, "show me notes.txt"],
            'codur route "fix main.py"': [codur, "route", "fix main.py"],
            'codur "fix main.py" (offline repair)': [codur, "fix main.py"],
        }
        times: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name, argv in cases.items():
                (project / "main.py").write_text(PROGRAM)
                started = time.perf_counter()
                done = subprocess.run(argv, cwd=project, env=environ, capture_output=True, check=False)
                times[name].append(time.perf_counter() - started)
                if done.returncode:
                    print(done.stderr.decode(), file=sys.stderr)
                    return 1
        shutil.rmtree(project)
    bare = statistics.median(times["python -c pass"])
    print(f"{'command':40} {'median ms':>10} {'x bare':>7}")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:40} {median * 1000:10.0f} {median / bare:7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
