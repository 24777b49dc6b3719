"""What `doctor` finds out about the machine, and how it tells it."""

import json as json_module
import os
import platform
import sys
from pathlib import Path

from msgspec import structs, to_builtins

from codur import __version__
from codur.cli import machine
from codur.cli.printing import say
from codur.config.settings import AUTO, Provider, SandboxSettings, Settings
from codur.errors import CodurError, ConfigError
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.llm.profiles.endpoint import key_of
from codur.llm.profiles.extras import installed, missing
from codur.llm.remembered_sizes import Remembered
from codur.sandbox.backend import Chosen
from codur.sandbox.backends import probe
from codur.sandbox.backends.landlock import landlock_abi
from codur.sandbox.launcher import Launcher
from codur.store.directory import StateDirectory
from codur.structs import Struct
from codur.tools.code.syntax_trees import not_installed
from codur.types import Limits
from codur.workspace.workspace import Workspace

_GIT_TIMEOUT_S = 10.0
_ROOT_WARNING = "Codur runs as root: run it as an ordinary user, so that the system protects itself too"


class BackendHealth(Struct):
    """A back end for this system, tried just now.

    Attributes:
        loopback: programs under it can talk to themselves through 127.0.0.1 and ::1.
    """

    name: str
    works: bool
    loopback: bool
    problem: str
    remedy: str


class ModelHealth(Struct):
    """A model profile, and whether its model could be asked; a local server that is in use tells its size.

    Attributes:
        note: why it cannot be asked, or how large requests to it are made.
    """

    profile: str
    ready: bool
    note: str


class ProviderHealth(Struct):
    """A service of models, as far as this machine tells.

    Attributes:
        key: `set`, `not set`, or `not needed`.
        sdk: the package that it is asked through; empty if that is not installed.
        remedy: what to do where something is missing; may be empty.
    """

    provider: str
    api: str
    key: str
    key_env: str
    sdk: str
    remedy: str


class AutoHealth(Struct):
    """What `auto` stands for; `profile` and `model` are empty if no model is at hand."""

    profile: str
    model: str
    reason: str


class Health(Struct):
    """What `doctor` tells.

    Attributes:
        contained: whether programs that Codur starts are contained.
        backend: the one in use; `none` if nothing contains programs.
        note: why it is not a better one, and how to get that; empty if it is the best.
        gaps: what it does not hold here of what is promised.
        landlock_abi: version of the kernel's interface; 0 if there is none.
        state: where runs are kept; empty if no place is known.
        state_problem: why runs cannot be kept; empty if they can.
        git: its version; empty if it is not installed or does not run.
        languages: what to install for the sources in the directory, in a sentence; empty if nothing is missing.
        auto: what `auto` stands for in the settings; None if they do not use it.
    """

    version: str
    contained: bool
    backend: str
    note: str
    gaps: tuple[str, ...]
    backends: tuple[BackendHealth, ...]
    system: str
    kernel: str
    landlock_abi: int
    root: bool
    state: str
    state_problem: str
    python: str
    interpreter: str
    git: str
    providers: tuple[ProviderHealth, ...]
    models: tuple[ModelHealth, ...]
    languages: str
    auto: AutoHealth | None


def show_health(directory: Path, config: Path | None, *, json: bool, strict: bool) -> int:
    """Print what was found out.

    Returns:
        The exit code: 0 if programs are contained (if it is to be strict: in all ways) and runs can be kept, else 1.

    Raises:
        ConfigError: the settings are wrong.
        UsageError: there is no such directory.
    """
    health = _examine(machine.settings_for(machine.existing(directory), config, {}).settings, directory)
    say(json_module.dumps(to_builtins(health)) if json else "\n".join(_lines(health)))
    return 0 if health.contained and not health.state_problem and not (strict and health.gaps) else 1


def _examine(settings: Settings, directory: Path) -> Health:
    root = machine.state_directory()
    state_problem = _state_problem(root)
    cache = StateDirectory(root).cache if root is not None and not state_problem and root.is_dir() else None
    remembered = Remembered(StateDirectory(root).limits_file) if root is not None else None
    pool = ModelPool(settings, os.environ, Limits(), PoolOptions(remembered=remembered))
    chosen = _chosen(settings, cache)
    return Health(
        version=__version__,
        contained=chosen is not None and chosen.backend.name != "none",
        backend=chosen.backend.name if chosen is not None else "none",
        note=chosen.note if chosen is not None else _refusal(settings),
        gaps=chosen.backend.gaps if chosen is not None else (),
        backends=tuple(
            BackendHealth(
                name=one.name, works=not one.problem, loopback=one.loopback, problem=one.problem, remedy=one.remedy
            )
            for name in probe.candidates()
            for one in probe.tried(os.environ, cache=None, names=(name,))
        ),
        system=f"{platform.system()} {platform.machine()}",
        kernel=platform.release(),
        landlock_abi=landlock_abi(),
        root=os.geteuid() == 0,
        state=str(root or ""),
        state_problem=state_problem,
        python=platform.python_version(),
        interpreter=sys.executable,
        git=_git_version(structs.replace(settings.sandbox, require="any")) if chosen is not None else "",
        providers=tuple(_provider(name, provider) for name, provider in settings.providers.items()),
        models=_models(settings, pool),
        languages=_languages(directory),
        auto=_auto(settings, pool),
    )


