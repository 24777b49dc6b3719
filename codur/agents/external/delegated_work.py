"""One delegation: copy, run, read, take over what is allowed."""

from codur.agents.external.agent_program import run_program
from codur.agents.external.copy import Allowed, Copy, Taken, changes_in, copy_workspace, take_over
from codur.agents.external.delegation import ExternalAgents, Terms, variables_of
from codur.agents.external.plugins import run_plugin
from codur.agents.external.protocol import Answer, Happening, Job, Said
from codur.agents.registry import Agent
from codur.errors import WorkspaceError
from codur.events import AgentMessage, Emit, ToolRan
from codur.structs import Struct, field, replace
from codur.workspace.workspace import Workspace

_SHOWN_CHARS = 300
MAX_PROMPT_BYTES = 100_000
"""One argument of a program has 128 KiB on Linux."""


class Delegated(Struct):
    """What came of a delegation; `note` tells what was kept from the agent although it could be accepted."""

    answer: Answer
    taken: Taken = field(default_factory=Taken)
    changed_nothing: bool = True
    note: str = ""


def run_external(agents: ExternalAgents, agent: Agent, prompt: str, workspace: Workspace, terms: Terms) -> Delegated:
    """Let an agent work in a copy, and take over what it may change; CodurError if there is no copy or sandbox."""
    with agents.launcher.temporary_directory() as directory:
        home = directory / "home"
        home.mkdir(mode=0o700)
        copy = copy_workspace(workspace, directory / "work", may_instruct=agents.may_instruct)
        job = Job(
            prompt=agents.redact(prompt).encode()[:MAX_PROMPT_BYTES].decode("utf-8", "ignore"),
            directory=copy.root,
            home=home,
            timeout_s=min(terms.timeout_s, agent.config.timeout_s),
            variables=variables_of(agent.name, agent.config, agents.environ, str(home)),
            read_only=tuple(path for path in terms.read_only if path in copy.digests),
            tell=lambda happening: _tell(happening, agent.name, terms.emit),
        )
        answer = _run(agents, agent, job)
        if answer.end in {"cancelled", "not_started"}:
            return Delegated(answer=answer)
        return replace(_settled(agent, answer, copy, workspace, terms.allowed), note=copy.note)


def _run(agents: ExternalAgents, agent: Agent, job: Job) -> Answer:
    if agent.config.type == "cli":
        return run_program(agents, agent.config, job)
    if agent.config.type == "python":
        return run_plugin(agent.config.entry_point or agent.name, job)
    if agents.mcp is None:
        return Answer(error="no MCP servers are configured", end="not_started")
    return agents.mcp(agent, job)


def _settled(agent: Agent, answer: Answer, copy: Copy, workspace: Workspace, allowed: Allowed) -> Delegated:
    try:
        changes = changes_in(copy, max_file_bytes=workspace.max_file_bytes, leaves=agent.config.leaves)
    except (WorkspaceError, OSError) as error:
        return Delegated(answer=answer, taken=Taken(problem=f"its copy cannot be read: {error}"), changed_nothing=False)
    taken = take_over(agent.name, changes, copy, workspace, allowed=allowed)
    nothing = not (changes.files or changes.refused or changes.problem)
    return Delegated(answer=answer, taken=taken, changed_nothing=nothing)


def _tell(happening: Happening, agent: str, emit: Emit) -> None:
    if isinstance(happening, Said):
        shown = " ".join(happening.text.split())[:_SHOWN_CHARS]
        if shown:
            emit(AgentMessage(agent=agent, text=shown))
    else:
        code = "ok" if happening.ok else "failed"
        emit(ToolRan(tool=f"{agent}:{happening.tool}", code=code, summary=happening.summary))
