"""The worker: one process in which the challenges of a batch are worked on side by side, each in a thread.

It is started by `worker_process`, told what to do by `worker_supervisor`, and ends when that has gone.
"""

from __future__ import annotations

import base64
import os
import signal
import socket
import sys
import threading
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from codur.batch.challenge_directory import Challenge
from codur.batch.setup import Setup, setup_from, side_by_side
from codur.batch.worker.attempt import Attempted, Job, attempt
from codur.batch.worker.frames import FrameReader, FrameWriter
from codur.batch.worker.phases import Phases
from codur.config.prompts import PromptLibrary
from codur.llm.rate_limits.shared_limits import SharedBudget, SharedModels
from codur.sandbox.cancel import CancelToken
from codur.sandbox.processor_turns import SharedPrograms, Turns, Waited
from codur.sandbox.scratch import prefix, remove_tree, sweep, temporary_base
from codur.sandbox.starter.starter_client import Starter
from codur.session.host import Shared, close_to_others
from codur.session.scratch_directory import sweep_scratch

PROGRAMS_PER_PROCESSOR = 2
"""Programs wait for files and for each other, too; more at a time would only make them run into their time limits."""
_SWITCH_S = 0.002


def main(descriptor: int) -> None:
    """Work until the supervisor says that it is over, or has gone.

    Args:
        descriptor: a socket to the supervisor.
    """
    close_to_others()
    os.chdir("/")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the supervisor, which tells us
    sys.setswitchinterval(_SWITCH_S)
    connection = socket.socket(fileno=descriptor)
    frames = iter(FrameReader(connection))
    first = next(frames, None)
    if first is None:
        return
    setup = setup_from(first["setup"])
    base = temporary_base(setup.host.environ)
    sweep(base)
    sweep_scratch()
    worker = Worker(setup, FrameWriter(connection), below=_directory(base))
    worker.ready()
    for frame in frames:
        worker.take(frame)
    worker.close()
    os._exit(0)  # what still runs is of no use to anybody


class Worker:
    """Works on challenges in threads.

    Args:
        below: where copies are made; removed by `close`.
    """

    def __init__(self, setup: Setup, frames: FrameWriter, *, below: Path) -> None:
        self._setup = replace(setup, settings=side_by_side(setup))
        self._frames = frames
        self._below = below
        self._starter = Starter()
        self._searches = Turns(setup.processors)
        self._cancels: dict[int, CancelToken] = {}
        self._lock = threading.Lock()
        self._host = replace(setup.host, shared=self._shared(setup))
        warnings.simplefilter("ignore", SyntaxWarning)  # about the programs under repair; threads share the filters

    def ready(self) -> None:
        """Say that challenges can be taken."""
        self._frames.send({"ready": os.getpid()})

    def take(self, frame: dict[str, Any]) -> None:
        """Do what the supervisor asks for."""
        if "start" in frame:
            job = job_from(frame["start"])
            cancel = CancelToken()
            with self._lock:
                self._cancels[job.number] = cancel
            threading.Thread(target=self._work, args=(job, cancel), name=f"challenge {job.number}", daemon=True).start()
        elif "cancel" in frame:
            with self._lock:
                token = self._cancels.get(frame["cancel"])
            if token is not None:
                token.cancel()

    def close(self) -> None:
        """End all programs, and remove the copies."""
        self._starter.close()
        remove_tree(self._below)

    def _work(self, job: Job, cancel: CancelToken) -> None:
        self._frames.send({"started": job.number})
        waited = Waited(lambda waits: self._frames.send({"waits": job.number, "now": waits}))
        shows = self._setup.keeping.prompts
        phases = Phases(job.number, self._frames, self._searches, cancel, waited, prompts=shows)
        host = replace(self._host, search_turn=phases.searching)
        try:
            done = attempt(job, self._setup, host, below=self._below, cancel=cancel, waited=waited, emit=phases)
        finally:
            with self._lock:
                del self._cancels[job.number]
        self._frames.send({"finished": job.number, **_told(done, in_place=self._setup.in_place)})

    def _shared(self, setup: Setup) -> Shared:
        return Shared(
            programs=SharedPrograms(starter=self._starter, turns=Turns(PROGRAMS_PER_PROCESSOR * setup.processors)),
            models=SharedModels(
                SharedBudget(
                    max_tokens=setup.max_tokens,
                    max_cost_usd=setup.max_cost_usd,
                    tokens=setup.tokens,
                    cost_usd=setup.cost_usd,
                    on_spent=lambda tokens, cost: self._frames.send({"spent": [tokens, cost]}),
                )
            ),
            prompts=PromptLibrary(),
        )


def job_to(job: Job) -> dict[str, Any]:
    """A job as plain JSON types."""
    return {
        "number": job.number,
        "name": job.challenge.name,
        "directory": os.fspath(job.challenge.directory),
        "problem": job.challenge.problem,
        "agent": job.agent,
        "attempt": job.attempt,
        "key": job.key,
        "file": job.file,
    }


def job_from(value: dict[str, Any]) -> Job:
    """What `job_to` was called on."""
    challenge = Challenge(name=value["name"], directory=Path(value["directory"]), problem=value["problem"])
    return Job(
        number=value["number"],
        challenge=challenge,
        agent=value["agent"],
        attempt=value["attempt"],
        key=value["key"],
        file=value["file"],
    )


def _told(done: Attempted, *, in_place: bool) -> dict[str, Any]:
    files = done.files if in_place else {}
    return {
        "result": done.result.to_json(),
        "patch": done.patch,
        "interrupted": done.interrupted,
        "files": {path: None if data is None else base64.b64encode(data).decode() for path, data in files.items()},
    }


def _directory(base: str) -> Path:
    path = Path(base) / f"{prefix('batch')}{os.urandom(8).hex()}"
    path.mkdir(mode=0o700)
    return path
