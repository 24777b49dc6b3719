"""Settings in environment variables: `CODUR_RUNTIME__MAX_LLM_CALLS=5` is `runtime.max_llm_calls: 5`.

`__` goes one level down and case does not matter. Where the setting is text, the variable's text is taken as it is;
otherwise it is read as YAML (`true`, `0.5`, `[a, b]`). In the name of an entry every character but letters and digits
may be written `_`: `CODUR_LLM__PROFILES__GPT_OSS_20B__TEMPERATURE`. An empty variable counts as not set.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal, get_origin

from codur.config import reading
from codur.config.reading import setting_types
from codur.config.reading.origin import KeyPath, Place, Source, did_you_mean, leaf_paths, nearest, shown
from codur.config.settings import Settings
from codur.errors import ConfigError

PREFIX = "CODUR_"
_SLIP = 0.85  # how like a name is to one that is known, where no more than a slip differs
INSIDE_AGENT = "CODUR_INSIDE_AGENT"
RESERVED: Mapping[str, str] = {
    "CODUR_CONFIG": "settings file to read in place of the user's own, as `--config`",
    "CODUR_DEBUG": "show tracebacks of unexpected errors",
    "CODUR_MCP_TOKEN": "what a client of `codur mcp serve --http` has to send",
    INSIDE_AGENT: "set for the agents that Codur starts, so that they start none in turn",
}
"""Variables that are not settings, with their meaning."""


def setting_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of `environ` that state a setting, or look as if they were to."""
    return {
        name: value
        for name, value in environ.items()
        if name[: len(PREFIX)].upper() == PREFIX and value and name.upper() not in RESERVED and _is_meant(name)
    }


def _is_meant(variable: str) -> bool:
    """Whether a setting is meant, if with a slip: a script may have a `CODUR_VERSION` of its own."""
    rest = variable[len(PREFIX) :].lower()
    sections = (field for field in Settings.__struct_fields__ if f"{rest}_".startswith(f"{field}_"))
    return "__" in rest or any(sections) or bool(nearest(variable.upper(), RESERVED, cutoff=_SLIP))


def environment_source(variables: Mapping[str, str], settings: Mapping[str, Any]) -> Source:
    """The settings that `variables` (of `setting_variables`) state.

    Args:
        settings: what is known so far, as nested mappings, for the names of entries.

    Raises:
        ConfigError: a variable names no setting or one that another variable names too, or cannot be read as YAML.
    """
    values: dict[str, Any] = {}
    places: dict[KeyPath, Place] = {}
    paths = {name: _path(name, settings) for name in sorted(variables)}
    # A variable for a whole section comes before those for single keys in it, which then win.
    for name, path in sorted(paths.items(), key=lambda pair: len(pair[1])):
        if path in places:
            raise ConfigError(
                f"is the same setting as {places[path].file}", file=name, remedy="Unset one of the two variables."
            )
        _put(values, path, value_of_text(name, variables[name], path))
        places[path] = Place(file=name)
    return Source(name="environment", values=values, places=places)


def _path(variable: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    parts = variable[len(PREFIX) :].lower().split("__")
    path: list[str] = []
    value: Any = settings
    for part in parts:
        name = _known_name(part, value)
        path.append(name)
        value = value.get(name) if isinstance(value, Mapping) else None
    if not all(parts) or setting_types.kind_at(Settings, tuple(path)) is None:
        raise _unknown(variable, settings)
    return tuple(path)


def _known_name(part: str, value: Any) -> str:
    """The entry of `value` that `part` means; `part` itself if it names none, so that new entries can be made."""
    if not isinstance(value, Mapping) or part in value:
        return part
    return next((name for name in value if _plain(name) == part), part)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "_", name.lower())


def value_of_text(variable: str, text: str, path: tuple[str, ...]) -> Any:
    """The value of the setting at a path that a text stands for: itself where the setting is text, else as YAML.

    Args:
        variable: what errors call the text.

    Raises:
        ConfigError: it is no YAML.
    """
    kinds = set(setting_types.types_of(setting_types.kind_at(Settings, path)))
    if type(None) in kinds and text.strip().lower() in ("null", "~"):
        return None
    if all(kind in (str, type(None)) or get_origin(kind) is Literal for kind in kinds):
        return text
    return reading.yaml_source.parse_value(text, variable)


def _put(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        inner = values.get(name)
        values[name] = dict(inner) if isinstance(inner, dict) else {}
        values = values[name]
    values[path[-1]] = value


def _unknown(variable: str, settings: Mapping[str, Any]) -> ConfigError:
    known = [PREFIX + "__".join(map(_plain, path)).upper() for path, _ in leaf_paths(settings)] + list(RESERVED)
    remedy = did_you_mean(variable.upper(), known, "Unset it; `codur config` lists the settings.", cutoff=0.5)
    return ConfigError("there is no such setting", file=shown(variable), remedy=remedy)
