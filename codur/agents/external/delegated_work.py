"""One delegation: copy, run, read, take over what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from codur.agents.external.copy import Taken, changes_in, copy_workspace, take_over
from codur.agents.external.delegation import ExternalAgents, Terms, find_program, installation_of, variables_of
from codur.agents.external.dialects import READERS, PlainReader, Reader
from codur.agents.external.protocol import Answer, End, Happening, Job, Said, run_plugin
from codur.agents.registry import Agent
from codur.config.reading.setting_rules import PLACE, WORD_LISTS
from codur.config.settings import AgentConfig
from codur.errors import WorkspaceError
from codur.events import AgentMessage, Emit, ToolRan
from codur.llm.tokens import PER_MILLION
from codur.parsing.json_values import read_json
from codur.sandbox.process.process_result import ProcessResult
from codur.structs import Struct, replace
from codur.types import Usage
from codur.workspace.workspace import Workspace

OUTPUT_BYTES = 2_097_152
"""Kept of each output; events are read as they arrive, so that none is lost to that."""
_TEXT_CHARS = 20_000
_ERROR_CHARS = 600
_PROMPT_FILE = "prompt.md"


def run_program(agents: ExternalAgents, config: AgentConfig, job: Job) -> Answer:
    """Run the program of a `cli` agent until it ends or its time is over; CodurError if it cannot be contained."""
    program = find_program(config.command[0], agents.environ)
    if program is None:
        return Answer(error=f"the program {config.command[0]} is not installed", end="not_started")
    words = words_of(config, _places(config, job), contained=agents.launcher.name != "none")
    reader = READERS[config.dialect]() if config.dialect in READERS else PlainReader(config.answer)
    lines = JsonLines(lambda event: _tell(reader, event, job))
    home = agents.user_home
    stated = [home / path[2:] if path.startswith("~/") else Path(path) for path in config.readable]
    result = agents.launcher.run(
        (str(program), *words[1:]),
        cwd=job.directory,
        stdin=job.prompt.encode() if config.prompt_by == "stdin" else b"",
        timeout_s=job.timeout_s,
        env=job.variables,
        max_output_bytes=OUTPUT_BYTES,
        read_only=[job.directory / path for path in job.read_only],
        readable=(*installation_of(program, agents.environ), *stated),
        home=job.home,
        network=config.network,
        tap=lines.add if config.output == "jsonl" else None,
    )
    lines.close()
    return _answer(config, reader, lines, result, job)


def words_of(config: AgentConfig, places: Mapping[str, str], *, contained: bool) -> tuple[str, ...]:
    """The program and its words with every place filled; what is put in is not looked at for places again.

    Args:
        places: texts for {prompt}, {prompt_file}, {workspace} and {model}.
        contained: whether Codur's sandbox contains the program.
    """
    lists: dict[str, Sequence[str]] = {
        "permissions": config.permissions if contained else config.permissions_uncontained,
        "model_option": config.model_option if config.model else (),
    }
    words: list[str] = []
    for word in config.command:
        name = word[1:-1] if word.startswith("{") and word.endswith("}") else ""
        given = lists[name] if name in WORD_LISTS else (word,)
        words += [PLACE.sub(lambda found: places[found[1]] if found[1] else found[0][0], item) for item in given]
    return tuple(words)


def _places(config: AgentConfig, job: Job) -> dict[str, str]:
    file = job.home / _PROMPT_FILE
    if config.prompt_by == "file":
        file.write_text(job.prompt, encoding="utf-8")
    return {
        "prompt": job.prompt if config.prompt_by == "argument" else "",
        "prompt_file": str(file),
        "workspace": str(job.directory),
        "model": config.model or "",
    }


def _tell(reader: Reader, event: Mapping[str, Any], job: Job) -> None:
    for happening in reader.take(event):
        job.tell(happening)


def _answer(config: AgentConfig, reader: Reader, lines: JsonLines, result: ProcessResult, job: Job) -> Answer:
    if config.output == "json":
        value = read_json(result.stdout)
        if isinstance(value, dict):
            _tell(reader, value, job)
    said = reader.text
    if config.output == "text":
        said = result.stdout.strip()[-_TEXT_CHARS:]
        if said:
            job.tell(Said(text=said))
    end, why = _ended(result, in_words=config.output == "text")
    error = reader.error or why
    if config.output != "text" and not said and not error:
        error = f"it printed nothing in {config.output} that could be read"
    if lines.skipped and not lines.objects:
        error = f"{error}; {lines.skipped} lines of its output are no JSON"
    usage = _priced(config, reader.usage)
    return Answer(text=said, error=error, usage=usage, end=end, exit_status=result.exit_status)


def _ended(result: ProcessResult, *, in_words: bool) -> tuple[End, str]:
    """How a program ended, and why if not in good order. Its standard output tells if that is in words."""
    if result.timed_out:
        return "timed_out", f"it was stopped after {result.duration_s:.0f} s, its time limit"
    if result.cancelled:
        return "cancelled", "it was stopped"
    if result.started and result.flooded:
        return "flooded", "it was stopped because its output did not end"
    if result.started and result.limit:
        return "limit", f"it was stopped at a limit of the sandbox: {result.limit}"
    end: End = "ended" if result.started else "not_started"
    if result.exit_status == 0:
        return end, ""
    told = result.stderr.strip() or (result.stdout.strip() if in_words else "")
    said = " ".join(told[-_ERROR_CHARS:].split())
    return end, f"it ended with exit status {result.exit_status}{f': {said}' if said else ''}"


def _priced(config: AgentConfig, usage: Usage) -> Usage:
    """The usage with its cost by the settings' prices, if the program did not tell one."""
    if usage.cost_usd:
        return usage
    fresh = max(0, usage.prompt_tokens - usage.cached_tokens)
    cost = fresh * config.price_in + usage.cached_tokens * config.price_cached
    return replace(usage, cost_usd=(cost + usage.completion_tokens * config.price_out) / PER_MILLION)


