"""Codur as an agent of the Agent Client Protocol, for editors: a session is a conversation about one directory.

What happens in a run is told as the protocol's updates; what a run asks becomes a request for permission.
"""

import asyncio
import io
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import acp
from acp import schema

from codur import __version__, api
from codur.api import Job
from codur.cli import machine
from codur.cli.actions import undo
from codur.cli.conversation.slash_commands import BY_NAME, put_back, read_line, undoes
from codur.cli.printing import say
from codur.errors import CodurError, Interrupted
from codur.events import AnswerDelta, CheckBegan, CheckRan, Event, FileChanged, StepBegan
from codur.questions import Answer, Question
from codur.session.turns import Turn, since, turn_of
from codur.store.blobs import BlobStore
from codur.structs import Struct, field
from codur.types import RunResult
from codur.ui.sanitise import sanitise
from codur.ui.shown.plans import question_lines
from codur.ui.shown.progress_lines import Narrator
from codur.ui.shown.run_report import summary_lines
from codur.ui.styled_lines import joined
from codur.workspace.disk.path_state import PathState
from codur.workspace.history.undo_run import run_changes

_MOST_CHARS, _MOST_SESSIONS, _NAMES_CHARS = 1_000_000, 100, 20_000
"""Of a prompt, and of a file that a difference shows; sessions of one editor; of a prompt, where files are named."""
_COMMANDS = [BY_NAME[name] for name in ("help", "undo", "redo", "diff")]
_ALLOW = schema.PermissionOption(option_id="approve", name="Carry it out", kind="allow_once")
_KEEP = schema.PermissionOption(option_id="keep", name="Use it, and keep its file", kind="allow_always")
_REJECT = schema.PermissionOption(option_id="reject", name="Do not", kind="reject_once")


class Session(Struct, frozen=False):
    """A conversation."""

    directory: Path
    turns: list[Turn] = field(default_factory=list)
    job: Job | asyncio.Task[Any] | None = None  # the task at work; before it begins, what asks the editor for its texts


