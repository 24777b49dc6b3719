"""Patches as git prints them (`-U0`), and how they are taken back from the present text, the youngest first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from codur.lazy import regex
from codur.structs import Struct, field

MARK = "\x1e"
"""Begins the line that names a commit: no line of a patch begins with it."""
_BEFORE = regex(r"(?:--- a/|rename from )(.+?)\t?$")
_AFTER = regex(r"(?:\+\+\+ b/|rename to )(.+?)\t?$")
_RANGES = regex(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Edit(Struct):
    """Lines that took the place of others."""

    start: int  # the place of the first new line, from 0; without new lines, of the line that followed the old ones
    old: tuple[str, ...]
    new: tuple[str, ...]


class FilePatch(Struct):
    """What was done to one file; its name before may be another."""

    before: str
    after: str
    edits: tuple[Edit, ...]


class CommitPatch(Struct):
    """What one commit did; without a name, what was not committed."""

    commit: str = ""
    subject: str = ""
    files: tuple[FilePatch, ...] = ()


def read_patches(output: str) -> Iterator[CommitPatch]:
    """The patches in git's output, whose commits are named by lines `MARK` hash, unit separator, subject.

    An output that was cut off gives what is whole. Files with names that git quotes are left out.
    """
    for block in re.split(f"^{MARK}", output, flags=re.MULTILINE):
        head, _, patch = block.partition("\n") if output.startswith(MARK) else ("", "", block)
        commit, _, subject = head.partition("\x1f")
        files = tuple(_files(patch.split("\n")))
        if commit or files:
            yield CommitPatch(commit=commit, subject=subject, files=files)


def _files(lines: list[str]) -> Iterator[FilePatch]:
    before = after = ""
    edits: list[Edit] = []
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if line.startswith("diff --git "):
            yield from _file(before, after, edits)
            before, after, edits = "", "", []
        elif name := _BEFORE.match(line):
            before = name[1]
        elif name := _AFTER.match(line):
            after = name[1]
        elif ranges := _RANGES.match(line):
            edit, position = _edit(ranges, lines, position)
            if edit is None:
                return  # cut off: what this file's other edits are is not known
            edits.append(edit)
    yield from _file(before, after, edits)


def _file(before: str, after: str, edits: list[Edit]) -> Iterator[FilePatch]:
    if before and after:
        yield FilePatch(before=before, after=after, edits=tuple(edits))


def _edit(ranges: re.Match[str], lines: list[str], position: int) -> tuple[Edit | None, int]:
    """The edit whose lines begin at this position, None if some are missing; and where they end."""
    removed, place, added = (int(ranges[number] or 1) for number in (2, 3, 4))
    taken: dict[str, list[str]] = {"-": [], "+": []}
    while len(taken["-"]) < removed or len(taken["+"]) < added:
        if position >= len(lines) or lines[position][:1] not in ("-", "+", "\\"):
            return None, position
        line = lines[position]
        position += 1
        if line[0] != "\\":  # says that the line before has no line end
            taken[line[0]].append(line[1:].removesuffix("\r"))
    start = place - 1 if added else place
    return Edit(start=start, old=tuple(taken["-"]), new=tuple(taken["+"])), position


class Trail(Struct, frozen=False, kw_only=False):
    """A file on its way back through history."""

    lines: list[str]
    origins: list[int] = field(default_factory=list)  # of each line, its place in the present text, from 1; 0: gone

    @staticmethod
    def of(text: str) -> Trail:
        """The way back from the present text."""
        lines = text.split("\n")
        return Trail(lines, list(range(1, len(lines) + 1)))

    def fits(self, patch: FilePatch) -> bool:
        """Whether the patch ends in this text."""
        return all(tuple(self.lines[each.start : each.start + len(each.new)]) == each.new for each in patch.edits)

    def take_back(self, patch: FilePatch) -> list[tuple[int, int, str]]:
        """Go back behind a patch that fits.

        Returns:
            Of each edit that nothing was done to since: where it is in the present text (the first line, and the one
            behind the last), and the text that stood there before.
        """
        found = []
        for edit in reversed(patch.edits):
            end = edit.start + len(edit.new)
            place = self._place(edit.start, end)
            if place is not None:
                found.append((*place, "".join(f"{line}\n" for line in edit.old)))
            self.lines[edit.start : end] = edit.old
            self.origins[edit.start : end] = [0] * len(edit.old)
        return found[::-1]

    def _place(self, start: int, end: int) -> tuple[int, int] | None:
        """Where these lines (or, if there are none, the gap) are in the present text; None if they are not whole."""
        around = [0, *self.origins, 0]
        wanted = around[start + 1 : end + 1] if end > start else around[start : start + 2]
        if any(after - before != 1 for before, after in pairwise(wanted)):
            return None
        if end == start:
            return wanted[1], wanted[1]
        return (wanted[0], wanted[-1] + 1) if wanted[0] else None

    @property
    def text(self) -> str:
        return "\n".join(self.lines)
