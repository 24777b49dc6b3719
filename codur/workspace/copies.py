"""Copying a workspace's files to a directory where candidates can be tried."""

import hashlib
import os
import posixpath
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from codur.lazy import late
from codur.workspace import paths
from codur.workspace.disk.file_access import open_file
from codur.workspace.disk.root import Root
from codur.workspace.problems import FileError, from_os_error

shutil = late("shutil")

MAX_FILES = 10_000  # a copy for every answer and confirmation: more would take longer than what it is for
MAX_BYTES = 268_435_456


_REMEDY = "Name in .gitignore what need not be copied, or work in a part of the project."


def few_enough(relative_paths: Iterable[str]) -> tuple[str, ...]:
    """The paths, each once and in order. Raises WorkspaceError: more than 10,000."""
    wanted = tuple(sorted(set(relative_paths)))
    if len(wanted) > MAX_FILES:
        raise FileError(
            f"the workspace has more than {MAX_FILES} files, too many to copy", code="too_large", remedy=_REMEDY
        )
    return wanted


def copy_files(root: Root, relative_paths: Iterable[str], target: Path) -> None:
    """Copy files (links as what they lead to) with mode and times to the same places below `target`, which is made.

    Raises:
        WorkspaceError: more than 10,000 files or 256 MiB, or a file cannot be copied.
    """
    wanted = few_enough(relative_paths)
    left = MAX_BYTES
    try:
        target.mkdir(parents=True, exist_ok=True)
        for directory in dict.fromkeys(map(posixpath.dirname, wanted)):
            (target / directory).mkdir(parents=True, exist_ok=True)
        for path in wanted:
            # Counted while it is copied: sizes may change after a listing.
            left -= _copy(root, path, target / path)
            if left < 0:
                raise FileError(
                    f"the workspace holds more than {MAX_BYTES >> 20} MiB, too much to copy",
                    code="too_large",
                    remedy=_REMEDY,
                )
    except OSError as error:
        raise from_os_error(str(error.filename or target), error) from error


def put_as_found(root: Path, originals: Mapping[str, bytes | None]) -> None:
    """Give files below a directory their bytes from before a change; take those away that have none."""
    for path, data in originals.items():
        place = root / path
        if data is None:
            place.unlink(missing_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


def installed_in(root: Path) -> tuple[Path, ...]:
    """The packages and environments at the top of a workspace and one below."""
    names = ("node_modules", ".venv", "venv")
    return tuple(path for name in names for path in (*root.glob(name), *root.glob(f"*/{name}")) if path.is_dir())


def link_installed(root: Path, target: Path) -> None:
    """Link what is installed in them into a copy: it is large, and only read. Caches beside it can be written there."""
    for path in installed_in(root):
        place = target / path.relative_to(root)
        if place.parent.is_dir() and not place.exists():
            place.mkdir()
            for each in path.iterdir():
                (place / each.name).symlink_to(each)


def content_of(root: Path) -> bytes:
    """What tells copies apart in which a file's name, mode or content differs."""
    found = hashlib.sha256()
    for path in sorted(each for each in root.rglob("*") if not each.is_dir()):
        data = path.read_bytes()
        found.update(f"{path.relative_to(root)}\0{path.stat().st_mode}\0{len(data)}\0".encode(errors="surrogateescape"))
        found.update(data)
    return found.digest()


def _copy(root: Root, path: str, target: Path) -> int:
    """Copy one file; returns its bytes, and copies nothing if there are too many."""
    with open_file(root, paths.real(root.path, path)) as descriptor:
        status = os.fstat(descriptor)
        if status.st_size > MAX_BYTES:
            return status.st_size
        with os.fdopen(os.dup(descriptor), "rb") as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
        target.chmod(stat.S_IMODE(status.st_mode))
        os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return status.st_size
