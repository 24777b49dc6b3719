"""What programs changed in a workspace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from codur.structs import Struct
from codur.workspace.disk.path_state import same
from codur.workspace.history.disk_journal import Entry
from codur.workspace.history.net_changes import net_changes


class CommandChange(Struct):
    """The net change of one path that programs, and not tools, changed."""

    path: str
    kind: Literal["made", "changed", "deleted", "mode"]


def command_changes(entries: Iterable[Entry]) -> tuple[CommandChange, ...]:
    """What programs changed and is still so, by path; paths that tools changed, too, are left out."""
    found: list[CommandChange] = []
    for change in net_changes(entries).values():
        if "command" not in change.by or "tool" in change.by:
            continue
        before, after = change.before, change.after
        if not same(before, after):
            kind: Literal["made", "changed", "deleted"] = (
                "made" if before is None else "deleted" if after is None else "changed"
            )
            found.append(CommandChange(path=change.path, kind=kind))
        elif before is not None and after is not None and before.mode != after.mode:
            found.append(CommandChange(path=change.path, kind="mode"))
    return tuple(found)
