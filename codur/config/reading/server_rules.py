"""What must hold between the keys of an entry of `mcp_servers`, and for its name."""

import re
from collections.abc import Iterator, Mapping

from codur.config.reading.origin import Problem
from codur.config.settings import McpServer
from codur.lazy import regex

NAME = r"[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*"
MAX_NAME = 24
"""Longest name, in characters: it is a part of its tools' names, of which model services bound the length."""

_HEADER = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_OURS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "te", "upgrade"}
)
_LOCAL = regex(r"http://(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(/|$)")


def server_problems(servers: Mapping[str, McpServer]) -> Iterator[Problem]:
    """What is wrong with entries that describe no server."""
    for name, server in servers.items():
        for path, message, remedy in _problems(name, server):
            yield ("mcp_servers", name, *path), message, remedy


def _problems(name: str, server: McpServer) -> Iterator[Problem]:
    if not re.fullmatch(NAME, name) or len(name) > MAX_NAME:
        yield (
            (),
            f"a server's name has letters, digits, - and single _, {MAX_NAME} at most",
            "Give the entry another name.",
        )
    if bool(server.command) == (server.url is not None):
        yield (), "needs either command or url", "Add command: [PROGRAM, ...] or url: ADDRESS, not both."
    yield from _started(server) if server.command else _reached(server)


def _started(server: McpServer) -> Iterator[Problem]:
    if not server.command[0]:
        yield ("command",), "the program's name is empty", "Write it as [PROGRAM, ARGUMENT, ...]."
    if server.cwd is not None and not server.cwd.startswith("/"):
        yield ("cwd",), "must be an absolute path", "Begin it with /."
    if server.headers_env:
        yield ("headers_env",), "goes with url only", "Name variables for a started server in environment."


def _reached(server: McpServer) -> Iterator[Problem]:
    for key, value in (("environment", server.environment), ("cwd", server.cwd), ("network", server.network)):
        if value:
            yield (key,), "goes with command only", "Remove it: nothing is started for a url."
    for header in server.headers_env:
        if not re.fullmatch(_HEADER, header) or header.lower() in _OURS or header.lower().startswith("mcp-"):
            yield ("headers_env",), "a key is no HTTP header that can be set", "Name one such as Authorization."
    url = server.url or ""
    if server.headers_env and url.startswith("http://") and not _LOCAL.match(url):
        yield ("headers_env",), "would be sent unencrypted", "Use an https address."
