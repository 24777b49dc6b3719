from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codur.config.settings import Settings
from tests.config.helpers import load, refusal

UNKNOWN = "there is no such setting"
DEFAULT = "Correct the value, or remove it to use the default."


def _at(settings: Settings, path: str) -> Any:
    value: Any = settings
    for name in path.split("/"):
        value = value[name] if isinstance(value, dict) else getattr(value, name)
    return value


@pytest.mark.parametrize(
    ("variable", "text", "path", "value"),
    [
        ("CODUR_RUNTIME__MAX_LLM_CALLS", "5", "runtime/max_llm_calls", 5),
        ("codur_runtime__max_llm_calls", "5", "runtime/max_llm_calls", 5),
        ("Codur_Runtime__Max_Cost_Usd", "0.5", "runtime/max_cost_usd", 0.5),
        ("CODUR_TOOLS__ALLOW_NETWORK", "true", "tools/allow_network", True),
        ("CODUR_TOOLS__ALLOW_RUN", "no", "tools/allow_run", False),
        ("CODUR_REPAIR__MODE", "off", "repair/mode", "off"),
        ("CODUR_LLM__DEFAULT_PROFILE", "local", "llm/default_profile", "local"),
        ("CODUR_LLM__FALLBACK_PROFILES", "[local, gpt-oss-120b]", "llm/fallback_profiles", ("local", "gpt-oss-120b")),
        ("CODUR_LLM__FALLBACK_PROFILES", "[]", "llm/fallback_profiles", ()),
        ("CODUR_AGENTS__CODING__SAMPLES", "auto", "agents/coding/samples", "auto"),
        ("CODUR_AGENTS__CODING__SAMPLES", "8", "agents/coding/samples", 8),
        ("CODUR_RUNTIME", "{max_llm_calls: 4, max_tokens: 3}", "runtime/max_tokens", 3),
        ("CODUR_LLM__PROFILES__LOCAL__MODEL", "qwen3:8b", "llm/profiles/local/model", "qwen3:8b"),
        ("CODUR_LLM__PROFILES__LOCAL__MODEL", "5", "llm/profiles/local/model", "5"),
        ("CODUR_LLM__PROFILES__GPT_OSS_20B__SEED", "7", "llm/profiles/gpt-oss-20b/seed", 7),
        ("CODUR_LLM__PROFILES__GPT-OSS-20B__SEED", "7", "llm/profiles/gpt-oss-20b/seed", 7),
        (
            "CODUR_LLM__PROFILES__GPT_OSS_20B__REASONING_EFFORT",
            "null",
            "llm/profiles/gpt-oss-20b/reasoning_effort",
            None,
        ),
        (
            "CODUR_VERIFICATION__COMMAND",
            "python -c 'print({1: 2})'",
            "verification/command",
            "python -c 'print({1: 2})'",
        ),
        ("CODUR_VERIFICATION__COMMAND", "~", "verification/command", None),
        (
            "CODUR_PROVIDERS__MINE",
            "{base_url: 'http://127.0.0.1/v1'}",
            "providers/mine/base_url",
            "http://127.0.0.1/v1",
        ),
        ("CODUR_PROVIDERS__MINE__TIMEOUT_S", "3", "providers/mine/timeout_s", 3.0),
        (
            "CODUR_AGENTS__PREFERENCES__ROUTING__CODE_FIX",
            "llm:local",
            "agents/preferences/routing/code_fix",
            "llm:local",
        ),
        ("CODUR_MCP_SERVERS__GIT__COMMAND", "[a, b]", "mcp_servers/git/command", ("a", "b")),
    ],
)
def test_a_variable_is_a_setting(variable: str, text: str, path: str, value: object, tmp_path: Path) -> None:
    found = load(tmp_path, environ={variable: text, "PATH": "/bin", "CODURX": "1"})

    assert (_at(found.settings, path), found.sources) == (value, ("environment", "defaults"))


def test_entries_of_the_users_file_are_known_by_name(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        user="llm: {profiles: {My.Model: {provider: groq, model: m}}}",
        environ={"CODUR_LLM__PROFILES__MY_MODEL__TEMPERATURE": "1"},
    )

    assert found.settings.llm.profiles["My.Model"].temperature == 1.0


