"""Agents from YAML: one file an agent, in Codur's own `agents` directory and in the user's.

The file's name without `.yaml` or `.yml` is the agent's name, its keys are those of `agents.configs.NAME`. The user's
file of the same name is laid over the shipped one, key by key. The files of the agents that every run knows
(`codur-coding`, `codur-explaining`) only show what is built in.

Imports PyYAML where there is a file to read.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from codur.config import reading
from codur.config.reading.origin import Place, Source
from codur.config.resources import resource_path
from codur.config.settings import AgentConfig, Settings
from codur.errors import ConfigError
from codur.lazy import regex
from codur.structs import convert

DIRECTORY = "agents"
SUFFIX, _SUFFIXES = ".yaml", frozenset({".yaml", ".yml"})
_MAX_FILES = 200
_WORD = regex(r"[\w.-]+")


def user_agents(config_home: Path) -> Path:
    """Where the user's agents are declared; `config_home` is Codur's directory of settings."""
    return config_home / DIRECTORY


def shipped_agents() -> Path:
    """Where Codur's own agents are declared."""
    return resource_path(DIRECTORY)


def shipped_names() -> tuple[str, ...]:
    """The names of the shipped agents, with the built-in ones."""
    return tuple(path.stem for path in agent_files(shipped_agents()))


def shipped_sources(named: Any) -> Iterator[Source]:
    """The shipped agents that something names, as settings; those that are built in need no reading.

    Args:
        named: mappings, lists and texts in which they may be named, as a key or a part of a text.

    Raises:
        ConfigError: a file cannot be read.
    """
    words = set(_words(named))
    if not words:
        return
    built_in = Settings().agents.configs
    for path in agent_files(shipped_agents()):
        if path.stem in words and path.stem not in built_in:
            yield read_agent(path, str(path))


def shipped_agent(name: str) -> AgentConfig | None:
    """A shipped agent as its file declares it, which nothing need name; None if there is none.

    Raises:
        ConfigError: the file cannot be read.
    """
    path = shipped_agents() / f"{name}{SUFFIX}"
    if name not in shipped_names():
        return None
    return convert(reading.values.check(read_agent(path, str(path)), Settings)["agents"]["configs"][name], AgentConfig)


def _words(value: Any) -> Iterator[str]:
    """What may be the name of an agent; parts of a variable's name count, as they are written there."""
    if isinstance(value, str):
        yield from _WORD.findall(value.lower())
        yield from value.lower().split("__")
    elif isinstance(value, Mapping):
        yield from (word for pair in value.items() for part in pair for word in _words(part))
    elif isinstance(value, list | tuple):
        yield from (word for item in value for word in _words(item))


def agent_files(directory: Path) -> tuple[Path, ...]:
    """The files of a directory that declare agents, by name; none if there is no such directory.

    Raises:
        ConfigError: the directory cannot be read, or has too many files.
    """
    try:
        found = sorted(
            path for path in directory.iterdir() if path.suffix in _SUFFIXES and not path.name.startswith(".")
        )
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise ConfigError(
            f"cannot be read: {error.strerror}", file=str(directory), remedy="Make it readable, or remove it."
        ) from error
    if len(found) > _MAX_FILES:
        raise ConfigError(
            f"has more than {_MAX_FILES} agents", file=str(directory), remedy="Keep the ones that are used."
        )
    twice = next((path for path in found if path.with_suffix(SUFFIX) in found and path.suffix != SUFFIX), None)
    if twice is not None:
        raise ConfigError(
            f"{twice.name} and {twice.stem}{SUFFIX} declare one agent", file=str(directory), remedy="Keep one of them."
        )
    return tuple(found)


def read_agent(path: Path, shown: str) -> Source:
    """One agent's file as settings, which errors call `shown`.

    Raises:
        ConfigError: it cannot be read, or does not hold a mapping.
    """
    if not path.is_file():  # a pipe, for example, which would be waited for without end
        raise ConfigError("is not a regular file", file=shown, remedy="Remove it, or declare an agent there.")
    source = reading.yaml_source.read_yaml(path, shown)
    if not source.values:
        raise ConfigError(
            "declares nothing", file=shown, remedy="Say what the agent is (`codur agents new` shows how)."
        )
    # Its keys as those of the whole tree, with their places.
    places = {(DIRECTORY, "configs", path.stem, *key): place for key, place in source.places.items()}
    values = {DIRECTORY: {"configs": {path.stem: source.values}}}
    return Source(name=source.name, values=values, places=places, default=Place(file=source.name, line=1))
