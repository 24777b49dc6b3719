"""Agents that are other programs: they work in a copy of the workspace, and nothing of what they say is believed."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.agents.external import delegation, server

__all__ = ["delegation", "server"]
__getattr__ = parts_of(__name__)
