"""Answers the requests of one worker: what becomes of a candidate that is run in a fork."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any, Dict

from .effect_guard import Guard
from .fork import Fork, Frames, limit_all
from .memory_sources import Sources

REPORT = "report.xml"
Answer = Dict[str, Any]
Request = Dict[str, Any]


class Service:
    """What is common to all workers.

    Attributes:
        task: what the worker is set up for.
        temporary: the directory that candidates may write in.
    """

    def __init__(self, start: Request) -> None:
        self.frames = Frames()
        self.task: dict[str, Any] = start["task"]
        self.temporary = os.path.realpath(os.environ["TMPDIR"])
        files = {path: text.encode("latin-1") for path, text in start["files"].items()}
        self.sources = Sources(start["root"], files)
        self.guard = Guard(self.sources, self.temporary)
        self.kept: set[str] = set()

    def serve(self, problem: str, answers: Mapping[str, Callable[[Request], Answer]]) -> None:
        """Answer requests until no more come."""
        self.kept = {entry.name for entry in os.scandir(self.temporary)}
        self.frames.write({"problem": problem})
        for request in iter(self.frames.read, None):
            self.frames.write(answers[request["ask"]](request))

    def settle(self, request: Request) -> Answer:
        """All is loaded that candidates have in common."""
        gc.collect()
        # What is loaded is put out of the collector's sight: a collection in a fork would write to, and so copy, every
        # page of it.
        gc.freeze()
        # Here and not at the start, as what is loaded counts for each fork.
        limit_all(request["memory"])
        return {"threads": len(os.listdir("/proc/self/task"))}

    def clear(self) -> None:
        """Remove what a candidate left in the temporary directory."""
        for entry in os.scandir(self.temporary):
            if entry.name in self.kept:
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


class Runner:
    """What is run for each candidate, which is loaded anew.

    Attributes:
        problem: why it cannot be run here; empty if it can.
        learning: whether the next run tells what can be loaded once.
    """

    problem = ""
    learning = False

    def __init__(self, service: Service) -> None:
        self.service, self.task = service, service.task
        self.sources, self.guard = service.sources, service.guard

    def serve(self) -> None:
        """Answer requests until no more come."""
        self.service.serve(self.problem, {"adopt": self.load, "judge": self.judge})

    def adopt(self, learnt: dict[str, Any]) -> None:
        """Take over more of what a normal run told than modules."""

    def run(self, report: int) -> int:
        """What a candidate's fork does; see `fork.Work`."""
        raise NotImplementedError

    def load(self, request: Request) -> Answer:
        """Loads what a normal run loaded."""
        for name in request["modules"]:
            with contextlib.suppress(ImportError):  # the normal run may have met it, and gone on without
                __import__(name)
        self.sources.keep(request["inside"])
        self.adopt(request)
        return self.service.settle(request)

    def judge(self, request: Request) -> Answer:
        """Runs one candidate."""
        self.learning, self.task = request["learn"], {**self.service.task, **request["instead"]}
        self.sources.change({path: text.encode("latin-1") for path, text in request["files"].items()})
        try:
            return {**Fork(self.service.frames).run(request, self.run), "report": self.take_report()}
        finally:
            self.sources.change({})

    def take_report(self) -> str | None:
        """The report that a run wrote; the temporary directory is empty afterwards."""
        path, found = f"{self.service.temporary}/{REPORT}", None
        if os.path.isfile(path) and not os.path.islink(path):  # a candidate may put a link there
            with open(path, encoding="latin-1", newline="") as file:
                found = file.read()
        self.service.clear()
        return found
