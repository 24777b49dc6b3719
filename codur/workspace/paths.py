"""Names of files: normal form inside the workspace, and which of them are protected."""

import os
import posixpath
import unicodedata
from pathlib import Path

from codur.config.protected import PROTECTED_NAMES as PROTECTED_NAMES
from codur.config.protected import fold as fold
from codur.config.protected import fold_path as fold_path
from codur.config.protected import has_protected_name as has_protected_name
from codur.lazy import regex
from codur.workspace.problems import FileError, from_os_error

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4095
"""What Linux and macOS allow at most (NAME_MAX, PATH_MAX without its final NUL); macOS allows less for a path."""

_SURROGATE = regex(r"[\ud800-\udfff]")


def normalise(root: Path, path: str | Path) -> str:
    """`path`, relative to `root` or absolute inside it, as a relative posix path; the root itself is the empty string.

    Raises:
        FileError: the path has a NUL or half a character, is too long, or leads out of the root.
    """
    text = os.fspath(path)
    if "\0" in text:
        raise FileError("a path must not contain a NUL character", code="invalid")
    # Models like to name whole paths; inside the workspace they mean the same.
    if posixpath.isabs(text):
        # The root's own name may have bytes that are no text; anything else that has no bytes names no file.
        _require_text(text.removeprefix(f"{root}/"))
        text = _inside(root, text)
    normal = posixpath.normpath(text) if text else "."
    if normal == ".." or normal.startswith("../"):
        raise outside(os.fspath(path))
    _require_text(normal)
    if any(len(part.encode()) > MAX_NAME_BYTES for part in normal.split("/")):
        raise FileError(f"a name in the path is longer than {MAX_NAME_BYTES} bytes", code="invalid")
    if len(os.fsencode(root)) + 1 + len(normal.encode()) > MAX_PATH_BYTES:
        raise FileError(f"the path is longer than {MAX_PATH_BYTES} bytes", code="invalid")
    return "" if normal == "." else normal


def _require_text(relative: str) -> None:
    odd = _SURROGATE.search(relative)
    if odd:
        raise FileError(f"a path must not contain {odd[0]!r}, which is no character", code="invalid")


def real(root: Path, path: str | Path) -> str:
    """As `normalise`, with links resolved: the one key under which a file is known.

    Raises:
        FileError: as `normalise`, also for what a link leads to.
    """
    normal = normalise(root, path)
    try:
        # Links are resolved once, here; what is opened then is opened step by step without them.
        found = os.path.realpath(root / normal)
    except OSError as error:
        # A link was taken away while it was read.
        raise from_os_error(normal, error) from error
    if found == str(root):
        return ""
    if not found.startswith(f"{root}/"):
        raise outside(os.fspath(path))
    return found[len(str(root)) + 1 :]


def _inside(root: Path, text: str) -> str:
    for candidate in (posixpath.normpath(text), _without_links(text)):
        relative = posixpath.relpath(candidate, root)
        if relative != ".." and not relative.startswith("../"):
            return relative
    raise outside(text)


def _without_links(text: str) -> str:
    try:
        return os.path.realpath(text)
    except OSError as error:
        raise from_os_error(text, error) from error


def outside(path: str) -> FileError:
    """The problem of a path that leads out of the workspace."""
    return FileError(
        f"{path!r} is outside the workspace", code="refused", remedy="Name a file inside the workspace directory."
    )


def can_be_shown(name: str) -> bool:
    """Whether a name has neither control characters nor bytes that are not text."""
    if name.isascii():
        return name.isprintable()
    return not any(unicodedata.category(char) in ("Cc", "Cs") for char in name)


def existing(root: Path, rel: str | Path) -> Path | None:
    """What is at a path, without links; None if there is nothing, or it is outside."""
    try:
        found = root / real(root, rel)
        os.lstat(found)
    except (FileError, OSError):
        return None
    return found
