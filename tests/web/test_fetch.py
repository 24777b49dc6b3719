"""What comes back, and what is made of answers that never end, lie or break off."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from codur.web.fetch import Fetched, Fetcher, FetchLimits
from codur.web.target import FetchFailed, FetchRefused
from tests.web.server import Script, Server, forever, page
from tests.web.test_guard import Names, local

PROJECT = Path(__file__).resolve().parents[2]
BOMB = zlib.compressobj(9, zlib.DEFLATED, 31)
BOMB_BYTES = b"".join(BOMB.compress(b"\0" * 1_000_000) for _ in range(50)) + BOMB.flush()
SMALL = FetchLimits(max_bytes=100_000, seconds=20.0)
SHORT = FetchLimits(max_bytes=1_000_000, seconds=0.5)


def got(script: Script | bytes, **values: Any) -> Fetched:
    with Server(script) as server:
        return local(server, **values)


def failed(script: Script | bytes, **values: Any) -> str:
    with Server(script) as server:
        with pytest.raises(FetchFailed) as caught:
            local(server, **values)
        return caught.value.message


def test_type_status_and_content_are_told() -> None:
    found = got(page("grüß".encode(), "Content-Type: Text/HTML; charset=utf-8", status="404 Not Found"))
    assert (found.status, found.content_type, found.charset, found.content) == (
        404,
        "text/html",
        "utf-8",
        "grüß".encode(),
    )
    bare = got(page(b"\x00\xff"))
    assert (bare.content_type, bare.charset, bare.content) == ("", "", b"\x00\xff")


@pytest.mark.parametrize("encoding", ["", "identity"])
def test_pages_are_asked_for_uncompressed(encoding: str) -> None:
    found = got(page(b"hello" * 100, f"Content-Encoding: {encoding}"))
    assert (found.content, found.truncated) == (b"hello" * 100, False)


def test_a_compression_bomb_is_refused_unread() -> None:
    assert len(BOMB_BYTES) < 60_000
    assert failed(page(BOMB_BYTES, "Content-Encoding: gzip")) == "the answer is compressed, which was not asked for"


def test_an_endless_body_is_cut_at_the_bound() -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    found = got(lambda _: forever(b"x" * 65536, head=head), limits=SMALL)
    assert (found.content, found.truncated) == (b"x" * SMALL.max_bytes, True)


def test_a_page_of_just_the_bound_is_whole() -> None:
    found = got(page(b"x" * SMALL.max_bytes), limits=SMALL)
    assert (len(found.content), found.truncated) == (SMALL.max_bytes, False)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX-Slow: ",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n",
    ],
)
def test_a_byte_at_a_time_ends_in_time(head: bytes) -> None:
    said = failed(lambda _: forever(b"x", head=head, pause_s=0.05), limits=SHORT)
    assert said == "page.example did not send the page within 0.5 s"


def test_a_name_that_takes_for_ever_to_look_up_ends_in_time() -> None:
    released = threading.Event()

    def slow(_host: str, _port: int) -> tuple[str, ...]:
        released.wait(30)
        return ("127.0.0.1",)

    with pytest.raises(FetchFailed, match=r"within 0\.5 s"):
        Fetcher(resolve=slow, limits=SHORT).fetch("http://page.example/")
    released.set()


def broken(*pieces: bytes) -> Script:
    def script(_head: bytes) -> Iterable[bytes]:
        return pieces

    return script


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (broken(), "gave no usable answer"),
        (broken(b"SSH-2.0-OpenSSH_9.0\r\n"), "gave no usable answer"),
        (broken(page(b"short", length=500)), "gave no usable answer"),
        (broken(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"), "gave no usable answer"),
        (broken(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello"), "gave no usable answer"),
        (broken(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"), "gave no usable answer"),
        (broken(b"HTTP/1.1 200 OK\r\n", *[b"X: " + b"y" * 100_000 + b"\r\n"] * 100, b"\r\n"), "gave no usable answer"),
        (broken(b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n"), "gave no usable answer"),
        (broken(page(b"hello", "Content-Encoding: br")), "the answer is compressed"),
        (broken(page(b"hello", "Content-Encoding: gzip, gzip")), "the answer is compressed"),
    ],
    ids=range(10),
)
def test_broken_answers_are_clean_errors(script: Script, said: str) -> None:
    message = failed(script)
    assert said in message
    assert len(message) < 300
    assert "\n" not in message


def test_nobody_listens_or_no_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(FetchFailed, match=r"page\.example gave no usable answer"):
        Fetcher(resolve=Names(), ports={port}, allowed=lambda _: True).fetch(f"http://page.example:{port}/")
    with pytest.raises(FetchFailed, match="has no address"):
        Fetcher(resolve=Names(())).fetch("http://page.example/")

    def unknown(_host: str, _port: int) -> tuple[str, ...]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(FetchFailed, match=r"page\.example is not known"):
        Fetcher(resolve=unknown).fetch("http://page.example/")


def test_no_cookie_proxy_or_stored_password_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine page.example login me password canary\n")
    netrc.chmod(0o600)
    with Server(page(b"the proxy")) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("NETRC", str(netrc))
        script: Script = lambda head: [  # noqa: E731 - one expression
            page(b"", "Location: /b", "Set-Cookie: id=canary; Path=/", status="302 Found")
            if b"GET /a " in head
            else page(b"direct")
        ]
        with Server(script) as server:
            assert local(server, "/a").content == b"direct"
            sent = b"".join(server.requests).lower()
        assert proxy.requests == []
    assert len(server.requests) == 2
    assert b"canary" not in sent
    assert b"authorization" not in sent
    assert b"cookie" not in sent


def test_the_handshake_carries_the_name_and_a_certificate_is_wanted() -> None:
    with Server(b"") as server:
        fetcher = Fetcher(resolve=Names(), ports={server.port}, allowed=lambda _: True)
        with pytest.raises(FetchFailed):
            fetcher.fetch(f"https://page.example:{server.port}/")
        (hello,) = server.requests
    assert hello[:1] == b"\x16"
    assert b"page.example" in hello


def test_it_can_be_called_while_an_event_loop_runs() -> None:
    async def inside(server: Server) -> Fetched:
        return local(server)

    with Server(page()) as server:
        assert asyncio.run(inside(server)).content == b"hello"


def test_importing_it_does_not_load_httpx() -> None:
    program = "import sys, codur.web.fetch; print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_refusals_and_failures_have_their_exit_codes() -> None:
    assert (FetchRefused.exit_code, FetchFailed.exit_code) == (5, 1)
