"""Names in the settings that must name another setting: providers, profiles, agents, task types."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args

from msgspec import structs

from codur.config import reading
from codur.config.reading.origin import KeyPath, Problem, did_you_mean, shown
from codur.config.settings import AUTO, ROUTING_KINDS, AgentPreferences, Profile, Settings
from codur.types import TaskType

_Reference = tuple[KeyPath, str, str, Collection[str]]
"""Where a name stands, the name, what it is the name of, and the names that there are."""


def incomplete_profiles(profiles: Mapping[str, Mapping[str, Any]]) -> Iterator[Problem]:
    """Profiles, as mappings, that lack a key without a default."""
    needed = [item.name for item in structs.fields(Profile) if item.required]
    for name, profile in profiles.items():
        keys = " and ".join(key for key in needed if key not in profile)
        if keys:
            remedy = f"Add {keys}, or correct the entry's name."
            yield ("llm", "profiles", name), f"a new entry needs {keys}", remedy


def dangling_references(settings: Settings) -> Iterator[Problem]:
    """Names that name nothing."""
    for path, name, what, names in _references(settings):
        if name not in names:
            known = sorted({*names, *(reading.agent_files.shipped_names() if what == "agent" else ())})
            remedy = did_you_mean(name, known, f"Known: {', '.join(known)}.")
            yield path, f"there is no {what} {shown(name)}", remedy


def _references(settings: Settings) -> Iterator[_Reference]:
    llm, agents = settings.llm, settings.agents
    for name, profile in llm.profiles.items():
        yield ("llm", "profiles", name, "provider"), profile.provider, "provider", settings.providers
    for path, name in (
        *((("llm", key), getattr(llm, key)) for key in ("default_profile", "fast_profile")),
        *_items(("llm", "fallback_profiles"), llm.fallback_profiles),
        *_items(("agents", "coding", "sample_profiles"), agents.coding.sample_profiles),
        *((("agents", "configs", agent, "profile"), config.profile) for agent, config in agents.configs.items()),
    ):
        chosen_later = name is None or (name == AUTO and path[-1] in ("default_profile", "fast_profile"))
        if not chosen_later:
            yield path, name, "profile", llm.profiles
    for task_type in agents.preferences.routing:
        route = ("agents", "preferences", "routing", task_type)
        yield route, task_type, "task type", (*get_args(TaskType), *ROUTING_KINDS)
    for path, name in _agents(("agents", "preferences"), agents.preferences):
        if name.startswith("llm:"):
            yield path, name.removeprefix("llm:"), "profile", llm.profiles
        else:
            yield path, name.removeprefix("agent:"), "agent", agents.configs


def _agents(here: KeyPath, preferences: AgentPreferences) -> Iterator[tuple[KeyPath, str]]:
    yield (*here, "default_agent"), preferences.default_agent
    yield from _items((*here, "fallback_order"), preferences.fallback_order)
    yield from _items((*here, "escalation"), preferences.escalation)
    yield from (((*here, "routing", task_type), name) for task_type, name in preferences.routing.items())


def _items(path: KeyPath, names: Collection[str]) -> Iterator[tuple[KeyPath, str]]:
    return (((*path, index), name) for index, name in enumerate(names))
