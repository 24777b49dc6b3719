"""What common command lines cost, and jobs with a model, counted rather than timed: `counts.json` is the table.

    python -m tests.packaging.counts

renews the table, after a look at what rose and why. Each command line is a process of its own, whose first words put
the counters in: an audit hook, and counting doubles of what builds classes and of `os.fsync`.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cli.kit import ROOT, environment

TABLE = Path(__file__).with_name("counts.json")
RENEW = "python -m tests.packaging.counts"

_WRONG = "def total(n):\n    return sum(range(1, n))\n\n\nfor n in (3, 10, 100):\n    print(n, total(n))\n"
_FILES = {"main.py": _WRONG, "expected.txt": "3 6\n10 55\n100 5050\n", "notes.txt": "milk\n"}
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "--version": ("--version",),
    "--help": ("--help",),
    "list files": ("list files",),
    "route": ("route", "list files"),
    "runs": ("runs",),
    "offline fix": ("--offline", "fix main.py"),
}
JOBS: Mapping[str, Any] = runpy.run_path(str(ROOT / "benchmarks" / "jobs.py"), run_name="jobs")
_STARTER = r"""
import builtins, os, sys
classes, written, processes, synced = [], set(), [], []
def standard(name):
    return name.partition(".")[0] in sys.stdlib_module_names or name == "__main__"
def build_class(function, *rest, _built=builtins.__build_class__, **named):
    if not standard(function.__globals__.get("__name__", "")):
        classes.append(1)
    return _built(function, *rest, **named)
builtins.__build_class__ = build_class
def fsync(descriptor, _synced=os.fsync):
    synced.append(1)
    return _synced(descriptor)
os.fsync = fsync
def hear(event, args):
    if event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR):
        if isinstance(args[0], str | bytes) and os.fsdecode(args[0]) != os.devnull:
            written.add(os.path.abspath(os.fsdecode(args[0])))
    elif event in ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.exec", "os.system"):
        processes.append(event)
sys.addaudithook(hear)
target, sys.argv = sys.argv[1], ["codur", *sys.argv[2:]]
from codur.__main__ import main
code = main()
sys.stdout.flush()
loaded = [name for name in sys.modules if not standard(name)]
counts = {"modules": len(loaded), "codur modules": sum(name.partition(".")[0] == "codur" for name in loaded)}
counts |= {"classes": len(classes), "processes": len(processes), "fsyncs": len(synced), "files written": len(written)}
import json
with open(target, "w") as stream:
    json.dump(counts, stream)
os._exit(code)
"""


def of_command(name: str, folder: Path) -> Mapping[str, int]:
    """The counts of one command line, after a first: by then, what is remembered is there.

    Raises:
        CalledProcessError: it ended otherwise than it should.
    """
    project, target = folder / "project", folder / "counts.json"
    (folder / "home").mkdir()
    project.mkdir()
    for called in ("list files" if name == "runs" else name, name):
        for path, text in _FILES.items():
            (project / path).write_text(text)
        subprocess.run(
            [sys.executable, "-B", "-c", _STARTER, str(target), *COMMANDS[called]],
            cwd=project,
            env={**environment(folder / "home"), "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
            capture_output=True,
            check=True,
        )
    counts: Mapping[str, int] = json.loads(target.read_text())
    return counts


def of_job(name: str) -> Mapping[str, int]:
    """The requests of a job and their bytes, once it has ended well."""
    result, sizes = JOBS["carried_out"](JOBS["JOBS"][name])
    assert result.outcome == "done"
    return {"requests": len(sizes), "bytes": sum(sizes)}


def main() -> None:
    """Count all again, and write the table."""
    table: dict[str, Mapping[str, int]] = {}
    for name in COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            table[name] = of_command(name, Path(folder))
    table |= {name: of_job(name) for name in JOBS["JOBS"]}
    TABLE.write_text(json.dumps(table, indent=1) + os.linesep)


if __name__ == "__main__":
    main()
