"""What a project has names for: its files, and what its sources define; both without what `.gitignore` names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from codur import context
from codur.cli import machine
from codur.config.reading.agent_files import shipped_names
from codur.errors import CodurError
from codur.store.run_records import NEWEST
from codur.workspace.workspace import Workspace

if TYPE_CHECKING:
    from codur.config.settings import Settings
    from codur.context.index import RepositoryIndex, View

_MAX_FILES = 3_000
_MAX_PLACES = 3
_MAX_RUNS = 30


def run_ids(directory: Path) -> Sequence[str]:
    """The ids of the runs that are kept of a directory, the newest first, after the word for that one."""
    try:
        records = machine.kept_runs().list(directory.absolute().resolve())
    except CodurError:
        return ()
    return [*([NEWEST] if records else []), *(record.id for record in records[:_MAX_RUNS])]


def agent_names(settings: Settings) -> Sequence[str]:
    """The agents that settings name and those that are shipped, and each profile as `llm:PROFILE`."""
    profiles = (f"llm:{name}" for name in settings.llm.profiles)
    return list(dict.fromkeys((*settings.agents.configs, *shipped_names(), *profiles)))


class ProjectNames:
    """Looks each file up once, and again when it changed; in a directory that is no project there are none."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._view: View | None = None
        self._symbols: Mapping[str, str] = {}

    @cached_property
    def _workspace(self) -> Workspace | None:
        try:
            return Workspace.open(self.directory, home=machine.home())
        except CodurError:  # no task works there either, and that then is told
            return None

    @cached_property
    def _index(self) -> RepositoryIndex:
        assert self._workspace is not None
        return context.index.RepositoryIndex(self._workspace, max_files=_MAX_FILES)

    def files(self) -> Sequence[str]:
        """The files, relative to the directory."""
        return self._workspace.list_files() if self._workspace is not None else ()

    def changed_since(self, moment: float) -> Sequence[str]:
        """The files that were written after a moment, in seconds since the epoch."""
        found = []
        for path in self.files():
            with suppress(OSError):
                if (self.directory / path).stat().st_mtime > moment:
                    found.append(path)
        return found

    def symbols(self) -> Mapping[str, str]:
        """Functions, classes and constants, each with the files that define it."""
        if self._workspace is None:
            return {}
        view = self._index.view(self.files())
        if view is not self._view:
            self._view = view
            self._symbols = {name: _places(view, name) for name in view.names()}
        return self._symbols


def _places(view: View, name: str) -> str:
    paths = list(dict.fromkeys(path for path, _ in view.defined(name)))
    return ", ".join(paths[:_MAX_PLACES]) + (" …" if len(paths) > _MAX_PLACES else "")
