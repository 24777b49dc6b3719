"""Opens everything that the nodes of a run work with, and closes it again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from codur import checks, config, context, mcp, tools
from codur import python as pythons
from codur.agents import external
from codur.agents.registry import AgentRegistry
from codur.config.loader import PROJECT_FILES
from codur.config.settings import Settings
from codur.events import Note, RunStarted
from codur.lazy import loaded, once
from codur.llm.clock import Clock
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.llm.remembered_sizes import Remembered
from codur.nodes.run_state import BestState, Latest, RunContext
from codur.planning import plans
from codur.questions import Answer, Question
from codur.sandbox.cancel import CancelToken, Until
from codur.sandbox.launcher import Launcher
from codur.sandbox.processor_turns import Waited
from codur.sandbox.scratch import private_directory, temporary_base
from codur.session.accepted import instructions_of, may_instruct
from codur.session.host import Host
from codur.session.programs import Programs
from codur.session.record.exchanges import exchanging
from codur.session.record.run_recording import START_MARK, Recording
from codur.session.scoping import new_journal, scoped
from codur.store.directory import StateDirectory
from codur.structs import Struct, replace
from codur.tools.tool import ToolError
from codur.types import Plan, Task, Usage
from codur.workspace.artifacts import ArtifactStore
from codur.workspace.history.journal import Journal
from codur.workspace.private import may_hold_secrets
from codur.workspace.workspace import Workspace

if TYPE_CHECKING:
    from codur.agents.external.delegation import ExternalAgents
    from codur.checks.checker import Checker
    from codur.context.index import RepositoryIndex
    from codur.mcp.servers import McpServers
    from codur.tools.toolbox import Toolbox

_GRAPH = "codur.session.graph_run"
_USUAL = ("nodes.pattern_plan", "planning.patterns.code_request", "checks.check_programs", "checks.checker")
"""What a task about code loads first."""


@contextmanager
def opened(task: Task, settings: Settings, record: Recording, *, host: Host, started: float) -> Iterator[RunContext]:
    """Everything the nodes work with, for as long as the run lasts; it `started` by the monotonic clock.

    Raises WorkspaceError: the directory cannot be a workspace; UsageError: the task names an agent that there is not.
    """
    cancel, waited = host.cancel or CancelToken(), host.waited or Waited()

    def time_left() -> float:
        return task.limits.max_runtime_s + waited.seconds - (time.monotonic() - started)

    with ExitStack() as stack:
        journal = stack.enter_context(journal_of(settings, record))
        workspace = open_workspace(task, settings, host=host, journal=journal)
        # A run that goes on has its marks already.
        if journal is not None and not journal.entries:
            workspace.mark(START_MARK)
        # This and the scratch directory are a thirteenth of the instructions of a settled request, which needs neither.
        root = workspace.root  # a copy has no environment
        python = once(lambda: pythons.interpreter.find_python(root, host.environ))
        scratch = _scratch(stack, host.environ)
        # After the journal: a copy has none, as nothing of it stays.
        if task.dry_run:
            workspace = workspace.scratch_copy(scratch())
        workspace = scoped(workspace, task, settings, kept=journal is not None and not task.dry_run, scratch=scratch)
        # Codur's own settings, as those of other agents, unless the task is about them.
        named = [path for path in PROJECT_FILES if path in task.prompt]
        free = [path for path in named if loaded("codur.planning.patterns.refusals").may_edit(task.prompt, path)]
        workspace.protect(path for path in PROJECT_FILES if path not in free)
        # Before the launcher, which tells it of each program; it gets the launcher afterwards, whose name it tells.
        programs = Programs(workspace, record.emit)
        programs.launcher = stack.enter_context(
            Launcher(
                host.environ,
                cancel=Until(cancel, time_left),  # every program ends with the run's time, whoever started it
                max_output_bytes=settings.verification.max_output_kb * 1024,
                python=python,
                sandbox=settings.sandbox,
                state_cache=host.cache,
                quarantine=record.run.quarantine if record.run else None,
                observer=programs,
                shared=host.shared.programs if host.shared else None,
                waited=host.waited,
                # 35 ms, in which the sandbox is tried for the first time.
                meanwhile=lambda: [loaded(f"codur.{name}") for name in _USUAL],
                beside=None if task.expect_file else workspace.beside,  # which may lie there
            )
        )
        # After the launcher, and so closed before it: a recording ends while everything still works.
        pool = stack.enter_context(exchanging(host.exchanges, task, settings, record))
        opening = _Opening(
            task=task,
            settings=_of_agent(task.agent, settings),
            host=host,
            record=record,
            workspace=workspace,
            found_at=root,
            python=python,
            launcher=programs.launcher,
            cancel=cancel,
            time_left=time_left,
            consult=consulting(host.consult, waited) if host.consult else None,
        )
        context = opening.context(pool, scratch)
        if context.toolbox.mcp is not None:
            stack.callback(context.toolbox.mcp.close)
        # Last: from now on the record relies on all of it.
        record.begin(context, journal, used_s=lambda: time.monotonic() - started)
        yield context


def _load_graph() -> None:
    """Load what asks models, in a process that is Codur's own."""
    loaded("codur.graph.load").load_graph(_GRAPH)


