"""The model that llama.cpp's servers serve."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.real_servers.kit import PLACE, PROGRAM


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _made(tmp_path_factory)


@pytest.fixture(scope="session")
def endless_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _made(tmp_path_factory, "endless")


def _made(places: pytest.TempPathFactory, *how: str) -> Path:
    path = places.mktemp("model") / "tiny.gguf"
    subprocess.run([f"{PLACE}/bin/python", str(PROGRAM), str(path), "make", *how], check=True)
    return path
