"""How candidates are judged with the project loaded: its tests are collected once, and each fork changes functions."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import pytest

from .effect_guard import tell
from .fork import Fork, Work
from .fork_end import Caught, Timed
from .live_patches import Change, Patches, unchanged
from .service import Answer, Request, Service

_TOLD = 120  # characters: enough to tell failures apart


class Loaded:
    """Tests that are collected, and what a fork does with them."""

    def __init__(self, service: Service) -> None:
        self.service, task = service, service.task
        self.arguments: list[str] = task["argv"][1:]
        self.wanted: list[str] = task["tests"]
        self.in_order, self.guarded = task["in_order"], task["guarded"]
        self.items: list[Any] = []
        self.seconds, self.outcome = 0.0, ""
        self.problem = "pytest did not come to run the tests"
        self.failed = ""
        self.patches = Patches(service.sources)
        sys.path[0], sys.argv = task["path"], list(task["argv"])

    def enter(self) -> None:
        """Have pytest collect the tests and answer requests in place of running them."""
        # To know what ran while the project was loaded; the function returns None, so that no line is traced.
        sys.settrace(self.patches.note)
        pytest.main(self.arguments, plugins=[self])
        sys.settrace(None)
        if self.problem:
            self.serve()

    def serve(self) -> None:
        """Answer requests until no more come."""
        self.service.serve(self.problem, {"adopt": self.service.settle, "try": self.attempt_all})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        """Called by pytest to run the tests."""
        sys.settrace(None)
        if self.in_order:
            self.prelude(session.items)
        places = {name: place for place, name in enumerate(self.wanted)}
        # The failing tests get the first numbers; the sort keeps the order of the others.
        session.items.sort(key=lambda item: places.get(item.nodeid, len(places)))
        self.items = list(session.items)
        known = {item.nodeid for item in self.items}
        self.problem = (
            "" if known.issuperset(self.wanted) else "the failing tests are not found when the project is loaded"
        )
        self.patches.look()
        with Caught() as caught:
            self.serve()
        if caught.error is not None:
            traceback.print_exception(caught.error, file=sys.__stderr__)
        # Without pytest's end, which would report on tests that were never run.
        os._exit(caught.error is not None)

    def prelude(self, items: list[Any]) -> None:
        """Run the tests before the failing ones, which need what these leave behind."""
        last = max((number for number, item in enumerate(items) if item.nodeid in self.wanted), default=0)
        for item, following in zip(items[: last + 1], items[1 : last + 1]):
            if item.nodeid not in self.wanted:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)

    # --- candidates ---------------------------------------------------------------------------------------------------

    def attempt_all(self, request: Request) -> Answer:
        """Runs tests with edits made in the loaded project, one after the other."""
        edits = request["edits"]
        changes = [self.patches.made(edit) for edit in edits]
        try:
            answer = Fork(self.service.frames).run(request, self.work(request, changes))
            made = [place for place, each in enumerate(changes) if not isinstance(each, str)]
            answer["plain"] = {place: each for place, each in enumerate(changes) if isinstance(each, str)}
            answer["stale"] = [place for place in made if self.patches.is_stale(edits[place])]
            return answer
        finally:
            self.service.clear()

    def work(self, request: Request, changes: Sequence[Change | str]) -> Work:
        """What a fork does: each change in turn, undone before the next one, and at last the program as it is.

        One candidate may spoil what the next one finds; then the program as it is fails in another way.
        """

        def run(report: int) -> int:
            if self.guarded:
                self.service.guard.start(report)
            self.report = report
            self.alone = len(changes) == 1
            for place, change in enumerate(changes):
                self.place = str(place)
                if not isinstance(change, str):
                    self.attempt(request, change)
            if len(changes) > 1:
                self.place = "as it is"
                self.attempt(request, unchanged)
            return 0

        return run

    def attempt(self, request: Request, change: Change) -> None:
        """One change: the tests that must pass and, if they all do, the others."""
        self.ends: list[list[Any]] = []
        undo = unchanged()  # what there is to undo if the change itself fails
        with Caught() as caught:
            undo = change()
            # Each fork begins with the caches as they were when the project was loaded.
            for cache in self.patches.caches:
                cache.cache_clear()
        if caught.error is None:
            self.timed = Timed(request["test_cpu_s"], self.give_up)
            needed = list(request["needed"])
            self.run_all(needed, most_failed=request["enough"])
            passes = len(self.ends) == len(needed) and all(end[1] == "passed" for end in self.ends)
            if passes and self.alone:  # beside others a pass is only a reason to try it alone
                self.run_all(list(request["others"]), most_failed=request["most_failed"])
            tell(self.report, {self.place: self.ends})
        undo()

    def give_up(self) -> None:
        """Called in the middle of a test that does not end."""
        tell(self.report, {self.place: [*self.ends, [self.at, "hung", "", 0.0]]})
        os._exit(0)

    def run_all(self, numbers: list[int], *, most_failed: int) -> None:
        failed = 0
        numbers = [number for number in numbers if number < len(self.items)]
        for place, number in enumerate(numbers):
            # What tests set up in common is taken down after each one that another candidate may follow.
            following = self.items[numbers[place + 1]] if self.alone and place + 1 < len(numbers) else None
            self.at, self.outcome, self.failed, self.seconds = number, "", "", 0.0
            with self.timed:
                self.items[number].config.hook.pytest_runtest_protocol(item=self.items[number], nextitem=following)
            outcome = "hung" if self.timed.late else self.outcome or "failed"
            self.ends.append([number, outcome, self.failed, self.seconds])
            failed += outcome in ("failed", "hung")
            # One hanging test may be the failing one; a second says that the candidate hangs.
            if failed >= most_failed or self.timed.hung > 1:
                return

    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """Called by pytest for its report; without a failure's text, which nobody reads and takes most of the time."""
        if call.excinfo is None or call.excinfo.errisinstance(pytest.skip.Exception):
            return None
        return pytest.TestReport(item.nodeid, item.location, {}, "failed", "", call.when, duration=call.duration)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Called by pytest after each phase of a test."""
        self.seconds += report.duration
        # A pass of the set-up is no pass; a failure of the tear-down is a failure all the same.
        first_word = report.when == "call" and not self.outcome
        if report.failed or (report.skipped and self.outcome != "failed") or first_word:
            self.outcome = report.outcome

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        """Called by pytest with what a test raised."""
        if not self.failed:
            error, last = call.excinfo.value, call.excinfo.traceback[-1]
            with Caught():
                self.failed = f"{type(error).__name__}: {str(error)[:_TOLD]} at {last.path.name}:{last.lineno + 1}"


def main(start: Request) -> None:
    Loaded(Service(start)).enter()