def _chosen(settings: Settings, cache: Path | None) -> Chosen | None:
    """The back end in use; None if the one that the settings name does not work."""
    try:
        return probe.choose_backend(settings.sandbox.backend, os.environ, cache=cache, fresh=True)
    except ConfigError:
        return None


def _refusal(settings: Settings) -> str:
    return f"no program is started: sandbox.backend is {settings.sandbox.backend}, which does not work here"


def _state_problem(root: Path | None) -> str:
    if root is None:
        return f"no home directory is known. {machine.STATE_REMEDY}"
    if root.is_dir():
        try:
            StateDirectory(root).prepare()
        except CodurError as error:
            return f"{error.message}. {error.remedy}"
        return ""
    above = next(parent for parent in root.parents if os.path.lexists(parent))
    if above.is_dir() and not os.path.lexists(root) and os.access(above, os.W_OK | os.X_OK):
        return ""
    return f"it cannot be made in {above}. {machine.STATE_REMEDY}"


def _git_version(sandbox: SandboxSettings) -> str:
    with Launcher(os.environ, sandbox=sandbox) as launcher:
        done = launcher.run(["git", "--version"], cwd=Path("/"), timeout_s=_GIT_TIMEOUT_S)
    return done.stdout.removeprefix("git version").strip() if done.exit_status == 0 else ""


def _models(settings: Settings, pool: ModelPool) -> tuple[ModelHealth, ...]:
    named = (*settings.llm.fallback_profiles, *(config.profile for config in settings.agents.configs.values()))
    used = {pool.profiles.default, pool.profiles.fast, *named}
    problems = {name: pool.problem(name) for name in settings.llm.profiles}
    return tuple(
        ModelHealth(profile=name, ready=not problem, note=problem or pool.sizes.told(name, look=name in used))
        for name, problem in problems.items()
    )


def _languages(directory: Path) -> str:
    try:
        files = Workspace.open(directory, home=machine.home()).list_files()
    except CodurError:  # no run works here anyway
        return ""
    missing = not_installed(files)
    if not missing:
        return ""
    return f'of {", ".join(missing)} whole files are shown, or lines: `pip install "codur[languages]"` for functions'


def _provider(name: str, provider: Provider) -> ProviderHealth:
    variable = provider.api_key_env or ""
    key = "not needed" if not variable else "set" if key_of(provider, os.environ) else "not set"
    sdk = installed(provider.api)
    remedy = f"export {variable}=…" if key == "not set" else ""
    return ProviderHealth(
        provider=name,
        api=provider.api,
        key=key,
        key_env=variable,
        sdk=sdk,
        remedy=remedy if sdk else missing(name, provider.api).remedy,
    )


def _auto(settings: Settings, pool: ModelPool) -> AutoHealth | None:
    if AUTO not in (settings.llm.default_profile, settings.llm.fast_profile):
        return None
    choice = pool.profiles.chosen()
    name = choice.default if choice.found else ""
    return AutoHealth(profile=name, model=pool.profile(name).model if name else "", reason=choice.reason)


def _provider_line(one: ProviderHealth) -> str:
    key = f"{one.key_env} is {one.key}" if one.key_env else "no key needed"
    absent = "" if one.sdk else ", its package is not installed"
    return f"provider {one.provider}: {key}{absent}{': ' if one.remedy else ''}{one.remedy}"


def _works(one: BackendHealth) -> str:
    if one.loopback:
        return "works; programs have a loopback of their own"
    return "works; programs have no loopback, so tests that use sockets fail (network namespaces are not allowed here)"


def _lines(health: Health) -> list[str]:
    said = "contained" if health.contained else "NOT contained"
    lines = [f"programs: {said} ({health.backend})"]
    if health.note:
        lines.append(f"  {health.note}")
    lines += [f"  not held: {gap}" for gap in health.gaps]
    for one in health.backends:  # where nothing is missing nothing is to be installed
        remedy = f"; {one.remedy}" if one.remedy and (health.note or health.gaps) else ""
        lines.append(f"  {one.name}: {_works(one) if one.works else one.problem}{remedy}")
    lines.append(f"system: {health.system}, kernel {health.kernel}, Landlock {health.landlock_abi or 'not available'}")
    if health.root:
        lines.append(f"warning: {_ROOT_WARNING}")
    lines.append(
        f"state directory: {health.state or 'none'}{': ' if health.state_problem else ''}{health.state_problem}"
    )
    lines.append(f"python: {health.python} ({health.interpreter})")
    lines.append(f"git: {health.git or 'not found: install git to have its state read'}")
    lines += [f"languages: {health.languages}"] if health.languages else []
    lines += [_provider_line(one) for one in health.providers]
    if health.auto is not None:
        chosen = f"{health.auto.profile} ({health.auto.model})" if health.auto.profile else "no model"
        lines.append(f"model auto: {chosen}: {health.auto.reason}")
    lines += [
        f"model {one.profile}: {'configured (not asked): ' if one.ready else ''}{one.note}" for one in health.models
    ]
    return lines
