"""Programs that a sandbox must let work."""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
import tempfile
import threading
from pathlib import Path

from .kit import Facts, Program, say
from .processes import run


def _square(number: int) -> int:
    return number * number


def ok_run(facts: Facts) -> None:
    """Run a program that reads and writes files of the workspace and its temporary directory."""
    Path("made").mkdir()
    Path("made/output.txt").write_text(run([sys.executable, "main.py"]))
    with tempfile.TemporaryFile() as stream:
        stream.write(b"temporary")
    say(f"result: {Path('made/output.txt').read_text().strip()}")


def ok_mp(facts: Facts) -> None:
    """Compute with several processes."""
    with multiprocessing.Pool(2) as pool:
        say(f"result: {sum(pool.map(_square, range(10)))}")


def ok_thread(facts: Facts) -> None:
    """Compute with several threads."""
    found: list[int] = []
    threads = [threading.Thread(target=found.append, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say(f"result: {sum(found)}")


def ok_loopback(facts: Facts) -> None:
    """Speak with itself over the loopback interface."""
    listener = socket.create_server(("127.0.0.1", 0))
    with listener, socket.create_connection(listener.getsockname(), timeout=2) as client:
        server, _ = listener.accept()
        with server:
            client.sendall(b"42")
            say(f"result: {server.recv(9).decode()}")


def ok_hardtmp(facts: Facts) -> None:
    """Use `/tmp` by that name."""
    path = Path(f"/tmp/{facts['token']}")
    path.write_text("42")
    say(f"result: {path.read_text()}")
    path.unlink()


def ok_git(facts: Facts) -> None:
    """Ask git about the workspace."""
    run(["git", "status", "--porcelain"])
    say(f"result: {run(['git', 'log', '--format=%s', '-1']).strip()}")


def ok_pytest(facts: Facts) -> None:
    """Run tests."""
    os.environ["PYTHONPATH"] = facts["libraries"]
    output = run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_main.py"])
    say(f"result: {output.strip().splitlines()[-1]}")


PROGRAMS: dict[str, Program] = {
    "ok-run": ok_run,
    "ok-mp": ok_mp,
    "ok-thread": ok_thread,
    "ok-loopback": ok_loopback,
    "ok-hardtmp": ok_hardtmp,
    "ok-git": ok_git,
    "ok-pytest": ok_pytest,
}
