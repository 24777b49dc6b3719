"""All sources of settings, merged once.

Strongest first: the command line, `CODUR_*` variables, the project's file (`PROJECT_FILES` in the
workspace), the user's file (`$XDG_CONFIG_HOME/codur/config.yaml`, else `~/.config/codur/config.yaml`), the user's
agents (`agents/*.yaml` beside that file), the shipped agents, the defaults. The shipped agents beside the built-in ones
are read only where the caller or one of the user's sources names them: most runs use none of them.
`--config FILE` or `CODUR_CONFIG` names a file that is read in place of the user's and is trusted like it. The project's
file can only narrow what the user's file and the defaults allow, accepted by the user or not (see `trust`). Named
entries (profiles, services, agents) and sections merge by key; lists are replaced. `.env` files are not read.

What a source needs to be read (`reading.NAME`) is loaded where there is one: most runs have no settings file.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field, to_builtins

from codur.config import reading
from codur.config.project_rules import TrustOf, narrow, nobody
from codur.config.reading import setting_types
from codur.config.reading.environment_variables import environment_source, setting_variables
from codur.config.reading.origin import Problem, Source, error_of, leaf_paths
from codur.config.settings import Settings
from codur.errors import ConfigError
from codur.structs import convert

PROJECT_FILES = ("codur.yaml", "codur.yml", ".codur/config.yaml")


class LoadedSettings(Struct, frozen=True, kw_only=True):
    """The settings of a run and where they come from."""

    settings: Settings
    # what was read, strongest first: `command line`, `environment`, files as shown, `defaults`
    sources: tuple[str, ...] = ("defaults",)
    notes: tuple[str, ...] = ()  # one line for each setting of the project's file that was ignored
    # the settings of the project's file that count, nested as in the file
    project: Mapping[str, Any] = field(default_factory=dict)
    # the source that each setting was last taken from; what is missing is a default
    origins: Mapping[tuple[str, ...], Source] = field(default_factory=dict)


class UserSources(Struct, frozen=True, kw_only=True):
    """Where the user's own settings are found."""

    environ: Mapping[str, str]
    home: Path
    config_file: Path | None = None  # the file given with `--config`; it is read in place of any other

    def file(self) -> Path | None:
        """The file that is named, which must exist, or the usual one if it exists."""
        if self.config_file is not None:
            return _must_exist(self.config_file, "--config")
        named = self.environ.get("CODUR_CONFIG", "")
        if named:
            return _must_exist(self.home / named[2:] if named.startswith("~/") else Path(named), "CODUR_CONFIG")
        path = self.usual_file()
        return path if _exists(path, self.shown(path)) else None

    def usual_file(self) -> Path:
        """Where it is looked for without a name."""
        return user_directory(self.environ, self.home) / "config.yaml"

    def agents(self) -> tuple[Path, ...]:
        """The files of the user's agents."""
        directory = user_directory(self.environ, self.home) / "agents"
        return reading.agent_files.agent_files(directory) if directory.exists() else ()

    def shown(self, path: Path) -> str:
        """The path with `~` for the home directory."""
        return f"~/{path.relative_to(self.home).as_posix()}" if path.is_relative_to(self.home) else str(path)


def load_settings(
    workspace: Path | None,
    user: UserSources,
    overrides: Mapping[str, Any],
    *,
    trust_of: TrustOf | None = None,
    agents: Collection[str] = (),
) -> LoadedSettings:
    """Read, check and merge all sources.

    Args:
        workspace: the folder whose project file is read; None reads none.
        overrides: settings of the command line, nested as in a settings file.
        trust_of: whether the user has accepted the project's file; None accepts nothing.
        agents: names of shipped agents that are wanted in any case; names of others do no harm.

    Raises:
        ConfigError: a source cannot be read, or says something that is unknown or not allowed.
    """
    user_file = user.file()
    project_file = None if workspace is None else _project_file(workspace)
    variables = setting_variables(user.environ)
    declared = user.agents()
    if not (user_file or project_file or variables or overrides or agents or declared):
        return LoadedSettings(settings=Settings())

    layers = _Layers()
    source = None if user_file is None else reading.yaml_source.read_yaml(user_file, user.shown(user_file))
    of_agents = {name: text for name, text in variables.items() if name.upper().startswith("CODUR_AGENTS")}
    named = (*agents, source and source.values.get("agents"), overrides.get("agents"), of_agents)
    layers.add_agents({user.shown(path): path for path in declared}, named)
    if source is not None:
        layers.add(source)
    if project_file is not None and workspace is not None:
        layers.add_project(workspace, project_file, trust_of)
    if variables:
        layers.add(environment_source(variables, layers.values))
    if overrides:
        layers.add(Source(name="command line", values=overrides))
    return layers.finish()


