"""What a failed request means: the status and body of a response, or a broken connection, as a `ServiceFailure`."""

import re
from collections.abc import Mapping
from typing import Any

from codur.config.settings import Profile
from codur.lazy import regex
from codur.llm.profiles.endpoint import Endpoint
from codur.llm.rate_limits.told_limits import is_too_long, retry_after, said_limit
from codur.llm.request_failure import FailureKind, ServiceFailure
from codur.llm.request_retry import spoken
from codur.structs import Struct
from codur.types import Usage

_QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "spend_limit_reached", "insufficient_funds", "billing_error"}
)
_STATUS_OF_WORD: dict[str, int] = {
    "invalid_request_error": 400,
    "bad_request": 400,
    "context_length_exceeded": 400,
    "tool_use_failed": 400,
    "json_validate_failed": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 429,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The types and codes of errors that services tell within an answer, where there is no status any more."""
_UNKNOWN_STATUS = 500
_WRONG_ADDRESS_CODES = frozenset({"unknown_url"})
_WRONG_ADDRESS = regex(r"(?:(?:file|page|path|url|route) )?not found\W*|invalid url\b.*", re.IGNORECASE)
"""All that a server says of a path: llama.cpp's has an error object for it as for a model."""
_UNKNOWN_KEY_TYPES = frozenset({"no_db_connection"})
"""LiteLLM without a database, with status 400, for every key but its own."""
_UNKNOWN_MODEL = regex(r"(?:invalid|unknown|not a valid) model\b|\bmodel .{0,99}does not exist", re.IGNORECASE)
_ANSWER_FORMAT = regex(r"response_format|json_schema|output_config", re.IGNORECASE)
_KIND_OF_STATUS: dict[int, FailureKind] = {
    401: "key",
    402: "quota",
    403: "forbidden",
    404: "model",
    408: "service",
    409: "service",
    413: "too_large",
    429: "rate_limit",
    498: "service",  # Groq's "flex" tier: no capacity at the moment
}
_WORDS: dict[FailureKind, tuple[str, str]] = {
    "model": ("{provider} has no model {model!r}{said}.", "Correct {name}.model, or choose another profile."),
    "address": (
        "{provider} has no such address below {place}: status {status}{said}.",
        "Correct providers.{provider}.base_url.",
    ),
    "quota": ("The quota of {provider} is used up{said}.", "Check the account, or use another profile."),
    "too_large": (
        "The request is too large for {who}{said}.",
        "Lower {name}.request_tokens and {name}.max_completion_tokens.",
    ),
    "rate_limit": ("The rate limit of {who} is reached{said}.", "Try again in {again}, or use another profile."),
    "service": ("{who} is busy or out of order: status {status}{said}.", "Try again later, or use another profile."),
    "request": ("{who} refused the request: status {status}{said}.", "Check {name} and its provider's base_url."),
}
"""What is told of a failure, and what to do about it."""


class FailureReader(Struct):
    """Reads the failures of one profile."""

    profile_name: str
    profile: Profile
    endpoint: Endpoint

    def of_status(self, status: int, body: Any, headers: Mapping[str, str], now: float) -> ServiceFailure:
        """The failure that a response stands for, whose status tells an error.

        Args:
            body: the decoded JSON, or the text.
            headers: names in lower case.
        """
        error = error_of(body)
        kind = _KIND_OF_STATUS.get(status, "service" if status >= 500 else "request")
        # Both are 404: a path that nobody serves, and a model that the service does not have.
        if status in (404, 405) and _is_wrong_address(error):
            kind = "address"
        if error.get("code") in _QUOTA_CODES or error.get("type") in _QUOTA_CODES:
            kind = "quota"
        if kind in {"request", "service"}:
            kind = _kind_by_words(kind, error)
        wait = retry_after(headers, now)
        said = self.endpoint.safe(_said(body, error))
        if _never_fits(kind, error, said):
            kind = "too_large"
        said = f" ({said})" if said else ""
        message, remedy = self._words(kind, status, said, wait)
        return ServiceFailure(message, kind=kind, remedy=remedy, retry_after_s=wait)

    def of_timeout(self, usage: Usage) -> ServiceFailure:
        """The failure of a request that took too long; `usage` is what came of its answer before."""
        return ServiceFailure(
            f"{self._who} did not answer within {self.endpoint.timeout_s:g} s.",
            kind="timeout",
            remedy=f"Raise providers.{self.endpoint.provider}.timeout_s, or choose another profile.",
            usage=usage,
        )

    def of_connection(self, reason: str, *, connected: bool) -> ServiceFailure:
        """The failure of a connection; `connected` if it broke only after it stood."""
        where = f"{self.endpoint.provider} ({self.endpoint.place})"
        if self.endpoint.local and not connected:
            start = f"Start the server of provider {self.endpoint.provider}, or correct its base_url."
            if self._is_ollama:
                start = f"Start it with `ollama serve`, then get the model with `ollama pull {self.profile.model}`."
            return ServiceFailure(
                f"No server answers at {self.endpoint.place} for profile {self.profile_name}.",
                kind="not_running",
                remedy=start,
            )
        reason = self.endpoint.safe(reason)
        return ServiceFailure(
            f"{where} cannot be reached{': ' + reason if reason else ''}.",
            kind="unreachable",
            remedy="Check the network connection, a proxy or firewall, and the provider's base_url.",
        )

    def of_page(self) -> ServiceFailure:
        """The failure of a request that was answered with a web page: nobody there speaks the protocol."""
        return ServiceFailure(
            f"{self._who} gave a web page instead of an answer.",
            kind="address",
            remedy="Correct the provider's base_url, or log in at the proxy that sent it.",
        )

    def of_break(self, reason: str, usage: Usage) -> ServiceFailure:
        """The failure of an answer that ended in the middle; `usage` is what it may have cost."""
        reason = self.endpoint.safe(reason)
        return ServiceFailure(
            f"The answer of {self._who} broke off{': ' + reason if reason else ''}.",
            kind="broken",
            remedy="Try again, or switch streaming off with CODUR_LLM__STREAM=false.",
            usage=usage,
        )

    @property
    def _who(self) -> str:
        return f"{self.endpoint.provider} ({self.profile.model})"

    def _words(self, kind: FailureKind, status: int, said: str, wait: float | None) -> tuple[str, str]:
        if kind in {"key", "forbidden"}:
            return self._key_words(status, said)
        name, provider = f"llm.profiles.{self.profile_name}", self.endpoint.provider
        known = {"name": name, "provider": provider, "model": self.profile.model, "place": self.endpoint.place}
        again = spoken(wait) if wait else "a few minutes"
        told = {"who": self._who, "status": status, "said": said, "again": again}
        message, remedy = (text.format(**known, **told) for text in _WORDS[kind])
        limit = said_limit(said) if kind == "too_large" else None
        if kind == "model" and self._is_ollama:
            remedy = f"Get it with `ollama pull {self.profile.model}`."
        elif limit is not None and limit.window:
            remedy = f"Set {name}.context_window to {limit.limit}, or use another profile."
        elif kind == "request" and _ANSWER_FORMAT.search(said):
            remedy = f"Set {name}.json_mode to object, or to text."
        return message, remedy

    def _key_words(self, status: int, said: str) -> tuple[str, str]:
        variable = self.endpoint.key_env
        if not variable:
            remedy = f"Name the variable with the key in providers.{self.endpoint.provider}.api_key_env."
            return f"{self.endpoint.provider} wants a key: status {status}{said}.", remedy
        if status == 403:
            words = f"{self.endpoint.provider} does not allow this with the key in {variable}: status 403{said}."
            return words, f"Check what the key in {variable} may do, and that the model is open to the account."
        words = f"{self.endpoint.provider} refused the key in {variable}: status {status}{said}."
        return words, f"Set {variable} to a valid key."

    @property
    def _is_ollama(self) -> bool:
        return "ollama" in self.endpoint.provider or self.endpoint.base_url.partition("//")[2].split("/")[0].endswith(
            ":11434"
        )


def error_of(body: Any) -> Mapping[str, Any]:
    """The error object of a decoded response body; empty if there is none."""
    error = body.get("error") if isinstance(body, Mapping) else None
    return error if isinstance(error, Mapping) else {}


def status_of_error(error: Mapping[str, Any]) -> int:
    """The HTTP status that an error within an answer stands for; 500 if it does not tell."""
    for name in ("status_code", "status", "code", "type"):
        value = error.get(name)
        # OpenRouter and others put the status into `code`
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
            return value
        if isinstance(value, str) and re.fullmatch("[45][0-9]{2}", value):
            return int(value)
        if isinstance(value, str) and value in _STATUS_OF_WORD:
            return _STATUS_OF_WORD[value]
    return _UNKNOWN_STATUS


def _never_fits(kind: FailureKind, error: Mapping[str, Any], said: str) -> bool:
    """Whether a refusal means that the request is too long for the model, or for the limit of a whole minute."""
    if kind == "rate_limit":
        told = said_limit(said)
        return told is not None and told.requested > told.limit
    return kind in {"request", "service"} and is_too_long(f"{error.get('type')} {error.get('code')} {said}")


def _is_wrong_address(error: Mapping[str, Any]) -> bool:
    """Whether a refusal is about the path: services that know it answer with an error object about the model."""
    words = str(error.get("message") or "").strip()
    return not error or error.get("code") in _WRONG_ADDRESS_CODES or bool(_WRONG_ADDRESS.fullmatch(words))


def _kind_by_words(kind: FailureKind, error: Mapping[str, Any]) -> FailureKind:
    """What is wrong with a request by the words of its refusal, where the status says less; else `kind`."""
    words = str(error.get("message") or "")
    if error.get("type") in _UNKNOWN_KEY_TYPES:
        return "key"
    if kind == "request" and _UNKNOWN_MODEL.search(words):
        return "model"
    return "request" if _ANSWER_FORMAT.search(words) else kind  # llama-cpp-python refuses a schema with status 500


def _said(body: Any, error: Mapping[str, Any]) -> str:
    """The service's own words; pages of HTML are left out."""
    told = (error.get("message"), body.get("error"), body.get("detail")) if isinstance(body, Mapping) else (body,)
    for words in told:
        if isinstance(words, str) and "<html" not in words.lower() and "<!doctype" not in words.lower():
            return words.strip().rstrip(".")
    return ""
