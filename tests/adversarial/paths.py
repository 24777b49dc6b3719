"""Path confinement: 23 ways out of a workspace by the file tools, and a race against an exchanged directory."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from codur.errors import CodurError
from codur.workspace.workspace import Workspace

SECRET = b"canary-outside\n"
_MAX_FILE_BYTES = 1_048_576


@dataclass(frozen=True)
class Place:
    """A workspace with ways out of it, and what is outside."""

    root: Path
    outside: Path


def make_place(directory: Path) -> Place:
    """Lay it all out below an empty directory."""
    root, outside = directory / "w", directory / "outside"
    for path in (root / "sub", outside / "dir", directory / "w-evil", directory / "home" / ".ssh"):
        path.mkdir(parents=True)
    secrets = (outside / "secret.txt", outside / "dir" / "b.txt", directory / "w-evil" / "x.txt")
    for path in (*secrets, directory / "home" / ".ssh" / "id"):
        path.write_bytes(SECRET)
    (root / "sub" / "b.txt").write_text("inside\n")
    links: dict[str, str | Path] = {
        "link": outside / "secret.txt",
        "dirlink": outside / "dir",
        "one": "two",
        "two": "three",
        "three": outside / "dir",
        "environ": "/proc/self/environ",
        "procroot": "/proc/self/root",
        "dangling": outside / "new.txt",
        "zero": "/dev/zero",
        "loop": "loop",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.link(outside / "secret.txt", root / "hard")
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(root):
        server.bind("sock")
    with (root / "sparse").open("wb") as stream:
        stream.truncate(5_000_000_000)
    return Place(root, outside)


def _read(path: str) -> Callable[[Workspace, Place], object]:
    return lambda workspace, place: workspace.read_bytes(path.format(root=place.root, outside=place.outside))


def _write(path: str) -> Callable[[Workspace, Place], object]:
    return lambda workspace, place: workspace.write_bytes(
        path.format(root=place.root, outside=place.outside), b"owned\n"
    )


CASES: dict[str, Callable[[Workspace, Place], object]] = {
    "read ../": _read("../outside/secret.txt"),
    "read sub/../../": _read("sub/../../outside/secret.txt"),
    "read an absolute path": _read("{outside}/secret.txt"),
    "read /proc/self/environ": _read("/proc/self/environ"),
    "read a key of the home": _read("../home/.ssh/id"),
    "read a sibling with the same beginning": _read("../w-evil/x.txt"),
    "read that sibling by its absolute path": _read("{root}-evil/x.txt"),
    "read a link to a file": _read("link"),
    "read through a linked directory": _read("dirlink/b.txt"),
    "read through a chain of links": _read("one/b.txt"),
    "read a link to /proc/self/environ": _read("environ"),
    "read through a link to /proc/self/root": _read("procroot{outside}/secret.txt"),
    "read a FIFO": _read("fifo"),
    "read a socket": _read("sock"),
    "read a device by a link": _read("zero"),
    "read a directory": _read("sub"),
    "read a link to itself": _read("loop"),
    "read 5 GB": _read("sparse"),
    "write ../": _write("../outside/secret.txt"),
    "write an absolute path": _write("{outside}/secret.txt"),
    "write through a dangling link": _write("dangling"),
    "write through a linked directory": _write("dirlink/new.txt"),
    "write a hard link": _write("hard"),
}


def gained(name: str, place: Place) -> str:
    """What one way out has gained; empty if nothing. A hard link's other name keeps its bytes; it is cut off."""
    workspace = Workspace.open(place.root)
    before = outside_bytes(place)
    begin = time.monotonic()
    found: object = b""
    refused = False
    try:
        found = CASES[name](workspace, place)
    except CodurError:
        refused = True
    if outside_bytes(place) != before:
        return "changed a file outside"
    if found:
        return "read what is not the workspace's"
    if not refused and name != "write a hard link":
        return "was not refused"
    return f"took {time.monotonic() - begin:.1f} s" if time.monotonic() - begin > 1.0 else ""


def naive(name: str, place: Place) -> str:
    """The control: what the same path gains with plain `open`; it must be more than nothing."""
    path = {
        "read ../": "../outside/secret.txt",
        "read a link to a file": "link",
        "read through a linked directory": "dirlink/b.txt",
        "read through a chain of links": "one/b.txt",
        "read a sibling with the same beginning": "../w-evil/x.txt",
    }[name]
    return (place.root / path).read_text()


def outside_bytes(place: Place) -> dict[str, bytes]:
    """All files outside the workspace."""
    directory = place.root.parent
    return {
        str(path): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.is_symlink() and not path.is_relative_to(place.root)
    }


@dataclass(frozen=True)
class Race:
    """What became of reads and writes while a directory was exchanged with a link to outside."""

    reads: int
    leaks: int
    writes: int
    outside: int


@contextlib.contextmanager
def _swapping(place: Place) -> Iterator[None]:
    """Exchange `sub` with a link to a directory outside, again and again, in another thread."""
    real, link = place.root / "sub", place.root / "swap"
    link.symlink_to(place.outside / "dir")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for old, new in ((real, "parked"), (link, "sub"), (real, "swap"), (place.root / "parked", "sub")):
                with contextlib.suppress(OSError):  # a write through a path that is gone may have made a directory
                    old.rename(place.root / new)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def race(place: Place, rounds: int, *, guarded: bool = True, plenty: int = 20) -> Race:
    """Read so many times, and on until one read had its turn between two swaps; then write at most so many times.

    A plenty of leaks is enough.

    Args:
        guarded: through a workspace; else as plain programs do (the control).
    """
    workspace = Workspace(place.root, durable=False)
    path = place.root / "sub" / "b.txt"
    reads = leaks = writes = outside = 0
    with _swapping(place):
        for number in range(1000 * rounds):
            if reads and number >= rounds:
                break
            with contextlib.suppress(CodurError, OSError):
                leaks += (workspace.read_bytes("sub/b.txt") if guarded else path.read_bytes()) == SECRET
                reads += 1
            if leaks >= plenty:
                break
        for number in range(rounds):
            name = f"sub/new-{number}.txt"
            with contextlib.suppress(CodurError, OSError):
                if guarded:
                    workspace.write_bytes(name, str(number).encode())
                else:
                    (place.root / name).write_text(str(number))
                writes += 1
            outside += (place.outside / "dir" / Path(name).name).exists()
            if outside >= plenty:
                break
    return Race(reads=reads, leaks=leaks, writes=writes, outside=outside)
