"""What a tool is, and what it may use."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_type_hints

from codur.config.settings import ToolSettings
from codur.errors import CodurError, WorkspaceError
from codur.lazy import regex
from codur.redaction import REDACTED
from codur.structs import Struct, field
from codur.tools.flow.io_kinds import Value
from codur.tools.flow.outputs import Text
from codur.types import CODE_TASKS, SideEffect, TaskType, ToolCode, ToolResult, Verdict
from codur.workspace.workspace import Workspace

if TYPE_CHECKING:
    from codur.mcp.servers import McpServers
    from codur.sandbox.launcher import Launcher
    from codur.web.access import Web

_NOUN = (
    r"(?: (?:of )?(?:the |this )?"
    r"(?:file|code|class|functions?|methods?|lines?|implementation|content|body|imports|tests))"
)
_SAME = r"(?: (?:is |are |remains? |stays? )?(?:unchanged|the same|as (?:is|before|it is)|omitted|here))"
_PLACEHOLDER = regex(
    rf"^[ \t]*(?:#|//|/\*|--|<!--|;)[ \t]*(?:"
    rf"(?:\.{{3}}|…) ?(?:the )?(?:rest|remaining|existing|other|previous){_NOUN}?{_SAME}?"
    rf"|(?:the )?(?:rest|remainder){_NOUN}?{_SAME}"
    rf"|(?:the )?(?:rest|remaining|existing|previous){_NOUN} ?(?:\.{{3}}|…)"
    r")[ .…]*(?:\*/|-->)?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""What models write in place of lines that they do not repeat."""
READING_TASKS: frozenset[TaskType] = CODE_TASKS | {"search", "explanation", "file_operation", "unknown"}
WRITING_TASKS: frozenset[TaskType] = CODE_TASKS | {"file_operation"}
RUNNING_TASKS: frozenset[TaskType] = CODE_TASKS | {"run"}
GIT_TASKS: frozenset[TaskType] = CODE_TASKS | {"git"}
EVERY_TASK: frozenset[TaskType] = READING_TASKS | RUNNING_TASKS | GIT_TASKS | {"web_search", "greeting"}

Permission = Literal["", "allow_git_write"]
"""A switch of the `tools` settings that a tool needs beside that of its side effect."""


class ToolContext(Struct):
    """What tools work on and with."""

    workspace: Workspace
    launcher: Launcher
    find_python: Callable[[], str]  # gives the interpreter for the workspace's programs
    settings: ToolSettings
    timeout_s: float  # wall time of one program that a tool starts, in seconds
    mcp: McpServers | None = None  # the configured MCP servers; None if there are none
    # runs the check of the task; None if it has none, and so does a call that gives None
    check: Callable[[], Verdict | None] | None = None
    # puts a question and its possible answers to the user and waits for the answer; None if nobody is there
    ask: Callable[[str, tuple[str, ...]], str] | None = None
    # the user's environment, by which git knows who commits; no program gets it
    environ: Mapping[str, str] = field(default_factory=dict)
    # takes known secrets out of a text; what holds one is not sent to the web
    redact: Callable[[str], str] | None = None
    web: Web | None = None  # the web behind its guard; None for the public one
    tools: Mapping[str, Tool] = field(default_factory=dict)  # all tools, filled in by the toolbox

    @property
    def python(self) -> str:
        """The interpreter for the workspace's programs."""
        return self.find_python()

    def write(self, path: str, text: str) -> None:
        """Write a file's text as a tool was given it.

        Raises:
            ToolError: it holds the mark that stands for a secret where the file does not: the secret would be lost; or
                a comment in place of lines that a model does not repeat.
            WorkspaceError: as `Workspace.write_text`.
        """
        # By their number: a file may speak of the mark itself, and keeps what it has.
        if REDACTED in text and text.count(REDACTED) > self._before(path).count(REDACTED):
            raise ToolError(
                "refused", f"{path}: {REDACTED} stands for a secret that is not shown; leave that part as it is"
            )
        for found in _PLACEHOLDER.finditer(text):
            if (before := self._before(path)) and found[0].strip() not in before:
                raise ToolError("invalid", f"`{found[0].strip()}` stands for lines that would be lost; give them, too")
        self.workspace.write_text(path, text)

    def write_all(self, texts: Mapping[str, str | None]) -> None:
        """Write several files, delete those without a text; all of it or nothing.

        Raises:
            ToolError, WorkspaceError: one cannot be written or deleted; the others are as they were.
        """
        workspace = self.workspace
        for path, text in texts.items():
            if text is not None and workspace.exists(path):
                workspace.require_writable(path)
        # A write can still fail (a full disk): then nothing of the others stays.
        before = workspace.snapshot()
        try:
            for path, text in sorted(texts.items(), key=lambda item: item[1] is None):
                if text is None:
                    workspace.delete(path)
                else:
                    self.write(path, text)
        except (ToolError, WorkspaceError):
            workspace.restore(before)
            raise

    def _before(self, path: str) -> str:
        return self.workspace.peek_text(path) if self.workspace.is_file(path) else ""


