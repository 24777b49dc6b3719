"""The directory in which Codur remembers its runs: private, made when it is needed."""

import os
import stat
from pathlib import Path

from codur.errors import StateError
from codur.store.atomic import PRIVATE_DIRECTORY, state_errors, sweep

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class StateDirectory:
    """The places in the state directory. Nothing is made before `prepare`.

    Args:
        root: the directory itself, such as `~/.local/state/codur`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.runs = root / "runs"  # a directory for each run
        self.blobs = root / "blobs"  # contents by their hash, shared by all runs
        self.locks = root / "locks"  # a file for each workspace that was worked in
        self.cache = root / "cache"  # what can be found out again
        self.conversations = root / "conversations"  # what was said in each project
        self.trust_file = root / "trust.json"  # the workspaces that the user accepted
        self.mcp_file = root / "mcp.json"  # the definitions of MCP servers' tools that are accepted
        self.limits_file = self.cache / "limits.json"  # what services of models have told of their limits

    def prepare(self) -> None:
        """Make the directory and those in it, for its owner alone; remove temporary files that a crash left.

        Raises:
            StateError: it cannot be made or written, belongs to someone else, or others may write to it.
        """
        with state_errors(self.root):
            self.root.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            self._require_private()
            for directory in (self.runs, self.blobs, self.locks, self.cache):
                directory.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
            for directory in (self.root, self.blobs, self.cache):
                sweep(directory)
        if not os.access(self.root, os.R_OK | os.W_OK | os.X_OK):
            raise StateError(
                f"the state directory {self.root} cannot be written",
                remedy="Give yourself access to it, or set XDG_STATE_HOME to a directory of your own.",
            )

    def _require_private(self) -> None:
        status = self.root.stat()
        if status.st_uid != os.geteuid():
            raise StateError(
                f"the state directory {self.root} belongs to another user",
                remedy="Set XDG_STATE_HOME to a directory of your own.",
            )
        # Not mended silently: somebody may have written there already, and the list of what is trusted lies in it.
        if status.st_mode & _OTHERS_WRITE:
            raise StateError(
                f"others may write to the state directory {self.root}",
                remedy=f"Look through it, then take that away: chmod 700 {self.root}",
            )
        if status.st_mode & _OTHERS:
            self.root.chmod(PRIVATE_DIRECTORY)
