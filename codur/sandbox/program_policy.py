"""What a program may do. The back ends translate it into what the system can enforce."""

from pathlib import Path
from typing import Literal, NamedTuple

from codur.structs import Struct


class Policy(Struct):
    """What a program may read, write and reach."""

    # the directory that it may write; None if there is none. Its other files stay invisible or unchanged.
    workspace: Path | None
    # its private directory for temporary files, on the host, which exists; the launcher makes it
    temporary: Path = Path()
    # paths inside the workspace (files or directories) that must not change; absent ones are passed over
    read_only: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()  # paths that look empty, where the back end can do that (`Backend.hides`)
    writable: tuple[Path, ...] = ()  # more directories that it may write, such as one for reports
    readable: tuple[Path, ...] = ()  # more paths that it may read, such as the interpreter's directory
    temporary_bytes: int = 268_435_456  # size of what it may keep there, where the back end can bound it
    processes: int = 352  # processes and threads of the whole tree, where the back end can bound them
    home_hidden: bool = True  # the home directory is an empty one
    network: bool = False  # it reaches the network and what listens on this machine; never sockets in the file system


class Limits(Struct):
    """Bounds of a program; 0 means no bound."""

    # wall_s, cpu_s: seconds of wall time and of processor time
    wall_s: float = 0.0
    cpu_s: int = 0
    memory_bytes: int = 0  # memory of the whole tree
    processes: int = 0  # processes and threads of the whole tree
    file_bytes: int = 0  # the largest file that it may write
    open_files: int = 0  # descriptors of each process


class FileRules(Struct):
    """Paths, and the rights (bits as in `linux/landlock.h`) at each and at all below it; all else is denied."""

    common: tuple[tuple[bytes, int], ...]  # those that all programs have
    own: tuple[tuple[bytes, int], ...]  # those of one program
    network: bool = False  # TCP connections are not denied


class Mount(NamedTuple):
    """One thing in a program's root."""

    # `write` or `read` what is at `source`; an `empty` directory in memory; a `directory` made in one; a `link` to
    # `source`; `keep` what is at `place` as it is now; the kernel's `processes`, a minimal set of `devices`
    kind: Literal["write", "read", "empty", "directory", "link", "keep", "processes", "devices"]
    place: str
    source: str = ""
    # permissions, size: of an empty directory; a size of 0 is the system's own bound
    permissions: int = 0o755
    size: int = 0
