"""Copying a workspace's files to a directory where candidates can be tried."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from codur.workspace.problems import FileError, from_os_error

MAX_FILES = 10_000
MAX_BYTES = 268_435_456


def copy_files(root: Path, relative_paths: Iterable[str], target: Path) -> None:
    """Copy files (links as what they lead to) with mode and times to the same places below `target`, which is made.

    Raises:
        WorkspaceError: more than 10,000 files or 256 MiB, or a file cannot be copied.
    """
    wanted = sorted(set(relative_paths))
    if len(wanted) > MAX_FILES:
        raise FileError(f"the workspace has more than {MAX_FILES} files, too many to copy", code="too_large")
    left = MAX_BYTES
    try:
        target.mkdir(parents=True, exist_ok=True)
        for path in wanted:
            left -= (root / path).stat().st_size
            if left < 0:
                raise FileError(
                    f"the workspace holds more than {MAX_BYTES >> 20} MiB, too much to copy", code="too_large"
                )
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / path, target / path)
    except OSError as error:
        raise from_os_error(str(error.filename or target), error) from error
