"""The body of a response as a `ChatReply`: what was said, which calls can be carried out, and what it cost."""

from collections.abc import Mapping, Sequence
from typing import Any

from codur.config.settings import Profile
from codur.errors import ModelAnswerError
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.profiles.endpoint import Endpoint
from codur.llm.request_failure import FailedGenerationError
from codur.llm.tokens import answer_tokens, cost_usd, estimate_tokens, prompt_tokens
from codur.parsing.fences import strip_thinking
from codur.parsing.json_text import load_strict, parse_json_object
from codur.parsing.json_values import at, items, text
from codur.parsing.tool_calls import tool_calls_from_text
from codur.structs import Struct
from codur.types import ToolCall, Usage

MOST_TOKENS = 10_000_000
"""No model takes or gives as many; a count beyond is a fault of the service."""

TRY_AGAIN = "Try again, or choose another profile with CODUR_LLM__DEFAULT_PROFILE=NAME."
_TOOL_NAME = "a call without a name"


class AnswerReader(Struct):
    """Reads the answers to one request."""

    request: ChatRequest
    profile_name: str
    profile: Profile
    endpoint: Endpoint

    def read(self, body: Any) -> ChatReply:
        """The reply in a decoded `body` with status 200; ModelAnswerError if there is nothing that can be used."""
        if not isinstance(body, Mapping):
            raise self._unusable(body, "something that is not an answer of the chat protocol")
        choice = at(body, "choices.0")
        message, finish = at(choice, "message"), text(at(choice, "finish_reason"))
        if not isinstance(message, Mapping):
            error = text(at(body, "error.message")) or text(body.get("error"))
            raise self._unusable(body, f"an error: {error}" if error else "an answer without any choice")
        refusal = text(message.get("refusal"))
        # Told as what it is: a request that is asked again in the same words is refused again.
        if finish == "content_filter" or refusal.strip():
            raise self._unusable(body, f"a refusal{': ' if refusal else ''}{refusal}")
        return self._reply(body, message, finish)

    def read_failed_generation(self, text: str, message: str) -> ChatReply:
        """The reply in a text that the service could not read as a call or as JSON; FailedGenerationError if none."""
        usage = self._usage({}, text)
        if self.request.tools:
            calls = tool_calls_from_text(text)
            if calls:
                return self._of(text="", tool_calls=calls, finish_reason="tool_calls", usage=usage)
        elif parse_json_object(text) is not None:
            return self._of(text=strip_thinking(text), finish_reason="stop", usage=usage)
        wanted = "tool call" if self.request.tools else "JSON object"
        said = self.endpoint.safe(message)
        raise FailedGenerationError(
            f"{self.profile_name} did not give a readable {wanted}: {said}",
            hint=f"Your last answer was not a readable {wanted}. {said} Answer again, with a correct one.",
            remedy=TRY_AGAIN,
            usage=usage,
        )

    def usage_so_far(self, body: Mapping[str, Any]) -> Usage:
        """What the part of an answer that has come may have cost; nothing if none has."""
        spoken = "".join(str(part) for part in body["choices"][0]["message"].values() if part)
        return self._usage(body.get("usage"), spoken) if spoken else Usage()

    def unreadable(self, what: str) -> ModelAnswerError:
        """The error for a response body that is not JSON but `what`."""
        return self._unusable({}, what)

    def _reply(self, body: Mapping[str, Any], message: Mapping[str, Any], finish: str) -> ChatReply:
        raw_calls = items(message.get("tool_calls"))
        words = strip_thinking(_text_of(message.get("content")))
        spoken = f"{words}{raw_calls or ''}{_text_of(message.get('reasoning'))}"
        usage = self._usage(body.get("usage"), spoken)
        model = self.endpoint.safe(text(body.get("model")))
        calls, unread = read_calls(raw_calls)
        # Servers and proxies may give another reason for an answer that ends at its bound.
        # A cut call may read as a whole one with half of a file in it: nothing of it is carried out.
        at_bound = at(body, "usage.completion_tokens") == answer_tokens(self.request, self.profile)
        if finish == "length" or (at_bound and (unread or not calls)):
            problem = f"The answer was cut off after {usage.completion_tokens} tokens. Answer more briefly."
            return self._of(text=words, finish_reason="length", usage=usage, model=model, problem=problem)
        if not words and not calls and not unread:
            raise self._unusable(body, "an empty answer", spoken)
        finish = "tool_calls" if calls else finish or "stop"
        return self._of(text=words, tool_calls=calls, finish_reason=finish, usage=usage, model=model, problem=unread)

    def _of(self, **values: Any) -> ChatReply:
        model = values.pop("model", "") or self.profile.model
        limit = answer_tokens(self.request, self.profile)
        return ChatReply(model=model, profile=self.profile_name, max_completion_tokens=limit, **values)

    def _usage(self, raw: Any, spoken: str) -> Usage:
        prompt = _count(at(raw, "prompt_tokens"), at_least=1)
        completion = _count(at(raw, "completion_tokens"), at_least=1 if spoken else 0)
        cached = _count(at(raw, "prompt_tokens_details.cached_tokens")) or 0
        written = _count(at(raw, "prompt_tokens_details.cache_write_tokens")) or 0
        prompt = prompt_tokens(self.request) if prompt is None else prompt
        completion = estimate_tokens(spoken) if completion is None else completion
        cached = min(cached, prompt)  # a proxy may count it apart from the prompt
        cost = cost_usd(
            self.profile,
            prompt_tokens=prompt,
            completion_tokens=completion,
            cached_tokens=cached,
            written_tokens=min(written, prompt - cached),
        )
        return Usage(calls=1, prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion, cost_usd=cost)

    def _unusable(self, body: Any, what: str, spoken: str = "") -> ModelAnswerError:
        return ModelAnswerError(
            f"{self.profile_name} ({self.endpoint.provider}) gave {self.endpoint.safe(what)}.",
            remedy=TRY_AGAIN,
            usage=self._usage(at(body, "usage"), spoken),
        )


