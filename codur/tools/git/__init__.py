"""Tools on git, and what else of Codur reads a repository."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.tools.git import git_history, git_repository, git_under_way

__all__ = ["git_history", "git_repository", "git_under_way"]
__getattr__ = parts_of(__name__)
