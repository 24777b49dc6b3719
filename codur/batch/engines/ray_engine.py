"""Has a Ray cluster do the work of a batch. Ray schedules, and starts lost work again; nobody else does.

Each attempt is a task of Ray's: it gets the challenge's files as an archive in Ray's store of objects, which is put
there once for all attempts at it, and nothing that is secret.
"""

import atexit
import secrets
import socket
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from codur.batch.discovery import RESULTS_NAME
from codur.batch.engines.challenge_archive import pack, unpack
from codur.batch.engines.cluster_limits import Account
from codur.batch.engines.cluster_task import ClusterOutcome, ClusterTask, carry_out, versions
from codur.batch.engines.limits_actor import cluster_models
from codur.batch.results.challenge_outcome import MAX_REASON, over_budget
from codur.batch.results.challenge_record import ChallengeResult
from codur.batch.results.kept_files import Keeper
from codur.batch.results.progress import Ended, Finished, Running, Spent, Watch
from codur.batch.setup import Place, Setup
from codur.batch.work import Work
from codur.batch.worker.attempt import Attempted
from codur.batch.worker.frames import decoded, encoded
from codur.errors import CodurError, InternalError, UsageError, reason_of
from codur.lazy import loaded
from codur.llm.rate_limits.shared_limits import OVER_BUDGET
from codur.sandbox.scratch import remove_tree
from codur.session.host import Host
from codur.structs import Struct, field, replace

RETRIES = 2
"""So often Ray starts an attempt again whose worker or machine was lost: one that ends three workers is given up."""
ANSWERS_S = 5.0
_LOOKS_S = 0.25
_QUIET = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}


class ClusterUnavailable(CodurError):
    """No cluster answers where one was named."""

    exit_code = 3


class Cluster(Struct):
    """Where an engine finds its workers.

    Attributes:
        address: of the cluster (`HOST:PORT`, or `auto` for the one that runs here); empty: one is started, and stopped.
        resources: what an attempt takes of a machine, by Ray's names of them.
        host: gives what a worker takes from its machine; found by its name there.
        needs_sandbox: programs are not run without one.
    """

    host: Callable[[], Host]
    address: str = ""
    resources: dict[str, float] = field(default_factory=lambda: {"num_cpus": 1.0})
    needs_sandbox: bool = True


