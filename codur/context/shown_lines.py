"""What a conversation has shown of the files, and which edits went beyond that."""

import difflib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from codur.context.excerpts import merged

_AROUND = 15
"""Lines above and below one that is shown because an edit meant it."""
_SMALL = 60
"""A file of so many lines is shown whole instead."""


class Sight:
    """The lines (1-based) of each file that were shown."""

    def __init__(self) -> None:
        self._lines: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, shown: Mapping[str, Iterable[range]]) -> None:
        """Take note of what a request shows."""
        for path, ranges in shown.items():
            self._lines[path].update(*ranges)

    def blind(self, path: str, before: str, after: str) -> tuple[range, ...]:
        """The lines of `before` that a change takes out and that were not shown; empty lines do not count."""
        old, seen = before.split("\n"), self._lines[path]
        unseen = (
            range(lines[0], lines[-1] + 1)
            for touched in _touched(old, after.split("\n"))
            if (lines := [line for line in touched if line not in seen and old[line - 1].strip()])
        )
        return tuple(unseen)


def windows(ranges: Iterable[range], count: int) -> list[range]:
    """The ranges of a file of `count` lines with the lines around them; those that meet are one."""
    if count <= _SMALL:
        return [range(1, count + 1)]
    return merged(range(max(1, lines.start - _AROUND), min(count + 1, lines.stop + _AROUND)) for lines in ranges)


def _touched(old: list[str], new: list[str]) -> Iterator[range]:
    """The lines (1-based) of `old` that are not in `new` any more."""
    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    tail = next((at for at in range(least - head) if old[-1 - at] != new[-1 - at]), least - head)
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    for tag, start, end, _, _ in difflib.SequenceMatcher(None, *middle).get_opcodes():
        if tag in {"replace", "delete"}:
            yield range(head + start + 1, head + end + 1)
