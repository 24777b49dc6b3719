"""Names of files and directories that other programs act on, and how names compare."""

from __future__ import annotations

import unicodedata

PROTECTED_NAMES: frozenset[str] = frozenset(
    {
        ".git",
        ".gitmodules",
        ".codur",
        ".vscode",
        ".idea",
        ".devcontainer",
        ".envrc",
        ".mcp.json",
        ".claude",
        ".codex",
        ".cursor",
        ".gemini",
        ".husky",
    }
)
"""Files and directories that other programs act on when they are opened or run; at any depth, also when absent."""


def fold(part: str) -> str:
    """A name as file systems that ignore case, Unicode form or invisible characters may see it."""
    if part.isascii() and part.isprintable():
        return part.casefold().rstrip(". ")
    visible = "".join(char for char in unicodedata.normalize("NFKC", part) if unicodedata.category(char) != "Cf")
    return visible.casefold().rstrip(". ")


def fold_path(relative: str) -> tuple[str, ...]:
    """The folded components of a relative path."""
    return tuple(fold(part) for part in relative.split("/") if part)


def has_protected_name(relative: str) -> bool:
    """Whether a component of the path is a protected name."""
    return any(part in PROTECTED_NAMES for part in fold_path(relative))
