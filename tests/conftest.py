"""What holds for every test: no connection leaves the machine."""

from __future__ import annotations

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
