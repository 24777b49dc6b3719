"""The way of one run's requests to a service: cut to what fits, sent when there is room, their outcome made known."""

import math
from contextlib import nullcontext

from codur.config.settings import Profile
from codur.errors import out_of_time
from codur.events import ModelWaiting
from codur.llm.model import ChatModel, ChatReply, ChatRequest
from codur.llm.pool_options import PoolOptions
from codur.llm.profiles.profiles import Profiles
from codur.llm.rate_limits.demand import Demand, Most
from codur.llm.rate_limits.shared_limits import SharedModels
from codur.llm.rate_limits.told_limits import said_limit
from codur.llm.request_failure import ServiceFailure
from codur.llm.tokens import SMALLEST_ANSWER, answer_tokens, cost_usd, prompt_tokens
from codur.structs import replace

_TOLD_WAIT_S = 1.0  # a shorter wait for one's turn is not told
_SLICE_S = 0.5  # the longest sleep at a time, or a tenth of the wait: answers of others may bring the turn forward

_PRECISION = 10_000  # tokens of a made-up prompt: the correction is asked for its factor, which it does not tell


class Gate:
    """Lets the requests of one run through.

    Args:
        profiles: what is known beforehand of each model's limits.
        longest_s: longest wait of a run that has no end, in seconds.
    """

    def __init__(self, profiles: Profiles, options: PoolOptions, *, longest_s: float) -> None:
        # whether there are others; their turns are no part of this run's time
        self.is_shared = options.shared is not None
        self._shared = options.shared or SharedModels(clock=options.clock)
        self._profiles = profiles
        self._options = options
        self._longest_s = longest_s

    async def enter(
        self, model: ChatModel, request: ChatRequest, *, was_refused: bool = False
    ) -> tuple[Demand, ChatRequest]:
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
        demand = self._fitted(model, request, estimate)
        before = demand  # the place in the queue belongs to the request as it was asked for last
        # A run that waits for others is not to blame; one whose own request was refused waits in its own time.
        counts = self._options.waiting if self.is_shared and not was_refused else None
        try:
            while True:  # ends: the run's time does, or the queue before it, as every request does
                left = self._options.left()
                if left <= 0:
                    raise out_of_time()
                wait = self._shared.wait_s(demand, left if left < math.inf else self._longest_s, before=before)
                if wait <= 0:
                    shorter = demand.answer_tokens != answer_tokens(request, model.profile)
                    return demand, replace(request, max_completion_tokens=demand.answer_tokens) if shorter else request
                if wait >= _TOLD_WAIT_S and told_s <= 0:
                    told_s = wait
                    reason = "the rate limit is shared" if self.is_shared else "the rate limit has no room yet"
                    self._options.emit(ModelWaiting(profile=model.profile_name, seconds=wait, reason=reason))
                # In slices, since what was told to be an hour may be over with the next answer.
                rest = min(wait, max(_SLICE_S, wait / 10))
                with counts() if counts is not None else nullcontext():
                    await self._options.clock.sleep(rest)
                told_s -= rest
                # Others have had answers meanwhile: more may be known of the limits, and of how the model counts.
                before, demand = demand, self._fitted(model, request, estimate)
        finally:
            # Whatever happens: a request that is left in the queue would hold up all behind it.
            with self._shared.limits(demand.place) as limits:
                limits.leave(before)
                limits.leave(demand)

    def leave(self, demand: Demand, outcome: ChatReply | ServiceFailure | None) -> None:
        """The request has ended; `outcome` is None if it was broken off."""
        self._shared.done(demand, outcome)

    def refused(self, model: ChatModel, failure: ServiceFailure) -> float:
        """The service has refused a request for now; gives the seconds until anybody may ask it again."""
        return self._shared.refused(_place(model.profile), failure)

    def can_shrink(
        self, model: ChatModel, request: ChatRequest, demand: Demand, failure: ServiceFailure, *, least: int
    ) -> bool:
        """Whether a request was refused because it can never fit, and would with an answer of `least` tokens or more.

        ServiceFailure if not even the shortest answer lets it through.
        """
        if failure.kind != "too_large":
            return False
        said = said_limit(failure.message)
        with self._shared.limits(demand.place) as limits:
            limits.learn(demand, said)
        # It says no figure, so that how much shorter the answer should be is not known; the request has to be made
        # anew.
        if said is None:
            return False
        return least <= self._fitted(model, request, demand.estimate).answer_tokens < demand.answer_tokens

    def most_tokens(self, profile: Profile) -> float:
        """The tokens by our own estimate that a request should come to at most; infinity if that is not known."""
        most = min(self._shared.expected(_place(profile)), self._most(profile))
        return most if most == math.inf else most * _PRECISION / self._prompt_tokens(profile, _PRECISION)

    def at_once(self, profile: Profile, prompt: int, most: int) -> int:
        """How many requests with a prompt of so many tokens could be sent now without waiting; `most` at most."""
        demand = self._demand(profile, prompt, profile.max_completion_tokens)
        with self._shared.limits(demand.place) as limits:
            return limits.at_once(demand, most, self._options.clock.monotonic())

    def known(self, profile: Profile) -> Most:
        """What the service has told of how large a request may be."""
        with self._shared.limits(_place(profile)) as limits:
            return limits.most

    def recall(self, profile: Profile, most: Most) -> None:
        """Take over what was known before of how large a request may be."""
        with self._shared.limits(_place(profile)) as limits:
            limits.recall(most)

    def _fitted(self, model: ChatModel, request: ChatRequest, estimate: int) -> Demand:
        profile = model.profile
        answer, most = answer_tokens(request, profile), self._most(profile)
        prompt = self._prompt_tokens(profile, estimate)
        if prompt + answer > most:
            # Groq counts the longest possible answer in advance: a shorter bound lets a long prompt through.
            answer = min(answer, max(int(most - prompt), SMALLEST_ANSWER))
        if prompt + answer > most:
            raise _too_large(model, prompt + answer, int(most))
        return self._demand(profile, prompt, answer, estimate)

    def _demand(self, profile: Profile, prompt: int, answer: int, estimate: int = 0) -> Demand:
        return Demand(
            provider=profile.provider,
            model=profile.model,
            tokens=prompt + answer,
            answer_tokens=answer,
            estimate=estimate,
            cost_usd=cost_usd(profile, prompt_tokens=prompt, completion_tokens=answer),
            rules=self._profiles.rules(profile),
        )

    def _prompt_tokens(self, profile: Profile, estimate: int) -> int:
        with self._shared.limits(_place(profile)) as limits:
            return limits.prompt_tokens(estimate)

    def _most(self, profile: Profile) -> float:
        known, a_minute = self.known(profile), self._profiles.rules(profile).tokens_per_minute
        return min(known.window, known.a_minute, a_minute or math.inf, profile.context_window or math.inf)


def _place(profile: Profile) -> tuple[str, str]:
    return profile.provider, profile.model


def _too_large(model: ChatModel, needed: int, most: int) -> ServiceFailure:
    profile = model.profile
    return ServiceFailure(
        f"The request needs {needed:,} tokens, and {profile.provider} ({profile.model}) takes {most:,} at a time.",
        kind="too_large",
        remedy=f"Lower llm.profiles.{model.profile_name}.request_tokens to {most}, or use another profile.",
    )
