"""What holds for every test: no connection leaves the machine, and programs that are started can be interrupted."""

from __future__ import annotations

import signal
import sys
from ipaddress import ip_address
from typing import Any


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
