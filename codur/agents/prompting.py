"""An agent's system prompt."""

from __future__ import annotations

from codur.agents.registry import Agent
from codur.config.prompts import PromptLibrary


def system_prompt(agent: Agent, prompts: PromptLibrary, *, default: str, short: bool = False, **values: str) -> str:
    """The prompt that the agent's settings name, or the text that they hold.

    Args:
        default: name of the prompt for an agent whose settings say nothing.
        short: take the short form of the prompt, if there is one.
        values: what prompts of the library may have holes for; a text of the settings is taken as it is.
    """
    wanted = agent.config.prompt or default
    if short and prompts.has(f"{wanted}.short"):
        wanted = f"{wanted}.short"
    if not prompts.has(wanted):
        return wanted
    return prompts.render(wanted, **{name: value for name, value in values.items() if name in prompts.holes(wanted)})
