"""Which Python runs the workspace's programs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from codur.sandbox.launcher import Launcher

_ENVIRONMENTS = (".venv", "venv")
_NAMES = ("python3", "python")
_VERSION = re.compile(r"[0-9][\w.+-]*")


def find_python(root: Path, environ: Mapping[str, str]) -> str:
    """The absolute path of the workspace's interpreter.

    It is that of `.venv` or `venv` in the workspace, else the first on `PATH`, else the one that runs Codur. A version
    manager's shim is a slow script and is passed over; pyenv's is replaced by what it stands for.
    """
    for name in _ENVIRONMENTS:
        candidate = root / name / "bin" / "python"
        if _is_program(candidate):
            return str(candidate)
    for directory in environ.get("PATH", "").split(os.pathsep):
        found = _in_directory(root, directory, environ)
        if found is not None:
            return str(found)
    return sys.executable


def _in_directory(root: Path, directory: str, environ: Mapping[str, str]) -> Path | None:
    if not directory.startswith("/"):
        return None
    if Path(directory).name == "shims":
        return _behind_pyenv_shim(root, Path(directory).parent, environ)
    for name in _NAMES:
        candidate = Path(directory) / name
        if _is_program(candidate):
            return candidate
    return None


def _behind_pyenv_shim(root: Path, pyenv: Path, environ: Mapping[str, str]) -> Path | None:
    """The interpreter of the version that pyenv would choose, if it is installed."""
    stated = environ.get("PYENV_VERSION") or _first_line(root / ".python-version") or _first_line(pyenv / "version")
    if not _VERSION.fullmatch(stated):
        return None
    candidate = pyenv / "versions" / stated / "bin" / "python3"
    return candidate if _is_program(candidate) else None


def _first_line(path: Path) -> str:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[0].strip() if lines else ""


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def python_version(python: str, launcher: Launcher) -> str:
    """The version of an interpreter as it tells it (`3.12.1`), or `3` if it does not."""
    known = launcher.versions.get(python)
    if known is None:
        result = launcher.run([python, "--version"], cwd=Path("/"), timeout_s=10.0)
        words = result.stdout.split()
        known = launcher.versions[python] = words[-1] if result.exit_status == 0 and words else "3"
    return known
