"""Pages as text, and what a search finds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from codur.web.access import decode, read_page
from codur.web.fetch import Fetched
from codur.web.target import FetchFailed, FetchRefused
from tests.web.kit import ARTICLE, RESULTS, web_on
from tests.web.server import Server, page, redirect

PROJECT = Path(__file__).resolve().parents[2]


def fetched(content: bytes, kind: str = "text/html", charset: str = "", *, truncated: bool = False) -> Fetched:
    return Fetched(
        url="https://birds.example/kestrel",
        status=200,
        address="93.184.215.14",
        content_type=kind,
        charset=charset,
        content=content,
        truncated=truncated,
    )


def test_html_becomes_markdown_without_what_is_around_it() -> None:
    found = read_page(fetched(ARTICLE.encode()))
    assert (found.title, found.kind, found.readable) == ("Kestrels", "text/html", True)
    assert "**small falcon**" in found.text
    assert "- voles" in found.text
    assert "wings = 2" in found.text
    assert "[the falcon](https://birds.example/falcon)" in found.text
    for word in ("steal", "color", "Shop", "rights"):
        assert word not in found.text


def test_a_page_without_a_main_part_gives_its_words() -> None:
    assert "two words" in read_page(fetched(b"<html><body><p>two words</p></body></html>")).text


@pytest.mark.parametrize(
    "html", [b"", b"<", b"<html></html>", b"\x00\xff" * 50, b"<div>" * 5000, b"<html>" + b"&#0;" * 99]
)
def test_odd_html_is_no_error_and_prints_nothing(html: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    assert read_page(fetched(html)).title == ""
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("content", "charset", "text"),
    [
        ("grüß".encode(), "", "grüß"),
        ("grüß".encode(), "utf-8", "grüß"),
        ("grüß".encode("latin-1"), "iso-8859-1", "grüß"),
        ("“ja”".encode("cp1252"), "ISO-8859-1", "“ja”"),
        ("“ja”".encode("cp1252"), "", "“ja”"),
        ("日本".encode("shift-jis"), "Shift_JIS", "日本"),
        (b'<meta charset="windows-1251">' + "мир".encode("cp1251"), "", '<meta charset="windows-1251">мир'),
        (b"\xef\xbb\xbf" + "é".encode(), "latin-1", "é"),
        ("é".encode("utf-16"), "", "é"),
        ("é".encode(), "base64", "é"),
        ("é".encode(), "no-such-charset", "é"),
        ("é".encode(), "unicode_escape", "é"),
    ],
)
def test_encodings(content: bytes, charset: str, text: str) -> None:
    assert decode(fetched(content, "text/plain", charset)) == text


def test_a_character_cut_at_the_end_does_not_change_the_encoding() -> None:
    assert decode(fetched("grüß€".encode()[:-1], "text/plain", truncated=True)) == "grüß"


@pytest.mark.parametrize(
    ("kind", "content", "readable"),
    [
        ("text/plain", b"x", True),
        ("application/json", b"{}", True),
        ("application/ld+json", b"{}", True),
        ("", b"plain words", True),
        ("", b"\x7fELF\x00\x01", False),
        ("application/octet-stream", b"<!doctype html><p>words", True),
        ("application/octet-stream", b"plain", False),
        ("application/pdf", b"%PDF-1.7", False),
        ("image/png", b"\x89PNG", False),
    ],
)
def test_what_is_no_text_is_not_shown(kind: str, content: bytes, readable: bool) -> None:
    found = read_page(fetched(content, kind))
    assert (found.readable, bool(found.text)) == (readable, readable)


def test_a_search_asks_the_service_and_reads_its_answer() -> None:
    with Server(page(RESULTS.encode(), "Content-Type: text/html; charset=utf-8")) as server:
        hits = web_on(server).search("kestrel & falcon")
    assert [(hit.url, hit.snippet) for hit in hits] == [
        ("https://birds.example/kestrel", "The kestrel hovers."),
        ("https://wiki.example/Falcon", "A bird of prey."),
    ]
    assert hits[0].title == "Kestrel facts"
    (request,) = server.requests
    head, _, body = request.decode().partition("\r\n\r\n")
    assert head.startswith("POST /html/ HTTP/1.1\r\n")
    assert "Content-Type: application/x-www-form-urlencoded" in head
    assert parse_qs(body)["q"] == ["kestrel & falcon"]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (page(b"wait", status="202 Accepted"), "answered with status 202"),
        (page(b""), "gave an empty answer"),
        (page(b"no", status="503 Service Unavailable"), "answered with status 503"),
    ],
)
def test_a_service_that_does_not_want_to_answer(answer: bytes, problem: str) -> None:
    with Server(answer) as server, pytest.raises(FetchFailed, match=problem):
        web_on(server).search("kestrel")


def test_an_answer_without_results_is_none() -> None:
    with Server(page(b"<html><body>No results.</body></html>")) as server:
        assert web_on(server).search("kestrel") == ()


def test_a_form_is_sent_to_nobody_else() -> None:
    with Server(redirect("/elsewhere")) as server, pytest.raises(FetchRefused, match="more than 0 redirects"):
        web_on(server).search("kestrel")
    assert len(server.requests) == 1


def test_a_secret_is_not_searched_for() -> None:
    with Server(page(RESULTS.encode())) as server, pytest.raises(FetchRefused, match="holds a secret"):
        web_on(server, redact=lambda text: text.replace("canary-0123", "[redacted]")).search("what is canary-0123")
    assert server.requests == []


def test_a_page_that_is_not_there_is_an_error() -> None:
    with (
        Server(page(b"<p>sorry</p>", status="404 Not Found")) as server,
        pytest.raises(FetchFailed, match="status 404"),
    ):
        web_on(server).page(server.url("/gone"))


def test_importing_it_loads_no_library() -> None:
    program = (
        "import sys, codur.web.access, codur.tools.web_tools\n"
        "print([name for name in ('httpx', 'trafilatura', 'ddgs', 'lxml') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
