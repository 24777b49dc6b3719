"""Who can be asked at present: which profiles have their key, which have failed, which rest."""

import math
from importlib.util import find_spec

from codur.llm.pool_options import PoolOptions
from codur.llm.profiles.endpoint import key_of, key_problem
from codur.llm.profiles.profiles import Profiles
from codur.llm.request_failure import LASTING, PAUSE_S, PAUSING, WHOLE_PROVIDER, ServiceFailure

_ALWAYS = "groq"


def installed(api: str) -> str:
    """The SDK that serves an api here; empty if there is none. Nothing is imported.

    The OpenAI protocol is spoken through Groq's SDK where OpenAI's is not installed.
    """
    if api != _ALWAYS and find_spec(api) is not None:  # found, not imported: an SDK takes a fifth of a second or more
        return api
    # Groq's SDK takes any path and body, so that it can speak OpenAI's protocol; Anthropic's is another one.
    return "" if api == "anthropic" else _ALWAYS


def missing(provider: str, api: str) -> ServiceFailure:
    """The failure of a provider whose SDK is not installed."""
    return ServiceFailure(
        f"The package for provider {provider} (api: {api}) is not installed.",
        kind="not_installed",
        remedy=f'Install it with `pip install "codur[{api}]"`.',
    )


class Availability:
    """What a run has found out about who answers.

    Args:
        patience_s: the longest wait for a rate limit; a profile whose limit is further away is not asked.
    """

    def __init__(self, profiles: Profiles, options: PoolOptions, *, patience_s: float) -> None:
        self._profiles = profiles
        self._given = options.models
        self._now = options.clock.now
        self._patience_s = patience_s
        self._failed: dict[str, tuple[ServiceFailure, float]] = {}
        self._paused: dict[str, tuple[ServiceFailure, float]] = {}
        self._standing_in: dict[str, str] = {}

    def blocked(self, name: str) -> ServiceFailure | None:
        """Why a profile need not be asked at present; None if it can be."""
        if name in self._given:
            return self._resting(name, "")
        profile, provider = self._profiles.get(name), self._profiles.provider_of(name)
        # The key before the package: who has no key need not install anything.
        if provider.api_key_env and not key_of(provider, self._profiles.environ):
            return self.no_key(name)
        if not installed(provider.api):
            return missing(profile.provider, provider.api)
        return self._resting(name, profile.provider)

    def no_key(self, name: str) -> ServiceFailure:
        """That a profile has no key; where `auto` came to nothing, all that it looked for."""
        auto = self._profiles.choice
        if auto is not None and not auto.found and name == auto.default:
            return ServiceFailure(auto.reason, kind="no_key", remedy=auto.remedy)
        provider = self._profiles.provider_of(name)
        return ServiceFailure(
            f"{key_problem(provider, self._profiles.environ)}.",
            kind="no_key",
            remedy=f"Set it with `export {provider.api_key_env}=…`.",
        )

    def pause(self, name: str) -> ServiceFailure | None:
        """Why a profile is asked after all others; None if it is not."""
        failure, until = self._paused.get(name, (None, 0.0))
        return failure if until > self._now() else None

    def remember(self, name: str, failure: ServiceFailure) -> None:
        """Take note of a failure that retries did not help."""
        if failure.kind in LASTING:
            self._failed[name] = (failure, math.inf)
        elif failure.kind in PAUSING:
            self._paused[name] = (failure, self._now() + PAUSE_S)
        elif failure.kind == "rate_limit" and failure.retry_after_s:
            # Not asked again until the rest of the wait is short enough to be waited for.
            self._failed[name] = (failure, self._now() + failure.retry_after_s - self._patience_s)

    def answered(self, wanted: str, name: str) -> str:
        """Take note that `name` answered for `wanted`; the profile that stood in for it till now, if it does again."""
        before = self._standing_in.pop(wanted, "")
        if name == wanted:
            return before
        self._standing_in[wanted] = name
        return ""

    def _resting(self, name: str, provider: str) -> ServiceFailure | None:
        for other, (failure, until) in self._failed.items():
            same = provider and other not in self._given and self._profiles.get(other).provider == provider
            if (other == name or (same and failure.kind in WHOLE_PROVIDER)) and until > self._now():
                return failure
        return None
