"""How a candidate's fork runs a script, a module or code as `__main__`.

It stands alone (standard library only, no import of Codur): `worker_program` gets its text.
"""

from __future__ import annotations

import importlib.machinery
import runpy
import signal
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any


class Script:
    """A program that is run as `__main__`."""

    problem = ""
    learning = False

    def __init__(self, task: dict[str, Any], sources: Any, guard: Any, temporary: str) -> None:
        self.task = task
        self.sources = sources
        self.guard = guard
        self.inside = sys.modules["_repair_worker_inside"]

    def adopt(self, learnt: dict[str, Any]) -> None:
        """Nothing is needed beyond the modules."""

    def ways(self, wanted: str) -> Iterator[str]:
        yield "script"

    def may_share(self, files: Mapping[str, bytes], way: str) -> bool:
        return False

    def work(self, way: str) -> Callable[[int], int]:
        return self.run

    def run(self, report: int) -> int:
        """In the fork: run the program to its end; gives its exit status."""
        main = types.ModuleType("__main__")
        sys.modules["__main__"] = main
        sys.path[0], sys.argv = self.task["path"], list(self.task["argv"])
        start = self.program(main)
        self.guard.start(report)
        signal.signal(signal.SIGXCPU, lambda *_: self.inside.out_of_time())
        with self.inside.Caught() as caught:
            sys.setrecursionlimit(sys.getrecursionlimit() + self.inside.depth() + 1)
            start()
        status: int = self.inside.finish(self.ended(caught.error))
        if self.learning:
            modules, inside = self.inside.outside(self.sources)
            self.inside.tell(report, {"modules": modules, "inside": inside})
        if caught.error is not None and isinstance(caught.error, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        return status

    def program(self, main: types.ModuleType) -> Callable[[], None]:
        if self.task["kind"] == "module":
            return lambda: runpy._run_module_as_main(self.task["target"])  # type: ignore[attr-defined]
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
                return (error.code or 0) & 0xFF
            with self.inside.Caught():
                print(error.code, file=sys.stderr)  # noqa: T201 - it is the program's own message
            return 1
        self.inside.show(error)
        return 1
