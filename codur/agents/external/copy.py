"""The copy of a workspace that an external agent works in, and what it changed there: taken over whole or not."""

import fnmatch
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from codur.config.protected import has_protected_name, instructs_agents, sets_agents
from codur.errors import WorkspaceError
from codur.parsing.bounded_text import listed
from codur.sandbox.scratch import entries_of
from codur.structs import Struct, field
from codur.workspace.listing import SKIPPED_DIRECTORIES
from codur.workspace.private import may_hold_secrets
from codur.workspace.workspace import Workspace

MAX_CHANGED = 500
MAX_CHANGED_BYTES = 33_554_432
_MAX_ENTRIES = 50_000
_MAX_FILES = 10_000
_SHOWN = 3
_LOOK = "look at them with `codur trust`"
MayInstruct = Callable[[str, bytes], bool]
"""Whether the user has accepted a file of the project, by its path and content, as instructions."""


class Copy(Struct):
    """A copy as it was made."""

    root: Path
    digests: Mapping[str, bytes]  # SHA-256 of each file, by its path
    # files of the workspace that it lacks on purpose; that they are not there is no deletion
    withheld: frozenset[str] = frozenset()
    unaccepted: tuple[str, ...] = ()  # those of them that are instructions which the user has not accepted

    @property
    def note(self) -> str:
        """What the user is told of what it lacks; empty if that is nothing that could be accepted."""
        if not self.unaccepted:
            return ""
        names = listed(self.unaccepted, _SHOWN)
        return f"{names}: instructions not given to other agents, as they are not accepted; {_LOOK}"


class Changes(Struct):
    """What an agent left behind."""

    # new contents by path; None for a file that it deleted
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)  # paths that are never taken over, with the reason
    problem: str = ""  # why nothing can be taken over at all; empty if something can


def copy_workspace(workspace: Workspace, target: Path, *, may_instruct: MayInstruct) -> Copy:
    """Copy what is listed of a workspace, and what defines the check, to the directory `target`, which is made.

    Left out: what git ignores, repositories, settings of other programs, files that are likely to hold secrets, and
    instructions for agents that the user has not accepted: whoever wrote them would command an agent with its key.
    Raises WorkspaceError: there is too much to copy, or a file cannot be read.
    """
    asked = workspace.to_copy()
    withheld = {path for path in asked if _is_withheld(path, workspace)}
    made = workspace.scratch_copy(target, only=(path for path in asked if path not in withheld), alone=True)
    digests: dict[str, bytes] = {}
    unaccepted: list[str] = []
    for path in asked:
        if path in withheld:
            continue
        place = made.root / path
        content = place.read_bytes()
        if instructs_agents(path) and not may_instruct(path, content):
            unaccepted.append(path)
            place.unlink()
        else:
            digests[path] = hashlib.sha256(content).digest()
    return Copy(
        root=made.root,
        digests=digests,
        withheld=frozenset({*withheld, *unaccepted}),
        unaccepted=tuple(sorted(unaccepted, key=lambda path: (path.count("/"), path))),
    )


def _is_withheld(path: str, workspace: Workspace) -> bool:
    """Whether a file, or what it leads to through links, is kept from every agent; goes by the names."""
    real = workspace.resolve(path).relative_to(workspace.root).as_posix()
    return any(has_protected_name(name) or sets_agents(name) or may_hold_secrets(name) for name in (path, real))


def changes_in(copy: Copy, *, max_file_bytes: int, leaves: Sequence[str] = ()) -> Changes:
    """What differs from the copy as it was made, but for what the agent `leaves` by nature; no links are followed."""
    refused = dict(_refused(copy.root, leaves))
    workspace = Workspace(copy.root, max_file_bytes=max_file_bytes, durable=False)
    try:
        listed = workspace.list_files(limit=_MAX_FILES + 1)
    except WorkspaceError as error:
        return Changes(problem=error.message)
    candidates = sorted({*listed, *copy.digests})
    if len(listed) > _MAX_FILES:
        return Changes(problem=f"it left more than {_MAX_FILES} files behind")
    files: dict[str, bytes | None] = {}
    for path in candidates:
        if path in refused or _is_left(path, leaves) or any(path.startswith(f"{above}/") for above in refused):
            continue
        try:
            data = workspace.read_bytes(path) if os.path.lexists(workspace.root / path) else None
        except WorkspaceError as error:
            refused[path] = error.message
            continue
        if data is None or hashlib.sha256(data).digest() != copy.digests.get(path):
            files[path] = data
    return _bounded(files, refused)


