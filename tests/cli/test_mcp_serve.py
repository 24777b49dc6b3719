"""`codur mcp serve`, asked by the official client over real pipes and real HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ListRootsResult, Root

from tests.cli.kit import ROOT, codur, environment
from tests.runs.kit import REPAIRABLE, contents, fill

PAGE = (ROOT / "docs" / "SERVING.md").read_text(encoding="utf-8")
TOKEN = "token-of-a-test"
TOOLS = {"verify", "repair", "explain_failure", "outline", "find", "undo", "runs"}
SLOW = "touch began; sleep 60"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return fill(tmp_path / "served" / "project", REPAIRABLE)


def command(project: Path) -> list[str]:
    return ["-m", "codur", "mcp", "serve", "-C", str(project)]


def variables(project: Path) -> dict[str, str]:
    return {**environment(project.parents[1] / "home"), "PYTHONPATH": str(ROOT)}


@asynccontextmanager
async def piped(
    project: Path, *, mode: str = "auto", roots: list[Path] | None = None, **more: str
) -> AsyncIterator[Client]:
    """A client of a server that was started for it."""

    async def told(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=path.as_uri()) for path in roots or ()])  # type: ignore[arg-type]

    server = StdioServerParameters(command=sys.executable, args=command(project), env={**variables(project), **more})
    async with Client(stdio_client(server), mode=mode, list_roots_callback=None if roots is None else told) as client:
        yield client


async def until_begun(project: Path) -> None:
    while not (project / "began").exists():
        await asyncio.sleep(0.02)


def refusal(result: Any) -> str:
    assert result.is_error
    return str(result.content[0].text)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_failure_is_seen_explained_repaired_and_undone(project: Path, mode: str) -> None:
    before = contents(project)
    messages: list[str | None] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message)

    async def talk() -> None:
        async with piped(project, mode=mode, roots=[project.parent]) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
            first = (
                await client.call_tool("verify", {"workspace": str(project)}, progress_callback=told)
            ).structured_content
            assert first["verdict"]["difference"] == {"line": 1, "expected": "3 6", "actual": "3 3"}
            found = (await client.call_tool("explain_failure", {})).structured_content["suspects"]
            assert {"number": "1", "start": "1", "end": "3", "result": "0"} in [
                values for each in found for values in each["values"]
            ]
            only = (await client.call_tool("repair", {"dry_run": True})).structured_content
            assert "+    for number in range(start, end + 1):" in only["diff"]
            assert contents(project) == before
            done = (await client.call_tool("repair", {})).structured_content
            assert (done["outcome"], done["verdict"]["status"]) == ("done", "passed")
            kept = await client.read_resource("codur://verdict")
            assert json.loads(kept.contents[0].text)["status"] == "passed"  # type: ignore[union-attr]
            trace = await client.read_resource("codur://trace")
            assert json.loads(trace.contents[0].text)[-1]["event"] == "run_finished"  # type: ignore[union-attr]
            assert (await client.call_tool("undo", {})).structured_content["restored"] == ["main.py"]
            assert contents(project) == before
            listed = (await client.call_tool("runs", {})).structured_content["result"]
            assert [run["prompt"] for run in listed] == ["repair", "repair", "explain the failure", "verify"][
                -len(listed) :
            ]

    asyncio.run(talk())
    told_once = [message for message in messages if message and not message.endswith(" s)")]  # no sign of life
    assert told_once == ["running `python main.py`", "before: red: line 1: expected `3 6`, got `3 3`"]


def test_an_argument_that_there_is_not_is_refused_with_those_there_are(project: Path) -> None:
    before = contents(project)

    async def talk() -> None:
        async with piped(project) as client:
            for tool in (await client.list_tools()).tools:
                assert tool.input_schema["additionalProperties"] is False
            for name, given in (("repair", {"apply": False}), ("verify", {"Workspace": "."}), ("runs", {"x\n": 1})):
                told = refusal(await client.call_tool(name, given))
                assert told.startswith(f"{name}: {next(iter(given))!r}: there is no such argument. Its arguments: ")
                assert "workspace" in told
                assert "\n" not in told
            told = refusal(await client.call_tool("undo", {"dry_run": "perhaps"}))
            assert "\n" not in told
            assert "pydantic" not in told
            assert (await client.call_tool("runs", {})).structured_content["result"] == []

    asyncio.run(talk())
    assert contents(project) == before


def test_what_is_read_needs_no_lock_and_leaves_nothing_and_a_check_gives_signs_of_life(project: Path) -> None:
    messages: list[str | None] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message)

    async def talk() -> None:
        async with piped(project) as client:
            working = client.call_tool("verify", {"check": "touch began; sleep 12"}, progress_callback=told)
            waiting = asyncio.ensure_future(working)
            await until_begun(project)
            outline = await client.call_tool("outline", {"path": "main.py"})
            assert set(outline.structured_content) == {"text"}
            assert not (await client.call_tool("find", {"text": "total"})).is_error
            await waiting
            assert len((await client.call_tool("runs", {})).structured_content["result"]) == 1

    asyncio.run(talk())
    begun, *signs = [message for message in messages if message and message.startswith("running")]
    assert begun == "running `touch began; sleep 12`"
    assert len(signs) >= 2
    assert {sign.rpartition(" (")[0] for sign in signs} == {begun}


def test_resources_of_any_workspace_below(project: Path) -> None:
    async def talk() -> None:
        async with piped(project.parent) as client:
            await client.call_tool("verify", {"workspace": "project"})
            kept = await client.read_resource("codur://verdict")
            assert json.loads(kept.contents[0].text)["status"] == "failed"  # type: ignore[union-attr]

    asyncio.run(talk())


def test_looking_and_prompts(project: Path) -> None:
    async def talk() -> None:
        async with piped(project) as client:
            outline = await client.call_tool("outline", {"path": "main.py"})
            assert "def total(start, end)" in outline.structured_content["text"]
            found = await client.call_tool("find", {"text": "result +=", "kind": "text"})
            assert "main.py:7" in found.structured_content["text"]
            assert refusal(await client.call_tool("outline", {"path": "../other/main.py"}))
            told = refusal(await client.call_tool("find", {"text": "a\nb", "kind": "text"}))
            assert "what is looked for must be one line" in told
            prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
            assert prompts == {"fix_and_verify", "explain_the_failure"}

    asyncio.run(talk())


def test_what_cannot_be_done_is_told_without_keys_and_with_its_reason(project: Path) -> None:
    key = "gsk_SECRETSECRET1234567890abcd"
    fill(project, {"bad.py": f'KEY = "{key}" +* 3\n'})

    async def talk() -> None:
        async with piped(project, GROQ_API_KEY=key, HOME="relative") as client:
            told = refusal(await client.call_tool("outline", {"path": "bad.py"}))
            assert "[redacted]" in told
            assert key not in told
            for name in ("runs", "undo"):
                assert "no home directory is known" in refusal(await client.call_tool(name, {}))

    asyncio.run(talk())


def test_a_workspace_elsewhere(project: Path, tmp_path: Path) -> None:
    other = fill(project.parent / "other", REPAIRABLE)
    (project / "link").symlink_to(tmp_path)

    async def talk() -> None:
        async with piped(project) as client:
            for place in (str(other), "/", "..", "link", "nul\0"):
                assert (
                    "outside" in (told := refusal(await client.call_tool("verify", {"workspace": place})))
                    or "no path" in told
                )
        async with piped(project.parent, roots=[other]) as client:
            assert "outside of the client's roots" in refusal(
                await client.call_tool("verify", {"workspace": "project"})
            )
            assert (await client.call_tool("verify", {})).structured_content["outcome"] == "not_achieved"

    asyncio.run(talk())


def test_a_request_without_a_check_and_one_that_is_too_long(tmp_path: Path) -> None:
    bare = fill(tmp_path / "served" / "bare", {"notes.txt": "milk\n"})

    async def talk() -> None:
        async with piped(bare) as client:
            told = refusal(await client.call_tool("verify", {}))
            assert "there is no check: no tests, no expected output. Name one with `check`." in told
            assert "--" not in told
            for place in ("nowhere", "notes.txt"):
                for name in ("verify", "repair", "explain_failure"):
                    assert refusal(await client.call_tool(name, {"workspace": place}))
            assert "at most" in refusal(await client.call_tool("verify", {"check": "x" * 10_000_000}))
            assert (await client.call_tool("runs", {})).structured_content["result"]

    asyncio.run(talk())


def test_cancelled_and_two_clients(project: Path) -> None:
    async def talk() -> None:
        async with piped(project) as first, piped(project) as second:
            waiting = asyncio.ensure_future(first.call_tool("verify", {"check": SLOW}))
            await until_begun(project)
            refused = refusal(await second.call_tool("verify", {}))
            assert "works in" in refused
            assert refused.endswith("Wait until it has ended.")
            waiting.cancel()
            await asyncio.wait([waiting])
            while (await second.call_tool("verify", {})).is_error:
                await asyncio.sleep(0.05)

    asyncio.run(talk())


def test_a_client_that_dies_in_the_middle(project: Path) -> None:
    asked = {"name": "verify", "arguments": {"check": SLOW}}
    hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    lines: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": asked},
    ]
    with subprocess.Popen(
        [sys.executable, *command(project)],
        env=variables(project),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for line in lines:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["result"]["protocolVersion"] == "2024-11-05"  # an old one
        asyncio.run(until_begun(project))
        server.stdin.close()
        server.stdout.close()
        assert server.wait(60) == 0
    ended = codur("runs", "--json", cwd=project, home=project.parents[1] / "home")
    assert [run["status"] for run in json.loads(ended.out)] == ["interrupted"]


@contextmanager
def over_http(project: Path) -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, *command(project), "--http", "0"],
        env={**variables(project), "CODUR_MCP_TOKEN": TOKEN},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        try:
            yield server.stderr.readline().strip()
        finally:
            server.terminate()
            server.wait(60)


def test_http(project: Path) -> None:
    async def talk(url: str) -> None:
        own = httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)
        async with own, Client(streamable_http_client(url, http_client=own)) as client:
            told = await client.call_tool("verify", {})
            assert not told.is_error, told
            assert told.structured_content["verdict"]["status"] == "failed"

    with over_http(project) as url:
        asyncio.run(talk(url))
        right = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        statuses = {
            "no token": httpx2.post(url, json={}).status_code,
            "a wrong token": httpx2.post(url, json={}, headers={"Authorization": "Bearer x"}).status_code,
            "another host": httpx2.post(url, json={}, headers={**right, "Host": "evil.example"}).status_code,
            "a page": httpx2.post(url, json={}, headers={**right, "Origin": "http://127.0.0.1"}).status_code,
            "10 MB": httpx2.post(url, content=b" " * 10_000_000, headers=right).status_code,
        }
    expected = {"no token": 401, "a wrong token": 401, "another host": 421, "a page": 403, "10 MB": 413}
    assert statuses == expected


def test_the_extra_is_not_installed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "hidden" / "mcp").mkdir(parents=True)
    (tmp_path / "hidden" / "mcp" / "__init__.py").write_text("raise ImportError('not here')\n")
    ran = codur("mcp", "serve", cwd=project, home=tmp_path / "home", PYTHONPATH=str(tmp_path / "hidden"))
    assert ran.code == 2
    assert 'pip install "codur[mcp]"' in ran.err


@pytest.mark.parametrize(("kind", "text"), re.findall(r"```(json|toml)\n(.*?)```", PAGE, re.DOTALL))
def test_snippets(kind: str, text: str) -> None:
    """Each parses, and names a command that there is."""
    read: dict[str, Any] = json.loads(text) if kind == "json" else tomllib.loads(text)
    ((group, servers),) = read.items()
    assert group in {"mcpServers", "servers", "mcp_servers", "agent_servers"}
    server = next(iter(servers.values()))
    words = [ROOT.as_posix() if word == "${workspaceFolder}" else word for word in server["args"]]
    assert server["command"] == "codur"
    assert (server.get("type") == "stdio") == (group == "servers")
    assert subprocess.run([sys.executable, "-m", "codur", *words, "--help"], capture_output=True).returncode == 0
