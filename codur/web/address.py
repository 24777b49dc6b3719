"""Which addresses belong to the public internet.

An allow list of what IANA has assigned for global use, less what has a special purpose (IANA's special-purpose address
registries, RFC 6890, RFC 9637) or leads to an IPv4 address by another way (RFC 4291, 6052, 3056, 4380). Python's own
`is_global` and `is_private` miss some of these, and differ between versions.
"""

from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address

_SPECIAL_V4 = (
    "0.0.0.0/8",  # this network
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # carriers' shared addresses; clouds have services there
    "127.0.0.0/8",  # loopback
    "168.63.129.16/32",  # Azure's host, from inside
    "169.254.0.0/16",  # link-local; the clouds' metadata
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation
    "192.31.196.0/24",  # AS112
    "192.52.193.0/24",  # AMT
    "192.88.99.0/24",  # 6to4 relays
    "192.168.0.0/16",  # private
    "192.175.48.0/24",  # AS112
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/3",  # multicast, reserved, broadcast
)
_GLOBAL_V6 = "2000::/3"
_SPECIAL_V6 = (
    "2001::/23",  # protocol assignments, among them Teredo, which holds an IPv4 address
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4, which holds an IPv4 address
    "2620:4f:8000::/48",  # AS112
    "3fff::/20",  # documentation
)


def is_public(address: str) -> bool:
    """Whether an IPv4 or IPv6 address belongs to the public internet; False for what is no address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return not any(parsed in network for network in _special_v4())
    is_global = parsed.scope_id is None and parsed in IPv6Network(_GLOBAL_V6)
    return is_global and not any(parsed in network for network in _special_v6())


@cache
def _special_v4() -> tuple[IPv4Network, ...]:
    return tuple(IPv4Network(text) for text in _SPECIAL_V4)


@cache
def _special_v6() -> tuple[IPv6Network, ...]:
    return tuple(IPv6Network(text) for text in _SPECIAL_V6)
