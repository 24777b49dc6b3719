"""Whom and what a plan may name: every agent that can run here, and the tools of every MCP server."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.agents.external.kit import CODEX_DONE, RIGHT, WRONG
from tests.cli.kit import codur_here, the_object
from tests.cli.test_agents import declare
from tests.mcp.kit import HONEST
from tests.runs.kit import KEY, contents, fill
from tests.runs.test_plans import EXPLAIN, plan, tool
from tests.support.groq_server import GroqServer, ServerReply, calls, json_reply, text
from tests.support.ollama_server import OllamaServer

LISTED = "read notes.txt, then tell what is in it, then say how long it is"
PLANNED = json_reply(
    {"reasoning": "", "task_type": "explanation", "detected_files": [], "suggested_action": "plan", "confidence": 0.5}
)
HELPER = {"mcp_servers": {"helper": {"command": list(HONEST)}}}
NOTES = {"notes.txt": "milk\n"}


class Ran:
    """A run, what it asked the service, and what it left behind."""

    def __init__(
        self,
        replies: Sequence[ServerReply],
        place: Path,
        *words: str,
        settings: Mapping[str, Any] | None = None,
        ollama: str = "",
    ) -> None:
        with GroqServer(replies) as server:
            given = {
                "providers": {"groq": {"api": "groq", "base_url": server.url}},
                "repair": {"mode": "off"},
                "verification": {"make_check": "never"},
                **(settings or {}),
            }
            fill(place / "home", {".config/codur/config.yaml": yaml.safe_dump(given)})
            variables = {"CODUR_PROVIDERS__OLLAMA__BASE_URL": ollama} if ollama else {}
            ran = codur_here(
                "run", *words, "--json", cwd=place / "w", home=place / "home", GROQ_API_KEY=KEY, **variables
            )
        self.code, self.err = ran.code, ran.err
        self.result: dict[str, Any] = the_object(ran.out) if ran.out else {}
        self.bodies, self.unexpected = server.bodies, server.unexpected
        self.files = contents(place / "w")

    def system(self, number: int) -> str:
        return str(self.bodies[number]["messages"][0]["content"])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "w").mkdir()
    return tmp_path


def say(words: str) -> dict[str, Any]:
    return {"action": "respond", "arguments": [{"name": "text", "value": words}]}


def test_agents_that_can_run_here_are_candidates_with_description_and_costs(place: Path) -> None:
    fill(place / "w", NOTES)
    declare(place, "mine", list(CODEX_DONE), description="Knows our conventions.", price_in=2.0, price_out=8.0)
    declare(place, "absent", [], command=["no-such-program"], description="Is not installed.")
    declare(place, "plain", [], type="llm", command=[], prompt="Be brief.", description="Is brief.", output="text")
    ran = Ran([plan(say("ok"))], place, LISTED)
    assert ran.code == 0, ran.result
    lines = ran.system(0).split("\n")
    assert "- mine ($2 in, $8 out per million tokens): Knows our conventions." in lines
    assert "- codur-explaining (" in ran.system(0)
    assert not [line for line in lines if line.startswith(("- absent", "- ollama"))]


def test_a_plan_may_give_a_step_to_an_agent_of_the_users_own_yaml(place: Path) -> None:
    fill(place / "w", WRONG)
    declare(place, "mine", [["write", "main.py", RIGHT], *CODEX_DONE])
    steps = plan({"action": "coding", "capability": "agent:mine", "objective": "Fix it."}, say("Fixed."))
    ran = Ran([steps], place, "read main.py, then fix it, then say what was wrong with it")
    assert (ran.code, ran.unexpected, ran.files["main.py"]) == (0, 0, RIGHT), ran.result
    assert ran.result["solved_by"] == "mine"


def test_an_agent_that_is_shipped_needs_no_settings_to_be_named(place: Path) -> None:
    fill(place / "w", NOTES)
    with OllamaServer(["gpt-oss:20b"], [text("Milk.")]) as local:
        asked = {"id": "ask", "action": "delegate", "capability": "agent:ollama", "objective": "What is in notes.txt?"}
        (place / "plan.yaml").write_text(yaml.safe_dump({"codur_plan": 1, "task": "ask", "steps": [asked]}))
        ran = Ran([], place, "--plan-file", str(place / "plan.yaml"), ollama=local.openai_url)
        assert (ran.code, ran.result["answer"], len(local.requests)) == (0, "Milk.", 1), ran.result
        ran = Ran([plan(say("ok"))], place, LISTED, ollama=local.openai_url)
        assert "- ollama (free): A local model that reads files and edits them with tools." in ran.system(0)


def test_who_named_an_agent_is_offered_nobody_of_another_service(place: Path) -> None:
    fill(place / "w", NOTES)
    declare(place, "mine", list(CODEX_DONE))
    with OllamaServer(["gpt-oss:20b"]) as local:
        ran = Ran([plan(say("ok"))], place, LISTED, "--agent", "codur-explaining", ollama=local.openai_url)
    assert ran.code == 0, ran.result
    assert not [line for line in ran.system(0).split("\n") if line.startswith(("- mine", "- ollama"))]


def test_tools_of_servers_are_offered_and_called_by_name(place: Path) -> None:
    fill(place / "w", NOTES)
    steps = plan(
        {**tool("mcp__helper__echo", text="pear", times="2"), "id": "echo", "success_criteria": "output contains pear"},
        {**tool("mcp__helper__add", a="1", b="2"), "id": "sum"},
        say("${echo} and ${sum.sum}"),
    )
    ran = Ran([PLANNED, steps], place, "which words are in the notes, and is that a lot?", settings=HELPER)
    assert (ran.code, ran.result["answer"], ran.unexpected) == (0, "pearpear and 3", 0), ran.result
    assert "- mcp__helper__echo(text, times?): Give a text back." in ran.system(1)
    assert "call_mcp_tool" not in ran.system(1)


def test_a_plan_that_names_a_servers_tool_wrongly_is_sent_back(place: Path) -> None:
    fill(place / "w", NOTES)
    for wrong, told in (
        (tool("mcp__helper__echoo", text="x"), "did you mean mcp__helper__echo?"),
        (tool("mcp__helper__echo", words="x"), "mcp__helper__echo has no argument words; it takes text, times"),
        (tool("mcp__helper__echo"), "mcp__helper__echo needs the argument text"),
    ):
        ran = Ran([plan(wrong, say("ok")), plan(say("ok"))], place, LISTED, settings=HELPER)
        assert (ran.code, len(ran.bodies)) == (0, 2), ran.result
        assert told in str(ran.bodies[1]["messages"][-1]["content"])


def test_what_a_plan_asks_of_a_server_is_shown_before_it_is_approved(place: Path) -> None:
    fill(place / "w", NOTES)
    steps = plan(tool("mcp__helper__echo", text="pear"), say("ok"))
    planning = {"planning": {"approve": ["run"]}}
    ran = Ran([steps], place, LISTED, settings={**HELPER, **planning})
    assert (ran.code, ran.result["outcome"]) == (5, "refused")


def test_an_agents_tools_may_be_a_servers(place: Path) -> None:
    fill(place / "w", NOTES)
    own = {"type": "llm", "prompt": "Be brief.", "tools": ["read_file", "mcp__helper__echo"]}
    settings = {**HELPER, "agents": {"configs": {"asks": own}}}
    replies = [EXPLAIN, calls(("mcp__helper__echo", {"text": "pear"})), text("It says pear.")]
    ran = Ran(replies, place, "what does the helper say?", "--agent", "asks", settings=settings)
    assert (ran.code, ran.result["answer"], ran.unexpected) == (0, "It says pear.", 0), ran.result
    offered = {item["function"]["name"]: item["function"] for item in ran.bodies[-2]["tools"]}
    assert offered["mcp__helper__echo"]["parameters"]["required"] == ["text"]
    assert "pear" in str(ran.bodies[-1]["messages"][-1]["content"])


@pytest.mark.parametrize(("name", "told"), [("mcp__nobody__echo", "no MCP server nobody"), ("mcp__helper", "no tool")])
def test_an_agents_tool_of_a_server_that_there_is_not(name: str, told: str, place: Path) -> None:
    own = {"type": "llm", "prompt": "Be brief.", "tools": [name]}
    ran = Ran([], place, "hello", settings={**HELPER, "agents": {"configs": {"asks": own}}})
    assert ran.code == 2
    assert told in (ran.err or ran.result["reason"])


def test_a_server_that_does_not_answer_is_told_and_keeps_nobody_waiting(place: Path) -> None:
    fill(place / "w", NOTES)
    broken = {"mcp_servers": {"broken": {"command": [sys.executable, "-c", "pass"]}, **HELPER["mcp_servers"]}}
    ran = Ran([plan(say("ok"))], place, LISTED, settings=broken)
    assert ran.code == 0, ran.result
    assert [note for note in ran.result["notes"] if note.startswith("broken's tools are not offered: ")]
    assert "mcp__helper__echo" in ran.system(0)


def test_many_tools_of_servers_are_narrowed_to_what_fits_the_task(place: Path) -> None:
    fill(place / "w", NOTES)
    names = [f"op{number}" for number in range(40)]
    source = "from mcp.server.mcpserver import MCPServer\nserver = MCPServer('many')\n" + "".join(
        f"\n@server.tool(structured_output=False)\ndef {name}(text: str) -> str:\n    '''{about}'''\n    return text\n"
        for name, about in [(name, "Turn a wheel.") for name in names] + [("weigh", "Say how long a list is.")]
    )
    many = place / "many.py"
    many.write_text(f"{source}\nserver.run('stdio')\n")
    settings = {"mcp_servers": {"many": {"command": [sys.executable, str(many)]}}}
    ran = Ran([plan(say("ok"))], place, LISTED, settings=settings)
    lines = [line for line in ran.system(0).split("\n") if line.startswith("- mcp__")]
    assert "- mcp__many__weigh(text): Say how long a list is." in lines
    assert len(lines) == 10
    assert "mcp__many__op39(text)" in ran.system(0)


def test_a_relative_command_of_an_mcp_agents_server_is_one_of_its_directory(place: Path) -> None:
    fill(place / "w", WRONG)
    own = place / "server"
    fill(own, {"serve.py": Path(HONEST[1]).read_text()})
    settings = {
        "mcp_servers": {"helper": {"command": [sys.executable, "serve.py"], "cwd": str(own)}},
        "agents": {"configs": {"its": {"type": "mcp", "server": "helper", "tool": "work"}}},
    }
    ran = Ran([], place, "write four", "--agent", "its", "--check", "test -f answer.txt", settings=settings)
    assert (ran.code, ran.result["changed_files"]) == (0, ["answer.txt"]), ran.result
    assert not (own / "answer.txt").exists()
