"""Watches the workspaces that programs may write: tells an observer, and sees what is done to protected paths."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from codur.sandbox.linked import Stamps, changed, linked_directories, stamps
from codur.sandbox.nested import nested_protected
from codur.sandbox.tripwire import Tripwire


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
        self._nested: dict[Path, tuple[str, ...]] = {}
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
    def over(self, workspace: Path | None, keeps: Callable[[], bool]) -> Iterator[list[str]]:
        """Watch while a program runs; the list gets the protected paths that it touched.

        Args:
            keeps: whether the back end mounts what is at protected paths read-only, as it does with what it hides.
        """
        tripped: list[str] = []
        if workspace is None or any(workspace.is_relative_to(own) for own in tuple(self._passed_over)):
            yield tripped
            return
        tripwire = self._tripwire(workspace, keeps) if self._contained else None
        if self._observer is not None:
            self._observer.before(workspace)
        linked = Stamps() if keeps() else stamps(workspace, self.linked_in(workspace))
        if tripwire is not None:
            tripwire.arm()
        try:
            yield tripped
        finally:
            try:
                if tripwire is not None:
                    tripped += tripwire.settle()
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

    def nested_in(self, workspace: Path | None) -> tuple[str, ...]:
        """The protected paths in subdirectories of a workspace, as they were at its first program."""
        if workspace is None or not self._contained:
            return ()
        if workspace not in self._nested:
            self._nested[workspace] = nested_protected(workspace)
        return self._nested[workspace]

    def kept_in(self, workspace: Path | None) -> tuple[Path, ...]:
        """What of a workspace programs must not write: protected paths, and directories linked from elsewhere."""
        names = (*self.nested_in(workspace), *self.linked_in(workspace))
        return tuple(Path(f"{workspace}/{name}") for name in names)

    def linked_in(self, workspace: Path | None) -> tuple[str, ...]:
        """The directories of a workspace with files that have further names elsewhere, as at its first program."""
        if workspace is None or not self._contained:
            return ()
        if workspace not in self._linked:
            self._linked[workspace] = linked_directories(workspace)
        return self._linked[workspace]

    def _tripwire(self, workspace: Path, keeps: Callable[[], bool]) -> Tripwire:
        return Tripwire(workspace, self._quarantine, nested=self.nested_in(workspace), kept=keeps())
