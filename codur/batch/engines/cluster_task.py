"""What a machine of a cluster does for a batch: one attempt, with its own programs, keys and sandbox."""

import os
import platform
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from importlib.metadata import version
from pathlib import Path

from codur.batch.engines.challenge_archive import pack, unpack
from codur.batch.engines.cluster_limits import Account
from codur.batch.results.challenge_record import result_for
from codur.batch.setup import Setup, side_by_side
from codur.batch.work import Work
from codur.batch.worker.attempt import Attempted, attempt, require_sandbox
from codur.batch.worker.worker_main import PROGRAMS_PER_PROCESSOR, SWITCH_S, batch_directory
from codur.config.prompts import PromptLibrary
from codur.errors import UsageError
from codur.events import Event
from codur.lazy import once
from codur.llm.rate_limits.shared_limits import SharedModels
from codur.sandbox.cancel import CancelToken
from codur.sandbox.processor_turns import SharedPrograms, Turns, Waited
from codur.sandbox.scratch import remove_tree, sweep, temporary_base
from codur.sandbox.starter.starter_client import Starter
from codur.session.host import Host, Shared
from codur.session.scratch_directory import sweep_scratch
from codur.structs import Struct, replace

_LOOKS_S = 0.2
_LEAVES_S = 1.0


class ClusterTask(Struct):
    """One attempt, as it is sent. Nothing of it is secret: keys are the worker's own.

    Attributes:
        key: see `ChallengeResult`.
        setup: with no environment.
        versions: of what both sides must have alike.
        account: the batch's budget, for all workers together.
        needs_sandbox: programs are not run without one.
    """

    work: Work
    key: str
    setup: Setup
    versions: dict[str, str]
    account: Account
    needs_sandbox: bool = True


class ClusterOutcome(Struct):
    """What comes back: what came of the attempt, and an archive of what is kept of it, or none."""

    done: Attempted
    kept: bytes = b""


def versions() -> dict[str, str]:
    """Of what the driver and the workers of a cluster must have alike."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"codur": version("codur"), "ray": version("ray"), "Python": python}


def carry_out(task: ClusterTask, files: bytes, models: Callable[[], SharedModels], host: Host) -> ClusterOutcome:
    """Work on a challenge.

    Args:
        files: the challenge's, as an archive.
        models: gives the limits that all workers share.
        host: of this machine.

    Raises:
        UsageError: the versions differ.
        Refused: there is no sandbox here.
    """
    _require_alike(task.versions)
    if task.needs_sandbox:
        require_sandbox(task.setup.settings, host)
    base, starter = _process()
    below = batch_directory(base)
    try:
        job = replace(task.work, challenge=replace(task.work.challenge, directory=below / "given" / _name(task.work)))
        unpack(files, job.challenge.directory)
        setup = replace(task.setup, keeping=replace(task.setup.keeping, below=str(below / "kept")))
        setup = replace(setup, settings=side_by_side(setup))
        programs = SharedPrograms(starter=starter, turns=Turns(PROGRAMS_PER_PROCESSOR * setup.processors))
        shared = Shared(programs=programs, models=models(), prompts=PromptLibrary())
        done = _in_time(job, task.key, setup, replace(host, shared=shared), below)
        kept = below / "kept" / job.file
        result = replace(done.result, directory=str(task.work.challenge.directory))
        files_back = done.files if setup.in_place else {}
        return ClusterOutcome(
            done=replace(done, result=result, files=files_back), kept=pack(kept) if kept.is_dir() else b""
        )
    finally:
        remove_tree(below)


def _in_time(job: Work, key: str, setup: Setup, host: Host, below: Path) -> Attempted:
    """The attempt, in a thread of its own: one that does not end with its time is cancelled, then left behind.

    Ray asks for its end by an interrupt of this thread.
    """
    future: Future[Attempted] = Future()
    cancel, waited, began = CancelToken(), Waited(), time.monotonic()
    asked = replace(host, cancel=cancel, waited=waited)

    def work() -> None:
        try:
            future.set_result(attempt(job, key, setup, asked, below=below, emit=_unseen))
        except BaseException as error:  # noqa: BLE001 - it is raised where the attempt is waited for
            future.set_exception(error)

    threading.Thread(target=work, name=f"challenge {job.number}", daemon=True).start()
    limits, own_s = setup.limits, 0.0
    allowed_s = (limits.max_runtime_s + limits.longest_s) / 2
    why = f"its time of {limits.max_runtime_s:g} s is used up"
    while own_s <= limits.longest_s:
        try:
            done = future.result(_LOOKS_S)
        except TimeoutError:
            own_s = time.monotonic() - began - waited.seconds
            if own_s > allowed_s:
                cancel.cancel()
        except KeyboardInterrupt:
            cancel.cancel()
        else:
            if not (done.interrupted and own_s > allowed_s):
                return done
            return replace(done, interrupted=False, result=replace(done.result, status="limit", reason=why))
    # What still runs would be in the way of the next task: this process ends when its answer is on its way.
    threading.Timer(_LEAVES_S, os._exit, (0,)).start()
    return Attempted(result=result_for(job, key, "limit", reason=why, seconds=round(own_s, 3)), files={})


def _unseen(_event: Event) -> None:
    """Nobody watches what a worker of a cluster is at."""


def _prepared() -> tuple[str, Starter]:
    os.chdir("/")
    sys.setswitchinterval(SWITCH_S)
    warnings.simplefilter("ignore", SyntaxWarning)  # about the programs under repair
    base = temporary_base({})
    sweep(base)
    sweep_scratch()
    return base, Starter()


_process = once(_prepared)
"""What the tasks of a process have in common: where copies are made, and what starts programs."""


def _require_alike(driver: dict[str, str]) -> None:
    here = versions()
    for name, wanted in driver.items():
        if here[name] != wanted:
            raise UsageError(
                f"a worker of the cluster has {name} {here[name]}, and this machine {wanted}",
                remedy=f"Install {name} {wanted} on all machines of the cluster.",
            )


def _name(work: Work) -> str:
    return work.challenge.directory.name or "root"