def _scratch(stack: ExitStack, environ: Mapping[str, str]) -> Callable[[], Path]:
    """Makes empty directories below the run's temporary one, which is made when it is first needed."""
    root = once(lambda: Path(stack.enter_context(private_directory(temporary_base(environ)))))
    numbers = count(1)

    def scratch() -> Path:
        path = root() / f"scratch-{next(numbers)}"
        path.mkdir()
        return path

    return scratch


def open_workspace(task: Task, settings: Settings, *, host: Host, journal: Journal | None = None) -> Workspace:
    """The task's workspace. Raises WorkspaceError: it cannot be one; StateError: the journal cannot be used."""
    return Workspace.open(
        Path(task.workspace), home=host.home, max_file_bytes=settings.tools.max_file_kb * 1024, journal=journal
    )


@contextmanager
def journal_of(settings: Settings, record: Recording) -> Iterator[Journal | None]:
    """The run's journal; None if the run is not kept."""
    if record.run is None or record.state is None:
        yield None
        return
    journal = new_journal(record.run.journal, record.state.blobs, record.state.cache, settings.state)
    try:
        yield journal
    finally:
        for text in journal.notes:
            record.emit(Note(level="warning", text=text))
        journal.close()


class _Opening(Struct):
    """What a run stands on; each method makes one thing that nodes work with."""

    task: Task
    settings: Settings
    host: Host
    record: Recording
    workspace: Workspace
    found_at: Path  # the workspace that it is, or is a copy of
    python: Callable[[], str]
    launcher: Launcher
    cancel: CancelToken
    time_left: Callable[[], float]
    consult: Callable[[Question], Answer] | None

    def context(self, pool: Mapping[str, Any], scratch: Callable[[], Path]) -> RunContext:
        """All of it, once the start of the run is told. `pool`: what the pool of models is to be made with."""
        task, settings, host, record = self.task, self.settings, self.host, self.record
        agents = AgentRegistry(settings)
        servers = self._servers()
        record.emit(
            RunStarted(
                prompt=task.prompt,
                workspace=task.workspace,
                sandbox=self.launcher.name,
                sandbox_note=self.launcher.note,
                run_id=record.id,
            )
        )
        checker = once(self._checker)
        return RunContext(
            settings=settings,
            workspace=self.workspace,
            launcher=self.launcher,
            find_python=self.python,
            find_checker=checker,
            toolbox=self._toolbox(checker, servers),
            find_repository=once(self._repository),
            models=self._models(pool),
            agents=agents,
            find_externals=once(lambda: self._externals(servers)),
            instructions=instructions_of(task, settings, host),
            prompts=host.shared.prompts if host.shared else config.prompts.PromptLibrary(),
            # In a directory of its own where nothing is kept: later steps refer to outputs by their hashes in any case.
            artifacts=ArtifactStore(record.run.artifacts if record.run else scratch(), redact=record.redactor),
            cancel=self.cancel,
            emit=record.emit,
            time_left=self.time_left,
            scratch=scratch,
            best=BestState(),
            latest=Latest(),
            consult=self.consult,
            search_turn=host.search_turn,
            keep_plan=self._keep_plan,
            guidance=host.guidance,
            load_graph=_load_graph if host.own_process else partial(loaded, _GRAPH),
        )

    def _checker(self) -> Checker:
        programs = checks.check_programs.CheckPrograms(
            self.workspace, self.launcher, python=self.python(), deadline=self.time_left, found_at=self.found_at
        )
        settings = self.settings
        return checks.checker.Checker(
            self.workspace,
            settings.verification,
            programs,
            allow_run=settings.tools.allow_run,
            memory=None if self.task.dry_run else self.host.memory,
        )

    def _repository(self) -> RepositoryIndex:
        hidden = self.workspace.withholding(may_hold_secrets)  # it is made for models
        return context.index.RepositoryIndex(hidden, max_files=self.settings.context.max_files)

    def _servers(self) -> McpServers | None:
        """The configured MCP servers; none is started yet."""
        if not self.settings.mcp_servers:
            return None
        return mcp.servers.McpServers(
            self.settings.mcp_servers,
            mcp.connection.Place(launcher=self.launcher, environ=self.host.environ, workspace=self.workspace.root),
            pins=mcp.servers.Pins(StateDirectory(self.host.state).mcp_file if self.host.state else None),
            cancel=self.cancel,
            time_left=self.time_left,
        )

    def _toolbox(self, checker: Callable[[], Checker], servers: McpServers | None) -> Toolbox:
        return tools.toolbox.Toolbox(
            tools.toolbox.ToolContext(
                workspace=self.workspace,
                launcher=self.launcher,
                find_python=self.python,
                settings=self.settings.tools,
                timeout_s=self.settings.verification.test_timeout_s,
                mcp=servers,
                ask=asking(self.consult) if self.consult else None,
                check=lambda: checker().run_guarded(),
                environ=self.host.environ,
                redact=self.record.redactor,
            )
        )

    def _models(self, pool: Mapping[str, Any]) -> ModelPool:
        host, record = self.host, self.record
        options = PoolOptions(
            emit=record.emit,
            offline=self.task.offline,
            models=host.models or {},
            clock=host.clock or Clock(),
            time_left=self.time_left,
            redactor=record.redactor,
            spent=record.kept.usage if record.kept else Usage(),
            shared=host.shared.models if host.shared else None,
            waiting=host.waited.waiting if host.waited else None,
            stream=host.stream,
            remembered=Remembered(StateDirectory(host.state).limits_file) if host.state else None,
        )
        return ModelPool(self.settings, host.environ, self.task.limits, replace(options, **pool))

    def _externals(self, servers: McpServers | None) -> ExternalAgents:
        return external.delegation.ExternalAgents(
            launcher=self.launcher,
            environ=self.host.environ,
            user_home=self.host.home,
            redact=self.record.redactor,
            offline=self.task.offline,
            mcp=external.server.server_runner(lambda: servers) if servers is not None else None,
            may_instruct=may_instruct(self.task, self.settings, self.host),
        )

    def _keep_plan(self, plan: Plan) -> str:
        """Keep a plan with the run; gives its path, or an empty text if nothing is kept."""
        if self.record.run is None:
            return ""
        text = plans.plan_file.plan_text(plan, task=self.task.prompt, workspace=self.task.workspace)
        return str(self.record.run.write_plan(self.record.redactor(text)))