class CodurAgent:
    """What an editor speaks to; `environ` is the environment of each run."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._sessions: dict[str, Session] = {}
        self._client: Any = None
        self._jobs: set[Job] = set()
        self._reads = False  # the editor gives what it holds of files

    def on_connect(self, conn: acp.Client) -> None:
        """Keep the editor, to tell and ask it."""
        self._client = conn

    async def initialize(self, client_capabilities: Any = None, **_: Any) -> schema.InitializeResponse:
        """Say who this is; an older version than ours is for the editor to refuse."""
        self._reads = bool(client_capabilities and client_capabilities.fs and client_capabilities.fs.read_text_file)
        return schema.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(),
            agent_info=schema.Implementation(name="codur", title="Codur", version=__version__),
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        """Begin a conversation about a directory."""
        cwd = os.path.normpath(cwd)
        if not (os.path.isabs(cwd) and "\0" not in cwd and os.path.isdir(cwd)):  # noqa: PTH112, PTH117 - a Path refuses NUL
            raise acp.RequestError.invalid_params({"cwd": "is no directory"})
        if len(self._sessions) >= _MOST_SESSIONS:
            raise acp.RequestError.invalid_request({"sessions": f"at most {_MOST_SESSIONS}"})
        name = uuid4().hex
        self._sessions[name] = Session(directory=Path(cwd))
        known = acp.helpers.update_available_commands(
            schema.AvailableCommand(name=command.name, description=command.help) for command in _COMMANDS
        )
        # The editor hears of the session first.
        asyncio.get_running_loop().call_soon(asyncio.ensure_future, self._client.session_update(name, known))
        return schema.NewSessionResponse(session_id=name)

    async def prompt(self, session_id: str, prompt: Sequence[Any], **_: Any) -> schema.PromptResponse:
        """Carry out a task; it is told of the earlier ones of its session."""
        session = self._session(session_id)
        if session.job is not None:
            raise acp.RequestError.invalid_request({"session": "a task is at work"})
        words = _words(prompt, session.directory)
        if not 0 < len(words) <= _MOST_CHARS:
            raise acp.RequestError.invalid_params({"prompt": f"from 1 to {_MOST_CHARS:,} characters"})
        loop, telling = asyncio.get_running_loop(), _Telling(self._client, session_id, session.directory)
        session.job = asyncio.current_task()
        try:
            unsaved = await self._unsaved(session_id, prompt, session.directory, words)
        except asyncio.CancelledError:
            return schema.PromptResponse(stop_reason="cancelled")
        finally:
            session.job = None
        texts = [block for block in prompt if isinstance(block, schema.TextContentBlock)]
        if said := unsaved or _command(_words(texts, session.directory), session):
            await telling.says(said)
            return schema.PromptResponse(stop_reason="end_turn")

        def ask(question: Question) -> Answer:
            return asyncio.run_coroutine_threadsafe(telling.asked(question), loop).result()

        earlier = since(session.turns, asked=words)
        session.job = api.solve(
            words,
            session.directory,
            ask=ask,
            earlier=earlier.told,
            places=earlier.places,
            made=earlier.made,
            environ=self._environ,
            stream=True,
        )
        self._jobs.add(session.job)
        try:
            result = await telling.told(session.job)
            self._jobs.discard(session.job)
        except CodurError as error:
            await telling.says(f"{error.message}\n{error.remedy}")
            return schema.PromptResponse(stop_reason="end_turn")
        finally:
            session.job = None
        session.turns.append(turn_of(words, result))
        return schema.PromptResponse(stop_reason="cancelled" if result.outcome == "interrupted" else "end_turn")

    async def cancel(self, session_id: str, **_: Any) -> None:
        """End the task of a session in good order."""
        session = self._sessions.get(session_id)
        if session is not None and session.job is not None:
            session.job.cancel()

    async def close(self) -> None:
        """End all tasks, and wait until their workspaces are put back."""
        for job in self._jobs:
            job.cancel()
        for job in self._jobs:
            with suppress(CodurError):
                await job

    async def _unsaved(self, session: str, blocks: Sequence[Any], directory: Path, words: str) -> str:
        """That a file which the task names is otherwise in the editor, as it would be overwritten; empty if none is."""
        named = re.findall(r"[\w./+-]+", words[:_NAMES_CHARS]) if self._reads else ()
        files = {*_linked(blocks), *(Path(os.path.normpath(directory / word.rstrip("."))) for word in named)}
        held = {_path(uri): text for block in blocks for uri, text in _embedded(block)}
        for path in files if self._reads else ():
            # Path.is_file raises for a word that is longer than a name may be.
            if path.is_relative_to(directory) and os.path.isfile(path):  # noqa: PTH113
                with suppress(acp.RequestError):
                    held[path] = (await self._client.read_text_file(session_id=session, path=str(path))).content
        unsaved = [path.name for path, text in held.items() if path.is_relative_to(directory) and _differs(path, text)]
        return f"Not begun: the editor has unsaved changes of {', '.join(unsaved)}. Save first." if unsaved else ""

    def _session(self, name: str) -> Session:
        if name not in self._sessions:
            raise acp.RequestError.invalid_params({"sessionId": "there is no such session"})
        return self._sessions[name]


def _words(blocks: Sequence[Any], directory: Path) -> str:
    """The task: the texts, and the files that are named with them by their paths in the directory."""
    said = [block.text for block in blocks if isinstance(block, schema.TextContentBlock)]
    files = [path.relative_to(directory).as_posix() for path in _linked(blocks) if path.is_relative_to(directory)]
    return " ".join([*said, *files]).strip()


def _linked(blocks: Sequence[Any]) -> list[Path]:
    """The files that go with a prompt, by their links or whole."""
    uris = [block.uri for block in blocks if isinstance(block, schema.ResourceContentBlock)]
    uris += [block.resource.uri for block in blocks if isinstance(block, schema.EmbeddedResourceContentBlock)]
    return [_path(uri) for uri in uris]


def _path(uri: str) -> Path:
    return Path(os.path.normpath(unquote(urlsplit(uri).path)))


def _embedded(block: Any) -> list[tuple[str, str]]:
    """The whole file that goes with a prompt, if it does; a fragment means a part of it."""
    resource: Any = getattr(block, "resource", None)
    whole = isinstance(resource, schema.TextResourceContents) and not urlsplit(resource.uri).fragment
    return [(resource.uri, resource.text)] if whole else []


def _differs(path: Path, text: str) -> bool:
    """Whether a file of text holds other lines on the disk."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines() != text.splitlines()
    except (OSError, ValueError):
        return False


def _command(words: str, session: Session) -> str:
    """What a command says, or the wish for one in words; empty if it is a task."""
    with redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
        try:
            asked = read_line(words)
            if (wanted := undoes(asked.words)) is not None and not asked.about:
                put_back(words, session.directory, wanted, again="--redo" in asked.words, keep=session.turns.append)
            elif asked.words[:1] == ("diff",):
                undo.show_diff(next(iter(asked.words[1:]), None), session.directory, json=False)
            elif words.startswith("/") and not asked.task:
                say("\n".join(f"{f'/{each.name} {each.takes}'.rstrip()}: {each.help}" for each in _COMMANDS))
        except CodurError as error:
            return f"{error.message}\n{error.remedy}"
    return said.getvalue().strip().replace("codur undo --redo", "/redo")


