"""`codur acp`, driven by the protocol's own client over real pipes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import acp
import pytest
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    FileSystemCapabilities,
    ReadTextFileResponse,
    RequestPermissionResponse,
)

from codur.cli.serving.acp_agent import _Telling
from codur.events import CheckBegan, CheckRan
from codur.types import Verdict
from tests.cli.kit import ROOT, codur, environment
from tests.runs.kit import REPAIRABLE, contents, fill

SLOW = {"main.py": "import time\nopen('began', 'w').close()\ntime.sleep(60)\n", "expected.txt": "1\n"}


@dataclass
class Editor:
    """What an editor sees, and how it answers."""

    answer: str = "approve"
    updates: list[Any] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)  # what it has of files, by their paths
    read: list[str] = field(default_factory=list)  # what it was asked for of these
    silent: bool = False  # it does not answer that

    def on_connect(self, conn: Any) -> None:
        """Nothing is kept."""

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append((tool_call, [option.option_id for option in options]))
        if not self.answer:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=self.answer))

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        self.read.append(path)
        if self.silent:
            await asyncio.sleep(3600)
        if path not in self.held:
            raise acp.RequestError.invalid_params()
        return ReadTextFileResponse(content=self.held[path])

    @property
    def said(self) -> str:
        return "".join(update.content.text for update in self.updates if update.session_update == "agent_message_chunk")

    def of(self, kind: str) -> list[Any]:
        return [update for update in self.updates if update.session_update == kind]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return fill(tmp_path / "project", {**REPAIRABLE, "notes.txt": "milk\n"})


@asynccontextmanager
async def editing(editor: Editor, project: Path) -> AsyncIterator[tuple[Any, str, Any]]:
    """The connection, a session's id, and the process."""
    own = {**environment(project.parent / "home"), "PYTHONPATH": str(ROOT)}
    started = acp.spawn_agent_process(editor, sys.executable, "-m", "codur", "acp", env=own)  # type: ignore[arg-type]
    async with started as (connection, process):
        hello = await connection.initialize(
            protocol_version=0,
            client_capabilities=ClientCapabilities(fs=FileSystemCapabilities(read_text_file=bool(editor.held))),
        )
        assert (hello.protocol_version, hello.agent_info.name) == (acp.PROTOCOL_VERSION, "codur")  # type: ignore[union-attr]
        session = await connection.new_session(cwd=str(project), mcp_servers=[])
        yield connection, session.session_id, process


async def says(connection: Any, session: str, *words: str) -> str:
    answer = await connection.prompt(session_id=session, prompt=[acp.text_block(text) for text in words])
    return str(answer.stop_reason)


def test_a_fix_with_its_check_and_its_difference(project: Path) -> None:
    editor = Editor()

    async def talk() -> None:
        async with editing(editor, project) as (connection, session, _):
            link = acp.resource_link_block("main.py", (project / "main.py").as_uri())
            reply = await connection.prompt(session_id=session, prompt=[acp.text_block("fix"), link])
            assert reply.stop_reason == "end_turn"

    asyncio.run(talk())
    begun = [update for update in editor.of("tool_call") if update.kind == "execute"]
    assert [(update.title, update.status) for update in begun] == [("check: python main.py", "in_progress")] * 2
    ended = {update.tool_call_id: update for update in editor.of("tool_call_update")}
    assert [ended.pop(update.tool_call_id).status for update in begun] == ["failed", "completed"]
    (edit,) = [update for update in editor.of("tool_call") if update.kind == "edit"]
    assert [place.path for place in edit.locations] == [str(project / "main.py")]
    ((difference,),) = [update.content for update in ended.values()]
    assert (difference.old_text, difference.new_text) == (REPAIRABLE["main.py"], contents(project)["main.py"])
    assert "solved" in editor.said