class Arg:
    """What is said of an argument of a tool, in its annotation: `Annotated[str, Arg("File to read.", "path")]`.

    Args:
        doc: one line for people and models.
        accepts: kinds of other tools' outputs that it takes.
    """

    def __init__(self, doc: str, *accepts: Value) -> None:
        self.doc, self.accepts = doc, accepts


class Argument(Struct):
    """An argument of a tool, as the parameter of its function declares it."""

    type: Any
    # doc, accepts: as in `Arg`
    doc: str
    accepts: tuple[Value, ...]
    required: bool  # it has no default


Arguments = Mapping[str, Argument]
"""A tool's arguments by their names."""


class Tool(Struct):
    """One row of the catalogue."""

    name: str
    description: str  # one or two sentences for people and models
    # does it; may raise `ToolError` or `WorkspaceError`, and then has changed nothing. Its parameters after the
    # context, annotated with `Arg`, are the tool's arguments.
    function: Callable[..., ToolResult]
    side_effect: SideEffect
    task_types: frozenset[TaskType]  # kinds of request that it serves
    # the kind of output that `ToolResult.data` holds after a call that is `ok`; a class of `codur.tools.flow.outputs`
    # or `codur.tools.flow.code_outputs`
    output: type = Text
    permission: Permission = ""  # a switch of the settings that must be on
    # of a tool that is somebody else's: the JSON schema of its arguments, which `function` gets as one mapping
    parameters: Mapping[str, Any] | None = None
    asks: bool = False  # it may ask the user, and so is not run beside others

    @property
    def arguments(self) -> Arguments:
        """What the function takes after the context; of a tool that is somebody else's see `parameters`."""
        return _arguments_of(self.function)

    def run(self, context: ToolContext, given: Mapping[str, Any]) -> ToolResult:
        """Call the function with arguments of the declared types, or with somebody else's arguments as they are."""
        return self.function(context, **given) if self.parameters is None else self.function(context, given)


@cache
def _arguments_of(function: Any) -> Arguments:
    """Read when it is first asked for: most runs name few of the tools. Not by `inspect`: a twentieth of a start."""
    hints = get_type_hints(function, include_extras=True)
    code = function.__code__
    names, by_keyword = code.co_varnames[: code.co_argcount], code.co_varnames[code.co_argcount :]
    optional = {*names[len(names) - len(function.__defaults__ or ()) :], *(function.__kwdefaults__ or ())}
    found = {}
    for name in (*names[1:], *by_keyword[: code.co_kwonlyargcount]):
        kind, said = get_args(hints[name])
        found[name] = Argument(type=kind, doc=said.doc, accepts=said.accepts, required=name not in optional)
    return found


def tool(
    gives: type,
    *,
    side_effect: SideEffect = "read",
    task_types: frozenset[TaskType] = READING_TASKS,
    permission: Permission = "",
    asks: bool = False,
) -> Callable[[Callable[..., ToolResult]], Tool]:
    """Make a function the tool of its name; the first paragraph of its docstring is the description.

    Args:
        gives: the output class; the other arguments are `Tool`'s fields.
    """

    def made(function: Callable[..., ToolResult]) -> Tool:
        return Tool(
            name=function.__name__,
            description=" ".join((function.__doc__ or "").partition("\n\n")[0].split()),
            function=function,
            side_effect=side_effect,
            task_types=task_types,
            output=gives,
            permission=permission,
            asks=asks,
        )

    return made


def sentence(error: CodurError, message: str = "") -> str:
    """What an error says (or the message in its place), with its remedy, as one sentence."""
    told, remedy = message or error.message, error.remedy.rstrip(".")
    return f"{told}; {remedy[0].lower()}{remedy[1:]}" if remedy else told


class ToolError(CodurError):
    """A tool cannot do what was asked; `Toolbox.call` turns it into a result with this code."""

    def __init__(self, code: ToolCode, message: str, *, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.code: ToolCode = code
