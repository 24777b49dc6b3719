"""How large the requests to a profile are made: what its settings, its model's window and its service allow."""

import math

from msgspec import structs

from codur.config.settings import Profile
from codur.errors import LimitReached
from codur.llm.gate import Gate
from codur.llm.pool_options import PoolOptions
from codur.llm.profiles.endpoint import is_local
from codur.llm.profiles.local_models import served_window
from codur.llm.profiles.profiles import Profiles
from codur.llm.rate_limits.demand import Most
from codur.llm.tokens import SMALLEST_ANSWER, estimate_tokens

_AROUND_TOKENS = 1000  # what a request holds beside the task at least: instructions, tools, the situation


class Sizing:
    """The sizes of one run's requests; a ConfigError where there is no such profile, or its provider cannot be used.

    Args:
        gate: knows what services have told in this run.
        options: what they told before (`remembered`), and models that are no service's.
    """

    def __init__(self, profiles: Profiles, gate: Gate, options: PoolOptions) -> None:
        self._profiles = profiles
        self._gate = gate
        self._given = options.models
        self._remembered = options.remembered
        self._now = options.clock.now
        self._recalled: set[str] = set()
        self._looked: set[str] = set()

    def fitted(self, name: str) -> Profile:
        """The profile as requests should be made for it, in tokens by our own estimate."""
        name, profile = self._named(name)
        if name not in self._given:  # models that are given are no service's: nothing is told of them
            self._recall(name, profile)
            self._look(name, profile)
        most = int(min(profile.request_tokens, self._gate.most_tokens(profile)))
        # Half at most, or a small window would leave no room for what the answer is about.
        answer = min(profile.max_completion_tokens, max(SMALLEST_ANSWER, most // 2))
        if (most, answer) == (profile.request_tokens, profile.max_completion_tokens):
            return profile
        return structs.replace(profile, request_tokens=max(1, most), max_completion_tokens=answer)

    def require_room(self, name: str, task: str) -> None:
        """LimitReached, before anything is spent, if a profile cannot be told a task whole, whatever is left out."""
        needed = estimate_tokens(task) + _AROUND_TOKENS + SMALLEST_ANSWER
        if needed > self.fitted(name).request_tokens:
            raise self.too_small("The task", name, needed)

    def too_small(self, what: str, name: str, needed: int) -> LimitReached:
        """The error for what cannot be told to a profile, because it needs so many tokens."""
        name, profile = self._named(name)
        most = self.fitted(name).request_tokens
        raised = f"raise llm.profiles.{name}.request_tokens" if most == profile.request_tokens else ""
        ways = ", or ".join(filter(None, ("Put what is not needed at once into a file", raised, "use another profile")))
        return LimitReached(
            f"{what} would need a request of about {needed:,} tokens, and {profile.provider} ({profile.model}) "
            f"gets {most:,} at most.",
            remedy=f"{ways}.",
        )

    def keep(self, name: str) -> None:
        """Remember what a profile's service has told."""
        if self._remembered is not None and name not in self._given:
            profile = self._profiles.get(name)
            self._remembered.keep(self._fingerprint(name, profile), profile, self._gate.known(profile), self._now())

    def told(self, name: str, *, look: bool = True) -> str:
        """How large requests to a profile are made and why, as a clause; `look`: ask a local server for its window."""
        name, profile = self._named(name)
        if not look:
            self._looked.add(name)
        most = self.fitted(name).request_tokens
        known, window = self._gate.known(profile), profile.context_window
        size = f"requests of up to {most:,} tokens"
        if window and known.window < window:
            return f"{size}: context_window says {window:,}, but it has told of {int(known.window):,}"
        if most < profile.request_tokens:
            a_minute = min(known.a_minute, self._profiles.rules(profile).tokens_per_minute or math.inf)
            by_window = min(known.window, window or math.inf) <= a_minute
            return f"{size}, {'its context window' if by_window else 'which its service allows a minute'}"
        return size if window or known.window < math.inf else f"{size}; its context window is not known"

    def _named(self, name: str) -> tuple[str, Profile]:
        name = self._profiles.named(name)
        return name, self._given[name].profile if name in self._given else self._profiles.get(name)

    def _recall(self, name: str, profile: Profile) -> None:
        if self._remembered is None or name in self._recalled:
            return
        self._recalled.add(name)
        known = self._gate.known(profile)
        if known == Most():
            before = self._remembered.recall(self._fingerprint(name, profile), self._now())
            self._gate.recall(profile, before or known)

    def _fingerprint(self, name: str, profile: Profile) -> str:
        return self._profiles.endpoint(name).fingerprint(profile.model)

    def _look(self, name: str, profile: Profile) -> None:
        """Ask a local server for its model's window, until it has loaded the model and so settled on one."""
        provider = self._profiles.provider_of(name)
        if name in self._looked or profile.context_window or provider.api_key_env:
            return
        if provider.api != "openai" or not is_local(provider.base_url or ""):
            return
        found = served_window(provider.base_url or "", profile.model)
        if found is None or found.settled:
            self._looked.add(name)
        if found is not None:
            # A loaded model's window is a fact; until then the smallest figure that was heard counts.
            before = math.inf if found.settled else self._gate.known(profile).window
            self._gate.recall(profile, Most(window=min(found.tokens, before)))
