"""The temporary directory of a run, and those that killed runs have left behind."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from codur.lazy import late, once
from codur.sandbox.scratch import remove_tree
from codur.store.atomic import open_lock, try_lock
from codur.structs import Struct

tempfile = late("tempfile")

_PREFIX = "codur-scratch-"
_LOCK = ".lock"
_YOUNG_S = 60.0
"""What is younger may just be made, and not locked yet."""


class Scratch(Struct, kw_only=False):
    """Makes numbered empty directories below the run's temporary one, which is made when it is first needed."""

    find_root: Callable[[], Path]
    numbers: Iterator[int]

    @property
    def root(self) -> Path:
        """The run's temporary directory."""
        return self.find_root()

    def __call__(self) -> Path:
        """A new directory."""
        path = self.root / f"scratch-{next(self.numbers)}"
        path.mkdir()
        return path


@contextmanager
def scratch_directories() -> Iterator[Scratch]:
    """The run's temporary directory, removed with all that is in it; held by a lock that ends with the process."""
    with ExitStack() as stack:

        def make() -> Path:
            temporary = Path(tempfile.mkdtemp(prefix=_PREFIX))
            stack.callback(remove_tree, temporary)
            lock = open_lock(temporary / _LOCK)
            stack.callback(os.close, lock)
            try_lock(lock)
            return temporary

        yield Scratch(once(make), count(1))


def sweep_scratch() -> int:
    """Remove what killed runs of this user have left; gives how many directories."""
    removed = 0
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another one sweeps, too, or it is not ours to remove
            removed += _swept(path)
    return removed


def _swept(path: Path) -> bool:
    status = path.lstat()
    if status.st_uid != os.geteuid() or path.is_symlink() or time.time() - status.st_mtime < _YOUNG_S:
        return False
    lock = open_lock(path / _LOCK)
    try:
        if try_lock(lock) is not True:
            return False
        remove_tree(path)
    finally:
        os.close(lock)
    return not path.exists()
