"""What a program adds to the disk: bounded while it runs, by what the file systems say of themselves.

To ask a file system for its free space costs a few microseconds, to count files costs a walk. So files are counted only
once more has gone from there than the program may add; somebody else may have taken it.
"""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from codur.structs import Struct, field

_BLOCK = 512
# File times come from a clock that stands still between ticks, so that a file made just after the start may seem older.
_COARSE_NS = 50_000_000
"""Longer than the clock of a file system stands still."""
_PAUSE_S = 0.1
_SHARE = 10
"""Counting takes at most one part in so many of the time."""
_LONG_PATH = 3_000
"""Characters of a path from which on a directory is held open and named by its descriptor; the kernel takes 4,096."""


class Quota(Struct, frozen=False):
    """Bounds what one program adds in some directories together; made just before it starts.

    Args:
        bytes, files: what it may add; files, directories and links count alike.

    Attributes:
        told: what there is more of, in words; empty as long as all is within bounds.
    """

    places: tuple[Path, ...]
    bytes: int
    files: int
    told: str = ""
    _free: dict[int, tuple[int, int]] = field(default_factory=dict)
    _gone_bytes: int = 0
    _gone_files: int = 0
    _began_ns: int = field(default_factory=time.time_ns)
    _next: float = 0.0

    def __post_init__(self) -> None:
        self._free = _free(self.places)

    def exceeded(self, *, at_once: bool = False) -> bool:
        """Whether the program added more than it may; `told` says what.

        Args:
            at_once: look, however short ago the last look was.
        """
        now = time.monotonic()
        if now < self._next and not at_once:
            return False
        self._next = now + _PAUSE_S
        if not self._may_be_exceeded():
            return False
        added_bytes, added_files = self._added()
        after = time.monotonic()
        self._next = after + max(_PAUSE_S, _SHARE * (after - now))
        if added_bytes > self.bytes:
            self.told = f"written MB (over {self.bytes >> 20})"
        elif added_files > self.files:
            self.told = f"new files (over {self.files})"
        return bool(self.told)

    def _may_be_exceeded(self) -> bool:
        """Whether so much went from the file systems together, whatever came back; of one that counts no files, it may.

        Somebody else may free as much in the same moment; so each look counts by itself.
        """
        for device, (left_bytes, left_files) in _free(self.places).items():
            free_bytes, free_files = self._free.get(device, (left_bytes, left_files))
            self._free[device] = left_bytes, left_files
            self._gone_bytes += max(0, free_bytes - left_bytes)
            self._gone_files += max(0, free_files - left_files) if free_files else self.files + 1
        return self._gone_bytes > self.bytes or self._gone_files > self.files

    def _added(self) -> tuple[int, int]:
        """Bytes and entries that are new, or changed, since the start; the count ends where it is too much."""
        since = self._began_ns - _COARSE_NS
        total = count = 0
        waiting = [str(place) for place in self.places]
        opened: list[int] = []
        try:
            while waiting and total <= self.bytes and count <= self.files:
                with suppress(OSError), os.scandir(_named(waiting.pop(), opened)) as entries:
                    for entry in entries:
                        with suppress(OSError):  # it is gone
                            status = entry.stat(follow_symlinks=False)
                            if status.st_ctime_ns >= since:  # the change time: programs can set the other ones
                                # what it takes, not how long it is: files may have holes
                                total += status.st_blocks * _BLOCK
                                count += 1
                            if entry.is_dir(follow_symlinks=False):
                                waiting.append(entry.path)
        finally:
            for descriptor in opened:
                os.close(descriptor)
        return total, count


def _free(places: Iterable[Path]) -> dict[int, tuple[int, int]]:
    """Free bytes and free entries of the file systems that hold some directories, by device."""
    found = {}
    for place in places:
        with suppress(OSError):  # a place that is not there yet, or no more
            status = os.statvfs(place)
            found[place.stat().st_dev] = (status.f_bfree * status.f_frsize, status.f_ffree)
    return found


def _named(path: str, opened: list[int]) -> str:
    """A name of a directory that is short enough for what is below it."""
    if len(path) < _LONG_PATH:
        return path
    # A program can make directories deeper than a path can name.
    opened.append(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))
    return f"/proc/self/fd/{opened[-1]}"
