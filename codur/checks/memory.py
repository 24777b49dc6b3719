"""What a run of all tests told, for as long as nothing has changed: the next task need not run them again."""

import time
from collections.abc import Callable
from pathlib import Path

from codur.sandbox.process.process_result import ProcessResult
from codur.structs import Struct
from codur.types import Check
from codur.workspace.workspace import Workspace

_KEPT_S = 900.0
"""After this time it is run again: a test may go by the clock, or by what lies outside of the workspace."""
_MOST_FILES = 10_000
_WRITTEN = frozenset({".git", "__pycache__", ".pytest_cache"})  # by a run itself, or by a commit


class Told(Struct):
    """What a run left for its verdict to be made of."""

    result: ProcessResult
    # of pytest: whether it was to tell events, the files that it wrote, and the word that its events are told by
    reports: bool = False
    report: bytes = b""
    events: bytes = b""
    word: str = ""


class CheckMemory:
    """What the last whole run told, and how the files were while it went on."""

    def __init__(self) -> None:
        self._last: tuple[tuple[object, ...], float, Told] | None = None

    def recall(self, check: Check, workspace: Workspace, python: str) -> Told | None:
        """What the run of this very check told, if nothing is known to have changed since."""
        if self._last is None or time.monotonic() - self._last[1] > _KEPT_S:
            return None
        stamp = _stamp(check, workspace, python)
        return self._last[2] if stamp and self._last[0] == stamp else None

    def begin(self, check: Check, workspace: Workspace, python: str) -> Callable[[Told], None]:
        """A run begins: what remembers what it told, if nothing changed while it went on."""
        before, began = _stamp(check, workspace, python), time.monotonic()
        self._last = None

        def keep(told: Told) -> None:
            result = told.result
            ended = result.started and not (result.timed_out or result.cancelled or result.tripped or result.limit)
            if ended and before and before == _stamp(check, workspace, python):
                self._last = (before, began, told)

        return keep

    def forget(self) -> None:
        """Something was done that no file of the workspace tells of."""
        self._last = None


def _stamp(check: Check, workspace: Workspace, python: str) -> tuple[object, ...]:
    """The check, the files, what else lies beside them at the top, and the interpreter's packages, as far as sizes and
    times tell; empty if they do not."""
    files = workspace.list_files(limit=_MOST_FILES)
    packages = sorted(Path(python).absolute().parent.parent.glob("lib/python*/site-packages"))
    try:
        # Settings that git ignores, and packages of other languages, lie at the top.
        beside = [path for path in sorted(workspace.root.iterdir()) if path.name not in _WRITTEN]
        listed = (workspace.root / name for name in files)
        stats = [(path.name, path.lstat()) for path in (*listed, *beside, *packages)]
    except OSError:  # it went meanwhile
        return ()
    stamps = ((name, stat.st_size, stat.st_mtime_ns, stat.st_mode, stat.st_ino) for name, stat in stats)
    run = (check.argv, check.env, check.stdin_file, check.left_out, check.protected)
    return (workspace.root, python, run, tuple(files), *stamps) if len(files) < _MOST_FILES else ()
