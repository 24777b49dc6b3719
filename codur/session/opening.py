"""Opens everything that the nodes of a run work with, and closes it again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codur.agents.external.delegation import ExternalAgents
from codur.agents.external.server import server_runner
from codur.agents.instructions import Instructions
from codur.agents.registry import AgentRegistry
from codur.config.prompts import PromptLibrary
from codur.config.settings import Settings
from codur.events import Emit, Note, RunStarted
from codur.llm.endpoint import secrets_of_provider
from codur.llm.model import ChatModel
from codur.llm.pool import ModelPool
from codur.nodes.state import BestState, Latest, RunContext
from codur.planning.plan_file import plan_text
from codur.questions import Answer, Question
from codur.redaction import Redactor, secrets_of
from codur.sandbox.cancel import CancelToken
from codur.sandbox.interpreter import find_python
from codur.sandbox.launcher import Launcher
from codur.sandbox.turns import Waited
from codur.session.exchanges import Exchanges, exchanging
from codur.session.recording import START_MARK, Recording
from codur.session.scoping import scoped
from codur.session.scratch import Scratch, scratch_directories
from codur.session.shared import Shared
from codur.store.blobs import BlobStore
from codur.store.directory import StateDirectory
from codur.store.trust import TrustStore
from codur.tools.repository.index import RepositoryIndex
from codur.tools.tool import ToolError
from codur.tools.toolbox import Toolbox, ToolContext
from codur.types import Plan, Task, Usage
from codur.verification.checker import Checker
from codur.workspace.artifacts import ArtifactStore
from codur.workspace.disk_journal import DiskJournal
from codur.workspace.workspace import Workspace

if TYPE_CHECKING:
    from codur.agents.external.copy import MayInstruct
    from codur.config.instructions import InstructionSet
    from codur.config.trust import TrustOf
    from codur.mcp.servers import McpServers


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What a run takes from the machine; only `cli` reads it there.

    Attributes:
        environ: environment variables: API keys, and what programs under check may see.
        home: the user's home directory, which is refused as a workspace.
        models: models by profile name that replace the configured ones (for scripted runs).
        state: the state directory, where runs are kept; None keeps nothing.
        cache: a private directory for what can be found out again; None for none.
        shared: what the run has in common with others that go on at the same time; None if it goes on alone.
        cancel: stops the run when it is set, from any thread; None: only the user's signals do.
        waited: gets the seconds that the run waited for others; they do not count as its time.
        exchanges: what is done with the exchange with models.
        stream: somebody wants to see answers in words while they come.
        consult: asks the user; None if there is nobody to ask. Its time does not count as the run's.
    """

    environ: Mapping[str, str]
    home: Path
    models: Mapping[str, ChatModel] | None = None
    state: Path | None = None
    cache: Path | None = None
    shared: Shared | None = None
    cancel: CancelToken | None = None
    waited: Waited | None = None
    exchanges: Exchanges = field(default_factory=Exchanges)
    stream: bool = False
    consult: Callable[[Question], Answer] | None = None


def redactor_of(settings: Settings, environ: Mapping[str, str]) -> Redactor:
    """Blanks the keys of the configured providers and MCP servers, and what else in the environment is secret."""
    keys = [key for provider in settings.providers.values() for key in secrets_of_provider(provider, environ)]
    names = (
        name for server in settings.mcp_servers.values() for name in (*server.environment, *server.headers_env.values())
    )
    given = (environ.get(name, "") for name in names)
    return Redactor((*keys, *filter(None, given), *secrets_of(environ)))


@contextmanager
def opened(
    task: Task,
    settings: Settings,
    *,
    host: Host,
    emit: Emit,
    started: float | None = None,
    record: Recording | None = None,
) -> Iterator[RunContext]:
    """Everything the nodes work with, for as long as the run lasts.

    Args:
        started: when the run's time began, by the monotonic clock; now if left out.
        record: what is kept of the run; nothing if left out.

    Raises:
        WorkspaceError: the directory cannot be a workspace.
        UsageError: the task names an agent that there is not.
    """
    record = record or Recording(emit, redactor_of(settings, host.environ))
    with ExitStack() as stack:
        journal = stack.enter_context(journal_of(settings, record))
        workspace = open_workspace(task, settings, host=host, journal=journal)
        if journal is not None and not journal.entries:
            workspace.mark(START_MARK)
        python = find_python(workspace.root, host.environ)
        scratch = stack.enter_context(scratch_directories())
        if task.dry_run:
            workspace = workspace.scratch_copy(scratch())
        workspace = scoped(workspace, task, settings, kept=journal is not None and not task.dry_run, scratch=scratch)
        clock = time.monotonic() if started is None else started
        cancel = host.cancel or CancelToken()
        launcher = stack.enter_context(_launcher(settings, host, record, workspace, python, cancel))
        pool = stack.enter_context(exchanging(host.exchanges, task, settings, record))
        context = _context(task, settings, host, record, clock, workspace, python, scratch, launcher, cancel, pool)
        if context.toolbox.mcp is not None:
            stack.callback(context.toolbox.mcp.close)
        record.begin(context, journal, used_s=lambda: time.monotonic() - clock)
        yield context


