"""What happens in a candidate's fork: its sources in place of the files, a guard over its effects, and its end.

It stands alone (standard library only, no import of Codur): `worker_program` gets its text.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.machinery
import io
import json
import linecache
import os
import signal
import sys
import tokenize
import traceback
import warnings
from collections.abc import Callable, Mapping
from importlib._bootstrap import _call_with_frames_removed  # type: ignore[attr-defined]
from typing import Any

_UNFIT = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError, Warning)
"""What stops a source from being compiled before the fork; in the fork it is met in the usual way."""
_OWN = {"<worker_inside>", importlib.machinery.SourceFileLoader.get_code.__code__.co_filename, "<frozen runpy>"}
"""Files of frames that lie between the interpreter's start and a program's first own frame."""
_LATER = 0.15
_LEAST_S = 0.01
_MOST_HUNG = 8
_MOST_CAUGHT = 2


class Sources:
    """The workspace's Python files as the candidate has them, in memory."""

    def __init__(self, root: str, files: Mapping[str, bytes]) -> None:
        self.root = root
        self.files = {os.path.join(root, path): data for path, data in files.items()}
        self.changed: dict[str, bytes] = {}
        self.kept: dict[str, Any] = {}
        self.codes: dict[str, Any] = {}
        usual = importlib.machinery.SourceFileLoader.get_code

        def get_code(loader: Any, fullname: str) -> Any:
            path = loader.get_filename(fullname)
            return self.code(path) if path in self.files else usual(loader, fullname)

        for function in (get_code, Sources.code):
            # The interpreter leaves its own import machinery out of tracebacks; these two have become a part of it.
            function.__code__ = function.__code__.replace(co_filename=usual.__code__.co_filename)
        importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[assignment,method-assign]

    def data(self, path: str) -> bytes:
        return self.changed[path] if path in self.changed else self.files[path]

    def code(self, path: str) -> Any:
        """The code of a file, compiled now if it was not before.

        Raises:
            SyntaxError, ValueError: as an import of the file would.
        """
        found = self.codes.get(path) if path in self.changed else self.kept.get(path)
        if found is not None:
            return found
        return _call_with_frames_removed(compile, self.data(path), path, "exec", dont_inherit=True)

    def keep(self, paths: list[str]) -> None:
        """Compile files that candidates load unchanged."""
        self.kept.update(self._compiled({path: self.files[path] for path in paths if path in self.files}))

    def change(self, files: Mapping[str, bytes]) -> None:
        """Put these files' texts in place; those of the candidate before are forgotten."""
        for path in self.changed:
            linecache.cache.pop(path, None)
        self.changed = {os.path.join(self.root, path): data for path, data in files.items()}
        self.codes = self._compiled(self.changed)
        for path, data in self.changed.items():
            lines = lines_of(data)
            linecache.cache[path] = (len(data), None, lines, path)

    def _compiled(self, files: Mapping[str, bytes]) -> dict[str, Any]:
        found = {}
        for path, data in files.items():
            with contextlib.suppress(*_UNFIT), warnings.catch_warnings():
                warnings.simplefilter("error")
                found[path] = compile(data, path, "exec", dont_inherit=True)
        return found


def lines_of(data: bytes) -> list[str]:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding, line_buffering=True).readlines()
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return []