def candidate_files(workspace: Path, user: UserSources) -> tuple[Path, ...]:
    """Files that settings are read from without `--config`, weakest first, whether they are there or not."""
    named = user.environ.get("CODUR_CONFIG", "")
    file = Path(named) if named else user.usual_file()
    return (*user.agents(), file, *(workspace.absolute() / name for name in PROJECT_FILES))


class _Layers:
    """The settings so far, from the weakest source up."""

    def __init__(self) -> None:
        self.values: Mapping[str, Any] = to_builtins(Settings())  # all of them, as nested mappings
        self._sources = ["defaults"]
        self._notes: tuple[str, ...] = ()
        self._project: Mapping[str, Any] = {}
        self._origins: dict[tuple[str, ...], Source] = {}

    def add(self, source: Source) -> None:
        """Check `source` and lay it over the settings."""
        self._lay(source, reading.values.check(source, Settings))

    def add_agents(self, declared: Mapping[str, Path], named: Any) -> None:
        """Lay the shipped agents that are named over the settings, and those that the user declared over them.

        Args:
            declared: their files, by what these are called in messages.
            named: what speaks of agents: names, parts of sources, variables.
        """
        for source in reading.agent_files.shipped_sources((named, [path.stem for path in declared.values()])):
            self.add(source)
            self._sources.remove(source.name)  # part of the defaults
        for shown, path in declared.items():
            self.add(reading.agent_files.read_agent(path, shown))

    def add_project(self, workspace: Path, file: Path, trust_of: TrustOf | None) -> None:
        """Check the project's file, and lay what narrows the settings over them."""
        name = file.relative_to(workspace).as_posix()
        content = reading.yaml_source.read_bytes(file, name)  # read once: what is judged is what is used
        source = reading.yaml_source.parse_yaml(content, name)
        trust = (trust_of or nobody)(workspace, name, content)
        self._project, self._notes = narrow(reading.values.check(source, Settings), self.values, source, trust)
        self._lay(source, self._project)

    def _lay(self, source: Source, values: Mapping[str, Any]) -> None:
        self.values = _merged(self.values, values)
        self._origins.update((path, source) for path, _ in leaf_paths(values))
        self._sources.insert(0, source.name)

    def finish(self) -> LoadedSettings:
        self._refuse(reading.setting_rules.incomplete_profiles(self.values["llm"]["profiles"]))
        self.values = _merged(self.values, {"llm": {"profiles": _prices(self.values["llm"]["profiles"])}})
        settings = convert(self.values, Settings)
        self._refuse(reading.setting_rules.broken_rules(settings))
        return LoadedSettings(
            settings=settings,
            sources=tuple(self._sources),
            notes=self._notes,
            project=self._project,
            origins=self._origins,
        )

    def _refuse(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            raise error_of(problem, self._origins)


def _merged(old: Any, new: Any, kind: Any = Settings) -> Any:
    """`new` laid over `old`: sections and named entries merge by key, everything else is replaced."""
    entry = setting_types.entry_kind(kind)
    kinds = setting_types.fields_of(kind) if setting_types.is_section(kind) else {}
    if not isinstance(old, Mapping) or not isinstance(new, Mapping) or not (kinds or entry):
        return new
    return {**old, **{name: _merged(old.get(name), value, kinds.get(name, entry)) for name, value in new.items()}}


def user_directory(environ: Mapping[str, str], home: Path) -> Path:
    """The directory of the user's own settings."""
    base = Path(environ.get("XDG_CONFIG_HOME", ""))
    if not base.is_absolute():  # the XDG specification: a relative path is to be ignored
        base = home / ".config"
    return base / "codur"


def _must_exist(path: Path, named_by: str) -> Path:
    if not _exists(path, str(path)):
        raise ConfigError(f"there is no file {path}", file=named_by, remedy="Correct the path, or leave it out.")
    return path


def _project_file(workspace: Path) -> Path | None:
    found = [name for name in PROJECT_FILES if _exists(workspace / name, name)]
    if len(found) > 1:
        raise ConfigError(f"{' and '.join(found)} both hold settings", remedy="Keep one of the two files.")
    if not found:
        return None
    path = workspace / found[0]
    if not path.is_file():  # a pipe, for example, which would be waited for without end
        raise ConfigError("is not a regular file", file=found[0], remedy="Remove it, or put a settings file there.")
    return path


def _exists(path: Path, name: str) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise ConfigError(
            f"cannot be read: {error.strerror}", file=name, remedy="Make it readable, or name a file with --config."
        ) from error
    return True


def _prices(profiles: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The prices, by profile, of those that tell none and have the provider and the model of one that is shipped."""
    known = {(each.provider, each.model): each for each in Settings().llm.profiles.values()}
    found = {
        name: known[place]
        for name, profile in profiles.items()
        if (place := (profile.get("provider"), profile.get("model"))) in known
        and not any(key.startswith("price_") for key in profile)
    }
    return {
        name: {key: getattr(profile, key) for key in profile.__struct_fields__ if key.startswith("price_")}
        for name, profile in found.items()
    }
