"""Agents by name: what the settings declare, and which one gets which work."""

from collections.abc import Callable, Mapping

from msgspec import structs

from codur.config.reading.agent_files import shipped_agent, shipped_names
from codur.config.settings import AUTO, EXTERNAL_TYPES, AgentConfig, Settings
from codur.errors import UsageError
from codur.lazy import late
from codur.structs import Struct
from codur.types import CODE_TASKS, Discovery, TaskType

difflib = late("difflib")

CODING_AGENT = "codur-coding"
EXPLAINING_AGENT = "codur-explaining"


class Agent(Struct):
    """A configured agent, or `llm:PROFILE`, with its profile settled; one that is another program has none."""

    name: str
    profile: str
    config: AgentConfig

    @property
    def external(self) -> bool:
        """Whether it is another program, which works in a copy of the workspace."""
        return self.config.type in EXTERNAL_TYPES


class AgentRegistry:
    """The agents of the settings, and those that are shipped: these are read when one is first named."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._configs: Mapping[str, AgentConfig] = settings.agents.configs
        self._shipped: dict[str, AgentConfig | None] = {}

    def names(self) -> tuple[str, ...]:
        """Names of all declared agents."""
        return tuple(self._configs)

    def described(self, can_run: Callable[[Agent], bool], *, cost: Callable[[Agent], str]) -> list[tuple[str, str]]:
        """Each agent that a plan may name and that can run, by the name with what it costs, and its description."""
        known = dict.fromkeys((*self.names(), *shipped_names()))
        found = [agent for name in known if self.knows(name) and can_run(agent := self.resolve(name))]
        return [(f"{agent.name} ({cost(agent)})", agent.config.description) for agent in found]

    def knows(self, reference: str) -> bool:
        """Whether a reference names an agent or profile."""
        kind, name = _split(reference)
        return name in self._settings.llm.profiles if kind == "llm" else self._config(name) is not None

    def resolve(self, reference: str, *, in_words: bool = False) -> Agent:
        """The agent of a reference: `agent:NAME`, `llm:PROFILE`, or a plain name.

        `llm:PROFILE` means the explaining agent on that profile if it works `in_words`, otherwise the coding agent.
        Raises UsageError: nothing of that name; the message names what there is.
        """
        kind, name = _split(reference)
        if kind == "llm" and name in self._settings.llm.profiles:
            default = AgentConfig(type="llm" if in_words else "coding", prompt="explaining" if in_words else "coding")
            config = self._configs.get(EXPLAINING_AGENT if in_words else CODING_AGENT) or default
            return Agent(name=f"llm:{name}", profile=name, config=structs.replace(config, profile=name))
        found = self._config(name) if kind != "llm" else None
        if found is not None:
            external = found.type in EXTERNAL_TYPES
            profile = "" if external else found.profile or self._settings.llm.default_profile
            return Agent(name=name, profile=profile, config=found)
        known = sorted(self._settings.llm.profiles if kind == "llm" else {*self.names(), *shipped_names()})
        near = difflib.get_close_matches(name, known, n=2)
        raise UsageError(
            f"there is no {'profile' if kind == 'llm' else 'agent'} named {name!r}",
            remedy=f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(known)}.",
        )

    def for_task(self, task_type: TaskType, *, explicit: str | None = None, files: int = 0) -> Agent:
        """The agent for a task: the one the user named, else the one that routing gives its type, else the default.

        What routing does not name by its type goes by its kind: code in more than one file is `multifile`, new code and
        restructuring are `complex`, other code is `simple`; what no rule knows is `reasoning`.
        """
        preferences = self._settings.agents.preferences
        keys = (task_type, *_kinds(task_type, files))
        routed = next((preferences.routing[key] for key in keys if key in preferences.routing), None)
        return self.resolve(explicit or routed or preferences.default_agent, in_words=task_type not in CODE_TASKS)

    def for_discovery(self, discovery: Discovery, *, explicit: str | None = None) -> Agent:
        """As `for_task`, for what is known of a task."""
        return self.for_task(discovery.task_type, explicit=explicit, files=len(discovery.files))

    def codes(self, reference: str) -> bool:
        """Whether a reference names an agent whose work is to edit."""
        if not self.knows(reference):
            return False
        agent = self.resolve(reference)
        return agent.external or agent.config.type == "coding"

    def only_codes(self, reference: str) -> bool:
        """Whether a reference names one of Codur's agents that edits files whatever it is asked."""
        return self.knows(reference) and self.resolve(reference, in_words=True).config.type == "coding"

    def is_external(self, reference: str) -> bool:
        """Whether a reference names an agent that is another program."""
        return self.knows(reference) and self.resolve(reference).external

    def fallbacks(self, *, besides: str, in_words: bool) -> tuple[Agent, ...]:
        """The agents of `fallback_order`, without this one."""
        order = self._settings.agents.preferences.fallback_order
        agents = [self.resolve(reference, in_words=in_words) for reference in order]
        return tuple(agent for agent in agents if agent.name != besides)

    def coding(self, *, explicit: str | None = None) -> Agent:
        """The agent for edits."""
        return self.resolve(explicit or self._settings.agents.preferences.default_agent)

    def _config(self, name: str) -> AgentConfig | None:
        """The agent of that name; a shipped one needs its profile, where it has one."""
        if name in self._configs:
            return self._configs[name]
        if name not in self._shipped:
            self._shipped[name] = shipped_agent(name)
        config = self._shipped[name]
        return config if config and (config.profile or AUTO) in {AUTO, *self._settings.llm.profiles} else None


def _kinds(task_type: TaskType, files: int) -> tuple[str, ...]:
    """The keys of routing that fit a task beside its type, the narrowest first."""
    if task_type == "unknown":
        return ("reasoning",)
    if task_type not in CODE_TASKS:
        return ()
    size = "simple" if task_type == "code_fix" else "complex"
    return ("multifile", size) if files > 1 else (size,)


def _split(reference: str) -> tuple[str, str]:
    kind, colon, name = reference.partition(":")
    return (kind, name) if colon and kind in {"agent", "llm"} else ("agent", reference)
