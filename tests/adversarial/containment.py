"""The attacks on containment: what each is, how it is judged from outside, and the runner for one user and back end.

    python -m tests.adversarial.containment --arm bubblewrap --base DIRECTORY [--only ID]

prints a JSON line for each attack. The arm `control` runs them with nothing that holds them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from msgspec import to_builtins

from codur.errors import CodurError
from tests.adversarial.arms import Run, available_mb, bare, sandboxed, verified
from tests.adversarial.scene import Scene, World, make_scene, mounts, world

Status = Literal["held", "BROKEN", "not run"]
ARMS = ("namespaces", "bubblewrap", "landlock", "seatbelt", "none")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one attack (or useful program: `held` means that it works) in one arm."""

    name: str
    arm: str
    status: Status
    detail: str = ""


Judge = Callable[[Scene, Run], str]
"""What an attack has gained; empty if nothing."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One attack.

    Attributes:
        name: its id.
        table: its id in the table of cases.
        what: in words.
        judge: looks for what it gained beyond what is looked for in every case.
        timeout_s: the launcher's time.
        patience_s: how long the control is watched.
        ends: a sound run says how it ended; one that is stopped by a limit need not.
        metered: processes and memory are counted while it runs.
        needs_mb: memory that the machine must have for the control.
    """

    name: str
    table: str
    what: str
    judge: Judge | None = None
    timeout_s: float = 10.0
    patience_s: float = 10.0
    ends: bool = True
    metered: bool = False
    needs_mb: int = 0

    @property
    def useful(self) -> bool:
        """Whether it is a program that must work."""
        return self.name.startswith("ok-")


def _claims(scene: Scene, run: Run) -> str:
    return "the system let it" if "program: done" in run.output else ""


def _digest(name: str) -> Judge:
    def judge(scene: Scene, run: Run) -> str:
        digest = scene.world.digests.get(name)
        return f"read the {name}" if digest and digest in run.output else ""

    return judge


def _killed(scene: Scene, run: Run) -> str:
    return "killed a process outside" if scene.world.bystander.poll() is not None else ""


def _late(limit_s: float) -> Judge:
    def judge(scene: Scene, run: Run) -> str:
        return f"went on for {run.duration_s:.1f} s" if run.duration_s > limit_s else ""

    return judge


def _many(scene: Scene, run: Run) -> str:
    return f"{run.peak_processes} processes at one time" if run.peak_processes > 400 else ""


def _memory(limit_mb: int, whole: int, name: str) -> Judge:
    def judge(scene: Scene, run: Run) -> str:
        complete = sum(path.read_text() == str(whole) for path in scene.workspace.glob(name))
        if (name == "progress.*" and complete == 10) or (name == "progress" and complete == 1):
            return f"had all the memory that it wanted ({run.peak_mb} MB seen)"
        if run.free_mb < 1024:
            return f"left the machine {run.free_mb} MB"
        return f"had {run.peak_mb} MB" if run.peak_mb > limit_mb else ""

    return judge


def _reached(limit: int, what: str) -> Judge:
    def judge(scene: Scene, run: Run) -> str:
        progress = scene.workspace / "progress"
        reached = int(progress.read_text() or 0) if progress.exists() else 0
        return f"{reached} {what}" if reached >= limit else ""

    return judge


def _flood(scene: Scene, run: Run) -> str:
    if len(run.output) > 600_000:
        return f"{len(run.output)} characters kept"
    return _reached(150_000_000, "bytes printed")(scene, run)


def _big(scene: Scene, run: Run) -> str:
    path = scene.workspace / "big"
    size = path.stat().st_size if path.exists() else 0
    return f"a file of {size >> 20} MB" if size > 300 << 20 else ""


def _held_pipe(scene: Scene, run: Run) -> str:
    if "the output" not in run.output:
        return "its output is lost"
    return _late(1.0)(scene, run)


def _settings_left(name: str) -> Judge:
    def judge(scene: Scene, run: Run) -> str:
        if (scene.workspace / name).exists():
            return f"{name} is there"
        return "was not reported" if "program: done" in run.output and not run.tripped else ""

    return judge


def _unreported(scene: Scene, run: Run) -> str:
    return "was not reported" if "program: done" in run.output and not run.tripped else ""


