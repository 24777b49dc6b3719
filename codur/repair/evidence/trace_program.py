"""A program that runs another one, or a test run, and writes down which lines of the workspace it executes.

It stands alone (standard library only, no import of Codur): its text is given to the workspace's own Python with `-c`.

    OUT ROOT LIMITS SCRIPT [ARGUMENT…]  |  OUT ROOT LIMITS -m MODULE [ARGUMENT…]  |  OUT ROOT LIMITS -c CODE [ARGUMENT…]

LIMITS is a JSON object: after `seconds` it writes what it has, with the lines that were running, and ends; `failing`
are node ids of tests, `in_order` says whether their order must stay, `counted` whether a program that is not pytest
runs tests. If some are failing, these are run first, with a share of the time each, and then others of their files, the
nearest first, of which only the lines count that the failing ones execute too. OUT becomes a JSON object:
`lines` ([file, line] outside of single tests), `tests` (name → failed, lines; of pytest and unittest), `elsewhere`
(whether the lines of what failed are not there: it ran in another process, or was not reached), `values` ([file, line,
samples]; a sample is an object of what the frame's plain variables held just before the line ran: a literal, or
`<TYPE>` for what is too large to write down), and of a run that did not end `stack` (outermost first) and `hot` (the
lines that ran most often). `printed` are [output line, file, line], in the order in which they were written. An empty
OUT stands for the report of a warm worker's fork.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SAMPLES = 32  # of a line
FIRST = 8
FIRST_OF_TEST = 4
ALL_SAMPLES = 4000  # of all lines: the result is read as one piece of JSON
ALL_PRINTED = 5000
ITEMS = 24
CHARS = 120
HOT = 3
OTHERS_S = 2.0
STARTS_S = 3.0
"""What pytest may take to start and to load the tests, beside the time for the tests."""
"""How long tests that pass are recorded, to tell them from those that fail."""
MONITORING: Any = getattr(sys, "monitoring", None)
"""PEP 669 (Python 3.12): cheaper than a trace function, which it replaces where it is there."""
TOOL = 3  # numbers 0, 1, 2 and 5 have names in `sys.monitoring`: a debugger or a coverage tool may hold them
CO_OPTIMIZED = 1  # of code: it is a function's, not a module's or a class's (`inspect.CO_OPTIMIZED`)
CHILDREN = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"})
"""Audit events: a part of the program runs in another process."""
PLAIN = (bool, int, float, str, bytes, type(None))
CONTAINERS = (list, tuple, set, frozenset, dict)


def written(value: Any) -> str:
    """A literal for small plain values, `<TYPE>` for other values."""
    if isinstance(value, PLAIN) and type(value) in PLAIN:
        if not isinstance(value, int) or value.bit_length() < 4 * CHARS:
            text = repr(value) if not isinstance(value, (str, bytes)) or len(value) <= CHARS else ""
            if text and text not in ("nan", "inf", "-inf"):  # these are no literals
                return text
    elif type(value) in CONTAINERS and len(value) <= ITEMS and is_plain(value, 2):
        text = repr(value)
        if len(text) <= 4 * CHARS and "nan" not in text and "inf" not in text and "frozenset" not in text:
            return text
    return f"<{type(value).__name__}>"


def is_plain(value: Any, depth: int) -> bool:
    """Whether a container holds nothing but plain values and small containers of them."""
    items = [*value, *value.values()] if isinstance(value, dict) else list(value)
    for item in items:
        if type(item) in CONTAINERS:
            if depth == 0 or len(item) > ITEMS or not is_plain(item, depth - 1):
                return False
        elif type(item) not in PLAIN or (isinstance(item, int) and item.bit_length() > CHARS):
            return False
    return True


class Values:
    """A bounded number of samples of the variables of each line: the first ones, then ever fewer."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, int], int] = {}
        self.round: dict[tuple[str, int], int] = {}
        self.samples: dict[tuple[str, int], list[dict[str, str]]] = {}
        self.taken = 0
        self.first = FIRST

    def begin(self) -> None:
        """Another test starts: its first samples count as much as those of the one before."""
        self.round.clear()
        self.first = FIRST_OF_TEST

    def take(self, place: tuple[str, int], frame: Any) -> None:
        self.seen[place] = self.seen.get(place, 0) + 1
        count = self.round[place] = self.round.get(place, 0) + 1
        if count > self.first and count & (count - 1):
            return
        samples = self.samples.setdefault(place, [])
        if len(samples) >= SAMPLES or self.taken >= ALL_SAMPLES:
            return
        self.taken += 1
        found = {}
        for name, value in list(frame.f_locals.items()):
            if not name.startswith(("__", ".", "@")) and not callable(value) and not isinstance(value, type(sys)):
                found[name] = written(value)
        samples.append(found)


