"""The command line that runs a workspace's tests with pytest."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from codur.sandbox.launcher import Launcher
from codur.workspace.workspace import Workspace

_CONFIG_FILES = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_PROBE_SECONDS = 20.0


def pytest_argv(
    argv: Sequence[str],
    python: str,
    workspace: Workspace,
    launcher: Launcher,
    report: Path,
    *,
    plain: bool = False,
) -> list[str]:
    """The check's command with what makes its result readable.

    The workspace's interpreter runs it if it has pytest, else the one that runs Codur (pytest is a dependency).
    Settings of directories above the workspace are kept out.

    Args:
        argv: the check's `argv`, with `{python}`.
        report: where pytest writes its JUnit XML.
        plain: leave out the options in the workspace's settings (they may be those of a plugin that is not there).
    """
    interpreter = python if has_pytest(python, launcher) else sys.executable
    command = [interpreter if item == "{python}" else item for item in argv]
    flags = ["-q", "--tb=short", "-p", "no:cacheprovider", f"--junitxml={report}"]
    if plain:
        flags += ["-o", "addopts="]
    if not any(workspace.is_file(name) for name in _CONFIG_FILES):
        flags += ["-c", os.devnull, f"--rootdir={workspace.root}"]
    return [*command, *flags]


def has_pytest(python: str, launcher: Launcher) -> bool:
    """Whether an interpreter can import pytest; Codur's own can."""
    return python == sys.executable or _probe(python, launcher)


@lru_cache(maxsize=16)
def _probe(python: str, launcher: Launcher) -> bool:
    result = launcher.run([python, "-c", "import pytest"], cwd=Path("/"), timeout_s=_PROBE_SECONDS)
    return result.exit_status == 0
