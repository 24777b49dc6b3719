"""What is known before a plan is made, as short texts for a model."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from codur.types import Discovery

LISTED_FILES = 60


def file_list(files: Sequence[str], read_only: Collection[str] = ()) -> str:
    """The workspace's files, a line each, with a mark on those that may not be edited; cut after `LISTED_FILES`."""
    lines = [f"{path} (read only)" if path in read_only else path for path in files[:LISTED_FILES]]
    if len(files) > LISTED_FILES:
        lines.append(f"… and {len(files) - LISTED_FILES} more")
    return "\n".join(lines) or "(no files)"


def discovery_text(discovery: Discovery) -> str:
    """What Phase 0 found out, a line each."""
    lines = [f"type by rules: {discovery.task_type}"]
    known = [path for path in discovery.files if path not in discovery.guessed]
    if known:
        lines.append("files named or involved: " + ", ".join(known))
    if discovery.guessed:
        lines.append("files that a classification guessed: " + ", ".join(discovery.guessed))
    if discovery.missing_files:
        lines.append("named but absent: " + ", ".join(discovery.missing_files))
    if discovery.entry:
        lines.append(f"program: {discovery.entry}")
    return "\n".join(lines)
