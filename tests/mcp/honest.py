"""A server made with the official library: over its standard input and output, or as an application for HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Image, MCPServer

server: MCPServer[Any] = MCPServer("honest")


@server.tool(structured_output=False)
def echo(text: str, times: int = 1) -> str:
    """Give a text back."""
    return text * times


@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@server.tool(structured_output=False)
def fail() -> str:
    """Never work."""
    raise ValueError("it never works")


@server.tool(structured_output=False)
def picture() -> Image:
    """A picture."""
    return Image(data=b"\x89PNG" * 100, format="png")


@server.tool(structured_output=False)
def work(prompt: str) -> str:
    """Write what was asked for into a file of the current directory."""
    Path("answer.txt").write_text(prompt, encoding="utf-8")
    return f"wrote {len(prompt)} characters; {sorted(path.name for path in Path().iterdir())}"


@server.resource("note://one", mime_type="text/plain")
def note() -> str:
    """A note."""
    return "the note's text"


@server.resource("note://two", mime_type="application/octet-stream")
def data() -> bytes:
    """Bytes."""
    return b"\0" * 300


if __name__ == "__main__":
    server.run("stdio")
