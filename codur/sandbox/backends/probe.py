"""Chooses the back end by trying: one counts only if a program under it was seen to be contained."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from codur.errors import ConfigError, UsageError
from codur.sandbox import backends
from codur.sandbox.backend import Backend, Chosen, NoBackend
from codur.sandbox.backends.probe_cache import SWITCHES, Tried, one_line, remember, remembered, system_key

if TYPE_CHECKING:
    from codur.sandbox.starter.starter_client import Starter

_NO_SANDBOX = "programs run without containment"
_INSTALL = "install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)"


def choose_backend(
    wanted: str,
    environ: Mapping[str, str],
    *,
    cache: Path | None,
    fresh: bool = False,
    starter: Callable[[], Starter] | None = None,
) -> Chosen:
    """The back end that contains programs here.

    Args:
        wanted: `auto` for the best one that was seen to work, or the name of one.
        environ: the user's environment.
        cache: a private directory that remembers, until the next start of the system, what was seen to work; None
            tries it again each time.
        fresh: try again even what is remembered.
        starter: as for `try_backend`.

    Raises:
        ConfigError: the wanted one does not work here, or there is none.
    """
    if wanted == "none":
        return Chosen(backend=NoBackend(), note=f"{_NO_SANDBOX}: sandbox.backend is none; set it to auto")
    names = candidates() if wanted == "auto" else (wanted,)
    results = tried(environ, cache=cache, fresh=fresh, names=names, starter=starter)
    working = next((result for result in results if not result.problem), None)
    if wanted != "auto" and working is None:
        raise ConfigError(
            f"{wanted} does not work here: {results[0].problem}",
            key="sandbox.backend",
            remedy=f"{_sentence(results[0].remedy)} Set sandbox.backend to auto for the best that works.".strip(),
        )
    worse = [result for result in results if result.problem]
    if working is None:
        backend: Backend = NoBackend()
        note = f"{_NO_SANDBOX}: {_told(worse) or 'there is no back end for this system'}"
    else:
        backend = _made(working)
        # Who has one that holds everything need not hear why another did not work.
        note = _told(worse) if backend.gaps else ""
    return Chosen(
        backend=backend, note=note or ("sandbox-exec profile, untested" if backend.name == "seatbelt" else "")
    )


def _told(results: list[Tried]) -> str:
    return "; ".join(
        f"{result.name}: {result.problem}{'; to use it, ' if result.remedy else ''}{result.remedy}"
        for result in results
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def candidates() -> tuple[str, ...]:
    """Names of the back ends for this system, best first."""
    if sys.platform == "darwin":
        return ("seatbelt",)
    return ("namespaces", "bubblewrap", "landlock") if sys.platform == "linux" else ()


def require_whole(chosen: Chosen) -> None:
    """Make sure that a back end holds all that is promised. Raises ConfigError: it leaves something open."""
    if chosen.backend.gaps:
        raise ConfigError(
            f"strict, and {chosen.backend.name} does not hold everything here: {'; '.join(chosen.backend.gaps)}",
            key="sandbox.require",
            remedy=f"See `codur doctor --strict`, or set sandbox.require to any. {chosen.note}".strip(),
        )


def _made(result: Tried) -> Backend:
    """A back end that was seen to work."""
    backend = _present(result.name, loopback=result.loopback)
    if isinstance(backend, Tried):
        raise UsageError(f"{result.name} is no longer there: {backend.problem}", remedy="Try again.")
    return backend


def tried(
    environ: Mapping[str, str],
    *,
    cache: Path | None,
    fresh: bool = False,
    names: tuple[str, ...] | None = None,
    starter: Callable[[], Starter] | None = None,
) -> list[Tried]:
    """Try back ends in turn until one works.

    Args:
        cache: where results are remembered; None remembers nothing.
        fresh: try again even what is remembered.
        names: of the back ends, best first; all for this system if None.
        starter: as for `try_backend`.
    """
    key = system_key()
    known = {} if cache is None or fresh else remembered(cache, key)
    results: list[Tried] = []
    new = False
    for name in candidates() if names is None else names:
        result = known.get(name)
        if result is None:
            known[name] = result = _try(name, environ, starter)
            new = True
        results.append(result)
        if not result.problem:
            break
    if cache is not None and new:
        remember(cache, key, known)
    return results


def _present(name: str, *, loopback: bool) -> Backend | Tried:
    """A back end, or why there is none on this machine; with a loopback, where it can do without."""
    if name == "namespaces" and sys.platform == "linux":
        return backends.namespaces.NamespacesBackend()
    if name == "bubblewrap" and sys.platform == "linux":
        path = backends.bubblewrap.find_bubblewrap()
        missing = Tried(name=name, problem="it is not installed", remedy=_INSTALL)
        return missing if path is None else backends.bubblewrap.BubblewrapBackend(path)
    if name == "landlock" and sys.platform == "linux":
        if backends.landlock.landlock_abi() < 1:
            return Tried(name=name, problem="the kernel has no Landlock (Linux 5.13 or later has, unless switched off)")
        if backends.seccomp.filter_program(network=False) is None:
            return Tried(name=name, problem=backends.seccomp.NO_FILTER)
        return backends.landlock.LandlockBackend(loopback=loopback)
    if name == "seatbelt" and sys.platform == "darwin":
        found = backends.seatbelt.SANDBOX_EXEC.exists()
        missing = Tried(name=name, problem=f"there is no {backends.seatbelt.SANDBOX_EXEC}")
        return backends.seatbelt.SeatbeltBackend() if found else missing
    return Tried(name=name, problem="it is not for this system")


def _try(name: str, environ: Mapping[str, str], starter: Callable[[], Starter] | None) -> Tried:
    problem = ""
    # With a network of its own first: many tests need one, and whether it can be had only a trial shows.
    for loopback in (True, False) if name == "landlock" else (True,):  # a network of its own needs namespaces
        backend = _present(name, loopback=loopback)
        if isinstance(backend, Tried):
            return backend
        problem = backends.trial.try_backend(backend, environ, starter)
        if not problem:
            return Tried(name=name, loopback=backend.has_loopback)
    return Tried(name=name, problem=problem, remedy=_remedy(name))


def _remedy(name: str) -> str:
    if name == "bubblewrap" and one_line(Path(SWITCHES[1])) == "1":
        return "allow it user namespaces (Ubuntu: an AppArmor profile for bwrap with `userns,`)"
    if name in ("namespaces", "bubblewrap") and (
        one_line(Path(SWITCHES[0])) == "0" or one_line(Path(SWITCHES[2])) == "0"
    ):
        return "have user namespaces allowed (sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces)"
    return ""