class _Telling:
    """Tells one prompt's run, and asks for it."""

    def __init__(self, client: Any, session: str, directory: Path) -> None:
        self._client = client
        self._session = session
        self._directory = directory
        self._narrator = Narrator(verbose=False, works=True)
        self._number = 0
        self._edits: dict[str, str] = {}
        self._check = ""  # the check that is being run, by its call

    async def told(self, job: Job) -> RunResult:
        """The run's result, after all of it was told. If the editor goes, the run ends.

        Raises:
            CodurError: it could not begin.
        """
        try:
            async for event in job:
                await self._event(event)
        except BaseException:  # the editor has gone: nobody sees what the rest would come to
            job.cancel()
            raise
        result = await job
        if self._check:
            await self._update(acp.update_tool_call(self._check, status="failed"))
        await self._changes(result)
        lines = summary_lines(result, told=self._narrator.told)
        await self.says("\n\n".join(filter(None, (result.answer.strip(), joined(lines)))))
        return result

    async def says(self, text: str) -> None:
        """Tell as the agent's own words."""
        await self._update(acp.update_agent_message_text(sanitise(text)))

    async def asked(self, question: Question) -> Answer:
        """What the user permits; a question in words ends the run, and is answered by the next prompt."""
        if question.kind == "question":
            return Answer(decision="nobody")
        allowed = [] if question.text else [_ALLOW, *([_KEEP] if question.kind == "test" else [])]
        text = joined(question_lines(question))
        call = schema.ToolCallUpdate(
            tool_call_id=self._name(),
            title="Must this test pass?" if question.kind == "test" else "Carry out this plan?",
            status="pending",
            content=[acp.tool_content(acp.text_block(text))],
        )
        reply = await self._client.request_permission(
            session_id=self._session, tool_call=call, options=[*allowed, _REJECT]
        )
        chosen = getattr(reply.outcome, "option_id", "")
        if chosen in {option.option_id for option in allowed}:
            return Answer(decision="approve", keep=chosen == "keep")
        if not chosen:  # with the prompt
            raise Interrupted("cancelled; the workspace is as it was")
        return Answer(decision="reject")

    async def _event(self, event: Event) -> None:
        match event:
            case AnswerDelta():
                await self._update(acp.update_agent_thought_text(sanitise(event.text)))
            case CheckBegan() if not self._check:
                self._check, title = self._name(), sanitise(f"check: {event.check}")
                await self._update(acp.start_tool_call(self._check, title, kind="execute", status="in_progress"))
            case CheckRan():
                await self._event(CheckBegan(check=event.verdict.check))  # unless it is known to have begun
                text = "\n".join(line.text for line in self._narrator.lines(event))
                content = [acp.tool_content(acp.text_block(text))] if text else None
                status: Any = "completed" if event.verdict.passed else "failed"
                title = sanitise(f"check: {event.verdict.check}")
                await self._update(acp.update_tool_call(self._check, title=title, status=status, content=content))
                self._check = ""
            case FileChanged():
                await self._edit(event.path)
            case StepBegan():
                await self._update(acp.update_plan(_entries(event)))
            case _:
                for line in self._narrator.lines(event):
                    await self._update(acp.update_agent_thought_text(f"{line.text}\n"))

    async def _edit(self, path: str) -> None:
        if path not in self._edits:
            self._edits[path] = self._name()
            where = [schema.ToolCallLocation(path=str(self._directory / path))]
            title = sanitise(f"edit {path}")
            start = acp.start_tool_call(self._edits[path], title, kind="edit", status="in_progress", locations=where)
            await self._update(start)

    async def _changes(self, result: RunResult) -> None:
        """What stays changed, file by file; what does not was put back."""
        differences = _differences(result) if result.changed_files and result.run_id else {}
        for path in differences:
            await self._edit(path)
        for path, name in self._edits.items():
            if path not in differences:
                await self._update(acp.update_tool_call(name, status="failed"))
                continue
            old, new = differences[path]
            shown = acp.tool_diff_content(str(self._directory / path), new, old)
            await self._update(acp.update_tool_call(name, status="completed", content=[shown]))

    async def _update(self, update: Any) -> None:
        await self._client.session_update(session_id=self._session, update=update)

    def _name(self) -> str:
        self._number += 1
        return f"{self._session[:8]}-{uuid4().hex[:8]}-{self._number}"


def _entries(event: StepBegan) -> list[Any]:
    """The steps of a plan, each with where it stands."""
    ahead = len(event.steps) - event.number
    standing: list[Any] = ["completed"] * (event.number - 1) + ["in_progress"] + ["pending"] * ahead
    return [acp.plan_entry(sanitise(step), status=at) for step, at in zip(event.steps, standing, strict=True)]


def _differences(result: RunResult) -> dict[str, tuple[str | None, str]]:
    """Old and new texts of what a run changed, by path."""
    state = machine.kept_state()
    journal = undo.journal_of(undo.changed_run(result.run_id, Path(result.workspace)), state)
    blobs = BlobStore(state.blobs)
    changes = [change for change in run_changes(journal) if change.path in result.changed_files]
    return {change.path: (_text(change.before, blobs), _text(change.after, blobs) or "") for change in changes}


def _text(state: PathState | None, blobs: BlobStore) -> str | None:
    if state is None or not state.content:
        return None
    return blobs.get(state.content)[:_MOST_CHARS].decode("utf-8", "replace")


async def serve(environ: Mapping[str, str]) -> None:
    """Speak over standard input and output until the editor closes them."""
    agent = CodurAgent(environ)
    try:
        await acp.run_agent(agent)  # type: ignore[arg-type]  # of the protocol's methods those that there are
    finally:
        await agent.close()
