"""A toolbox on a directory, with real processes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from codur.config.settings import SandboxSettings, ToolSettings
from codur.sandbox.launcher import Launcher
from codur.tools.toolbox import Toolbox, ToolContext
from codur.workspace.workspace import Workspace


def toolbox_on(
    root: Path,
    settings: ToolSettings | None = None,
    timeout_s: float = 20.0,
    python: str = sys.executable,
    sandbox: SandboxSettings | None = None,
) -> Toolbox:
    """A toolbox whose workspace is `root`."""
    context = ToolContext(
        workspace=Workspace.open(root),
        launcher=Launcher(os.environ, sandbox=sandbox),
        find_python=lambda: python,
        settings=settings or ToolSettings(),
        timeout_s=timeout_s,
    )
    return Toolbox(context)


@pytest.fixture
def toolbox(tmp_path: Path) -> Toolbox:
    return toolbox_on(tmp_path)
