"""Copies a challenge to where it is worked on."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from codur.batch.challenge_directory import PROMPT_FILE, Challenge
from codur.batch.discovery import RESULTS_NAME
from codur.errors import UsageError
from codur.parsing.bounded_text import listed

if sys.platform == "linux":  # not every system has it
    import fcntl

_FICLONE = 0x40049409
"""ioctl_ficlone(2): the new file shares the blocks of the old one until either is written."""


def copy_files(challenge: Challenge, target: Path) -> tuple[str, ...]:
    """Copy a challenge's files to `target`, without its task; as a clone where the file system has that.

    Returns:
        What was left out because it is no file, directory or link (pipes, sockets, devices), by its path inside.

    Raises:
        UsageError: a file or directory of the challenge cannot be read.
        OSError: `target` cannot be written.
    """
    root = challenge.directory
    ours = {RESULTS_NAME} if challenge.task else {PROMPT_FILE, RESULTS_NAME}
    left_out: list[str] = []

    def unwanted(directory: str, names: Sequence[str]) -> set[str]:
        found = {name: Path(directory, name) for name in names}
        special = {name for name, path in found.items() if not (path.is_symlink() or path.is_file() or path.is_dir())}
        left_out.extend(Path(directory, name).relative_to(root).as_posix() for name in sorted(special))
        return special | (ours if Path(directory) == root else set())

    try:
        shutil.copytree(root, target, symlinks=True, ignore=unwanted, copy_function=_copy)
    except shutil.Error as error:
        # its only argument is the list of what failed: source, target, why
        names = sorted({Path(source).relative_to(root).as_posix() for source, _, _ in error.args[0]})
        raise UsageError(
            f"{listed(names, 1)} cannot be copied", remedy="Check the permissions of the challenge's files."
        ) from error
    return tuple(left_out)


def _copy(source: str, target: str) -> str:
    if Path(source).is_symlink() or not _cloned(Path(source), Path(target)):
        return shutil.copy2(source, target, follow_symlinks=False)
    shutil.copystat(source, target)
    return target


def _cloned(source: Path, target: Path) -> bool:
    if sys.platform != "linux":
        return False
    with source.open("rb") as old, target.open("wb") as new:
        try:
            fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
        except OSError:
            return False
    return True
