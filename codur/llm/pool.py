"""All models of a run: who can be asked, in which order, within which limits.

Importing this module loads neither the SDK nor asyncio: a run that asks no model pays for none of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from codur import llm
from codur.config.settings import AUTO
from codur.errors import LimitReached, ModelError, ModelUnavailable
from codur.events import ModelSwitched, Note
from codur.llm.budget import Budget, Spending
from codur.llm.profiles.availability import Availability
from codur.llm.profiles.endpoint import secrets_of_provider
from codur.llm.profiles.profiles import Profiles
from codur.llm.request_failure import ServiceFailure
from codur.llm.tokens import answer_tokens
from codur.redaction import Redactor, secrets_of
from codur.structs import replace

if TYPE_CHECKING:
    from codur.config.settings import Profile, Settings
    from codur.llm.exchange import Exchange
    from codur.llm.gate import Gate
    from codur.llm.model import ChatReply, ChatRequest
    from codur.llm.pool_options import PoolOptions
    from codur.llm.sizing import Sizing
    from codur.types import Limits, Usage

Make = Callable[["Profile"], "ChatRequest"]
"""Makes a request for a profile that has the size for it."""


class ModelPool:
    """Asks models by profile name, with retries and fall-back profiles.

    A pool serves one run. Its connections belong to the event loop in which `complete` runs: `await close()` before
    that loop ends; the pool can be used again afterwards. Where the settings have no such profile, or it has no
    provider, a ConfigError says so.

    Args:
        environ: variables that hold the keys.
        limits: what the run may spend.
    """

    def __init__(self, settings: Settings, environ: Mapping[str, str], limits: Limits, options: PoolOptions) -> None:
        self._settings = settings
        keys = [key for provider in settings.providers.values() for key in secrets_of_provider(provider, environ)]
        self._options = replace(options, redactor=options.redactor or Redactor((*secrets_of(environ), *keys)))
        # their names, and what `auto` stands for: it is found out when that is first asked
        self.profiles = Profiles(settings, environ, options)
        self._availability = Availability(self.profiles, options, patience_s=settings.llm.retry_budget_s)
        self._budget = Budget(limits, options.spent, on_spend=options.shared.spend if options.shared else None)

    @cached_property
    def _gate(self) -> Gate:
        return llm.gate.Gate(self.profiles, self._options, longest_s=self._settings.llm.retry_budget_s)

    @cached_property
    def sizes(self) -> Sizing:
        """How large requests are made, and why."""
        return llm.sizing.Sizing(self.profiles, self._gate, self._options)

    @cached_property
    def _exchange(self) -> Exchange:
        return llm.exchange.Exchange(self._settings.llm, self.profiles, self._budget, self._gate, self._options)

    @property
    def usage(self) -> Usage:
        """What has been spent so far, failed questions included."""
        return self._budget.used

    def profile(self, name: str) -> Profile:
        """The settings of a profile; `auto` is the default profile."""
        return self.profiles.get(self.profiles.named(name))

    def available(self, profile: str | None = None) -> bool:
        """Whether anybody can be asked: not offline, and a profile that `complete` would try has its key or needs none.

        Without a profile, the default one is meant. One whose service has failed for good in this run does not count;
        one that only rests does.
        """
        if self._options.offline:
            return False
        blocked = [self._availability.blocked(name) for name in self.profiles.chain(profile or AUTO)]
        # Who rests will be there again, maybe within the run.
        return any(failure is None or failure.kind == "rate_limit" for failure in blocked)

    def problem(self, profile: str) -> str:
        """Why `profile` itself cannot be asked, in a sentence; empty if it can."""
        if self._options.offline:
            return "The run is offline."
        failure = self._availability.blocked(self.profiles.named(profile))
        return failure.message if failure else ""

    def why_unavailable(self, profile: str | None = None) -> ModelUnavailable:
        """The error for a run that needs a model and has none: one line what is wrong, one line what to do."""
        if self._options.offline:
            return ModelUnavailable("The run is offline.", remedy="Run it again without --offline.")
        wanted = self.profiles.named(profile or AUTO)
        blocked = [failure for name in self.profiles.chain(wanted) if (failure := self._availability.blocked(name))]
        # That a fall-back has no key is the usual state, and no news beside a service that has failed.
        real = [failure for failure in blocked if failure.kind != "no_key"]
        return _needed((real or blocked or [self._availability.no_key(wanted)])[0])

    async def complete(self, profile: str, request: ChatRequest | Make) -> ChatReply:
        """Ask `profile`; if it cannot be reached, the default profile, then the fall-back profiles.

        Args:
            request: the request; or what makes one for a profile as `sizes.fitted` gives it. That is then made for each
                profile that is asked, and once more where a service says that it is too long.

        Returns:
            The reply; its `usage` holds everything that this question cost.

        Raises:
            ModelUnavailable: nobody answered, or the run is offline.
            ModelAnswerError: the answer cannot be used.
            LimitReached: a limit of the run, or a service's rate limit that is too far away to wait for.
        """
        if self._options.offline:
            raise self.why_unavailable()
        spending = Spending(self._budget)
        try:
            return await self._ask_in_turn(self.profiles.chain(profile), request, spending)
        except ModelError as error:
            error.usage = spending.usage  # of all profiles that were asked, not only of the last one
            raise

    def at_once(self, profile: str, prompt_tokens: int, most: int) -> int:
        """How many requests to a profile its service's limits take now, without a wait; `most` at most."""
        return self._gate.at_once(self.profile(profile), prompt_tokens, most)

    def require_left(self) -> None:
        """LimitReached if nothing more may be spent: before an agent is started whose costs are known afterwards."""
        self._budget.require(tokens=1, cost_usd=0.0)

    def charge(self, usage: Usage) -> None:
        """Count what an agent that asks models by itself says that it has spent."""
        self._budget.spend(usage)

    async def close(self) -> None:
        """Close all connections, and keep what services have told; a later `complete` opens new ones."""
        if "_exchange" in vars(self):  # it is made when it is first used; a run that asked nobody has nothing to close
            for name in self._exchange.opened:
                self.sizes.keep(name)
            await self._exchange.close()

    async def _ask_in_turn(self, names: tuple[str, ...], request: ChatRequest | Make, spending: Spending) -> ChatReply:
        failures: dict[str, ServiceFailure] = {}
        # Last and not left out: if nobody else can be asked either, a service that was busy a minute ago is worth a
        # try.
        paused = {name: failure for name in names if (failure := self._availability.pause(name))}
        for name in (*(name for name in names if name not in paused), *paused):  # somebody is asked in any case
            blocked = self._availability.blocked(name)
            if blocked is not None:
                failures[name] = blocked
                continue
            before = {other: paused[other] for other in names[: names.index(name)] if other in paused}
            for previous, why in list({**before, **failures}.items())[-1:]:
                self._options.emit(ModelSwitched(from_profile=previous, to_profile=name, reason=why.message))
            try:
                reply = await self._ask(name, request, spending)
            except ServiceFailure as failure:
                self._availability.remember(name, failure)
                failures[name] = failure
            else:
                stood_in = self._availability.answered(names[0], name)
                if stood_in:
                    told = ModelSwitched(from_profile=stood_in, to_profile=name, reason="it can be asked again")
                    self._options.emit(told)
                return replace(reply, usage=spending.usage)
        raise self._nobody_answered(list(failures.values()))

    async def _ask(self, name: str, request: ChatRequest | Make, spending: Spending) -> ChatReply:
        model = self._exchange.model(name)
        if not callable(request):
            return await self._exchange.ask(model, request, spending)
        fitted = self.sizes.fitted(name)
        made = request(fitted)
        try:
            # Below half of its answer a coding request is better made anew with less to read.
            return await self._exchange.ask(model, made, spending, least=answer_tokens(made, fitted) // 2)
        except ServiceFailure as failure:
            smaller = self.sizes.fitted(name)
            if failure.kind != "too_large" or smaller.request_tokens >= fitted.request_tokens:
                raise
            place = f"{fitted.provider} ({fitted.model})"
            self._options.emit(
                Note(text=f"{place} takes no more than {smaller.request_tokens:,} tokens; the request was cut.")
            )
        return await self._exchange.ask(model, request(smaller), spending)

    def _nobody_answered(self, failures: list[ServiceFailure]) -> ModelError | LimitReached:
        real = [failure for failure in failures if failure.kind != "no_key"]
        if not real:
            return _needed(failures[0])
        limited = [failure for failure in failures if failure.kind == "rate_limit"]
        if limited:
            # A limit that passes is the better news, and it says when to come back.
            soonest = min(limited, key=lambda failure: failure.retry_after_s or math.inf)
            remedy, wait = soonest.remedy, soonest.retry_after_s
            if wait:
                remedy = (
                    f"Try again {llm.request_retry.come_back(wait, self._options.clock.now())}, or use another profile."
                )
            return LimitReached(soonest.message, remedy=remedy)
        return ModelUnavailable(" ".join(dict.fromkeys(failure.message for failure in real)), remedy=real[0].remedy)


def _needed(failure: ServiceFailure) -> ModelUnavailable:
    return ModelUnavailable(failure.message, remedy=failure.remedy)
