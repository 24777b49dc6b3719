"""Where a command line is tried: an empty home, and an empty project."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home."""
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty directory to work in."""
    path = tmp_path / "project"
    path.mkdir()
    return path
