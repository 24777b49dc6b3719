"""Kills a process again and again while it edits, runs programs, undoes and redoes, and looks at what is left.

`python -m tests.workspace.kill_loop [COUNT]` prints the figures.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.workspace.kit import Run, picture

_LARGE = 400_000
_LONGEST_S = 0.12
_NAMES = ("a.txt", "sub/b.txt", "sub/deep/c.bin")


@dataclass
class Kills:
    """What a number of kills left.

    Attributes:
        torn: files that were neither old nor new.
        strays: temporary files found after the kill.
        unswept: those still there after the undo.
        not_undone: kills after which an undo did not bring back every byte.
        git: kills after which the user's `.git` was not as before.
        journals: journals that could not be read.
    """

    kills: int = 0
    torn: int = 0
    strays: int = 0
    unswept: int = 0
    not_undone: int = 0
    git: int = 0
    journals: int = 0
    details: list[str] = field(default_factory=list)


def kill_loop(place: Path, count: int, *, seed: int = 1) -> Kills:
    """Kill that many processes, each in a workspace of its own below `place`."""
    moments = random.Random(seed)
    kills = Kills()
    for number in range(count):
        spot = place / str(number)
        spot.mkdir()
        mode = ("edit", "program", "undo")[number % 3]
        _one(spot, mode, moments.uniform(0, _LONGEST_S), kills)
    return kills


def _one(spot: Path, mode: str, delay_s: float, kills: Kills) -> None:
    run = Run(spot)
    _fill(run.root)
    before = picture(run.root)
    argv = [sys.executable, "-m", "tests.workspace.kill_loop", mode, str(spot)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as victim:
        if victim.stdout is None or victim.stdout.readline() != b"ready\n":
            raise AssertionError("the victim did not start")
        time.sleep(delay_s)
        victim.send_signal(signal.SIGKILL)
    kills.kills += 1
    _look(run, before, mode, kills)


def _look(run: Run, before: dict[str, tuple[str, int, bytes]], mode: str, kills: Kills) -> None:
    for name in _NAMES:
        path = run.root / name
        if path.exists() and len(set(path.read_bytes())) > 1:
            kills.torn += 1
            kills.details.append(f"{mode}: {name} is torn")
    kills.strays += _strays(run.root)
    kills.journals += bool(run.loaded().notes)
    report = run.undo()
    after = picture(run.root)
    kills.unswept += _strays(run.root)
    # While a program runs, nobody can say whose a change is: then the old content is put beside it.
    beside = {name: state for name, state in after.items() if name.removesuffix(".codur-conflict") in before}
    good = all(
        after.get(name) == state or beside.get(f"{name}.codur-conflict") == state for name, state in before.items()
    )
    if not good or (mode != "program" and after != before):
        kills.not_undone += 1
        kills.details.append(f"{mode}: {report}")
    kills.git += any(after.get(name) != state for name, state in before.items() if name.startswith(".git"))


def _strays(root: Path) -> int:
    return sum(1 for path in root.rglob(".*.tmp"))


def _fill(root: Path) -> None:
    (root / "sub" / "deep").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for name in _NAMES:
        (root / name).write_bytes(b"o" * _LARGE)
    (root / "sub" / "run.sh").write_text("x\n")
    (root / "sub" / "run.sh").chmod(0o750)
    (root / "link").symlink_to("a.txt")


def _victim(mode: str, spot: Path) -> None:
    """Never ends by itself, but for a bound on its time."""
    run = Run(spot)
    workspace = run.open()
    end = time.monotonic() + 30
    step = 0
    if mode == "undo":
        _edit(run, step)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while time.monotonic() < end:
        step += 1
        if mode == "edit":
            letter = b"xyz"[step % 3 : step % 3 + 1]
            for name in _NAMES:
                workspace.write_bytes(name, letter * _LARGE)
            workspace.write_text(f"new/{step % 5}/n.txt", f"{step}\n")
            workspace.move("sub/run.sh", "sub/moved.sh")
            workspace.move("sub/moved.sh", "sub/run.sh")
        elif mode == "program":
            workspace.programs.before()
            _replace(run.root / "a.txt", b"p" * _LARGE)
            (run.root / "made").write_text(str(step))
            workspace.programs.after()
        else:
            run.undo()
            run.redo()


def _edit(run: Run, step: int) -> None:
    workspace = run.open()
    for name in _NAMES:
        workspace.write_bytes(name, b"e" * _LARGE)
    workspace.write_text("new/n.txt", f"{step}\n")
    workspace.delete("sub/run.sh")


def _replace(path: Path, data: bytes) -> None:
    path.with_name("a.new").write_bytes(data)
    path.with_name("a.new").replace(path)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _victim(sys.argv[1], Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as directory:
            sys.stdout.write(f"{kill_loop(Path(directory), int(sys.argv[1]) if len(sys.argv) > 1 else 20)}\n")
