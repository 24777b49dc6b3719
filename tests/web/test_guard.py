"""What is refused before anything is sent: addresses, URLs, redirects."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

import pytest

from codur.redaction import Redactor
from codur.web.fetch import Fetched, Fetcher, FetchLimits
from codur.web.target import FetchRefused, is_public, read_url
from tests.web.hostile import HOSTILE, PUBLIC, Hostile
from tests.web.server import Server, page, redirect


class Names:
    """Looks names up in a list of answers, one after the other; the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.asked: list[tuple[str, int]] = []
        self._answers = answers or (("127.0.0.1",),)

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self._answers[min(len(self.asked), len(self._answers)) - 1]


def local(server: Server, path: str = "/", *, names: Names | None = None, **values: Any) -> Fetched:
    """Fetch from `server`, whose address is taken for public."""
    given: dict[str, Any] = {"ports": {server.port, 80, 443}, "allowed": lambda address: address == "127.0.0.1"}
    return Fetcher(resolve=names or Names(), **{**given, **values}).fetch(server.url(path))


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: ascii(hostile.url)[:40])
def test_hostile_urls_are_refused(hostile: Hostile) -> None:
    with pytest.raises(FetchRefused) as caught:
        Fetcher(resolve=Names(hostile.addresses)).fetch(hostile.url)
    assert caught.value.exit_code == 5
    assert caught.value.message.isprintable()
    assert "password" not in caught.value.message


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: ascii(hostile.url)[:40])
def test_a_redirect_to_a_hostile_url_is_refused(hostile: Hostile) -> None:
    """Relative locations lead to the same server; only what stands for another place is tried."""
    if not hostile.url.startswith(("http://", "ftp:", "file:", "gopher:", "data:", "javascript:", "jar:")):
        return
    if any(char in hostile.url for char in "\r\n\x00") or not hostile.url.isascii():
        return  # cannot stand in a header
    judged: list[str] = []

    def allowed(address: str) -> bool:
        judged.append(address)
        return len(judged) == 1 or is_public(address)

    with Server(redirect(hostile.url)) as server:
        with pytest.raises(FetchRefused):
            local(server, names=Names(("127.0.0.1",), hostile.addresses), allowed=allowed)
        assert len(server.requests) == 1


@pytest.mark.parametrize("number", range(3))
def test_good_pages_are_read(number: int) -> None:
    with Server(lambda head: [redirect("/b") if b"GET /a " in head else page(b"good")]) as server:
        path = ("/", "/a", "/x/%C3%BC?q=1&r=%20#part")[number]
        found = local(server, path)
    assert (found.status, found.content, found.truncated, found.address) == (200, b"good", False, "127.0.0.1")
    assert found.url.endswith(("/", "/b", "/x/%C3%BC?q=1&r=%20")[number])


def test_the_name_is_looked_up_once_and_that_address_is_asked() -> None:
    names = Names(("127.0.0.1",), ("127.0.0.2",))
    with Server(page()) as server:
        local(server, names=names)
        assert names.asked == [("page.example", server.port)]
        (head,) = server.requests
        assert f"Host: page.example:{server.port}\r\n".encode() in head


def test_each_hop_is_looked_up_anew() -> None:
    names = Names(("127.0.0.1",), ("10.0.0.1",))
    with Server(redirect("http://other.example/")) as server:
        with pytest.raises(FetchRefused, match=r"other\.example is not on the public internet"):
            local(server, names=names)
        assert names.asked == [("page.example", server.port), ("other.example", 80)]


def test_redirects_are_counted() -> None:
    with Server(redirect("/again")) as server:
        with pytest.raises(FetchRefused, match="more than 5 redirects"):
            local(server)
        assert len(server.requests) == 6
    with Server(redirect("/again")) as server:
        with pytest.raises(FetchRefused, match="more than 0 redirects"):
            local(server, limits=FetchLimits(redirects=0))
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", ["301 x", "302 x", "303 x", "307 x", "308 x"])
def test_every_kind_of_redirect_is_followed_and_a_page_comes_back(status: str) -> None:
    with Server(lambda head: [redirect("//page.example/", status) if b"GET /a " in head else page()]) as server:
        port = server.port
        with pytest.raises(FetchRefused):  # port 80 of the same name: nobody is asked there
            local(server, "/a", ports={port})


def test_a_location_with_characters_that_programs_read_differently_is_refused() -> None:
    for location in ("http:\\\\127.0.0.1", "/a b", "/\x7f", "\\\\other.example"):
        with Server(redirect(location)) as server:
            with pytest.raises(FetchRefused, match="white space, a control character or a backslash"):
                local(server)
            assert len(server.requests) == 1


def test_a_url_with_a_known_secret_is_refused_also_after_a_redirect() -> None:
    redactor = Redactor(["canary-0123/456"])
    names = Names()
    with pytest.raises(FetchRefused, match="holds a secret"):
        Fetcher(resolve=names, redact=redactor).fetch("http://page.example/?q=canary-0123%2F456")
    assert names.asked == []
    with Server(redirect("/?q=canary-0123/456")) as server, pytest.raises(FetchRefused, match="holds a secret"):
        local(server, redact=redactor)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "93.184.215.14", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "223.255.255.254"],
)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


def test_what_is_no_address_is_not_public() -> None:
    for text in ("", "localhost", "8.8.8", "8.8.8.8/8", "2606:4700::1%eth0", "0x08080808", "8.8.8.8 "):
        assert not is_public(text)


def test_no_address_is_public_that_python_takes_for_private() -> None:
    """A sweep: one address of every /16 and of many IPv6 prefixes."""
    swept = [f"{high}.{low}.7.7" for high in range(256) for low in range(0, 256, 3)]
    swept += [f"{number:x}::7" for number in range(0, 0x10000, 7)]
    for address in swept:
        assert not is_public(address) or ip_address(address).is_global, address


def test_parts_of_a_url() -> None:
    target = read_url("HTTPS://BÜCHER.example:443/a?b#c")
    assert (target.scheme, target.host, target.port, target.path) == ("https", "xn--bcher-kva.example", 443, "/a?b")
    assert target.url == "https://xn--bcher-kva.example/a?b"
    assert target.at("2606:4700::1") == "https://[2606:4700::1]:443/a?b"
    address = read_url("http://[2606:4700:0::1]")
    assert (address.host, address.authority, address.path, address.is_address) == (
        "2606:4700::1",
        "[2606:4700::1]",
        "/",
        True,
    )
    assert read_url("http://page.example:8080/", ports={8080}).authority == "page.example:8080"


def test_an_address_in_the_url_is_not_looked_up() -> None:
    names = Names()
    with Server(page()) as server:
        Fetcher(resolve=names, ports={server.port}, allowed=lambda address: True).fetch(
            f"http://127.0.0.1:{server.port}/"
        )
    assert names.asked == []


def test_the_default_rules_refuse_this_machine() -> None:
    with Server(page()) as server:
        with pytest.raises(FetchRefused, match="not on the public internet"):
            Fetcher(ports={server.port}).fetch(server.url(host="localhost"))
        assert server.requests == []
    assert is_public(PUBLIC)
