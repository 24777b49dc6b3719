"""The real Codex CLI, from its npm package, against a server on this machine: no account, no key, no other network.

Asked for with `make external-agents`. `CODUR_TEST_CODEX` names a `codex` that is installed already.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from codur.config.loader import UserSources, load_settings
from codur.config.settings import AgentConfig
from codur.events import AgentMessage, ToolRan
from tests.runs.test_external import run
from tests.support.responses_server import ResponsesServer, call, message

pytestmark = pytest.mark.skipif(
    not os.environ.get("CODUR_TEST_EXTERNAL"), reason="downloads 400 MB; asked for with `make external-agents`"
)
INSTALL_S = 500


@pytest.fixture(scope="module")
def codex(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The program, installed where nothing of it stays."""
    named = os.environ.get("CODUR_TEST_CODEX")
    if named:
        yield Path(named)
        return
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    place = tmp_path_factory.mktemp("codex")
    home = place / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "NODE_EXTRA_CA_CERTS") if name in os.environ}
    command = [npm, "install", "--prefix", str(place), "--no-fund", "--no-audit", "--ignore-scripts", "@openai/codex"]
    try:
        done = subprocess.run(
            command, env={**kept, "HOME": str(home)}, capture_output=True, text=True, timeout=INSTALL_S
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm took longer than {INSTALL_S} s")
    if done.returncode != 0:
        pytest.skip(f"npm cannot install @openai/codex: {done.stderr.strip()[-300:]}")
    yield place / "node_modules" / ".bin" / "codex"
    shutil.rmtree(place)


def declared(codex: Path, server: ResponsesServer, tmp_path: Path) -> AgentConfig:
    """The shipped agent, with the program that was installed and a provider on this machine in place of OpenAI's."""
    home = tmp_path / "home"
    home.mkdir()
    settings = load_settings(None, UserSources(environ={}, home=home), {}, agents=("codex",)).settings
    shipped = settings.agents.configs["codex"]
    words = list(shipped.command)
    provider = f'{{name="local",base_url="{server.url}",wire_api="responses",requires_openai_auth=false}}'
    more = ["--config", f"model_providers.local={provider}", "--config", "model_provider=local", "--model", "none"]
    return structs.replace(shipped, command=(str(codex), *words[1:-1], *more, words[-1]), key_env=(), timeout_s=120.0)


def test_it_edits_and_the_check_passes(codex: Path, tmp_path: Path) -> None:
    edit = call("exec_command", {"cmd": "printf 'print(2)\\n' > main.py"})
    with ResponsesServer([edit, message("It prints 2 now.")]) as server:
        played = run(tmp_path, {"codex": declared(codex, server, tmp_path)}, agent="codex")

    assert played.result.exit_code == 0, (played.result.reason, played.result.records)
    assert played.result.solved_by == "codex"
    assert played.files["main.py"] == "print(2)\n"
    assert played.result.usage.prompt_tokens == 100
    assert [event.text for event in played.events if isinstance(event, AgentMessage)] == ["It prints 2 now."]
    tools = [(event.tool, event.code) for event in played.events if isinstance(event, ToolRan)]
    assert tools == [("codex:command", "ok")]
    assert "main.py is wrong" in str(server.requests[0]["input"])
    assert set(server.keys) == {""}


def test_its_word_is_not_believed(codex: Path, tmp_path: Path) -> None:
    with ResponsesServer([message("All done, the check passes.")]) as server:
        played = run(tmp_path, {"codex": declared(codex, server, tmp_path)}, agent="codex")

    assert played.result.exit_code == 1
    assert played.files["main.py"] == "print(1)\n"
    assert "no file was changed: it changed nothing" in played.result.attempts[0].error
