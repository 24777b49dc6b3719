"""Runs the command line as a user does, in a process of its own with an empty home; or here, where that is enough.

`codur_anew` starts Python for it. `codur` forks a process that has loaded Codur already, which saves most of the time.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from codur.cli.main import run
from tests.adversarial.backends import FORCED
from tests.support import nursery

ROOT = nursery.ROOT
SCHEMA = json.loads((ROOT / "docs" / "run-result.schema.json").read_text())
_PATIENCE_S = 300.0
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC", "OTEL_", "COVERAGE_")


@dataclass(frozen=True)
class Ran:
    """How a command line ended."""

    code: int
    out: str
    err: str


def environment(home: Path, **more: str) -> dict[str, str]:
    """A small environment with an empty home, in which no local server of models is found."""
    nowhere = {"CODUR_PROVIDERS__OLLAMA__BASE_URL": "http://127.0.0.1:9/v1"}
    forced = {"CODUR_SANDBOX__BACKEND": FORCED} if FORCED else {}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **nowhere, **forced, **more}


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
    """Run `codur` with these arguments; `before` is put before the command.

    It is started anew where that matters: behind another command, and for variables that Python reads as it starts.
    """
    if before or any(name.startswith(_READ_AT_START) for name in variables):
        return codur_anew(*words, cwd=cwd, home=home, stdin=stdin, before=before, **variables)
    child = nursery.shared().start(*words, cwd=cwd, variables=environment(home, **variables))
    code, out, err = child.communicate(stdin, _PATIENCE_S)
    return Ran(code, out.decode(), err.decode())


def codur_anew(
    *words: str, cwd: Path, home: Path, stdin: bytes = b"", before: Sequence[str] = (), **variables: str
) -> Ran:
    """As `codur`, with all of its start-up."""
    done = subprocess.run(
        [*before, sys.executable, "-W", "error", "-m", "codur", *words],
        cwd=cwd,
        env=environment(home, **variables),
        input=stdin,
        capture_output=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def codur_here(*words: str, cwd: Path, home: Path, **variables: str) -> Ran:
    """Run `codur` with these arguments in this process, which saves its start-up."""
    out, err = io.StringIO(), io.StringIO()
    here = _surroundings(cwd, environment(home, **variables))
    with here, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return Ran(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _surroundings(cwd: Path, variables: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(variables)
    try:
        with contextlib.chdir(cwd):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def the_object(text: str) -> dict[str, Any]:
    """The one JSON object that `text` consists of; it keeps to the published schema of results."""
    value = json.loads(text)
    jsonschema.validate(value, SCHEMA)
    assert isinstance(value, dict)
    return value
