"""A program that runs pytest and writes down what becomes of each test, as it happens.

It stands alone (standard library and the pytest of the workspace's Python): its text is given to that Python with `-c`,
and one argument, a JSON object: `events` (the file to write), `limit` (seconds that a single test may take, 0 for any
time), `tests` (node ids of the tests to run, or files of which all are; empty for all), `sample` (seconds after which
the run ends if it would take longer than `most` seconds; 0 for none) and `arguments` (pytest's own). Each line of the
file is a JSON object: `collected` (how many tests), `takes` (seconds that all of them would take, of a run that ended
for it), `start` (a node id), or `id` with `outcome`
(`passed`, `failed`, `skipped`), `when` (`collect`, `setup`, `call`, `teardown`), `seconds`, and of what failed `text`,
`printed`, `raised`, `blocked` (which system call was denied or what is not there, if that is why) and `outside`
(nothing of the workspace had a part in it). An error of pytest itself is `internal`. The last line has `end`, pytest's
exit status, and `patched`: what of the test frameworks is not what it was before the workspace's code was loaded.

A word that comes as the first line of standard input stands in every line: lines without it are somebody else's.
"""

from __future__ import annotations

import errno
import json
import locale
import os
import re
import signal
import sys
import threading
import time
import unittest.util
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

TEXT = 4_000
PRINTED = 1_000
LATER, LEAST_S, TIMES = 0.3, 0.5, 4.0
"""Where one test does not end others often do not either: each that was stopped shortens the limit of the next ones,
not to less than some times what the slowest took that passed."""
AGAIN_S = 1.0
"""A test that catches what stops it is stopped again and again."""
DENIED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL}
NO_HOST = re.compile(
    r"(?:Could not resolve host|failure in name resolution|Name or service not known|Network is unreachable)[^\n'\"]*"
)
"""What a program says for which the network is not there."""
DEPTH = 20
MOST_WAITING = 5
FIXTURES = {
    "mocker": "pytest-mock", "benchmark": "pytest-benchmark", "httpx_mock": "pytest-httpx",
    "requests_mock": "requests-mock",
    "freezer": "pytest-freezer", "qtbot": "pytest-qt", "db": "pytest-django", "django_db_setup": "pytest-django",
    "aiohttp_client": "pytest-aiohttp", "snapshot": "syrupy", "respx_mock": "respx", "fs": "pyfakefs",
    "httpserver": "pytest-httpserver", "subtests": "pytest-subtests", "faker": "faker",
    "asyncio": "pytest-asyncio", "timeout": "pytest-timeout", "django_db": "pytest-django", "vcr": "pytest-vcr",
    "flaky": "pytest-rerunfailures", "trio": "pytest-trio", "xdist_group": "pytest-xdist",
}  # fmt: skip
"""Fixtures and marks of well-known plugins."""
PYTHON_2 = frozenset(
    """
    BaseHTTPServer Bastion CGIHTTPServer ConfigParser Cookie DocXMLRPCServer HTMLParser Queue ScrolledText
    SimpleHTTPServer SimpleXMLRPCServer SocketServer StringIO Tkinter UserDict UserList UserString __builtin__
    anydbm cPickle cStringIO commands cookielib copy_reg dbhash dircache dumbdbm dummy_thread exceptions
    fpformat gdbm htmlentitydefs htmllib httplib ihooks md5 mimetools mimewriter mutex new popen2 repr rfc822
    robotparser sets sgmllib sha thread tkFileDialog tkMessageBox tkSimpleDialog ttk urllib2 urlparse user whichdb
    xmlrpclib
    """.split()
)
"""Modules of Python 2's library that go by other names now, or are gone: no package is to be installed for them."""
UNMARKED = " not found in `markers` configuration option"
FRAMEWORKS = ("_pytest", "pytest", "pluggy", "unittest", "builtins")
ASYNC = "async def functions are not natively supported"


