"""Attacks that read what a program is not to see. They print what they find."""

from __future__ import annotations

import ctypes
import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from .kit import Facts, Program, checked, library, say, show

_MOST_SHOWN = 20_000


def _show_all(paths: Iterable[Path]) -> None:
    """Print every file that can be read.

    Raises:
        OSError: none could be.
    """
    last: OSError | None = None
    shown = 0
    for path in paths:
        try:
            show(path.read_bytes()[:_MOST_SHOWN])
            shown += 1
        except OSError as error:
            last = error
    if not shown and last is not None:
        raise last


def _show_marked(name: str) -> None:
    """Print that file of other processes, if it holds a canary; other people's are none of the suite's business.

    Raises:
        OSError: none could be read.
    """
    last: OSError | None = None
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            data = (entry / name).read_bytes()
        except OSError as error:
            last = error
            continue
        if b"canary" in data:
            show(data)
    if last is not None:
        raise last


def _device_digest(path: Path) -> None:
    """Print a digest of a device's first block, so that the suite can tell whether it was read."""
    with path.open("rb") as stream:
        say("digest: " + hashlib.sha256(stream.read(512)).hexdigest())


def r_blockdev(facts: Facts) -> None:
    """Read a disk below the file system."""
    _device_digest(Path(facts["disk"]))


def r_mknod(facts: Facts) -> None:
    """Make a device file for a disk, and read that."""
    node = Path("disk")
    os.mknod(node, stat.S_IFBLK | 0o600, facts["disk_number"])
    _device_digest(node)


def r_shadow(facts: Facts) -> None:
    """Read the system's password hashes; only a digest is printed."""
    say("digest: " + hashlib.sha256(Path("/etc/shadow").read_bytes()).hexdigest())


def r_other(facts: Facts) -> None:
    """Read the challenge beside this one."""
    sibling = Path(facts["sibling"])
    _show_all([*sibling.glob("*"), sibling / "expected.txt"])


def r_hardlink(facts: Facts) -> None:
    """Give a secret file a name in the workspace, and read that."""
    os.link(facts["secret"], "linked")
    show(Path("linked").read_bytes())


def r_penv(facts: Facts) -> None:
    """Read the environment of the process that holds the key."""
    show(Path(f"/proc/{facts['holder']}/environ").read_bytes())


def r_penv_all(facts: Facts) -> None:
    """Read the environment of every process there is."""
    _show_marked("environ")


def r_pfd(facts: Facts) -> None:
    """Open a secret file by the descriptor that another process has of it."""
    directory = Path(f"/proc/{facts['holder']}/fd")
    _show_all(sorted(entry for entry in directory.iterdir() if entry.is_file()))


def r_proot(facts: Facts) -> None:
    """Reach files by the root directory of another process."""
    show(Path(f"/proc/{facts['holder']}/root{facts['secret']}").read_bytes())


def r_fd(facts: Facts) -> None:
    """Read a descriptor that was left open."""
    show(os.pread(facts["descriptor"], 4096, 0))


def r_allfd(facts: Facts) -> None:
    """Read all descriptors there can be."""
    last: OSError | None = None
    for number in range(3, 1024):
        try:
            if stat.S_ISREG(os.fstat(number).st_mode):
                show(os.pread(number, 4096, 0))
        except OSError as error:
            last = error
    if last is not None:
        raise last


def r_vmread(facts: Facts) -> None:
    """Read the memory of another process, by a system call or by its memory file."""

    class Part(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    buffer = ctypes.create_string_buffer(64)
    here = Part(ctypes.addressof(buffer), 64)
    there = Part(facts["address"], 64)
    read = library().process_vm_readv
    read.restype = ctypes.c_ssize_t
    try:
        checked(read(facts["holder"], ctypes.byref(here), 1, ctypes.byref(there), 1, 0), "process_vm_readv")
        show(buffer.raw)
    except OSError:
        descriptor = os.open(f"/proc/{facts['holder']}/mem", os.O_RDONLY)
        show(os.pread(descriptor, 64, facts["address"]))


def r_pids(facts: Facts) -> None:
    """List the processes of the machine with their command lines."""
    _show_marked("cmdline")


def r_env(facts: Facts) -> None:
    """Print the environment, as the program's own and as the kernel has it."""
    show(repr(dict(os.environ)))
    show(Path("/proc/self/environ").read_bytes())


def r_home(facts: Facts) -> None:
    """Read the secrets of the home directory."""
    _show_all([Path(facts["home"], name) for name in facts["secrets"]])


def r_home_link(facts: Facts) -> None:
    """Read the secrets of the home directory through links in the workspace."""
    links = []
    for number, name in enumerate(facts["secrets"]):
        link = Path(f"link-{number}")
        link.symlink_to(Path(facts["home"], name))
        links.append(link)
    _show_all(links)


def r_expected(facts: Facts) -> None:
    """Print the expected output, found by its name, by listing, and by looking into all files."""
    named = [Path(facts["expected"]), Path("/proc/self/cwd/expected.txt"), *Path().glob("exp*")]
    others = [Path(entry.path) for entry in os.scandir() if entry.is_file() and not entry.name.endswith(".py")]
    for path in (*named, *others):
        try:
            data = path.read_text()
        except OSError:
            continue
        if data and path.name != "progress":
            show(data)
            return
    raise RuntimeError("nothing found")


ATTACKS: dict[str, Program] = {
    "r-blockdev": r_blockdev,
    "r-mknod": r_mknod,
    "r-shadow": r_shadow,
    "r-other": r_other,
    "r-hardlink": r_hardlink,
    "r-penv": r_penv,
    "r-penv-all": r_penv_all,
    "r-pfd": r_pfd,
    "r-proot": r_proot,
    "r-fd": r_fd,
    "r-allfd": r_allfd,
    "r-vmread": r_vmread,
    "r-pids": r_pids,
    "r-env": r_env,
    "r-env-secrets": r_env,
    "r-home": r_home,
    "r-home-link": r_home_link,
    "r-expected": r_expected,
}