class RayEngine:
    """See `batch_run.Engine`.

    Args:
        cluster: where the work is done.
    """

    def __init__(self, setup: Setup, work: Sequence[Work], keeper: Keeper, watch: Watch, *, cluster: Cluster) -> None:
        self._setup = setup
        self._waiting = deque(work)
        self._keeper = keeper
        self._watch = watch
        self._cluster = cluster
        self._jobs = setup.jobs
        self._running: dict[Any, Running] = {}
        self._archive: tuple[Path, Any, str] | None = None
        self._spent = Spent(setup.tokens, setup.cost_usd)
        self._account = Account(
            batch=secrets.token_hex(8),
            max_tokens=setup.max_tokens,
            max_cost_usd=setup.max_cost_usd,
            tokens=setup.tokens,
            cost_usd=setup.cost_usd,
        )
        self._ended: Ended = "all"
        self._stopped = threading.Event()
        self._stop_at = 0.0

    def stop(self, grace_s: float) -> None:
        self._stop_at = 0.0 if self._stopped.is_set() else time.monotonic() + grace_s
        self._stopped.set()

    def run(self) -> Ended:
        """Do all work; returns why it ended.

        Raises:
            UsageError: Ray is not installed, or a worker has another version.
            ClusterUnavailable: nobody answers at the address.
            Refused: a worker has no sandbox.
        """
        with _joined(self._cluster, self._jobs) as ray:
            self._jobs = self._jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
            solve = ray.remote(max_retries=RETRIES, **_options(self._cluster.resources))(_solve)
            try:
                while self._dispatch(ray, solve):
                    self._listen(ray)
            finally:
                self._archive = None
                for ref in self._running:
                    ray.cancel(ref, force=True)
        return self._ended

    # --- giving work --------------------------------------------------------------------------------------------------

    def _dispatch(self, ray: Any, solve: Any) -> bool:
        """Give as much work to Ray as may go on at once; False if there is nothing left to wait for."""
        while self._ended == "all" and self._waiting and len(self._running) < self._jobs:
            work = self._waiting.popleft()
            running = Running(work=work, key=self._keeper.key(work), began=time.monotonic())
            archive, problem = self._archive_of(ray, work)
            ref = solve.remote(self.task_of(work, running.key, problem), archive, self._cluster.host)
            self._running[ref] = running
            self._watch.started(work)
        return bool(self._running)

    def _archive_of(self, ray: Any, work: Work) -> tuple[Any, str]:
        """The files in Ray's store, and why they cannot be read, or nothing; attempts at a challenge come in a row."""
        directory = work.challenge.directory
        if self._archive is None or self._archive[0] != directory:
            try:
                data, problem = pack(directory, leave_out=RESULTS_NAME), ""
            except OSError as error:
                data, problem = pack(None), f"it cannot be read: {reason_of(error)}"
            self._archive = (directory, ray.put(data), problem)
        return self._archive[1:]

    def task_of(self, work: Work, key: str, problem: str = "") -> bytes:
        """What a worker gets beside the files.

        Args:
            problem: why these cannot be read, or nothing.
        """
        setup = replace(self._setup, place=Place(environ={}, home=Path("/")), jobs=1, processors=1)
        task = ClusterTask(
            work=replace(work, challenge=replace(work.challenge, problem=work.challenge.problem or problem)),
            key=key,
            setup=setup,
            versions=versions(),
            needs_sandbox=self._cluster.needs_sandbox,
            account=self._account,
        )
        return encoded(task)

    # --- listening ----------------------------------------------------------------------------------------------------

    def _listen(self, ray: Any) -> None:
        ready, _ = ray.wait(list(self._running), num_returns=1, timeout=_LOOKS_S)
        for ref in ready:
            self._take(ray, ref, self._running.pop(ref))
        if self._stopped.is_set():
            if self._ended != "stopped":
                self._end(ray, "stopped")
            if time.monotonic() >= self._stop_at:
                for ref in self._running:
                    ray.cancel(ref, force=True)
                self._running.clear()

    def _take(self, ray: Any, ref: Any, running: Running) -> None:
        errors = ray.exceptions
        try:
            outcome: ClusterOutcome = decoded(ray.get(ref), ClusterOutcome)
        except errors.TaskCancelledError:
            self._cancelled(running)
            return
        except errors.RayTaskError as error:
            if isinstance(error.cause, CodurError):
                raise error.cause from error
            why = f"{type(error.cause).__name__}: {error.cause}"
            self._keep(running.work, running.lost("error", f"a worker of the cluster has failed: {why}"[:MAX_REASON]))
            return
        except errors.RayError as error:
            why = type(error).__name__
            self._keep(running.work, running.lost("error", f"crashed: it was lost {RETRIES + 1} times ({why})"))
            return
        if outcome.done.interrupted:
            self._cancelled(running)
            return
        if outcome.kept:
            place = Path(self._setup.keeping.below) / running.work.file
            remove_tree(place)
            unpack(outcome.kept, place)
        self._keep(running.work, outcome.done.result, outcome.done)
        self._count(outcome.done.result)
        if over_budget(outcome.done.result) and self._ended == "all":
            self._end(ray, "budget")

    def _keep(self, work: Work, result: ChallengeResult, done: Attempted | None = None) -> None:
        patch, files = (done.patch, done.files) if done else ("", {})
        kept = self._keeper.keep(Finished(work=work, result=result, patch=patch, files=files))
        self._watch.finished(work, kept)

    def _cancelled(self, running: Running) -> None:
        """It has not come to an end: it is done again with the next part of the batch, unless the budget ended it."""
        if self._ended == "budget":
            self._keep(running.work, running.lost("limit", f"{OVER_BUDGET}; it was cancelled."))

    def _count(self, result: ChallengeResult) -> None:
        self._spent.tokens += result.tokens
        self._spent.cost_usd += result.cost_usd
        if result.tokens or result.cost_usd:
            self._keeper.keep_spent(self._spent.tokens, self._spent.cost_usd)

    def _end(self, ray: Any, ended: Ended) -> None:
        """Start nothing more, and cancel what runs."""
        self._ended = ended
        for ref in self._running:
            ray.cancel(ref, force=False)