class Reporter:
    """The plugin that writes."""

    def __init__(self, write: Callable[..., None], told: dict[str, Any]) -> None:
        self.write = write
        self.limit, self.tests = told["limit"], dict.fromkeys(told["tests"])
        self.sample, self.most = told["sample"], told["most"]
        self.collected, self.ended, self.began = 0, 0, 0.0
        self.raised: dict[str, BaseException] = {}
        self.stopped, self.slowest = 0, 0.0

    def pytest_collection_modifyitems(self, session: Any, config: Any, items: list[Any]) -> None:
        """Called by pytest with the tests that it found."""
        if self.tests:
            left_out = [item for item in items if not self.wants(item.nodeid)]
            items[:] = [item for item in items if self.wants(item.nodeid)]
            config.hook.pytest_deselected(items=left_out)

    def wants(self, name: str) -> bool:
        return name in self.tests or name.partition("::")[0] in self.tests

    def pytest_collection_finish(self, session: Any) -> None:
        self.session, self.began = session, time.monotonic()
        self.collected = len({item.nodeid for item in session.items})
        self.write(collected=self.collected)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            why = reasons(self.raised.pop(report.nodeid, None))
            text = bounded(str(report.longrepr))
            self.write(id=report.nodeid, outcome="failed", when="collect", seconds=0.0, text=text, **why)

    def pytest_internalerror(self, excinfo: Any) -> None:
        error = excinfo.value
        self.write(internal=f"{type(error).__name__}: {error}"[:TEXT] if is_outside(error) else "")

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self.write(start=nodeid)

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        self.ended += 1
        passed = time.monotonic() - self.began
        takes = passed * self.collected / self.ended
        if 0 < self.sample < passed and takes > self.most:
            self.write(takes=takes)
            self.session.shouldstop = f"all tests would take {takes:.0f} s"

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        self.raised[getattr(report, "nodeid", "")] = call.excinfo.value

    def note(self, item: Any, call: Any) -> None:
        """Called by pytest before it makes a report."""
        # Of a method of unittest's, pytest puts what was raised there only while it makes the report.
        found = call.excinfo or next(iter(getattr(item, "_excinfo", None) or ()), None)
        if found is not None:
            self.raised[item.nodeid] = found.value

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.slowest = max(self.slowest, report.duration if report.passed else 0.0)
        if report.when != "call" and report.passed:
            return
        event = {"id": report.nodeid, "outcome": report.outcome, "when": report.when, "seconds": report.duration}
        if report.failed:
            error = self.raised.pop(report.nodeid, None)
            printed = "\n".join(text.strip() for _, text in report.sections)[-TEXT:]
            why = reasons(error)
            if type(error).__name__ == "CalledProcessError" and not why["blocked"]:
                # A program that the test ran had no network; a test's own words on that may be what it is about.
                said = "\n".join(map(str, (printed, getattr(error, "output", ""), getattr(error, "stderr", ""))))
                host = NO_HOST.search(said)
                why["blocked"] = host[0] if host else ""
            if report.when == "setup" and isinstance(error, locale.Error):  # in a call the program may have named it
                why["blocked"] = "a locale is not installed"
            event.update(
                text=bounded(str(report.longrepr)), printed=printed[-PRINTED:], raised=type(error).__name__, **why
            )
        self.write(**event)

    def limited(self, item: Any) -> Iterator[None]:
        """Stops a phase of a test that takes too long, with the stack that it has then.

        The alarm is off when pytest makes the report, which would end the whole run if it were stopped.
        """
        if not self.limit:
            yield
            return
        import pytest  # noqa: PLC0415 - the workspace's

        limit = min(self.limit, max(LEAST_S, TIMES * self.slowest, self.limit * LATER**self.stopped))
        stopped = self.stopped + 1

        def stop(*_: Any) -> None:
            __tracebackhide__ = True  # the last line told is the program's
            self.stopped = stopped
            told = "".join(f"\n{line}" for line in waiting())
            pytest.fail(f"it did not end within {limit:g} s; stopped here{told}")

        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, limit, AGAIN_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


@lru_cache(None)
def root() -> str:
    """The workspace, where the program began; tests may go elsewhere."""
    return os.getcwd()


def waiting() -> list[str]:
    """Where the other threads are, and the event loop's tasks, as far as that is in the workspace: `a.py:3: in f`."""
    frames = [frame for ident, frame in sys._current_frames().items() if ident != threading.get_ident()]
    loops = sys.modules.get("asyncio.events")
    loop = loops._get_running_loop() if loops else None
    tasks = sys.modules["asyncio"].all_tasks(loop) if loop else ()
    stacks = [*map(outer, frames), *(awaited(task.get_coro()) for task in tasks)]
    here, found = f"{root()}/", []
    for stack in stacks:
        own = (frame for frame in stack if frame.f_code.co_filename.startswith(here))
        frame = next((frame for frame in own if "/site-packages/" not in frame.f_code.co_filename), None)
        if frame is not None:
            found.append(
                f"{frame.f_code.co_filename[len(here) :]}:{frame.f_lineno}: in {frame.f_code.co_name} waits, too"
            )
    return list(dict.fromkeys(found))[:MOST_WAITING]


def outer(frame: Any) -> list[Any]:
    """A frame and those that called it, the innermost first."""
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def awaited(coroutine: Any) -> list[Any]:
    """The frames of a coroutine and of those that it awaits, the innermost first."""
    found = []
    while getattr(coroutine, "cr_frame", None) is not None:
        found.append(coroutine.cr_frame)
        coroutine = coroutine.cr_await
    return found[::-1]


def bounded(text: str) -> str:
    """A long report's head, with the place in the test, and its end, with what was wrong."""
    return text if len(text) <= TEXT else f"{text[: TEXT // 2]}\n…\n{text[-TEXT // 2 :]}"


def reasons(error: BaseException | None) -> dict[str, Any]:
    """What is told of why something failed."""
    outside = error is not None and is_outside(error)
    blocked = denied(error)
    if outside and not blocked and isinstance(error, (OSError, ImportError, Warning)):
        blocked = f"{type(error).__name__}: {error}"
    return {"blocked": blocked, "outside": outside}


