"""Which pytest runs a workspace's tests."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path

from codur.sandbox.launcher import Launcher

_CONFIG_FILES = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_PROBE_SECONDS = 20.0


def pytest_runner(python: str, root: Path, launcher: Launcher) -> tuple[str, list[str]]:
    """The interpreter that runs pytest for a workspace, and the options that it needs there.

    The workspace's interpreter runs it if it has pytest, else the one that runs Codur (pytest is a dependency). Plugins
    that only Codur's own dependencies bring are switched off: the tests do not know them, and loading them takes longer
    than most tests. Settings of directories above the workspace are kept out.

    Args:
        python: the workspace's interpreter.
        root: the workspace.
    """
    borrowed = not _has_pytest(python, launcher)
    unwanted = _own_plugins() if borrowed else ("langsmith_plugin",)
    options = [word for name in unwanted for word in ("-p", f"no:{name}")]
    if not any((root / name).is_file() for name in _CONFIG_FILES):
        options += ["-c", os.devnull, f"--rootdir={root}"]
    # Without it pytest takes the directory of its settings for the top, and lists every directory above the workspace.
    options.append(f"--confcutdir={root}")
    return (sys.executable if borrowed else python), options


def _has_pytest(python: str, launcher: Launcher) -> bool:
    return python == sys.executable or _probe(python, launcher)


@lru_cache(maxsize=16)
def _probe(python: str, launcher: Launcher) -> bool:
    result = launcher.run([python, "-c", "import pytest"], cwd=Path("/"), timeout_s=_PROBE_SECONDS)
    return result.exit_status == 0


@lru_cache(maxsize=1)
def _own_plugins() -> tuple[str, ...]:
    """Names of the pytest plugins that are installed beside Codur."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - lazy: only a test run needs it

    return tuple(sorted({entry.name for entry in entry_points(group="pytest11")}))