@pytest.mark.parametrize(("answer", "stays"), [("approve", False), ("reject", True), ("", True)])
def test_what_a_plan_does_is_asked_for(project: Path, answer: str, stays: bool) -> None:
    editor = Editor(answer=answer)

    async def talk() -> None:
        async with editing(editor, project) as (connection, session, _):
            assert await says(connection, session, "rm notes.txt") == ("end_turn" if answer else "cancelled")

    asyncio.run(talk())
    ((call, options),) = editor.asked
    assert options == ["approve", "reject"]
    assert "notes.txt" in call.content[0].content.text
    assert (project / "notes.txt").exists() == stays
    assert "nobody" not in editor.said


@pytest.mark.parametrize("by", ["resource", "link", "name"])
def test_what_is_not_saved_is_not_overwritten(project: Path, by: str) -> None:
    path, uri, text = project / "main.py", (project / "main.py").as_uri(), f"{REPAIRABLE['main.py']}# more\n"
    editor = Editor(held={str(path): text} if by != "resource" else {})
    blocks: dict[str, list[Any]] = {
        "resource": [acp.resource_block(acp.embedded_text_resource(uri, text))],
        "link": [acp.resource_link_block("main.py", uri)],
        "name": [acp.text_block("`main.py`:7.")],
    }

    async def talk() -> None:
        async with editing(editor, project) as (connection, session, _):
            prompt = [acp.text_block("fix"), *blocks[by]]
            await connection.prompt(session_id=session, prompt=prompt)
            assert contents(project)["main.py"] == REPAIRABLE["main.py"]
            path.write_text(text)  # saved
            await connection.prompt(session_id=session, prompt=prompt)

    asyncio.run(talk())
    assert editor.said.count("unsaved changes of main.py") == 1
    assert contents(project)["main.py"] not in {REPAIRABLE["main.py"], text}


def test_only_files_of_the_directory_are_asked_for(project: Path) -> None:
    other, inside = project.parent / "other.py", str(project / "main.py")
    other.write_text("1\n")
    editor = Editor(held={str(other): "2\n", str(project / "../other.py"): "2\n", inside: REPAIRABLE["main.py"]})

    async def talk() -> None:
        async with editing(editor, project) as (connection, session, _):
            whole = acp.resource_block(acp.embedded_text_resource(f"{project.as_uri()}/../other.py", "2\n"))
            link = acp.resource_link_block("other.py", other.as_uri())
            text = acp.text_block(f"fix main.py ../other.py {other} /etc/hosts sub/../main.py {'QUJD' * 80}")
            await connection.prompt(session_id=session, prompt=[text, whole, link])

    asyncio.run(talk())
    assert editor.read == [inside]
    assert "unsaved" not in editor.said


def test_a_check_bears_the_name_of_the_one_that_was_judged(tmp_path: Path) -> None:
    """Told directly: which commands a run tries before one is kept is the run's matter."""
    editor = Editor()

    async def talk() -> None:
        telling = _Telling(editor, "session", tmp_path)
        ran = CheckRan(when="before", verdict=Verdict(status="failed", check="python main.py 2"))
        for event in (CheckBegan(check="python main.py 1"), CheckBegan(check="python main.py 2"), ran, ran):
            await telling._event(event)

    asyncio.run(talk())
    first, again = editor.of("tool_call_update")
    assert (first.title, bool(first.content), again.content) == ("check: python main.py 2", True, None)


def test_commands_need_no_model(project: Path) -> None:
    editor, before = Editor(), contents(project)

    async def talk() -> None:
        async with editing(editor, project) as (connection, session, _):
            await says(connection, session, "fix main.py")
            (known,) = editor.of("available_commands_update")
            assert [command.name for command in known.available_commands] == ["help", "undo", "redo", "diff"]
            after = contents(project)
            link = acp.resource_link_block("main.py", (project / "main.py").as_uri())
            for words, there in (("undo that", before), ("redo", after), ("/undo", before), ("/redo", after)):
                await connection.prompt(session_id=session, prompt=[acp.text_block(words), link])
                assert contents(project) == there, editor.said
            assert "to take that back: /redo" in editor.said
            for words, told in (("/diff", "range(start, end + 1)"), ("/help", "/help: Show"), ("/nope", "no command")):
                editor.updates.clear()
                await says(connection, session, words)
                assert told in editor.said

    asyncio.run(talk())
    assert "a model is needed" not in editor.said


