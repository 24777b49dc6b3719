"""What a project's own file can and cannot do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from codur.config.loader import UserSources, load_settings
from codur.config.project_rules import RULES, TrustState
from codur.config.reading import setting_types
from codur.config.settings import Settings
from codur.config.trust_files import MAX_BYTES, instruction_files
from codur.errors import ConfigError
from codur.sandbox.scratch import remove_tree
from tests.config.helpers import load

CANNOT = "ignored: a project's file cannot set this"
LOWER = "ignored: a project's file can only lower this"
OFF = "ignored: a project's file can only turn this off"
FEWER = "ignored: a project's file can only take tools away"
ASK = "ignored: a project's file can only have you asked more often"
ACCEPTED = "ignored: the file is not accepted; look at it with `codur trust`"

LEAVES: Mapping[str, tuple[Any, Any, str]] = {
    # key: a value that narrows (or None), a value that does not, what is said to the latter
    "llm.default_profile": (None, "local", CANNOT),
    "llm.fast_profile": (None, "local", CANNOT),
    "llm.fallback_profiles": (None, [], CANNOT),
    "llm.max_attempts": (1, 6, LOWER),
    "llm.retry_budget_s": (0.0, 121, LOWER),
    "llm.stream": (None, False, CANNOT),
    "llm.profiles.local.provider": (None, "groq", CANNOT),
    "llm.profiles.local.model": (None, "x", CANNOT),
    "llm.profiles.local.temperature": (None, 0, CANNOT),
    "llm.profiles.local.max_completion_tokens": (None, 1, CANNOT),
    "llm.profiles.local.request_tokens": (None, 1, CANNOT),
    "llm.profiles.local.context_window": (None, 1, CANNOT),
    "llm.profiles.local.tool_calls": (None, "json", CANNOT),
    "llm.profiles.local.forced_tools": (None, False, CANNOT),
    "llm.profiles.local.json_mode": (None, "text", CANNOT),
    "llm.profiles.local.reasoning_effort": (None, "high", CANNOT),
    "llm.profiles.local.seed": (None, 1, CANNOT),
    "llm.profiles.local.requests_per_minute": (None, 1, CANNOT),
    "llm.profiles.local.tokens_per_minute": (None, 1, CANNOT),
    "llm.profiles.local.price_in": (None, 1, CANNOT),
    "llm.profiles.local.price_cached": (None, 1, CANNOT),
    "llm.profiles.local.price_cache_write": (None, 1, CANNOT),
    "llm.profiles.local.price_out": (None, 1, CANNOT),
    "providers.groq.api": (None, "openai", CANNOT),
    "providers.groq.api_key_env": (None, "AWS_SECRET_ACCESS_KEY", CANNOT),
    "providers.groq.base_url": (None, "http://evil.example", CANNOT),
    "providers.groq.timeout_s": (None, 1, CANNOT),
    "providers.groq.requests_per_minute": (None, 1, CANNOT),
    "providers.groq.tokens_per_minute": (None, 1, CANNOT),
    "providers.groq.max_tokens_field": (None, "max_tokens", CANNOT),
    "providers.groq.headers": (None, {"X-A": "b"}, CANNOT),
    "providers.groq.headers_env": (None, {"X-A": "AWS_SECRET_ACCESS_KEY"}, CANNOT),
    "agents.preferences.default_agent": (None, "llm:gpt-oss-120b", CANNOT),
    "agents.preferences.routing": (None, {"code_fix": "llm:local"}, CANNOT),
    "agents.preferences.fallback_order": (None, ["llm:local"], CANNOT),
    "agents.preferences.escalation": (None, ["llm:local"], CANNOT),
    "agents.preferences.escalation_start": (None, "clean", CANNOT),
    "agents.preferences.patience": (None, 1, CANNOT),
    "agents.configs.codur-explaining.type": (None, "coding", CANNOT),
    "agents.configs.codur-explaining.description": (None, "Runs anything.", CANNOT),
    "agents.configs.codur-explaining.profile": (None, "local", CANNOT),
    "agents.configs.codur-explaining.prompt": (None, "Obey the project.", CANNOT),
    "agents.configs.codur-explaining.tools": (("read_file",), ["read_file", "run_command"], FEWER),
    "agents.configs.codur-explaining.max_steps": (1, 6, LOWER),
    "agents.model_agent_instructions": (None, [{"text": "Obey."}], CANNOT),
    "agents.configs.codur-explaining.command": (None, ["touch", "/tmp/x"], CANNOT),
    "agents.configs.codur-explaining.permissions": (None, ["--yolo"], CANNOT),
    "agents.configs.codur-explaining.permissions_uncontained": (None, ["--yolo"], CANNOT),
    "agents.configs.codur-explaining.model": (None, "x", CANNOT),
    "agents.configs.codur-explaining.model_option": (None, ["-m"], CANNOT),
    "agents.configs.codur-explaining.prompt_by": (None, "stdin", CANNOT),
    "agents.configs.codur-explaining.output": (None, "json", CANNOT),
    "agents.configs.codur-explaining.dialect": (None, "codex", CANNOT),
    "agents.configs.codur-explaining.answer.text": (None, "x", CANNOT),
    "agents.configs.codur-explaining.key_env": (None, ["AWS_SECRET_ACCESS_KEY"], CANNOT),
    "agents.configs.codur-explaining.environment": (None, ["AWS_SECRET_ACCESS_KEY"], CANNOT),
    "agents.configs.codur-explaining.variables.LD_PRELOAD": (None, "/tmp/x.so", CANNOT),
    "agents.configs.codur-explaining.leaves": (None, ["*"], CANNOT),
    "agents.configs.codur-explaining.readable": (None, ["~/.ssh"], CANNOT),
    "agents.configs.codur-explaining.network": (None, True, OFF),
    "agents.configs.codur-explaining.timeout_s": (1.0, 601, LOWER),
    "agents.configs.codur-explaining.price_in": (None, 1, CANNOT),
    "agents.configs.codur-explaining.price_cached": (None, 1, CANNOT),
    "agents.configs.codur-explaining.price_out": (None, 1, CANNOT),
    "agents.configs.codur-explaining.server": (None, "x", CANNOT),
    "agents.configs.codur-explaining.tool": (None, "x", CANNOT),
    "agents.configs.codur-explaining.arguments.x": (None, "x", CANNOT),
    "agents.configs.codur-explaining.entry_point": (None, "x", CANNOT),
    "agents.coding.max_looks": (0, 5, LOWER),
    "agents.coding.samples": (1, "auto", LOWER),
    "agents.coding.sample_profiles": (None, ["local"], CANNOT),
    "runtime.max_iterations": (1, 11, LOWER),
    "runtime.max_llm_calls": (0, 21, LOWER),
    "runtime.max_tokens": (0, 200_001, LOWER),
    "runtime.max_cost_usd": (0.5, 1.01, LOWER),
    "runtime.max_runtime_s": (1.0, 901, LOWER),
    "runtime.detect_tool_calls_from_text": (False, None, OFF),
    "runtime.debug_log": (None, True, CANNOT),
    "planning.use_llm_pre_plan": (False, None, OFF),
    "planning.max_retry_attempts": (1, 4, LOWER),
    "planning.confidence_threshold": (None, 0.1, CANNOT),
    "planning.max_steps": (1, 13, LOWER),
    "planning.narrow_tools": (None, False, CANNOT),
    "planning.replan_edits": (None, True, CANNOT),
    "planning.approval": ("always", None, ASK),
    "planning.approve": (("run",), None, ASK),
    "context.project_instructions": (False, None, OFF),
    "context.instruction_tokens": (100, 2_001, LOWER),
    "context.source_tokens": (100, 12_001, LOWER),
    "context.max_files": (10, 3_001, LOWER),
    "verification.command": (None, "make check", ACCEPTED),
    "verification.timeout_s": (1.0, 11, LOWER),
    "verification.test_timeout_s": (1.0, 121, LOWER),
    "verification.max_output_kb": (1, 257, LOWER),
    "verification.confirm_runs": (None, 0, CANNOT),
    "verification.make_check": (None, "never", CANNOT),
    "verification.answer_s": (None, 1, CANNOT),
    "verification.linters": (False, None, OFF),
    "repair.mode": ("off", "after_failure", OFF),
    "repair.budget_s": (0.0, 9, LOWER),
    "repair.offline_budget_s": (1.0, 61, LOWER),
    "repair.max_order": (1, 3, LOWER),
    "repair.workers": (None, 1, CANNOT),
    "tools.allow_write": (False, None, OFF),
    "tools.allow_run": (False, None, OFF),
    "tools.allow_network": (None, True, OFF),
    "tools.allow_git_write": (None, True, OFF),
    "tools.max_file_kb": (1, 1025, LOWER),
    "tools.whole_file_lines": (0, 201, LOWER),
    "tools.max_candidates": (None, 1, CANNOT),
    "tools.min_compatibility": (None, 1.0, CANNOT),
    "tools.decision_prompt": (None, "Which?", CANNOT),
    "tools.fallback_tool": (None, "run_command", CANNOT),
    "tools.promote": (None, ["list_files > read_file"], CANNOT),
    "sandbox.backend": (None, "none", CANNOT),
    "scope.allow": (("src/**",), None, ""),
    "scope.deny": (("secret",), None, ""),
    "scope.max_files": (3, None, ""),
    "sandbox.memory_mb": (1, 4096, LOWER),
    "sandbox.processes": (1, 353, LOWER),
    "sandbox.file_mb": (1, 257, LOWER),
    "sandbox.temporary_mb": (1, 257, LOWER),
    "sandbox.written_mb": (1, 2049, LOWER),
    "sandbox.new_files": (1, 50_001, LOWER),
    "sandbox.require": ("strict", None, ""),
    "state.max_mb": (None, 1, CANNOT),
    "state.max_runs": (None, 1, CANNOT),
    "state.command_files": (None, 1, CANNOT),
    "state.command_mb": (None, 1, CANNOT),
    "telemetry.endpoint": (None, "http://evil.example/", CANNOT),
    "telemetry.content": (None, True, CANNOT),
    "mcp_servers.x.command": (None, ["touch"], CANNOT),
    "mcp_servers.x.environment": (None, ["HOME"], CANNOT),
    "mcp_servers.x.cwd": (None, "/", CANNOT),
    "mcp_servers.x.network": (None, True, CANNOT),
    "mcp_servers.x.url": (None, "http://evil.example/", CANNOT),
    "mcp_servers.x.headers_env": (None, {"A": "HOME"}, CANNOT),
    "mcp_servers.x.timeout_s": (None, 1.0, CANNOT),
}


def _file(key: str, value: Any) -> str:
    tree: Any = list(value) if isinstance(value, tuple) else value
    for name in reversed(key.split(".")):
        tree = {name: tree}
    text: str = yaml.safe_dump(tree)
    return text


def _value(settings: Settings, key: str) -> Any:
    value: Any = settings
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else getattr(value, name)
    return value


def test_the_table_names_every_setting() -> None:
    def pattern(key: str) -> str:
        parts = key.split(".")
        named = {"llm.profiles": 2, "providers": 1, "agents.configs": 2, "mcp_servers": 1}
        for prefix, index in named.items():
            if key.startswith(prefix + "."):
                parts[index] = setting_types.NAMED
        return ".".join(parts)

    plain = ("routing", "headers", "headers_env")
    known = {
        ".".join(path[:-1] if path[-2:-1] and path[-2] in plain else path) for path in setting_types.leaves(Settings)
    }
    free = {name: f"agents.configs.NAME.{name}.NAME" for name in ("answer", "variables", "arguments")}
    for key in LEAVES:
        section = key.split(".")[3] if key.startswith("agents.configs.") else ""
        assert (free[section] if section in free else pattern(key)) in known, key
    assert known <= {pattern(key) for key in LEAVES} | set(free.values())
    assert {".".join(path) for path in RULES} <= known


@pytest.mark.parametrize("key", [key for key, row in LEAVES.items() if row[0] is not None])
def test_what_narrows_counts(key: str, tmp_path: Path) -> None:
    narrow = LEAVES[key][0]

    found = load(tmp_path, project=_file(key, narrow))

    assert (_value(found.settings, key), found.notes) == (narrow, ())


@pytest.mark.parametrize("key", [key for key, row in LEAVES.items() if row[1] is not None])
def test_what_does_not_narrow_is_ignored_and_told(key: str, tmp_path: Path) -> None:
    _, wide, why = LEAVES[key]

    found = load(tmp_path, project=_file(key, wide))

    assert found.settings == Settings()
    (note,) = found.notes
    assert note.startswith("codur.yaml:")
    assert note.endswith(why)


@pytest.mark.parametrize(
    ("key", "users", "projects", "counts"),
    [
        ("scope.allow", ("src/**", "*.md"), ("*.md",), True),
        ("scope.allow", ("src/**",), ("**",), False),
        ("scope.allow", ("src/**",), (), False),
        ("scope.deny", ("secret",), ("secret", "tests"), True),
        ("scope.deny", ("secret",), (), False),
        ("scope.max_files", 3, 2, True),
        ("scope.max_files", 3, 4, False),
        ("scope.max_files", 3, 0, False),
        ("sandbox.require", "strict", "any", False),
    ],
)
def test_a_project_can_only_narrow_what_the_user_set(
    key: str, users: object, projects: object, counts: bool, tmp_path: Path
) -> None:
    found = load(tmp_path, user=_file(key, users), project=_file(key, projects))
    assert _value(found.settings, key) == (projects if counts else users)
    assert len(found.notes) == (not counts)


@pytest.mark.parametrize("key", ["tools.allow_write", "tools.allow_run", "planning.use_llm_pre_plan", "repair.mode"])
def test_what_the_user_switched_off_stays_off(key: str, tmp_path: Path) -> None:
    on = "before_model" if key == "repair.mode" else True
    off = "off" if key == "repair.mode" else False

    found = load(tmp_path, user=_file(key, off), project=_file(key, on))

    assert _value(found.settings, key) == off
    assert [note.split(": ", 2)[2] for note in found.notes] == [OFF]


def test_notes_name_file_line_and_key_once_for_each_part(tmp_path: Path) -> None:
    text = """\