class _Artifacts(ArtifactStore):
    """Outputs of steps, without secrets."""

    def __init__(self, directory: Path, redact: Callable[[str], str]) -> None:
        super().__init__(directory)
        self._redact = redact

    def put(self, text: str) -> str:
        """Keep a text without its secrets; see `ArtifactStore.put`."""
        return super().put(self._redact(text))


class _Programs:
    """Sees every program that is started: what it changes in the workspace is recorded; that nothing holds it is told.

    Attributes:
        launcher: the one that starts them.
    """

    def __init__(self, workspace: Workspace, emit: Emit) -> None:
        self.launcher: Launcher | None = None
        self._workspace = workspace
        self._emit = emit
        self._told = False

    def before(self, root: Path) -> None:
        """A program is about to be started in `root`."""
        if self.launcher is not None and self.launcher.name == "none" and not self._told:
            self._told = True
            self._emit(Note(level="warning", text=uncontained(self.launcher.note)))
        if root == self._workspace.root:
            note = self._workspace.before_program()
            if note:
                self._emit(Note(level="warning", text=note))

    def after(self, root: Path) -> None:
        """The program has ended."""
        if root != self._workspace.root:
            return
        for path in self._workspace.after_program().protected:
            text = f"{path} appeared while a program ran; other programs act on it, so look at it"
            self._emit(Note(level="warning", text=text))


def uncontained(why: str) -> str:
    """What is said, once, when programs run and nothing contains them."""
    reason = f" ({why})" if why else ""
    return f"programs run WITHOUT a sandbox, with your permissions{reason}; see `codur doctor`"


def open_workspace(task: Task, settings: Settings, *, host: Host, journal: DiskJournal | None = None) -> Workspace:
    """The task's workspace.

    Args:
        journal: where its changes are written down.

    Raises:
        WorkspaceError: the directory cannot be a workspace.
        StateError: the journal cannot be used.
    """
    return Workspace.open(
        Path(task.workspace), home=host.home, max_file_bytes=settings.tools.max_file_kb * 1024, journal=journal
    )


@contextmanager
def journal_of(settings: Settings, record: Recording) -> Iterator[DiskJournal | None]:
    """The run's journal; None if the run is not kept."""
    if record.run is None or record.state is None:
        yield None
        return
    journal = DiskJournal(
        record.run.journal,
        BlobStore(record.state.blobs),
        cache=record.state.cache,
        max_files=settings.state.command_files,
        max_bytes=settings.state.command_mb << 20,
    )
    try:
        yield journal
    finally:
        for text in journal.notes:
            record.emit(Note(level="warning", text=text))
        journal.close()


@contextmanager
def _launcher(
    settings: Settings, host: Host, record: Recording, workspace: Workspace, python: str, cancel: CancelToken
) -> Iterator[Launcher]:
    programs = _Programs(workspace, record.emit)
    with Launcher(
        host.environ,
        cancel=cancel,
        max_output_bytes=settings.verification.max_output_kb * 1024,
        python=python,
        sandbox=settings.sandbox,
        state_cache=host.cache,
        quarantine=record.run.quarantine if record.run else None,
        observer=programs,
        shared=host.shared.programs if host.shared else None,
        waited=host.waited,
    ) as launcher:
        programs.launcher = launcher
        yield launcher


def _mcp_servers(
    settings: Settings,
    host: Host,
    launcher: Launcher,
    workspace: Workspace,
    cancel: CancelToken,
    time_left: Callable[[], float],
) -> McpServers | None:
    """The configured servers; none is started yet."""
    if not settings.mcp_servers:
        return None
    from codur.mcp.connection import Place  # noqa: PLC0415 - lazy: most runs have no servers
    from codur.mcp.pins import Pins  # noqa: PLC0415 - lazy: as above
    from codur.mcp.servers import McpServers  # noqa: PLC0415 - lazy: as above

    return McpServers(
        settings.mcp_servers,
        Place(launcher=launcher, environ=host.environ, workspace=workspace.root),
        pins=Pins(StateDirectory(host.state).mcp_file if host.state else None),
        cancel=cancel,
        time_left=time_left,
    )


def _trust_of(host: Host) -> TrustOf:
    from codur.config.trust import nobody  # noqa: PLC0415 - lazy: a model-free run needs none

    return TrustStore(StateDirectory(host.state).trust_file).state_of if host.state else nobody


