"""Takes over into the workspace what an agent changed in its copy: all of what is allowed, or nothing."""

import hashlib
from collections.abc import Callable

from codur.agents.external.copy import Changes, Copy
from codur.errors import WorkspaceError
from codur.structs import Struct
from codur.workspace.workspace import Workspace

Allowed = Callable[[str], bool]
"""Whether a change to a workspace-relative path may be taken over."""

_NAMED = 8


class Taken(Struct):
    """What was taken over.

    Attributes:
        changed_files: what is different in the workspace now.
        notes: one line for each kind of change that was not taken over.
        problem: why nothing was taken over; empty if that is not so.
    """

    changed_files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""


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
    told = []
    for reason, paths in by_reason.items():
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        told.append(f"not taken over from {agent}: {', '.join(paths[:_NAMED])}{more}: {reason}")
    return tuple(told)
