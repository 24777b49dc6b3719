"""One question to one profile: budget, requests, waits between them, and one more try for a malformed answer."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from codur.errors import ModelError
from codur.events import ModelAnswered, ModelCalled, ModelPrompted, ModelWaiting
from codur.llm.model import ChatReply
from codur.llm.pricing import cost_usd
from codur.llm.replay.prompt_text import prompt_text
from codur.llm.request_failure import FailedGenerationError, ServiceFailure
from codur.llm.request_retry import Patience
from codur.llm.tokens import SMALLEST_ANSWER, prompt_chars
from codur.redaction import redact_value
from codur.structs import replace
from codur.types import Message, Usage

if TYPE_CHECKING:
    from codur.config.settings import LlmSettings
    from codur.events import Emit
    from codur.llm.budget import Budget
    from codur.llm.model import ChatModel, ChatRequest
    from codur.llm.rate_limits.demand import Asking
    from codur.llm.rate_limits.gate import Gate
    from codur.llm.replay.model_recording import Recorder
    from codur.redaction import Redactor


class Spending:
    """What one question has cost so far; every amount is also counted in the run's budget."""

    def __init__(self, budget: Budget) -> None:
        self.usage = Usage()
        self._budget = budget

    def add(self, usage: Usage) -> None:
        """Count `usage`."""
        self.usage = self.usage + usage
        self._budget.spend(usage)


