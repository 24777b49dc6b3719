"""The worker: one process in which the challenges of a batch are worked on side by side, each in a thread.

It is started by `worker_process`, told what to do by `worker_supervisor`, and ends when that has gone.
"""

import os
import signal
import socket
import sys
import threading
import warnings
from pathlib import Path

from codur.batch.setup import Setup, side_by_side
from codur.batch.work import Work
from codur.batch.worker.attempt import attempt
from codur.batch.worker.frames import FrameReader, FrameWriter
from codur.batch.worker.messages import AllSpent, Begin, Cancel, Done, Ready, Start, Started, ToWorker, Waits
from codur.batch.worker.phases import Phases
from codur.config.prompts import PromptLibrary
from codur.llm.rate_limits.shared_limits import SharedBudget, SharedModels
from codur.sandbox.cancel import CancelToken
from codur.sandbox.processor_turns import SharedPrograms, Turns, Waited
from codur.sandbox.scratch import prefix, remove_tree, sweep, temporary_base
from codur.sandbox.starter.starter_client import Starter
from codur.session.host import Shared, close_to_others
from codur.structs import replace

PROGRAMS_PER_PROCESSOR = 2
"""Programs wait for files and for each other, too; more at a time would only make them run into their time limits."""
SWITCH_S = 0.002


def main(descriptor: int) -> None:
    """Work until the supervisor, at the other end of the socket `descriptor`, says that it is over, or has gone."""
    close_to_others()
    os.chdir("/")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the supervisor, which tells us
    sys.setswitchinterval(SWITCH_S)
    connection = socket.socket(fileno=descriptor)
    messages = iter(FrameReader[ToWorker](connection, ToWorker))
    first = next(messages, None)
    if not isinstance(first, Begin):
        return
    setup = first.setup
    base = temporary_base(setup.host.environ)
    sweep(base)
    worker = Worker(setup, FrameWriter(connection), below=batch_directory(base))
    worker.ready()
    for message in messages:
        worker.take(message)
    worker.close()
    os._exit(0)  # what still runs is of no use to anybody


class Worker:
    """Works on challenges in threads, on copies `below` a directory that `close` removes."""

    def __init__(self, setup: Setup, frames: FrameWriter, *, below: Path) -> None:
        self._setup = replace(setup, settings=side_by_side(setup))
        self._frames = frames
        self._below = below
        self._starter = Starter()
        self._searches = Turns(setup.processors)
        self._cancels: dict[int, CancelToken] = {}
        self._lock = threading.Lock()
        budget = SharedBudget(
            **setup.funds, on_spent=lambda tokens, cost: frames.send(AllSpent(tokens=tokens, cost_usd=cost))
        )
        turns = Turns(PROGRAMS_PER_PROCESSOR * setup.processors)
        programs = SharedPrograms(starter=self._starter, turns=turns)
        shared = Shared(programs=programs, models=SharedModels(budget), prompts=PromptLibrary())
        self._host = replace(setup.host, shared=shared)
        warnings.simplefilter("ignore", SyntaxWarning)  # about the programs under repair; threads share the filters

    def ready(self) -> None:
        """Say that challenges can be taken."""
        self._frames.send(Ready(pid=os.getpid()))

    def take(self, message: ToWorker) -> None:
        """Do what the supervisor asks for."""
        if isinstance(message, Start):
            work, cancel = message.work, CancelToken()
            with self._lock:
                self._cancels[work.number] = cancel
            asked = (work, message.key, cancel)
            threading.Thread(target=self._work, args=asked, name=f"challenge {work.number}", daemon=True).start()
        elif isinstance(message, Cancel):
            with self._lock:
                token = self._cancels.get(message.number)
            if token is not None:
                token.cancel()

    def close(self) -> None:
        """End all programs, and remove the copies."""
        self._starter.close()
        remove_tree(self._below)

    def _work(self, job: Work, key: str, cancel: CancelToken) -> None:
        self._frames.send(Started(number=job.number))
        waited = Waited(lambda waits: self._frames.send(Waits(number=job.number, now=waits)))
        shows = self._setup.keeping.prompts
        host = replace(self._host, cancel=cancel, waited=waited)
        phases = Phases(job.number, self._frames, self._searches, host, prompts=shows)
        host = replace(host, search_turn=phases.searching)
        try:
            done = attempt(job, key, self._setup, host, below=self._below, emit=phases)
        finally:
            with self._lock:
                del self._cancels[job.number]
        if not self._setup.in_place:
            done = replace(done, files={})
        self._frames.send(Done(number=job.number, done=done))


def batch_directory(base: str) -> Path:
    """A new directory for copies in the user's directory of temporary files; `sweep` removes it when nobody uses it."""
    path = Path(base) / f"{prefix('batch')}{os.urandom(8).hex()}"
    path.mkdir(mode=0o700)
    return path
