"""How a candidate's fork runs a script, a module (pytest among them) or code as `__main__`."""

from __future__ import annotations

import contextlib
import importlib.machinery
import os
import runpy
import signal
import sys
import types
from collections.abc import Callable
from typing import Any

from .effect_guard import tell
from .fork import Fork
from .fork_end import Caught, depth, finish, out_of_time, show
from .memory_sources import outside
from .service import Answer, Request, Service


class Script:
    """A program that is run as `__main__` for each candidate, which is loaded anew."""

    def __init__(self, service: Service) -> None:
        self.service, self.task = service, service.task
        self.sources, self.guard = service.sources, service.guard
        self.report = f"{service.temporary}/report.xml"
        self.learning = False

    def serve(self) -> None:
        """Answer requests until no more come."""
        self.service.serve("", {"adopt": self.load, "judge": self.judge})

    def load(self, request: Request) -> Answer:
        """Loads what a normal run loaded."""
        for name in request["modules"]:
            with contextlib.suppress(ImportError):  # the normal run may have met it, and gone on without
                __import__(name)
        self.sources.keep(request["inside"])
        return self.service.settle(request)

    def judge(self, request: Request) -> Answer:
        """Runs one candidate; `learn` says whether it tells what can be loaded once."""
        self.learning, self.task = request["learn"], {**self.service.task, **request["instead"]}
        self.sources.change({path: text.encode("latin-1") for path, text in request["files"].items()})
        try:
            return {**Fork(self.service.frames).run(request, self.run), "report": self.take_report()}
        finally:
            self.sources.change({})

    def take_report(self) -> str | None:
        """The report that a run wrote; the temporary directory is empty afterwards."""
        found = None
        if os.path.isfile(self.report) and not os.path.islink(self.report):  # a candidate may put a link there
            with open(self.report, encoding="latin-1", newline="") as file:
                found = file.read()
        self.service.clear()
        return found

    def run(self, report: int) -> int:
        """In the fork: run the program to its end; gives its exit status."""
        main = types.ModuleType("__main__")
        # `pickle`, `dataclasses` and tests look their module up there.
        sys.modules["__main__"] = main
        sys.path[0] = self.task["path"]
        sys.argv = [word.replace("{report}", self.report) for word in self.task["argv"]]
        start = self.program(main)
        self.guard.start(report)
        signal.signal(signal.SIGXCPU, lambda *_: out_of_time())
        with Caught() as caught:
            # The frames of the worker do not count: a deep recursion fails at the depth at which it fails in a plain
            # process.
            sys.setrecursionlimit(sys.getrecursionlimit() + depth() + 2)  # and this function, and `start`
            start()
        status: int = finish(self.ended(caught.error))
        if self.learning:
            modules, inside = outside(self.sources)
            tell(report, {"modules": modules, "inside": inside})
        if caught.error is not None and isinstance(caught.error, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)  # so that the status is that of an interrupted program
        return status

    def program(self, main: types.ModuleType) -> Callable[[], None]:
        if self.task["kind"] == "module":
            run_module: Callable[[str], Any] = vars(runpy)["_run_module_as_main"]
            return lambda: run_module(self.task["target"])
        if self.task["kind"] == "code":
            return lambda: exec(compile(self.task["target"], "<string>", "exec"), main.__dict__)
        path = self.task["target"]
        main.__dict__.update(__file__=path, __cached__=None, __builtins__=sys.modules["builtins"])
        main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
        return lambda: exec(self.sources.code(path), main.__dict__)

    def ended(self, error: BaseException | None) -> int:
        """The exit status, with what the interpreter says of an exception."""
        if error is None:
            return 0
        if isinstance(error, SystemExit):
            if error.code is None or isinstance(error.code, int):
                return (error.code or 0) & 0xFF  # what the system keeps of a status
            with Caught():
                sys.stderr.write(f"{error.code}\n")
            return 1
        show(error)
        return 1


def main(start: dict[str, Any]) -> None:
    Script(Service(start)).serve()
