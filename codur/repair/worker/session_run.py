"""How a candidate's fork runs tests with pytest: a whole session, for what is judged with nothing loaded of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite
from _pytest.config import ConftestImportFailure, PytestPluginManager, _prepareconfig

from .conftest_files import Conftests
from .effect_guard import tell
from .fork_end import Caught, depth, finish, show
from .memory_sources import outside
from .service import REPORT, Runner, Service

WRONG_USAGE = 4
PLAIN_DEPTH = 5
"""Frames below pytest's main hook when it runs as `python -m pytest`."""


class Session(Runner):
    """A test run with pytest."""

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        given: list[str] = self.task["arguments"]
        self.conftests = Conftests(self.sources.files, self.sources.root)
        self.arguments = [each.replace("{report}", f"{service.temporary}/{REPORT}") for each in given]
        self.tests = set(self.task["tests"])
        self.told: dict[str, Any] = {}
        self.codes: dict[str, Any] = {}
        self.load_conftests: Callable[[], None] = lambda: None
        self.config: Any = None
        sys.path[0], sys.argv = self.task["path"], list(self.task["argv"])
        rewriting: Any = rewrite
        self.rewrite_test = rewriting._rewrite_test
        rewriting._rewrite_test = self.rewritten
        if self.conftests.load_once or self.conftests.load_later:
            self.configure()

    def configure(self) -> None:
        """Load settings and plugins once, and a `conftest.py` unless it loads what candidates change."""
        manager: Any = PytestPluginManager
        usual = manager._set_initial_conftests
        if self.conftests.load_later:
            manager._set_initial_conftests = self.noted(usual)
        self.config = _prepareconfig(list(self.arguments), [self])
        manager._set_initial_conftests = usual
        self.capture = self.config.pluginmanager.getplugin("capturemanager")
        self.capture.stop_global_capturing()
        if set(outside(self.sources)[1]) - set(self.conftests.trees):
            self.problem = "its settings load the workspace's own modules"

    def noted(self, usual: Callable[..., None]) -> Callable[..., None]:
        """A function that keeps for later what it is asked to do."""

        def note(*arguments: Any, **named: Any) -> None:
            self.load_conftests = lambda: usual(*arguments, **named)

        return note

    def adopt(self, learnt: dict[str, Any]) -> None:
        """Take over what a normal run told: the code of test modules."""
        if self.config is not None:
            for path in learnt["rewritten"]:
                if path not in self.codes:
                    self.codes[path] = self.rewrite_test(Path(path), self.config)

    def rewritten(self, path: Any, config: Any) -> Any:
        """The code of a test module with its assertions rewritten; test modules are the same for all candidates."""
        self.told.setdefault("rewritten", []).append(str(path))
        return self.codes.get(str(path)) or self.rewrite_test(path, config)

    def run(self, report: int) -> int:
        """In the fork: a whole session; gives pytest's exit status."""
        self.told = {"rewritten": [], "modules": [], "inside": []}
        self.report = report
        self.guard.start(report)
        status: Any = 1
        with Caught() as caught:
            status = self.session()
        status = finish(int(status) if caught.error is None else self.ended(caught.error))
        if self.learning:
            tell(report, self.told)
        return int(status)

    def session(self) -> Any:
        sys.setrecursionlimit(sys.getrecursionlimit() + max(0, depth() - PLAIN_DEPTH))
        if self.config is None:
            return pytest.main(list(self.arguments), plugins=[self])
        self.capture.start_global_capturing()
        self.capture.suspend_global_capture()
        try:
            self.load_conftests()
        except ConftestImportFailure:
            return WRONG_USAGE  # a plain process tells the rest
        try:
            return self.config.hook.pytest_cmdline_main(config=self.config)
        finally:
            self.config._ensure_unconfigure()

    def ended(self, error: BaseException) -> int:
        if isinstance(error, SystemExit) and isinstance(error.code, int):
            return error.code & 0xFF
        show(error)
        return 1

    # --- what a whole session tells -----------------------------------------------------------------------------------

    def pytest_runtest_logfinish(self) -> None:
        """Called by pytest after each test. What is loaded later only tells the results, and a large fork is slow."""
        if self.learning:
            self.told["modules"], self.told["inside"] = outside(self.sources)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Called by pytest with the tests that it found."""
        if self.tests:
            items[:] = [item for item in items if {item.nodeid, item.nodeid.partition("::")[0]} & self.tests]

    def pytest_collection_finish(self) -> None:
        """Called by pytest when it knows its tests. It is told at once, as one of them may never end."""
        if self.learning:
            self.told["modules"], self.told["inside"] = outside(self.sources)
            tell(self.report, self.told)


def main(start: dict[str, Any]) -> None:
    Session(Service(start)).serve()
