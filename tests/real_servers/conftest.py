"""The model that llama.cpp's servers serve."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.real_servers.kit import PLACE, PROGRAM


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    subprocess.run([f"{PLACE}/bin/python", str(PROGRAM), str(path), "make"], check=True)
    return path