def test_cancelled(tmp_path: Path) -> None:
    project, editor = fill(tmp_path / "project", SLOW), Editor()

    async def talk() -> None:
        async with editing(editor, project) as (connection, session, _):
            waiting = asyncio.ensure_future(says(connection, session, "fix main.py"))
            while not (project / "began").exists():
                await asyncio.sleep(0.02)
            with pytest.raises(acp.RequestError):
                await says(connection, session, "fix main.py")
            await connection.cancel(session_id=session)
            assert await waiting == "cancelled"

    asyncio.run(talk())


@pytest.mark.parametrize("goes", [False, True])
def test_cancelled_before_the_editor_has_given_its_texts(project: Path, goes: bool) -> None:
    editor, before = Editor(held={str(project / "main.py"): REPAIRABLE["main.py"]}, silent=True), contents(project)

    async def talk() -> None:
        async with editing(editor, project) as (connection, session, process):
            waiting = asyncio.ensure_future(says(connection, session, "fix main.py"))
            while not editor.read:
                await asyncio.sleep(0.02)
            if goes:
                process.stdin.close()
                assert await asyncio.wait_for(process.wait(), 60) == 0
                waiting.cancel()
                await asyncio.wait([waiting])
                return
            with pytest.raises(acp.RequestError):
                await says(connection, session, "fix main.py")
            await connection.cancel(session_id=session)
            assert await asyncio.wait_for(waiting, 60) == "cancelled"
            editor.silent = False
            assert await says(connection, session, "/help") == "end_turn"

    asyncio.run(talk())
    assert contents(project) == before


def test_an_editor_that_dies_in_the_middle(tmp_path: Path) -> None:
    project = fill(tmp_path / "project", SLOW)

    async def talk() -> None:
        async with editing(Editor(), project) as (connection, session, process):
            waiting = asyncio.ensure_future(says(connection, session, "fix main.py"))
            while not (project / "began").exists():
                await asyncio.sleep(0.02)
            process.stdin.close()
            assert await asyncio.wait_for(process.wait(), 60) == 0
            waiting.cancel()
            await asyncio.wait([waiting])

    asyncio.run(talk())
    kept = json.loads(codur("runs", "--json", cwd=project, home=tmp_path / "home").out)
    assert [run["status"] for run in kept] == ["interrupted"]
    assert contents(project)["main.py"] == SLOW["main.py"]


def test_what_is_refused(project: Path) -> None:
    async def talk() -> None:
        async with editing(Editor(), project) as (connection, session, _):
            for words in ("", "x" * 10_000_000):
                with pytest.raises(acp.RequestError, match="Invalid params"):
                    await says(connection, session, words)
            with pytest.raises(acp.RequestError, match="Invalid params"):
                await says(connection, "no session", "fix main.py")
            for place in ("relative", str(project / "main.py"), "/nowhere"):
                with pytest.raises(acp.RequestError, match="Invalid params"):
                    await connection.new_session(cwd=place, mcp_servers=[])

    asyncio.run(talk())


def test_the_extra_is_not_installed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "hidden" / "acp").mkdir(parents=True)
    (tmp_path / "hidden" / "acp" / "__init__.py").write_text("raise ImportError('not here')\n")
    ran = codur("acp", cwd=project, home=tmp_path / "home", PYTHONPATH=str(tmp_path / "hidden"))
    assert ran.code == 2
    assert 'pip install "codur[acp]"' in ran.err