def _of_agent(agent: str | None, settings: Settings) -> Settings:
    """The settings of a run, of which nothing goes to another service than that of the agent that the user named.

    Raises:
        UsageError: there is no such agent; that ends the run before anything is done.
    """
    # The user chose a service by choosing an agent: a fall-back elsewhere would send code where nobody wanted it.
    named = AgentRegistry(settings).resolve(agent) if agent is not None else None
    own = settings.llm.profiles.get(named.profile) if named is not None else None
    if named is None or own is None:
        return settings
    llm = settings.llm
    same = {name for name, profile in llm.profiles.items() if profile.provider == own.provider}
    default, fast = (name if name in same else named.profile for name in (llm.default_profile, llm.fast_profile))
    fallbacks = tuple(name for name in llm.fallback_profiles if name in same)
    coding = settings.agents.coding
    coding = structs.replace(coding, sample_profiles=tuple(name for name in coding.sample_profiles if name in same))
    llm = structs.replace(llm, default_profile=default, fast_profile=fast, fallback_profiles=fallbacks)
    return structs.replace(settings, llm=llm, agents=structs.replace(settings.agents, coding=coding))


def consulting(consult: Callable[[Question], Answer], waited: Waited) -> Callable[[Question], Answer]:
    """Asks the user, one question at a time; the time until the answer comes does not count."""
    # Tools run in threads, and two questions on one terminal would get each other's answers.
    one_at_a_time = threading.Lock()

    def ask(question: Question) -> Answer:
        with one_at_a_time, waited.waiting():
            return consult(question)

    return ask


def asking(consult: Callable[[Question], Answer]) -> Callable[[str, tuple[str, ...]], str]:
    """Puts a tool's question to the user, with its possible answers."""

    def ask(question: str, options: tuple[str, ...]) -> str:
        text = f"{question} ({' / '.join(options)})" if options else question
        answer = consult(Question(kind="question", text=text))
        if answer.decision != "answer":
            raise ToolError("refused", "the user gave no answer; decide from what is known, or say what is missing")
        return answer.text

    return ask
