"""What programs changed in a workspace that was out of scope."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from codur.types import ScopeViolation
from codur.workspace.disk.path_state import PathState, same
from codur.workspace.history.disk_journal import Entry
from codur.workspace.history.net_changes import NetChange, net_changes
from codur.workspace.scope import Scope


def breaches(entries: Iterable[Entry], scope: Scope, edited: Collection[str]) -> dict[str, NetChange]:
    """The changes of programs that are to be put back, by path: out of scope, or of more files than may change.

    Args:
        edited: paths that tools changed; they are in scope, and the first to count.
    """
    changes = {
        path: change
        for path, change in net_changes(entries).items()
        if "command" in change.by and path not in edited and not same(change.before, change.after)
    }
    found = {path: change for path, change in changes.items() if not scope.allows(path)}
    if scope.max_files:
        allowed = [path for path, change in changes.items() if path not in found and not _is_directory(change)]
        for path in allowed[max(0, scope.max_files - len(edited)) :]:
            found[path] = changes[path]
    return dict(sorted(found.items()))


def violations(found: Iterable[NetChange], left: Collection[str]) -> tuple[ScopeViolation, ...]:
    """What is told of such changes; a directory is told of by what is in it.

    Args:
        left: paths that could not be put back.
    """
    return tuple(
        ScopeViolation(path=change.path, change=_kind(change.before, change.after), reverted=change.path not in left)
        for change in found
        if not _is_directory(change)
    )


def _kind(before: PathState | None, after: PathState | None) -> Literal["made", "changed", "deleted"]:
    return "made" if before is None else "deleted" if after is None else "changed"


def _is_directory(change: NetChange) -> bool:
    return "directory" in {state.kind for state in (change.before, change.after) if state is not None}
