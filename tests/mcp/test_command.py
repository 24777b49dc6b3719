"""`codur mcp` as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.kit import Ran, codur, environment
from tests.mcp import kit

HOSTILE = [sys.executable, "-I", "-S", str(kit.HERE / "hostile.py")]


def setup(tmp_path: Path, **servers: object) -> tuple[Path, Path]:
    """A home with servers in its settings, and an empty directory to work in."""
    home, work = tmp_path / "home", tmp_path / "work"
    (home / ".config" / "codur").mkdir(parents=True)
    work.mkdir()
    (home / ".config" / "codur" / "config.yaml").write_text(yaml.safe_dump({"mcp_servers": servers}))
    return home, work


def test_the_commands(tmp_path: Path) -> None:
    home, work = setup(tmp_path, mine={"command": list(kit.HONEST)}, web={"url": "https://mcp.example/SECRET"})

    def mcp(*words: str) -> Ran:
        return codur("mcp", *words, cwd=work, home=home)

    listed = mcp("list")
    assert (listed.code, listed.out) == (0, f"mine  stdio {sys.executable}\nweb  http mcp.example\n")
    assert [entry["transport"] for entry in json.loads(mcp("list", "--json").out)] == ["stdio", "http"]
    tools = json.loads(mcp("tools", "mine", "--json").out)
    assert [tool["state"] for tool in tools["tools"]] == ["accepted"] * 5
    assert "mcp__mine__echo  Give a text back." in mcp("tools", "mine").out
    assert mcp("call", "mine", "echo", '{"text": "hello"}').out == "hello\n"
    added = json.loads(mcp("call", "mine", "mcp__mine__add", '{"a": 1, "b": 2}', "--json").out)
    assert (added["structured"], added["failed"]) == ({"sum": 3}, False)
    failed = mcp("call", "mine", "fail")
    assert (failed.code, failed.err) == (1, "✘ mcp__mine__fail says that it failed\n")
    assert "as first seen, or as last accepted" in mcp("trust", "mine").out
    assert "note://one  text/plain" in mcp("resources", "mine").out
    assert list(work.iterdir()) == []


WRONG = {
    ("tools", "other"): (2, "there is no MCP server other"),
    ("call", "mine", "nothing"): (2, "mine has no tool mcp__mine__nothing"),
    ("call", "mine", "act", "{"): (2, "the arguments are no JSON"),
    ("call", "mine", "act", "[]"): (2, "the arguments are no JSON object"),
    ("tools", "gone"): (1, "codur-no-such-server: cannot be started: no such file or directory"),
    ("resources", "mine"): (1, "mine answered with an error: no such method"),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_goes_wrong_is_one_line(words: tuple[str, ...], tmp_path: Path) -> None:
    home, work = setup(tmp_path, mine={"command": HOSTILE}, gone={"command": ["codur-no-such-server"]})

    ran = codur("mcp", *words, cwd=work, home=home)

    code, message = WRONG[words]
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_e17_a_changed_tool_is_asked_about_again(tmp_path: Path) -> None:
    home, work = setup(tmp_path, mine={"command": [*HOSTILE, "described"], "environment": ["DESCRIPTION"]})

    def mcp(description: str, *words: str) -> Ran:
        return codur("mcp", *words, cwd=work, home=home, DESCRIPTION=description)

    assert mcp("good", "call", "mine", "act").code == 0
    refused = mcp("evil\x1b[31m", "call", "mine", "act")
    assert (refused.code, "has changed since it was accepted" in refused.err) == (5, True)
    asked = mcp("evil\x1b[31m", "trust", "mine")
    assert (asked.code, "changed: mcp__mine__act: evil\n" in asked.out) == (5, True)
    assert mcp("evil\x1b[31m", "call", "mine", "act").code == 5
    assert mcp("evil\x1b[31m", "trust", "mine", "--yes").out.endswith("accepted\n")
    assert mcp("evil\x1b[31m", "call", "mine", "act").code == 0
    assert json.loads(mcp("evil\x1b[31m", "trust", "mine", "--json").out)["news"] == []


def test_e01_a_project_starts_no_server(tmp_path: Path) -> None:
    home, work = setup(tmp_path)
    mark = tmp_path / "PWN"
    (work / "codur.yaml").write_text(yaml.safe_dump({"mcp_servers": {"x": {"command": ["touch", str(mark)]}}}))

    for words in (("tools", "x"), ("call", "x", "y"), ("trust", "x", "--yes"), ("list",)):
        codur("mcp", *words, cwd=work, home=home)
    codur("run", "--offline", "hello", cwd=work, home=home)

    assert not mark.exists()


def test_the_missing_package_is_named(tmp_path: Path) -> None:
    home, work = setup(tmp_path, mine={"command": HOSTILE})
    code = "import sys; sys.modules['mcp'] = None; from codur.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "mcp", "tools", "mine"],
        cwd=work,
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "MCP servers need a package that is not installed" in done.stderr
    assert 'pip install "codur[mcp]"' in done.stderr


def test_the_library_is_not_loaded_before_a_server_is_asked(tmp_path: Path) -> None:
    home, work = setup(tmp_path, mine={"command": HOSTILE})
    code = (
        "import sys; from codur.cli.main import run; code = run(['mcp', 'list']);"
        "sys.exit(code or bool({'mcp', 'pydantic', 'httpx2'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=work, env=environment(home), capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
