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

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
ORDINARY = 61_803
"""A user id that is nobody's."""
_PLACES = ("/var/tmp", "/tmp")
_TEST_LIBRARIES = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")
_CODUR_LIBRARIES = ("msgspec", "pathspec")
"""What the launcher and the checks import; everything else is loaded when it is needed."""
_TRIAL = (
    "import ctypes, subprocess, sys\n"
    f"sys.exit(sys.version_info[:2] != {sys.version_info[:2]}"
    " or subprocess.call([sys.executable, '-I', '-c', 'import ctypes']))"
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

    def start(self, *words: str, python: str = "", **variables: str) -> subprocess.Popen[str]:
        """Start a module of Python as this user, by another interpreter if one is named."""
        return subprocess.Popen(
            [*self.before, python or self.python, "-B", "-m", *words],
            cwd=self.code,
            env={**_environment(self.base), **variables},
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
    shutil.copytree(ROOT / "tests", code / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("config", "docs"):
        shutil.copytree(ROOT / name, code / name)
    shutil.copy2(ROOT / "pyproject.toml", code)
    _copy_libraries(_CODUR_LIBRARIES, code)
    python = _interpreter(before, base)
    _give(base)
    return Person(kind="user", before=before, base=base, code=code, python=python)


def _give(place: Path) -> None:
    """Let all below `place` be the ordinary user's."""
    for directory, _, names in os.walk(place):
        for name in ("", *names):
            os.chown(os.path.join(directory, name), ORDINARY, ORDINARY, follow_symlinks=False)  # noqa: PTH118 - os.walk's


def install(person: Person) -> None:
    """Install Codur, with pytest, in an environment of the person's own: `installed` in its directory.

    What Codur depends on is copied from where this runs, so that nothing is downloaded.
    """
    target = person.base / "installed"
    words = [*person.before, person.python, "-m", "venv", "--without-pip", str(target)]
    subprocess.run(words, check=True, cwd="/", env=_environment(person.base))
    packages = next((target / "lib").glob("python*")) / "site-packages"
    for name in sorted(_needed({}, "codur", ("all",)) | _needed({}, "pytest") | _needed({}, "jsonschema")):
        distribution = importlib.metadata.distribution(name)
        for file in distribution.files or () if name != "codur" else ():
            source = Path(str(distribution.locate_file(file)))
            if ".." not in file.parts and source.suffix != ".pyc" and source.is_file():
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, packages / file)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--no-build-isolation", "--target", str(packages), str(ROOT)], check=True, cwd=person.base)
    script = "import sys\nfrom codur.__main__ import main\nsys.exit(main())\n"
    command = target / "bin" / "codur"
    command.write_text(f"#!{target}/bin/python\n{script}")
    command.chmod(0o755)
    if person.before:
        _give(target)


def _needed(found: dict[str, set[str]], name: str, extras: tuple[str, ...] = ()) -> set[str]:
    """The distributions that one needs here, and itself."""
    key = canonicalize_name(name)
    if key not in found or not found[key].issuperset(extras):
        found.setdefault(key, set()).update(extras)
        for line in importlib.metadata.distribution(name).requires or ():
            needed = Requirement(line)
            wanted = [{"extra": extra} for extra in ("", *extras)]
            if needed.marker is None or any(needed.marker.evaluate(each) for each in wanted):
                _needed(found, needed.name, tuple(needed.extras))
    return set(found)


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
