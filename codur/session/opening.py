"""Opens everything that the nodes of a run work with, and closes it again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codur.agents.external.delegation import ExternalAgents
from codur.agents.external.server import server_runner
from codur.agents.registry import AgentRegistry
from codur.checks.checker import Checker
from codur.config.prompts import PromptLibrary
from codur.config.settings import Settings
from codur.context.index import RepositoryIndex
from codur.events import Emit, Note, RunStarted
from codur.llm.pool import ModelPool
from codur.llm.remembered_sizes import Remembered
from codur.nodes.run_state import BestState, Latest, RunContext
from codur.planning.plans.plan_file import plan_text
from codur.python.interpreter import find_python
from codur.sandbox.cancel import CancelToken, Until
from codur.sandbox.launcher import Launcher
from codur.sandbox.processor_turns import Waited
from codur.session.accepted import instructions_of, may_instruct
from codur.session.consulting import asking, consulting
from codur.session.host import Host, redactor_of
from codur.session.programs import Programs
from codur.session.record.exchanges import exchanging
from codur.session.record.run_recording import START_MARK, Recording
from codur.session.scoping import scoped
from codur.session.scratch_directory import Scratch, scratch_directories
from codur.store.blobs import BlobStore
from codur.store.directory import StateDirectory
from codur.structs import replace
from codur.tools.toolbox import Toolbox, ToolContext
from codur.types import Plan, Task, Usage
from codur.workspace.artifacts import ArtifactStore
from codur.workspace.history.disk_journal import DiskJournal
from codur.workspace.private import may_hold_secrets
from codur.workspace.workspace import Workspace

if TYPE_CHECKING:
    from codur.mcp.servers import McpServers


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
        cancel, waited = host.cancel or CancelToken(), host.waited or Waited()

        def time_left() -> float:
            return task.limits.max_runtime_s + waited.seconds - (time.monotonic() - clock)

        end = Until(cancel, time_left)  # every program ends with the run's time, whoever started it
        launcher = stack.enter_context(_launcher(settings, host, record, workspace, python, end))
        pool = stack.enter_context(exchanging(host.exchanges, task, settings, record))
        context = _context(
            task, settings, host, record, time_left, waited, workspace, python, scratch, launcher, cancel, pool
        )
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
    programs = Programs(workspace, record.emit)
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


def _context(
    task: Task,
    settings: Settings,
    host: Host,
    record: Recording,
    time_left: Callable[[], float],
    waited: Waited,
    workspace: Workspace,
    python: str,
    scratch: Scratch,
    launcher: Launcher,
    cancel: CancelToken,
    pool: Mapping[str, Any],
) -> RunContext:
    settings = _of_agent(task.agent, settings)
    agents = AgentRegistry(settings)
    servers = _mcp_servers(settings, host, launcher, workspace, cancel, time_left)
    ask = consulting(host.consult, waited) if host.consult else None
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
                ask=asking(ask) if ask else None,
                check=checker.run_guarded,
                home=Path(host.environ["HOME"]) if host.environ.get("HOME") else None,
                redact=record.redactor,
            )
        ),
        repository=RepositoryIndex(workspace.withholding(may_hold_secrets), max_files=settings.context.max_files),
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
            **{
                "models": host.models,
                "shared": host.shared.models if host.shared else None,
                **({"sleep": host.clock.sleep, "now": host.clock.now} if host.clock else {}),
                **pool,
            },
            stream=host.stream,
            remembered=Remembered(StateDirectory(host.state).limits_file) if host.state else None,
        ),
        agents=agents,
        externals=ExternalAgents(
            launcher=launcher,
            environ=host.environ,
            user_home=host.home,
            redact=record.redactor,
            offline=task.offline,
            mcp=server_runner(lambda: servers) if servers is not None else None,
            may_instruct=may_instruct(task, settings, host),
        ),
        instructions=instructions_of(task, settings, host),
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


def _of_agent(agent: str | None, settings: Settings) -> Settings:
    """The settings of a run, of which nothing goes to another service than that of the agent that the user named.

    Raises:
        UsageError: there is no such agent; that ends the run before anything is done.
    """
    named = AgentRegistry(settings).resolve(agent) if agent is not None else None
    own = settings.llm.profiles.get(named.profile) if named is not None else None
    if named is None or own is None:
        return settings
    llm = settings.llm
    same = {name for name, profile in llm.profiles.items() if profile.provider == own.provider}
    default, fast = (name if name in same else named.profile for name in (llm.default_profile, llm.fast_profile))
    fallbacks = tuple(name for name in llm.fallback_profiles if name in same)
    coding = settings.agents.coding
    coding = replace(coding, sample_profiles=tuple(name for name in coding.sample_profiles if name in same))
    llm = replace(llm, default_profile=default, fast_profile=fast, fallback_profiles=fallbacks)
    return replace(settings, llm=llm, agents=replace(settings.agents, coding=coding))


def _keep_plan(task: Task, record: Recording, plan: Plan) -> str:
    """Keep a plan with the run; gives its path, or an empty text if nothing is kept."""
    if record.run is None:
        return ""
    text = record.redactor(plan_text(plan, task=task.prompt, workspace=task.workspace))
    return str(record.run.write_plan(text))