class Printed:
    """Stands before standard output, and notes which line of the workspace's files wrote each line of it."""

    def __init__(self, stream: Any, recorder: Recorder) -> None:
        self.stream = stream
        self.recorder = recorder
        self.number = 1
        self.places: list[tuple[int, str, int]] = []

    def write(self, text: Any) -> Any:
        if len(self.places) < ALL_PRINTED:
            self.note()
        if isinstance(text, str):
            self.number += text.count("\n")
        return self.stream.write(text)

    def note(self) -> None:
        frame: Any = sys._getframe(2)
        while frame is not None and not self.recorder.name(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None:
            place = (self.number, self.recorder.name(frame.f_code.co_filename), frame.f_lineno)
            if not self.places or self.places[-1] != place:
                self.places.append(place)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Recorder:
    """Collects executed lines, for the test that is running if there is one."""

    def __init__(self, out: str, root: str) -> None:
        self.out = Path(out or os.path.join(os.environ["TMPDIR"], "report.xml"))
        self.root = Path(root).resolve()
        self.names: dict[str, str] = {}
        self.outside: set[tuple[str, int]] = set()
        self.current = self.outside
        self.tests: dict[str, tuple[bool, set[tuple[str, int]]]] = {}
        self.stack: list[tuple[str, int]] = []
        self.values = Values()
        self.hot: list[tuple[str, int]] = []
        self.printed = Printed(sys.stdout, self)
        self.monitoring = False
        self.codes: set[Any] = set()
        self.narrow = False
        self.only_lines = self.importing = self.children = self.counted = False
        sys.addaudithook(self.audit)

    def audit(self, event: str, arguments: Any) -> None:
        self.children = self.children or event in CHILDREN

    def name(self, file: str) -> str:
        """The file relative to the root; empty if it lies outside."""
        if file not in self.names:
            full = (self.root / file).resolve()
            inside = self.root in full.parents and full.is_file()
            self.names[file] = full.relative_to(self.root).as_posix() if inside else ""
        return self.names[file]

    def trace(self, frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        name = self.name(code.co_filename)
        if not name or (self.narrow and self.only_lines and code not in self.codes):
            return None
        if self.importing:
            return self.lines_alone
        if self.narrow and not self.only_lines:
            self.codes.add(code)
        if self.only_lines:
            return self.lines_alone

        def line(inner: Any, kind: str, value: Any) -> Any:
            if kind == "line":
                self.values.take(self.note(name, inner.f_code, inner.f_lineno), inner)
            return line

        return line

    def lines_alone(self, frame: Any, kind: str, value: Any) -> Any:
        if kind == "line":
            self.note(self.name(frame.f_code.co_filename), frame.f_code, frame.f_lineno)
        return self.lines_alone

    def note(self, name: str, code: Any, number: int) -> tuple[str, int]:
        """Note a line; which test loads a module says nothing of its lines, nor of those of its classes."""
        place = (name, number)
        (self.current if code.co_flags & CO_OPTIMIZED else self.outside).add(place)
        return place

    def monitored(self, code: Any, number: int) -> Any:
        """A line event of `sys.monitoring`; lines outside of the root are not asked about again."""
        name = self.name(code.co_filename)
        if not name:
            return MONITORING.DISABLE
        place = self.note(name, code, number)
        if not (self.only_lines or self.importing):
            self.values.take(place, sys._getframe(1))
        return None

    def start(self) -> None:
        if MONITORING is not None and MONITORING.get_tool(TOOL) is None:
            MONITORING.use_tool_id(TOOL, "trace")
            MONITORING.register_callback(TOOL, MONITORING.events.LINE, self.monitored)
            MONITORING.set_events(TOOL, MONITORING.events.LINE)
            self.monitoring = True
            return
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def stop(self) -> None:
        if self.monitoring:
            MONITORING.set_events(TOOL, 0)
            MONITORING.free_tool_id(TOOL)
            self.monitoring = False
        sys.settrace(None)
        threading.settrace(None)

    def write(self) -> None:
        self.stop()
        tests = {name: {"failed": failed, "lines": sorted(lines)} for name, (failed, lines) in self.tests.items()}
        failing = any(failed for failed, _ in self.tests.values())
        values = [[*place, samples] for place, samples in self.values.samples.items()]
        found = {
            "lines": sorted(self.outside),
            "tests": tests,
            "elsewhere": (self.counted and bool(tests) and not failing) or (self.children and not tests),
            "stack": self.stack,
            "values": values,
            "hot": self.hot,
            "printed": self.printed.places,
        }
        self.out.write_text(json.dumps(found), encoding="utf-8")

    def give_up(self, number: int, frame: Any) -> None:
        """Write what there is and end; the interface of signal handlers."""
        if not self.counted:
            self.hangs(number, frame)
            if self.current is not self.outside:
                self.tests["running"] = (True, self.current)
        self.write()
        os._exit(1)

    def hangs(self, number: int, frame: Any) -> None:
        """Note where a program is that does not end."""
        self.stack.clear()
        while frame is not None:
            if self.name(frame.f_code.co_filename):
                self.stack.insert(0, (self.name(frame.f_code.co_filename), frame.f_lineno))
            frame = frame.f_back
        most = max(self.values.seen.values(), default=0)
        self.hot = sorted(place for place, count in self.values.seen.items() if count * HOT >= most)


class Spectrum:
    """The plugin that has each test recorded by itself.

    Args:
        failing: node ids of the tests that matter; empty for all.
        in_order: they need those before them, so that the order must stay.
        seconds: for all tests together.
    """

    def __init__(self, recorder: Recorder, failing: list[str], seconds: float, in_order: bool) -> None:
        self.recorder, self.failing, self.seconds = recorder, dict.fromkeys(failing), seconds
        self.in_order = in_order
        self.until = 0.0
        self.failed = False
        self.fail: Any = None

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if not self.failing or self.in_order:
            return
        first = [item for item in items if item.nodeid in self.failing]
        places = [items.index(item) for item in first]
        nearest = sorted(
            (number for number in range(len(items)) if number not in places),
            key=lambda number: (min((abs(number - place) for place in places), default=0), number),
        )
        items[:] = [*first, *(items[number] for number in nearest)]

    def collected(self, session: Any) -> Iterator[None]:
        """What runs while the tests are imported is recorded without values: some of it may be what fails later."""
        self.recorder.importing = True
        self.recorder.start()
        yield
        self.recorder.stop()
        self.recorder.importing = False

    def record(self, item: Any, nextitem: Any) -> Iterator[None]:
        recorder = self.recorder
        recorder.narrow = bool(self.failing)
        recorder.only_lines = recorder.narrow and item.nodeid not in self.failing
        recorder.current, self.failed = set(), False
        recorder.values.begin()
        self.until = self.until or time.monotonic() + self.seconds
        if not recorder.narrow:
            signal.setitimer(signal.ITIMER_REAL, max(0.01, self.until - time.monotonic()))
        recorder.start()
        yield
        recorder.stop()
        recorder.tests[item.nodeid] = (self.failed, recorder.current)
        recorder.current = recorder.outside
        if recorder.narrow and not recorder.only_lines and recorder.tests.keys() >= self.failing.keys():
            self.until = min(self.until, time.monotonic() + OTHERS_S)
        if time.monotonic() > self.until:
            item.session.shouldstop = "the time for tracing is up"

    def limited(self, item: Any) -> Iterator[None]:
        """The alarm is on in the phases of a test alone: it must not stop pytest itself."""
        if self.recorder.narrow:
            self.limit()
        yield
        if self.recorder.narrow:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def limit(self) -> None:
        """Stop a test that takes more than its share, and go on with the next one."""
        left = max(0.05, self.until - time.monotonic())
        waiting = sum(name not in self.recorder.tests for name in self.failing)

        def stop(number: int, frame: Any) -> None:
            if not self.recorder.only_lines:
                self.recorder.hangs(number, frame)
            self.fail("it takes too long to be traced")

        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, left / 2 if waiting > 1 or self.recorder.only_lines else left, 0.5)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed = self.failed or report.failed


class Cases:
    """Has each test of `unittest` recorded by itself, whatever program runs it.

    Args:
        seconds: for all tests together.
    """

    def __init__(self, recorder: Recorder, seconds: float) -> None:
        self.recorder, self.seconds, self.failed, self.begun = recorder, seconds, False, False
        unittest = importlib.import_module("unittest")  # now, as most programs need nothing of it
        self.usual: Any = unittest.TestCase.run
        recorder.counted = True
        for name in ("addFailure", "addError", "addSubTest", "addUnexpectedSuccess"):
            setattr(unittest.TestResult, name, self.noting(getattr(unittest.TestResult, name)))
        record = self.record
        vars(unittest)["TestCase"].run = lambda case, result=None: record(case, result)

    def noting(self, usual: Any) -> Any:
        def note(result: Any, *told: Any) -> Any:
            # A subtest that passed is told, too, with no error.
            self.failed = self.failed or told[-1] is not None
            return usual(result, *told)

        return note

    def record(self, case: Any, result: Any) -> Any:
        recorder = self.recorder
        if not self.begun:
            signal.setitimer(signal.ITIMER_REAL, self.seconds)
            recorder.values = Values()  # of what ran till then, which was to load the tests, nothing need be known
        self.begun, self.failed, recorder.importing, recorder.current = True, False, False, set()
        recorder.values.begin()
        try:
            return self.usual(case, result)
        finally:
            recorder.tests[case.id()] = (self.failed, recorder.current)
            recorder.current, recorder.importing = recorder.outside, True


def run_pytest(arguments: list[str], spectrum: Spectrum) -> int:
    import pytest  # noqa: PLC0415 - lazy: only the workspace's Python may have it

    hooks: Any = Spectrum
    hooks.pytest_runtest_protocol = pytest.hookimpl(hookwrapper=True)(Spectrum.record)
    for phase in ("setup", "call", "teardown"):
        setattr(hooks, f"pytest_runtest_{phase}", pytest.hookimpl(hookwrapper=True, tryfirst=True)(Spectrum.limited))
    if spectrum.failing:
        hooks.pytest_collection = pytest.hookimpl(hookwrapper=True)(Spectrum.collected)
    spectrum.fail = pytest.fail
    return int(pytest.main(arguments, plugins=[spectrum]))


def main(out: str, root: str, limits: str, *arguments: str) -> int:
    recorder = Recorder(out, root)
    given = json.loads(limits)
    limit, failing, in_order = given["seconds"], given["failing"], given["in_order"]
    signal.signal(signal.SIGALRM, recorder.give_up)
    first, *others = arguments
    of_pytest = [first, *others[:1]] == ["-m", "pytest"]
    if not failing:  # else it counts from when the tests are collected
        signal.setitimer(signal.ITIMER_REAL, limit + STARTS_S if of_pytest else limit)
    try:
        if of_pytest:
            sys.path[0] = root
            return run_pytest(others[1:], Spectrum(recorder, failing, limit, in_order))
        sys.stdout = recorder.printed
        if given["counted"]:
            Cases(recorder, limit)
        recorder.start()
        if first == "-m":
            sys.path[0], sys.argv = root, others
            runpy.run_module(others[0], run_name="__main__", alter_sys=True)
        elif first == "-c":
            sys.argv = ["-c", *others[1:]]
            exec(compile(others[0], "<string>", "exec"), {"__name__": "__main__"})
        else:
            sys.path[0], sys.argv = str(Path(first).resolve().parent), [first, *others]
            runpy.run_path(first, run_name="__main__")
        return 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        recorder.write()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
