"""What holds for every test: no connection leaves the machine, and programs that are started can be interrupted."""

from __future__ import annotations

import signal
import sys
from ipaddress import ip_address
from typing import Any

import pytest

SLOW = (
    "tests/adversarial/",
    "tests/agents/external/",
    "tests/batch/test_supervisor.py",
    "tests/cli/test_back_ends.py",
    "tests/cli/test_challenge.py",
    "tests/cli/test_hijack.py",
    "tests/cli/test_interrupt.py",
    "tests/cli/test_plan.py",
    "tests/cli/test_resume.py",
    "tests/cli/test_runs.py",
    "tests/mcp/test_honest.py",
    "tests/mcp/test_hostile.py",
    "tests/packaging/",
    "tests/repair/test_inverse.py",
    "tests/repair/test_worker_",
    "tests/runs/test_context.py",
)
"""How the names of the slow tests begin: about three fifths of the time and a tenth of the tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow tests."""
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")


def _only_loopback(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook (PEP 578) that stops connections and look-ups that would leave the machine."""
    if event == "socket.getaddrinfo" and arguments[0] not in (None, "localhost", "127.0.0.1", "::1"):
        raise AssertionError(f"a test looks up {arguments[0]!r}; tests stay on loopback")
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        address = arguments[1][0]
        if address != "localhost" and not ip_address(address).is_loopback:
            raise AssertionError(f"a test connects to {address!r}; tests stay on loopback")


sys.addaudithook(_only_loopback)

# A shell starts what runs in the background (and `nohup` what it starts) with these ignored, and children inherit that.
# They do not inherit a handler, so this one keeps the tests running and gives the programs under test the usual start.
for _signal in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, lambda *_: None)