MAX_LINE = 1_048_576


class JsonLines:
    """Splits a stream into JSON objects, each of which `take` gets; counts them, and the lines that held none."""

    def __init__(self, take: Callable[[Mapping[str, Any]], None]) -> None:
        self._take = take
        self._held = bytearray()
        self.objects = 0
        self.skipped = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._hold(piece)
            self._line()
        self._hold(rest)

    def close(self) -> None:
        """There are no more bytes: what is left is the last line."""
        self._line()

    def _hold(self, piece: bytes) -> None:
        self._held += piece[: MAX_LINE + 1 - len(self._held)]  # one byte more tells that a line is too long

    def _line(self) -> None:
        line = bytes(self._held)
        self._held.clear()
        value = read_json(line) if len(line) <= MAX_LINE else None
        if isinstance(value, dict):
            self.objects += 1
            self._take(value)
        elif len(line) > MAX_LINE or line.strip():
            self.skipped += 1


_SHOWN_CHARS = 300
MAX_PROMPT_BYTES = 100_000
"""One argument of a program has 128 KiB on Linux."""


class Delegated(Struct):
    """What came of a delegation; `note` tells what was kept from the agent although it could be accepted."""

    answer: Answer
    taken: Taken = Taken()
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
            tell=lambda happening: _emit(happening, agent.name, terms.emit),
        )
        answer = _run(agents, agent, job)
        if answer.end in {"cancelled", "not_started"}:
            return Delegated(answer=answer)
        try:
            changes = changes_in(copy, max_file_bytes=workspace.max_file_bytes, leaves=agent.config.leaves)
        except (WorkspaceError, OSError) as error:
            taken = Taken(problem=f"its copy cannot be read: {error}")
        else:
            taken = take_over(agent.name, changes, copy, workspace, allowed=terms.allowed)
        return Delegated(answer=answer, taken=taken, note=copy.note)


def _run(agents: ExternalAgents, agent: Agent, job: Job) -> Answer:
    if agent.config.type == "cli":
        return run_program(agents, agent.config, job)
    if agent.config.type == "python":
        return run_plugin(agent.config.entry_point or agent.name, job)
    if agents.mcp is None:
        return Answer(error="no MCP servers are configured", end="not_started")
    return agents.mcp(agent, job)


def _emit(happening: Happening, agent: str, emit: Emit) -> None:
    if isinstance(happening, Said):
        shown = " ".join(happening.text.split())[:_SHOWN_CHARS]
        if shown:
            emit(AgentMessage(agent=agent, text=shown))
    else:
        code = "ok" if happening.ok else "failed"
        emit(ToolRan(tool=f"{agent}:{happening.tool}", code=code, summary=happening.summary))
