"""Servers that are absent, silent, slow, flooding or lying: one error with its code, no hang, nothing left behind."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import pytest

from codur.config.settings import McpServer, SandboxSettings
from codur.errors import Interrupted
from codur.mcp.offered_tools import MAX_TOOLS
from codur.mcp.server_errors import McpError, McpRefused
from codur.mcp.servers import Pins
from codur.sandbox.cancel import CancelToken
from tests.adversarial.backends import AGAIN
from tests.mcp import kit

ABSENT = McpServer(command=("codur-no-such-server",), timeout_s=kit.LONG_S)

FAILURES: dict[str, tuple[McpServer, str, str]] = {
    "absent": (ABSENT, "failed", "codur-no-such-server: cannot be started: no such file or directory"),
    "exits": (kit.hostile("exits"), "failed", "mine ended with status 1: there is nothing to serve"),
    "silent": (kit.hostile("silent", timeout_s=kit.SHORT_S), "timeout", "mine did not answer within 2 s"),
    "version": (kit.hostile("version"), "failed", "mine speaks another version of the protocol"),
    "slow": (kit.hostile("slow", timeout_s=kit.SHORT_S), "timeout", "mine did not answer within 2 s"),
    "dies": (kit.hostile("dies"), "failed", "mine ended with status 1: it gave up"),
    "flood-lines": (kit.hostile("flood-lines"), "too_large", "mine does not stop sending"),
    "flood-line": (kit.hostile("flood-line"), "too_large", "mine sent a message of more than 4194304 bytes"),
    "noise": (kit.hostile("noise"), "failed", "mine sends what is not JSON-RPC"),
    "wrong-id": (kit.hostile("wrong-id", timeout_s=kit.SHORT_S), "timeout", "mine did not answer within 2 s"),
    "no-result": (kit.hostile("no-result"), "failed", "mine gave an answer that is not of the protocol"),
    "wrong-types": (kit.hostile("wrong-types"), "failed", "mine gave an answer that is not of the protocol"),
    "error": (kit.hostile("error"), "failed", "mine answered with an error: no way"),
}


@pytest.mark.parametrize("way", FAILURES)
def test_a_server_that_misbehaves_is_one_error(way: str, tmp_path: Path) -> None:
    server, code, message = FAILURES[way]
    with kit.servers(tmp_path, mine=server, other=kit.hostile()) as mine:
        with pytest.raises(McpError) as caught:
            mine.call("mcp__mine__act", {"prompt": "x"})
        assert mine.call("mcp__other__act", {}).text == "done"

    assert (caught.value.code, caught.value.message.removeprefix("mine: ")) == (code, message)
    assert caught.value.message.isprintable()
    assert list((tmp_path / "work").iterdir()) == []


def test_a_server_that_failed_is_started_again(tmp_path: Path) -> None:
    with kit.servers(tmp_path, mine=kit.hostile("dies")) as mine:
        for _ in range(2):
            with pytest.raises(McpError, match="it gave up"):
                mine.call("mcp__mine__act", {})
        assert [tool.name for tool in mine.tools("mine").tools] == ["mcp__mine__act"]


def test_what_a_server_asks_of_the_client_is_denied(tmp_path: Path) -> None:
    with kit.servers(tmp_path, mine=kit.hostile("asks")) as mine:
        assert mine.call("mcp__mine__act", {}).text == "error error"


def test_cancelling_ends_the_wait_and_the_server(tmp_path: Path) -> None:
    cancel = CancelToken()
    with kit.servers(tmp_path, cancel=cancel, mine=kit.hostile("slow")) as mine:
        mine.tools("mine")
        timer = threading.Timer(0.2, cancel.cancel)
        timer.start()
        with pytest.raises(Interrupted):
            mine.call("mcp__mine__act", {})
        timer.join()


# --- what it says of its tools ----------------------------------------------------------------------------------------


def test_names_and_descriptions_are_cleaned_cut_and_their_own(tmp_path: Path) -> None:
    with kit.servers(tmp_path, mine=kit.hostile("escapes")) as mine:
        listing = mine.tools("mine")

    names = [tool.name for tool in listing.tools]
    assert names[:2] == ["mcp__mine__plain", "mcp__mine__read_file"]
    assert names[2].startswith("mcp__mine__xxx")
    assert [len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() for name in names] == [True] * 3
    assert listing.left_out == 3  # an escape sequence, white space, a name twice
    assert listing.tools[0].description.startswith("red long long")
    assert len(listing.tools[0].description) < 700
    assert listing.tools[0].description.isprintable()


def test_only_so_many_tools_are_taken(tmp_path: Path) -> None:
    with kit.servers(tmp_path, many=kit.hostile("many"), pages=kit.hostile("pages")) as mine:
        listing = mine.tools("many")
        assert (len(listing.tools), listing.left_out) == (MAX_TOOLS, 10_000 - MAX_TOOLS)
        assert mine.call("mcp__many__tool1", {}).text == "done"
        assert [tool.name for tool in mine.tools("pages").tools] == ["mcp__pages__act"]


def test_a_huge_schema_is_left_out(tmp_path: Path) -> None:
    with kit.servers(tmp_path, mine=kit.hostile("huge-schema")) as mine:
        listing = mine.tools("mine")
    assert ([tool.tool for tool in listing.tools], listing.left_out) == (["small"], 1)


def test_a_tool_that_changes_between_calls_is_refused(tmp_path: Path) -> None:
    with kit.servers(tmp_path, mine=kit.hostile("changes")) as mine:
        assert mine.call("mcp__mine__act", {}).text == "done"
        with pytest.raises(McpRefused, match="mcp__mine__act has changed since it was accepted") as caught:
            mine.call("mcp__mine__act", {})
        assert (caught.value.code, caught.value.exit_code) == ("refused", 5)
        assert "codur mcp trust mine" in caught.value.remedy


def test_a_tool_that_changes_between_runs_is_refused_until_it_is_accepted(tmp_path: Path) -> None:
    pins = Pins(tmp_path / "state" / "mcp.json")
    environment = ("DESCRIPTION",)
    server = kit.hostile("described", environment=environment)

    def ask(description: str, *, accept: bool = False) -> str:
        with kit.servers(tmp_path, pins, environ={"DESCRIPTION": description}, mine=server) as mine:
            if accept:
                mine.trust("mine", mine.tools("mine"))
            return mine.call("mcp__mine__act", {}).text

    assert ask("as it was") == "done"
    assert ask("as it was") == "done"
    with pytest.raises(McpRefused):
        ask("another")
    assert ask("another", accept=True) == "done"
    with pytest.raises(McpRefused):
        ask("as it was")


def test_a_new_tool_is_refused_until_it_is_accepted(tmp_path: Path) -> None:
    with kit.servers(tmp_path, mine=kit.hostile("changes")) as mine:
        mine.states("mine", mine.tools("mine"))
        with pytest.raises(McpRefused, match="is new since"):
            mine.call("mcp__mine__later", {})


def test_a_damaged_list_of_what_is_accepted_accepts_nothing(tmp_path: Path) -> None:
    from codur.errors import StateError

    pins = Pins(tmp_path / "mcp.json")
    for damage in ('{"version": 1', "[]", '{"version": 1, "servers": {"mine": {}}}', "[" * 100_000, "\xff"):
        (tmp_path / "mcp.json").write_text(damage, encoding="latin-1")
        with kit.servers(tmp_path, pins, mine=kit.hostile()) as mine:
            with pytest.raises(StateError, match="is damaged"):
                mine.call("mcp__mine__act", {})
            mine.trust("mine", mine.tools("mine"))
            assert mine.call("mcp__mine__act", {}).text == "done"


# --- what it does to the machine --------------------------------------------------------------------------------------


def test_d11_it_gets_its_own_variables_alone(tmp_path: Path) -> None:
    server = kit.hostile("environment", environment=("MINE_KEY",))
    environ = {"MINE_KEY": "its own", "GROQ_API_KEY": "another's", "SECRET_X": "s"}
    with kit.servers(tmp_path, environ=environ, mine=server) as mine:
        found = json.loads(mine.call("mcp__mine__act", {}).text)

    assert found["MINE_KEY"] == "its own"
    assert "another's" not in found.values()
    assert not {"GROQ_API_KEY", "SECRET_X"} & set(found)


def test_a_variable_that_is_not_set_is_told(tmp_path: Path) -> None:
    with (
        kit.servers(tmp_path, mine=kit.hostile(environment=("MINE_KEY",))) as mine,
        pytest.raises(McpError, match="mine needs the environment variable MINE_KEY, which is not set"),
    ):
        mine.tools("mine")


@pytest.mark.parametrize("backend", ["none", *AGAIN])
def test_it_cannot_read_the_home_directory(backend: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    secret, open_file = tmp_path / "home" / "secret", tmp_path / "work" / "open"
    secret.write_text("secret")
    open_file.write_text("open")
    server = kit.hostile("home", f"../home/{secret.name}", open_file.name)
    sandbox = SandboxSettings(backend=backend)  # type: ignore[arg-type]
    with kit.servers(tmp_path, sandbox=sandbox, mine=server) as mine:
        said = mine.call("mcp__mine__act", {}).text
    denied = "FileNotFoundError" if backend in ("namespaces", "bubblewrap") else "PermissionError"
    outcome = "secret" if backend == "none" else denied
    assert said == f"{outcome} open"


def test_it_leaves_no_daemon(tmp_path: Path) -> None:
    with kit.servers(tmp_path, mine=kit.hostile("daemon", f"mark-{tmp_path.name}-{os.getpid()}")) as mine:
        assert mine.call("mcp__mine__act", {}).text == "left"
    mark = f"mark-{tmp_path.name}-{os.getpid()}".encode()
    # Processes that were killed may take a moment to be gone from the list.
    for _ in range(200):
        left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark in _read(path)]
        if not left:
            break
        time.sleep(0.05)
    assert left == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
