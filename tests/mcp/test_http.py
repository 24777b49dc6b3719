"""What is refused of servers that are reached over HTTP, and how they fail."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from codur.config.settings import McpServer
from codur.mcp.server_errors import McpError
from tests.mcp import kit
from tests.mcp.web import by_hand

Answer = Callable[[BaseHTTPRequestHandler], None]


def sends(status: int, body: bytes = b"", **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.rfile.read(int(request.headers.get("content-length", "0")))
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("content-length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


def floods(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("content-type", "application/json")
    request.end_headers()
    try:
        while True:
            request.wfile.write(b" " * 65_536)
    except OSError:
        request.close_connection = True


def silent(request: BaseHTTPRequestHandler) -> None:
    request.rfile.read(int(request.headers.get("content-length", "0")))
    request.connection.recv(1)


JSON = {"content_type": "application/json"}
FAILURES: dict[str, tuple[Answer, float, str, str]] = {
    "an error": (sends(500), kit.LONG_S, "failed", "answered with an error"),
    "not JSON": (sends(200, b"{", **JSON), kit.LONG_S, "failed", "answered with an error"),
    "a page": (sends(200, b"<html>", content_type="text/html"), kit.LONG_S, "failed", "Unexpected content type"),
    "wrong id": (
        sends(200, b'{"jsonrpc": "2.0", "id": 4711, "result": {}}', **JSON),
        kit.SHORT_S,
        "timeout",
        "did not answer within 2 s",
    ),
    "a bomb": (
        sends(200, gzip.compress(b" " * 10**7), content_encoding="gzip", **JSON),
        kit.LONG_S,
        "failed",
        "sent a compressed answer",
    ),
    "a flood": (floods, kit.LONG_S, "too_large", "does not stop sending"),
    "silence": (silent, kit.SHORT_S, "timeout", "did not answer within 2 s"),
}


@pytest.mark.parametrize("way", FAILURES)
def test_a_server_that_misbehaves_is_one_error(way: str, tmp_path: Path) -> None:
    answer, timeout_s, code, message = FAILURES[way]
    with (
        by_hand(answer) as (url, _),
        kit.servers(tmp_path, mine=McpServer(url=url, timeout_s=timeout_s)) as mine,
        pytest.raises(McpError) as caught,
    ):
        mine.tools("mine")

    assert caught.value.code == code
    assert message in caught.value.message
    assert caught.value.message.isprintable()


def test_nobody_listens(tmp_path: Path) -> None:
    with by_hand(sends(200)) as (url, _):
        pass
    with (
        kit.servers(tmp_path, mine=McpServer(url=url, timeout_s=kit.LONG_S)) as mine,
        pytest.raises(McpError, match="mine cannot be reached"),
    ):
        mine.tools("mine")


def test_a_redirect_to_another_host_is_not_followed(tmp_path: Path) -> None:
    with by_hand(sends(200, b"{}", **JSON)) as (elsewhere, seen):
        for status in (301, 302, 303, 307, 308):
            with (
                by_hand(sends(status, location=elsewhere)) as (url, _),
                kit.servers(tmp_path, mine=McpServer(url=url, timeout_s=kit.LONG_S)) as mine,
                pytest.raises(McpError),
            ):
                mine.tools("mine")
        assert seen == []


NAMES: dict[str, tuple[str, ...]] = {
    "unknown.example": (),
    "inside.example": ("127.0.0.1",),
    "both.example": ("8.8.8.8", "10.0.0.5"),
    "metadata.example": ("169.254.169.254",),
    "localhost": ("10.0.0.5",),
}


@pytest.mark.parametrize("host", NAMES)
def test_a_name_must_be_known_and_public(host: str, tmp_path: Path) -> None:
    found = {host: NAMES[host]} if NAMES[host] else {}
    with by_hand(sends(200)) as (url, seen):
        server = McpServer(url=url.replace("127.0.0.1", host), timeout_s=kit.LONG_S)
        with kit.servers(tmp_path, addresses=found, mine=server) as mine, pytest.raises(McpError) as caught:
            mine.tools("mine")
        assert seen == []
    why = "is not on the public internet" if found else "is not known"
    assert caught.value.message == f"mine: {host} {why}"
    assert caught.value.code == ("refused" if found else "failed")


def test_this_machine_may_be_named(tmp_path: Path) -> None:
    with by_hand(sends(500)) as (url, seen):
        server = McpServer(url=url.replace("127.0.0.1", "localhost"), timeout_s=kit.LONG_S)
        with (
            kit.servers(tmp_path, addresses={"localhost": ("127.0.0.1",)}, mine=server) as mine,
            pytest.raises(McpError, match="answered with an error"),
        ):
            mine.tools("mine")
        assert seen == ["/mcp"]


def test_headers_come_from_the_named_variables(tmp_path: Path) -> None:
    seen: list[str | None] = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        seen.append(request.headers.get("authorization"))
        sends(500)(request)

    with by_hand(answer) as (url, _):
        server = McpServer(url=url, headers_env={"Authorization": "MINE_KEY"}, timeout_s=kit.LONG_S)
        with (
            kit.servers(tmp_path, environ={"MINE_KEY": "Bearer x"}, mine=server) as mine,
            pytest.raises(McpError, match="answered with an error"),
        ):
            mine.tools("mine")
    assert seen[0] == "Bearer x"
