"""Which pytest runs a workspace's tests, and with which options."""

import os
import shlex
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from codur.python.dependencies import required_name
from codur.python.installed import installed_plugins, is_importable, version_of
from codur.python.pytest_options import (
    forgiving_options,
    names_settings,
    path_arguments,
    search_options,
    unrecognized,
    usable_options,
)
from codur.python.pytest_settings import PytestSettings, settings_for
from codur.sandbox.launcher import Launcher
from codur.structs import Struct

_PROBE_SECONDS = 20.0
_NATIVE_TOML = 9
"""The version of pytest from which on it reads `pytest.toml` and `[tool.pytest]`."""


class PytestRunner(Struct):
    """Which pytest runs a workspace's tests."""

    python: str  # the workspace's interpreter
    root: Path  # the workspace
    launcher: Launcher  # asks the interpreter, where its files do not tell
    top: Path | None = None  # of the repository that the workspace is a part of: settings up to there count

    def options(self, words: Sequence[str] = ()) -> tuple[str, list[str]]:
        """The interpreter that runs pytest, and the options that it needs there.

        The workspace's interpreter runs it if it has pytest, else the one that runs Codur (pytest is a dependency).
        Plugins that only Codur's own dependencies bring are switched off: the tests do not know them, and loading them
        takes longer than most tests. Settings of directories above the workspace are kept out, unless
        they are of the same repository.

        Args:
            words: what the command says after `pytest`.
        """
        own = self.python == sys.executable or is_importable(self.python, "pytest")
        borrowed = not own and not _probe(self.python, self.launcher)
        interpreter = sys.executable if borrowed else self.python
        unwanted = sorted(installed_plugins(interpreter)) if borrowed else ["langsmith_plugin"]
        options = [word for name in unwanted for word in ("-p", f"no:{name}")]
        file, cut = self._settings(interpreter, words).file, self.root
        if not names_settings(words) and not file:
            options += ["-c", os.devnull, f"--rootdir={self.root}"]
        elif not names_settings(words) and file.startswith("../"):
            # Tests are named as they are from the workspace; paths of them in the settings are meant from elsewhere.
            options += [f"--rootdir={self.root}", "-o", "testpaths="]
            # It lists what lies between: only a back end that hides shows directories without all that is in them.
            cut = Path(os.path.normpath(self.root / file)).parent if self.launcher.hides else cut
        # Without it pytest takes the directory of its settings for the top, and lists every directory above.
        options.append(f"--confcutdir={cut}")
        return interpreter, options

    def understood(self, words: Sequence[str], *, error: str = "", search: bool = False) -> tuple[str, list[str]]:
        """The interpreter and the words of a pytest command that it can understand.

        Options of plugins that are not there are left out, of the command and of `addopts` in the settings; the others
        count as they are.

        Args:
            words: what the command says after `pytest`.
            error: what pytest printed when it did not understand the same words before.
            search: run the same each time, see `search_options`; else plugins do what they do for the project.
        """
        interpreter, options = self.options(words)
        unknown = unrecognized(error)
        settings = PytestSettings() if names_settings(words) else self._settings(interpreter, words)
        stated = settings.words("addopts")
        plugins = _active_plugins(self.python, [*words, *stated]) if interpreter == self.python else set()
        kept = usable_options(words, plugins, unknown=unknown, search=search)
        usable = usable_options(stated, plugins, unknown=unknown, search=search)
        if usable != stated and not any(word.removeprefix("-o").startswith("addopts=") for word in words):
            options += ["-o", f"addopts={shlex.join(usable)}"]
        if any(required_name(word) not in plugins for word in settings.words("required_plugins")):
            options += ["-o", "required_plugins="]
        options += forgiving_options(error)
        calm = [word for word in search_options(plugins) if word not in unknown] if search else []
        return interpreter, [*kept, *options, *calm]

    def _settings(self, interpreter: str, words: Sequence[str]) -> PytestSettings:
        version = version_of(interpreter, "pytest").partition(".")[0]
        native = not version.isdecimal() or int(version) >= _NATIVE_TOML
        return settings_for(self.root, path_arguments(words, self.root), native=native, top=self.top)


def _active_plugins(python: str, words: Sequence[str]) -> set[str]:
    """The distributions whose plugins are installed, and none of them switched off (`-p no:NAME`)."""
    installed = installed_plugins(python)
    off = {word.removeprefix("-p").removeprefix("no:") for word in words if word.removeprefix("-p").startswith("no:")}
    return set(installed.values()) - {installed[name] for name in off & installed.keys()}


@lru_cache(maxsize=16)
def _probe(python: str, launcher: Launcher) -> bool:
    """Whether pytest is installed in a place that is not known here, such as that of the user."""
    result = launcher.run([python, "-c", "import pytest"], cwd=Path("/"), timeout_s=_PROBE_SECONDS)
    return result.exit_status == 0
