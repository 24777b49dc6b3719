"""Writes what `config/` holds of the settings: the annotated reference, the schema and the built-in agents.

Usage: python -m tests.config.reference_files
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import structs

from codur.config.document import default, meanings, plain, schema
from codur.config.reading import setting_types
from codur.config.reading.yaml_source import yaml_text
from codur.config.settings import Settings

REFERENCE = "codur.yaml"
SCHEMA = "codur.schema.json"
_HEADER = f"""\
# yaml-language-server: $schema=./{SCHEMA}
#
# Codur's settings: every key with its default. Put what you change into ~/.config/codur/config.yaml
# (or $XDG_CONFIG_HOME/codur/config.yaml), or into a file given with --config or CODUR_CONFIG.
#
# Strongest first: command line, CODUR_* variables (CODUR_RUNTIME__MAX_LLM_CALLS=5), the project's file (codur.yaml,
# codur.yml or .codur/config.yaml in the workspace), the user's file, these defaults. A project's file can only narrow:
# lower limits, turn permissions off and, once accepted with `codur trust`, name the check command. Sections and named
# entries merge by key; lists are replaced.
"""


def reference_yaml() -> str:
    """The text of `config/codur.yaml`: every key with its default, below one comment line that says what it means.

    The first entry of a mapping (profiles, services, agents) shows all keys of its kind, the others those that differ
    from the kind's defaults. A mapping without entries is empty; the schema has its keys.
    """
    return _HEADER + "\n".join(["", *_section_lines(Settings(), "", everything=True)]) + "\n"


def agent_yaml(name: str) -> str:
    """The text of `config/agents/NAME.yaml` for an agent that is built in: the keys that differ from their defaults."""
    config = Settings().agents.configs[name]
    lines = _section_lines(config, "", everything=False)
    return f"# Built in: this file shows it. Change it in your own agents/{name}.yaml.\n" + "\n".join(lines) + "\n"


def write_reference(directory: Path) -> None:
    """Write `codur.yaml`, `codur.schema.json` and the files of the built-in agents into `directory`. Raises OSError."""
    (directory / "agents").mkdir(exist_ok=True)
    for name in Settings().agents.configs:
        (directory / "agents" / f"{name}.yaml").write_text(agent_yaml(name), encoding="utf-8")
    (directory / REFERENCE).write_text(reference_yaml(), encoding="utf-8")
    (directory / SCHEMA).write_text(schema_text(), encoding="utf-8")


def schema_text() -> str:
    """The text of `config/codur.schema.json`."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _dump(value: Any, *, flow: bool) -> str:
    return yaml_text(value, flow=flow, width=10_000)


def _section_lines(section: Any, indent: str, *, everything: bool) -> Iterator[str]:
    kind: Any = type(section)
    top = kind is Settings
    for position, item in enumerate(structs.fields(section)):
        value = getattr(section, item.name)
        if not everything and value == default(item):
            continue
        if top and position:
            yield ""
        yield f"{indent}# {meanings()[f'{kind.__name__}.{item.name}']}"
        yield from _key_lines(item.name, value, item.type, indent)


def _key_lines(name: str, value: Any, kind: Any, indent: str) -> Iterator[str]:
    inner = indent + "  "
    entry = setting_types.entry_kind(kind)
    if setting_types.is_section(kind):
        yield f"{indent}{name}:"
        yield from _section_lines(value, inner, everything=True)
    elif entry is not None and setting_types.is_section(entry) and value:
        yield f"{indent}{name}:"
        for position, (entry_name, section) in enumerate(value.items()):
            yield f"{inner}# {meanings()[entry.__name__]}"
            yield f"{inner}{entry_name}:"
            yield from _section_lines(section, inner + "  ", everything=position == 0)
    else:
        yield indent + _flow(name, value)


def _flow(name: str, value: Any) -> str:
    """`name: value` on one line."""
    return _dump({name: plain(value)}, flow=True).strip()[1:-1]


if __name__ == "__main__":
    write_reference(Path("config"))
