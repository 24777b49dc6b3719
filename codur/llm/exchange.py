"""One question to one profile: budget, requests, waits between them, and one more try for a malformed answer.

Only runs that ask a model load this module, and with it asyncio.
"""

import asyncio
import json
import math
import time
from collections.abc import Sequence

from codur.config.settings import LlmSettings
from codur.errors import ModelError, out_of_time
from codur.events import AnswerDelta, ModelAnswered, ModelCalled, ModelPrompted, ModelWaiting
from codur.llm.budget import Budget, Spending
from codur.llm.gate import Gate
from codur.llm.model import ChatModel, ChatReply, ChatRequest
from codur.llm.pool_options import PoolOptions
from codur.llm.profiles.profiles import Profiles
from codur.llm.rate_limits.demand import Demand
from codur.llm.request_failure import FailedGenerationError, ServiceFailure
from codur.llm.request_retry import Patience
from codur.llm.services.service_model import ServiceModel
from codur.llm.tokens import SMALLEST_ANSWER, cost_usd, prompt_chars
from codur.parsing.bounded_text import bounded
from codur.redaction import redact_value
from codur.structs import replace
from codur.types import Message, ToolCall, Usage


class Exchange:
    """Asks profiles within the limits of a run, and of all runs that share theirs with it."""

    def __init__(
        self, settings: LlmSettings, profiles: Profiles, budget: Budget, gate: Gate, options: PoolOptions
    ) -> None:
        self.opened: dict[str, ChatModel] = {}  # models of services that were asked, by profile name
        self._settings = settings
        self._profiles = profiles
        self._budget = budget
        self._gate = gate
        self._options = options

    def model(self, name: str) -> ChatModel:
        """The model of a profile; ConfigError if the settings have no such profile or provider."""
        given = self._options.models.get(name) or self.opened.get(name)
        if given is None:
            profile, endpoint = self._profiles.get(name), self._profiles.endpoint(name)

            def show(request: ChatRequest, words: str) -> None:
                self._options.emit(AnswerDelta(profile=name, purpose=request.purpose, text=words))

            shows = self._options.stream and self._settings.stream
            given = ServiceModel(name, profile, endpoint, now=self._options.clock.now, show=show if shows else None)
            self.opened[name] = given
        return given

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
        settings, options = self._settings, self._options
        patience = Patience(settings.max_attempts, settings.retry_budget_s, options.clock, options.left)
        try:
            return await self._persist(model, request, spending, patience, least)
        except FailedGenerationError as failed:
            # Once, with what was wrong: asked the same again a model mostly gives the same.
            correction = Message(role="user", content=failed.hint)
        return await self._persist(
            model, replace(request, messages=(*request.messages, correction)), spending, patience, least
        )

    async def close(self) -> None:
        """Close all connections; a later question opens new ones."""
        for model in (*self.opened.values(), *self._options.models.values()):
            await model.close()

    async def _persist(
        self, model: ChatModel, request: ChatRequest, spending: Spending, patience: Patience, least: int
    ) -> ChatReply:
        was_refused = False
        while True:  # ends: `patience` allows `max_attempts` requests, and waits for a rate limit end with the run
            try:
                return await self._once(model, request, spending, was_refused=was_refused, least=least)
            except ServiceFailure as failure:
                wait = self._wait_after(model, failure, patience)
                if wait is None:
                    raise
                self._options.emit(ModelWaiting(profile=model.profile_name, seconds=wait, reason=failure.message))
                at_the_gate = self._gate.is_shared and failure.kind == "rate_limit"
            spending.add(Usage(retries=1))
            was_refused = was_refused or at_the_gate
            if not at_the_gate:  # where all runs wait, before they ask this service again
                await self._options.clock.sleep(wait)

    def _wait_after(self, model: ChatModel, failure: ServiceFailure, patience: Patience) -> float | None:
        """The wait before the next request; None if there must be none."""
        limited = failure.kind == "rate_limit"
        # One refusal is for all runs that ask this model, so that the gate waits for all, and the wait is not counted
        # as a failed attempt.
        if limited and self._gate.is_shared:
            wait = self._gate.refused(model, failure)
            # To wait longer than the run lasts would end it without the fall-back profiles having been asked.
            return wait if wait < self._options.left() else None
        if limited and failure.retry_after_s:
            self._gate.refused(model, failure)
        return patience.wait_after(failure)

    async def _once(
        self, model: ChatModel, request: ChatRequest, spending: Spending, *, was_refused: bool, least: int
    ) -> ChatReply:
        # Here and nowhere before: every request passes this line, whoever made it.
        if self._options.redactor is not None:
            request = replace(request, messages=redact_value(request.messages, self._options.redactor))
        while True:  # ends: each answer that is asked for is shorter than the one before
            demand, fitted = await self._gate.enter(model, request, was_refused=was_refused)
            outcome: ChatReply | ServiceFailure | None = None
            try:
                outcome = await self._send(model, fitted, spending, demand)
                return outcome
            except ServiceFailure as failure:
                outcome = failed = failure
            except ModelError:
                outcome = ChatReply()  # there was an answer, if none that can be used
                raise
            finally:
                self._gate.leave(demand, outcome)
            if not self._gate.can_shrink(model, request, demand, failed, least=least):
                raise failed
            spending.add(Usage(retries=1))

    async def _send(self, model: ChatModel, request: ChatRequest, spending: Spending, demand: Demand) -> ChatReply:
        # After the gate, which may have made the answer shorter, and so cheaper.
        self._budget.reserve(demand)
        self._tell_request(model, request)
        # The real time, whatever clock waits go by: a replay must not tell made-up durations.
        started = time.monotonic()
        answer = ChatReply()
        try:
            answer = reply = await self._in_time(model, request)
            self._keep(model, request, reply)
        except asyncio.CancelledError:  # nobody waits for the answer any more; what was sent has its price
            cost = cost_usd(model.profile, prompt_tokens=demand.prompt_tokens, completion_tokens=0)
            spending.add(Usage(calls=1, prompt_tokens=demand.prompt_tokens, cost_usd=cost))
            raise
        except ModelError as error:
            answer = ChatReply(usage=error.usage or Usage())
            self._keep(model, request, error)
            raise
        finally:
            self._budget.release(demand)
            spending.add(answer.usage)
            if answer.usage.calls:  # an answer that cannot be used has its price too
                self._tell_answer(model, request, answer, time.monotonic() - started)
        return reply

    def _keep(self, model: ChatModel, request: ChatRequest, outcome: ChatReply | ModelError) -> None:
        if self._options.recorder is not None:
            self._options.recorder.keep(model.profile_name, request, outcome)

    def _tell_request(self, model: ChatModel, request: ChatRequest) -> None:
        name, asked = model.profile_name, model.profile.model
        chars = prompt_chars(request)
        # Before it is sent: a request that hangs is one that somebody looks for.
        self._options.emit(ModelCalled(profile=name, model=asked, purpose=request.purpose, prompt_chars=chars))
        if self._options.prompted is not None:
            # All that is sent, message by message; the tools by their names
            parts = [
                "\n".join([f"--- {message.role}", *filter(None, [message.content]), *_calls(message.tool_calls)])
                for message in request.messages
            ]
            if request.tools:
                parts.append(f"--- tools ({request.tool_choice})\n{', '.join(tool.name for tool in request.tools)}")
            if request.schema is not None and not request.tools:
                parts.append(f"--- form of the answer: {request.schema_name or 'JSON'}")
            text = bounded("\n".join(parts), _MOST_CHARS)
            self._options.prompted(ModelPrompted(profile=name, model=asked, purpose=request.purpose, text=text))

    def _tell_answer(self, model: ChatModel, request: ChatRequest, answer: ChatReply, duration_s: float) -> None:
        usage = answer.usage
        self._options.emit(
            ModelAnswered(
                profile=model.profile_name,
                purpose=request.purpose,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                duration_s=duration_s,
                cost_usd=usage.cost_usd,
                text=bounded("\n".join([*filter(None, [answer.text]), *_calls(answer.tool_calls)]), _MOST_CHARS),
            )
        )

    async def _in_time(self, model: ChatModel, request: ChatRequest) -> ChatReply:
        left = self._options.left()
        if left <= 0:
            raise out_of_time()
        deadline = asyncio.timeout(left if left < math.inf else None)
        try:
            async with deadline:
                return await model.complete(request)
        # Also what an SDK may raise by itself; ours is told by the deadline.
        except TimeoutError:
            if not deadline.expired():
                raise
        raise out_of_time()


_MOST_CHARS = 64_000
"""Of one request; the middle of a longer one is left out."""


def _calls(calls: Sequence[ToolCall]) -> list[str]:
    return [f"{call.name} {json.dumps(dict(call.arguments), ensure_ascii=False, default=str)}" for call in calls]
