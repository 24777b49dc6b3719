"""What goes wrong with a server, in a tool's codes."""

from codur.errors import CodurError, Refused, UsageError
from codur.types import ToolCode


class McpError(CodurError):
    """A server cannot be used, or gave no usable answer; with the code of the tool call that asked for it."""

    def __init__(self, message: str, *, code: ToolCode = "failed", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.code: ToolCode = code


class McpRefused(McpError, Refused):
    """The call is not allowed: the tool is not as it was accepted, or the address is not to be asked."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message, code="refused", remedy=remedy)


class McpUsage(McpError, UsageError):
    """There is no such server or tool, or the arguments do not fit."""