def read_calls(raw_calls: Sequence[Any]) -> tuple[tuple[ToolCall, ...], str]:
    """The calls that can be carried out, with ids of their own, and one sentence about those that cannot."""
    calls: list[ToolCall] = []
    problems: list[str] = []
    seen: set[str] = set()
    for number, raw in enumerate(raw_calls, start=1):
        name, call_id = at(raw, "function.name"), text(at(raw, "id"))
        try:
            arguments = _arguments(at(raw, "function.arguments"))
        except ValueError as error:
            problems.append(f"The arguments of {str(name or _TOOL_NAME)[:80]} are not a JSON object ({error}).")
            continue
        if not isinstance(name, str) or not name:
            problems.append("A tool call has no name.")
            continue
        # Some servers give none, or the same for all, and results could not be told apart.
        call_id = call_id if call_id and call_id not in seen else f"call_{number}"
        seen.add(call_id)
        calls.append(ToolCall(id=call_id, name=name, arguments=arguments))
    return tuple(calls), " ".join(problems)


def _arguments(raw: Any) -> dict[str, Any]:
    """A call's arguments; they are carried out, so they are read by the letter. ValueError if they are no object."""
    if raw is None or raw == "":
        return {}
    # No mending here: a mended call could change what was not meant.
    value = load_strict(raw) if isinstance(raw, str) else raw
    if not isinstance(value, dict):
        raise ValueError(f"it is a {type(value).__name__}")
    return value


def _text_of(content: Any) -> str:
    """A message's text, which may come as a string or as a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(text(at(part, "text")) for part in items(content))


def _count(value: Any, *, at_least: int = 0) -> int | None:
    """A token count of the service; None if it is missing or cannot be true."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if at_least <= value <= MOST_TOKENS else None
