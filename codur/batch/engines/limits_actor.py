"""The limits of a cluster behind an actor of Ray, and the way to it. Only what runs on a cluster loads ray."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from codur import __version__
from codur.batch.engines.cluster_limits import Account, Answer, Ask, ClusterLimits
from codur.batch.engines.leased_limits import LeasedLimits
from codur.lazy import loaded

NAMESPACE = "codur"
NAME = f"codur limits {__version__}"
"""One for the whole cluster, whoever's batch it is: limits are the account's. Two accounts at one service need two
providers in the settings."""
_CALL_S = 5.0
_IDLE_S = 0.5
"""A worker that gets no other attempt for so long gives back what it has; a process that leaves waits longer."""


class ProcessLimits:
    """The limits this process shares with all others of the cluster, for one batch; made where ray is connected."""

    def __init__(self, account: Account) -> None:
        self.models = LeasedLimits(self._ask, account)  # what runs ask
        self._actor: Any = None
        self._idle: threading.Timer | None = None

    @contextmanager
    def in_use(self, *, is_last: bool) -> Iterator[None]:
        """For one attempt: after the last one, or when no other begins soon, others get what is left over."""
        if self._idle is not None:
            self._idle.cancel()
        try:
            yield
        finally:
            if is_last:
                self.models.close()
            else:
                self._idle = threading.Timer(_IDLE_S, self.models.close)
                self._idle.daemon = True
                self._idle.start()

    def _ask(self, ask: Ask) -> Answer | None:
        """What the actor answers, as long as it takes to or to see that it cannot; None while it restarts."""
        ray = loaded("ray")
        try:
            if self._actor is None:
                self._actor = limits_actor()
            answer: Answer = ray.get(self._actor.ask.remote(ask), timeout=_CALL_S)
        except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError):
            self._actor = None
            return None
        return answer


def limits_actor() -> Any:
    """The handle of the actor; it is made if there is none, and outlives who made it.

    It is not told again what was on its way when it died: workers tell what it has not acknowledged.
    """
    ray = loaded("ray")

    class Limits(ClusterLimits):
        """Knows whether it takes over from one that died."""

        def __init__(self) -> None:
            with warnings.catch_warnings(action="ignore"):  # Ray (2.60) uses there what it warns of
                super().__init__(restarted=bool(ray.get_runtime_context().was_current_actor_reconstructed))

    options = {"name": NAME, "namespace": NAMESPACE, "get_if_exists": True, "lifetime": "detached"}
    return ray.remote(Limits).options(num_cpus=0, max_restarts=-1, max_task_retries=0, **options).remote()
