"""What a machine of a cluster does for a batch: one attempt, with its own programs, keys and sandbox."""

import os
import platform
import sys
import threading
import time
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from codur.background import in_thread
from codur.batch.engines.challenge_archive import pack, unpack
from codur.batch.engines.cluster_limits import Account
from codur.batch.results.challenge_record import Attempted, result_for
from codur.batch.setup import Setup, side_by_side
from codur.batch.work import Work
from codur.batch.worker.attempt import attempt, require_sandbox
from codur.batch.worker.worker_main import PROGRAMS_PER_PROCESSOR, SWITCH_S, batch_directory
from codur.config.prompts import PromptLibrary
from codur.errors import UsageError
from codur.events import ignore
from codur.llm.rate_limits.shared_limits import SharedModels
from codur.sandbox.cancel import CancelToken
from codur.sandbox.processor_turns import SharedPrograms, Turns, Waited
from codur.sandbox.scratch import remove_tree, sweep, temporary_base
from codur.sandbox.starter.starter_client import Starter
from codur.session.host import Host, Shared
from codur.structs import Struct, replace

_LOOKS_S = 0.2
_LEAVES_S = 1.0


class ClusterBatch(Struct):
    """What the attempts of a batch have in common, as it is sent; nothing is secret: keys are the worker's own."""

    setup: Setup  # with no environment
    account: Account  # the batch's budget, for all workers together
    needs_sandbox: bool = True  # programs are not run without one


class ClusterWorker:
    """Carries out attempts of a batch in this process, one after the other.

    What is dear to make serves all of them, as in `worker_main`: what starts programs, and what is known of the
    sandbox, of interpreters and prompts.

    Args:
        models: the limits that all workers share.
        host: of this machine.

    Raises:
        Refused: there is no sandbox here.
    """

    def __init__(self, batch: ClusterBatch, models: SharedModels, host: Host) -> None:
        setup = batch.setup
        if batch.needs_sandbox:
            require_sandbox(setup.settings, host)
        os.chdir("/")
        sys.setswitchinterval(SWITCH_S)
        warnings.simplefilter("ignore", SyntaxWarning)  # about the programs under repair
        self._base = temporary_base({})
        sweep(self._base)
        self._setup = replace(setup, settings=side_by_side(setup))
        programs = SharedPrograms(starter=Starter(), turns=Turns(PROGRAMS_PER_PROCESSOR * setup.processors))
        self._host = replace(host, shared=Shared(programs=programs, models=models, prompts=PromptLibrary()))

    def carry_out(self, work: Work, key: str, files: bytes) -> Attempted:
        """Work on a challenge.

        Args:
            key: see `ChallengeResult`.
            files: the challenge's, as an archive.
        """
        below = batch_directory(self._base)
        try:
            given = below / "given" / (work.challenge.directory.name or "root")
            unpack(files, given)
            job = replace(work, challenge=replace(work.challenge, directory=given))
            setup = replace(self._setup, keeping=replace(self._setup.keeping, below=str(below / "kept")))
            done = _in_time(job, key, setup, self._host, below)
            kept = below / "kept" / job.file
            result = replace(done.result, directory=str(work.challenge.directory))
            packed = pack(kept) if kept.is_dir() else b""
            return replace(done, result=result, files=done.files if setup.in_place else {}, kept=packed)
        finally:
            remove_tree(below)


def versions() -> dict[str, str]:
    """Of what the driver and the workers of a cluster must have alike."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"codur": version("codur"), "ray": version("ray"), "Python": python}


def require_alike(driver: Mapping[str, str]) -> None:
    """Make sure that the versions are those of the driver.

    Raises:
        UsageError: one differs.
    """
    here = versions()
    for name, wanted in driver.items():
        if here[name] != wanted:
            raise UsageError(
                f"a worker of the cluster has {name} {here[name]}, and this machine {wanted}",
                remedy=f"Install {name} {wanted} on all machines of the cluster.",
            )


def _in_time(job: Work, key: str, setup: Setup, host: Host, below: Path) -> Attempted:
    """The attempt, in a thread of its own: one that does not end with its time is cancelled, then left behind.

    Ray asks for its end by an interrupt of this thread.
    """
    cancel, waited, began = CancelToken(), Waited(), time.monotonic()
    asked = replace(host, cancel=cancel, waited=waited)
    name = f"challenge {job.number}"
    future = in_thread(lambda: attempt(job, key, setup, asked, below=below, emit=ignore), name)
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
    return Attempted(result=result_for(job, key, "limit", reason=why, seconds=round(own_s, 3)))
