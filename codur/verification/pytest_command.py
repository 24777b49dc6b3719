"""The command line that runs a check's tests with pytest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codur.python.pytest_runner import pytest_runner
from codur.sandbox.launcher import Launcher
from codur.workspace.workspace import Workspace


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

    Args:
        argv: the check's `argv`, with `{python}`.
        report: where pytest writes its JUnit XML.
        plain: leave out the options in the workspace's settings (they may be those of a plugin that is not there).
    """
    flags = ["-q", "--tb=short", "-p", "no:cacheprovider", f"--junitxml={report}"]
    if plain:
        flags += ["-o", "addopts="]
    interpreter, options = pytest_runner(python, workspace.root, launcher)
    return [*(interpreter if item == "{python}" else item for item in argv), *options, *flags]
