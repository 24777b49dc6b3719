"""Servers made with the official library, over pipes and over HTTP: tools, resources, structured answers, errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codur.config.settings import McpServer
from codur.mcp.server_errors import McpError
from codur.mcp.servers import McpServers
from tests.mcp import kit
from tests.mcp.web import application


@pytest.fixture(scope="module", params=["stdio", "http"])
def mine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServers]:
    directory = tmp_path_factory.mktemp("mcp")
    if request.param == "stdio":
        with kit.servers(directory, mine=kit.honest()) as found:
            yield found
    else:
        with application() as url, kit.servers(directory, mine=McpServer(url=url, timeout_s=kit.LONG_S)) as found:
            yield found


def test_tools_are_listed_under_names_of_their_own(mine: McpServers) -> None:
    listing = mine.tools("mine")

    assert [tool.name for tool in listing.tools] == [
        "mcp__mine__echo",
        "mcp__mine__add",
        "mcp__mine__fail",
        "mcp__mine__picture",
        "mcp__mine__work",
    ]
    assert (listing.tools[0].description, listing.left_out) == ("Give a text back.", 0)
    assert listing.tools[0].schema["required"] == ["text"]


def test_a_tool_is_called(mine: McpServers) -> None:
    answer = mine.call("mcp__mine__echo", {"text": "ab\x1b[31m", "times": 2})

    assert (answer.text, answer.failed) == ("abab", False)


def test_a_structured_answer(mine: McpServers) -> None:
    assert mine.call("mcp__mine__add", {"a": 2, "b": 3}).structured == {"sum": 5}


def test_a_tool_that_fails_says_so(mine: McpServers) -> None:
    answer = mine.call("mcp__mine__fail", {})

    assert answer.failed
    assert "fail" in answer.text


def test_what_is_no_text_is_named(mine: McpServers) -> None:
    assert mine.call("mcp__mine__picture", {}).text == "[image image/png, about 402 bytes, not shown]"


def test_resources(mine: McpServers) -> None:
    assert [(entry.uri, entry.mime_type) for entry in mine.resources("mine")] == [
        ("note://one", "text/plain"),
        ("note://two", "application/octet-stream"),
    ]
    assert mine.read("mine", "note://one").text == "the note's text"
    assert mine.read("mine", "note://two").text == "[binary application/octet-stream, about 300 bytes, not shown]"


def test_what_is_not_there(mine: McpServers) -> None:
    for tool in ("mcp__mine__nothing", "mcp__other__echo", "echo"):
        with pytest.raises(McpError) as caught:
            mine.call(tool, {})
        assert caught.value.code == "not_found"
    with pytest.raises(McpError) as caught:
        mine.read("mine", "note://three")
    assert caught.value.code == "not_found"
    assert mine.call("mcp__mine__echo", {"text": "still there"}).text == "still there"


def test_a_request_is_handed_to_a_server_that_may_write_a_directory(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    with kit.servers(tmp_path, mine=kit.honest()) as mine:
        said = mine.delegate("mcp__mine__work", there, {}, prompt="write it", timeout_s=kit.LONG_S)
        refused = mine.call("mcp__mine__work", {"prompt": "write it"})

    assert said == "wrote 8 characters; ['answer.txt']"
    assert (there / "answer.txt").read_text() == "write it"
    assert refused.failed
    assert list((tmp_path / "work").iterdir()) == []
