"""Stops a candidate's fork before it does what would outlast it, and tells what becomes of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from .memory_sources import Sources


class Guard:
    """Stops a fork before it does what would outlast it: another candidate, or the workspace, must not see that.

    The candidate is then judged in a process of its own, as any program is.
    """

    WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    PATHS = frozenset(
        # Audit events, not functions: they come from C code and from libraries, too, and cannot be patched away.
        "os.remove os.rename os.mkdir os.rmdir os.link os.symlink os.truncate os.chmod os.chown os.utime"
        " os.setxattr os.removexattr os.chflags os.lchmod".split()
    )
    OTHERS = frozenset(
        "os.fork os.forkpty os.exec os.posix_spawn os.spawn os.system subprocess.Popen os.kill os.killpg pty.spawn"
        " socket.connect socket.bind socket.sendto socket.sendmsg sqlite3.connect dbm.open ctypes.dlopen".split()
    )

    def __init__(self, sources: Sources, temporary: str) -> None:
        self.sources = sources
        self.temporary = f"{temporary}/"
        self.report = -1

    def start(self, report: int) -> None:
        """Watch this process from now on."""
        self.report = report
        handlers: dict[str, Callable[[str, Any], None]] = {"open": self.opened}
        handlers.update(dict.fromkeys(self.PATHS, self.touched))
        handlers.update(dict.fromkeys(self.OTHERS, self.left))
        find = handlers.get  # bound once: this is called for every import and every opened file

        def hook(event: str, arguments: Any) -> None:
            handler = find(event)
            if handler is not None:
                handler(event, arguments)

        sys.addaudithook(hook)

    def opened(self, event: str, arguments: Any) -> None:
        path, _, flags = arguments
        if isinstance(path, int):  # a descriptor, which was opened under this guard's eyes
            return
        if flags & self.WRITING:
            if not self.allowed(path):
                self.stop(f"it writes {_shown(path)}")
        # On disk stands the text as it was; the candidate's own is in memory alone.
        elif os.path.abspath(os.fsdecode(path)) in self.sources.changed:
            self.stop(f"it reads its own source {_shown(path)}")

    def touched(self, event: str, arguments: Any) -> None:
        paths = [each for each in arguments if isinstance(each, (str, bytes, os.PathLike))]
        directories = [each for each in arguments[2 if event == "os.mkdir" else 1 :] if isinstance(each, int)]
        # Relative to an open directory: where that is cannot be told from the number.
        relative = event in {"os.remove", "os.rmdir", "os.mkdir"} and any(each >= 0 for each in directories)
        if relative or not paths or not all(self.allowed(path) for path in paths):
            self.stop(f"it changes files ({event})")

    def left(self, event: str, arguments: Any) -> None:
        if event == "sqlite3.connect" and arguments[0] == ":memory:":
            return
        self.stop(f"it leaves its process ({event})")

    def allowed(self, path: Any) -> bool:
        # Resolved, or a link in the temporary directory would lead to anywhere.
        full = os.path.realpath(os.fsdecode(path))
        return full == os.devnull or f"{full}/".startswith(self.temporary)

    def stop(self, reason: str) -> None:
        """End the fork at once, with the reason why it cannot be judged here."""
        tell(self.report, {"plain": reason})
        os._exit(0)  # at once: no handler of the candidate may run between


def _shown(path: Any) -> str:
    return os.path.basename(os.fsdecode(path))


def tell(report: int, what: dict[str, Any]) -> None:
    """Add a line to the fork's report; a later one goes before an earlier one."""
    left = memoryview(json.dumps(what).encode("ascii") + b"\n")
    while left:
        left = left[os.write(report, left) :]
