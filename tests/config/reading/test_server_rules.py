"""Entries of `mcp_servers` that describe no server: file, line, key, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.config.settings import McpServer
from codur.errors import ConfigError
from tests.config.helpers import load

WRONG = {
    "{}": ("", "needs either command or url"),
    "{command: [a], url: 'https://a.example/'}": ("", "needs either command or url"),
    "{command: [a], args: [b]}": (".args", "there is no such setting"),
    "{command: a}": (".command", "must be a list, not text"),
    "{command: [1]}": (".command[0]", "must be text"),
    "{command: ['']}": (".command", "the program's name is empty"),
    "{command: [a], environment: [sk-12345678]}": (".environment[0]", "must be the name of an environment variable"),
    "{command: [a], cwd: here}": (".cwd", "must be an absolute path"),
    "{command: [a], headers_env: {A: B}}": (".headers_env", "goes with url only"),
    "{command: [a], timeout_s: 0}": (".timeout_s", "must be a number"),
    "{url: 'file:///etc/passwd'}": (".url", "must be an http or https address"),
    "{url: 'https://user:pw@a.example/'}": (".url", "must be an http or https address"),
    "{url: 'https://a.example/', network: true}": (".network", "goes with command only"),
    "{url: 'https://a.example/', headers_env: {Host: A}}": (".headers_env", "a key is no HTTP header"),
    "{url: 'https://a.example/', headers_env: {'A B': A}}": (".headers_env", "a key is no HTTP header"),
    "{url: 'https://a.example/', headers_env: {A: Bearer x}}": (
        ".headers_env.A",
        "must be the name of an environment variable",
    ),
    "{url: 'http://a.example/', headers_env: {Authorization: A}}": (".headers_env", "would be sent unencrypted"),
    "{url: 'http://localhost.evil.example/', headers_env: {Authorization: A}}": (
        ".headers_env",
        "would be sent unencrypted",
    ),
}


@pytest.mark.parametrize("entry", WRONG)
def test_a_wrong_entry_is_named(entry: str, tmp_path: Path) -> None:
    key, message = WRONG[entry]

    with pytest.raises(ConfigError) as caught:
        load(tmp_path, user=f"runtime: {{}}\nmcp_servers:\n  mine: {entry}\n")

    assert caught.value.message.startswith(f"~/.config/codur/config.yaml:3: mcp_servers.mine{key}: {message}")
    assert caught.value.remedy


@pytest.mark.parametrize("name", ["a__b", "a.b", "a b", "_a", "a_", "é", "a" * 25])
def test_a_name_that_could_be_read_in_two_ways_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a server's name has letters, digits"):
        load(tmp_path, user=f"mcp_servers: {{'{name}': {{command: [a]}}}}")


def test_good_entries(tmp_path: Path) -> None:
    text = """\
mcp_servers:
  files_1: {command: [srv, --x], environment: [A_KEY], cwd: /srv, network: true, timeout_s: 5}
  Local-2: {url: 'http://127.0.0.1:8000/mcp', headers_env: {Authorization: TOKEN}}
"""
    assert load(tmp_path, user=text).settings.mcp_servers == {
        "files_1": McpServer(command=("srv", "--x"), environment=("A_KEY",), cwd="/srv", network=True, timeout_s=5.0),
        "Local-2": McpServer(url="http://127.0.0.1:8000/mcp", headers_env={"Authorization": "TOKEN"}),
    }
