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
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from codur.batch.discovery import RESULTS_NAME
from codur.batch.engines.challenge_archive import pack, unpack
from codur.batch.engines.cluster_limits import Account
from codur.batch.engines.cluster_task import ClusterBatch, ClusterWorker, require_alike, versions
from codur.batch.engines.limits_actor import ProcessLimits
from codur.batch.results.challenge_outcome import MAX_REASON, over_budget
from codur.batch.results.challenge_record import Attempted
from codur.batch.results.kept_files import Keeper
from codur.batch.results.progress import Ended, Running, Watch
from codur.batch.setup import Place, Setup
from codur.batch.work import Work
from codur.batch.worker.frames import decoded, encoded
from codur.batch.worker.messages import Start
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
    """Where an engine finds its workers."""

    host: Callable[[], Host]  # gives what a worker takes from its machine; found by its name there
    # of the cluster (`HOST:PORT`, or `auto` for the one that runs here); empty: one is started, and stopped
    address: str = ""
    # what an attempt takes of a machine, by Ray's names of them
    resources: dict[str, float] = field(default_factory=lambda: {"num_cpus": 1.0})
    needs_sandbox: bool = True  # programs are not run without one


class RayEngine:
    """See `batch_run.Engine`; `cluster` is where the work is done."""

    def __init__(self, setup: Setup, work: Sequence[Work], keeper: Keeper, watch: Watch, *, cluster: Cluster) -> None:
        self._setup = setup
        self._waiting = deque(work)
        self._keeper = keeper
        self._watch = watch
        self._cluster = cluster
        self._jobs = setup.jobs
        self._running: dict[Any, Running] = {}
        self._archive: tuple[Path, Any, str] | None = None
        self._stored: dict[bytes, Any] = {}
        self._tokens, self._cost_usd = setup.tokens, setup.cost_usd
        self._account = Account(batch=secrets.token_hex(8), **setup.funds)
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
            task = _task(versions(), self.shared(), self._cluster.host)
            # Ray would keep some 3 kB of each, here and in the head, for its own lists of tasks.
            options = {"enable_task_events": False, **_options(self._cluster.resources)}
            solve = ray.remote(max_retries=RETRIES, **options)(task)
            ended = deque[tuple[Work, Attempted]]()
            try:
                while self._dispatch(ray, solve) or ended:
                    while ended:  # after others were given their work: no worker waits for the disk
                        self._keep(*ended.popleft())
                    ended.extend(self._listen(ray))
            finally:
                while ended:
                    self._keep(*ended.popleft())
                self._archive = None
                self._stored.clear()
                for ref in self._running:
                    ray.cancel(ref, force=True)
        return self._ended

    # --- giving work --------------------------------------------------------------------------------------------------

    def _dispatch(self, ray: Any, solve: Any) -> bool:
        """Give as much work to Ray as may go on at once; False if there is nothing left to wait for."""
        while self._ended == "all" and self._waiting and len(self._running) < self._jobs:
            work = self._waiting.popleft()
            running = Running(work=work, key=self._keeper.keys(work), began=time.monotonic())
            archive, problem = self._archive_of(ray, work)
            challenge = replace(work.challenge, problem=work.challenge.problem or problem)
            sent = encoded(Start(work=replace(work, challenge=challenge), key=running.key))
            ref = solve.remote(sent, archive, is_last=len(self._waiting) < self._jobs)
            self._running[ref] = running
            self._watch.started(work)
            self._watch.phase(work, "on the cluster", 0)  # what it is at there is not told
        return bool(self._running)

    def _archive_of(self, ray: Any, work: Work) -> tuple[Any, str]:
        """The files in Ray's store, and why they cannot be read, or nothing; attempts at a challenge come in a row."""
        directory = work.challenge.directory
        if self._archive is None or self._archive[0] != directory:
            try:
                data, problem = pack(directory, leave_out=RESULTS_NAME), ""
            except OSError as error:
                data, problem = pack(None), f"it cannot be read: {reason_of(error)}"
            self._archive = (directory, self._put(ray, data), problem)
        return self._archive[1:]

    def _put(self, ray: Any, data: bytes) -> Any:
        """An archive in Ray's store, where it is once however often it is wanted."""
        digest = sha256(data).digest()
        self._stored[digest] = ref = self._stored.pop(digest, None) or ray.put(data)
        if len(self._stored) > self._jobs:
            del self._stored[next(iter(self._stored))]
        return ref

    def shared(self) -> bytes:
        """What workers get once, for all attempts."""
        setup = replace(self._setup, place=Place(environ={}, home=Path("/")), jobs=1, processors=1)
        needs_sandbox = self._cluster.needs_sandbox
        return encoded(ClusterBatch(setup=setup, account=self._account, needs_sandbox=needs_sandbox))

    # --- listening ----------------------------------------------------------------------------------------------------

    def _listen(self, ray: Any) -> list[tuple[Work, Attempted]]:
        """Wait a little; gives what has come to an end meanwhile."""
        found = []
        ready, _ = ray.wait(list(self._running), num_returns=1, timeout=_LOOKS_S) if self._running else ((), ())
        for ref in ready:
            running = self._running.pop(ref)
            done = self._outcome(ray, ref, running)
            if done is None:
                continue
            if over_budget(done.result) and self._ended == "all":
                self._end(ray, "budget")
            found.append((running.work, done))
        if self._stopped.is_set():
            if self._ended != "stopped":
                self._end(ray, "stopped")
            if time.monotonic() >= self._stop_at:
                for ref in self._running:
                    ray.cancel(ref, force=True)
                self._running.clear()
        return found

    def _outcome(self, ray: Any, ref: Any, running: Running) -> Attempted | None:
        """What came of it; None if it was cancelled: the next part of the batch does it, unless the budget ended it.

        Raises:
            CodurError: a worker cannot do its work, and no other could.
        """
        errors = ray.exceptions
        try:
            done: Attempted = decoded(ray.get(ref), Attempted)
            if not done.interrupted:
                return done
            why = ""
        except errors.TaskCancelledError:
            why = ""
        except errors.RayTaskError as error:
            if isinstance(error.cause, CodurError):
                raise error.cause from error
            why = f"a worker of the cluster has failed: {type(error.cause).__name__}: {error.cause}"[:MAX_REASON]
        except errors.RayError as error:
            why = f"crashed: it was lost {RETRIES + 1} times ({type(error).__name__})"
        if why:
            return running.lost("error", why)
        if self._ended == "budget":
            return running.lost("limit", f"{OVER_BUDGET}; it was cancelled.")
        return None

    def _keep(self, work: Work, done: Attempted) -> None:
        if done.kept:
            place = Path(self._setup.keeping.below) / work.file
            remove_tree(place)
            unpack(done.kept, place)
        kept = self._keeper.keep(work, done)
        self._watch.finished(work, kept)
        if kept.tokens or kept.cost_usd:
            self._tokens += kept.tokens
            self._cost_usd += kept.cost_usd
            self._keeper.directory.write_spent(self._tokens, self._cost_usd)

    def _end(self, ray: Any, ended: Ended) -> None:
        """Start nothing more, and cancel what runs."""
        self._ended = ended
        for ref in self._running:
            ray.cancel(ref, force=False)


def _task(alike: Mapping[str, str], batch: bytes, host: Callable[[], Host]) -> Callable[..., bytes]:
    """The task of Ray's; with what it holds it is sent to each worker once."""

    def _solve(start: bytes, files: bytes, *, is_last: bool) -> bytes:
        require_alike(alike)  # before anything is read: another version may have another form
        worker, limits = _worker(batch, host)
        asked = decoded(start, Start)
        with limits.in_use(is_last=is_last):
            return encoded(worker.carry_out(asked.work, asked.key, files))

    return _solve


@lru_cache(maxsize=1)
def _worker(batch: bytes, host: Callable[[], Host]) -> tuple[ClusterWorker, ProcessLimits]:
    """What a process of the cluster has for a batch; Ray gives each batch processes of its own."""
    asked = decoded(batch, ClusterBatch)
    limits = ProcessLimits(asked.account)
    return ClusterWorker(asked, limits.models, host()), limits


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
