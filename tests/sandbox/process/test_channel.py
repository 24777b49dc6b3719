"""Frames to and from a real program."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from codur.errors import Interrupted
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher

ECHO = """
import struct, sys
while len(head := sys.stdin.buffer.read(4)) == 4:
    data = sys.stdin.buffer.read(*struct.unpack(">I", head))
    if data == b"end":
        sys.exit("it was told to end")
    sys.stdout.buffer.write(head + data)
    sys.stdout.buffer.flush()
"""


def launcher(tmp_path: Path, cancel: CancelToken | None = None) -> Launcher:
    return Launcher({"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "API_KEY": "secret"}, cancel=cancel)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_frames_of_all_sizes_come_back(tmp_path: Path) -> None:
    channel = launcher(tmp_path).open_channel(python(ECHO), cwd=tmp_path, cpu_s=60)
    with channel:
        for data in (b"", b"a", b"\n\0\xff" * 7, os.urandom(3_000_000)):
            assert channel.send(data)
            assert channel.receive(20.0) == data
        assert channel.send(b"one")
        assert channel.send(b"two")
        assert (channel.receive(20.0), channel.receive(20.0)) == (b"one", b"two")
        assert not channel.has_frame()
        assert channel.receive(0.0) is None
    assert list(tmp_path.iterdir()) == []


def test_the_end_of_the_program_is_seen(tmp_path: Path) -> None:
    channel = launcher(tmp_path).open_channel(python(ECHO), cwd=tmp_path, cpu_s=60)
    with channel:
        channel.send(b"end")
        assert channel.receive(20.0) is None
        assert channel.stderr == "it was told to end\n"
        assert not channel.send(b"x")


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import os, time, sys\n"
        "if os.fork() == 0:\n    time.sleep(60)\n"
        "sys.stdout.buffer.write(b'\\0\\0\\0\\5%5d' % os.getpid())\nsys.stdout.flush()\ntime.sleep(60)\n"
    )
    channel = launcher(tmp_path).open_channel(python(code), cwd=tmp_path, cpu_s=60)
    with channel:
        group = int(channel.receive(20.0) or b"0")
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    pytest.fail("its group is still there")


def test_a_frame_that_does_not_end_is_not_waited_for(tmp_path: Path) -> None:
    code = "import sys, time\nsys.stdout.buffer.write(b'\\0\\0\\1\\0abc')\nsys.stdout.flush()\ntime.sleep(60)\n"
    channel = launcher(tmp_path).open_channel(python(code), cwd=tmp_path, cpu_s=60)
    with channel:
        assert channel.receive(0.3) is None


def test_its_environment_is_that_of_all_programs(tmp_path: Path) -> None:
    code = (
        "import os, sys\ndata = repr([os.environ.get(n) for n in ('API_KEY', 'X', 'PYTHONHASHSEED')]).encode()\n"
        "sys.stdout.buffer.write(len(data).to_bytes(4, 'big') + data)\n"
    )
    channel = launcher(tmp_path).open_channel(python(code), cwd=tmp_path, cpu_s=60, env={"X": "1"})
    with channel:
        assert channel.receive(20.0) == b"[None, '1', '0']"


def test_a_program_that_cannot_be_started_is_a_channel_that_has_ended(tmp_path: Path) -> None:
    with launcher(tmp_path).open_channel(["no-such-program"], cwd=tmp_path, cpu_s=60) as channel:
        assert channel.receive(20.0) is None
        assert channel.ended
        assert channel.stderr.endswith("cannot be started: no such file or directory")
        assert not channel.send(b"x")
    assert list(tmp_path.iterdir()) == []


def test_waiting_can_be_cancelled(tmp_path: Path) -> None:
    cancel = CancelToken()
    channel = launcher(tmp_path, cancel).open_channel(python(ECHO), cwd=tmp_path, cpu_s=60)
    with channel:
        timer = threading.Timer(0.2, cancel.cancel)
        timer.start()
        with pytest.raises(Interrupted):
            channel.receive(30.0)
        timer.join()
