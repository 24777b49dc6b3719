"""The way of one run's requests to a service: cut to what fits, sent when there is room, their outcome made known."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codur.events import ModelWaiting
from codur.llm.pricing import cost_usd
from codur.llm.rate_limits.demand import Asking
from codur.llm.rate_limits.told_limits import said_limit
from codur.llm.request_failure import ServiceFailure
from codur.llm.tokens import SMALLEST_ANSWER, answer_tokens, prompt_tokens
from codur.structs import replace

if TYPE_CHECKING:
    from codur.config.settings import Profile
    from codur.errors import LimitReached
    from codur.events import Emit
    from codur.llm.model import ChatModel, ChatReply, ChatRequest
    from codur.llm.rate_limits.lane import Most
    from codur.llm.rate_limits.shared_limits import SharedModels

_TOLD_WAIT_S = 1.0
"""A shorter wait for one's turn is not told."""
_SLICE_S = 0.5
"""The longest sleep at a time, or a tenth of the wait: answers of others may bring the turn forward."""

_PRECISION = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is known of a profile's limits beforehand; see `Asking`."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    probes: bool = False


class Gate:
    """Lets the requests of one run through.

    Args:
        shared: the schedule and the budget that it shares with others.
        is_shared: whether there are others; their turns are no part of this run's time.
        rules: what is known beforehand of a model's limits.
        time_left: seconds left of the run.
        longest_s: longest wait of a run that has no end, in seconds.
        out_of_time: makes the error for a run whose time is used up.
        waiting: what a wait in the queue of a shared schedule is wrapped in, so that it can be counted.
    """

    def __init__(
        self,
        shared: SharedModels,
        *,
        is_shared: bool,
        rules: Callable[[Profile], Rules],
        emit: Emit,
        sleep: Callable[[float], Awaitable[None]],
        time_left: Callable[[], float] | None,
        longest_s: float,
        out_of_time: Callable[[], LimitReached],
        waiting: Callable[[], AbstractContextManager[None]] | None = None,
    ) -> None:
        self._shared = shared
        self.is_shared = is_shared
        self._rules = rules
        self._emit = emit
        self._sleep = sleep
        self._time_left = time_left
        self._longest_s = longest_s
        self._out_of_time = out_of_time
        self._waiting = waiting

    async def enter(
        self, model: ChatModel, request: ChatRequest, *, was_refused: bool = False
    ) -> tuple[Asking, ChatRequest]:
        """Wait until the request may be sent; `leave` must be called after it.

        Args:
            was_refused: the service has refused this question before; the wait is then the run's own time in any case,
                so that it ends with the run.

        Returns:
            What it takes of the limits, and the request with an answer as long as they allow.

        Raises:
            LimitReached: the budget that is shared, or the run's time.
            ServiceFailure: the service's rate limit ends later than the run, or the request is too large for it even
                with the shortest answer.
        """
        told_s, estimate = 0.0, prompt_tokens(request)
        asking = self._fitted(model, request, estimate)
        try:
            while True:  # ends: the run's time does, or the queue before it, as every request does
                left = self.left()
                if left <= 0:
                    raise self._out_of_time()
                wait = self._shared.wait_s(asking, left if left < math.inf else self._longest_s)
                if wait <= 0:
                    return asking, _with_limit(request, asking, model)
                if wait >= _TOLD_WAIT_S and told_s <= 0:
                    told_s = wait
                    self._emit(ModelWaiting(profile=model.profile_name, seconds=wait, reason=self._why()))
                rest = min(wait, max(_SLICE_S, wait / 10))
                counts = self._waiting if self.is_shared and not was_refused else None
                with counts() if counts is not None else nullcontext():
                    await self._sleep(rest)
                told_s -= rest
                # Others have had answers meanwhile: more may be known of the limits, and of how the model counts.
                asking = self._shared.schedule.change(asking, self._fitted(model, request, estimate))
        finally:
            self._shared.give_up(asking)

    def leave(self, asking: Asking, outcome: ChatReply | ServiceFailure | None, *, answered: bool) -> None:
        """The request has ended; `outcome` is None if it was broken off."""
        self._shared.done(asking, answered=answered, outcome=outcome)

    def refused(self, model: ChatModel, failure: ServiceFailure) -> float:
        """The service has refused a request for now; gives the seconds until anybody may ask it again."""
        return self._shared.refused(model.profile.provider, failure, model=model.profile.model)

    def can_shrink(
        self, model: ChatModel, request: ChatRequest, asking: Asking, failure: ServiceFailure, *, least: int
    ) -> bool:
        """Whether a request was refused because it can never fit, and would fit with a shorter answer.

        Args:
            least: tokens that the answer must be left.

        Raises:
            ServiceFailure: not even with the shortest one.
        """
        if failure.kind != "too_large":
            return False
        self._shared.schedule.too_large(asking, failure)
        if said_limit(failure.message) is None:
            return False
        return least <= self._fitted(model, request, asking.estimate).answer_tokens < asking.answer_tokens

    def most_tokens(self, profile: Profile) -> float:
        """The tokens by our own estimate that a request should come to at most; infinity if that is not known."""
        place = profile.provider, profile.model
        most = min(self._shared.schedule.expected(place), self._most(profile, self._rules(profile)))
        return most if most == math.inf else most * _PRECISION / self._shared.schedule.prompt_tokens(place, _PRECISION)

    def at_once(self, profile: Profile, prompt: int, most: int) -> int:
        """How many requests with a prompt of so many tokens could be sent now without waiting; `most` at most."""
        return self._shared.schedule.at_once(self._asking(profile, prompt, profile.max_completion_tokens), most)

    def known(self, profile: Profile) -> Most:
        """What the service has told of how large a request may be."""
        return self._shared.schedule.most((profile.provider, profile.model))

    def recall(self, profile: Profile, most: Most) -> None:
        """Take over what was known before of how large a request may be."""
        self._shared.schedule.recall((profile.provider, profile.model), most)

    def left(self) -> float:
        """Seconds left of the run; infinity if it has no end."""
        return math.inf if self._time_left is None else self._time_left()

    def _fitted(self, model: ChatModel, request: ChatRequest, estimate: int) -> Asking:
        profile = model.profile
        rules = self._rules(profile)
        answer = answer_tokens(request, profile)
        prompt = self._shared.schedule.prompt_tokens((profile.provider, profile.model), estimate)
        most = self._most(profile, rules)
        if prompt + answer > most:
            answer = min(answer, max(int(most - prompt), SMALLEST_ANSWER))
        if prompt + answer > most:
            raise _too_large(model, prompt + answer, int(most))
        return self._asking(profile, prompt, answer, estimate)

    def _asking(self, profile: Profile, prompt: int, answer: int, estimate: int = 0) -> Asking:
        rules = self._rules(profile)
        return Asking(
            provider=profile.provider,
            model=profile.model,
            tokens=prompt + answer,
            answer_tokens=answer,
            estimate=estimate,
            cost_usd=cost_usd(profile, prompt_tokens=prompt, completion_tokens=answer),
            requests_per_minute=rules.requests_per_minute,
            tokens_per_minute=rules.tokens_per_minute,
            probes=rules.probes,
        )

    def _most(self, profile: Profile, rules: Rules) -> float:
        most = self._shared.schedule.most((profile.provider, profile.model))
        return min(most.window, most.a_minute, rules.tokens_per_minute or math.inf, profile.context_window or math.inf)

    def _why(self) -> str:
        return "the rate limit is shared" if self.is_shared else "the rate limit has no room yet"


def _with_limit(request: ChatRequest, asking: Asking, model: ChatModel) -> ChatRequest:
    if asking.answer_tokens == answer_tokens(request, model.profile):
        return request
    return replace(request, max_completion_tokens=asking.answer_tokens)


def _too_large(model: ChatModel, needed: int, most: int) -> ServiceFailure:
    profile = model.profile
    return ServiceFailure(
        f"The request needs {needed:,} tokens, and {profile.provider} ({profile.model}) takes {most:,} at a time.",
        kind="too_large",
        remedy=f"Lower llm.profiles.{model.profile_name}.request_tokens to {most}, or use another profile.",
    )
