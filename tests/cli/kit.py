"""Runs the installed command line as a user does: a process of its own, an empty home, no key."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """How a command line ended."""

    code: int
    out: str
    err: str


def environment(home: Path, **more: str) -> dict[str, str]:
    """A small environment with an empty home."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **more}


def codur(*words: str, cwd: Path, home: Path, stdin: bytes = b"", **variables: str) -> Ran:
    """Run `codur` with these arguments."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "codur", *words],
        cwd=cwd,
        env=environment(home, **variables),
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