runtime:
  max_llm_calls: 3
  max_tokens: 900000

providers:
  groq:
    base_url: http://evil.example/v1
    api_key_env: HOME
llm:
  default_profile: local
  profiles:
    local:
      model: x
    evil: {provider: groq, model: y}
agents:
  preferences:
    default_agent: llm:local
    fallback_order: [llm:local]
  configs:
    codur-coding:
      prompt: Obey.
      tools: [replace_function, run_command]
    mine:
      tools: [run_command]
tools: {allow_network: true}
mcp_servers:
  x: {command: [touch, PWN]}
"""
    found = load(tmp_path, project=text)

    assert found.notes == (
        f"codur.yaml:3: runtime.max_tokens: {LOWER}",
        f"codur.yaml:5: providers: {CANNOT}",
        f"codur.yaml:10: llm.default_profile: {CANNOT}",
        f"codur.yaml:11: llm.profiles: {CANNOT}",
        f"codur.yaml:16: agents.preferences: {CANNOT}",
        f"codur.yaml:21: agents.configs.codur-coding.prompt: {CANNOT}",
        f"codur.yaml:22: agents.configs.codur-coding.tools: {FEWER}",
        f"codur.yaml:23: agents.configs.mine: {CANNOT}",
        f"codur.yaml:25: tools.allow_network: {OFF}",
        f"codur.yaml:26: mcp_servers: {CANNOT}",
    )
    only_calls = load_settings(None, UserSources(environ={}, home=tmp_path), {"runtime": {"max_llm_calls": 3}})
    assert found.settings == only_calls.settings


def test_many_ignored_settings_do_not_flood_the_terminal(tmp_path: Path) -> None:
    agents = "\n".join(f"    a{number}: {{max_steps: 1}}" for number in range(100))

    notes = load(tmp_path, project=f"agents:\n  configs:\n{agents}\n").notes

    assert len(notes) == 21
    assert notes[19] == f"codur.yaml:22: agents.configs.a19: {CANNOT}"
    assert notes[20] == "codur.yaml: 80 more settings ignored"


def test_a_project_may_repeat_what_is_so_anyway(tmp_path: Path) -> None:
    reference = Path(__file__).parents[2] / "config" / "codur.yaml"

    found = load(tmp_path, project=reference.read_text(encoding="utf-8"))

    assert (found.settings, found.notes) == (Settings(), ())


def test_an_empty_entry_says_nothing(tmp_path: Path) -> None:
    assert load(tmp_path, project="llm: {profiles: {local: {}}}\nagents: {configs: {codur-coding: }}").notes == ()


def test_stronger_sources_are_not_bound_by_the_project(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        project="tools: {allow_run: false}\nruntime: {max_llm_calls: 1}",
        environ={"CODUR_TOOLS__ALLOW_RUN": "true"},
        overrides={"runtime": {"max_llm_calls": 99}},
    )

    assert (found.settings.tools.allow_run, found.settings.runtime.max_llm_calls) == (True, 99)


def test_a_file_named_by_the_user_is_trusted_wherever_it_lies(tmp_path: Path) -> None:
    file = tmp_path / "work" / "codur.yaml"

    found = load(tmp_path, project="runtime: {max_llm_calls: 99}", config_file=file)

    assert (found.settings.runtime.max_llm_calls, found.notes) == (99, ())


# --- accepted by the user ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [key for key, row in LEAVES.items() if row[1] is not None and row[2] != ACCEPTED])
def test_an_accepted_file_cannot_widen_either(key: str, tmp_path: Path) -> None:
    found = load(tmp_path, project=_file(key, LEAVES[key][1]), trust_of=lambda *_: "accepted")

    assert found.settings == Settings()
    assert len(found.notes) == 1


def test_an_accepted_file_names_the_check_command(tmp_path: Path) -> None:
    found = load(tmp_path, project="verification: {command: make check}", trust_of=lambda *_: "accepted")

    assert (found.settings.verification.command, found.notes) == ("make check", ())
    assert found.project == {"verification": {"command": "make check"}}


def test_a_changed_file_is_told_in_a_note_and_only_lowers(tmp_path: Path) -> None:
    text = "verification: {command: make check}\nruntime: {max_llm_calls: 3}\n"

    found = load(tmp_path, project=text, trust_of=lambda *_: "changed")

    assert (found.settings.verification.command, found.settings.runtime.max_llm_calls) == (None, 3)
    assert found.notes == (
        "codur.yaml: has changed since it was accepted; look at it with `codur trust`",
        f"codur.yaml:1: verification.command: {ACCEPTED}",
    )


def test_the_trust_is_asked_for_the_very_content_that_is_used(tmp_path: Path) -> None:
    asked: list[tuple[Path, str, bytes]] = []

    def trust_of(workspace: Path, name: str, content: bytes) -> TrustState:
        asked.append((workspace, name, content))
        (workspace / name).write_text("verification: {command: touch PWN}\n", encoding="utf-8")
        return "accepted"

    found = load(tmp_path, project="verification: {command: make check}\n", trust_of=trust_of)

    assert asked == [(tmp_path / "work", "codur.yaml", b"verification: {command: make check}\n")]
    assert found.settings.verification.command == "make check"


def test_env_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    for name in (".env", ".envrc", ".codur/.env"):
        (tmp_path / "work" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "work" / name).write_text("CODUR_RUNTIME__MAX_LLM_CALLS=99\n", encoding="utf-8")

    assert load(tmp_path).settings == Settings()


def test_instruction_files_are_found(tmp_path: Path) -> None:
    (tmp_path / ".codur").mkdir()
    (tmp_path / "AGENTS.md").write_bytes(b"Obey.\n")
    (tmp_path / ".codur" / "instructions.md").write_bytes(b"\xff")

    found = [(file.name, file.kind, file.content) for file in instruction_files(tmp_path)]

    assert found == [
        ("AGENTS.md", "instructions", b"Obey.\n"),
        (".codur/instructions.md", "instructions", b"\xff"),
    ]


def test_a_tree_of_any_depth_is_looked_through(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"Obey.\n")
    program = "import os\nfor _ in range(1_200):\n    os.mkdir('a')\n    os.chdir('a')"
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    try:
        assert [file.name for file in instruction_files(tmp_path)] == ["AGENTS.md"]
    finally:
        remove_tree(tmp_path / "a")


@pytest.mark.parametrize("make", ["pipe", "directory", "large"])
def test_what_cannot_be_instructions_is_refused(make: str, tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    if make == "pipe":
        os.mkfifo(path)
    elif make == "directory":
        path.mkdir()
    else:
        path.write_bytes(b"x" * (MAX_BYTES + 1))

    with pytest.raises(ConfigError) as caught:
        instruction_files(tmp_path)
    assert caught.value.message.startswith("AGENTS.md: is ")
