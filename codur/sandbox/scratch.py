"""Private temporary directories that do not outlive their use."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from codur.errors import UsageError
from codur.lazy import regex
from codur.store.atomic import is_alive

_NAME = regex(r"codur-[a-z]+-(\d+)-\w+")
_MOST_PROCESSES = 1 << 22
"""Linux gives no process a higher number: a name with one, like a date, is none of ours, and its directory stays."""


def temporary_base(environ: Mapping[str, str]) -> str:
    """The directory for temporary files that the environment names, or `/tmp`."""
    named = environ.get("TMPDIR", "")
    return named if named.startswith("/") and os.access(named, os.W_OK | os.X_OK) else "/tmp"


def prefix(kind: str) -> str:
    """How the name of a temporary directory of this process begins, so that `sweep` knows when it is of no use."""
    return f"codur-{kind}-{os.getpid()}-"


def sweep(base: str) -> None:
    """Remove the temporary directories of processes that were killed, if they are this user's."""
    with os.scandir(base) as entries:
        stray = [entry.path for entry in entries if _is_stray(entry)]
    for path in stray:
        _remove(path)


def _is_stray(entry: os.DirEntry[str]) -> bool:
    found = _NAME.fullmatch(entry.name)
    if found is None or not entry.is_dir(follow_symlinks=False):
        return False
    with contextlib.suppress(OSError):
        mine = entry.stat(follow_symlinks=False).st_uid == os.geteuid()
        return mine and int(found[1]) <= _MOST_PROCESSES and not is_alive(int(found[1]))
    return False


@contextlib.contextmanager
def private_directory(base: str) -> Iterator[str]:
    """A new directory below `base` that only this user may enter; removed with all that is in it.

    Raises:
        UsageError: it cannot be made.
    """
    path = f"{base}/{prefix('run')}{os.urandom(8).hex()}"
    try:
        Path(path).mkdir(0o700)
    except OSError as error:
        raise UsageError(
            f"no temporary directory can be made in {base}: {error.strerror}", remedy="Free space there, or set TMPDIR."
        ) from error
    try:
        yield path
    finally:
        _remove(path)


def _remove(path: str) -> None:
    try:
        Path(path).rmdir()  # mostly it is empty, and looking into it would cost every start of a program
    except OSError:
        remove_tree(Path(path))


def remove_tree(top: Path) -> None:
    """Remove a directory with all that is in it, as far as that is possible; links are not followed.

    A program may have left a tree that is unreadable, or deeper than a path can be long or a function can recurse. So
    each directory is moved up to the top before it is emptied.
    """
    name = f".removed-{os.urandom(8).hex()}"
    waiting = [top]
    moved = 0
    while waiting:
        directory = waiting.pop()
        with contextlib.suppress(OSError):
            directory.chmod(0o700)  # a program may have closed it
        for entry in entries_of(directory):
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    moved += 1
                    Path(entry.path).chmod(0o700)  # to move a directory is to change its entry for the one above
                    waiting.append(Path(entry.path).rename(top / f"{name}-{moved}"))
                else:
                    Path(entry.path).unlink()
        if directory != top:
            _remove_empty(directory)
    _remove_empty(top)


def entries_of(directory: str | Path) -> list[os.DirEntry[str]]:
    """What is in a directory; nothing if it cannot be read."""
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []


def _remove_empty(directory: Path) -> None:
    with contextlib.suppress(OSError):
        directory.rmdir()