def _instructions(task: Task, settings: Settings, host: Host) -> Instructions:
    def load() -> InstructionSet:
        from codur.config.instructions import load_instructions  # noqa: PLC0415 - lazy: a model-free run needs none

        workspace = Path(task.workspace)  # what was accepted is the project itself, not a copy of it
        trust_of = _trust_of(host)
        return load_instructions(settings, workspace, environ=host.environ, home=host.home, trust_of=trust_of)

    return Instructions(load, max_tokens=settings.context.instruction_tokens)


def _may_instruct(task: Task, settings: Settings, host: Host) -> MayInstruct:
    """Whether a file of the project may instruct other agents: that very text was accepted, and such are wanted."""

    def accepted(path: str, content: bytes) -> bool:
        return settings.context.project_instructions and (
            _trust_of(host)(Path(task.workspace), path, content) == "accepted"
        )

    return accepted


def _context(
    task: Task,
    settings: Settings,
    host: Host,
    record: Recording,
    started: float,
    workspace: Workspace,
    python: str,
    scratch: Scratch,
    launcher: Launcher,
    cancel: CancelToken,
    pool: Mapping[str, Any],
) -> RunContext:
    waited = host.waited or Waited()

    def time_left() -> float:
        return task.limits.max_runtime_s + waited.seconds - (time.monotonic() - started)

    agents = AgentRegistry(settings)
    if task.agent is not None:
        agents.resolve(task.agent)  # an unknown name ends the run before anything is done
    servers = _mcp_servers(settings, host, launcher, workspace, cancel, time_left)
    ask = _consulting(host.consult, waited) if host.consult else None
    record.emit(
        RunStarted(
            prompt=task.prompt,
            workspace=task.workspace,
            sandbox=launcher.name,
            sandbox_note=launcher.note,
            run_id=record.id,
        )
    )
    checker = Checker(
        workspace,
        launcher,
        settings.verification,
        python=python,
        deadline=time_left,
        allow_run=settings.tools.allow_run,
    )
    return RunContext(
        settings=settings,
        workspace=workspace,
        launcher=launcher,
        python=python,
        checker=checker,
        toolbox=Toolbox(
            ToolContext(
                workspace=workspace,
                launcher=launcher,
                python=python,
                settings=settings.tools,
                timeout_s=settings.verification.test_timeout_s,
                mcp=servers,
                ask=_asking(ask) if ask else None,
                check=checker.run_guarded,
                home=Path(host.environ["HOME"]) if host.environ.get("HOME") else None,
                redact=record.redactor,
            )
        ),
        repository=RepositoryIndex(workspace, max_files=settings.context.max_files),
        models=ModelPool(
            settings,
            host.environ,
            task.limits,
            emit=record.emit,
            offline=task.offline,
            time_left=time_left,
            spent=record.kept.usage if record.kept else Usage(),
            redactor=record.redactor,
            waiting=host.waited.waiting if host.waited else None,
            **{"models": host.models, "shared": host.shared.models if host.shared else None, **pool},
            stream=host.stream,
        ),
        agents=agents,
        externals=ExternalAgents(
            launcher=launcher,
            environ=host.environ,
            user_home=host.home,
            redact=record.redactor,
            offline=task.offline,
            mcp=server_runner(lambda: servers) if servers is not None else None,
            may_instruct=_may_instruct(task, settings, host),
        ),
        instructions=_instructions(task, settings, host),
        prompts=host.shared.prompts if host.shared else PromptLibrary(),
        artifacts=_Artifacts(record.run.artifacts if record.run else scratch(), record.redactor),
        cancel=cancel,
        emit=record.emit,
        time_left=time_left,
        scratch=scratch,
        best=BestState(),
        latest=Latest(),
        consult=ask,
        keep_plan=partial(_keep_plan, task, record),
    )


def _consulting(consult: Callable[[Question], Answer], waited: Waited) -> Callable[[Question], Answer]:
    """Asks the user; the time until the answer comes does not count."""

    def ask(question: Question) -> Answer:
        with waited.waiting():
            return consult(question)

    return ask


def _asking(consult: Callable[[Question], Answer]) -> Callable[[str, tuple[str, ...]], str]:
    """Puts a tool's question to the user, with its possible answers."""

    def ask(question: str, options: tuple[str, ...]) -> str:
        text = f"{question} ({' / '.join(options)})" if options else question
        answer = consult(Question(kind="question", text=text))
        if answer.decision != "answer":
            raise ToolError("refused", "the user gave no answer; decide from what is known, or say what is missing")
        return answer.text

    return ask


def _keep_plan(task: Task, record: Recording, plan: Plan) -> str:
    """Keep a plan with the run; gives its path, or an empty text if nothing is kept."""
    if record.run is None:
        return ""
    text = record.redactor(plan_text(plan, task=task.prompt, workspace=task.workspace))
    return str(record.run.write_plan(text))
