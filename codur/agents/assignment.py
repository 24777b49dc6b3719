"""An agent at work: who answers, and with what."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from codur.agents.registry import Agent
from codur.config.prompts import PromptLibrary
from codur.config.settings import Profile
from codur.context.brief import CodingBrief
from codur.events import Emit, ignore
from codur.llm.pool import ModelPool
from codur.structs import Struct
from codur.tools.toolbox import Toolbox
from codur.workspace.workspace import Workspace


class Assignment(Struct):
    """Who answers, with which `instructions` ending the system prompt; `heard` gives what the user said since."""

    agent: Agent
    profile: Profile
    pool: ModelPool
    prompts: PromptLibrary
    toolbox: Toolbox
    emit: Emit = ignore
    instructions: str = ""
    heard: Callable[[], Sequence[str]] = tuple

    @property
    def native(self) -> bool:
        """Whether tools are called by the service's own calls, not in text."""
        return self.profile.tool_calls == "native"

    def system_prompt(self, default: str, *, short: bool = False, **values: str) -> str:
        """The prompt that the agent's settings name, or the text that they hold.

        Args:
            default: name of the prompt for an agent whose settings say nothing.
            short: take the short form of the prompt, if there is one.
            values: what prompts of the library may have holes for; a text of the settings is taken as it is.
        """
        prompts, wanted = self.prompts, self.agent.config.prompt or default
        if short and prompts.has(f"{wanted}.short"):
            wanted = f"{wanted}.short"
        if not prompts.has(wanted):
            return wanted
        holes = prompts.holes(wanted)
        return prompts.render(wanted, **{name: value for name, value in values.items() if name in holes})


class CodingTask(Struct):
    """One step of the coding agent."""

    brief: CodingBrief
    workspace: Workspace
    # the file to be changed, and meant by an answer that is bare code; None if no single file is meant
    target: str | None
    whole_file_lines: int
    read_text_calls: bool  # whether tool calls written as text count
    source_tokens: int | None = None  # tokens of source text at most; None: as many as the profile has room for
    max_looks: int = 0  # answers that may look at more, before the one with the edits
    # runs the check on the files as they are, and gives what it said; None if there is none
    run_check: Callable[[], str] | None = None
    asking: Literal["user", "nobody", "asked"] = "nobody"  # whether the user can be asked, or was
    may_finish: bool = False  # tests fail that may not be about the task, so that it may be done all the same
    temperature: float | None = None  # instead of the profile's, if that has one
    guarded: frozenset[str] = frozenset()  # tests that may be changed if the user says so: he is asked
    fixed: frozenset[str] = frozenset()  # tests that decide, and that nobody can be asked about: they stay
    addable: frozenset[str] = frozenset()  # tests to which lines may be added, and none taken out
    gone: frozenset[str] = frozenset()  # names of code: but for what of these tests uses one
    deletable: frozenset[str] | None = None  # files that it may delete; None: as its tools say
    # gives a copy to look and to edit in, instead; it is waited for when the first answer is there
    elsewhere: Callable[[], Awaitable[tuple[Toolbox, Workspace]]] | None = None
