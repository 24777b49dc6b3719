"""What `doctor` finds out about the machine, and how it tells it."""

import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from codur import __version__
from codur.cli import machine
from codur.cli.printing import say_found
from codur.config.settings import AUTO, Provider, SandboxSettings, Settings
from codur.errors import CodurError, ConfigError
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.llm.profiles.availability import installed, missing
from codur.llm.profiles.endpoint import key_of
from codur.llm.remembered_sizes import Remembered
from codur.sandbox.backend import Chosen
from codur.sandbox.backends import probe
from codur.sandbox.backends.landlock import landlock_abi
from codur.sandbox.launcher import Launcher
from codur.store.directory import StateDirectory
from codur.types import Limits

_GIT_TIMEOUT_S = 10.0
_ROOT_WARNING = "Codur runs as root: run it as an ordinary user, so that the system protects itself too"


def show_health(directory: Path, config: Path | None, *, json: bool, strict: bool) -> int:
    """Print what was found out.

    Returns:
        The exit code: 0 if programs are contained (if it is to be strict: in all ways) and runs can be kept, else 1.
    """
    health = _examine(machine.settings_for(machine.existing(directory), config, {}).settings)
    say_found(health, _lines(health), as_json=json)
    return 0 if health["contained"] and not health["state_problem"] and not (strict and health["gaps"]) else 1


def _examine(settings: Settings) -> dict[str, Any]:
    """What `--json` prints.

    `note` says why the back end is not a better one, and how to get that; `gaps`, what it does not hold here of what is
    promised; `landlock_abi` is 0 without Landlock; `state` is empty if no place for runs is known, `state_problem`, if
    they can be kept; `git` is a version, empty if git does not run; `auto`, what `auto` stands for in the settings,
    null if they do not use it.
    """
    root = machine.state_directory()
    state_problem = _state_problem(root)
    cache = StateDirectory(root).cache if root is not None and not state_problem and root.is_dir() else None
    remembered = Remembered(StateDirectory(root).limits_file) if root is not None else None
    pool = ModelPool(settings, os.environ, Limits(), PoolOptions(remembered=remembered))
    chosen = _chosen(settings, cache)
    refusal = f"no program is started: sandbox.backend is {settings.sandbox.backend}, which does not work here"
    return {
        "version": __version__,
        "contained": chosen is not None and chosen.backend.name != "none",
        "backend": chosen.backend.name if chosen is not None else "none",
        "note": chosen.note if chosen is not None else refusal,
        "gaps": list(chosen.backend.gaps if chosen is not None else ()),
        "backends": _backends(),
        "system": f"{platform.system()} {platform.machine()}",
        "kernel": platform.release(),
        "landlock_abi": landlock_abi(),
        "root": os.geteuid() == 0,
        "state": str(root or ""),
        "state_problem": state_problem,
        "python": platform.python_version(),
        "interpreter": sys.executable,
        "git": _git_version(structs.replace(settings.sandbox, require="any")) if chosen is not None else "",
        "providers": [_provider(name, provider) for name, provider in settings.providers.items()],
        "models": _models(settings, pool),
        "auto": _auto(settings, pool),
    }


def _backends() -> list[dict[str, Any]]:
    """Those for this system, each tried just now; with `loopback` programs can talk to themselves."""
    tried = (one for name in probe.candidates() for one in probe.tried(os.environ, cache=None, names=(name,)))
    keys = ("name", "loopback", "problem", "remedy")
    return [{**{key: getattr(one, key) for key in keys}, "works": not one.problem} for one in tried]


def _chosen(settings: Settings, cache: Path | None) -> Chosen | None:
    """The back end in use; None if the one that the settings name does not work."""
    try:
        return probe.choose_backend(settings.sandbox.backend, os.environ, cache=cache, fresh=True)
    except ConfigError:
        return None


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


def _models(settings: Settings, pool: ModelPool) -> list[dict[str, Any]]:
    """The profiles; the note says why one cannot be asked, or how large requests to it are made."""
    named = (*settings.llm.fallback_profiles, *(config.profile for config in settings.agents.configs.values()))
    used = {pool.profiles.default, pool.profiles.fast, *named}
    problems = {name: pool.problem(name) for name in settings.llm.profiles}
    return [
        {"profile": name, "ready": not problem, "note": problem or pool.sizes.told(name, look=name in used)}
        for name, problem in problems.items()
    ]


def _provider(name: str, provider: Provider) -> dict[str, Any]:
    """A service; `sdk` is the package that it is asked through, empty if that is not installed."""
    variable, sdk = provider.api_key_env or "", installed(provider.api)
    key = "not needed" if not variable else "set" if key_of(provider, os.environ) else "not set"
    remedy = f"export {variable}=…" if key == "not set" else ""
    remedy = remedy if sdk else missing(name, provider.api).remedy
    return {"provider": name, "api": provider.api, "key": key, "key_env": variable, "sdk": sdk, "remedy": remedy}


def _auto(settings: Settings, pool: ModelPool) -> dict[str, Any] | None:
    if AUTO not in (settings.llm.default_profile, settings.llm.fast_profile):
        return None
    choice = pool.profiles.chosen()
    name = choice.default if choice.found else ""
    return {"profile": name, "model": pool.profile(name).model if name else "", "reason": choice.reason}


def _provider_line(one: Mapping[str, Any]) -> str:
    key = f"{one['key_env']} is {one['key']}" if one["key_env"] else "no key needed"
    absent = "" if one["sdk"] else ", its package is not installed"
    return f"provider {one['provider']}: {key}{absent}{': ' if one['remedy'] else ''}{one['remedy']}"


def _works(one: Mapping[str, Any]) -> str:
    if one["loopback"]:
        return "works; programs have a loopback of their own"
    return "works; programs have no loopback, so tests that use sockets fail (network namespaces are not allowed here)"


def _lines(told: Mapping[str, Any]) -> list[str]:
    lines = [f"programs: {'contained' if told['contained'] else 'NOT contained'} ({told['backend']})"]
    lines += [f"  {told['note']}"] if told["note"] else []
    lines += [f"  not held: {gap}" for gap in told["gaps"]]
    for one in told["backends"]:  # where nothing is missing nothing is to be installed
        remedy = f"; {one['remedy']}" if one["remedy"] and (told["note"] or told["gaps"]) else ""
        lines.append(f"  {one['name']}: {_works(one) if one['works'] else one['problem']}{remedy}")
    lines.append(
        f"system: {told['system']}, kernel {told['kernel']}, Landlock {told['landlock_abi'] or 'not available'}"
    )
    lines += [f"warning: {_ROOT_WARNING}"] if told["root"] else []
    lines.append(f"state directory: {': '.join(filter(None, (told['state'] or 'none', told['state_problem'])))}")
    lines.append(f"python: {told['python']} ({told['interpreter']})")
    lines.append(f"git: {told['git'] or 'not found: install git to have its state read'}")
    lines += map(_provider_line, told["providers"])
    if auto := told["auto"]:
        chosen = f"{auto['profile']} ({auto['model']})" if auto["profile"] else "no model"
        lines.append(f"model auto: {chosen}: {auto['reason']}")
    asked = "configured (not asked): "
    return lines + [f"model {one['profile']}: {asked if one['ready'] else ''}{one['note']}" for one in told["models"]]
