"""Watches the workspaces that programs may write: tells an observer, and sees what is done to protected paths."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from codur.sandbox.tripwire.linked_files import Stamps, changed, linked_directories, stamps
from codur.sandbox.tripwire.nested_names import ProtectedPaths
from codur.sandbox.tripwire.tripwire import Tripwire
from codur.structs import Struct


class ProgramObserver(Protocol):
    """Is told when a program may change a workspace."""

    def before(self, root: Path) -> None:
        """A program is about to start that may write below `root`."""

    def reached_outside(self, paths: tuple[str, ...]) -> None:
        """It changed these files, which have further names outside of the workspace."""

    def discard(self, root: Path) -> None:
        """It has ended, and added more than it may: what is new goes."""

    def after(self, root: Path) -> None:
        """It has ended, with all that it started."""


class Watched(Struct, frozen=False, kw_only=False):
    """One program."""

    kept: tuple[Path, ...] = ()  # absolute paths that it must not change, for its policy
    tripped: tuple[str, ...] = ()  # after its end, the protected paths that it changed


class WorkspaceWatch:
    """Watches while programs run.

    Args:
        observer: told of every program that may write a workspace.
        quarantine: a directory for what programs make at protected places; None removes it.
        contained: look after the protected paths, too.
    """

    def __init__(self, observer: ProgramObserver | None, quarantine: Path | None, *, contained: bool) -> None:
        self._observer = observer
        self._quarantine = quarantine
        self._contained = contained
        self._passed_over: set[Path] = set()
        self._paths: dict[Path, ProtectedPaths] = {}
        self._linked: dict[Path, tuple[str, ...]] = {}

    @contextlib.contextmanager
    def passes_over(self, directory: Path) -> Iterator[None]:
        """A directory of our own, which is not watched as long as this lasts."""
        self._passed_over.add(directory)
        try:
            yield
        finally:
            self._passed_over.discard(directory)

    @contextlib.contextmanager
    def over(self, workspace: Path | None, keeps: Callable[[], bool]) -> Iterator[Watched]:
        """Watch while a program runs.

        Args:
            keeps: whether the back end mounts what it is told to keep read-only, as it does with what it hides.
        """
        watched = Watched()
        # Copies of our own are thrown away with all that is in them, so that nothing there needs to be watched.
        if workspace is None or any(workspace.is_relative_to(own) for own in tuple(self._passed_over)):
            yield watched
            return
        tripwire = self._tripwire(workspace) if self._contained else None
        if self._observer is not None:
            # Before the tripwire is armed: what the observer records is the state that the user had.
            self._observer.before(workspace)
        linked = Stamps()
        if tripwire is not None:
            tripwire.arm(keeps=keeps())
            watched.kept = tuple(workspace / path for path in (*tripwire.kept, *self._linked_in(workspace)))
            linked = Stamps() if keeps() else stamps(workspace, self._linked_in(workspace))
        try:
            yield watched
        finally:
            try:
                if tripwire is not None:
                    watched.tripped = tripwire.settle()
            finally:
                reached = changed(linked)
                if reached and self._observer is not None:
                    self._observer.reached_outside(reached)
                if self._observer is not None:
                    self._observer.after(workspace)

    def discard(self, workspace: Path) -> None:
        """Have what a program added removed, while `over` lasts: it was too much."""
        if self._observer is not None and not any(workspace.is_relative_to(own) for own in tuple(self._passed_over)):
            self._observer.discard(workspace)

    def _linked_in(self, workspace: Path) -> tuple[str, ...]:
        """The directories of a workspace with files that have further names elsewhere, as at its first program."""
        if workspace not in self._linked:
            self._linked[workspace] = linked_directories(workspace)
        return self._linked[workspace]

    def _tripwire(self, workspace: Path) -> Tripwire:
        if workspace not in self._paths:
            self._paths[workspace] = ProtectedPaths(workspace)
        return Tripwire(workspace, self._quarantine, self._paths[workspace])
