"""Unified diffs of file contents, in the form that `git apply` and `patch -p1` read."""

from __future__ import annotations

import base64
import difflib
import hashlib
import io
import string
import zlib

_NO_NEWLINE = "\\ No newline at end of file\n"
_BINARY_LINE = 52
_LENGTHS = string.ascii_uppercase + string.ascii_lowercase


def unified_diff(
    path: str,
    before: bytes | None,
    after: bytes | None,
    *,
    mode_before: int | None = None,
    mode_after: int | None = None,
) -> str:
    """The change of one file from `before` to `after`; None stands for an absent file, no change gives an empty text.

    Bytes that are not UTF-8 are shown as replacement characters; binary files are named only. Of the modes only the
    executable bit is told, as git does.
    """
    modes = (_git_mode(mode_before), _git_mode(mode_after))
    if before == after and (before is None or modes[0] == modes[1]):
        return ""
    old_name = "/dev/null" if before is None else f"a/{path}"
    new_name = "/dev/null" if after is None else f"b/{path}"
    head = _header(path, before, after, modes)
    if before == after:
        return head
    if b"\0" in (before or b"") or b"\0" in (after or b""):
        return f"{head}Binary files {old_name} and {new_name} differ\n"
    lines = difflib.unified_diff(_lines(before), _lines(after), old_name, new_name)
    return head + "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines)


def binary_diff(
    path: str,
    before: bytes | None,
    after: bytes | None,
    *,
    mode_before: int | None = None,
    mode_after: int | None = None,
) -> str:
    """As `unified_diff`, but exact for any bytes and in ASCII alone: in the form of `git diff --binary`.

    That holds both contents whole, deflated, in lines of up to 52 bytes: their number as a letter, then base 85
    (gitformat-pack(5) and git's `diff.c`: `emit_binary_diff_body`).
    """
    modes = (_git_mode(mode_before), _git_mode(mode_after))
    if before == after:
        return unified_diff(path, before, after, mode_before=mode_before, mode_after=mode_after)
    same = f" {modes[0]}" if before is not None and after is not None and modes[0] == modes[1] else ""
    index = f"index {_blob_name(before)}..{_blob_name(after)}{same}\n"
    return f"{_header(path, before, after, modes)}{index}GIT binary patch\n{_literal(after)}{_literal(before)}"


def _blob_name(data: bytes | None) -> str:
    """The name that git gives a file's contents."""
    if data is None:
        return "0" * 40
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _literal(data: bytes | None) -> str:
    deflated = zlib.compress(data or b"")
    parts = [deflated[start : start + _BINARY_LINE] for start in range(0, len(deflated), _BINARY_LINE)]
    lines = [f"{_LENGTHS[len(part) - 1]}{base64.b85encode(part, pad=True).decode('ascii')}\n" for part in parts]
    return f"literal {len(data or b'')}\n{''.join(lines)}\n"


def line_counts(before: bytes | None, after: bytes | None) -> tuple[int, int]:
    """How many lines a change adds and removes."""
    marks = [line[:1] for line in unified_diff("file", before, after).split("\n@@", 1)[-1].split("\n")]
    return marks.count("+"), marks.count("-")


def _git_mode(mode: int | None) -> str:
    return "100755" if mode is not None and mode & 0o111 else "100644"


def _header(path: str, before: bytes | None, after: bytes | None, modes: tuple[str, str]) -> str:
    head = f"diff --git a/{path} b/{path}\n"
    if before is None:
        return f"{head}new file mode {modes[1]}\n"
    if after is None:
        return f"{head}deleted file mode {modes[0]}\n"
    return head if modes[0] == modes[1] else f"{head}old mode {modes[0]}\nnew mode {modes[1]}\n"


def _lines(data: bytes | None) -> list[str]:
    return io.StringIO((data or b"").decode("utf-8", "replace")).readlines()
