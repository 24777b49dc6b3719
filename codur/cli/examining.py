"""What `doctor` finds out about the machine, and how it tells it."""

from __future__ import annotations

import json as json_module
import os
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from codur import __version__
from codur.cli import surroundings
from codur.config.settings import SandboxSettings, Settings
from codur.errors import CodurError, ConfigError
from codur.events import ignore
from codur.llm.pool import ModelPool
from codur.sandbox import probe
from codur.sandbox.backend import Chosen
from codur.sandbox.landlock import landlock_abi
from codur.sandbox.launcher import Launcher
from codur.store.directory import StateDirectory
from codur.types import Limits
from codur.ui.output import show
from codur.ui.sanitise import sanitise

_GIT_TIMEOUT_S = 10.0
_ROOT_WARNING = "Codur runs as root: run it as an ordinary user, so that the system protects itself too"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendHealth:
    """A back end for this system, tried just now."""

    name: str
    works: bool
    problem: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth:
    """A model profile, and whether its model could be asked; found out without a network."""

    profile: str
    ready: bool
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What `doctor` tells.

    Attributes:
        contained: whether programs that Codur starts are contained.
        backend: the one in use; `none` if nothing contains programs.
        note: why it is not a better one, and how to get that; empty if it is the best.
        landlock_abi: version of the kernel's interface; 0 if there is none.
        state: where runs are kept; empty if no place is known.
        state_problem: why runs cannot be kept; empty if they can.
        git: its version; empty if it is not installed or does not run.
    """

    version: str
    contained: bool
    backend: str
    note: str
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
    models: tuple[ModelHealth, ...]


def show_health(directory: Path, config: Path | None, *, json: bool) -> int:
    """Print what was found out.

    Returns:
        The exit code: 0 if programs are contained and runs can be kept, else 1.

    Raises:
        ConfigError: the settings are wrong.
        UsageError: there is no such directory.
    """
    health = _examine(surroundings.settings_for(surroundings.existing(directory), config, {}).settings)
    text = json_module.dumps(asdict(health)) if json else "\n".join(_lines(health))
    show(sanitise(text), sys.stdout)
    return 0 if health.contained and not health.state_problem else 1


def _examine(settings: Settings) -> Health:
    root = surroundings.state_directory()
    state_problem = _state_problem(root)
    cache = StateDirectory(root).cache if root is not None and not state_problem and root.is_dir() else None
    chosen = _chosen(settings, cache)
    return Health(
        version=__version__,
        contained=chosen is not None and chosen.backend.name != "none",
        backend=chosen.backend.name if chosen is not None else "none",
        note=chosen.note if chosen is not None else _refusal(settings),
        backends=tuple(
            BackendHealth(name=one.name, works=not one.problem, problem=one.problem, remedy=one.remedy)
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
        git=_git_version(settings.sandbox) if chosen is not None else "",
        models=_models(settings),
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
        return f"no home directory is known. {surroundings.STATE_REMEDY}"
    if root.is_dir():
        try:
            StateDirectory(root).prepare()
        except CodurError as error:
            return f"{error.message}. {error.remedy}"
        return ""
    above = next(parent for parent in root.parents if os.path.lexists(parent))
    if above.is_dir() and not os.path.lexists(root) and os.access(above, os.W_OK | os.X_OK):
        return ""
    return f"it cannot be made in {above}. {surroundings.STATE_REMEDY}"


def _git_version(sandbox: SandboxSettings) -> str:
    with Launcher(os.environ, sandbox=sandbox) as launcher:
        done = launcher.run(["git", "--version"], cwd=Path("/"), timeout_s=_GIT_TIMEOUT_S)
    return done.stdout.removeprefix("git version").strip() if done.exit_status == 0 else ""


def _models(settings: Settings) -> tuple[ModelHealth, ...]:
    pool = ModelPool(settings, os.environ, Limits(), emit=ignore)
    notes = {name: pool.problem(name) for name in settings.llm.profiles}
    return tuple(ModelHealth(profile=name, ready=not note, note=note) for name, note in notes.items())


def _lines(health: Health) -> list[str]:
    said = "contained" if health.contained else "NOT contained"
    lines = [f"programs: {said} ({health.backend})"]
    if health.note:
        lines.append(f"  {health.note}")
    for one in health.backends:
        lines.append(f"  {one.name}: {'works' if one.works else one.problem}")
        lines += [f"    remedy: {one.remedy}"] if one.remedy else []
    lines.append(f"system: {health.system}, kernel {health.kernel}, Landlock {health.landlock_abi or 'not available'}")
    if health.root:
        lines.append(f"warning: {_ROOT_WARNING}")
    lines.append(
        f"state directory: {health.state or 'none'}{': ' if health.state_problem else ''}{health.state_problem}"
    )
    lines.append(f"python: {health.python} ({health.interpreter})")
    lines.append(f"git: {health.git or 'not found: install git to have its state read'}")
    lines += [f"model {one.profile}: {'configured (not asked)' if one.ready else one.note}" for one in health.models]
    return lines
