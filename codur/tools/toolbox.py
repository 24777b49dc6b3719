"""The one place through which tools are called: names, arguments, permission, errors and output bounds."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from codur import tools
from codur.config.tool_names import GONE, RENAMED
from codur.errors import CodurError, WorkspaceError
from codur.lazy import Made, late
from codur.mcp.offered_tools import server_of
from codur.parsing.bounded_text import MAX_PROBLEM, MAX_TEXT, bounded
from codur.structs import is_data, replace
from codur.tools.arguments import build, built_for, meant, schema
from codur.tools.catalogue import BY_NAME
from codur.tools.flow.outputs import to_json
from codur.tools.tool import Tool, ToolContext, ToolError, sentence
from codur.types import SideEffect, ToolCall, ToolResult, ToolSpec
from codur.workspace.private import may_hold_secrets
from codur.workspace.problems import FileError

futures = late("concurrent.futures")

difflib = late("difflib")

if TYPE_CHECKING:
    from codur.mcp.servers import McpServers
    from codur.sandbox.launcher import Launcher
    from codur.workspace.workspace import Workspace

_DOES: Mapping[str, str] = {"write": "changes files", "run": "starts a program", "network": "uses the network"}

__all__ = ["Tool", "ToolContext", "ToolError", "Toolbox"]


class Toolbox:
    """Tools bound to what they work on.

    Calls are taken for a model's: files that may hold secrets are refused to them, whichever the tool, so that no
    result can show one to a model.

    Args:
        context: the workspace, the launcher and the settings.
        tools: by their names; those of the catalogue are loaded when they are asked for.
    """

    def __init__(self, context: ToolContext, tools: Mapping[str, Tool] = BY_NAME) -> None:
        self._context = replace(context, tools=tools)
        self._for_models = replace(self._context, workspace=context.workspace.withholding(may_hold_secrets))
        self._tools = tools
        self._asked: dict[str, str] = {}
        self._lock = threading.Lock()

    def on(self, workspace: Workspace, launcher: Launcher) -> Toolbox:
        """The same tools for a copy of the workspace, where they can neither run the check nor ask the user."""
        context = replace(self._context, workspace=workspace, launcher=launcher, check=None, ask=None)
        return Toolbox(context, self._tools)

    @property
    def mcp(self) -> McpServers | None:
        """The MCP servers that the tools ask, if there are any."""
        return self._context.mcp

    def names(self) -> tuple[str, ...]:
        """All tools' names, sorted."""
        return tuple(sorted(self._tools))

    def effects(self, *named: str) -> Mapping[str, SideEffect]:
        """The side effect of each tool by its name, and by these: earlier names, or those of servers' tools."""
        found = [name for name in named if self.get(name) is not None]
        return Made([*found, *self.names()], lambda name: self._tools[RENAMED.get(name, name)].side_effect)

    def get(self, name: str) -> Tool | None:
        """The tool, or None. A server is asked for its tools when one of them is first named."""
        server = server_of(name)
        if server and name not in self._tools and self.mcp is not None and server in self.mcp.names():
            self._ask_server(server)
        return self._tools.get(RENAMED.get(name, name))

    def with_servers(self) -> list[str]:
        """Have the tools of all servers among `names` from now on; why some are not there, a sentence each."""
        servers = self.mcp.names() if self.mcp is not None else ()
        if servers:
            with futures.ThreadPoolExecutor(max_workers=len(servers)) as threads:
                list(threads.map(self._ask_server, servers))
        return self._reasons(servers)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Why tools of servers that are among `names` are not there, a sentence for each server."""
        return self._reasons(dict.fromkeys(server_of(name) for name in names if self.get(name) is None))

    def _reasons(self, servers: Iterable[str]) -> list[str]:
        return [f"{name}'s tools are not offered: {why}" for name in servers if (why := self._asked.get(name))]

    def _ask_server(self, name: str) -> None:
        """Take in a server's tools, once; one that cannot be used is remembered with the reason."""
        if name in self._asked:
            return
        try:
            found, why = tools.server_tools.server_tools(self._for_models, name), ""
        except CodurError as error:
            found, why = (), error.message
        with self._lock:
            self._asked[name] = why
            known, own = self._tools, {tool.name: tool for tool in found}
            self._tools = Made([*known, *own], lambda name: own[name] if name in own else known[name])

    def spec(self, name: str) -> ToolSpec:
        """The tool as a model sees it. Raises KeyError: there is no such tool."""
        tool = self._tools[RENAMED.get(name, name)]
        parameters = schema(tool.arguments) if tool.parameters is None else tool.parameters
        return ToolSpec(name=tool.name, description=tool.description, parameters=parameters)

    def specs(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        """Several tools as a model sees them. Raises KeyError: there is no such tool."""
        return tuple(self.spec(name) for name in names)

    def own_names(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments of a call under the tool's own names; those of no tool of Codur as they are."""
        tool = self._tools.get(RENAMED.get(name, name))
        return arguments if tool is None or tool.parameters is not None else meant(name, tool.arguments, arguments)

    def check(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Whether a call would be let through: `ok`, `invalid` or `refused`; nothing is run."""
        try:
            self._admit(name, arguments)
        except ToolError as error:
            return _sendable(ToolResult(code=error.code, text=_sentence(error)))
        return ToolResult()

    def guess_refused(self, call: ToolCall) -> str:
        """Why a call is not carried out that was mended before it could be read: good enough to look, not to change.

        Empty if it is.
        """
        tool = self.get(call.name)
        if not call.repaired or tool is None or tool.side_effect == "read":
            return ""
        return (
            f"{call.name} {_DOES[tool.side_effect]}, and its call is not JSON by the letter, so that what is meant is a"
            " guess; nothing was done; write the call again as correct JSON"
        )

    def call(self, name: str, arguments: Mapping[str, Any], *, by_user: bool = False) -> ToolResult:
        """Run a tool. What goes wrong is a result with a code and one sentence; then nothing was changed.

        The text is bounded and can be encoded in UTF-8, whatever is in the files and the arguments; `data` is plain
        JSON of the tool's kind of output.

        Args:
            by_user: the user's own words ask for this very call, and nobody else sees the result. Only a plan made by
                rules from the request is that. The tool calls of a user's plan file are not: what they give is kept
                where later steps, and so agents and models, can take it.
        """
        return _sendable(self._result(name, arguments, self._context if by_user else self._for_models))

    def _result(self, name: str, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        try:
            tool, given = self._admit(name, arguments)
            result = tool.run(context, given)
            return replace(result, data=to_json(result.data)) if is_data(result.data) else result
        except (ToolError, FileError) as error:
            return ToolResult(code=error.code, text=_sentence(error))
        except WorkspaceError as error:
            return ToolResult(code="refused", text=_sentence(error))
        except (OSError, ValueError, RecursionError, MemoryError) as error:
            # Arguments come from a model and files from anywhere: what a tool did not foresee must not end the run.
            match error:
                case ValueError():
                    return ToolResult(code="invalid", text=f"{name} cannot use these arguments: {error!s:.300}")
                case OSError():
                    reason = f"{error.strerror or error!s:.300}"
                case RecursionError():
                    reason = "the file or the arguments are nested too deeply"
                case _:
                    reason = "it would need too much memory"
            return ToolResult(code="failed", text=f"{name} failed: {reason}")

    def _admit(self, name: str, arguments: Mapping[str, Any]) -> tuple[Tool, Any]:
        tool = self.get(name)
        if tool is None:
            why = self._asked.get(server_of(name), "")
            if why:
                raise ToolError("failed", f"{name:.80} cannot be used: {why}")
            near = difflib.get_close_matches(name, self._tools, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self.names())}"
            raise ToolError("invalid", f"there is no tool {name:.80}; {_without(name) or hint}")
        settings = self._context.settings
        if tool.side_effect in _DOES and not getattr(settings, f"allow_{tool.side_effect}"):
            raise ToolError(
                "refused", f"{name} {_DOES[tool.side_effect]}, which tools.allow_{tool.side_effect} forbids"
            )
        if tool.permission and not getattr(settings, tool.permission):
            raise ToolError("refused", f"{name} needs tools.{tool.permission}, which is off")
        if tool.parameters is not None:
            return tool, built_for(tool.parameters, name, arguments)
        return tool, build(name, tool.arguments, arguments)


def _without(name: str) -> str:
    """What to do without a tool that there is no more; empty if there was none of the name."""
    told = GONE.get(name, "")
    return told[:1].lower() + told[1:]


def _sendable(result: ToolResult) -> ToolResult:
    return replace(result, text=bounded(result.text, MAX_TEXT).encode("utf-8", "replace").decode())


def _sentence(error: ToolError | WorkspaceError) -> str:
    return bounded(sentence(error), MAX_PROBLEM)
