"""Protected names that are deeper in a workspace: repositories, and settings of other programs, in subdirectories."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from codur.config.protected import PROTECTED_NAMES, fold

_MAX_DIRECTORIES = 5_000
_MAX_FOUND = 200
_NOT_ENTERED = frozenset({"node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", "site-packages"})
"""What tools install: many directories, and few protected names."""


def nested_protected(root: Path) -> tuple[str, ...]:
    """Protected paths below the top of a workspace, relative to it, as far as a bounded search finds them.

    Links are not followed, and protected directories are not looked into.
    """
    found: list[str] = []
    waiting = [""]
    for number, base in enumerate(waiting):
        if number >= _MAX_DIRECTORIES or len(found) >= _MAX_FOUND:
            break
        with contextlib.suppress(OSError), os.scandir(root / base) as entries:
            for entry in entries:
                path = f"{base}/{entry.name}" if base else entry.name
                if fold(entry.name) in PROTECTED_NAMES:
                    found += [path] if base else []
                elif entry.is_dir(follow_symlinks=False) and entry.name not in _NOT_ENTERED:
                    waiting.append(path)
    return tuple(sorted(found))
