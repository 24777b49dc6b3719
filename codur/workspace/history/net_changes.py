"""What a sequence of journal entries amounts to, path by path."""

from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from codur.store.blobs import BlobStore
from codur.structs import Struct
from codur.types import ScopeViolation
from codur.workspace.disk.path_state import PathState, same
from codur.workspace.history.diff import FileChange
from codur.workspace.history.journal import Entry
from codur.workspace.scope import Scope


class NetChange(Struct):
    """What happened to one path from the first to the last entry."""

    path: str
    before: PathState | None  # what is to be there again if it is put back
    # what may be there now if nobody else touched it: the last entry's outcome, and if it was not confirmed also what
    # was there before it
    left: tuple[PathState | None, ...]
    by: frozenset[str]  # who changed it

    @property
    def after(self) -> PathState | None:
        """What the last entry put there."""
        return self.left[0]

    @property
    def kind(self) -> Literal["made", "changed", "deleted"]:
        """What became of the path."""
        return "made" if self.before is None else "deleted" if self.after is None else "changed"

    @property
    def differs(self) -> bool:
        """Whether anything is left of it: content, kind or mode are not what they were."""
        modes = {state.mode if state else None for state in (self.before, self.after)}
        return not same(self.before, self.after) or len(modes) > 1

    @property
    def is_directory(self) -> bool:
        """Whether a directory is or was there."""
        return "directory" in {state.kind for state in (self.before, self.after) if state is not None}


class CommandChange(Struct):
    """The net change of one path that programs, and not tools, changed."""

    path: str
    kind: Literal["made", "changed", "deleted", "mode"]


def net_changes(entries: Iterable[Entry]) -> dict[str, NetChange]:
    """The entries by path, in the order of the paths.

    If someone else changed a path between two entries, what they left is what is to be there again.
    """
    found: dict[str, NetChange] = {}
    for entry in entries:
        if not entry.path:
            continue
        known = found.get(entry.path)
        # Where it does not, somebody else wrote in between, and theirs is what is to come back.
        goes_on = known is not None and any(same(entry.before, left) for left in known.left)
        found[entry.path] = NetChange(
            path=entry.path,
            before=known.before if known is not None and goes_on else entry.before,
            left=(entry.after,) if entry.confirmed else (entry.after, entry.before),
            by=frozenset({entry.by}) | (known.by if known else frozenset()),
        )
    return dict(sorted(found.items()))


def of_tools(entries: Iterable[Entry]) -> Iterator[tuple[int, Entry]]:
    """The entries with their numbers, without those of programs but for paths that a tool had changed before.

    What becomes of such a path is the run's doing, whoever changes it then.
    """
    touched = set[str]()
    for number, entry in enumerate(entries):
        if entry.by == "tool":
            touched.add(entry.path)
        if entry.path in touched or not entry.path:
            yield number, entry


def file_change(change: NetChange, blobs: BlobStore) -> FileChange:
    """The change with the contents, as far as they are kept; where a link leads is its content.

    Raises:
        StateError: a kept content is damaged.
    """
    contents, modes = [], []
    for state in (change.before, change.after):
        data = None if state is None else state.target.encode("utf-8", "surrogateescape")
        if state is not None and state.kind == "file":
            data = blobs.get(state.content) if state.content in blobs else b""
        contents.append(data)
        modes.append(state.mode if state else None)
    return FileChange(
        path=change.path, before=contents[0], after=contents[1], mode_before=modes[0], mode_after=modes[1]
    )


def directories_made(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Directories that were made along the way, innermost first."""
    # what is inside sorts after what is around it
    return tuple(sorted({name for entry in entries for name in entry.directories}, reverse=True))


def command_changes(entries: Iterable[Entry]) -> tuple[CommandChange, ...]:
    """What programs changed and is still so, by path; paths that tools changed, too, are left out."""
    return tuple(
        CommandChange(path=change.path, kind="mode" if same(change.before, change.after) else change.kind)
        for change in net_changes(entries).values()
        if "command" in change.by and "tool" not in change.by and change.differs
    )


# --- what was out of scope --------------------------------------------------------------------------------------------


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
        allowed = [path for path, change in changes.items() if path not in found and not change.is_directory]
        for path in allowed[max(0, scope.max_files - len(edited)) :]:
            found[path] = changes[path]
    return dict(sorted(found.items()))


def violations(found: Iterable[NetChange], left: Collection[str]) -> tuple[ScopeViolation, ...]:
    """What is told of such changes (`left`: not put back); a directory is told of by what is in it."""
    return tuple(
        ScopeViolation(path=change.path, change=change.kind, reverted=change.path not in left)
        for change in found
        if not change.is_directory
    )
