"""How a request to a model can fail."""

from functools import partial
from typing import Any, Literal

from codur.errors import ModelAnswerError, ModelUnavailable
from codur.llm.model import Quota
from codur.types import Usage

FailureKind = Literal[
    "rate_limit",
    "service",
    "timeout",
    "unreachable",
    "not_running",
    "no_key",
    "key",
    "forbidden",
    "quota",
    "model",
    "too_large",
    "request",
    "address",
    "broken",
    "not_installed",
]
"""Why no answer came. `no_key`: the variable is not set; `key`: the service refused it; `forbidden`: it does not allow
this with the key; `not_running`: no local server; `service`: busy or broken; `request`: this request was refused;
`address`: nobody speaks the protocol there; `broken`: an answer ended in the middle; `not_installed`: no SDK."""

PASSING: frozenset[FailureKind] = frozenset({"rate_limit", "service", "timeout", "unreachable", "broken"})
"""Kinds for which the same request may succeed a little later."""

LASTING: frozenset[FailureKind] = frozenset(
    {"unreachable", "not_running", "key", "forbidden", "quota", "model", "address", "not_installed"}
)
"""Kinds that, once retries are used up, hold for the rest of a run."""

PAUSING: frozenset[FailureKind] = frozenset({"service", "timeout"})
"""Kinds after which, once retries are used up, a profile is passed over for `PAUSE_S` seconds, and then tried again."""

PAUSE_S = 60.0  # chosen: an overload mostly passes within a minute

WHOLE_PROVIDER: frozenset[FailureKind] = frozenset({"unreachable", "not_running", "key", "address", "not_installed"})
"""Kinds that hold for every profile of the same provider."""


class ServiceFailure(ModelUnavailable):
    """One request failed."""

    limits: tuple[Quota, ...] = ()  # what the service told of its rate limits with the refusal

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind,
        remedy: str = "",
        retry_after_s: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy, usage=usage)
        self.kind: FailureKind = kind  # why
        # the least wait that the service asks for, in seconds; None if it did not say
        self.retry_after_s = retry_after_s

    def __reduce__(self) -> tuple[Any, ...]:  # it is told between the processes of a cluster
        return partial(ServiceFailure, kind=self.kind), self.args, self.__dict__


class FailedGenerationError(ModelAnswerError):
    """The service itself found the answer malformed, and so do we; `hint` is for the model when it is asked again."""

    def __init__(self, message: str, *, hint: str, remedy: str = "", usage: Usage | None = None) -> None:
        super().__init__(message, remedy=remedy, usage=usage)
        self.hint = hint
