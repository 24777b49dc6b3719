"""All models of a run: who can be asked, in which order, within which limits.

Importing this module loads neither the SDK nor asyncio: a run that asks no model pays for none of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from codur.config.settings import AUTO
from codur.errors import LimitReached, ModelError, ModelUnavailable
from codur.events import AnswerDelta, ModelSwitched, Note
from codur.llm.budget import Budget
from codur.llm.exchange import Exchange, Spending
from codur.llm.profiles.availability import Standing
from codur.llm.profiles.endpoint import secrets_of_provider
from codur.llm.profiles.profiles import Profiles
from codur.llm.rate_limits.gate import Gate
from codur.llm.rate_limits.shared_limits import SharedModels
from codur.llm.request_failure import ServiceFailure
from codur.llm.request_retry import come_back
from codur.llm.sizing import Sizing
from codur.llm.tokens import answer_tokens
from codur.redaction import Redactor, secrets_of
from codur.structs import replace

if TYPE_CHECKING:
    from codur.config.settings import Profile, Settings
    from codur.events import Emit, ModelPrompted
    from codur.llm.model import ChatModel, ChatReply, ChatRequest
    from codur.llm.profiles.auto import AutoChoice
    from codur.llm.remembered_sizes import Remembered
    from codur.llm.replay.model_recording import Recorder
    from codur.types import Limits, Usage

Make = Callable[["Profile"], "ChatRequest"]
"""Makes a request for a profile that has the size for it."""


class ModelPool:
    """Asks models by profile name, with retries and fall-back profiles.

    A pool serves one run. Its connections belong to the event loop in which `complete` runs: `await close()` before
    that loop ends; the pool can be used again afterwards.

    Args:
        settings: profiles, providers and retry limits.
        environ: variables that hold the keys.
        limits: what the run may spend.
        emit: gets an event for every request, answer, wait and switch.
        offline: ask nobody.
        models: models by profile name, instead of the ones that the settings describe; they need no key.
        redactor: takes secrets out of all that is sent to a model; by default one that knows the secrets of `environ`
            and the keys of all providers.
        sleep, random, now: for tests; the real ones if None.
        time_left: seconds left of the run; None if it has no end.
        spent: what an earlier part of the run has spent; it counts.
        shared: the budget and the schedule that this run shares with others; None if it goes on alone.
        waiting: what this run's wait for its turn among others is wrapped in, so that it can be counted.
        recorder: keeps each exchange.
        prompted: gets each request as it is sent.
        stream: tell answers in words while they come (`AnswerDelta`), if the settings allow it.
        remembered: what services have told of how large requests may be, in earlier runs; None keeps nothing.

    Attributes:
        sizes: how large requests are made, and why.
    """

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        limits: Limits,
        *,
        emit: Emit,
        offline: bool = False,
        models: Mapping[str, ChatModel] | None = None,
        sleep: Callable[[float], Awaitable[None]] | None = None,
        random: Callable[[], float] | None = None,
        now: Callable[[], float] = time.time,
        time_left: Callable[[], float] | None = None,
        redactor: Redactor | None = None,
        spent: Usage | None = None,
        shared: SharedModels | None = None,
        waiting: Callable[[], AbstractContextManager[None]] | None = None,
        recorder: Recorder | None = None,
        prompted: Callable[[ModelPrompted], None] | None = None,
        stream: bool = False,
        remembered: Remembered | None = None,
    ) -> None:
        self._settings = settings
        self._stream = stream and settings.llm.stream
        self._emit = emit
        self._offline = offline
        self._given = dict(models or {})
        self._opened: dict[str, ChatModel] = {}
        self._now = now
        self._profiles = Profiles(settings, environ, given=self._given, emit=emit)
        self._standing = Standing(self._profiles, given=self._given, now=now, patience_s=settings.llm.retry_budget_s)
        self._budget = Budget(limits, spent, on_spend=shared.spend if shared else None)
        # Where the tests move the time, it is theirs that waits are measured by.
        own = SharedModels(clock=time.monotonic if now is time.time else now)
        self._gate = Gate(
            shared or own,
            is_shared=shared is not None,
            rules=self._profiles.rules,
            emit=emit,
            sleep=sleep or _sleep,
            time_left=time_left,
            longest_s=settings.llm.retry_budget_s,
            out_of_time=self._budget.out_of_time,
            waiting=waiting,
        )
        self.sizes = Sizing(self._profiles, self._gate, given=self._given, remembered=remembered, now=now)
        self._exchange = Exchange(
            settings=settings.llm,
            budget=self._budget,
            emit=emit,
            sleep=sleep or _sleep,
            random=random or _random,
            time_left=time_left,
            redactor=redactor or _redactor(settings, environ),
            gate=self._gate,
            recorder=recorder,
            prompted=prompted,
        )

    @property
    def usage(self) -> Usage:
        """What has been spent so far, failed questions included."""
        return self._budget.used

    @property
    def default_profile(self) -> str:
        """Name of the profile that plans and codes; what `auto` stands for is found out when this is first read."""
        return self._profiles.default

    @property
    def fast_profile(self) -> str:
        """Name of the profile for small questions; see `default_profile`."""
        return self._profiles.fast

    @property
    def choice(self) -> AutoChoice | None:
        """What `auto` was found to stand for; None if nobody has asked so far."""
        return self._profiles.choice

    def chosen(self) -> AutoChoice:
        """What `auto` stands for; found out once, and told."""
        return self._profiles.chosen()

    def profile(self, name: str) -> Profile:
        """The settings of a profile; `auto` is the default profile.

        Raises:
            ConfigError: the settings have no such profile.
        """
        return self._profiles.get(self.named(name))

    def available(self, profile: str | None = None) -> bool:
        """Whether anybody can be asked: not offline, and a profile that `complete` would try has its key or needs none.

        A profile whose service has failed for good in this run does not count; one that only rests does.

        Args:
            profile: the profile that would be asked; the default one if None.

        Raises:
            ConfigError: the settings have no such profile or provider.
        """
        if self._offline:
            return False
        blocked = [self._standing.blocked(name) for name in self._profiles.chain(profile or AUTO)]
        return any(failure is None or failure.kind == "rate_limit" for failure in blocked)

    def problem(self, profile: str) -> str:
        """Why `profile` itself cannot be asked, in a sentence; empty if it can.

        Raises:
            ConfigError: the settings have no such profile or provider.
        """
        if self._offline:
            return "The run is offline."
        failure = self._standing.blocked(self.named(profile))
        return failure.message if failure else ""

    def why_unavailable(self, profile: str | None = None) -> ModelUnavailable:
        """The error for a run that needs a model and has none: one line what is wrong, one line what to do.

        Args:
            profile: the profile that would be asked; the default one if None.

        Raises:
            ConfigError: the settings have no such profile or provider.
        """
        if self._offline:
            return ModelUnavailable("The run is offline.", remedy="Run it again without --offline.")
        wanted = self.named(profile or AUTO)
        blocked = [failure for name in self._profiles.chain(wanted) if (failure := self._standing.blocked(name))]
        real = [failure for failure in blocked if failure.kind != "no_key"]
        return _needed((real or blocked or [self._standing.no_key(wanted)])[0])

    def fitted(self, name: str) -> Profile:
        """The profile as prompts should be made for it: no larger than what its service takes at a time.

        Raises:
            ConfigError: the settings have no such profile.
        """
        return self.sizes.fitted(name)

    async def complete(self, profile: str, request: ChatRequest | Make) -> ChatReply:
        """Ask `profile`; if it cannot be reached, the default profile, then the fall-back profiles.

        Args:
            request: the request; or what makes one for a profile as `fitted` gives it. That is then made for each
                profile that is asked, and once more where a service says that it is too long.

        Returns:
            The reply; its `usage` holds everything that this question cost.

        Raises:
            ModelUnavailable: nobody answered, or the run is offline.
            ModelAnswerError: the answer cannot be used.
            LimitReached: a limit of the run, or a service's rate limit that is too far away to wait for.
            ConfigError: the settings have no such profile or provider.
        """
        if self._offline:
            raise self.why_unavailable()
        spending = Spending(self._budget)
        try:
            return await self._ask_in_turn(self._profiles.chain(profile), request, spending)
        except ModelError as error:
            error.usage = spending.usage
            raise

    def at_once(self, profile: str, prompt_tokens: int, most: int) -> int:
        """How many requests to a profile its service's limits take now, without a wait; `most` at most."""
        return self._gate.at_once(self.profile(profile), prompt_tokens, most)

    def require_left(self) -> None:
        """Make sure that the run may spend more, before an agent is started whose costs are known afterwards.

        Raises:
            LimitReached: a limit of the run is reached.
        """
        self._budget.release(self._budget.reserve(prompt_tokens=1, completion_tokens=0, cost_usd=0.0))

    def charge(self, usage: Usage) -> None:
        """Count what an agent that asks models by itself says that it has spent."""
        self._budget.spend(usage)

    async def close(self) -> None:
        """Close all connections, and keep what services have told; a later `complete` opens new ones."""
        for name in self._opened:
            self.sizes.keep(name)
        for model in (*self._opened.values(), *self._given.values()):
            await model.close()

    def named(self, profile: str) -> str:
        """The name of the profile that is meant: `auto` is the default one."""
        return self._profiles.named(profile)

    async def _ask_in_turn(self, names: tuple[str, ...], request: ChatRequest | Make, spending: Spending) -> ChatReply:
        failures: dict[str, ServiceFailure] = {}
        paused = {name: failure for name in names if (failure := self._standing.pause(name))}
        for name in (*(name for name in names if name not in paused), *paused):  # somebody is asked in any case
            blocked = self._standing.blocked(name)
            if blocked is not None:
                failures[name] = blocked
                continue
            before = {other: paused[other] for other in names[: names.index(name)] if other in paused}
            self._tell_switch({**before, **failures}, name)
            try:
                reply = await self._ask(name, request, spending)
            except ServiceFailure as failure:
                self._standing.remember(name, failure)
                failures[name] = failure
            else:
                self._tell_return(names[0], name)
                return replace(reply, usage=spending.usage)
        raise self._nobody_answered(list(failures.values()))

    async def _ask(self, name: str, request: ChatRequest | Make, spending: Spending) -> ChatReply:
        model = self._model(name)
        if not callable(request):
            return await self._exchange.ask(model, request, spending)
        fitted = self.fitted(name)
        made = request(fitted)
        try:
            return await self._exchange.ask(model, made, spending, least=answer_tokens(made, fitted) // 2)
        except ServiceFailure as failure:
            smaller = self.fitted(name)
            if failure.kind != "too_large" or smaller.request_tokens >= fitted.request_tokens:
                raise
            place = f"{fitted.provider} ({fitted.model})"
            self._emit(Note(text=f"{place} takes no more than {smaller.request_tokens:,} tokens; the request was cut."))
        return await self._exchange.ask(model, request(smaller), spending)

    def _tell_switch(self, failures: Mapping[str, ServiceFailure], name: str) -> None:
        if failures:
            previous, failure = list(failures.items())[-1]
            self._emit(ModelSwitched(from_profile=previous, to_profile=name, reason=failure.message))

    def _tell_return(self, wanted: str, name: str) -> None:
        """Tell when a profile that another one stood in for answers again."""
        before = self._standing.answered(wanted, name)
        if before:
            self._emit(ModelSwitched(from_profile=before, to_profile=name, reason="it can be asked again"))

    def _nobody_answered(self, failures: list[ServiceFailure]) -> ModelError | LimitReached:
        real = [failure for failure in failures if failure.kind != "no_key"]
        if not real:
            return _needed(failures[0])
        limited = [failure for failure in failures if failure.kind == "rate_limit"]
        if limited:
            soonest = min(limited, key=lambda failure: failure.retry_after_s or math.inf)
            return LimitReached(soonest.message, remedy=self._come_back(soonest))
        messages = dict.fromkeys(failure.message for failure in real)
        return ModelUnavailable(" ".join(messages), remedy=real[0].remedy)

    def _come_back(self, failure: ServiceFailure) -> str:
        if not failure.retry_after_s:
            return failure.remedy
        return f"Try again {come_back(failure.retry_after_s, self._now())}, or use another profile."

    def _model(self, name: str) -> ChatModel:
        if name in self._given:
            return self._given[name]
        if name not in self._opened:
            from codur.llm.services.service_model import ServiceModel  # noqa: PLC0415 - lazy: for runs that ask a model

            self._opened[name] = ServiceModel(
                name, self._profiles.get(name), self._profiles.endpoint(name), now=self._now, show=self._show(name)
            )
        return self._opened[name]

    def _show(self, name: str) -> Callable[[ChatRequest, str], None] | None:
        def show(request: ChatRequest, words: str) -> None:
            self._emit(AnswerDelta(profile=name, purpose=request.purpose, text=words))

        return show if self._stream else None


def _redactor(settings: Settings, environ: Mapping[str, str]) -> Redactor:
    keys = [key for provider in settings.providers.values() for key in secrets_of_provider(provider, environ)]
    return Redactor((*secrets_of(environ), *keys))


def _needed(failure: ServiceFailure) -> ModelUnavailable:
    return ModelUnavailable(failure.message, remedy=failure.remedy)


async def _sleep(seconds: float) -> None:
    import asyncio  # noqa: PLC0415 - lazy: this module is loaded for runs that ask no model

    await asyncio.sleep(seconds)


def _random() -> float:
    from random import random  # noqa: PLC0415 - lazy: only needed after a failure

    return random()
