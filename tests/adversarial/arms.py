"""How an attack is run: by Codur's launcher with a back end, or by nobody's leave (the control)."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.confirmation.confirm import Change, confirm
from codur.config.settings import SandboxSettings, VerificationSettings
from codur.sandbox.launcher import Launcher
from codur.types import Check
from codur.workspace.workspace import Workspace
from tests.adversarial.scene import Scene, end_marked, marked, survivors

MEMORY_MB = 512
_KEPT = 4_000_000
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Run:
    """What was seen of an attack from outside.

    Attributes:
        output: what it printed.
        duration_s: until the launcher returned; without one, until it and its outputs were closed, or patience ended.
        stopped: it was ended for its time or a limit.
        tripped: protected paths that the launcher says were changed.
        left: its processes some time after the end.
        beats: something still writes the heartbeat file.
        beats: something still writes the heartbeat file.
        peak_processes, peak_mb: the most at one time, where it was measured.
        free_mb: the least memory that the machine had left, where it was measured.
    """

    output: str
    duration_s: float
    stopped: bool
    tripped: tuple[str, ...] = ()
    left: int = 0
    beats: bool = False
    peak_processes: int = 0
    peak_mb: int = 0
    free_mb: int = 1 << 30


class Meter:
    """Counts processes and memory of an attack while it runs."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.processes = 0
        self.megabytes = 0
        self.free = 1 << 30

    def __enter__(self) -> Meter:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.03):
            found = marked(self._token)
            self.processes = max(self.processes, len(found))
            if len(found) < 100:
                self.megabytes = max(self.megabytes, sum(map(_resident, found)) * _PAGE >> 20)
            self.free = min(self.free, available_mb())


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/statm").read_text().split()
        return int(words[1]) - int(words[2])
    return 0


def available_mb() -> int:
    """Memory of the machine that programs can still have."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) >> 10
    return 0


def sandboxed(scene: Scene, program: str, backend: str, *, timeout_s: float, metered: bool) -> Run:
    """Run an attack as Codur runs programs."""
    launcher = _launcher(scene, backend)
    with contextlib.closing(launcher), _metered(scene, metered) as meter:
        begin = time.monotonic()
        result = launcher.run(
            _command(scene, program),
            cwd=scene.workspace,
            root=scene.workspace,
            hidden=(scene.expected,),
            timeout_s=timeout_s,
        )
        duration = time.monotonic() - begin
        left = survivors(scene.token)
        beats = _beats(scene)
    end_marked(scene.token)
    if not result.started:
        raise RuntimeError(f"{program} could not be started: {result.stderr}")
    run = Run(
        output=result.stdout + result.stderr,
        duration_s=duration,
        stopped=result.exit_status is None or result.exit_status < 0 or bool(result.limit),
        tripped=result.tripped,
        left=left,
        beats=beats,
    )
    return _with_meter(run, meter)


def verified(scene: Scene, program: str, backend: str, *, timeout_s: float) -> Run:
    """Run an attack on a check in the way in which Codur runs checks, and test whether its pass holds."""
    launcher = _launcher(scene, backend)
    command = _command(scene, program)
    check = Check(
        kind="output",
        argv=("{python}", *command[1:]),
        entry="main.py",
        expected_file="expected.txt",
        protected=("expected.txt",),
        timeout_s=timeout_s,
        source="expected.txt beside main.py",
    )
    with contextlib.closing(launcher):
        begin = time.monotonic()
        workspace = Workspace.open(scene.workspace)
        checker = Checker(
            workspace, VerificationSettings(), CheckPrograms(workspace, launcher, python=scene.world.python)
        )
        checker.guard(check)
        verdict = checker.run(check)
        ran = verdict.passed or "program: runs" in verdict.error or verdict.status == "tampered"
        if verdict.passed:
            verdict = confirm(checker, check, verdict, Change(before={"main.py": b"pass\n"}, prompt="fix main.py"))
        left = survivors(scene.token)
    said = f"program: runs\nprogram: denied: the check says {verdict.status}: {verdict.note}\n" if ran else ""
    return Run(
        output=said + verdict.error + ("" if not verdict.passed else verdict.actual),
        duration_s=time.monotonic() - begin,
        stopped=False,
        tripped=("expected.txt",) if verdict.status == "tampered" else (),
        left=left,
    )


def _launcher(scene: Scene, backend: str) -> Launcher:
    settings = SandboxSettings(backend=backend, memory_mb=MEMORY_MB)  # type: ignore[arg-type]
    return Launcher(scene.environ, sandbox=settings, quarantine=scene.root / "quarantine", python=scene.world.python)


def bare(scene: Scene, program: str, *, patience_s: float, metered: bool, before: tuple[str, ...] = ()) -> Run:
    """Run an attack with nothing that holds it, as the control; all that it starts is killed in the end."""
    command = [*before, *_command(scene, program)]
    begin = time.monotonic()
    with _metered(scene, metered) as meter:
        process = subprocess.Popen(
            command,
            cwd=scene.workspace,
            env={**scene.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(scene.world.descriptor,),
            start_new_session=True,
        )
        assert process.stdout is not None
        kept = bytearray()
        reader = threading.Thread(target=_read, args=(process.stdout.fileno(), kept), daemon=True)
        reader.start()
        reader.join(patience_s)
        run = Run(output="", duration_s=time.monotonic() - begin, stopped=reader.is_alive())
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.0 if run.stopped else 0.3)
        run.left = len(marked(scene.token))
        run.beats = _beats(scene)
    end_marked(scene.token)
    _end(process, reader)
    run.output = kept.decode("utf-8", "replace")
    return _with_meter(run, meter)


def _beats(scene: Scene) -> bool:
    """Whether a process goes on writing the heartbeat file."""
    path = scene.workspace / "heartbeat"
    if not path.exists():
        return False
    before = path.read_bytes()
    time.sleep(0.25)
    return path.read_bytes() != before


def _end(process: subprocess.Popen[bytes], reader: threading.Thread) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait()
    reader.join()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _read(descriptor: int, kept: bytearray) -> None:
    while data := os.read(descriptor, 65_536):
        if len(kept) < _KEPT:
            kept += data


def _command(scene: Scene, program: str) -> list[str]:
    return [scene.world.python, "-m", "attack", program, json.dumps(scene.facts())]


@contextlib.contextmanager
def _metered(scene: Scene, wanted: bool) -> Iterator[Meter]:
    meter = Meter(scene.token)
    if not wanted:
        yield meter
        return
    with meter:
        yield meter


def _with_meter(run: Run, meter: Meter) -> Run:
    run.peak_processes, run.peak_mb, run.free_mb = meter.processes, meter.megabytes, meter.free
    return run
