"""The reference file, the schema and the effective settings agree with the settings tree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from msgspec import convert

from codur.checks.challenge_file import Keys
from codur.config.document import effective_yaml, meanings, schema
from codur.config.reading import setting_types
from codur.config.reading.origin import Source
from codur.config.reading.values import check
from codur.config.resources import resource_path
from codur.config.settings import Settings
from codur.errors import ConfigError
from codur.planning.plans.plan_file import PlanDocument, StepEntry
from tests.config.helpers import load
from tests.config.reference_files import reference_yaml, schema_text, write_reference

REGENERATE = "config/ is out of date; write it anew with: .venv/bin/python -m tests.config.reference_files"


def _validate(value: Any) -> None:
    jsonschema.Draft202012Validator(schema()).validate(value)


def test_the_files_in_config_are_up_to_date(tmp_path: Path) -> None:
    assert resource_path("codur.yaml").read_text(encoding="utf-8") == reference_yaml(), REGENERATE
    assert resource_path("codur.schema.json").read_text(encoding="utf-8") == schema_text(), REGENERATE

    write_reference(tmp_path)
    assert (tmp_path / "codur.yaml").read_text(encoding="utf-8") == reference_yaml()
    assert json.loads((tmp_path / "codur.schema.json").read_text(encoding="utf-8")) == schema()


def test_the_reference_file_holds_exactly_the_defaults() -> None:
    """Built from the file alone, without the defaults of any mapping below it."""
    source = Source(name="reference", values=yaml.safe_load(resource_path("codur.yaml").read_text(encoding="utf-8")))
    values = {"mcp_servers": {}, **check(source, Settings)}

    assert convert(values, Settings) == Settings()


def _keys(value: Any, kind: Any, path: str = "") -> Iterator[str]:
    """Every key that the reference must hold: all of a section's, and all of a mapping's first entry."""
    if setting_types.is_section(kind):
        for name, inner in setting_types.fields_of(kind).items():
            yield f"{path}{name}"
            yield from _keys(value[name], inner, f"{path}{name}.")
    elif (
        setting_types.entry_kind(kind) is not None
        and setting_types.is_section(setting_types.entry_kind(kind))
        and value
    ):
        first, entry = next(iter(value.items()))
        yield from _keys(entry, setting_types.entry_kind(kind), f"{path}{first}.")


def test_the_reference_file_holds_every_key() -> None:
    keys = list(_keys(yaml.safe_load(resource_path("codur.yaml").read_text(encoding="utf-8")), Settings))

    assert len(keys) == len(set(keys)) > 60


def test_every_key_has_one_comment_line_above_it() -> None:
    lines = resource_path("codur.yaml").read_text(encoding="utf-8").splitlines()
    keys = [number for number, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]

    bare = [lines[number] for number in keys if not lines[number - 1].lstrip().startswith("# ")]

    assert len(keys) > 80
    assert bare == []


def test_every_setting_has_a_meaning_of_one_sentence() -> None:
    def sections(kind: Any) -> Iterator[Any]:
        inner = setting_types.entry_kind(kind)
        if inner is not None:
            yield from sections(inner)
        if setting_types.is_section(kind):
            yield kind
            for child in setting_types.fields_of(kind).values():
                yield from sections(child)

    wanted = {f"{kind.__name__}.{name}" for kind in sections(Settings) for name in setting_types.fields_of(kind)}

    assert {name for name in wanted if not meanings().get(name, "").endswith(".")} == set()


@pytest.mark.parametrize("root", [Settings, PlanDocument, StepEntry, Keys])
def test_a_pattern_stands_alone_or_beside_null(root: Any) -> None:
    """In a union with a list, msgspec 0.22 looks for it in the wrong place, and the process may crash."""
    for path in setting_types.leaves(root):
        limits = setting_types.types_of(setting_types.kind_at(root, path))
        assert not any(limit.pattern for limit in limits.values()) or set(limits) <= {str, type(None)}


def test_the_schema_is_one_and_accepts_the_reference_file() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())

    _validate(yaml.safe_load(resource_path("codur.yaml").read_text(encoding="utf-8")))
    assert json.loads(resource_path("codur.schema.json").read_text(encoding="utf-8")) == schema()


def test_a_part_of_the_schema() -> None:
    assert schema()["$defs"]["VerificationSettings"]["properties"]["timeout_s"] == {
        "description": "Time limit of a program under check, in seconds.",
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 86400,
        "default": 10.0,
    }
    assert schema()["$defs"]["Profile"]["properties"]["seed"] == {
        "description": "Passed on for repeatable sampling; null sends nothing.",
        "anyOf": [{"type": "integer"}, {"type": "null"}],
        "default": None,
    }
    assert schema()["additionalProperties"] is False


VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3, 0.5, 5.0, 1e9, "", "off", "x", "GROQ_API_KEY", "gsk_x", "json", "strict", "groq",
    "http://h/v1", "http://u:p@h/", "ftp://h", [], ["a"], [1], {}, {"a": "b"}, {"a": 1}, {"a": {}},
)  # fmt: skip


@pytest.mark.parametrize("path", list(setting_types.leaves(Settings)))
def test_schema_and_loader_accept_the_same_values(path: tuple[str, ...]) -> None:
    for value in VALUES:
        tree: Any = value
        for name in reversed(path):
            tree = {name: tree}
        if path == ("repair", "mode") and value is False:
            continue  # only the loader knows that YAML 1.1 reads a bare `off` as false
        assert _loads(tree) == jsonschema.Draft202012Validator(schema()).is_valid(tree), (path, value)


def _loads(tree: Any) -> bool:
    try:
        check(Source(name="test", values=tree), Settings)
    except ConfigError:
        return False
    return True


@pytest.mark.parametrize("tree", [{"x": 1}, {"runtime": {"x": 1}}, {"llm": {"profiles": {"a": {"x": 1}}}}])
def test_the_schema_refuses_unknown_keys(tree: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        _validate(tree)


def test_the_effective_settings_can_be_loaded_again(tmp_path: Path) -> None:
    text = effective_yaml(Settings())
    found = load(tmp_path, user=text)

    assert found.settings == Settings()
    assert "api_key_env: GROQ_API_KEY\n" in text
    _validate(yaml.safe_load(text))


def test_the_effective_settings_hide_what_servers_are_given(tmp_path: Path) -> None:
    servers = "mcp_servers: {git: {command: [uvx, --token, SECRET]}, web: {url: 'https://mcp.example/SECRET/mcp'}}"

    text = effective_yaml(load(tmp_path, user=servers).settings)
    again = load(tmp_path, user=text).settings.mcp_servers

    assert (again["git"].command, again["web"].url) == (("uvx", "***", "***"), "https://mcp.example/***")
    assert "SECRET" not in text
