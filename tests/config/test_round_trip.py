"""The same settings, however they are stated: on the command line, in a file, in variables."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Literal, get_origin

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from codur.config.document import effective_yaml
from codur.config.loader import UserSources, load_settings
from codur.config.reading import setting_types
from codur.config.reading.agent_files import shipped_names
from codur.config.reading.yaml_source import yaml_text
from codur.config.settings import Settings
from codur.config.tool_names import TOOL_NAMES

# References are left out, because most names name nothing, and what must go together; text is what YAML can hold.
_REFERENCES = {
    "LlmSettings.default_profile",
    "LlmSettings.fast_profile",
    "LlmSettings.fallback_profiles",
    "Profile.provider",
    "Provider.headers",
    "Provider.headers_env",
    "AgentConfig.profile",
    "AgentConfig.type",
    "AgentConfig.command",
    "AgentConfig.key_env",
    "AgentConfig.environment",
    "AgentConfig.answer",
    "AgentConfig.variables",
    "AgentConfig.arguments",
    "AgentPreferences.default_agent",
    "AgentPreferences.routing",
    "AgentPreferences.fallback_order",
    "AgentPreferences.escalation",
    "CodingSettings.sample_profiles",
    "Settings.mcp_servers",
}
_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Co", "Cn")), max_size=20)
_ENTRIES = {"Profile": "local", "Provider": "ollama", "AgentConfig": "codur-coding"}


def _one(kind: Any, limits: Meta) -> st.SearchStrategy[Any]:
    """Values of one of a leaf's types."""
    if kind is type(None):
        return st.none()
    if get_origin(kind) is Literal:
        return st.sampled_from(setting_types.words_of(kind))
    if limits.pattern is not None:
        regex = limits.pattern.replace(r"\s", " \\t-\\x20").removesuffix(r"$(?!\n)") + r"\Z"
        return st.from_regex(regex, alphabet="aZ_9:/.htps >")
    if kind is bool:
        return st.booleans()
    if kind is int:
        low = None if limits.ge is None else int(limits.ge)
        return st.integers(low, 10**6 if limits.le is None else int(limits.le))
    if kind is float:
        return st.floats(
            limits.gt if limits.ge is None else limits.ge, limits.le or 1e6, exclude_min=limits.gt is not None
        )
    return _TEXT


def _value(kind: Any, owner: str) -> st.SearchStrategy[Any]:
    if setting_types.is_section(kind):
        return _section(kind)
    entry, item = setting_types.entry_kind(kind), setting_types.item_kind(kind)
    if entry is not None:
        return st.fixed_dictionaries({}, optional={_ENTRIES[entry.__name__]: _section(entry)})
    if owner == "AgentConfig.tools":
        return st.lists(st.sampled_from(sorted(TOOL_NAMES)), max_size=3)
    if item is not None:
        return st.lists(_value(item, owner), max_size=3)
    return st.one_of([_one(part, limits) for part, limits in setting_types.types_of(kind).items()])


def _section(section: Any) -> st.SearchStrategy[dict[str, Any]]:
    fields = {name: (kind, f"{section.__name__}.{name}") for name, kind in setting_types.fields_of(section).items()}
    return st.fixed_dictionaries(
        {}, optional={name: _value(*field) for name, field in fields.items() if field[1] not in _REFERENCES}
    )


def _load(
    *, user: str = "", environ: dict[str, str] | None = None, overrides: dict[str, Any] | None = None
) -> Settings:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.yaml"
        file.write_text(user, encoding="utf-8")
        return load_settings(
            None,
            UserSources(environ=environ or {}, home=Path(folder), config_file=file),
            overrides or {},
            agents=shipped_names(),  # else those alone are read that some source names
        ).settings


def _variables(tree: dict[str, Any], name: str = "CODUR") -> dict[str, str]:
    found = {}
    for key, value in tree.items():
        here = f"{name}_{key}" if name == "CODUR" else f"{name}__{key}"
        if isinstance(value, dict):
            found.update(_variables(value, here))
        else:
            found[here.upper()] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return found


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(_section(Settings))
def test_every_source_can_state_the_same(tree: dict[str, Any]) -> None:
    expected = _load(overrides=tree)

    assert _load(user=yaml_text(tree)) == expected
    assert _load(user=effective_yaml(expected)) == expected
    variables = _variables(tree)
    if "" not in variables.values():  # an empty variable is not set
        assert _load(environ=variables) == expected


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(_section(Settings), _section(Settings))
def test_what_is_stated_wins_and_the_rest_stays(weaker: dict[str, Any], stronger: dict[str, Any]) -> None:
    def merged(old: Any, new: Any) -> Any:
        if isinstance(old, dict) and isinstance(new, dict):
            return {**old, **{name: merged(old.get(name), value) for name, value in new.items()}}
        return new

    assert _load(user=yaml_text(weaker), overrides=stronger) == _load(overrides=merged(weaker, stronger))
