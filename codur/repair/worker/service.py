"""Answers the requests of one worker: what becomes of a candidate that is run in a fork."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .effect_guard import Guard
from .fork import Fork, Frames, Work, limit_all
from .memory_sources import Sources

REPORT = "report.xml"
Answer = dict[str, Any]
Request = dict[str, Any]


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
        while (request := self.frames.read()) is not None:
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
        limit_s: processor time of the program, or of a single test.
    """

    problem = ""
    learning = False
    limit_s = 0.0

    def __init__(self, service: Service) -> None:
        self.service, self.task = service, service.task
        self.sources, self.guard = service.sources, service.guard

    def serve(self) -> None:
        """Answer requests until no more come."""
        self.service.serve(self.problem, {"adopt": self.load, "judge": self.judge})

    def adopt(self, learnt: dict[str, Any]) -> None:
        """Take over more of what a normal run told than modules."""

    def ways(self, wanted: str) -> Iterator[str]:
        """The ways to run a candidate, the preferred one first."""
        yield "script"

    def work(self, way: str) -> Work:
        """What its fork does."""
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
        """Runs one candidate; in another way if the first one cannot tell."""
        self.learning, self.task = request["learn"], {**self.service.task, **request["instead"]}
        self.limit_s = request["limits"]["script"][0]
        for way in self.ways(request["way"]):
            answer = self.run_candidate(request, way)
            answer["way"] = way
            answer["report"] = self.take_report(answer)
            if not answer["told"].get("again"):
                break
        return answer

    def run_candidate(self, request: Request, way: str) -> Answer:
        """What becomes of a candidate in one way."""
        self.sources.change({path: text.encode("latin-1") for path, text in request["files"].items()})
        try:
            return Fork(self.service.frames).run(request, way, self.work(way))
        finally:
            self.sources.change({})

    def take_report(self, answer: Answer) -> Any:
        """The report that a test run wrote; the temporary directory is empty afterwards."""
        found = answer["told"].pop("report", None)
        path = f"{self.service.temporary}/{REPORT}"
        if found is None and os.path.isfile(path) and not os.path.islink(path):  # a candidate may put a link there
            with open(path, encoding="latin-1", newline="") as file:
                found = file.read()
        self.service.clear()
        return found
