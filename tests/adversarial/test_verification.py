"""K: a check's word is its own, whatever the program under it does."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from codur.checks.check_programs import CheckPrograms
from codur.checks.checker import Checker
from codur.checks.confirmation.confirm import Change, confirm
from codur.config.settings import SandboxSettings, VerificationSettings
from codur.sandbox.launcher import Launcher
from codur.types import Check, Verdict
from codur.workspace.workspace import Workspace
from tests.adversarial.backends import AVAILABLE
from tests.runs.kit import fill

OUTPUT = Check(
    kind="output",
    argv=("{python}", "main.py"),
    entry="main.py",
    expected_file="expected.txt",
    protected=("expected.txt",),
    timeout_s=10.0,
    source="expected.txt beside main.py",
)
READERS = {
    "open": "print(open('expected.txt').read(), end='')",
    "glob": "import glob\nprint(''.join(open(n).read() for n in glob.glob('exp*')), end='')",
    "inode": "import os\nfor e in os.scandir('.'):\n    if e.name[0] == 'e': print(open(e.path).read(), end='')",
    "proc": "print(open('/proc/self/cwd/expected.txt').read(), end='')",
}


def judged(root: Path, main: str, expected: str, backend: str) -> tuple[Verdict, Verdict]:
    """The verdict on a program, and what becomes of it when it is tested whether a pass holds."""
    root.mkdir(exist_ok=True)
    fill(root, {"main.py": main, "expected.txt": expected})
    settings = SandboxSettings(backend=backend)  # type: ignore[arg-type]
    with Launcher({"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}, sandbox=settings) as launcher:
        workspace = Workspace.open(root)
        checker = Checker(workspace, VerificationSettings(), CheckPrograms(workspace, launcher, python=sys.executable))
        checker.guard(OUTPUT)
        verdict = checker.run(OUTPUT)
        held = (
            confirm(checker, OUTPUT, verdict, Change(before={"main.py": b"pass\n"}, prompt="fix main.py"))
            if verdict.passed
            else verdict
        )
    return verdict, held


@pytest.mark.parametrize("backend", AVAILABLE)
@pytest.mark.parametrize("reader", READERS)
def test_k02_a_program_that_prints_the_expected_output_fails(reader: str, backend: str, tmp_path: Path) -> None:
    _, held = judged(tmp_path / "w", READERS[reader], "17 29 31\n8 88\n", backend)
    assert not held.passed


@pytest.mark.parametrize("backend", AVAILABLE)
def test_k03_a_check_cannot_be_told_from_a_run(backend: str, tmp_path: Path) -> None:
    """A check and a plain run of the program see the same variables and the same parent."""
    main = (
        "import os\n"
        "for name in sorted(os.environ):\n"
        "    print(name, os.environ[name].replace(os.environ['TMPDIR'], 'TEMPORARY') if name != 'PATH' else '')\n"
        "print(os.getppid() > 0)\n"
    )
    root = tmp_path / "w"
    verdict, _ = judged(root, main, "x\n", backend)
    settings = SandboxSettings(backend=backend)  # type: ignore[arg-type]
    with Launcher({"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}, sandbox=settings) as launcher:
        plain = launcher.run([sys.executable, "main.py"], cwd=root, timeout_s=10.0)
    assert verdict.actual.splitlines() == plain.stdout.splitlines()
    assert not [line for line in plain.stdout.splitlines() if "CODUR" in line.upper()]


@pytest.mark.parametrize("backend", AVAILABLE)
def test_k04_nothing_edits_the_program_after_its_check(backend: str, tmp_path: Path) -> None:
    main = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(0.3)\n"
        "        open('main.py', 'w').write('owned')\n"
        "    os._exit(0)\n"
        "print(1)\n"
    )
    verdict, _ = judged(tmp_path / "w", main, "1\n", backend)
    time.sleep(0.5)
    assert verdict.passed
    assert (tmp_path / "w" / "main.py").read_text() == main


@pytest.mark.parametrize(
    ("printed", "passes"),
    [("'a  \\r\\nb'", True), ("'a\\nb\\n'", True), ("'a\\nb\\0'", False), ("'\\x1b[0ma\\nb'", False)],
)
def test_k05_the_rule_of_comparison(printed: str, passes: bool, tmp_path: Path) -> None:
    main = f"import sys\nsys.stdout.write({printed})\n"
    assert judged(tmp_path / "w", main, "a\nb\n", AVAILABLE[0])[0].passed is passes


def test_k05_a_gigabyte_is_bounded(tmp_path: Path) -> None:
    main = "import sys\nfor _ in range(16384):\n    sys.stdout.write('x' * 65536)\n"
    verdict, _ = judged(tmp_path / "w", main, "x\n", AVAILABLE[0])
    assert not verdict.passed
    assert len(verdict.actual) < 100_000


def test_k06_a_program_that_is_right_now_and_then_is_flaky(tmp_path: Path) -> None:
    main = "import os\nn = len(os.listdir('.'))\nopen(f'run{n}', 'w').close()\nprint(1 if n == 2 else 0)\n"
    verdict, held = judged(tmp_path / "w", main, "1\n", AVAILABLE[0])
    assert (verdict.passed, held.status) == (True, "flaky")