class Exchange:
    """Asks profiles within the limits of a run, and of all runs that share theirs with it."""

    def __init__(
        self,
        *,
        settings: LlmSettings,
        budget: Budget,
        emit: Emit,
        sleep: Callable[[float], Awaitable[None]],
        random: Callable[[], float],
        time_left: Callable[[], float] | None,
        redactor: Redactor,
        gate: Gate,
        recorder: Recorder | None = None,
        prompted: Callable[[ModelPrompted], None] | None = None,
    ) -> None:
        self._recorder = recorder
        self._prompted = prompted
        self._settings = settings
        self._gate = gate
        self._budget = budget
        self._emit = emit
        self._sleep = sleep
        self._random = random
        self._time_left = time_left
        self._redactor = redactor

    async def ask(
        self, model: ChatModel, request: ChatRequest, spending: Spending, *, least: int = SMALLEST_ANSWER
    ) -> ChatReply:
        """The model's answer; what was spent is added to `spending`, also when this raises.

        Args:
            least: tokens that the answer is left, where a service says that the request is too large for it.

        Raises:
            ServiceFailure: no answer, and no further try makes sense.
            ModelAnswerError: an answer that cannot be used.
            LimitReached: calls, tokens, money or time.
        """
        patience = Patience(
            max_attempts=self._settings.max_attempts,
            budget_s=self._settings.retry_budget_s,
            random=self._random,
            time_left=self._time_left,
        )
        try:
            return await self._persist(model, request, spending, patience, least)
        except FailedGenerationError as failed:
            correction = Message(role="user", content=failed.hint)
        return await self._persist(
            model, replace(request, messages=(*request.messages, correction)), spending, patience, least
        )

    async def _persist(
        self, model: ChatModel, request: ChatRequest, spending: Spending, patience: Patience, least: int
    ) -> ChatReply:
        was_refused = False
        while True:  # ends: `patience` allows `max_attempts` requests, and waits for a rate limit end with the run
            try:
                return await self._once(model, request, spending, was_refused=was_refused, least=least)
            except ServiceFailure as failure:
                if failure.kind == "rate_limit" and self._gate.is_shared:
                    self._wait_with_all(model, failure, spending)
                    was_refused = True
                    continue
                if failure.kind == "rate_limit" and failure.retry_after_s:
                    self._gate.refused(model, failure)
                wait = patience.wait_after(failure)
                if wait is None:
                    raise
                reason = failure.message
            self._emit(ModelWaiting(profile=model.profile_name, seconds=wait, reason=reason))
            spending.add(Usage(retries=1))
            await self._sleep(wait)

    def _wait_with_all(self, model: ChatModel, failure: ServiceFailure, spending: Spending) -> None:
        """Have all runs wait before they ask this service again.

        Raises:
            ServiceFailure: it asks for more time than the run has left.
        """
        wait = self._gate.refused(model, failure)
        if wait >= self._gate.left():
            raise failure
        self._emit(ModelWaiting(profile=model.profile_name, seconds=wait, reason=failure.message))
        spending.add(Usage(retries=1))

    async def _once(
        self, model: ChatModel, request: ChatRequest, spending: Spending, *, was_refused: bool, least: int
    ) -> ChatReply:
        # Here and nowhere before: every request passes this line, whoever made it.
        request = replace(request, messages=redact_value(request.messages, self._redactor))
        while True:  # ends: each answer that is asked for is shorter than the one before
            asking, fitted = await self._gate.enter(model, request, was_refused=was_refused)
            try:
                return await self._in_turn(model, fitted, spending, asking)
            except ServiceFailure as failure:
                if not self._gate.can_shrink(model, request, asking, failure, least=least):
                    raise
            spending.add(Usage(retries=1))

    async def _in_turn(self, model: ChatModel, request: ChatRequest, spending: Spending, asking: Asking) -> ChatReply:
        outcome: ChatReply | ServiceFailure | None = None
        answered = False
        try:
            outcome = await self._send(model, request, spending, asking)
            answered = True
        except ServiceFailure as failure:
            outcome = failure
            raise
        except ModelError:
            outcome, answered = ChatReply(), True
            raise
        finally:
            self._gate.leave(asking, outcome, answered=answered)
        return outcome

    async def _send(self, model: ChatModel, request: ChatRequest, spending: Spending, asking: Asking) -> ChatReply:
        import asyncio  # noqa: PLC0415 - lazy: this module is loaded for runs that ask no model

        reservation = self._budget.reserve(
            prompt_tokens=asking.tokens - asking.answer_tokens,
            completion_tokens=asking.answer_tokens,
            cost_usd=asking.cost_usd,
        )
        self._emit(
            ModelCalled(
                profile=model.profile_name,
                model=model.profile.model,
                purpose=request.purpose,
                prompt_chars=prompt_chars(request),
            )
        )
        if self._prompted is not None:
            self._prompted(
                ModelPrompted(
                    profile=model.profile_name,
                    model=model.profile.model,
                    purpose=request.purpose,
                    text=prompt_text(request),
                )
            )
        started = time.monotonic()
        usage = Usage()
        try:
            reply = await self._in_time(model, request)
            usage = reply.usage
            self._keep(model, request, reply)
        except asyncio.CancelledError:  # nobody waits for the answer any more; what was sent has its price
            spending.add(_broken_off(model, asking))
            raise
        except ModelError as error:
            usage = error.usage or usage
            self._keep(model, request, error)
            raise
        finally:
            self._budget.release(reservation)
            spending.add(usage)
            if usage.calls:  # an answer that cannot be used has its price too
                self._tell_answer(model, request, usage, time.monotonic() - started)
        return reply

    def _keep(self, model: ChatModel, request: ChatRequest, outcome: ChatReply | ModelError) -> None:
        if self._recorder is not None:
            self._recorder.keep(model.profile_name, request, outcome)

    def _tell_answer(self, model: ChatModel, request: ChatRequest, usage: Usage, duration_s: float) -> None:
        self._emit(
            ModelAnswered(
                profile=model.profile_name,
                purpose=request.purpose,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                duration_s=duration_s,
                cost_usd=usage.cost_usd,
            )
        )

    async def _in_time(self, model: ChatModel, request: ChatRequest) -> ChatReply:
        import asyncio  # noqa: PLC0415 - lazy: this module is loaded for runs that ask no model

        left = self._gate.left()
        if left <= 0:
            raise self._budget.out_of_time()
        deadline = asyncio.timeout(left if left < math.inf else None)
        try:
            async with deadline:
                return await model.complete(request)
        except TimeoutError:
            if not deadline.expired():
                raise
        raise self._budget.out_of_time()


def _broken_off(model: ChatModel, asking: Asking) -> Usage:
    """What a request costs whose answer nobody waits for any more: its prompt, by our own estimate."""
    prompt = asking.tokens - asking.answer_tokens
    cost = cost_usd(model.profile, prompt_tokens=prompt, completion_tokens=0)
    return Usage(calls=1, prompt_tokens=prompt, cost_usd=cost)
