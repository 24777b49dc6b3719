"""Tools on git, and what else of Codur reads a repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.tools.git import git_history

__all__ = ["git_history"]
__getattr__ = parts_of(__name__)
