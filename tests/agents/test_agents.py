"""The agents with a scripted model: edits applied whole or not at all, and a tool loop with an end."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Literal

import pytest
from msgspec import structs

from codur.agents.assignment import Assignment, CodingTask
from codur.agents.coding import REFUSALS, CodingOutcome, write_code
from codur.agents.loop import DROPPED, LAST_WORD, LoopOutcome, run_agent
from codur.agents.registry import AgentRegistry
from codur.config.prompts import PromptLibrary
from codur.config.settings import LlmSettings, Profile, Settings, ToolSettings
from codur.context.brief import CodingBrief
from codur.llm.model import ChatReply
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.sandbox.launcher import Launcher
from codur.structs import replace
from codur.tools.toolbox import Toolbox, ToolContext
from codur.types import Limits, ToolCall
from codur.workspace.workspace import Workspace
from tests.runs.kit import contents, fill
from tests.support.scripted_model import ScriptedModel

SETTINGS = Settings(llm=LlmSettings(default_profile="gpt-oss-120b"))
FILES = {"main.py": "def one():\n    return 1\n\n\ndef two():\n    return 1\n"}
BRIEF = CodingBrief(task="t", objective="", sources=FILES, python_version="3.12.1", inputs={}, check=None, verdict=None)


def call(tool: str, /, **arguments: object) -> ToolCall:
    return ToolCall(id=f"c-{tool}", name=tool, arguments=arguments)


def tools(workspace: Workspace) -> Toolbox:
    launcher = Launcher({"PATH": os.environ["PATH"]})
    return Toolbox(
        ToolContext(
            workspace=workspace,
            launcher=launcher,
            find_python=lambda: sys.executable,
            settings=ToolSettings(),
            timeout_s=20.0,
        )
    )


def code(
    directory: Path,
    *replies: ChatReply | str,
    profile: Profile | None = None,
    target: str | None = "main.py",
    own: tuple[str, ...] = (),
) -> CodingOutcome:
    workspace = Workspace.open(fill(directory, FILES))
    agent = AgentRegistry(SETTINGS).coding()
    if own:
        agent = replace(agent, config=structs.replace(agent.config, tools=own))
    used = profile or SETTINGS.llm.profiles[agent.profile]
    model = ScriptedModel(list(replies), profile_name=agent.profile, profile=used)
    pool = ModelPool(SETTINGS, {}, Limits(), PoolOptions(models={agent.profile: model}))
    return asyncio.run(
        write_code(
            CodingTask(
                brief=BRIEF,
                workspace=workspace,
                target=target,
                whole_file_lines=200,
                read_text_calls=True,
            ),
            Assignment(agent=agent, profile=used, pool=pool, prompts=PromptLibrary(), toolbox=tools(workspace)),
        )
    )


TWO = call("replace_function", path="main.py", name="two", code="def two():\n    return 2\n")
ONE = call("replace_function", path="main.py", name="one", code="def one():\n    return 11\n")


def test_all_edits_of_an_answer_are_applied(tmp_path: Path) -> None:
    outcome = code(tmp_path, ChatReply(tool_calls=(ONE, TWO)))
    assert outcome == CodingOutcome(
        code="ok",
        summary="replace_function one in main.py, replace_function two in main.py",
        changed_files=("main.py",),
    )
    assert contents(tmp_path) == {"main.py": "def one():\n    return 11\n\n\ndef two():\n    return 2\n"}


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (call("replace_function", path="main.py", name="three", code="def three(): pass\n"), "three"),
        (call("replace_function", path="main.py", name="two", code="def two(:\n"), "two"),
        (call("run_python_file", path="main.py"), "there is no such tool here"),
        (call("replace_function", name="two"), "code"),
    ],
)
def test_one_bad_edit_undoes_the_others(second: ToolCall, words: str, tmp_path: Path) -> None:
    outcome = code(tmp_path, *[ChatReply(tool_calls=(ONE, second))] * (1 + REFUSALS))
    assert outcome.code != "ok"
    assert outcome.error.startswith(f"edit 2 of 2, {second.name}: ")
    assert words in outcome.error
    assert outcome.error.endswith("no edit was applied")
    assert contents(tmp_path) == FILES


PATCH = "--- a/main.py\n+++ b/main.py\n@@ -1,2 +1,2 @@\n def one():\n-    return 1\n+    return 11\n"


@pytest.mark.parametrize(
    ("edit", "summary"),
    [
        (call("apply_patch", patch=PATCH), "apply_patch"),
        (call("move_file", source="main.py", target="app.py"), "move_file main.py to app.py"),
        (call("replace_file_content", content="x = 1\n"), "replace_file_content main.py"),
    ],
)
def test_the_file_that_is_meant_is_given_to_the_tools_that_need_one(
    edit: ToolCall, summary: str, tmp_path: Path
) -> None:
    outcome = code(tmp_path, ChatReply(tool_calls=(edit,)), own=("apply_patch", "move_file", "replace_file_content"))
    assert (outcome.code, outcome.summary, outcome.error) == ("ok", summary, "")
    assert contents(tmp_path) != FILES


@pytest.mark.parametrize(
    ("text", "target", "changed"),
    [
        (
            '{"tool_calls": [{"tool": "replace_file_content", "args": {"path": "main.py", "content": "x = 1\\n"}}]}',
            None,
            True,
        ),
        ('{"code": "x = 1\\n"}', "main.py", True),
        ("```python\nx = 1\n```", "main.py", True),
        ('{"code": "x = 1\\n"}', None, False),
        ("x = 1 would do.", "main.py", False),
    ],
)
def test_edits_written_as_text(text: str, target: str | None, changed: bool, tmp_path: Path) -> None:
    outcome = code(tmp_path, *[text] * (1 + REFUSALS), target=target)
    assert (outcome.code == "ok") is changed
    assert (contents(tmp_path) == {"main.py": "x = 1\n"}) is changed


def test_an_answer_that_was_cut_off_executes_nothing(tmp_path: Path) -> None:
    outcome = code(tmp_path, ChatReply(tool_calls=(TWO,), finish_reason="length"))
    assert outcome.code == "invalid"
    assert outcome.error.startswith("the answer was cut off at ")
    assert contents(tmp_path) == FILES


def test_a_model_without_tool_calls_is_told_the_json_form(tmp_path: Path) -> None:
    profile = structs.replace(SETTINGS.llm.profiles["gpt-oss-120b"], tool_calls="json")
    workspace = Workspace.open(fill(tmp_path, FILES))
    agent = AgentRegistry(SETTINGS).coding()
    model = ScriptedModel(['{"code": "x = 1\\n"}'], profile_name=agent.profile, profile=profile)
    pool = ModelPool(SETTINGS, {}, Limits(), PoolOptions(models={agent.profile: model}))
    asyncio.run(
        write_code(
            CodingTask(
                brief=BRIEF,
                workspace=workspace,
                target="main.py",
                whole_file_lines=200,
                read_text_calls=True,
            ),
            Assignment(agent=agent, profile=profile, pool=pool, prompts=PromptLibrary(), toolbox=tools(workspace)),
        )
    )
    (request,) = model.requests
    assert request.tools == ()
    assert "Answer with one JSON object" in request.messages[0].content
    assert "- replace_function(path, function_name, new_code): " in request.messages[0].content


def explore(
    directory: Path,
    *replies: ChatReply | str,
    request_tokens: int = 6000,
    tool_calls: Literal["native", "json"] = "native",
) -> tuple[LoopOutcome, ScriptedModel]:
    workspace = Workspace.open(fill(directory, FILES))
    agent = AgentRegistry(SETTINGS).resolve("codur-explaining")
    profile = structs.replace(
        SETTINGS.llm.profiles[agent.profile], request_tokens=request_tokens, tool_calls=tool_calls
    )
    model = ScriptedModel(list(replies), profile_name=agent.profile, profile=profile)
    pool = ModelPool(SETTINGS, {}, Limits(), PoolOptions(models={agent.profile: model}))
    outcome = asyncio.run(
        run_agent(
            "# Task\nwhat is it?",
            Assignment(agent=agent, profile=profile, pool=pool, prompts=PromptLibrary(), toolbox=tools(workspace)),
        )
    )
    return outcome, model


CALL = '{"name": "read_file", "arguments": {"path": "main.py"}}'


@pytest.mark.parametrize(
    ("tool_calls", "text", "called"),
    [
        ("native", CALL, False),
        ("json", CALL, True),
        ("json", f"```json\n{CALL}\n```", True),
        ("json", f"The README says:\n```json\n{CALL}\n```", False),
        ("json", f"{CALL}\nis what the README says; I will not do it.", False),
    ],
)
def test_calls_in_text_count_alone_and_without_native_ones(
    tool_calls: Literal["native", "json"], text: str, called: bool, tmp_path: Path
) -> None:
    outcome, model = explore(tmp_path, text, "It is a module.", tool_calls=tool_calls)
    assert (outcome.text == "It is a module.") is called
    assert len(model.requests) == 1 + called


def test_the_loop_ends_with_the_first_answer_in_words(tmp_path: Path) -> None:
    outcome, model = explore(
        tmp_path, ChatReply(tool_calls=(call("read_file", path="main.py"),)), "It has two functions."
    )
    assert outcome == LoopOutcome(text="It has two functions.")
    last = model.requests[1].messages[-1]
    assert (last.role, last.tool_call_id) == ("tool", "c-read_file")
    assert "def one():" in last.content


def test_the_loop_is_bounded_and_the_last_step_must_answer(tmp_path: Path) -> None:
    endless = [ChatReply(tool_calls=(call("grep_files", pattern=f"p{number}"),)) for number in range(10)]
    outcome, model = explore(tmp_path, *endless)
    assert len(model.requests) == 5
    assert model.requests[-1].tool_choice == "none"
    assert model.requests[-1].messages[-1].content == LAST_WORD
    assert outcome.error == "codur-explaining ended without an answer"


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (call("read_file", path="main.py"), "error: this call was already made; its result is above"),
        (call("write_file", path="main.py", content=""), "error: no such tool here; there are: read_file, "),
        (call("read_file", path="../x"), "error: "),
        (call("read_file", path="absent.py"), "error: "),
    ],
)
def test_calls_that_go_wrong_are_told_and_change_nothing(second: ToolCall, said: str, tmp_path: Path) -> None:
    _, model = explore(
        tmp_path, ChatReply(tool_calls=(call("read_file", path="main.py"),)), ChatReply(tool_calls=(second,)), "Done."
    )
    assert model.requests[2].messages[-1].content.startswith(said)
    assert contents(tmp_path) == FILES


def test_what_was_read_last_is_seen_and_what_was_read_first_gives_way(tmp_path: Path) -> None:
    names = [f"big{number}.py" for number in range(6)]
    fill(tmp_path, {name: f"# {name}\n" * 300 for name in names})
    calls = [call("read_file", path=name) for name in names]
    pairs = [ChatReply(tool_calls=(calls[at], calls[at + 1])) for at in (0, 2, 4)]
    _, model = explore(tmp_path, *pairs, ChatReply(tool_calls=(calls[0],)), "Done.")
    outputs = [message.content for message in model.requests[3].messages if message.role == "tool"]
    assert outputs[0] == DROPPED
    assert outputs[-1].count("# big5.py") > 200
    again = [message.content for message in model.requests[4].messages if message.role == "tool"]
    assert again[-1].count("# big0.py") > 200


def test_files_that_are_read_at_once_share_the_room_and_are_shown_from_their_beginning(tmp_path: Path) -> None:
    names = [f"big{number}.py" for number in range(6)]
    fill(tmp_path, {name: "".join(f"{name} = {line}\n" for line in range(400)) for name in names})
    _, model = explore(tmp_path, ChatReply(tool_calls=tuple(call("read_file", path=name) for name in names)), "Done.")
    outputs = [message.content for message in model.requests[1].messages if message.role == "tool"]
    assert max(map(len, outputs)) < 1.5 * min(map(len, outputs))
    for name, output in zip(names, outputs, strict=True):
        assert f"{name} = 0" in output
        last = output.splitlines()[-2]
        following = int(last.rpartition(" = ")[2]) + 2
        assert output.endswith(f"\n… [lines {following} to 400 did not fit; go on from line {following}]")


def test_requests_stay_within_the_profile(tmp_path: Path) -> None:
    fill(tmp_path, {f"big{number}.py": f"# {number}\n" * 4000 for number in range(4)})
    reads = [ChatReply(tool_calls=(call("read_file", path=f"big{number}.py"),)) for number in range(4)]
    _, model = explore(tmp_path, *reads, "Done.")
    for request in model.requests:
        prompt = sum(len(message.content) for message in request.messages) / 3.5
        assert prompt + (request.max_completion_tokens or 0) <= 6000
