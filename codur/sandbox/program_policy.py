"""What a program may do. The back ends translate it into what the system can enforce."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from codur.structs import Struct


class Policy(Struct):
    """What a program may read, write and reach.

    Attributes:
        workspace: the directory that it may write; None if there is none. Its other files stay invisible or unchanged.
        read_only: paths inside the workspace (files or directories) that must not change; absent ones are passed over.
        hidden: paths that look empty, where the back end can do that (`Backend.hides`).
        writable: more directories that it may write, such as one for reports.
        readable: more paths that it may read, such as the interpreter's directory.
        temporary: its private directory for temporary files, on the host, which exists; the launcher makes it.
        temporary_bytes: size of what it may keep there, where the back end can bound it.
        processes: processes and threads of the whole tree, where the back end can bound them.
        home_hidden: the home directory is an empty one.
        network: it reaches the network and what listens on this machine; never sockets in the file system.
    """

    workspace: Path | None
    temporary: Path = Path()
    read_only: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    temporary_bytes: int = 268_435_456
    processes: int = 256
    home_hidden: bool = True
    network: bool = False


class Limits(Struct):
    """Bounds of a program; 0 means no bound.

    Attributes:
        wall_s, cpu_s: seconds of wall time and of processor time.
        memory_bytes: memory of the whole tree.
        processes: processes and threads of the whole tree.
        file_bytes: the largest file that it may write.
        open_files: descriptors of each process.
    """

    wall_s: float = 0.0
    cpu_s: int = 0
    memory_bytes: int = 0
    processes: int = 0
    file_bytes: int = 0
    open_files: int = 0


class FileRules(Struct):
    """Paths, and the rights (bits as in `linux/landlock.h`) at each and at all below it; all else is denied.

    Attributes:
        common: those that all programs have.
        own: those of one program.
        network: TCP connections are not denied.
    """

    common: tuple[tuple[bytes, int], ...]
    own: tuple[tuple[bytes, int], ...]
    network: bool = False


class Mount(NamedTuple):
    """One thing in a program's root.

    Attributes:
        kind: `write` or `read` what is at `source`; an `empty` directory in memory; a `directory` made in one; a `link`
            to `source`; `keep` what is at `place` as it is now; the kernel's `processes`, a minimal set of `devices`.
        permissions, size: of an empty directory; a size of 0 is the system's own bound.
    """

    kind: Literal["write", "read", "empty", "directory", "link", "keep", "processes", "devices"]
    place: str
    source: str = ""
    permissions: int = 0o755
    size: int = 0
