"""Runs the installed command line as a user does: a process of its own, an empty home, no key."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Ran:
    """How a command line ended."""

    code: int
    out: str
    err: str


def environment(home: Path, **more: str) -> dict[str, str]:
    """A small environment with an empty home."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **more}


def bound_by_permissions() -> list[str]:
    """What to put before a command so that file permissions count for it, even for root; skips where that cannot be."""
    if os.geteuid() != 0:
        return []
    tool = shutil.which("setpriv")
    if tool is None:
        pytest.skip("root reads and writes everything, and setpriv (util-linux) is not here to take that away")
    dropped = "-dac_override,-dac_read_search"
    return [tool, f"--bounding-set={dropped}", f"--inh-caps={dropped}", "--"]


def codur(*words: str, cwd: Path, home: Path, stdin: bytes = b"", before: Sequence[str] = (), **variables: str) -> Ran:
    """Run `codur` with these arguments; `before` is put before the command."""
    done = subprocess.run(
        [*before, sys.executable, "-W", "error", "-m", "codur", *words],
        cwd=cwd,
        env=environment(home, **variables),
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