class Guard:
    """Stops a fork before it does what would outlast it: another candidate, or the workspace, must not see that.

    The candidate is then judged in a process of its own, as any program is.
    """

    WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    PATHS = frozenset(
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
        watched, self.report = self.report >= 0, report
        if watched:
            return
        handlers: dict[str, Callable[[str, Any], None]] = {"open": self.opened}
        handlers.update(dict.fromkeys(self.PATHS, self.touched))
        handlers.update(dict.fromkeys(self.OTHERS, self.left))
        find = handlers.get

        def hook(event: str, arguments: Any) -> None:
            handler = find(event)
            if handler is not None:
                handler(event, arguments)

        sys.addaudithook(hook)

    def opened(self, event: str, arguments: Any) -> None:
        path, _, flags = arguments
        if isinstance(path, int):
            return
        if flags & self.WRITING:
            if not self.allowed(path):
                self.stop(f"it writes {_shown(path)}")
        elif _absolute(path) in self.sources.changed:
            self.stop(f"it reads its own source {_shown(path)}")

    def touched(self, event: str, arguments: Any) -> None:
        paths = [each for each in arguments if isinstance(each, (str, bytes, os.PathLike))]
        directories = [each for each in arguments[2 if event == "os.mkdir" else 1 :] if isinstance(each, int)]
        relative = event in {"os.remove", "os.rmdir", "os.mkdir"} and any(each >= 0 for each in directories)
        if relative or not paths or not all(self.allowed(path) for path in paths):
            self.stop(f"it changes files ({event})")

    def left(self, event: str, arguments: Any) -> None:
        if event == "sqlite3.connect" and arguments[0] == ":memory:":
            return
        self.stop(f"it leaves its process ({event})")

    def allowed(self, path: Any) -> bool:
        full = os.path.realpath(os.fsdecode(path))
        return full == os.devnull or f"{full}/".startswith(self.temporary)

    def stop(self, reason: str) -> None:
        """End the fork at once, with the reason why it cannot be judged here."""
        tell(self.report, {"plain": reason})
        os._exit(0)


def _absolute(path: Any) -> str:
    return os.path.abspath(os.fsdecode(path))


def _shown(path: Any) -> str:
    return os.path.basename(os.fsdecode(path))


def tell(report: int, what: dict[str, Any]) -> None:
    """Add a line to the fork's report; a later one goes before an earlier one."""
    left = memoryview(json.dumps(what).encode("ascii") + b"\n")
    while left:
        left = left[os.write(report, left) :]


class Caught:
    """A context that keeps what is raised in it, whatever it is: a program may raise anything."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> Caught:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        self.error = error
        return True


def finish(status: int) -> int:
    """What the interpreter does at the end of a program: waits for threads, runs exit functions, flushes."""
    threading = sys.modules.get("threading")
    for module, name in ((threading, "_shutdown"), (atexit, "_run_exitfuncs")):
        with Caught() as caught:
            if module is not None:
                getattr(module, name)()
        if caught.error is not None:
            show(caught.error)
    with Caught() as caught:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    return 120 if caught.error is not None else status


def out_of_time() -> None:
    """End the fork, with what the program has written but not flushed."""
    with Caught():
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    os._exit(1)


def show(error: BaseException) -> None:
    """Print a traceback as the interpreter does, without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in _OWN:
        trace = trace.tb_next
    error = error.with_traceback(trace)
    with Caught():
        if sys.excepthook is not sys.__excepthook__:
            sys.excepthook(type(error), error, trace)
        elif sys.stderr is not None:
            traceback.print_exception(error, file=sys.stderr)


class OutOfTime(BaseException):
    """A test has used up its processor time."""


class Timed:
    """Bounds the processor time of each test, as a context around it.

    Args:
        limit_s: of the first one that does not end; those after it have less.
        give_up: called when one goes on all the same.
    """

    def __init__(self, limit_s: float, give_up: Callable[[], None]) -> None:
        self.limit_s, self.give_up = limit_s, give_up
        self.within, self.late, self.hung = False, 0, 0
        signal.signal(signal.SIGPROF, self.interrupt)
        signal.signal(signal.SIGXCPU, lambda *_: give_up())

    @property
    def hopeless(self) -> bool:
        """Whether too many tests do not end to wait for more of them."""
        return self.hung >= _MOST_HUNG

    def __enter__(self) -> None:
        self.within, self.late = True, 0
        limit_s = max(self.limit_s * (_LATER if self.hung else 1.0), _LEAST_S)
        signal.setitimer(signal.ITIMER_PROF, limit_s, limit_s)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.within = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.hung += bool(self.late)

    def interrupt(self, *_: Any) -> None:
        """Raise in the test; one that catches that again and again ends the run."""
        if self.within:
            self.late += 1
            if self.late > _MOST_CAUGHT:
                self.give_up()
            raise OutOfTime


def depth() -> int:
    """How many frames lie below the caller."""
    frame, found = sys._getframe(1), 0
    while frame.f_back is not None:
        frame, found = frame.f_back, found + 1
    return found


def outside(sources: Sources) -> tuple[list[str], list[str]]:
    """Modules loaded from outside the workspace, and files of the workspace that were loaded."""
    names, inside = [], []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if file in sources.files:
            inside.append(file)
        elif name != "__main__" and not file.startswith(f"{sources.root}/"):
            names.append(name)
    return names, inside
