"""The profiles of a run: which name stands for which model, and where that is."""

from collections.abc import Mapping

from codur.config.settings import AUTO, Profile, Provider, Settings
from codur.errors import ConfigError
from codur.events import ModelChosen
from codur.llm.pool_options import PoolOptions
from codur.llm.profiles.auto import AutoChoice, choose_profiles
from codur.llm.profiles.endpoint import Endpoint, endpoint_of, is_local
from codur.llm.rate_limits.demand import Rules


class Profiles:
    """Profiles by name; what `auto` stands for is found out once, when it is first asked for.

    ConfigError, wherever a name is given, if the settings have no such profile or provider.

    Args:
        options: `models`, which can be asked whatever the settings say; `emit` gets what `auto` was found to stand for.
    """

    def __init__(self, settings: Settings, environ: Mapping[str, str], options: PoolOptions) -> None:
        self.environ = environ
        self.choice: AutoChoice | None = None  # what `auto` was found to stand for; None if nobody has asked so far
        self._settings = settings
        self._options = options

    @property
    def default(self) -> str:
        """Name of the profile that plans and codes."""
        name = self._settings.llm.default_profile
        return self.chosen().default if name == AUTO else name

    @property
    def fast(self) -> str:
        """Name of the profile for small questions."""
        name = self._settings.llm.fast_profile
        return self.chosen().fast if name == AUTO else name

    def chosen(self) -> AutoChoice:
        """What `auto` stands for; found out once, and told."""
        if self.choice is None:
            self.choice = choose_profiles(self._settings, self.environ, given=self._options.models)
            name = self.choice.default if self.choice.found else ""
            # After the choice is kept: `get` looks into it.
            model = self.get(name).model if name else ""
            self._options.emit(ModelChosen(profile=name, model=model, reason=self.choice.reason))
        return self.choice

    def named(self, profile: str) -> str:
        """The name of the profile that is meant: `auto` is the default one."""
        return self.default if profile == AUTO else profile

    def chain(self, profile: str) -> tuple[str, ...]:
        """The profiles that are asked for `profile`, in their order: itself, the default one, the fall-back ones."""
        return tuple(dict.fromkeys((self.named(profile), self.default, *self._settings.llm.fallback_profiles)))

    def get(self, name: str) -> Profile:
        """The settings of a profile."""
        changed = self.choice.profiles if self.choice else {}
        profile = changed.get(name) or self._settings.llm.profiles.get(name)
        if profile is None:
            known = ", ".join(sorted(self._settings.llm.profiles)) or "none"
            raise ConfigError(f"there is no profile {name!r}", key="llm.profiles", remedy=f"Profiles: {known}.")
        return profile

    def provider_of(self, name: str) -> Provider:
        """The provider of a profile."""
        profile = self.get(name)
        provider = self._settings.providers.get(profile.provider)
        if provider is None:
            known = ", ".join(sorted(self._settings.providers)) or "none"
            raise ConfigError(
                f"there is no provider {profile.provider!r}",
                key=f"llm.profiles.{name}.provider",
                remedy=f"Providers: {known}.",
            )
        return provider

    def endpoint(self, name: str) -> Endpoint:
        """Where a profile's model is asked, and with which key; ConfigError as `endpoint_of`."""
        return endpoint_of(self.get(name).provider, self.provider_of(name), self.environ)

    def rules(self, profile: Profile) -> Rules:
        """What is known beforehand of a model's limits. One on this machine has none that its answers could tell."""
        provider = self._settings.providers.get(profile.provider)
        if provider is None:
            return Rules()
        return Rules(
            requests_per_minute=profile.requests_per_minute or provider.requests_per_minute,
            tokens_per_minute=profile.tokens_per_minute or provider.tokens_per_minute,
            # A local server tells no limits, and a first request that goes alone would only cost time.
            probes=not is_local(provider.base_url or ""),
        )
