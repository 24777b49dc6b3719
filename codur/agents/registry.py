"""Agents by name: what the settings declare, and which one gets which work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from codur.config.settings import AgentConfig, Settings
from codur.errors import UsageError
from codur.types import CODE_TASKS, TaskType

CODING_AGENT = "codur-coding"
EXPLAINING_AGENT = "codur-explaining"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A configured agent with its profile settled.

    Attributes:
        name: the name in `agents.configs`, or `llm:PROFILE`.
        profile: name of the profile it uses.
    """

    name: str
    profile: str
    config: AgentConfig


class AgentRegistry:
    """The agents of the settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._configs: Mapping[str, AgentConfig] = settings.agents.configs

    def names(self) -> tuple[str, ...]:
        """Names of all declared agents."""
        return tuple(self._configs)

    def described(self) -> tuple[tuple[str, str], ...]:
        """Name and description of each agent."""
        return tuple((name, config.description) for name, config in self._configs.items())

    def knows(self, reference: str) -> bool:
        """Whether a reference names an agent or profile."""
        kind, name = _split(reference)
        return name in (self._settings.llm.profiles if kind == "llm" else self._configs)

    def resolve(self, reference: str, *, in_words: bool = False) -> Agent:
        """The agent of a reference: `agent:NAME`, `llm:PROFILE`, or a plain name.

        Args:
            in_words: what `llm:PROFILE` means: the explaining agent on that profile; otherwise the coding agent.

        Raises:
            UsageError: nothing of that name; the message names what there is.
        """
        kind, name = _split(reference)
        if kind == "llm" and name in self._settings.llm.profiles:
            config = self._explaining_config() if in_words else self._coding_config()
            return Agent(name=f"llm:{name}", profile=name, config=replace(config, profile=name))
        if kind != "llm" and name in self._configs:
            config = self._configs[name]
            return Agent(name=name, profile=config.profile or self._settings.llm.default_profile, config=config)
        known = tuple(self._settings.llm.profiles) if kind == "llm" else self.names()
        near = get_close_matches(name, known, n=1)
        raise UsageError(
            f"there is no {'profile' if kind == 'llm' else 'agent'} named {name!r}",
            remedy=f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}.",
        )

    def for_task(self, task_type: TaskType, *, explicit: str | None = None) -> Agent:
        """The agent for a task: the one the user named, else the one that routing gives its type, else the default."""
        preferences = self._settings.agents.preferences
        reference = explicit or preferences.routing.get(task_type, preferences.default_agent)
        return self.resolve(reference, in_words=task_type not in CODE_TASKS)

    def codes(self, reference: str) -> bool:
        """Whether a reference names an agent that edits."""
        return self.knows(reference) and self.resolve(reference).config.type == "coding"

    def coding(self, *, explicit: str | None = None) -> Agent:
        """The agent for edits."""
        return self.resolve(explicit or self._settings.agents.preferences.default_agent)

    def _coding_config(self) -> AgentConfig:
        return self._configs.get(CODING_AGENT) or AgentConfig(type="coding", prompt="coding")

    def _explaining_config(self) -> AgentConfig:
        return self._configs.get(EXPLAINING_AGENT) or AgentConfig(type="llm", prompt="explaining")


def _split(reference: str) -> tuple[str, str]:
    kind, colon, name = reference.partition(":")
    return (kind, name) if colon and kind in {"agent", "llm"} else ("agent", reference)
