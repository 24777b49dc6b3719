"""Which back ends work here."""

from __future__ import annotations

import os

from codur.config.settings import SandboxSettings
from codur.errors import CodurError
from codur.sandbox.launcher import Launcher


def has_loopback(backend: str) -> bool:
    """Whether programs have a loopback under a back end that works here."""
    settings = SandboxSettings(backend=backend)  # type: ignore[arg-type]
    with Launcher({"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}, sandbox=settings) as launcher:
        return launcher.has_loopback


def works(backend: str) -> bool:
    """Whether programs can be contained by that back end here."""
    settings = SandboxSettings(backend=backend)  # type: ignore[arg-type]
    try:
        with Launcher({"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}, sandbox=settings) as launcher:
            return launcher.name == backend
    except CodurError:
        return False


FORCED = os.environ.get("CODUR_TEST_BACK_END", "")
"""The one back end that tests are to look at."""
AVAILABLE: tuple[str, ...] = tuple(
    name for name in ([FORCED] if FORCED else ("namespaces", "bubblewrap", "landlock", "seatbelt")) if works(name)
) or ("none",)
AGAIN = tuple(name for name in AVAILABLE if name == "bubblewrap" or not os.environ.get("CODUR_TESTED_BARE"))
"""Those that `make tests-bare` did not test already, for what it tests: all of them, or bubblewrap alone."""
