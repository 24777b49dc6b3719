"""A program that runs another one, or a test run, and writes down which lines of the workspace it executes.

It stands alone (standard library only, no import of Codur): its text is given to the workspace's own Python with `-c`.

    OUT ROOT LIMIT SCRIPT [ARGUMENT…]  |  OUT ROOT LIMIT -m MODULE [ARGUMENT…]  |  OUT ROOT LIMIT -c CODE [ARGUMENT…]

After LIMIT seconds it writes what it has, with the lines that were running, and ends. OUT becomes a JSON object:
`lines` ([file, line] outside of single tests), `tests` (name → failed, lines; pytest only), `stack` (outermost first).
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Recorder:
    """Collects executed lines, for the test that is running if there is one."""

    def __init__(self, out: str, root: str) -> None:
        self.out = Path(out)
        self.root = Path(root).resolve()
        self.names: dict[str, str] = {}
        self.outside: set[tuple[str, int]] = set()
        self.current = self.outside
        self.tests: dict[str, tuple[bool, set[tuple[str, int]]]] = {}
        self.stack: list[tuple[str, int]] = []

    def name(self, file: str) -> str:
        """The file relative to the root; empty if it lies outside."""
        if file not in self.names:
            full = (self.root / file).resolve()
            inside = full.is_relative_to(self.root) and full.is_file()
            self.names[file] = full.relative_to(self.root).as_posix() if inside else ""
        return self.names[file]

    def trace(self, frame: Any, event: str, argument: Any) -> Any:  # noqa: ARG002 - the interface of sys.settrace
        name = self.name(frame.f_code.co_filename)
        if not name:
            return None

        def line(inner: Any, kind: str, value: Any) -> Any:  # noqa: ARG001 - the interface of sys.settrace
            if kind == "line":
                self.current.add((name, inner.f_lineno))
            return line

        return line

    def start(self) -> None:
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def write(self) -> None:
        self.stop()
        tests = {name: {"failed": failed, "lines": sorted(lines)} for name, (failed, lines) in self.tests.items()}
        found = {"lines": sorted(self.outside), "tests": tests, "stack": self.stack}
        self.out.write_text(json.dumps(found), encoding="utf-8")

    def give_up(self, number: int, frame: Any) -> None:  # noqa: ARG002 - the interface of signal handlers
        while frame is not None:
            if self.name(frame.f_code.co_filename):
                self.stack.insert(0, (self.name(frame.f_code.co_filename), frame.f_lineno))
            frame = frame.f_back
        if self.current is not self.outside:
            self.tests["running"] = (True, self.current)
        self.write()
        os._exit(1)


def run_pytest(recorder: Recorder, arguments: list[str]) -> int:
    import pytest  # noqa: PLC0415 - lazy: only the workspace's Python may have it

    class Spectrum:
        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_call(self, item: Any) -> Iterator[None]:
            recorder.current = set()
            recorder.start()
            outcome: Any = yield
            recorder.stop()
            recorder.tests[item.nodeid] = (outcome.excinfo is not None, recorder.current)
            recorder.current = recorder.outside

    return int(pytest.main(arguments, plugins=[Spectrum()]))


def main(out: str, root: str, limit: str, *arguments: str) -> int:
    recorder = Recorder(out, root)
    signal.signal(signal.SIGALRM, recorder.give_up)
    signal.setitimer(signal.ITIMER_REAL, float(limit))
    first, *others = arguments
    try:
        if [first, *others[:1]] == ["-m", "pytest"]:
            sys.path[0] = root
            return run_pytest(recorder, others[1:])
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