def _solve(task: bytes, files: bytes, host: Callable[[], Host]) -> bytes:
    """The task of Ray's, on a worker."""
    asked = decoded(task, ClusterTask)
    models = cluster_models(asked.account)
    try:
        return encoded(carry_out(asked, files, lambda: models, host()))
    finally:
        models.close()


@contextmanager
def _joined(cluster: Cluster, jobs: int) -> Iterator[Any]:
    """Ray, as a member of the cluster, or of one of its own that ends with this.

    Raises:
        UsageError: Ray is not installed, or is another version there.
        ClusterUnavailable: nobody answers at the address.
    """
    try:
        ray = loaded("ray")
    except ModuleNotFoundError as error:
        raise UsageError("Ray is not installed", remedy="Install it: pip install 'codur[ray]'") from error
    with tempfile.TemporaryDirectory(prefix="codur-ray-", ignore_cleanup_errors=True) as place:
        try:
            if cluster.address:
                _require_answer(ray, cluster.address)
                ray.init(address=cluster.address, **_QUIET)
            else:
                _begin(ray, cluster.resources, jobs, place)
        except ConnectionError as error:
            raise _unavailable(cluster.address) from error
        except RuntimeError as error:
            raise UsageError(
                f"the cluster cannot be joined: {str(error).strip().splitlines()[0]}",
                remedy="Run this on a machine of the cluster, with the same versions of Python and Ray.",
            ) from error
        # Ray puts colorama, which it brings along, between the terminal and us, to colour what it says itself.
        colorama = loaded("colorama")
        colorama.deinit()
        atexit.unregister(colorama.initialise.reset_all)
        try:
            yield ray
        finally:
            ray.shutdown()


def _begin(ray: Any, resources: Mapping[str, float], jobs: int, place: str) -> None:
    """Start a cluster of this machine alone, that has what so many attempts take."""
    more = {name: number * jobs for name, number in resources.items() if name != "num_cpus"}
    cpus = max(1, round(resources.get("num_cpus", 1) * jobs))
    if not ray.util.get_node_ip_address().startswith("127."):  # who reaches a cluster may run programs in it
        raise InternalError("Ray was loaded before it was told to stay on this machine")
    ray.init(address="local", num_cpus=cpus, resources=more, _temp_dir=place, **_QUIET)


def _options(resources: Mapping[str, float]) -> dict[str, Any]:
    """What an attempt takes, as options of a task of Ray's."""
    own = {name: number for name, number in resources.items() if name in ("num_cpus", "num_gpus", "memory")}
    return {"num_cpus": 1, **own, "resources": {name: each for name, each in resources.items() if name not in own}}


def _require_answer(ray: Any, address: str) -> None:
    """Ray itself would wait for minutes; it takes a loopback address for this machine's own one."""
    host, _, port = address.rpartition(":")
    if address == "auto":
        return
    try:
        asked = ray.util.get_node_ip_address() if socket.gethostbyname(host).startswith("127.") else host
        socket.create_connection((asked, int(port)), ANSWERS_S).close()
    except (OSError, ValueError) as error:
        raise _unavailable(address) from error


def _unavailable(address: str) -> ClusterUnavailable:
    where = "on this machine" if address == "auto" else f"at {address}"
    return ClusterUnavailable(
        f"no Ray cluster answers {where}",
        remedy="Start one with `ray start --head`, and name its HOST:PORT; or leave --address out.",
    )
