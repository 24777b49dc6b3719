"""Unified diffs of file contents, in the form that `git apply` and `patch -p1` read."""

import base64
import hashlib
import io
import zlib
from collections import Counter

from codur.lazy import late
from codur.structs import Struct

difflib = late("difflib")

_MOST_MERGED, _MOST_PAIRS = 5_000, 500_000  # lines; pairs of equal lines, of which many take very long

_NO_NEWLINE = "\\ No newline at end of file\n"
_BINARY_LINE = 52
_LENGTHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class FileChange(Struct):
    """The change of one file; None stands for an absent file."""

    path: str
    before: bytes | None
    after: bytes | None
    mode_before: int | None = None
    mode_after: int | None = None

    def diff(self, context: int = 3) -> str:
        """The change as a unified diff; empty if there is none.

        What is not UTF-8 is shown as Latin-1; binary files are named only. Of the modes only
        the executable bit is told, as git does.

        Args:
            context: lines shown around each change.
        """
        before, after = self.before, self.after
        if before == after:
            return "" if before is None or self._same_mode else self._header()
        if b"\0" in (before or b"") or b"\0" in (after or b""):  # git's own rule for what is binary
            return f"{self._header()}Binary files {self._old_name} and {self._new_name} differ\n"
        names = (self._old_name, self._new_name)
        lines = difflib.unified_diff(_lines(before), _lines(after), *names, n=context)
        return self._header() + "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines)

    def binary_diff(self) -> str:
        """As `diff`, but exact for any bytes and in ASCII alone: in the form of `git diff --binary`.

        That holds both contents whole, deflated, in lines of up to 52 bytes: their number as a letter, then base 85
        (gitformat-pack(5) and git's `diff.c`: `emit_binary_diff_body`).
        """
        before, after = self.before, self.after
        if before == after:
            return self.diff()
        same = f" {_git_mode(self.mode_before)}" if None not in (before, after) and self._same_mode else ""
        index = f"index {_blob_name(before)}..{_blob_name(after)}{same}\n"
        return f"{self._header()}{index}GIT binary patch\n{_literal(after)}{_literal(before)}"

    @property
    def _old_name(self) -> str:
        return "/dev/null" if self.before is None else f"a/{self.path}"

    @property
    def _new_name(self) -> str:
        return "/dev/null" if self.after is None else f"b/{self.path}"

    @property
    def _same_mode(self) -> bool:
        return _git_mode(self.mode_before) == _git_mode(self.mode_after)

    def _header(self) -> str:
        head = f"diff --git a/{self.path} b/{self.path}\n"
        if self.before is None:
            return f"{head}new file mode {_git_mode(self.mode_after)}\n"
        if self.after is None:
            return f"{head}deleted file mode {_git_mode(self.mode_before)}\n"
        modes = f"old mode {_git_mode(self.mode_before)}\nnew mode {_git_mode(self.mode_after)}\n"
        return head if self._same_mode else head + modes


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
    diff = FileChange(path="file", before=before, after=after).diff()
    marks = [line[:1] for line in diff.split("\n@@", 1)[-1].split("\n")]
    return marks.count("+"), marks.count("-")


def _git_mode(mode: int | None) -> str:
    return "100755" if mode is not None and mode & 0o111 else "100644"


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "surrogateescape")
    if not text.isascii():  # a byte that is no part of UTF-8 is U+DC80 to U+DCFF
        text = "".join(chr(ord(char) - 0xDC00) if "\udc80" <= char <= "\udcff" else char for char in text)
    return io.StringIO(text).readlines()


def merged(now: bytes, before: bytes, after: bytes) -> bytes | None:
    """`now` with the change from `before` to `after` made; None if it is no text, or other changes are too near.

    What was added at an end of the file is near to a change there.
    """
    base, wanted, mine = (data.splitlines(keepends=True) for data in (before, after, now))
    if not base or max(map(len, (base, wanted, mine))) > _MOST_MERGED or b"\0" in now:
        return None
    times, length = Counter(base), len(mine)
    if sum(times[line] for line in (*mine, *wanted)) > _MOST_PAIRS:
        return None
    blocks = difflib.SequenceMatcher(None, base, mine, autojunk=False).get_matching_blocks()
    for tag, start, end, first, last in reversed(
        difflib.SequenceMatcher(None, base, wanted, autojunk=False).get_opcodes()
    ):
        if tag == "equal":
            continue
        above, below = max(start - 1, 0), min(end + 1, len(base))  # with a line around it
        moved = next((b - a for a, b, size in blocks if a <= above and below <= a + size), None)
        if moved is None or (start == 0 and moved) or (end == len(base) and end + moved != length):
            return None
        mine[start + moved : end + moved] = wanted[first:last]
    return b"".join(mine) if all(line.endswith((b"\n", b"\r")) for line in mine[:-1]) else None


def lines_changed(change: FileChange) -> set[int]:
    """The lines (from 1) of the new text that a change wrote, and those beside what it took out."""
    found: set[int] = set()
    matcher = difflib.SequenceMatcher(None, _lines(change.before), _lines(change.after), autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind != "equal":
            found.update(range(start + 1, end + 1) if end > start else (start, start + 1))
    return found