def _cases() -> Iterator[Case]:
    outside = (
        ("w-abs", "B01", "writes to an absolute path"),
        ("w-symlink", "B02", "writes through a link"),
        ("w-dotdot", "B03", "climbs out with .."),
        ("w-bashrc", "B04", "appends to .bashrc"),
        ("w-home-new", "B05", "makes a file in the home"),
        ("w-rename-out", "B06", "renames a file outside"),
        ("w-unlink-out", "B07", "removes a file outside"),
        ("w-trunc-out", "B08", "empties a file outside"),
        ("w-mkdir-out", "B09", "makes a directory outside"),
        ("w-mkfifo-out", "B10", "makes a pipe outside"),
        ("w-chmod-out", "B11", "changes a mode outside"),
        ("w-utime-out", "B11", "changes times outside"),
        ("w-xattr-out", "B11", "sets an attribute outside"),
        ("w-githook", "B12", "changes a git hook"),
        ("w-githook-new", "B12", "adds a git hook"),
        ("w-gitconfig", "B12", "changes git's settings"),
        ("w-gitswap", "B13", "puts another .git in place"),
    )
    for name, table, what in outside:
        yield Case(name=name, table=table, what=what)
    yield Case(name="w-expected", table="B14", what="changes the expected output", judge=_unreported)
    yield Case(name="w-expected-swap", table="B14", what="exchanges the expected output", judge=_unreported)
    yield Case(name="w-new-vscode", table="B15", what="adds editor tasks", judge=_settings_left(".vscode"))
    yield Case(name="w-new-codur", table="B15", what="adds settings for Codur", judge=_settings_left(".codur"))
    yield Case(name="w-mount", table="B16", what="mounts a file system", judge=_claims)
    yield Case(name="p-userns", table="B16", what="becomes root in a namespace", judge=_claims)
    yield Case(name="p-clone-userns", table="B16", what="the same with a child", judge=_claims)
    yield Case(name="w-procsys", table="B17", what="opens a kernel setting", judge=_claims)
    yield Case(name="r-blockdev", table="B17", what="reads the disk", judge=_digest("disk"))
    yield Case(name="r-mknod", table="B17", what="makes a device and reads it", judge=_digest("disk"))
    yield Case(name="r-shadow", table="B17", what="reads password hashes", judge=_digest("shadow"))
    reads = (
        ("r-other", "B18", "reads the next challenge"),
        ("r-hardlink", "B19", "links a secret file"),
        ("r-penv", "B20", "reads the key in /proc"),
        ("r-penv-all", "B20", "reads every environment"),
        ("r-pfd", "B20", "opens others' descriptors"),
        ("r-proot", "B20", "goes by another's root"),
        ("r-fd", "B21", "reads an open descriptor"),
        ("r-allfd", "B21", "reads all descriptors"),
        ("r-vmread", "B22", "reads another's memory"),
        ("r-pids", "B23", "lists the processes"),
    )
    for name, table, what in reads:
        yield Case(name=name, table=table, what=what)
    yield from _process_cases()
    for name, table, what in (
        ("r-env", "D01", "prints keys of the environment"),
        ("r-env-secrets", "D02", "prints 40 secret variables"),
        ("r-home", "D03", "reads secrets of the home"),
        ("r-home-link", "D03", "the same through links"),
        ("r-expected", "K02", "reads the expected output"),
    ):
        yield Case(name=name, table=table, what=what)
    for name, what in (
        ("ok-run", "a program with files"),
        ("ok-mp", "several processes"),
        ("ok-thread", "several threads"),
        ("ok-loopback", "a server of its own"),
        ("ok-hardtmp", "/tmp by its name"),
        ("ok-git", "git status and log"),
        ("ok-pytest", "tests"),
    ):
        yield Case(name=name, table="B34", what=what, timeout_s=30.0)