def test_a_variable_for_a_key_wins_over_one_for_its_section(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        environ={
            "CODUR_RUNTIME__MAX_LLM_CALLS": "9",
            "CODUR_RUNTIME": "{max_llm_calls: 4, max_tokens: 3}",
        },
    )

    assert (found.settings.runtime.max_llm_calls, found.settings.runtime.max_tokens) == (9, 3)


def test_empty_and_reserved_variables_are_no_settings(tmp_path: Path) -> None:
    found = load(tmp_path, environ={"CODUR_RUNTIME__MAX_LLM_CALLS": "", "CODUR_DEBUG": "1", "CODUR_XYZ": ""})

    assert found.sources == ("defaults",)


def test_variables_of_others_that_begin_alike_are_no_settings(tmp_path: Path) -> None:
    found = load(tmp_path, environ={"CODUR_VERSION": "0.1", "CODUR_ARGS": "-v", "CODUR_": "1"})

    assert found.sources == ("defaults",)


@pytest.mark.parametrize(
    ("variable", "text", "message", "remedy"),
    [
        ("CODUR_RUNTIME_MAX_LLM_CALLS", "5", UNKNOWN, "Did you mean CODUR_RUNTIME__MAX_LLM_CALLS?"),
        ("CODUR_RUNTIME__MAX_CALLS", "5", UNKNOWN, "Did you mean CODUR_RUNTIME__MAX_LLM_CALLS?"),
        ("CODUR_RUNTIME__MAX_LLM_CALLS__X", "5", UNKNOWN, "Did you mean CODUR_RUNTIME__MAX_LLM_CALLS?"),
        ("CODUR_RUNTIME____MAX_LLM_CALLS", "5", UNKNOWN, "Did you mean CODUR_RUNTIME__MAX_LLM_CALLS?"),
        ("CODUR_CONFG", "5", UNKNOWN, "Did you mean CODUR_CONFIG?"),
        ("CODUR_QQQQ__QQQQQQ", "5", UNKNOWN, "Unset it; `codur config` lists the settings."),
        (
            "CODUR_LLM__PROFILES__LOCAL__MODL",
            "5",
            UNKNOWN,
            "Did you mean CODUR_LLM__PROFILES__LOCAL__MODEL?",
        ),
        (
            "CODUR_RUNTIME__MAX_LLM_CALLS",
            "many",
            "runtime.max_llm_calls: must be a whole number, 0 or more, not text",
            DEFAULT,
        ),
        (
            "CODUR_RUNTIME",
            "{max_llm_calls: -1}",
            "runtime.max_llm_calls: must be a whole number, 0 or more, not -1",
            DEFAULT,
        ),
        ("CODUR_RUNTIME", "5", "runtime: must be a mapping of keys to values, not 5", "Indent the keys below it."),
        ("CODUR_REPAIR__MODE", "sometimes", "repair.mode: must be one of before_model, after_failure, off", DEFAULT),
        (
            "CODUR_LLM__FALLBACK_PROFILES",
            "local",
            "llm.fallback_profiles: must be a list, not text",
            "Write it as [one, two].",
        ),
        (
            "CODUR_LLM__FALLBACK_PROFILES",
            "[local",
            "not valid YAML: expected ',' or ']', but got '<stream end>'",
            "Correct the YAML there; check indentation and quotes.",
        ),
        (
            "CODUR_LLM__FALLBACK_PROFILES",
            "[" * 1000,
            "holds more than 32 levels",
            "Keep only settings in it.",
        ),
        ("CODUR_LLM__DEFAULT_PROFILE", "locl", "llm.default_profile: there is no profile locl", "Did you mean local?"),
        (
            "CODUR_LLM__PROFILES__MINE__SEED",
            "1",
            "llm.profiles.mine: a new entry needs provider and model",
            "Add provider and model, or correct the entry's name.",
        ),
    ],
)
def test_wrong_variables(variable: str, text: str, message: str, remedy: str, tmp_path: Path) -> None:
    told, what_to_do = refusal(tmp_path, environ={variable: text})

    assert (told, what_to_do) == (f"{variable}: {message}", remedy)


def test_two_spellings_of_one_setting(tmp_path: Path) -> None:
    environ = {"CODUR_RUNTIME__MAX_LLM_CALLS": "1", "codur_runtime__max_llm_calls": "2"}

    assert refusal(tmp_path, environ=environ) == (
        "codur_runtime__max_llm_calls: is the same setting as CODUR_RUNTIME__MAX_LLM_CALLS",
        "Unset one of the two variables.",
    )
