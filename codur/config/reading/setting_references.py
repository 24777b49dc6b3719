"""Names in the settings that must name another setting: providers, profiles, agents, task types."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from codur.config.reading.origin import KeyPath, Source, shown
from codur.config.settings import AUTO, ROUTING_KINDS, Settings
from codur.types import TaskType


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reference:
    path: KeyPath
    name: str
    what: str
    known: Collection[str]


def check_references(settings: Settings, origins: Mapping[tuple[str, ...], Source]) -> None:
    """Find the first name that names nothing.

    Args:
        origins: the source that each setting was last taken from; what is missing is a default.

    Raises:
        ConfigError: with the place of the name.
    """
    for reference in _references(settings):
        if reference.name not in reference.known:
            raise _error(reference, origins)


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


def _error(reference: _Reference, origins: Mapping[tuple[str, ...], Source]) -> Exception:
    from difflib import get_close_matches  # noqa: PLC0415 - lazy: only for a message

    from codur.config.reading.agent_files import shipped_names  # noqa: PLC0415 - lazy: only for a message

    known = sorted({*reference.known, *(shipped_names() if reference.what == "agent" else ())})
    close = get_close_matches(reference.name, known, n=1)
    remedy = f"Did you mean {close[0]}?" if close else f"Known: {', '.join(known)}."
    leaf = tuple(part for part in reference.path if isinstance(part, str))
    source = origins.get(leaf, Source(name="defaults", values={}))
    return source.error(reference.path, f"there is no {reference.what} {shown(reference.name)}", remedy)
