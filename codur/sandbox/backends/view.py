"""What of the machine a program sees where there are mount namespaces: a root made of chosen directories.

The system's directories are read-only, the temporary and home directories are empty ones in memory, and the workspace
is at its own path. Whatever else there is (other users' and other projects' files, `/run` and `/var` with their
sockets) is not there at all.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from codur.config.protected import PROTECTED_NAMES
from codur.errors import UsageError
from codur.lazy import late
from codur.sandbox.backends.system_paths import is_below, private_system_files, system_roots, way_to
from codur.sandbox.program_policy import Mount, Policy
from codur.structs import Struct, field

shutil = late("shutil")

_MEMORY_BYTES = 67_108_864
"""Size of the home directory and of shared memory, which are empty at first."""
_TEMPORARY = Path("/tmp")
_ROOT = Path("/")
_EMPTY_FILE = ".codur-empty"
_LISTED = Path("/proc/net/unix")
_NAME = 7
"""The place of a socket's name in a line there."""


def own_mounts(policy: Policy, word: str, env: Mapping[str, str], cwd: Path) -> list[Mount]:
    """What makes a program's root beside `system_mounts`, which come first; what is above comes before what is in it.

    Args:
        policy: what it may see and write.
        word: the program: a path, or a name for the `PATH` of `env`.
        env: its environment, which also names its home directory.
        cwd: where it starts; seen in any case, as is the program.

    Raises:
        UsageError: the workspace is the whole file system.
        OSError: there is no such program or directory, or the stand-in for hidden files cannot be made.
    """
    program = _program(word, env, cwd)
    home = Path(env["HOME"]) if env.get("HOME", "").startswith("/") else None
    view = _View()
    writable = [path for path in (policy.workspace, *policy.writable) if path is not None]
    for path in writable:
        view.write(path)
    # Everything would be visible and writable, whatever else is mounted.
    if _ROOT in view.binds:
        raise UsageError(
            "the whole file system cannot be a program's workspace", remedy="Run in a directory of its own."
        )
    for path in (*policy.readable, program, cwd):
        view.read(path)
    # Before the program's own one, which mostly lies in it.
    view.empty(_TEMPORARY, policy.temporary_bytes, 0o1777)
    if home is not None and policy.home_hidden:
        view.empty(home, _MEMORY_BYTES, 0o700)
    elif home is not None:
        view.read(home)
    view.empty(policy.temporary, policy.temporary_bytes, 0o700)
    view.keep(_protected(policy))
    view.hide((*policy.hidden, *_sockets(view.binds)), policy.temporary)
    # Last of all, the root itself: nothing more can be made in it.
    return [*view.mounts(), Mount("keep", "/")]


def _program(word: str, env: Mapping[str, str], cwd: Path) -> Path:
    """The file that the first word of a command stands for."""
    cwd.stat()  # for its error, which is told in place of one about the program
    if "/" not in word:
        found = shutil.which(word, path=env.get("PATH", os.defpath))
        if found is None:
            raise FileNotFoundError(2, "No such file or directory", word)
        return Path(found)
    path = cwd / word
    if not stat.S_ISREG(path.stat().st_mode) or not os.access(path, os.X_OK):
        raise PermissionError(13, "Permission denied", word)
    return path


def _protected(policy: Policy) -> Iterator[Path]:
    yield from policy.read_only
    if policy.workspace is not None:
        yield from (policy.workspace / name for name in PROTECTED_NAMES)


def _sockets(directories: Iterable[Path]) -> list[Path]:
    """Sockets in these directories that programs outside listen at, such as a server's that is being developed there.

    To connect to one needs its file alone, whatever network a program has. Those that were made under a relative name
    are looked for below each of the directories.
    """
    try:
        listed = _LISTED.read_text(errors="surrogateescape")
    except OSError:  # not Linux, or not to be read
        return []
    names = {parts[_NAME] for line in listed.splitlines() if len(parts := line.split(maxsplit=_NAME)) > _NAME}
    inside = tuple(f"{place}/" for place in directories)
    # One in no file begins with `@`. As texts: a desktop has hundreds, and this is done for each program.
    relative = [name for name in names if not name.startswith(("/", "@"))]
    found = {_real(name) for name in names if name.startswith("/")}
    found.update(_real(place + name) for place in inside for name in relative)
    return [Path(path) for path in found if path.startswith(inside) and Path(path).is_socket()]


_real = lru_cache(maxsize=4096)(os.path.realpath)


