"""Private temporary directories that do not outlive their use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from codur.errors import CodurError


def temporary_base(environ: Mapping[str, str]) -> str:
    """The directory for temporary files that the environment names, or `/tmp`."""
    named = environ.get("TMPDIR", "")
    return named if named.startswith("/") and os.access(named, os.W_OK | os.X_OK) else "/tmp"


@contextlib.contextmanager
def private_directory(base: str) -> Iterator[str]:
    """A new directory below `base` that only this user may enter; removed with all that is in it.

    Raises:
        CodurError: it cannot be made.
    """
    path = f"{base}/codur-run-{os.urandom(8).hex()}"
    try:
        os.mkdir(path, 0o700)  # noqa: PTH102 - per program start: a string is enough
    except OSError as error:
        raise CodurError(
            f"no temporary directory can be made in {base}: {error.strerror}", remedy="Free space there, or set TMPDIR."
        ) from error
    try:
        yield path
    finally:
        _remove(path)


def _remove(path: str) -> None:
    try:
        os.rmdir(path)  # noqa: PTH106 - per program start: mostly empty
    except OSError:
        _remove_tree(Path(path))


def _remove_tree(path: Path) -> None:
    """Remove a tree whose directories may have been made unreadable by the program that left it."""
    import shutil  # noqa: PLC0415 - lazy: most programs leave nothing

    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        for directory, _, _ in os.walk(path):
            with contextlib.suppress(OSError):
                Path(directory).chmod(0o700)
                for entry in os.scandir(directory):
                    if entry.is_dir(follow_symlinks=False):
                        Path(entry.path).chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)
