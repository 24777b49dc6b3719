"""Which agent gets which work."""

from __future__ import annotations

import pytest
from msgspec import structs

from codur.agents.registry import AgentRegistry
from codur.config.settings import AgentConfig, AgentPreferences, AgentSettings, Settings
from codur.errors import UsageError

SETTINGS = structs.replace(
    Settings(),
    agents=AgentSettings(
        preferences=AgentPreferences(
            default_agent="agent:first",
            routing={"explanation": "reader", "refactor": "llm:gpt-oss-20b"},
        ),
        configs={
            "first": AgentConfig(type="coding", prompt="coding"),
            "second": AgentConfig(type="coding", prompt="coding", profile="gpt-oss-20b"),
            "reader": AgentConfig(prompt="explaining"),
        },
    ),
)
REGISTRY = AgentRegistry(SETTINGS)


@pytest.mark.parametrize(
    ("reference", "name", "profile", "kind"),
    [
        ("first", "first", "auto", "coding"),
        ("agent:second", "second", "gpt-oss-20b", "coding"),
        ("llm:gpt-oss-20b", "llm:gpt-oss-20b", "gpt-oss-20b", "coding"),
        ("reader", "reader", "auto", "llm"),
    ],
)
def test_resolve(reference: str, name: str, profile: str, kind: str) -> None:
    agent = REGISTRY.resolve(reference)
    assert (agent.name, agent.profile, agent.config.type) == (name, profile, kind)
    assert REGISTRY.knows(reference)


@pytest.mark.parametrize(
    ("reference", "message", "remedy"),
    [
        ("frist", "there is no agent named 'frist'", "Did you mean first?"),
        (
            "agent:xyz",
            "there is no agent named 'xyz'",
            "There are: aider, claude_code, codex, codur-coding, codur-explaining, first, gemini, ollama, opencode, "
            "reader, second.",
        ),
        ("llm:gpt-oss-12b", "there is no profile named 'gpt-oss-12b'", "Did you mean gpt-oss-120b or gpt-oss-20b?"),
    ],
)
def test_an_unknown_reference_names_what_there_is(reference: str, message: str, remedy: str) -> None:
    assert not REGISTRY.knows(reference)
    with pytest.raises(UsageError) as caught:
        REGISTRY.resolve(reference)
    assert (caught.value.message, caught.value.remedy) == (message, remedy)


def test_routing_and_the_users_choice() -> None:
    assert REGISTRY.for_task("explanation").name == "reader"
    assert REGISTRY.for_task("refactor").name == "llm:gpt-oss-20b"
    assert REGISTRY.for_task("code_fix").name == "first"
    assert REGISTRY.for_task("explanation", explicit="second").name == "second"
    assert REGISTRY.coding(explicit=None).name == "first"
