"""What a tool is, and what it may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codur.config.settings import ToolSettings
from codur.errors import CodurError
from codur.redaction import REDACTED
from codur.types import CODE_TASKS, SideEffect, TaskType, ToolCode, ToolResult
from codur.workspace.workspace import Workspace

if TYPE_CHECKING:
    from codur.mcp.servers import McpServers
    from codur.sandbox.launcher import Launcher

READING_TASKS: frozenset[TaskType] = CODE_TASKS | {"search", "explanation", "file_operation", "unknown"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What tools work on and with.

    Attributes:
        python: the interpreter for the workspace's programs.
        timeout_s: wall time of one program that a tool starts, in seconds.
        mcp: the configured MCP servers; None if there are none.
    """

    workspace: Workspace
    launcher: Launcher
    python: str
    settings: ToolSettings
    timeout_s: float
    mcp: McpServers | None = None

    def write(self, path: str, text: str) -> None:
        """Write a file's text as a tool was given it.

        Raises:
            ToolError: it holds the mark that stands for a secret where the file does not: the secret would be lost.
            WorkspaceError: as `Workspace.write_text`.
        """
        if REDACTED in text and text.count(REDACTED) > self._marks(path):
            raise ToolError(
                "refused", f"{path}: {REDACTED} stands for a secret that is not shown; leave that part as it is"
            )
        self.workspace.write_text(path, text)

    def _marks(self, path: str) -> int:
        return self.workspace.peek_text(path).count(REDACTED) if self.workspace.is_file(path) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One row of the catalogue.

    Attributes:
        description: one or two sentences for people and models.
        input: a frozen dataclass; its fields are the arguments, with `doc` in their metadata.
        run: does it; may raise `ToolError` or `WorkspaceError`, and then has changed nothing.
        task_types: kinds of request that it serves.
    """

    name: str
    description: str
    input: type
    run: Callable[[ToolContext, Any], ToolResult]
    side_effect: SideEffect
    task_types: frozenset[TaskType]


class ToolError(CodurError):
    """A tool cannot do what was asked; `Toolbox.call` turns it into a result with this code."""

    def __init__(self, code: ToolCode, message: str) -> None:
        super().__init__(message)
        self.code: ToolCode = code