def _process_cases() -> Iterator[Case]:
    yield Case(name="p-daemon", table="B24", what="leaves a daemon", patience_s=2.0)
    yield Case(
        name="p-sigterm",
        table="B25",
        what="ignores all signals",
        judge=_late(1.5),
        timeout_s=1.0,
        patience_s=1.7,
        ends=False,
    )
    yield Case(name="p-killout", table="B26", what="kills a process outside", judge=_killed)
    bombs = {"ends": False, "metered": True}
    yield Case(name="p-forkbomb", table="B27", what="1,500 processes", judge=_many, patience_s=2.5, **bombs)
    yield Case(name="p-forkbomb-c", table="B27", what="2,048 processes, in C", judge=_many, patience_s=2.5, **bombs)
    yield Case(
        name="p-membomb",
        table="B28",
        what="1.5 GB of memory",
        judge=_memory(1024, 1500, "progress"),
        needs_mb=3000,
        **bombs,
    )
    yield Case(
        name="p-membomb-tree",
        table="B28",
        what="10 × 300 MB of memory",
        judge=_memory(2048, 300, "progress.*"),
        needs_mb=5000,
        **bombs,
    )
    for kind, what in (("files", "files in memory"), ("segments", "shared segments")):
        yield Case(
            name=f"p-membomb-{kind}",
            table="B28",
            what=f"1.5 GB in {what}",
            judge=_memory(1024, 1500, "progress"),
            metered=True,
            needs_mb=3000,
        )
    yield Case(
        name="p-cpu", table="B29", what="computes on", judge=_late(1.5), timeout_s=1.0, patience_s=1.7, ends=False
    )
    yield Case(name="p-stdin", table="B29", what="waits for input", judge=_late(1.0), timeout_s=3.0, patience_s=1.5)
    yield Case(name="p-flood", table="B30", what="prints 200 MB", judge=_flood, ends=False)
    yield Case(name="p-bigfile", table="B31", what="a file of 400 MB", judge=_big, ends=False)
    yield Case(name="p-manyfd", table="B31", what="opens 10,000 files", judge=_reached(10_000, "files open"))
    yield Case(name="p-holdpipe", table="B32", what="holds the outputs open", judge=_held_pipe, patience_s=1.5)
    yield Case(name="p-nnp", table="B33", what="has or gains rights", judge=_claims)
    yield Case(name="p-keyctl", table="B33", what="uses the key store", judge=_claims)
    yield Case(name="p-x32", table="B33", what="calls by other numbers", judge=_claims)
    yield Case(name="n-iouring", table="B33", what="gets an I/O ring", judge=_claims)
    for name, table, what in (
        ("n-tcp4", "C01", "sends by TCP"),
        ("n-tcp6", "C01", "sends by TCP over IPv6"),
        ("n-udp", "C01", "sends by UDP"),
        ("n-bash-tcp", "C01", "sends by a shell"),
    ):
        yield Case(name=name, table=table, what=what)
    yield Case(name="n-icmp", table="C02", what="gets a socket for ICMP", judge=_claims)
    yield Case(name="n-packet", table="C02", what="gets a socket below IP", judge=_claims)
    yield Case(name="n-vsock", table="C02", what="gets a socket to the host", judge=_claims)
    yield Case(name="n-unix-path", table="C03", what="speaks to an agent")
    yield Case(name="n-abstract", table="C03", what="the same without a file")
    yield Case(name="n-listen", table="C04", what="offers a service")


CASES: tuple[Case, ...] = tuple(_cases())
CHECKED = frozenset({"w-expected", "w-expected-swap", "r-expected"})
"""Attacks on a check: they are run as one, and its word counts."""
ATTACKS = tuple(case for case in CASES if not case.useful)
USEFUL = tuple(case for case in CASES if case.useful)
RESULTS = {"ok-mp": "285", "ok-thread": "28", "ok-git": "first", "ok-pytest": "1 passed"}


def judge_attack(case: Case, scene: Scene, run: Run, before: tuple[dict[str, str], dict[str, str]]) -> list[str]:
    """All that an attack has gained, as seen from outside."""
    found = [f"changed {Path(path).name}" for path in _differences(before[0], scene.outside())]
    found += [f"changed {Path(path).name} of the workspace" for path in _differences(before[1], scene.protected())]
    found += [f"has the secret of {name}" for name, value in scene.world.canaries.items() if value in run.output]
    found += [f"reached {name}" for name in scene.world.listeners.hits]
    if run.beats or run.left:
        found.append(f"left {run.left} processes")
    if case.judge is not None:
        found.append(case.judge(scene, run))
    return [item for item in found if item]


def judge_useful(case: Case, scene: Scene, run: Run) -> list[str]:
    """What does not work of a useful program."""
    wanted = f"result: {RESULTS.get(case.name, '42')}"
    found = [] if wanted in run.output and "program: done" in run.output else ["does not work: " + run.output[-300:]]
    return found + [f"reported {path}" for path in run.tripped]


