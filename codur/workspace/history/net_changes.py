"""What a sequence of journal entries amounts to, path by path."""

from __future__ import annotations

from collections.abc import Iterable

from codur.structs import Struct
from codur.workspace.disk.path_state import PathState, same
from codur.workspace.history.disk_journal import Entry


class NetChange(Struct):
    """What happened to one path from the first to the last entry.

    Attributes:
        before: what is to be there again if it is put back.
        left: what may be there now if nobody else touched it: the last entry's outcome, and if it was not confirmed
            also what was there before it.
        by: who changed it.
    """

    path: str
    before: PathState | None
    left: tuple[PathState | None, ...]
    by: frozenset[str]

    @property
    def after(self) -> PathState | None:
        """What the last entry put there."""
        return self.left[0]


def net_changes(entries: Iterable[Entry]) -> dict[str, NetChange]:
    """The entries by path, in the order of the paths.

    If someone else changed a path between two entries, what they left is what is to be there again.
    """
    found: dict[str, NetChange] = {}
    for entry in entries:
        if not entry.path:
            continue
        known = found.get(entry.path)
        goes_on = known is not None and any(same(entry.before, left) for left in known.left)
        found[entry.path] = NetChange(
            path=entry.path,
            before=known.before if known is not None and goes_on else entry.before,
            left=(entry.after,) if entry.confirmed else (entry.after, entry.before),
            by=frozenset({entry.by}) | (known.by if known else frozenset()),
        )
    return dict(sorted(found.items()))


def directories_made(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Directories that were made along the way, innermost first."""
    return tuple(sorted({name for entry in entries for name in entry.directories}, reverse=True))
