"""The patch of a solved challenge, exact to the byte also where files are not UTF-8 text."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from codur.workspace.history.diff import FileChange

_File = tuple[bytes | None, int | None]
_NONE: _File = (None, None)


def exact_patch(diff: str, paths: Sequence[str], before: Path, after: Path, redact: Callable[[str], str]) -> str:
    """A patch that `git apply` turns the one directory's files with into the other's.

    Args:
        diff: of these files, where bytes that are no text are shown as replacement characters.
        paths: of the changed files, relative to both directories.
        redact: takes secrets out of a text. A patch with whole contents would hold them unseen, so then the diff stays.

    Returns:
        `diff` itself if all of it is text.

    Raises:
        OSError: a file cannot be read.
    """
    files = [(path, _file(before / path), _file(after / path)) for path in paths]
    contents = [data for _, old, new in files for data, _ in (old, new) if data is not None]
    if all(map(_is_text, contents)) or any(_holds_secret(data, redact) for data in contents):
        return diff
    return "".join(_patch(path, old, new) for path, old, new in files)


def _patch(path: str, old: _File, new: _File) -> str:
    is_text = all(data is None or _is_text(data) for data, _ in (old, new))
    change = FileChange(path=path, before=old[0], after=new[0], mode_before=old[1], mode_after=new[1])
    return change.diff() if is_text else change.binary_diff()


def _file(path: Path) -> _File:
    return (path.read_bytes(), path.stat().st_mode) if os.path.lexists(path) else _NONE


def _is_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _holds_secret(data: bytes, redact: Callable[[str], str]) -> bool:
    text = data.decode("latin-1")
    return redact(text) != text