def _differences(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def run_case(case: Case, arm: str, made: World, *, compiler: str | None, libraries: Path | None) -> Outcome:
    """Run one attack in one arm, judge it, and see that nothing of it is left."""
    scene = make_scene(made, f"{case.name}-{arm}")
    problem = _prepare(case, scene, arm, compiler=compiler, libraries=libraries)
    if problem:
        return Outcome(name=case.name, arm=arm, status="not run", detail=problem)
    made.revive()
    made.listeners.hits.clear()
    before, mounted = (scene.outside(), scene.protected()), mounts()
    caller = _Caller(scene) if case.name == "n-listen" else None
    if arm == "control":
        wrap = (
            ("unshare", "--mount", "--propagation", "private") if case.name == "w-mount" and os.geteuid() == 0 else ()
        )
        run = bare(scene, case.name, patience_s=case.patience_s, metered=case.metered, before=wrap)
    elif case.name in CHECKED:
        run = verified(scene, case.name, arm, timeout_s=case.timeout_s)
    else:
        run = sandboxed(scene, case.name, arm, timeout_s=case.timeout_s, metered=case.metered)
    found = judge_useful(case, scene, run) if case.useful else judge_attack(case, scene, run, before)
    if caller is not None and caller.answered():
        found.append("a connection from outside was answered")
    if arm != "control":
        found += [f"left {path.name}" for path in (scene.root / "tmp").iterdir()]
        found += ["left a mount"] if mounts() != mounted else []
    shutil.rmtree(scene.root, ignore_errors=True)
    if "program: runs" not in run.output or (case.ends and not run.stopped and "program: d" not in run.output):
        return Outcome(name=case.name, arm=arm, status="not run", detail=run.output[-300:] or "no output")
    return Outcome(name=case.name, arm=arm, status="BROKEN" if found else "held", detail="; ".join(found) or _said(run))


def _said(run: Run) -> str:
    lines = [line for line in run.output.splitlines() if line.startswith("program: d")]
    words = [lines[-1].removeprefix("program: ")[:120]] if lines else []
    words += [f"peak {run.peak_processes} processes, {run.peak_mb} MB"] if run.peak_processes else []
    return ", ".join(words) or f"ended after {run.duration_s:.1f} s"


def _prepare(case: Case, scene: Scene, arm: str, *, compiler: str | None, libraries: Path | None) -> str:
    """Add what only this case needs; says why it cannot be run."""
    if arm == "control" and case.needs_mb > available_mb():
        return f"the machine has less than {case.needs_mb} MB to spare"
    if case.name == "p-forkbomb-c":
        if compiler is None:
            return "there is no C compiler"
        words = [compiler, "-O1", "-o", str(scene.workspace / "forkbomb"), str(scene.workspace / "attack/forkbomb.c")]
        subprocess.run(words, check=True)
    if case.name == "ok-pytest":
        if libraries is None:
            return "there is no pytest"
        shutil.copytree(libraries, scene.workspace / ".libraries")
    return ""


class _Caller:
    """Knocks at a port again and again while an attack runs."""

    def __init__(self, scene: Scene) -> None:
        self._code = (
            "import socket, sys, time\n"
            "end = time.monotonic() + 4\n"
            "while time.monotonic() < end:\n"
            "    try:\n"
            "        print(socket.create_connection(('127.0.0.1', int(sys.argv[1])), 1).recv(9)); break\n"
            "    except OSError: time.sleep(0.02)\n"
        )
        facts = scene.facts()
        scene.facts = lambda: facts  # type: ignore[method-assign]
        words = [scene.world.python, "-I", "-c", self._code, str(facts["free_port"])]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    def answered(self) -> bool:
        """Whether somebody answered; ends the calling."""
        self._process.terminate()
        return "b'" in self._process.communicate()[0]


def run_arm(arm: str, base: Path, names: Iterable[str] = ()) -> Iterator[Outcome]:
    """Run the attacks (all, or those that are named) in one arm, as the user who calls."""
    wanted = set(names)
    compiler = shutil.which("cc") or shutil.which("gcc")
    libraries = base / "libraries"
    directory = base / f"{arm}-{os.geteuid()}"
    directory.mkdir(mode=0o755)
    with world(directory, sys.executable) as made:
        for case in CASES:
            if wanted and case.name not in wanted:
                continue
            try:
                yield run_case(case, arm, made, compiler=compiler, libraries=libraries if libraries.exists() else None)
            except (CodurError, OSError, RuntimeError, ValueError) as error:
                yield Outcome(
                    name=case.name, arm=arm, status="not run", detail=f"{type(error).__name__}: {error}"[:300]
                )


def main() -> None:
    """The runner's command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--arm", required=True, choices=(*ARMS, "control"))
    parser.add_argument("--base", required=True, type=Path)
    parser.add_argument("--only", action="append", default=[])
    given = parser.parse_args()
    for outcome in run_arm(given.arm, given.base, given.only):
        sys.stdout.write(json.dumps(to_builtins(outcome)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
