"""URLs that must not be fetched, each with what its host resolves to; and some that may."""

from __future__ import annotations

from dataclasses import dataclass

PUBLIC = "93.184.215.14"
"""An address that the guard takes for public; nothing ever connects to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hostile:
    """A URL, and the addresses of its host where that is a name."""

    url: str
    addresses: tuple[str, ...] = (PUBLIC,)


def _urls(*urls: str) -> tuple[Hostile, ...]:
    return tuple(Hostile(url=url) for url in urls)


def _names(*addresses: str) -> tuple[Hostile, ...]:
    return tuple(Hostile(url="http://page.example/", addresses=(address,)) for address in addresses)


LOOPBACK = (
    *_urls(
        "http://127.0.0.1/",
        "http://127.1/",
        "http://0/",
        "http://0.0.0.0/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://127.0.0.1./",
        "http://\uff11\uff12\uff17.0.0.1/",
        "http://127\u30020\u30020\u30021/",
    ),
    Hostile(url="http://localhost/", addresses=("127.0.0.1", "::1")),
    Hostile(url="http://localhost.localdomain./", addresses=("127.0.0.1",)),
)
IPV6 = _urls(
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fd00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
)
INTERNAL = (
    *_urls(
        "http://169.254.169.254/latest/meta-data/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://192.0.0.192/",
        "http://198.18.0.1/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://240.0.0.1/",
    ),
    *_names(
        "169.254.169.254", "10.1.2.3", "100.64.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "fec0::1", "fe80::1%eth0"
    ),
)
SCHEMES = _urls(
    "file:///etc/passwd",
    "ftp://page.example/",
    "gopher://page.example/",
    "data:text/plain,x",
    "javascript:alert(1)",
    "jar:http://page.example!/x",
    "//page.example/",
    "page.example",
    "http:page.example",
    "http:///page.example",
    "http://",
    "",
)
AMBIGUOUS = _urls(
    "http://page.example@127.0.0.1/",
    "http://user:password@page.example/",
    "http://page.example\\@127.0.0.1/",
    "http://page.example\\.evil.example/",
    "http://page.example/\r\nX-Injected: 1",
    "http://page.example/\x00",
    "http://page.example\t/",
    "http://page .example/",
    " http://page.example/",
    "http://page.example/\u202e",
    "http://page.example%2f@127.0.0.1/",
    "http://page.example%00.evil.example/",
    "http://page..example/",
    "http://-page.example/",
    "http://[page.example]/",
    "http://[::1/",
    "http://page.example:99999/",
    "http://page.example:x/",
    "http://" + "a" * 64 + ".example/",
    "http://page.example/" + "a" * 5000,
)
PORTS = _urls(
    "http://page.example:22/",
    "http://page.example:25/",
    "http://page.example:6379/",
    "http://page.example:8080/",
    "http://page.example:0/",
)
SEVERAL = (
    Hostile(url="http://page.example/", addresses=(PUBLIC, "127.0.0.1")),
    Hostile(url="http://page.example/", addresses=("127.0.0.1", PUBLIC)),
    Hostile(url="http://page.example/", addresses=(PUBLIC, "::1")),
)

HOSTILE: tuple[Hostile, ...] = (*LOOPBACK, *IPV6, *INTERNAL, *SCHEMES, *AMBIGUOUS, *PORTS, *SEVERAL)