@lru_cache(maxsize=1)
def system_mounts() -> tuple[Mount, ...]:
    """The system's directories, processes and devices."""
    mounts = [
        Mount("link", str(root), str(root.readlink())) if root.is_symlink() else Mount("read", str(root), str(root))
        for root in system_roots()
    ]
    mounts += [Mount("processes", "/proc"), Mount("devices", "/dev")]
    # These hold whatever a program writes, in memory.
    mounts += [Mount("empty", "/dev/shm", permissions=0o1777, size=_MEMORY_BYTES), Mount("keep", "/dev")]
    # Others may not read these anyway.
    if os.geteuid() == 0:
        for path in private_system_files():
            hidden = Mount("empty", str(path), permissions=0) if path.is_dir() else _over(Path("/dev/null"), path)
            mounts.append(hidden)
    return tuple(mounts)


def _over(source: Path, place: Path) -> Mount:
    return Mount("read", str(place), str(source))


class _View(Struct, frozen=False, kw_only=False):
    """Mounts by where they are, all with links resolved, and the links that lead there."""

    binds: dict[Path, bool] = field(default_factory=dict)
    """Directories and files of the machine, and whether they may be written."""
    empties: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """Empty directories in memory: size in bytes and permissions."""
    links: dict[Path, str] = field(default_factory=dict)
    writable: list[Path] = field(default_factory=list)
    """What may be written, as it was named."""
    over: dict[Path, list[Mount]] = field(default_factory=dict)
    """What is mounted over parts of these."""

    def write(self, path: Path) -> None:
        self.writable.append(path)
        self.binds[self._resolved(way_to(path))] = True

    def read(self, path: Path) -> None:
        """Show a path, unless it is seen already.

        What links in the workspace lead to is not shown for their sake.
        """
        if is_below(path, self.writable):
            return
        real = self._resolved(_cached_way(path))
        if real != _ROOT and real.exists() and not is_below(real, system_roots()) and not self._in_bind(real):
            self.binds[real] = False

    def empty(self, path: Path, size: int, permissions: int) -> None:
        """An empty directory, unless the machine's own is asked for or nothing can be mounted there."""
        real = self._resolved(_cached_way(path))
        held = is_below(real, self.empties) or real in self.binds or real == _ROOT
        fixed = is_below(real, system_roots()) or self._in_bind(real)
        if real in self.empties or (fixed and not real.is_dir()) or real in self.binds or real == _ROOT:
            return
        if held and not fixed:
            self.over[real] = [Mount("directory", str(real), permissions=permissions)]
        else:
            self.empties[real] = (size, permissions)

    def keep(self, paths: Iterable[Path]) -> None:
        """Make parts of what may be written read-only; a directory cannot then be renamed either."""
        for path in paths:
            # What is not there cannot be mounted over; that it appears is for the tripwire to see.
            if not os.path.lexists(path):
                continue
            real = Path(os.path.realpath(path))
            if real.exists() and self._in_bind(real, writable=True):
                self.over[real] = [_over(real, real)]

    def hide(self, paths: Iterable[Path], temporary: Path) -> None:
        """Show nothing where these are."""
        # A file of our own and not `/dev/null`: programs look whether a path is a regular file.
        stand_in = temporary / _EMPTY_FILE
        directories: list[Path] = []
        for real in sorted({Path(os.path.realpath(path)) for path in paths}):
            if not self._in_bind(real) or not real.exists() or is_below(real, directories):
                continue
            if real.is_dir():
                directories.append(real)
                # In an empty directory there is nothing to mount over.
                self.over = {path: made for path, made in self.over.items() if not path.is_relative_to(real)}
                self.over[real] = [Mount("empty", str(real), permissions=0o555), Mount("keep", str(real))]
            else:
                os.close(os.open(stand_in, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o444))
                self.over[real] = [_over(stand_in, real)]

    def mounts(self) -> list[Mount]:
        """Everything in order."""
        placed: list[tuple[int, int, list[Mount]]] = []
        for path, (size, permissions) in self.empties.items():
            placed.append((len(path.parts), 0, [Mount("empty", str(path), permissions=permissions, size=size)]))
        for path, writable in self.binds.items():
            shown = Mount("write" if writable else "read", str(path), str(path))
            placed.append((len(path.parts), 1, [shown]))
        for path, target in self.links.items():
            if not is_below(path, self.binds) and not is_below(path, system_roots()):
                placed.append((len(path.parts), 2, [Mount("link", str(path), target)]))
        placed += [(len(path.parts), 3, made) for path, made in self.over.items()]
        # From the top down, since what is mounted later hides what is below it; of one path what is shown comes before
        # what lies over it.
        placed.sort(key=lambda item: item[:2])
        return [mount for _, _, mounts in placed for mount in mounts]

    def _resolved(self, way: tuple[tuple[tuple[Path, str], ...], Path]) -> Path:
        links, real = way
        self.links.update(links)
        return real

    def _in_bind(self, path: Path, *, writable: bool = False) -> bool:
        return is_below(path, (bind for bind, may in self.binds.items() if may or not writable))


_cached_way = lru_cache(maxsize=256)(way_to)
