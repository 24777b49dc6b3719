"""A model that answers from a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codur.config.settings import Profile
from codur.errors import ModelUnavailable
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.tokens import answer_tokens, cost_usd, estimate_tokens, prompt_tokens
from codur.structs import replace
from codur.types import Usage

Reply = ChatReply | str | BaseException
Script = Sequence[Reply] | Callable[[ChatRequest], Reply]


class ScriptedModel:
    """Answers with the replies of `script` in order, or with what `script` returns for a request.

    A string is an answer's text; an exception is raised. A reply without `usage` gets an estimated one.

    Args:
        script: the replies, or a function that makes them.
        profile_name, profile: what the model says of itself.

    Attributes:
        requests: all requests so far.
    """

    def __init__(self, script: Script, *, profile_name: str = "scripted", profile: Profile | None = None) -> None:
        self.profile_name = profile_name
        self.profile = profile or Profile(provider="scripted", model="scripted")
        self.requests: list[ChatRequest] = []
        self._script = script

    async def complete(self, request: ChatRequest) -> ChatReply:
        """The next reply.

        Raises:
            ModelUnavailable: the script has no more replies.
            BaseException: the one that the script holds here.
        """
        self.requests.append(request)
        reply = self._next(request)
        if isinstance(reply, BaseException):
            raise reply
        return self._completed(ChatReply(text=reply) if isinstance(reply, str) else reply, request)

    async def close(self) -> None:
        """Nothing to close."""

    def _next(self, request: ChatRequest) -> Reply:
        if callable(self._script):
            return self._script(request)
        number = len(self.requests)
        if number > len(self._script):
            raise ModelUnavailable(
                f"The scripted model has {len(self._script)} replies; request {number} ({request.purpose}) has none.",
                remedy="Give the script more replies.",
            )
        return self._script[number - 1]

    def _completed(self, reply: ChatReply, request: ChatRequest) -> ChatReply:
        usage = reply.usage if reply.usage.calls else self._estimate(reply, request)
        finish = "tool_calls" if reply.tool_calls and reply.finish_reason == "stop" else reply.finish_reason
        return replace(
            reply,
            usage=usage,
            finish_reason=finish,
            model=reply.model or self.profile.model,
            profile=reply.profile or self.profile_name,
            max_completion_tokens=reply.max_completion_tokens or answer_tokens(request, self.profile),
        )

    def _estimate(self, reply: ChatReply, request: ChatRequest) -> Usage:
        prompt = prompt_tokens(request)
        answer = estimate_tokens(
            reply.text + "".join(f"{call.name}{dict(call.arguments)}" for call in reply.tool_calls)
        )
        cost = cost_usd(self.profile, prompt_tokens=prompt, completion_tokens=answer)
        return Usage(calls=1, prompt_tokens=prompt, completion_tokens=answer, cost_usd=cost)
