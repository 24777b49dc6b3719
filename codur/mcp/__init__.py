"""Servers that speak the Model Context Protocol: their sessions, their tools and resources, and the trust in them."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.mcp import connection, servers

__all__ = ["connection", "servers"]
__getattr__ = parts_of(__name__)
