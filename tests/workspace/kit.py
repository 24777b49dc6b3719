"""Workspaces with a journal on disk, and pictures of directory trees."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from codur.store.blobs import BlobStore
from codur.store.directory import StateDirectory
from codur.workspace.disk.root import Root
from codur.workspace.history.journal import Journal
from codur.workspace.history.put_back import UndoReport
from codur.workspace.history.undo_run import redo, undo
from codur.workspace.workspace import Workspace

Tree = dict[str, tuple[str, int, bytes]]


def picture(root: Path) -> Tree:
    """Kind, mode and content (or target) of everything below a directory."""
    found: Tree = {}
    for path in root.rglob("*"):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            item = ("link", 0, os.fsencode(path.readlink()))
        elif stat.S_ISDIR(status.st_mode):
            item = ("directory", stat.S_IMODE(status.st_mode), b"")
        elif stat.S_ISREG(status.st_mode):
            item = ("file", stat.S_IMODE(status.st_mode), path.read_bytes())
        else:
            item = ("other", 0, b"")
        found[str(path.relative_to(root))] = item
    return found


class Run:
    """One run in a workspace: its journal, and what can be done with it.

    Args:
        place: gets `w`, the workspace, and `state`.
    """

    def __init__(self, place: Path, name: str = "run", *, max_files: int = 5000, max_bytes: int = 128 << 20) -> None:
        self.root = place / "w"
        self.root.mkdir(exist_ok=True)
        self.state = StateDirectory(place / "state")
        self.state.prepare()
        self.directory = self.state.runs / name
        self.directory.mkdir(exist_ok=True)
        self._bounds = {"max_files": max_files, "max_bytes": max_bytes}

    def journal(self) -> Journal:
        """The journal as a new process finds it."""
        path = self.directory / "journal.jsonl"
        bounds = self._bounds
        return Journal(
            path,
            BlobStore(self.state.blobs),
            cache=self.state.cache,
            max_files=bounds["max_files"],
            max_bytes=bounds["max_bytes"],
        )

    def open(self, *, max_file_bytes: int = 1 << 20) -> Workspace:
        """The workspace as a new process opens it."""
        return Workspace.open(self.root, journal=self.journal(), max_file_bytes=max_file_bytes)

    def loaded(self) -> Journal:
        """The journal, read."""
        journal = self.journal()
        journal.load()
        return journal

    def undo(self, *, dry: bool = False) -> UndoReport:
        """Undo the run as a new process does."""
        journal = self.loaded()
        try:
            return undo(Root(self.root), journal, dry=dry)
        finally:
            journal.close()

    def redo(self) -> UndoReport | None:
        """Take the undo back as a new process does."""
        journal = self.loaded()
        try:
            return redo(Root(self.root), journal)
        finally:
            journal.close()