def _bounded(files: Mapping[str, bytes | None], refused: Mapping[str, str]) -> Changes:
    size = sum(len(data) for data in files.values() if data is not None)
    if len(files) > MAX_CHANGED:
        return Changes(refused=refused, problem=f"it changed {len(files)} files; {MAX_CHANGED} at most are taken over")
    if size > MAX_CHANGED_BYTES:
        return Changes(
            refused=refused, problem=f"it wrote {size >> 20} MiB; {MAX_CHANGED_BYTES >> 20} at most are taken"
        )
    return Changes(files=files, refused=refused)


def _refused(root: Path, leaves: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Links, things that are no files, and names that other programs act on, as far as a bounded search finds them."""
    for path, place in _entries(root):
        if _is_left(path, leaves):
            continue
        mode = place.lstat().st_mode
        if stat.S_ISLNK(mode):
            yield path, "is a link"
        elif has_protected_name(path):
            yield path, "is a name that other programs act on"
        elif not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            yield path, "is no regular file"


def _entries(root: Path) -> Iterator[tuple[str, Path]]:
    """What is in a directory, with all below; of protected and skipped directories only themselves."""
    # Not by os.walk, which recurses before Python 3.12: a program may leave a tree of any depth.
    waiting, seen = [""], 0
    while waiting and seen < _MAX_ENTRIES:
        base = waiting.pop()
        for entry in sorted(entries_of(root / base), key=lambda entry: entry.name):
            seen += 1
            path, protected = f"{base}{entry.name}", has_protected_name(entry.name)
            skipped = entry.name in SKIPPED_DIRECTORIES and entry.is_dir(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False) and not skipped and not protected:
                waiting.append(f"{path}/")
            if protected or not skipped:
                yield path, Path(entry.path)


def _is_left(path: str, leaves: Sequence[str]) -> bool:
    parts = path.split("/")
    heads = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return any(fnmatch.fnmatchcase(name, glob) for glob in leaves for name in (*heads, *parts))


Allowed = Callable[[str], bool]
"""Whether a change to a workspace-relative path may be taken over."""

_NAMED = 8


class Taken(Struct):
    """What was taken over."""

    changed_files: tuple[str, ...] = ()  # what is different in the workspace now
    notes: tuple[str, ...] = ()  # one line for each kind of change that was not taken over
    problem: str = ""  # why nothing was taken over; empty if that is not so


def take_over(agent: str, changes: Changes, copy: Copy, workspace: Workspace, *, allowed: Allowed) -> Taken:
    """Apply changes to paths that are allowed, through the workspace's journal, so that they can be undone."""
    refused = dict(changes.refused)
    wanted: dict[str, bytes | None] = {}
    for path, data in changes.files.items():
        reason = "was kept from it" if path in copy.withheld else _why_not(path, workspace, allowed)
        if reason:
            refused[path] = reason
        else:
            wanted[path] = data
    notes = _notes(agent, refused)
    # After the notes: what was refused is told even where nothing is taken over.
    if changes.problem:
        return Taken(notes=notes, problem=changes.problem)
    # The user, or another program, may have worked on the same files while the agent did; their work is not
    # overwritten.
    moved = next((path for path in wanted if not _is_as_copied(path, copy, workspace)), None)
    if moved is not None:
        return Taken(notes=notes, problem=f"{moved} was changed in the workspace meanwhile")
    start = workspace.snapshot()
    try:
        for path in sorted(wanted, key=lambda name: wanted[name] is not None):  # what is deleted makes room
            data = wanted[path]
            if data is None:
                workspace.delete(path)
            else:
                workspace.write_bytes(path, data)
    except WorkspaceError as error:
        workspace.restore(start)
        return Taken(notes=notes, problem=error.message)
    return Taken(changed_files=tuple(sorted(wanted)), notes=notes)


def _why_not(path: str, workspace: Workspace, allowed: Allowed) -> str:
    try:
        if workspace.is_protected(path):
            return "is protected"
    except WorkspaceError:
        return "leads out of the workspace"
    return "" if workspace.scope.allows(path) and allowed(path) else "is out of scope"


def _is_as_copied(path: str, copy: Copy, workspace: Workspace) -> bool:
    before = copy.digests.get(path)
    if not workspace.exists(path):
        return before is None
    try:
        return hashlib.sha256(workspace.read_bytes(path)).digest() == before
    except WorkspaceError:
        return False


def _notes(agent: str, refused: dict[str, str]) -> tuple[str, ...]:
    by_reason: dict[str, list[str]] = {}
    for path, reason in sorted(refused.items()):
        by_reason.setdefault(reason, []).append(path)
    return tuple(
        f"not taken over from {agent}: {listed(paths, _NAMED)}: {reason}" for reason, paths in by_reason.items()
    )
