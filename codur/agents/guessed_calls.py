"""Calls that were mended before they could be read: good enough to look at something, not to change it."""

from codur.tools.toolbox import Toolbox
from codur.types import ToolCall

_EFFECTS = {"write": "changes files", "run": "starts a program", "network": "uses the network"}


def refusal(call: ToolCall, toolbox: Toolbox) -> str:
    """Why the call is not carried out, or an empty text."""
    tool = toolbox.get(call.name)
    if not call.repaired or tool is None or tool.side_effect == "read":
        return ""
    return (
        f"{call.name} {_EFFECTS[tool.side_effect]}, and its call is not JSON by the letter, so that what is meant is a"
        " guess; nothing was done; write the call again as correct JSON"
    )
