"""Streams whose encoding lacks a character, and streams whose reader has gone."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codur.ui.sanitise import sanitise
from codur.ui.stream import SafeStream, fit

ROOT = Path(__file__).parents[2]
FULL = Path("/dev/full")


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", "✔ a → b … é 世"),
        ("ascii", "[ok] a -> b ... \\xe9 \\u4e16"),
        ("latin-1", "[ok] a -> b ... é \\u4e16"),
    ],
)
def test_characters_that_an_encoding_lacks(encoding: str, shown: str) -> None:
    buffer = io.BytesIO()
    stream = SafeStream(io.TextIOWrapper(buffer, encoding=encoding))
    stream.put(sanitise("✔ a → b … é 世"))
    assert buffer.getvalue().decode(encoding) == shown + "\n"


def test_what_fits_is_not_touched() -> None:
    assert fit("“é” – …", "utf-8") == "“é” – …"


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("+a\r\n\x1b[31m é\n", "+a\r\n\x1b[31m é\n".encode()),
        ("+\udce9\n", b"+\xe9\n"),
        ("+\ud83d\udce9\n", b"+\\ud83d\\udce9\n"),
    ],
)
def test_exact_bytes_for_pipes(text: str, data: bytes) -> None:
    buffer = io.BytesIO()
    wrapper = io.TextIOWrapper(buffer, encoding="ascii")
    SafeStream(wrapper).write_exact(text)
    assert buffer.getvalue() == data


def test_a_terminal_that_was_closed_is_silence() -> None:
    ours, theirs = os.openpty()
    os.close(ours)
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        stream = SafeStream(terminal)
        stream.put(sanitise("one"))
        stream.put(sanitise("two"))
        stream.write_exact("three")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_told() -> None:
    with pytest.raises(OSError, match="No space left"), FULL.open("w", encoding="utf-8") as stream:
        SafeStream(stream).put(sanitise("one"))


WRITER = """
import sys
from codur.types import RunResult
from codur.ui.output_formats import make_output
sys.stdin.read()
output = make_output(sys.argv[1], stdout=sys.stdout, stderr=sys.stderr)
answer = "" if sys.argv[1] == "raw" else "line\\n" * 50_000
output.result(RunResult(outcome="done", exit_code=0, answer=answer, diff="+line\\n" * 50_000))
output.result(RunResult(outcome="done", exit_code=0, answer="again"))
output.close()
print("still running", file=sys.stderr)
"""


@pytest.mark.parametrize("kind", ["rich", "plain", "json", "json_stream", "raw"])
def test_a_reader_that_has_gone_ends_the_output_quietly(kind: str) -> None:
    argv = [sys.executable, "-c", WRITER, kind]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, cwd=ROOT, **pipes) as process:  # type: ignore[call-overload]
        process.stdout.close()
        process.stdin.close()
        errors = process.stderr.read().decode()
    assert process.returncode == 0
    assert errors.splitlines()[-1] == "still running"
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors
