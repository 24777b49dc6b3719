"""The command line that runs a check's tests with pytest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codur.python.pytest_runner import pytest_words
from codur.sandbox.launcher import Launcher
from codur.workspace.workspace import Workspace


def pytest_argv(
    argv: Sequence[str],
    python: str,
    workspace: Workspace,
    launcher: Launcher,
    report: Path,
    *,
    error: str = "",
    search: bool = False,
) -> list[str]:
    """The check's command with what makes its result readable, without options that the installed pytest lacks.

    Args:
        argv: the check's `argv`, with `{python}` and `pytest`.
        report: where pytest writes its JUnit XML.
        error: what pytest printed when it did not understand the command before; the options it names are left out.
        search: the command runs the same each time, for a search; else plugins do what they do for the project.
    """
    place = list(argv).index("pytest") + 1
    interpreter, words = pytest_words(argv[place:], python, workspace.root, launcher, error=error, search=search)
    # One file that cannot be loaded, for want of a package perhaps, says nothing of the tests in the others.
    flags = ["-q", "--tb=short", "--continue-on-collection-errors", "-p", "no:cacheprovider", f"--junitxml={report}"]
    whole_values = ["-o", "verbosity_assertions=2"]  # what was compared, uncut; a pytest that lacks it passes over it
    return [*(interpreter if item == "{python}" else item for item in argv[:place]), *words, *flags, *whole_values]
