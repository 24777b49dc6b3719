"""A real program that is talked to over its pipes, and what it may not do meanwhile."""

from __future__ import annotations

import os
import select
import socket
import sys
from pathlib import Path

import pytest

from codur.config.settings import SandboxSettings
from codur.sandbox.launcher import Launcher
from codur.sandbox.process.output_stream import Stream
from tests.adversarial.backends import AGAIN

_WAIT_MS = 300_000


def launcher(tmp_path: Path, sandbox: SandboxSettings | None = None) -> Launcher:
    temporary = tmp_path / "temporary"
    temporary.mkdir(exist_ok=True)
    return Launcher({"PATH": os.environ["PATH"], "TMPDIR": str(temporary), "A_KEY": "secret"}, sandbox=sandbox)


def read(descriptor: int) -> bytes:
    """What arrives next; nothing if the pipe has ended."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    assert poll.poll(_WAIT_MS), "the program is silent"
    return os.read(descriptor, 65_536)


def all_of(stream: Stream) -> bytes:
    found = b""
    while data := read(stream.stdout):
        found += data
    return found


def test_words_go_there_and_back(tmp_path: Path) -> None:
    code = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"
    with launcher(tmp_path).open_stream([sys.executable, "-c", code], cwd=tmp_path) as stream:
        for word in (b"one\n", b"two\n"):
            os.write(stream.stdin, word)
            assert read(stream.stdout) == word.upper()
        assert not stream.ended()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_an_absent_program_is_told(tmp_path: Path) -> None:
    for contained in (None, SandboxSettings()):
        with launcher(tmp_path, contained).open_stream(["codur-no-such-program"], cwd=tmp_path) as stream:
            if stream.stdout >= 0:
                assert all_of(stream) == b""
            while not stream.ended():
                select.select([], [], [], 0.01)
            assert "no such file" in stream.problem


def test_all_that_it_started_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        print(os.getpid(), flush=True)\n"
        "        time.sleep(600)\n"
        "time.sleep(600)"
    )
    stream = launcher(tmp_path).open_stream([sys.executable, "-c", code], cwd=tmp_path)
    daemon = int(read(stream.stdout))
    os.kill(daemon, 0)
    stream.close()
    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


@pytest.mark.parametrize("backend", AGAIN)
def test_it_writes_and_connects_only_where_it_may(backend: str, tmp_path: Path) -> None:
    if backend == "none":
        pytest.skip("nothing contains programs here")
    code = (
        "import os, socket\n"
        "for path in ('work/new', 'seen/new'):\n"
        "    try: open(path, 'w').close(); print('wrote', path)\n"
        "    except OSError: print('not', path)\n"
        "print(open('seen/file').read(), os.environ.get('A_KEY'), os.environ['B'])\n"
        "print(socket.socket().connect_ex(('127.0.0.1', int(os.environ['PORT']))) == 0)"
    )
    (tmp_path / "work").mkdir()
    (tmp_path / "seen").mkdir()
    (tmp_path / "seen" / "file").write_text("text")
    shared = launcher(tmp_path, SandboxSettings(backend=backend))  # type: ignore[arg-type]
    found = {}
    with socket.create_server(("127.0.0.1", 0)) as server:
        more = {"B": "b", "PORT": str(server.getsockname()[1])}
        for network in (False, True):
            with shared.open_stream(
                [sys.executable, "-c", code], cwd=tmp_path, env=more, root=tmp_path / "work", network=network
            ) as stream:
                found[network] = all_of(stream).decode().splitlines()
    shared.close()
    assert found[False] == ["wrote work/new", "not seen/new", "text None b", "False"]
    assert found[True] == ["wrote work/new", "not seen/new", "text None b", "True"]
