"""Real servers of both kinds, and what asks them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from codur.config.settings import McpServer, SandboxSettings
from codur.mcp.connection import Place
from codur.mcp.servers import McpServers, Pins
from codur.sandbox.cancel import CancelToken
from codur.sandbox.launcher import Launcher

HERE = Path(__file__).parent
HONEST = (sys.executable, str(HERE / "honest.py"))
LONG_S = 90.0
"""For what is expected to come, on a busy machine too."""
SHORT_S = 2.0
"""For what never comes."""


def hostile(*ways: str, timeout_s: float = LONG_S, environment: tuple[str, ...] = ()) -> McpServer:
    """A server that misbehaves."""
    command = (sys.executable, "-I", "-S", str(HERE / "hostile.py"), *ways)
    return McpServer(command=command, timeout_s=timeout_s, environment=environment)


def honest() -> McpServer:
    """A server made with the official library."""
    return McpServer(command=HONEST, timeout_s=LONG_S)


@contextmanager
def servers(
    tmp_path: Path,
    pins: Pins | None = None,
    *,
    cancel: CancelToken | None = None,
    sandbox: SandboxSettings | None = None,
    environ: Mapping[str, str] | None = None,
    addresses: Mapping[str, Sequence[str]] | None = None,
    more: Mapping[str, McpServer] | None = None,
    **named: McpServer,
) -> Iterator[McpServers]:
    """Servers by name, started in `work` below `tmp_path` and contained."""
    work, home = tmp_path / "work", tmp_path / "home"
    for directory in (work, home):
        directory.mkdir(exist_ok=True)

    def resolve(host: str, port: int) -> Sequence[str]:
        if host not in (addresses or {}):
            raise OSError("no such host")
        return (addresses or {})[host]

    known = {"PATH": os.environ["PATH"], "HOME": str(home), **(environ or {})}
    with (
        Launcher(known, cancel=cancel, sandbox=sandbox or SandboxSettings()) as launcher,
        McpServers(
            {**named, **(more or {})},
            Place(launcher=launcher, environ=known, workspace=work, resolve=resolve),
            pins=pins,
            cancel=cancel,
        ) as found,
    ):
        yield found
