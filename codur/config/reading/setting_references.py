"""Names in the settings that must name another setting: providers, profiles, agents, task types."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args

from msgspec import Struct, structs

from codur.config import reading
from codur.config.reading.origin import KeyPath, Problem, did_you_mean, shown
from codur.config.settings import AUTO, ROUTING_KINDS, Profile, Settings
from codur.types import TaskType


class _Reference(Struct, frozen=True, kw_only=True):
    path: KeyPath
    name: str
    what: str
    known: Collection[str]


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
    for reference in _references(settings):
        if reference.name not in reference.known:
            known = sorted(
                {*reference.known, *(reading.agent_files.shipped_names() if reference.what == "agent" else ())}
            )
            remedy = did_you_mean(reference.name, known, f"Known: {', '.join(known)}.")
            yield reference.path, f"there is no {reference.what} {shown(reference.name)}", remedy


def _references(settings: Settings) -> Iterator[_Reference]:
    yield from _providers(settings)
    yield from _profiles(settings)
    yield from _agents(settings)


def _providers(settings: Settings) -> Iterator[_Reference]:
    for name, profile in settings.llm.profiles.items():
        path = ("llm", "profiles", name, "provider")
        yield _Reference(path=path, name=profile.provider, what="provider", known=settings.providers)


def _profiles(settings: Settings) -> Iterator[_Reference]:
    llm = settings.llm
    names: list[tuple[KeyPath, str]] = [
        (("llm", "default_profile"), llm.default_profile),
        (("llm", "fast_profile"), llm.fast_profile),
    ]
    names += [(("llm", "fallback_profiles", index), name) for index, name in enumerate(llm.fallback_profiles)]
    names += [
        (("agents", "coding", "sample_profiles", index), name)
        for index, name in enumerate(settings.agents.coding.sample_profiles)
    ]
    names += [
        (("agents", "configs", agent, "profile"), config.profile)
        for agent, config in settings.agents.configs.items()
        if config.profile is not None
    ]
    for path, name in names:
        if name != AUTO or path[-1] not in ("default_profile", "fast_profile"):
            yield _Reference(path=path, name=name, what="profile", known=llm.profiles)


def _agents(settings: Settings) -> Iterator[_Reference]:
    preferences = settings.agents.preferences
    here = ("agents", "preferences")
    names: list[tuple[KeyPath, str]] = [((*here, "default_agent"), preferences.default_agent)]
    names += [((*here, "fallback_order", index), name) for index, name in enumerate(preferences.fallback_order)]
    names += [((*here, "escalation", index), name) for index, name in enumerate(preferences.escalation)]
    for task_type, name in preferences.routing.items():
        route = (*here, "routing", task_type)
        yield _Reference(path=route, name=task_type, what="task type", known=(*get_args(TaskType), *ROUTING_KINDS))
        names.append((route, name))
    for path, name in names:
        if name.startswith("llm:"):
            plain, what, known = name.removeprefix("llm:"), "profile", settings.llm.profiles.keys()
        else:
            plain, what, known = name.removeprefix("agent:"), "agent", settings.agents.configs.keys()
        yield _Reference(path=path, name=plain, what=what, known=known)
