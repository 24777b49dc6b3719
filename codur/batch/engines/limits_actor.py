"""The limits of a cluster behind an actor of Ray, and the way to it. Only what runs on a cluster loads ray."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

from codur import __version__
from codur.batch.engines.cluster_limits import ClusterLimits
from codur.batch.engines.leased_limits import LeasedLimits
from codur.lazy import loaded

if TYPE_CHECKING:
    from codur.batch.engines.cluster_limits import Account, Answer, Ask

NAMESPACE = "codur"
NAME = f"codur limits {__version__}"
"""One for the whole cluster, whoever's batch it is: limits are the account's. Two accounts at one service need two
providers in the settings."""
_CALL_S = 5.0


@functools.cache
def cluster_models(account: Account) -> LeasedLimits:
    """The limits that this process shares with all others of the cluster; one for each batch.

    To be called where ray is connected. `close` it whenever a challenge is done, so that others get what is left over.
    """
    return LeasedLimits(_Line().ask, account)


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


class _Line:
    """Asks the actor, as long as it takes to answer or to see that it cannot."""

    def __init__(self) -> None:
        self._actor: Any = None

    def ask(self, ask: Ask) -> Answer | None:
        """Its answer; None while it restarts."""
        ray = loaded("ray")
        try:
            if self._actor is None:
                self._actor = limits_actor()
            answer: Answer = ray.get(self._actor.ask.remote(ask), timeout=_CALL_S)
        except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError):
            self._actor = None
            return None
        return answer
