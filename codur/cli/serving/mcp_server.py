"""The tools, resources and prompts of `codur mcp serve`, over standard input and output or HTTP on loopback.

A client is not trusted: its workspace lies in the directory that is served and in one of the client's own roots, what
its command starts is contained as every program is, and its texts have bounds.
"""

import hmac
import json
import os
import re
import secrets
import socket
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

import anyio
import uvicorn
from mcp.server.mcpserver import Context, ListRoots, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ListRootsResult, ToolAnnotations
from msgspec import to_builtins
from pydantic import Field, ValidationError
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from codur import __version__, api
from codur.api import Job, Options
from codur.cli import machine
from codur.cli.actions import runs, undo
from codur.cli.printing import tell
from codur.errors import CodurError
from codur.events import CheckBegan
from codur.sandbox.launcher import Launcher
from codur.session.host import redactor_of
from codur.store.run_records import RunDirectory
from codur.tools.toolbox import Toolbox, ToolContext
from codur.types import RunResult
from codur.ui.sanitise import sanitise
from codur.ui.shown.progress_lines import Narrator, Status
from codur.ui.shown.run_report import began
from codur.workspace.workspace import Workspace

_KEPT_EVENTS, _SHOWN_RUNS = 500, 50
_LOOK_S, _SIGN_S = 30.0, 5.0
"""Of a tool that only reads; between signs of life."""
_TOLD = ("outcome", "reason", "remedy", "verdict", "explanation", "changed_files", "diff", "notes", "sandbox", "run_id")
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_INSTRUCTIONS = """\
Codur decides whether code is done by running its check, contained, and mends what a search without a model can mend. \
Call `verify` after an edit and before you say that it is done; when it fails call `repair` (it costs no tokens), and \
`explain_failure` for the lines to look at first."""


def _asked(context: Context) -> ListRoots | None:
    """The client's roots, where it has any."""
    capabilities = context.client_capabilities
    return ListRoots() if capabilities is not None and capabilities.roots is not None else None


Roots = Annotated[ListRootsResult | None, Resolve(_asked)]
Where = Annotated[str, Field(max_length=4_096, description="The project's directory; the one that is served if empty.")]
Check = Annotated[str, Field(max_length=10_000, description="A shell command that must exit with 0; else it is found.")]
Dry = Annotated[bool, Field(description="Only say what would change.")]
Text = Annotated[str, Field(max_length=2_000)]
# Else what is not known, such as a word for "change nothing", is left out, and the call acts.
ArgModelBase.model_config["extra"] = "forbid"


