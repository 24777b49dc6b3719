"""Broken input of every kind, with the whole line that the user sees."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codur.config.reading.yaml_source import MAX_BYTES
from codur.config.settings import Settings
from tests.config.helpers import load, refusal

DEFAULT = "Correct the value, or remove it to use the default."
YAML = "Correct the YAML there; check indentation and quotes."
ONLY = "Keep only settings in it."
TOP = (
    "Known here: llm, providers, agents, runtime, planning, context, verification, repair, tools, scope, sandbox, "
    "state, telemetry, mcp_servers."
)

PROFILES = f"Known: {', '.join(sorted(Settings().llm.profiles))}."

NOT_YAML = {
    "unclosed list": ("runtime: [", ":1: not valid YAML: expected the node content, but found '<stream end>'", YAML),
    "unclosed quote": ("a: 1\nb: 'x\n", ":3: not valid YAML: found unexpected end of stream", YAML),
    "tab": ("runtime:\n\tmax: 1", ":2: not valid YAML: found character '\\t' that cannot start any token", YAML),
    "colon in text": ("a: b: c", ":1: not valid YAML: mapping values are not allowed here", YAML),
    "unknown alias": ("a: *b", ":1: not valid YAML: found undefined alias 'b'", YAML),
    "two documents": (
        "a: 1\n---\nb: 1\n",
        ":2: not valid YAML: expected a single document in the stream, but found another document",
        YAML,
    ),
    "NUL": ("a: 1\nb: \0", ":2: not valid YAML: the character '\\x00' is not allowed", YAML),
    "escape": ("a: \x1b[31m", ":1: not valid YAML: the character '\\x1b' is not allowed", YAML),
    "list at the top": ("- a\n", ":1: must hold a mapping of keys to values", "Write settings as key: value."),
    "text at the top": ("settings", ":1: must hold a mapping of keys to values", "Write settings as key: value."),
    "key twice": (
        "runtime:\n  max_tokens: 1\n\n  max_tokens: 2\n",
        ":4: runtime.max_tokens: is given twice, first on line 2",
        "Keep one of them.",
    ),
    "same key in other quotes": (
        "'tools': {}\n\"tools\": {}",
        ":2: tools: is given twice, first on line 1",
        "Keep one of them.",
    ),
    "number as key": ("runtime: {1: 2}", ":1: runtime: a key must be text", "Put the key in quotes."),
    "list as key": ("runtime:\n  ? [a]\n  : b", ":2: runtime: a key must be text", "Put the key in quotes."),
    "Python object": (
        "tools: !!python/object/apply:os.system [touch x]",
        ":1: tools: the tag !!python/object/apply:os.system is not allowed",
        "Use plain values without tags.",
    ),
    "Python mapping": (
        "tools: !!python/object:os.X {a: 1}",
        ":1: tools: the tag !!python/object:os.X is not allowed",
        "Use plain values without tags.",
    ),
    "bytes": ("a: !!binary YQ==", ":1: a: the tag !!binary is not allowed", "Use plain values without tags."),
    "wrong tag": ("a: !!int x", ":1: a: cannot be read as int", "Correct the value, or quote it."),
    "wrong boolean tag": ("a: !!bool x", ":1: a: cannot be read as bool", "Correct the value, or quote it."),
    "too many digits": ("a: " + "9" * 5000, ":1: a: cannot be read as int", "Correct the value, or quote it."),
    "merge of text": ("a:\n  <<: x", ":2: a: << must name a mapping", "Write << : *name of a mapping."),
    "deep": ("[" * 100_000, ":1: holds more than 32 levels", ONLY),
    "deep blocks": ("- " * 100_000, ":1: holds more than 32 levels", ONLY),
    "many values": ("a: 1\n" * 30_000, ":10000: holds more than 20000 values", ONLY),
    "too large": ("# " + "x" * MAX_BYTES, ": is larger than 1 MiB, too large for a settings file", ONLY),
    "10 MB": ("#" * 10_000_000, ": is larger than 1 MiB, too large for a settings file", ONLY),
}

WRONG = {
    "unknown key": (
        "runtime:\n  max_llm_call: 1",
        ":2: runtime.max_llm_call: there is no such setting",
        "Did you mean runtime.max_llm_calls?",
    ),
    "key at the wrong level": (
        "max_llm_calls: 1",
        ":1: max_llm_calls: there is no such setting",
        "Did you mean runtime.max_llm_calls?",
    ),
    "key of an entry at the wrong level": (
        "model: x",
        ":1: model: there is no such setting",
        "Did you mean llm.profiles.NAME.model?",
    ),
    "a word that is not the one beside numbers": (
        "agents:\n  coding: {samples: many}",
        ":2: agents.coding.samples: must be a whole number from 1 to 64, or auto, not text",
        DEFAULT,
    ),
    "no answer at all": (
        "agents:\n  coding: {samples: 0}",
        ":2: agents.coding.samples: must be a whole number from 1 to 64, or auto, not 0",
        DEFAULT,
    ),
    "nothing like it": ("xyz: 1", ":1: xyz: there is no such setting", TOP),
    "escape in a key": ('"\\e[31m": 1', ":1: '\\x1b[31m': there is no such setting", TOP),
    "long key": ("k" * 100 + ": 1", f":1: {'k' * 79}…: there is no such setting", TOP),
    "unknown key of an entry": (
        "llm:\n  profiles:\n    local:\n      modl: x",
        ":4: llm.profiles.local.modl: there is no such setting",
        "Did you mean llm.profiles.local.model?",
    ),
    "text for a section": (
        "runtime: fast",
        ":1: runtime: must be a mapping of keys to values, not text",
        "Indent the keys below it.",
    ),
    "list for entries": (
        "providers:\n- groq",
        ":1: providers: must be a mapping of keys to values, not a list",
        "Indent the keys below it.",
    ),
    "empty name": (
        "providers: {'': {}}",
        ":1: providers.'': a name must be printable text",
        "Give the entry another name.",
    ),
    "text for a number": (
        "runtime: {max_llm_calls: few}",
        ":1: runtime.max_llm_calls: must be a whole number, 0 or more, not text",
        DEFAULT,
    ),
    "true for a number": (
        "runtime: {max_llm_calls: true}",
        ":1: runtime.max_llm_calls: must be a whole number, 0 or more, not true",
        DEFAULT,
    ),
    "fraction for a whole number": (
        "runtime: {max_llm_calls: 1.5}",
        ":1: runtime.max_llm_calls: must be a whole number, 0 or more, not 1.5",
        DEFAULT,
    ),
    "null for a number": (
        "runtime: {max_llm_calls: }",
        ":1: runtime.max_llm_calls: must be a whole number, 0 or more, not null",
        DEFAULT,
    ),
    "negative limit": (
        "runtime: {max_tokens: -1}",
        ":1: runtime.max_tokens: must be a whole number, 0 or more, not -1",
        DEFAULT,
    ),
    "negative money": (
        "runtime: {max_cost_usd: -0.01}",
        ":1: runtime.max_cost_usd: must be a number, 0 or more, not -0.01",
        DEFAULT,
    ),
    "infinity": (
        "runtime: {max_cost_usd: .inf}",
        ":1: runtime.max_cost_usd: must be a number, 0 or more, not inf",
        DEFAULT,
    ),
    "not a number": (
        "runtime: {max_cost_usd: .nan}",
        ":1: runtime.max_cost_usd: must be a number, 0 or more, not nan",
        DEFAULT,
    ),
    "huge": (
        f"runtime: {{max_cost_usd: {'9' * 400}}}",
        ":1: runtime.max_cost_usd: must be a number, 0 or more, not a huge number",
        DEFAULT,
    ),
    "too hot": (
        "llm: {profiles: {local: {temperature: 2.1}}}",
        ":1: llm.profiles.local.temperature: must be a number from 0 to 2, not 2.1",
        DEFAULT,
    ),
    "no time": (
        "verification: {timeout_s: 0}",
        ":1: verification.timeout_s: must be a number above 0, 86400 at most, not 0",
        DEFAULT,
    ),
    "no attempt": ("llm: {max_attempts: 0}", ":1: llm.max_attempts: must be a whole number, 1 or more, not 0", DEFAULT),
    "number for text": ("llm:\n  default_profile: 5", ":2: llm.default_profile: must be text, not 5", DEFAULT),
    "list for text or null": (
        "verification: {command: [a]}",
        ":1: verification.command: must be text or null, not a list",
        DEFAULT,
    ),
    "text for true or false": (
        "tools: {allow_run: maybe}",
        ":1: tools.allow_run: must be true or false, not text",
        DEFAULT,
    ),
    "1 for true": ("tools: {allow_run: 1}", ":1: tools.allow_run: must be true or false, not 1", DEFAULT),
    "no such choice": (
        "repair: {mode: always}",
        ":1: repair.mode: must be one of before_model, after_failure, off",
        DEFAULT,
    ),
    "list for a choice": (
        "repair: {mode: [a]}",
        ":1: repair.mode: must be one of before_model, after_failure, off",
        DEFAULT,
    ),
    "text for a list": (
        "llm: {fallback_profiles: local}",
        ":1: llm.fallback_profiles: must be a list, not text",
        "Write it as [one, two].",
    ),
    "number in a list": (
        "llm:\n  fallback_profiles:\n  - local\n  - 2",
        ":4: llm.fallback_profiles[1]: must be text, not 2",
        DEFAULT,
    ),
    "half a character": (
        'verification: {command: "\\ud800"}',
        ":1: verification.command: must be text that UTF-8 can hold",
        DEFAULT,
    ),
    "a key for a variable's name": (
        "providers: {groq: {api_key_env: gsk_0a1b2c3d4e5f}}",
        ":1: providers.groq.api_key_env: must be the name of an environment variable in capitals, never a key",
        DEFAULT,
    ),
    "a line break after a variable's name": (
        'providers: {groq: {api_key_env: "GROQ_API_KEY\\n"}}',
        ":1: providers.groq.api_key_env: must be the name of an environment variable in capitals, never a key",
        DEFAULT,
    ),
    "password in an address": (
        "providers: {groq: {base_url: 'https://me:secret@example.com/v1'}}",
        ":1: providers.groq.base_url: must be an http or https address without user name or query",
        DEFAULT,
    ),
    "no address": (
        "providers: {groq: {base_url: 'file:///etc'}}",
        ":1: providers.groq.base_url: must be an http or https address without user name or query",
        DEFAULT,
    ),
    "entry without its keys": (
        "llm:\n  profiles:\n    mine:\n      temperature: 0",
        ":3: llm.profiles.mine: a new entry needs provider and model",
        "Add provider and model, or correct the entry's name.",
    ),
    "empty entry": (
        "llm: {profiles: {mine: }}",
        ":1: llm.profiles.mine: a new entry needs provider and model",
        "Add provider and model, or correct the entry's name.",
    ),
}

DANGLING = {
    "provider": (
        "llm:\n  profiles:\n    local:\n      provider: olama",
        ":4: llm.profiles.local.provider: there is no provider olama",
        "Did you mean ollama?",
    ),
    "default profile": ("llm: {default_profile: big}", ":1: llm.default_profile: there is no profile big", PROFILES),
    "fast profile": (
        "llm: {fast_profile: gpt-oss-20}",
        ":1: llm.fast_profile: there is no profile gpt-oss-20",
        "Did you mean gpt-oss-20b?",
    ),
    "fall-back profile": (
        "llm:\n  fallback_profiles:\n    - local\n    - locl",
        ":4: llm.fallback_profiles[1]: there is no profile locl",
        "Did you mean local?",
    ),
    "profile of an answer": (
        "agents:\n  coding: {sample_profiles: [local, locl]}",
        ":2: agents.coding.sample_profiles[1]: there is no profile locl",
        "Did you mean local?",
    ),
    "profile of an agent": (
        "agents: {configs: {codur-coding: {profile: x}}}",
        ":1: agents.configs.codur-coding.profile: there is no profile x",
        PROFILES,
    ),
    "default agent": (
        "agents: {preferences: {default_agent: coder}}",
        ":1: agents.preferences.default_agent: there is no agent coder",
        "Did you mean codex?",
    ),
    "agent of a task type": (
        "agents: {preferences: {routing: {code_fix: 'agent:codur-codin'}}}",
        ":1: agents.preferences.routing.code_fix: there is no agent codur-codin",
        "Did you mean codur-coding?",
    ),
    "task type": (
        "agents: {preferences: {routing: {codefix: codur-coding}}}",
        ":1: agents.preferences.routing.codefix: there is no task type codefix",
        "Did you mean code_fix?",
    ),
    "profile as an agent": (
        "agents:\n  preferences:\n    fallback_order: ['agent:codur-coding',\n      'llm:codur-coding']",
        ":4: agents.preferences.fallback_order[1]: there is no profile codur-coding",
        PROFILES,
    ),
}

TABLE = NOT_YAML | WRONG | DANGLING


@pytest.mark.parametrize("case", TABLE)
def test_a_broken_file_of_the_user(case: str, tmp_path: Path) -> None:
    text, message, remedy = TABLE[case]

    assert refusal(tmp_path, user=text) == ("~/.config/codur/config.yaml" + message, remedy)


@pytest.mark.parametrize("case", NOT_YAML | WRONG)
def test_a_broken_file_of_the_project(case: str, tmp_path: Path) -> None:
    """Even where the setting would be ignored, a mistake is told."""
    text, message, remedy = TABLE[case]
    if "a new entry needs" in message:
        assert len(load(tmp_path, project=text).notes) == 1
    else:
        assert refusal(tmp_path, project=text) == ("codur.yaml" + message, remedy)


def _tower(first: str, level: str) -> str:
    """Twelve levels, each of nine aliases of the one below: 9 ** 12 values if they were written out."""
    levels = [level.replace("ALIASES", ", ".join([f"*a{number}"] * 9)) for number in range(11)]
    return "\n".join([f"a0: &a0 {first}", *(f"a{number}: &a{number} {text}" for number, text in enumerate(levels, 1))])


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: &a [*a]", "1: a" + "[0]" * 32 + ":"),
        (_tower("[x]", "[ALIASES]"), "1: a5[0]"),
        (_tower("{x: 1}", "{<<: [ALIASES]}"), "1: a5:"),
    ],
)
def test_aliases_cannot_explode(text: str, place: str, tmp_path: Path) -> None:
    message, remedy = refusal(tmp_path, project=text)

    assert message.startswith(f"codur.yaml:{place}")
    assert message.endswith(": aliases (*name) stand for too many values")
    assert remedy == "Write the values out."


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "codur.yaml"
    file.write_bytes(b"# one\n# caf\xe9\n")

    assert refusal(tmp_path, config_file=file) == (f"{file}:2: is not UTF-8 text", "Save the file as UTF-8.")


def test_a_byte_order_mark_is_not_part_of_the_first_key(tmp_path: Path) -> None:
    assert load(tmp_path, user="\ufeffruntime: {max_llm_calls: 7}").settings.runtime.max_llm_calls == 7


def test_no_more_is_read_than_a_settings_file_may_hold(tmp_path: Path) -> None:
    assert refusal(tmp_path, config_file=Path("/dev/zero")) == (
        "/dev/zero: is larger than 1 MiB, too large for a settings file",
        ONLY,
    )


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    assert refusal(tmp_path, config_file=tmp_path) == (
        f"{tmp_path}: cannot be read: Is a directory",
        "Check that the file exists and that you may read it.",
    )


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_project_file_that_is_not_a_file_is_not_opened(make: type, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    make(tmp_path / "work" / "codur.yaml")

    assert refusal(tmp_path) == (
        "codur.yaml: is not a regular file",
        "Remove it, or put a settings file there.",
    )


def test_a_project_file_that_links_to_itself(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "codur.yaml").symlink_to("codur.yaml")

    assert refusal(tmp_path) == (
        "codur.yaml: cannot be read: Too many levels of symbolic links",
        "Make it readable, or name a file with --config.",
    )


def test_secrets_in_the_wrong_place_are_not_repeated(tmp_path: Path) -> None:
    secret = "gsk_THISISSECRET"
    texts = [
        f"api_key: {secret}",
        f"providers: {{groq: {{api_key: {secret}}}}}",
        f"providers: {{groq: {{api_key_env: {secret}}}}}",
        f"providers: {secret}",
        f"runtime: {{max_llm_calls: {secret}}}",
        f"repair: {{mode: {secret}}}",
        f"tools: {{allow_run: {secret}}}",
    ]

    told = [refusal(tmp_path, user=text) for text in texts]

    assert not [line for lines in told for line in lines if secret in line]
