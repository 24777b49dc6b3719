"""Starts servers that were not written here, from an environment of their own; none sees this process's variables."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.llm.kit import Client, settings

PLACE = os.environ.get("CODUR_TEST_SERVERS", "")
"""The environment that the servers are installed in."""
ASKED_FOR = pytest.mark.skipif(not PLACE, reason="needs servers from PyPI; asked for with `make real-servers`")
KEY = "sk-made-up"
PROGRAM = Path(__file__).parent / "llama_server.py"
_VARIABLES = {"PATH": "/usr/bin:/bin", "NO_PROXY": "127.0.0.1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
_START_S = 300.0
_PROFILE: dict[str, Any] = {"max_attempts": 1, "temperature": 1.0, "timeout_s": 120.0}


@dataclass(frozen=True)
class RealServer:
    """A server that runs at `url` as `process`."""

    url: str
    process: subprocess.Popen[str]


def has(package: str) -> bool:
    """Whether the servers' environment has `package`."""
    return any(Path(PLACE).glob(f"lib/python*/site-packages/{package}"))


@contextmanager
def running(
    arguments: Sequence[str], home: Path, address: Callable[[subprocess.Popen[str]], str]
) -> Iterator[RealServer]:
    """Run Python of the servers' environment with `arguments` until the block ends.

    Args:
        home: its home, its directory, and where its log goes.
        address: gives the server's address once it answers.
    """
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [f"{PLACE}/bin/python", *arguments],
            env={**_VARIABLES, "HOME": str(home)},
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            yield RealServer(address(process), process)
        finally:
            process.kill()
            process.communicate()


def said_address(process: subprocess.Popen[str]) -> str:
    """The address that a server writes as its first line."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def once_there(url: str, path: str) -> Callable[[subprocess.Popen[str]], str]:
    """An `address` that waits until a server at `url` answers to `path`."""

    def address(process: subprocess.Popen[str]) -> str:
        end = time.monotonic() + _START_S
        while time.monotonic() < end and process.poll() is None:
            try:
                urllib.request.urlopen(f"{url}{path}", timeout=10).close()
            except urllib.error.HTTPError:
                return url
            except OSError:
                time.sleep(0.2)
            else:
                return url
        pytest.fail(f"no server answers at {url}")

    return address


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def client_of(url: str, api: str, *, model: str, stream: bool = False, key: str = KEY, **values: Any) -> Client:
    """A client that asks once; answers of OpenAI's protocol come from below `/v1`."""
    given = settings(
        f"{url}/v1" if api == "openai" else url,
        api=api,
        **{**_PROFILE, "model": model, **values},
    )
    return Client(given, environ={"GROQ_API_KEY": key} if key else {}, stream=stream)
