"""A program that judges candidates: it loads what does not change once, and forks for each candidate.

It stands alone (standard library only, no import of Codur): its text is given to the workspace's own Python with `-c`.
Requests and answers are frames on its standard input and output: four bytes of length, then a JSON object in which
bytes stand as Latin-1 text. It ends when its standard input does. The requests:

    start: parts (name → text of the other programs), root, files (path → bytes), task → problem
    adopt: what was learnt from a normal run (modules, inside, plan, room, rewritten), memory → threads
    judge: files (path → bytes), limits (way → processor and wall time), keep, flood, stdin, way, learn →
        what became of the fork
    try: edits (path, start, end, text; or none), needed and others (numbers of tests), test_cpu_s, most_failed, and
        otherwise as `judge` → what became of the fork, and which edits could not be made
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import shutil
import struct
import sys
import types
from typing import Any

PR_SET_CHILD_SUBREAPER = 36


class Frames:
    """The channel to the one who asks, moved away from the descriptors that programs use."""

    def __init__(self) -> None:
        self.input, self.output = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.close(null)

    def read(self) -> Any:
        """The next request; None at the end."""
        head = self._exactly(4)
        if head is None:
            return None
        body = self._exactly(struct.unpack(">I", head)[0])
        return None if body is None else json.loads(body)

    def write(self, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode("ascii")
        left = memoryview(struct.pack(">I", len(data)) + data)
        while left:
            left = left[os.write(self.output, left) :]

    def close(self) -> None:
        os.close(self.input)
        os.close(self.output)

    def _exactly(self, size: int) -> bytes | None:
        data = b""
        while len(data) < size:
            more = os.read(self.input, size - len(data))
            if not more:
                return None
            data += more
        return data


class Worker:
    """Answers requests."""

    def __init__(self, frames: Frames, start: dict[str, Any]) -> None:
        self.frames = frames
        self.temporary = os.path.realpath(os.environ["TMPDIR"])  # noqa: TID251 - made for this program
        parts = {name: load(name, text) for name, text in start["parts"].items()}
        files = {path: text.encode("latin-1") for path, text in start["files"].items()}
        inside, self.fork = parts["worker_inside"], parts["worker_fork"]
        self.sources = inside.Sources(start["root"], files)
        self.guard = inside.Guard(self.sources, self.temporary)
        self.room = parts["worker_room"].Room(inside, lambda turns: self.fork.Fork(frames, turns), self.sources)
        kinds = {"pytest": parts["worker_tests"].Tests, "loaded": parts["worker_loaded"].Loaded}
        kind = kinds.get(start["task"]["kind"], parts["worker_script"].Script)
        self.runner = kind(start["task"], self.sources, self.guard, self.temporary)
        self.kept: set[str] = set()

    def serve(self) -> None:
        """Answer requests until no more come."""
        self.kept = {entry.name for entry in os.scandir(self.temporary)}
        self.frames.write({"problem": self.runner.problem})
        answers = {"adopt": self.adopt, "judge": self.judge, "try": self.attempt}
        while (request := self.frames.read()) is not None:
            self.frames.write(answers[request["ask"]](request))

    def adopt(self, request: dict[str, Any]) -> dict[str, Any]:
        """Loads what a normal run loaded."""
        self.room.leave()
        for name in request["modules"]:
            with contextlib.suppress(ImportError):
                __import__(name)
        self.sources.keep(request["inside"])
        self.runner.adopt(request)
        gc.collect()
        gc.freeze()
        self.fork.limit_all(request["memory"])
        return {"threads": len(os.listdir("/proc/self/task"))}

    def judge(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs one candidate; in another way if the first one cannot tell."""
        self.runner.learning = request["learn"]
        self.runner.limit_s = request["limits"]["script"][0]
        for way in self.runner.ways(request["way"]):
            answer = self.run(request, way)
            answer["way"] = way
            answer["report"] = self.take_report(answer)
            if not answer["told"].get("again"):
                break
        return answer

    def attempt(self, request: dict[str, Any]) -> dict[str, Any]:
        """Runs tests of the loaded project with edits made in it, one after the other."""
        patches = self.runner.patches
        changes = [patches.made(edit) for edit in request["edits"]]
        try:
            answer = self.fork.Fork(self.frames).run(request, "loaded", self.runner.work(request, changes))
            answer["plain"] = {place: each for place, each in enumerate(changes) if isinstance(each, str)}
            made = [place for place in range(len(changes)) if place not in answer["plain"]]
            answer["stale"] = [place for place in made if patches.is_stale(request["edits"][place])]
            return answer  # type: ignore[no-any-return]
        finally:
            self.clear()

    def run(self, request: dict[str, Any], way: str) -> dict[str, Any]:
        """What becomes of a candidate in one way."""
        files = {path: text.encode("latin-1") for path, text in request["files"].items()}
        if self.runner.may_share(files, way):
            return self.room.judge(request, self.runner.work(way), self.fork.data_bytes)  # type: ignore[no-any-return]
        self.room.leave()
        self.sources.change(files)
        try:
            return self.fork.Fork(self.frames).run(request, way, self.runner.work(way))  # type: ignore[no-any-return]
        finally:
            self.sources.change({})

    def take_report(self, answer: dict[str, Any]) -> Any:
        """The report that a test run wrote; the temporary directory is empty afterwards."""
        found = answer["told"].pop("report", None)
        if found is None and os.path.isfile(path := f"{self.temporary}/report.xml") and not os.path.islink(path):
            with open(path, encoding="latin-1", newline="") as file:
                found = file.read()
        self.clear()
        return found

    def clear(self) -> None:
        """Remove what a candidate left in the temporary directory."""
        for entry in os.scandir(self.temporary):
            if entry.name in self.kept:
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


def load(name: str, text: str) -> Any:
    """A part of this program as a module."""
    module = types.ModuleType(f"_repair_{name}")
    sys.modules[module.__name__] = module
    exec(compile(text, f"<{name}>", "exec"), module.__dict__)
    return module


def main() -> None:
    gc.disable()  # a collection in a fork copies all pages; forks switch it on for what they make themselves
    sys.dont_write_bytecode = True
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    frames = Frames()
    start = frames.read()
    if start is None:
        return
    worker = Worker(frames, start)
    enter = getattr(worker.runner, "enter", lambda serve: serve())
    enter(worker.serve)


if __name__ == "__main__":
    main()
