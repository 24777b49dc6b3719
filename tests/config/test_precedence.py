"""Which source wins, how they merge, and which files are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from codur.config.loader import LoadedSettings, UserSources, load_settings
from codur.config.reading.yaml_source import read_yaml
from codur.config.settings import AgentPreferences, McpServer, Profile, Provider, RepairSettings, Settings
from tests.config.helpers import load, refusal

USER = "~/.config/codur/config.yaml"


def test_without_any_source_there_are_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path) == LoadedSettings(settings=Settings(), sources=("defaults",), notes=())


@pytest.mark.parametrize(
    ("user", "project", "variable", "override", "value", "sources"),
    [
        (None, None, None, None, 20, ("defaults",)),
        (15, None, None, None, 15, (USER, "defaults")),
        (30, None, None, None, 30, (USER, "defaults")),
        (None, 12, None, None, 12, ("codur.yaml", "defaults")),
        (15, 12, None, None, 12, ("codur.yaml", USER, "defaults")),
        (15, 18, None, None, 15, ("codur.yaml", USER, "defaults")),
        (15, 12, 40, None, 40, ("environment", "codur.yaml", USER, "defaults")),
        (15, 12, 40, 3, 3, ("command line", "environment", "codur.yaml", USER, "defaults")),
        (15, 12, None, 3, 3, ("command line", "codur.yaml", USER, "defaults")),
        (None, None, 40, 3, 3, ("command line", "environment", "defaults")),
        (None, None, None, 50, 50, ("command line", "defaults")),
        (None, None, None, 0, 0, ("command line", "defaults")),
    ],
)
def test_the_stronger_source_wins(
    user: int | None,
    project: int | None,
    variable: int | None,
    override: int | None,
    value: int,
    sources: tuple[str, ...],
    tmp_path: Path,
) -> None:
    def text(number: int | None) -> str | None:
        return None if number is None else f"runtime:\n  max_llm_calls: {number}\n"

    found = load(
        tmp_path,
        user=text(user),
        project=text(project),
        environ={} if variable is None else {"CODUR_RUNTIME__MAX_LLM_CALLS": str(variable)},
        overrides={} if override is None else {"runtime": {"max_llm_calls": override}},
    )

    assert (found.settings.runtime.max_llm_calls, found.sources) == (value, sources)
    assert found.settings == structs.replace(
        Settings(), runtime=structs.replace(Settings().runtime, max_llm_calls=value)
    )


MERGES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "an empty file": ("", {}),
    "only comments": ("# nothing\n", {}),
    "sections without keys": ("runtime:\nllm:\n  profiles:\n    local:\nproviders:\n", {}),
    "a list is replaced": (
        "llm: {fallback_profiles: [local]}",
        {"llm": structs.replace(Settings().llm, fallback_profiles=("local",))},
    ),
    "a list is emptied": (
        "llm: {fallback_profiles: []}",
        {"llm": structs.replace(Settings().llm, fallback_profiles=())},
    ),
    "one key of an entry": (
        "llm: {profiles: {local: {model: qwen}}}",
        {
            "llm": structs.replace(
                Settings().llm,
                profiles={
                    **Settings().llm.profiles,
                    "local": structs.replace(Settings().llm.profiles["local"], model="qwen"),
                },
            )
        },
    ),
    "a new entry beside the others": (
        "llm: {profiles: {mine: {provider: own, model: m, seed: -1, price_in: 1}}}\n"
        "providers: {own: {base_url: 'http://127.0.0.1:1/v1', timeout_s: 5}}",
        {
            "llm": structs.replace(
                Settings().llm,
                profiles={
                    **Settings().llm.profiles,
                    "mine": Profile(provider="own", model="m", seed=-1, price_in=1.0),
                },
            ),
            "providers": {
                **Settings().providers,
                "own": Provider(base_url="http://127.0.0.1:1/v1", timeout_s=5.0),
            },
        },
    ),
    "null takes a value away": (
        "llm: {profiles: {gpt-oss-20b: {reasoning_effort: null}}}",
        {
            "llm": structs.replace(
                Settings().llm,
                profiles={
                    **Settings().llm.profiles,
                    "gpt-oss-20b": structs.replace(Settings().llm.profiles["gpt-oss-20b"], reasoning_effort=None),
                },
            )
        },
    ),
    "agents by every kind of name": (
        "agents:\n  preferences:\n    default_agent: codur-coding\n"
        "    routing: {refactor: 'llm:local'}\n    fallback_order: ['agent:codur-coding', 'llm:gpt-oss-120b']\n",
        {
            "agents": structs.replace(
                Settings().agents,
                preferences=AgentPreferences(
                    default_agent="codur-coding",
                    routing={"explanation": "agent:codur-explaining", "refactor": "llm:local"},
                    fallback_order=("agent:codur-coding", "llm:gpt-oss-120b"),
                ),
            )
        },
    ),
    "a bare off is a choice, not false": ("repair: {mode: off}", {"repair": RepairSettings(mode="off")}),
    "a whole number with a point": (
        "runtime: {max_llm_calls: 5.0}",
        {"runtime": structs.replace(Settings().runtime, max_llm_calls=5)},
    ),
    "a number as YAML 1.1 groups it": (
        "runtime: {max_tokens: 1_000}",
        {"runtime": structs.replace(Settings().runtime, max_tokens=1000)},
    ),
    "a number with an exponent": (
        "runtime: {max_cost_usd: 1e-3}",
        {"runtime": structs.replace(Settings().runtime, max_cost_usd=0.001)},
    ),
    "a date is text": (
        "verification: {command: 2020-01-01}",
        {"verification": structs.replace(Settings().verification, command="2020-01-01")},
    ),
    "anchors and merge keys": (
        "llm:\n  profiles:\n    a: &base {provider: groq, model: m, seed: 1}\n    b: {<<: *base, model: n}\n",
        {
            "llm": structs.replace(
                Settings().llm,
                profiles={
                    **Settings().llm.profiles,
                    "a": Profile(provider="groq", model="m", seed=1),
                    "b": Profile(provider="groq", model="n", seed=1),
                },
            )
        },
    ),
    "several merge keys, the first wins": (
        "planning: {<<: [{max_steps: 4}, {max_steps: 5, max_retry_attempts: 2}]}",
        {"planning": structs.replace(Settings().planning, max_steps=4, max_retry_attempts=2)},
    ),
    "servers": (
        "mcp_servers: {git: {command: [uvx, a], environment: [A]}, web: {url: 'http://localhost/', timeout_s: 5}}",
        {
            "mcp_servers": {
                "git": McpServer(command=("uvx", "a"), environment=("A",)),
                "web": McpServer(url="http://localhost/", timeout_s=5.0),
            }
        },
    ),
}


@pytest.mark.parametrize("case", MERGES)
def test_a_file_is_laid_over_the_defaults(case: str, tmp_path: Path) -> None:
    text, changes = MERGES[case]

    assert load(tmp_path, user=text).settings == structs.replace(Settings(), **changes)


def test_numbers_keep_their_declared_types(tmp_path: Path) -> None:
    runtime = load(tmp_path, user="runtime: {max_runtime_s: 5, max_llm_calls: 5.0}").settings.runtime

    assert (type(runtime.max_runtime_s), type(runtime.max_llm_calls)) == (float, int)


def test_the_defaults_are_never_edited(tmp_path: Path) -> None:
    load(tmp_path, user="llm: {profiles: {mine: {provider: groq, model: m}}}\nproviders: {groq: {timeout_s: 1}}")

    assert load_settings(None, UserSources(environ={}, home=tmp_path), {}).settings == Settings()
    assert "mine" not in Settings().llm.profiles


def _file(path: Path, calls: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"runtime: {{max_llm_calls: {calls}}}", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("environ", "config_file", "calls", "source"),
    [
        ({}, None, 1, USER),
        ({"XDG_CONFIG_HOME": "{tmp}/xdg"}, None, 2, "{tmp}/xdg/codur/config.yaml"),
        ({"XDG_CONFIG_HOME": "{tmp}/absent"}, None, 20, None),
        ({"XDG_CONFIG_HOME": "relative"}, None, 1, USER),
        ({"XDG_CONFIG_HOME": ""}, None, 1, USER),
        ({"CODUR_CONFIG": "{tmp}/named.yaml"}, None, 3, "{tmp}/named.yaml"),
        ({"CODUR_CONFIG": "~/in-home.yaml"}, None, 4, "~/in-home.yaml"),
        ({"CODUR_CONFIG": ""}, None, 1, USER),
        ({"CODUR_CONFIG": "{tmp}/absent.yaml"}, "{tmp}/option.yaml", 5, "{tmp}/option.yaml"),
        ({}, "/dev/null", 20, "/dev/null"),
    ],
)
def test_which_file_is_the_users(
    environ: dict[str, str], config_file: str | None, calls: int, source: str | None, tmp_path: Path
) -> None:
    def put(text: str) -> str:
        return text.replace("{tmp}", str(tmp_path))

    home = tmp_path / "home"
    _file(home / ".config" / "codur" / "config.yaml", 1)
    _file(tmp_path / "xdg" / "codur" / "config.yaml", 2)
    _file(tmp_path / "named.yaml", 3)
    _file(home / "in-home.yaml", 4)
    _file(tmp_path / "option.yaml", 5)

    found = load_settings(
        None,
        UserSources(
            environ={name: put(value) for name, value in environ.items()},
            home=home,
            config_file=None if config_file is None else Path(put(config_file)),
        ),
        {},
    )

    sources = ("defaults",) if source is None else (put(source), "defaults")
    assert (found.settings.runtime.max_llm_calls, found.sources) == (calls, sources)


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    absent = tmp_path / "absent.yaml"
    remedy = "Correct the path, or leave it out."

    assert refusal(tmp_path, config_file=absent) == (f"--config: there is no file {absent}", remedy)
    assert refusal(tmp_path, environ={"CODUR_CONFIG": str(absent)}) == (
        f"CODUR_CONFIG: there is no file {absent}",
        remedy,
    )


def test_the_project_file_may_lie_in_the_codur_folder(tmp_path: Path) -> None:
    _file(tmp_path / "work" / ".codur" / "config.yaml", 6)

    found = load(tmp_path)

    assert (found.settings.runtime.max_llm_calls, found.sources) == (6, (".codur/config.yaml", "defaults"))


def test_two_project_files_are_one_too_many(tmp_path: Path) -> None:
    _file(tmp_path / "work" / ".codur" / "config.yaml", 6)

    assert refusal(tmp_path, project="") == (
        "codur.yaml and .codur/config.yaml both hold settings",
        "Keep one of the two files.",
    )


def test_without_a_workspace_no_project_file_is_read(tmp_path: Path) -> None:
    _file(tmp_path / "codur.yaml", 6)

    found = load_settings(None, UserSources(environ={}, home=tmp_path), {})

    assert found == LoadedSettings(settings=Settings())


OVERRIDES: Mapping[str, tuple[dict[str, Any], str, str]] = {
    "unknown": (
        {"runtime": {"max_calls": 1}},
        "runtime.max_calls: there is no such setting",
        "Did you mean runtime.max_llm_calls?",
    ),
    "wrong type": (
        {"runtime": {"max_llm_calls": "many"}},
        "runtime.max_llm_calls: must be a whole number, 0 or more, not text",
        "Correct the value, or remove it to use the default.",
    ),
    "no such profile": (
        {"llm": {"default_profile": "gpt-oss-12b"}},
        "llm.default_profile: there is no profile gpt-oss-12b",
        "Did you mean gpt-oss-120b?",
    ),
    "a key that is not text": ({"runtime": {1: 2}}, "runtime: a key must be text, not 1", "Put the key in quotes."),
}


@pytest.mark.parametrize("case", OVERRIDES)
def test_wrong_overrides(case: str, tmp_path: Path) -> None:
    overrides, message, remedy = OVERRIDES[case]

    assert refusal(tmp_path, overrides=overrides) == (message, remedy)


def test_an_error_names_the_source_that_holds_the_value(tmp_path: Path) -> None:
    """The profile that the user's file asks for is the one that is missing, whatever the project says."""
    message, _ = refusal(tmp_path, user="\n\nllm: {default_profile: x}", project="llm: {default_profile: y}")

    assert message == f"{USER}:3: llm.default_profile: there is no profile x"


def test_lines_of_keys_and_items(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("llm:\n  # comment\n  fallback_profiles:\n    - a\n\n    - b\n", encoding="utf-8")

    places = {path: place.line for path, place in read_yaml(file, "a.yaml").places.items()}

    assert places == {
        ("llm",): 1,
        ("llm", "fallback_profiles"): 3,
        ("llm", "fallback_profiles", 0): 4,
        ("llm", "fallback_profiles", 1): 6,
    }


def test_a_profile_without_a_price_has_that_of_the_same_model_that_is_shipped(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        user="llm: {profiles: {warm: {provider: groq, model: openai/gpt-oss-120b, temperature: 0.9}, "
        "free: {provider: groq, model: openai/gpt-oss-120b, price_in: 0}, other: {provider: groq, model: m}}}\n",
    ).settings.llm.profiles
    assert [*found][-3:] == ["warm", "free", "other"]  # `auto` takes the first that can be asked
    shipped = Settings().llm.profiles["gpt-oss-120b"]
    assert shipped.price_out > 0
    assert (found["warm"].price_in, found["warm"].price_out) == (shipped.price_in, shipped.price_out)
    assert (found["free"].price_in, found["free"].price_out) == (0.0, 0.0)
    assert found["other"].price_out == 0.0