def is_outside(error: BaseException | None) -> bool:
    """Whether no frame of an exception, or of those that led to it, is in a file of the workspace."""
    here = f"{root()}/"
    for _ in range(DEPTH):
        if error is None:
            return True
        files = [str(getattr(error, "filename", "") or "")] if isinstance(error, SyntaxError) else []
        trace = error.__traceback__
        while trace is not None:
            files.append(trace.tb_frame.f_code.co_filename)
            trace = trace.tb_next
        if any(file.startswith(here) and "/site-packages/" not in file for file in files):
            return False
        error = error.__cause__ or error.__context__
    return False


def denied(error: BaseException | None) -> str:
    """What is not to be had here that an exception comes from: a refusal by the system, a package; empty if nothing."""
    for _ in range(DEPTH):
        if error is None:
            break
        if isinstance(error, ModuleNotFoundError) and error.name and not is_own(error.name, error):
            return f"{error.name.partition('.')[0]} is not installed"
        if isinstance(error, OSError) and (error.errno in DENIED or type(error).__name__ == "gaierror"):
            return f"{type(error).__name__}: {error}"
        mark, unknown, _ = str(error).partition(UNMARKED)
        name = getattr(error, "argname", "") or (mark.strip("'") if unknown else "")
        if name in FIXTURES:
            return f"{FIXTURES[name]} is not installed"
        if str(error).startswith(ASYNC):
            there = "pytest_asyncio" in sys.modules
            return (
                f"pytest-asyncio {'runs none without a mark: asyncio_mode is strict' if there else 'is not installed'}"
            )
        error = error.__cause__ or error.__context__
    return ""


def is_own(module: str, error: ModuleNotFoundError) -> bool:
    """Whether a module that an error misses would be the workspace's, or Python 2's: the program is at fault."""
    top = module.partition(".")[0]
    here = f"{root()}/"
    # Beside the file that imports it Python 2 would find it.
    files, trace = sys.path[:0], error.__traceback__
    while trace is not None:
        files.append(os.path.dirname(trace.tb_frame.f_code.co_filename))
        trace = trace.tb_next
    roots = {here, *(f"{path}/" for path in (*sys.path, *files) if f"{path}/".startswith(here))}
    return top in PYTHON_2 or any(os.path.exists(f"{root}{top}{end}") for root in roots for end in ("", ".py"))


def channel(path: str, word: str) -> Callable[..., None]:
    """What writes events to a file that is open before anything of the workspace is loaded."""
    # Not a file object: one that is open at the end is a warning, which the workspace's settings may make an error.
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    dumps, put = json.dumps, os.write
    signed = {"word": word} if word else {}

    def write(**event: Any) -> None:
        put(file, f"{dumps({**event, **signed})}\n".encode())

    return write


def frameworks() -> dict[str, tuple[Any, Any]]:
    """The functions, methods and properties of the loaded test frameworks and of `builtins`, with their code."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in FRAMEWORKS:
            continue
        for key, value in list(vars(module).items()):
            if isinstance(value, type) and getattr(value, "__module__", "") == name:
                members = [(f"{name}.{key}.{each}", member) for each, member in list(vars(value).items())]
            else:
                members = [(f"{name}.{key}", value)]
            found.update({place: (each, code_of(each)) for place, each in members if acts(each)})
    return found


def acts(value: Any) -> bool:
    return callable(value) or isinstance(value, (staticmethod, classmethod, property))


def code_of(value: Any) -> Any:
    return getattr(getattr(value, "fget", None) or value, "__code__", None)


def main(told: dict[str, Any]) -> int:
    write = channel(told["events"], sys.stdin.readline().strip())
    import pytest  # noqa: PLC0415 - the workspace's

    # Else `[305 chars]` stands in place of the cause.
    vars(unittest.util)["_MAX_LENGTH"] = unittest.TestCase.maxDiff = TEXT
    before, look = frameworks(), frameworks
    reporter = Reporter(write, told)
    for phase in ("setup", "call", "teardown"):
        setattr(Reporter, f"pytest_runtest_{phase}", pytest.hookimpl(hookwrapper=True, tryfirst=True)(Reporter.limited))
    Reporter.pytest_runtest_makereport = pytest.hookimpl(tryfirst=True)(Reporter.note)  # type: ignore[attr-defined]
    sys.path[0] = root()  # as `python -m pytest` has it; this program's own directory is no place to import from
    sys.argv = [pytest.__file__, *told["arguments"]]
    status = int(pytest.main(told["arguments"], plugins=[reporter]))
    after = look()
    gone = (None, None)
    patched = [
        name
        for name, (value, code) in before.items()
        if after.get(name, gone)[0] is not value or after.get(name, gone)[1] is not code
    ]
    write(end=status, patched=patched)
    if reporter.stopped and status:
        # Threads of what was stopped may wait for ever, and the interpreter for them.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
