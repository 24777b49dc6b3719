"""Source files cut to a token budget: whole where they fit, else the parts that the task is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from codur.agents.parts import Part, parts_of
from codur.tools.repository.selection import Want

SHOWN_NAMES = 12
MIN_WINDOW_CHARS = 200
SHORT_CHARS = 600
_HEAD_NOTE_CHARS = 40


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A file as a model sees it.

    Attributes:
        lines: how many the file has.
        whole: nothing was left out.
        ranges: numbers (1-based) of the lines that are shown, in order.
    """

    path: str
    text: str
    lines: int
    whole: bool
    ranges: tuple[range, ...] = ()


def fit(sources: Mapping[str, str], *, budget_chars: int, wants: Sequence[Want] = (), frame: int = 0) -> list[Excerpt]:
    """Choose what of the files is shown.

    Each want is met in turn, as far as there is room: the whole function or method around a line, or the whole file.

    Args:
        sources: text by path, in the order in which the files are shown.
        budget_chars: characters at most, all files together.
        wants: what should be shown, the most useful first; without any, each file in turn, in part if need be.
        frame: characters that each shown file takes beside its text.

    Returns:
        One excerpt for each file that anything is shown of, in the given order.
    """
    shelf = _Shelf(sources, budget_chars, frame)
    for want in wants or [Want(path=path, partly=True) for path in sources]:
        if want.path in sources:
            shelf.meet(want)
    return shelf.excerpts()


@dataclass(slots=True)
class _Shown:
    """What is shown of one file so far; `parts` is None until the file had to be cut."""

    text: str = ""
    whole: bool = False
    ranges: tuple[range, ...] = ()
    parts: list[Part] | None = None
    kept: set[Part] = field(default_factory=set)


class _Shelf:
    """The files, and the room that is left."""

    def __init__(self, sources: Mapping[str, str], budget: int, frame: int) -> None:
        self._sources = sources
        self._left = budget
        self._frame = frame
        self._shown = {path: _Shown() for path in sources}

    def meet(self, want: Want) -> None:
        """Show what is wanted, if there is room for it."""
        shown = self._shown[want.path]
        if shown.whole:
            return
        if want.line:
            self._show_line(want)
        elif not self._put_whole(want.path) and want.partly:
            self._show_parts(want.path)

    def excerpts(self) -> list[Excerpt]:
        """What is shown, file by file."""
        return [
            Excerpt(path, shown.text, _line_count(self._sources[path]), whole=shown.whole, ranges=shown.ranges)
            for path, shown in self._shown.items()
            if shown.text
        ]

    def _put_whole(self, path: str) -> bool:
        text = self._sources[path]
        put = self._put(path, text, [range(1, _line_count(text) + 1)])
        self._shown[path].whole |= put
        return put

    def _put(self, path: str, text: str, ranges: Sequence[range]) -> bool:
        """Show `text` of a file in place of what was shown of it; False if there is no room."""
        shown = self._shown[path]
        before = len(shown.text) + (self._frame if shown.text else 0)
        if not text or len(text) + self._frame - before > self._left:
            return False
        self._left -= len(text) + self._frame - before
        shown.text, shown.ranges = text, tuple(ranges)
        return True

    def _show_line(self, want: Want) -> None:
        path, shown = want.path, self._shown[want.path]
        parts = self._parts(path)
        part = next((part for part in parts if part.start < want.line <= part.end), None)
        if part in shown.kept:
            return
        lines = self._sources[path].splitlines()
        if part is not None and self._keep(path, part, lines):
            self._keep_imports(path, lines)
            return
        room = self._left - self._frame
        if not shown.text and room >= MIN_WINDOW_CHARS:
            self._put(path, *_window(lines, want.line, room // 2))

    def _keep_imports(self, path: str, lines: list[str]) -> None:
        """With a part of a file, what it needs of the rest: imports and constants, if they are short."""
        for part in self._parts(path):
            short = sum(len(line) + 1 for line in lines[part.start : part.end]) <= SHORT_CHARS
            if not part.name and short and part not in self._shown[path].kept:
                self._keep(path, part, lines)

    def _show_parts(self, path: str) -> None:
        lines = self._sources[path].splitlines()
        for part in self._parts(path):
            if part not in self._shown[path].kept:
                self._keep(path, part, lines)
        if not self._shown[path].text:
            self._put(path, *_head(lines, self._left - self._frame))

    def _keep(self, path: str, part: Part, lines: list[str]) -> bool:
        shown = self._shown[path]
        kept = {*shown.kept, part}
        if not self._put(path, *_joined(self._parts(path), lines, kept)):
            return False
        shown.kept = kept
        return True

    def _parts(self, path: str) -> list[Part]:
        shown = self._shown[path]
        if shown.parts is None:
            shown.parts = parts_of(self._sources[path])
        return shown.parts


def _line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _joined(parts: Sequence[Part], lines: Sequence[str], kept: set[Part]) -> tuple[str, list[range]]:
    """The kept parts in order; what was left out between them becomes a line with the names."""
    shown: list[str] = []
    ranges: list[range] = []
    for whole, run in groupby(parts, key=lambda part: part in kept):
        group = list(run)
        if whole:
            shown.append("\n".join(lines[group[0].start : group[-1].end]))
            ranges.append(range(group[0].start + 1, group[-1].end + 1))
        else:
            names = [f"{part.name} ({part.start + 1})" for part in group if part.name]
            named = f": {', '.join(names[:SHOWN_NAMES])}{', …' if len(names) > SHOWN_NAMES else ''}" if names else ""
            shown.append(f"# … lines {group[0].start + 1} to {group[-1].end} not shown{named}")
    return "\n".join(shown), ranges


def _head(lines: Sequence[str], budget: int) -> tuple[str, list[range]]:
    kept: list[str] = []
    used = _HEAD_NOTE_CHARS
    for line in lines:
        used += len(line) + 1
        if used > budget:
            break
        kept.append(line)
    if not kept:
        return "", []
    return "\n".join([*kept, f"# … {len(lines) - len(kept)} more lines not shown"]), [range(1, len(kept) + 1)]


def _window(lines: Sequence[str], line: int, budget: int) -> tuple[str, list[range]]:
    """Whole lines around a line (1-based), with what is left out said above and below."""
    start = end = max(0, min(line, len(lines)) - 1)
    room = budget - 2 * _HEAD_NOTE_CHARS
    while room > 0 and (start > 0 or end < len(lines)):
        room -= (len(lines[end]) if end < len(lines) else 0) + (len(lines[start - 1]) if start else 0) + 2
        if room >= 0:
            start, end = max(0, start - 1), min(len(lines), end + 1)
    if start == end:
        return "", []
    above = [f"# … lines 1 to {start} not shown"] if start else []
    below = [f"# … {len(lines) - end} more lines not shown"] if end < len(lines) else []
    return "\n".join([*above, *lines[start:end], *below]), [range(start + 1, end + 1)]
