"""Removes what a crash left of files being written."""

import contextlib
import os
from collections.abc import Iterable

from codur.store.atomic import is_stray
from codur.workspace.disk.root import Root
from codur.workspace.problems import FileError


def sweep(root: Root, beside: Iterable[str] = ()) -> None:
    """Remove temporary files of dead processes in the root directory and beside the given paths.

    Files of any other name stay, and directories that cannot be read are passed over.

    Raises:
        FileError: the workspace is not there any more.
    """
    for directory in sorted({"", *(path.rpartition("/")[0] for path in beside)}):
        try:
            with root.directory(directory) as descriptor, os.scandir(descriptor) as listing:
                for name in [entry.name for entry in listing if is_stray(entry.name)]:
                    with contextlib.suppress(FileNotFoundError, IsADirectoryError, PermissionError):
                        os.unlink(name, dir_fd=descriptor)
        except FileError:
            raise
        except OSError:  # gone, or not ours to read: then nothing of ours is in it
            continue
