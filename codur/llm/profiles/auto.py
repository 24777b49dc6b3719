"""Which profiles `auto` stands for: Groq's if its key is set, else one of a local server that runs, else none."""

from collections.abc import Collection, Mapping

from msgspec import structs

from codur.config.settings import Profile, Provider, Settings
from codur.llm.profiles.endpoint import is_local, key_of, key_problem
from codur.llm.profiles.local_models import matching, served_models
from codur.structs import Struct, field

_LOCAL = "local"
_OLLAMA = "ollama"


class AutoChoice(Struct):
    """What was found."""

    # default, fast: names of profiles; where nothing was found, of those that would be asked if they had their key
    default: str
    fast: str
    found: bool  # whether they can be asked
    reason: str  # why it is these, in a sentence
    remedy: str = ""  # where nothing was found, what to do about it, in a sentence
    server: str = ""  # where the local server answers, if it is one of its models; else empty
    # profiles that differ from those of the settings, by name
    profiles: Mapping[str, Profile] = field(default_factory=dict)


def choose_profiles(settings: Settings, environ: Mapping[str, str], *, given: Collection[str] = ()) -> AutoChoice:
    """Find out what `auto` stands for; looks once whether the local server runs, and only if Groq has no key. Those of
    the names `given` can be asked whatever the settings say.
    """
    groq = [name for name in settings.llm.profiles if _provider(settings, name).api == "groq"]
    # A key that the user has set is a choice; a server that happens to run is none, and is looked for only without one.
    providers = {name: _provider(settings, name) for name in groq}
    usable = [name for name in groq if not providers[name].api_key_env or key_of(providers[name], environ)]
    ready = [name for name in groq if name in given or name in usable]
    ready = ready or [name for name in settings.llm.profiles if name in given]
    if ready:
        variable = _provider(settings, ready[0]).api_key_env
        reason = f"{variable} is set." if variable and ready[0] not in given else "From the recording."
        return AutoChoice(default=ready[0], fast=_cheapest(settings, ready), found=True, reason=reason)
    why = _sentence(key_problem(_provider(settings, groq[0]), environ) if groq else "no profile of Groq is set up")
    variable = _provider(settings, groq[0]).api_key_env if groq else ""
    ways = [f"set it with `export {variable}=…`"] if variable else []
    local = _local(settings)
    if local:  # the server's model for that profile, or any other that it has
        profile, url = settings.llm.profiles[local], _provider(settings, local).base_url or ""
        names = served_models(url)
        model = matching(profile.model, names or ())
        if model:
            reason = f"{why}, and {model} is served at {url}."
            changed = {} if model == profile.model else {local: structs.replace(profile, model=model)}
            return AutoChoice(default=local, fast=local, found=True, reason=reason, server=url, profiles=changed)
        why += f", and nobody answers at {url}" if names is None else f", and the server at {url} has no model"
        ways.append(_start(profile, url, runs=names is not None))
    remedy = f"{_sentence(', or '.join(ways))}." if ways else ""
    default = groq[0] if groq else local or next(iter(settings.llm.profiles), "")
    fast = _cheapest(settings, groq) if groq else default
    return AutoChoice(default=default, fast=fast, found=False, reason=f"{why}.", remedy=remedy)


def server_problem(settings: Settings, name: str) -> tuple[str, str]:
    """Why a local server cannot answer for a profile, and what to do, in sentences; both empty if nothing is known.

    Looks once whether it runs and has the profile's model; a profile that needs a key, or is elsewhere, is passed over.
    """
    profile, provider = settings.llm.profiles[name], _provider(settings, name)
    url = provider.base_url or ""
    if provider.api_key_env or not is_local(url):
        return "", ""
    names = served_models(url)
    if names is not None and matching(profile.model, names) in {profile.model, f"{profile.model}:latest"}:
        return "", ""
    problem = f"nobody answers at {url}" if names is None else f"the server at {url} does not have {profile.model}"
    return f"{_sentence(problem)}.", f"{_sentence(_start(profile, url, runs=names is not None))}."


def _start(profile: Profile, url: str, *, runs: bool) -> str:
    """What makes a local server answer, as a clause."""
    if profile.provider == _OLLAMA:
        pull = f"`ollama pull {profile.model}`"
        return f"give Ollama a model: {pull}" if runs else f"start Ollama: `ollama serve`, then {pull}"
    return f"load a model in the server at {url}" if runs else f"start the server at {url}"


def _local(settings: Settings) -> str:
    """The profile `local`, or else the first that needs no key and is asked on this machine; empty if there is none."""
    profiles = settings.llm.profiles
    for name in (_LOCAL, *profiles):
        provider = _provider(settings, name) if name in profiles else None
        if provider and not provider.api_key_env and (name == _LOCAL or is_local(provider.base_url or "")):
            return name
    return ""


def _cheapest(settings: Settings, names: list[str]) -> str:
    # Small questions have short answers, but output costs several times what input does. One whose price nobody has
    # told is not for nothing.
    priced = [name for name in names if settings.llm.profiles[name].price_out]
    return min(priced or names, key=lambda name: settings.llm.profiles[name].price_out)


def _provider(settings: Settings, name: str) -> Provider:
    return settings.providers.get(settings.llm.profiles[name].provider) or Provider()


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]
