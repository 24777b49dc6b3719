"""What of the user's environment a program that Codur starts may see."""

import os
import re
from collections.abc import Mapping

from codur.lazy import regex

_ALLOWED: frozenset[str] = frozenset(
    """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM TZ VIRTUAL_ENV XDG_CACHE_HOME CARGO_HOME RUSTUP_HOME
    RUSTUP_TOOLCHAIN GOPATH GOROOT GOCACHE GOMODCACHE GOTOOLCHAIN JAVA_HOME NVM_DIR PYENV_ROOT PYENV_VERSION SDKROOT
    DEVELOPER_DIR
    """.split()
)
_HOMES: Mapping[str, str] = {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup", "GOPATH": "go"}
"""Where toolchains and packages are below the home directory, if no variable says so: programs have an empty one."""
_LOCALE = frozenset(
    f"LC_{name}"
    for name in "ALL ADDRESS COLLATE CTYPE IDENTIFICATION MEASUREMENT MESSAGES MONETARY NAME NUMERIC PAPER "
    "TELEPHONE TIME".split()
)
_LOCALE_VALUE = regex(r"[\w.@-]{0,40}", re.ASCII)  # any text could travel in such a variable, keys included
_MISSED = regex(
    r"KeyError|environ|getenv|process\.env|\b(?:not|un|be|is) ?(?:set|defined|bound|required)\b", re.IGNORECASE
)
_VARIABLE = regex(r"\b[A-Z][A-Z\d_]{3,}\b")
_SECRET_NAME = regex(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
_SECRET_VALUE = regex(
    r"AKIA[0-9A-Z]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|(?:sk|gsk|pk|rk)[-_][\w-]{16,}|xox[abprs]-[\w-]{10,}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,}|://[^/\s:@]+:[^/\s@]+@|-----BEGIN "
)
_ALWAYS: dict[str, str] = {
    "PYTHONHASHSEED": "0",  # sets have the same order in each run, so that a check does not vary by that
    # a candidate of the same size and second would else be run from the byte code of another
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONIOENCODING": "utf-8",
    "NO_COLOR": "1",
}
"""The same program gives the same output, and leaves no byte code behind.

`PYTHONSAFEPATH` is not set: programs import the files beside them.
"""
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that a started program gets, without `TMPDIR`.

    An allow list decides; a variable whose name or value looks like a secret is left out even then. Relative items of
    `PATH` are left out too, so that a program in the workspace is not run in place of a system one.
    """
    kept = {name: value for name, value in environ.items() if _is_allowed(name, value)}
    items = [item for item in kept.get("PATH", "").split(os.pathsep) if item.startswith("/")]
    homes = {name: f"{environ.get('HOME', '')}/{below}" for name, below in _HOMES.items()}
    there = {name: place for name, place in homes.items() if place.startswith("/") and os.path.lexists(place)}
    return {**there, **kept, "PATH": os.pathsep.join(items) or _DEFAULT_PATH, **_ALWAYS}


def withheld(environ: Mapping[str, str], text: str) -> list[str]:
    """The variables that a text names and that started programs do not get, but for secrets."""
    lines = (line for line in text.splitlines() if _MISSED.search(line))
    named, given = {name for line in lines for name in _VARIABLE.findall(line)}, child_environment(environ)
    return sorted(name for name in named & environ.keys() - given.keys() if not _SECRET_NAME.search(name))


def _is_allowed(name: str, value: str) -> bool:
    if name.startswith("LC_"):
        return name in _LOCALE and _LOCALE_VALUE.fullmatch(value) is not None
    if name not in _ALLOWED:
        return False
    return not _SECRET_NAME.search(name) and not _SECRET_VALUE.search(value)
