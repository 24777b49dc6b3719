"""Why a path or file of the workspace cannot be used, with the code that a tool call reports."""

import errno

from codur.errors import WorkspaceError
from codur.types import ToolCode

_BY_ERRNO: dict[int, tuple[ToolCode, str]] = {
    errno.ENOENT: ("not_found", "there is no file {path}"),
    errno.ENOTDIR: ("not_found", "there is no file {path}: a part of its path is not a directory"),
    errno.EISDIR: ("not_a_file", "{path} is a directory, not a file"),
    errno.EACCES: ("refused", "no permission to use {path}"),
    errno.EPERM: ("refused", "no permission to use {path}"),
    errno.EROFS: ("refused", "{path} is on a read-only file system"),
    errno.ELOOP: ("refused", "{path} goes through a symbolic link that cannot be followed"),
    errno.ENAMETOOLONG: ("invalid", "the path {path} is too long"),
    errno.ENOSPC: ("failed", "no space left to write {path}"),
    errno.EDQUOT: ("failed", "the disk quota is used up, so {path} cannot be written"),
    errno.EFBIG: ("failed", "{path} would be larger than a file may be here"),
    errno.EIO: ("failed", "the disk failed at {path}"),
}


_REMEDIES: dict[int, str] = {
    errno.EACCES: "Change the permissions, or work on a copy.",
    errno.EPERM: "Change the permissions, or work on a copy.",
    errno.EROFS: "Work on a copy.",
    errno.ENOSPC: "Make room on the disk.",
    errno.EDQUOT: "Make room in your quota.",
    errno.EFBIG: "Raise the limit on file sizes (ulimit -f).",
    errno.EIO: "Look at the system's log, and work on a copy on another disk.",
}


class FileError(WorkspaceError):
    """A path or file is refused or cannot be used; `code` is the outcome that a tool call reports for it."""

    def __init__(self, message: str, *, code: ToolCode, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.code: ToolCode = code


def from_os_error(path: str, error: OSError) -> FileError:
    """The problem that an operating-system error on `path` stands for."""
    code, text = _BY_ERRNO.get(error.errno or 0, ("failed", "{path} cannot be used: " + (error.strerror or "")))
    return FileError(text.format(path=path), code=code, remedy=_REMEDIES.get(error.errno or 0, ""))


def require_mode(path: str, mode: int) -> None:
    """Make sure that a file's mode lets somebody write it: who took that away, root included, meant it.

    Raises:
        FileError: it is read-only.
    """
    if not mode & 0o222:
        raise FileError(f"{path} is read-only", code="refused", remedy="Make it writable first.")
