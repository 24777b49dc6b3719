"""Answers the requests of one worker: what becomes of a candidate that is run in a fork."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any, Dict

from .effect_guard import Guard
from .fork import Frames, limit_all
from .memory_sources import Sources

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
