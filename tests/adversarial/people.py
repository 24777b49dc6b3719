"""Who runs the attacks: the user who started the suite, and an ordinary user where that is root.

The ordinary user gets a directory of its own, with a copy of what it needs: a checkout may be where only root may look.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ORDINARY = 61_803
"""A user id that is nobody's."""
_PLACES = ("/var/tmp", "/tmp")
_TEST_LIBRARIES = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")
_CODUR_LIBRARIES = ("pathspec",)
"""What the launcher and the checks import; everything else is loaded when it is needed."""
_TRIAL = (
    "import ctypes, subprocess, sys\n"
    "sys.exit(sys.version_info < (3, 11) or subprocess.call([sys.executable, '-I', '-c', 'import ctypes']))"
)
_NOT_COPIED = shutil.ignore_patterns("__pycache__", "site-packages", "test", "tests", "idlelib", "tkinter", "ensurepip")


@dataclass(frozen=True, kw_only=True)
class Person:
    """One user.

    Attributes:
        kind: `user` or `root`.
        before: what to put before a command so that it runs as this user.
        base: a directory of the user's own.
        code: where to import `codur` and `tests` from.
        python: an interpreter that the user may execute.
    """

    kind: str
    before: tuple[str, ...]
    base: Path
    code: Path
    python: str

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a module of Python as this user."""
        return subprocess.Popen(
            [*self.before, self.python, "-B", "-m", *words],
            cwd=self.code,
            env=_environment(self.base),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )


def _environment(base: Path) -> Mapping[str, str]:
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(base), "LANG": "C.UTF-8"}


@contextmanager
def people() -> Iterator[list[Person]]:
    """The ordinary user first, then root if the suite runs as root; their directories are removed at the end."""
    place = next(Path(item) for item in _PLACES if os.access(item, os.W_OK | os.X_OK))
    made: list[Path] = []
    try:
        found = []
        if os.geteuid() != 0:
            found.append(_myself("user", _directory(place, made)))
        else:
            tool = shutil.which("setpriv")
            if tool is not None:
                found.append(_ordinary(tool, _directory(place, made)))
            found.append(_myself("root", _directory(place, made)))
        yield found
    finally:
        for directory in made:
            shutil.rmtree(directory, ignore_errors=True)


def _directory(place: Path, made: list[Path]) -> Path:
    made.append(Path(tempfile.mkdtemp(prefix="codur-suite-", dir=place)))
    made[-1].chmod(0o755)
    return made[-1]


def _myself(kind: str, base: Path) -> Person:
    _copy_libraries(_TEST_LIBRARIES, base / "libraries")
    return Person(kind=kind, before=(), base=base, code=ROOT, python=sys.executable)


def _ordinary(tool: str, base: Path) -> Person:
    before = (tool, f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups", "--")
    _copy_libraries(_TEST_LIBRARIES, base / "libraries")
    code = base / "code"
    shutil.copytree(ROOT / "codur", code / "codur", ignore=_NOT_COPIED)
    shutil.copytree(ROOT / "tests" / "adversarial", code / "tests" / "adversarial", ignore=_NOT_COPIED)
    (code / "tests" / "__init__.py").touch()
    _copy_libraries(_CODUR_LIBRARIES, code)
    python = _interpreter(before, base)
    for directory, _, names in os.walk(base):
        for name in ("", *names):
            os.chown(os.path.join(directory, name), ORDINARY, ORDINARY, follow_symlinks=False)  # noqa: PTH118 - os.walk's
    return Person(kind="user", before=before, base=base, code=code, python=python)


def _interpreter(before: tuple[str, ...], base: Path) -> str:
    """An interpreter that the user may execute: this one, the system's, or a copy of this one."""
    for candidate in (sys.executable, shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")):
        if candidate is not None and _works(before, candidate):
            return candidate
    home = Path(sys.base_prefix)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (base / "python" / "bin").mkdir(parents=True)
    shutil.copy2(home / "bin" / version, base / "python" / "bin" / "python3")
    shutil.copytree(home / "lib" / version, base / "python" / "lib" / version, ignore=_NOT_COPIED, symlinks=True)
    return str(base / "python" / "bin" / "python3")


def _works(before: tuple[str, ...], python: str) -> bool:
    words = [*before, python, "-I", "-c", _TRIAL]
    return subprocess.run(words, cwd="/", capture_output=True, check=False).returncode == 0


def _copy_libraries(names: tuple[str, ...], target: Path) -> None:
    """Copy packages and modules from where pytest is installed."""
    place = Path(str(importlib.metadata.distribution("pytest").locate_file("")))
    target.mkdir(exist_ok=True)
    for name in names:
        if (place / name).is_dir():
            shutil.copytree(place / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (place / f"{name}.py").is_file():
            shutil.copy2(place / f"{name}.py", target)