class _Server(MCPServer):
    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context | None = None) -> Any:
        """Call a tool; what is wrong with its arguments is told in a line."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, CodurError):
                raise _failed(error.__cause__.message, error.__cause__.remedy) from error
            if not isinstance(error.__cause__, ValidationError):
                raise
            wrong = error.__cause__.errors(include_input=False)[0]
            known = next(tool.input_schema["properties"] for tool in await self.list_tools() if tool.name == name)
            what = "there is no such argument" if wrong["type"] == "extra_forbidden" else wrong["msg"]
            argument = f"{'.'.join(map(str, wrong['loc']))!r:.80}"
            raise ToolError(f"{name}: {argument}: {what}. Its arguments: {', '.join(known)}.") from error


class Offered:
    """What is offered.

    Args:
        served: the directory in which every workspace lies.
        environ: the environment of each run.
    """

    def __init__(self, served: Path, environ: Mapping[str, str]) -> None:
        self._served = served.resolve()
        self._environ = environ

    def server(self) -> MCPServer:
        """The server."""
        server = _Server("codur", instructions=_INSTRUCTIONS, version=__version__, log_level="CRITICAL")
        for read in (self.verify, self.explain_failure, self.outline, self.find, self.runs):
            server.add_tool(read, annotations=_READS)
        for change in (self.repair, self.undo):
            server.add_tool(change, annotations=_CHANGES)
        server.resource("codur://verdict", mime_type="application/json")(self.last_verdict)
        server.resource("codur://trace", mime_type="application/json")(self.last_trace)
        for prompt in (fix_and_verify, explain_the_failure):
            server.prompt()(prompt)
        return server

    async def verify(self, context: Context, roots: Roots, workspace: Where = "", check: Check = "") -> dict[str, Any]:
        """Find the project's check (tests, expected output) and run it, contained; gives the verdict with the first
        difference and the tests that fail."""
        return _told(await _carried(api.verify(self._place(workspace, roots), **self._options(check)), context))

    async def repair(
        self, context: Context, roots: Roots, workspace: Where = "", check: Check = "", dry_run: Dry = False
    ) -> dict[str, Any]:
        """Search for a repair of Python code without a model: costs no tokens, and what it finds passes the check.
        Applies it, or with `dry_run` only gives the diff; `undo` takes it back."""
        options: Options = {**self._options(check), "dry_run": dry_run}
        return _told(await _carried(api.repair(self._place(workspace, roots), **options), context))

    async def explain_failure(
        self, context: Context, roots: Roots, workspace: Where = "", check: Check = ""
    ) -> dict[str, Any]:
        """Say which lines a failing check speaks against, with scores and the values that variables held there."""
        result = await _carried(api.explain(self._place(workspace, roots), **self._options(check)), context)
        return {**_told(result), "suspects": _plain(result.repair.suspects if result.repair else ())}

    async def outline(self, roots: Roots, path: Text, workspace: Where = "") -> dict[str, Any]:
        """List the classes and functions of a source file, with their lines."""
        return await self._look("python_ast_outline", {"path": path}, self._place(workspace, roots))

    async def find(
        self, roots: Roots, text: Text, kind: Literal["definition", "text"] = "definition", workspace: Where = ""
    ) -> dict[str, Any]:
        """Find where a function, class or variable is defined, or the lines that hold a text."""
        name, key = ("find_definition", "name") if kind == "definition" else ("grep_files", "pattern")
        return await self._look(name, {key: text}, self._place(workspace, roots))

    async def undo(self, roots: Roots, run: Text = "", workspace: Where = "", dry_run: Dry = False) -> dict[str, Any]:
        """Put back what a run changed: the newest that changed something, or the one of this id."""
        place = self._place(workspace, roots)

        def put_back() -> dict[str, Any]:
            found = undo.changed_run(run or None, place)
            if Path(found.record().workspace) != place:
                raise ToolError(f"run {found.id} was not one of this workspace")
            report, record = undo.put_back(found.id, place, dry=dry_run, again=False)
            return {"run": record.id, "dry_run": dry_run, **_plain(report)}

        return await anyio.to_thread.run_sync(put_back)

    async def runs(self, roots: Roots, workspace: Where = "") -> list[dict[str, Any]]:
        """List the runs that are kept of the workspace, the newest first."""
        records, _ = machine.kept_runs().scan(self._place(workspace, roots))
        return [_plain(runs.listed(record)) for record in records[:_SHOWN_RUNS]]

    def last_verdict(self) -> str:
        """What the check said at last, in a workspace that is served."""
        result = self._newest().result() or {}
        return json.dumps(_plain(result.get("verdict")))

    def last_trace(self) -> str:
        """What the last run did, in a workspace that is served: its last events."""
        return json.dumps(_plain(self._newest().trace.read(on_damage=lambda _: None)[-_KEPT_EVENTS:]))

    def _newest(self) -> RunDirectory:
        try:
            return machine.kept_runs().find(fits=lambda record: Path(record.workspace).is_relative_to(self._served))
        except CodurError as error:
            raise ResourceNotFoundError(error.message) from error

    async def _look(self, tool: str, arguments: Mapping[str, Any], place: Path) -> dict[str, Any]:
        """The output of a tool that only reads: nothing is locked for it, and nothing is kept of it."""

        def look() -> str:
            settings, host = machine.settings_for(place, None, {}).settings, machine.host()
            workspace = Workspace.open(place, home=host.home, max_file_bytes=settings.tools.max_file_kb * 1024)
            with Launcher(host.environ, sandbox=settings.sandbox, state_cache=host.cache) as launcher:
                tools = ToolContext(
                    workspace=workspace, launcher=launcher, find_python=str, settings=settings.tools, timeout_s=_LOOK_S
                )
                result = Toolbox(tools).call(tool, arguments)
            text = redactor_of(settings, host.environ, workspace.root)(result.text)
            if not result.ok:
                raise ToolError(sanitise(text))
            return text

        return {"text": _plain(await anyio.to_thread.run_sync(look))}

    def _options(self, check: str) -> Options:
        options: Options = {"environ": self._environ}
        return {**options, "check": check} if check.strip() else options

    def _place(self, named: str, roots: ListRootsResult | None) -> Path:
        """The workspace that is meant.

        Raises:
            ToolError: it lies outside of what is served, or of the client's roots.
        """
        own = None if roots is None else [path for root in roots.roots if (path := _path_of(str(root.uri)))]
        inside = [path for path in own or () if path.is_relative_to(self._served)]
        try:
            place = Path(self._served, named).resolve() if named else (inside or [self._served])[0]
        except (OSError, ValueError) as error:
            raise ToolError("the workspace is no path") from error
        if not place.is_relative_to(self._served):
            raise ToolError(sanitise(f"{place} is outside of {self._served}, which is served"))
        if own is not None and not any(place.is_relative_to(path) for path in own):
            raise ToolError(sanitise(f"{place} is outside of the client's roots"))
        return place


def _path_of(uri: str) -> Path | None:
    """The directory of a root; None if it is none of this machine."""
    parts = urlsplit(uri)
    named = unquote(parts.path)
    return Path(named).resolve() if parts.scheme == "file" and named.startswith("/") and "\0" not in named else None


async def _carried(job: Job, context: Context) -> RunResult:
    """The job's result; what happens is told as progress. A client that cancels, or goes, ends the job.

    Raises:
        CodurError: it could not begin.
        ToolError: it did not run.
    """
    narrator, status, number, start = Narrator(verbose=False), Status(), count(1), time.monotonic()

    async def signs() -> None:
        while True:
            await anyio.sleep(_SIGN_S)
            message = f"{status.phase} ({time.monotonic() - start:.0f} s)"
            await context.report_progress(next(number), message=sanitise(message))

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(signs)
            async for event in job:
                status.see(event)
                begins = [status.phase] if isinstance(event, CheckBegan) else []
                for text in (*begins, *(line.text for line in narrator.lines(event))):
                    await context.report_progress(next(number), message=sanitise(text))
            group.cancel_scope.cancel()
    finally:
        job.cancel()
        with anyio.CancelScope(shield=True):
            result = await job
    if result.outcome in {"usage", "refused"} and not began(result):
        raise _failed(result.reason, result.remedy)
    return result


def _failed(message: str, remedy: str) -> ToolError:
    return ToolError(sanitise(f"{message}. {_remedy(remedy)}".strip(". ") + "."))


def _remedy(remedy: str) -> str:
    """What a client can do of it, which has no command line."""
    if " --" in remedy:
        remedy = re.sub(r"(?:with )?--check(?: COMMAND)?", "with `check`", remedy.partition(", or ")[0])
    return "" if " --" in remedy else remedy


def _told(result: RunResult) -> dict[str, Any]:
    return {name: _plain(getattr(result, name)) for name in _TOLD} | {"remedy": _remedy(result.remedy)}


def _plain(value: Any) -> Any:
    """As JSON that UTF-8 can hold: names of files need not be text."""
    text = json.dumps(to_builtins(value), ensure_ascii=False)
    return json.loads(text.encode("utf-8", "replace"))


def fix_and_verify(task: str = "make the check pass") -> str:
    """Make a change, and call it done only when the check says so."""
    return (
        f"{task}\n\nBegin with `verify`. If it fails, try `repair`, which costs nothing; if nothing is found, take "
        "the lines of `explain_failure`, edit, and call `verify` again until its outcome is `done`. Change no tests."
    )


def explain_the_failure() -> str:
    """Say in words why the check fails."""
    return (
        "Call `explain_failure` and say in three sentences what is wrong, naming file, line and the values seen there."
    )


# --- ways to reach it -------------------------------------------------------------------------------------------------


def over_pipes(offered: Offered) -> None:
    """Serve standard input and output until the client closes them."""
    try:
        anyio.run(offered.server().run_stdio_async)
    except* BrokenPipeError:  # it has gone, and its jobs have ended
        pass


def over_http(offered: Offered, port: int) -> None:
    """Serve HTTP on loopback until the process is stopped; where, and the token, is told on standard error.

    Args:
        port: 0 for a free one.

    Raises:
        OSError: the port is taken.
    """
    token = os.environ.get("CODUR_MCP_TOKEN") or secrets.token_urlsafe(32)
    with socket.create_server(("127.0.0.1", port)) as listening:
        own = f"127.0.0.1:{listening.getsockname()[1]}"
        security = TransportSecuritySettings(allowed_hosts=[own, own.replace("127.0.0.1", "localhost")])
        app = offered.server().streamable_http_app(transport_security=security)
        config = uvicorn.Config(_Guarded(app, token), log_level="critical", ws="none", timeout_graceful_shutdown=2)
        tell(f"http://{own}/mcp")
        if "CODUR_MCP_TOKEN" not in os.environ:
            tell(f"Authorization: Bearer {token}")
        uvicorn.Server(config).run(sockets=[listening])


class _Guarded:
    """Lets those in who have the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and not hmac.compare_digest(given, self._wanted):
            await PlainTextResponse("the token is missing or wrong", status_code=401)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
