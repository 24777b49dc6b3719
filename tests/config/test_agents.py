"""Agents from YAML: which files are read, how they are laid over each other, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.config.reading.agent_files import agent_files, shipped_agents, shipped_names
from codur.config.settings import Settings
from tests.config.helpers import load, refusal
from tests.config.reference_files import agent_yaml

SHIPPED = ("aider", "claude_code", "codex", "codur-coding", "codur-explaining", "gemini", "ollama", "opencode")
CLI = "type: cli\ncommand: [its, '{prompt}']\n"


def declare(folder: Path, name: str, text: str) -> None:
    place = folder / "home" / ".config" / "codur" / "agents"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}.yaml").write_text(text, encoding="utf-8")


def test_what_is_shipped_goes_together(tmp_path: Path) -> None:
    names = ", ".join(SHIPPED)
    loaded = load(tmp_path, user=f"agents: {{preferences: {{fallback_order: [{names}]}}}}")

    assert shipped_names() == SHIPPED
    assert sorted(loaded.settings.agents.configs) == sorted(SHIPPED)
    for name, config in loaded.settings.agents.configs.items():
        assert config.description
        if config.type == "cli":
            assert config.key_env, name
            assert config.network, name


def test_the_files_of_the_built_in_agents_show_them() -> None:
    files = {path.stem: path.read_text(encoding="utf-8") for path in agent_files(shipped_agents())}
    for name in Settings().agents.configs:
        assert files[name] == agent_yaml(name)


@pytest.mark.parametrize(
    ("sources", "known"),
    [
        ({}, ()),
        ({"user": "runtime: {max_llm_calls: 3}"}, ()),
        ({"user": "agents: {preferences: {default_agent: 'agent:codex'}}"}, ("codex",)),
        ({"user": "agents: {preferences: {routing: {code_fix: gemini}}}"}, ("gemini",)),
        ({"user": "agents: {configs: {aider: {model: x}}}"}, ("aider",)),
        ({"environ": {"CODUR_AGENTS__PREFERENCES__DEFAULT_AGENT": "claude_code"}}, ("claude_code",)),
        ({"environ": {"CODUR_AGENTS__CONFIGS__CODEX__MODEL": "x"}}, ("codex",)),
        ({"overrides": {"agents": {"preferences": {"fallback_order": ["opencode"]}}}}, ("opencode",)),
        ({"project": "agents: {configs: {codex: {max_steps: 1}}}"}, ()),
    ],
)
def test_only_the_files_of_agents_that_are_named_are_read(
    sources: dict[str, object], known: tuple[str, ...], tmp_path: Path
) -> None:
    loaded = load(tmp_path, **sources)  # type: ignore[arg-type]

    assert tuple(sorted(set(loaded.settings.agents.configs) - set(Settings().agents.configs))) == known


def test_the_users_file_is_laid_over_the_shipped_one(tmp_path: Path) -> None:
    declare(tmp_path, "codex", "model: m-1\nkey_env: [MINE]\n")
    loaded = load(tmp_path, user="agents: {configs: {codex: {timeout_s: 5}}}")

    codex = loaded.settings.agents.configs["codex"]
    assert (codex.model, codex.key_env, codex.timeout_s, codex.dialect) == ("m-1", ("MINE",), 5.0, "codex")
    assert loaded.sources[-2] == "~/.config/codur/agents/codex.yaml"
    origin = loaded.origins["agents", "configs", "codex", "key_env"].place(("agents", "configs", "codex", "key_env"))
    assert (origin.file, origin.line) == ("~/.config/codur/agents/codex.yaml", 2)


def test_what_a_server_is_given_is_replaced_as_a_whole(tmp_path: Path) -> None:
    declare(tmp_path, "its", "type: mcp\nserver: s\ntool: t\narguments: {options: {deep: 1}, kept: 2}\n")
    user = "mcp_servers: {s: {command: [s]}}\nagents: {configs: {its: {arguments: {options: {wide: 3}}}}}"

    arguments = load(tmp_path, user=user).settings.agents.configs["its"].arguments

    assert arguments == {"options": {"wide": 3}, "kept": 2}


@pytest.mark.parametrize(
    ("text", "message", "remedy"),
    [
        ("typ: cli", "1: agents.configs.its.typ: there is no such setting", "Did you mean agents.configs.its.type?"),
        ("\ntype: bot", "2: agents.configs.its.type: must be one of llm, coding, cli, mcp, python", None),
        ("type: cli", "1: agents.configs.its.command: an agent of type cli needs a command", None),
        ("type: cli\ncommand: its", "2: agents.configs.its.command: must be a list, not text", None),
        ("type: cli\ncommand: [its]", "2: agents.configs.its.command: has no place for the prompt: {prompt}", None),
        (
            "type: cli\ncommand: [its, '{promt}']",
            "2: agents.configs.its.command: there is no place {promt}",
            "Did you mean {prompt}? Write {{ for a brace.",
        ),
        ("type: cli\ncommand: [bin/its, '{prompt}']", "2: agents.configs.its.command: must begin with a program", None),
        ("type: cli\ncommand: ['{prompt}']", "2: agents.configs.its.command: must begin with a program", None),
        (
            CLI + "permissions: [--yes]",
            "3: agents.configs.its.permissions: has no place in the command: {permissions}",
            None,
        ),
        ("type: cli\ncommand: [its, 'a{permissions}', '{prompt}']", "{permissions} must be a word of `command`", None),
        ("type: cli\ncommand: [its, '{model}', '{prompt}']", "has {model}, but no model is set", None),
        (CLI + "dialect: codex", "agents.configs.its.output: must be jsonl for the dialect codex", None),
        (CLI + "output: json", "agents.configs.its.answer: must say where the text lies in json output", None),
        (CLI + "answer: {txt: a}", "3: agents.configs.its.answer: there is no txt in an answer", None),
        (CLI + "key_env: [sk-123]", "3: agents.configs.its.key_env[0]: must be the name of an environment", None),
        (CLI + "timeout_s: 0", "3: agents.configs.its.timeout_s: must be a number above 0", None),
        ("type: llm\ncommand: [its]", "2: agents.configs.its.command: is for agents of type cli, not llm", None),
        ("type: mcp\nserver: s\ntool: t", "2: agents.configs.its.server: there is no MCP server s", None),
        ("- a", "must hold a mapping of keys to values", None),
        ("tools: [read_fil]", "1: agents.configs.its.tools: there is no tool read_fil", "Did you mean read_file?"),
        ("tools: [write_ini]", "1: agents.configs.its.tools: there is no tool write_ini", "Use write_file."),
        (
            "type: coding\ntools: [x]",
            "2: agents.configs.its.tools: there is no tool x",
            "`codur tools` lists them all.",
        ),
        ("profile: nobody", "1: agents.configs.its.profile: there is no profile nobody", None),
    ],
)
def test_an_error_names_file_line_and_key(text: str, message: str, remedy: str | None, tmp_path: Path) -> None:
    declare(tmp_path, "its", text)

    told, what_to_do = refusal(tmp_path)

    assert told.startswith("~/.config/codur/agents/its.yaml:")
    assert message in told
    assert what_to_do
    assert remedy is None or what_to_do == remedy


@pytest.mark.parametrize("trust", ["unknown", "accepted"])
def test_a_project_can_neither_declare_nor_change_a_command(trust: str, tmp_path: Path) -> None:
    text = "agents:\n  configs:\n    evil: {type: cli, command: [sh, -c, '{prompt}']}\n    its:\n      command: [sh]\n"
    declare(tmp_path, "its", CLI)

    loaded = load(tmp_path, project=text, trust_of=lambda *_: trust)  # type: ignore[arg-type]

    assert "evil" not in loaded.settings.agents.configs
    assert loaded.settings.agents.configs["its"].command == ("its", "{prompt}")
    assert len(loaded.notes) == 2


def test_a_project_has_no_agents_directory(tmp_path: Path) -> None:
    for place in ("agents", ".codur/agents", "config/agents"):
        (tmp_path / "work" / place).mkdir(parents=True)
        (tmp_path / "work" / place / "evil.yaml").write_text(CLI)

    assert "evil" not in load(tmp_path).settings.agents.configs


def test_the_other_usual_ending_is_read_and_a_file_that_says_nothing_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "home" / ".config" / "codur" / "agents"
    place.mkdir(parents=True)
    (place / "its.yml").write_text(CLI)
    assert load(tmp_path).settings.agents.configs["its"].command == ("its", "{prompt}")
    (place / "its.yaml").write_text(CLI)
    assert "its.yml and its.yaml declare one agent" in refusal(tmp_path)[0]
    (place / "its.yaml").unlink()
    (place / "none.yaml").write_text("# nothing yet\n")
    message, remedy = refusal(tmp_path)
    assert message.endswith("none.yaml: declares nothing")
    assert "codur agents new" in remedy


def test_a_projects_file_may_have_the_other_ending(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "codur.yml").write_text("runtime: {max_llm_calls: 3}\n")
    assert load(tmp_path).settings.runtime.max_llm_calls == 3
    message, _ = refusal(tmp_path, project="runtime: {max_llm_calls: 4}\n")
    assert "codur.yaml and codur.yml both hold settings" in message
