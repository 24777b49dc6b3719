"""What a coding request is given: an answer as long as what is to be written, a short form where room is small."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from codur.agents.assignment import Assignment, CodingTask
from codur.agents.coding import REFUSALS, write_code
from codur.agents.coding_messages import share
from codur.agents.registry import AgentRegistry
from codur.config.prompts import PromptLibrary
from codur.config.settings import LlmSettings, Profile, Settings, ToolSettings
from codur.context.brief import CodingBrief
from codur.context.places import is_unfinished
from codur.errors import LimitReached
from codur.events import Event, Note
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.llm.request_failure import ServiceFailure
from codur.llm.tokens import prompt_tokens
from codur.sandbox.launcher import Launcher
from codur.structs import replace
from codur.tools.toolbox import Toolbox, ToolContext
from codur.types import Limits, ToolCall
from codur.workspace.workspace import Workspace
from tests.runs.kit import fill
from tests.support.scripted_model import ScriptedModel

STUB = "def one():\n    raise NotImplementedError\n"
LINE = "value = value + 1  # one more\n"
ALWAYS = ("ask_user", "cannot")
"""Offered beside the editing tools, whatever the size."""
EDIT = ToolCall(id="1", name="replace_file_content", arguments={"path": "main.py", "content": "x = 1\n"})


def brief(text: str = STUB, task: str = "write one", **values: Any) -> CodingBrief:
    given: dict[str, Any] = {"objective": "", "python_version": "3.12.1", "inputs": {}, "check": None, "verdict": None}
    return CodingBrief(task=task, sources={"main.py": text}, **{**given, **values})


def profile(tokens: int = 40_000, **values: Any) -> Profile:
    return Profile(provider="groq", model="m", request_tokens=tokens, **values)


def answer(tokens: int, text: str, target: str | None = "main.py", **values: Any) -> int:
    given = profile(tokens, max_completion_tokens=min(8000, tokens // 2))
    return share(brief(text, **values), given, target=target, whole_file_lines=200, overhead_tokens=500).answer


def test_the_answer_is_as_long_as_what_is_to_be_written() -> None:
    assert answer(40_000, "def one():\n    return 1\n") == 3000
    assert answer(40_000, STUB) == 8000, "nobody knows how long what is not there will be"
    assert answer(40_000, 'def one():\n    """One."""\n    pass\n') == 8000
    assert answer(40_000, "try:\n    one()\nexcept ValueError:\n    pass\n") == 3000
    assert answer(40_000, LINE * 190) == 1500 + 1629 * 3 // 2
    assert answer(40_000, LINE * 5000) == 3000, "of a long file, functions are written"
    assert answer(40_000, STUB, target=None) == 8000
    assert answer(40_000, STUB, target=None, missing_files=("new.py",)) == 8000
    assert answer(40_000, STUB, target="new.py", read_only=frozenset({"main.py"})) == 8000
    assert answer(8000, STUB) == 2666
    assert answer(8000, LINE * 190) == 2666


def test_the_answer_gives_way_to_the_task_and_the_code_down_to_a_bound() -> None:
    def shared(chars: int) -> tuple[int, int, int]:
        room = share(
            brief(STUB.replace("raise", "yield"), task="x" * chars),
            profile(8000),
            target="main.py",
            whole_file_lines=200,
            overhead_tokens=500,
        )
        return room.answer, room.message, room.needed

    assert shared(3500) == (2000, 5500, 500 + 1000 + 12 + 200 + 1000)
    assert shared(21_000) == (8000 - 500 - 6000 - 212, 6212, 500 + 6000 + 212 + 1000)
    assert shared(24_500) == (0, 0, 500 + 7000 + 212 + 1000)


def code(
    directory: Path, given: Profile, told: CodingBrief, *replies: ChatReply | BaseException, prompt: str = ""
) -> tuple[ScriptedModel, list[Event]]:
    """One coding request, with its events."""
    settings = Settings(llm=LlmSettings(default_profile="gpt-oss-120b", fallback_profiles=()))
    workspace = Workspace.open(fill(directory, dict(told.sources)))
    agent = AgentRegistry(settings).coding()
    if prompt:
        agent = replace(agent, config=structs.replace(agent.config, prompt=prompt, tools=("replace_function",)))
    model = ScriptedModel(list(replies), profile_name=agent.profile, profile=given)
    events: list[Event] = []
    pool = ModelPool(settings, {}, Limits(), PoolOptions(emit=events.append, models={agent.profile: model}))
    context = ToolContext(
        workspace=workspace,
        launcher=Launcher({"PATH": os.environ["PATH"]}),
        find_python=lambda: sys.executable,
        settings=ToolSettings(),
        timeout_s=20.0,
    )
    asyncio.run(
        write_code(
            CodingTask(
                brief=told,
                workspace=workspace,
                target="main.py",
                whole_file_lines=200,
                read_text_calls=True,
            ),
            Assignment(agent=agent, profile=given, pool=pool, prompts=PromptLibrary(), toolbox=Toolbox(context)),
        )
    )
    return model, events


DONE = ChatReply(tool_calls=(EDIT,))


def around(request: ChatRequest) -> int:
    """Tokens of instructions and tools."""
    return prompt_tokens(replace(request, messages=request.messages[:1]))


def test_a_small_request_tells_of_edits_in_short(tmp_path: Path) -> None:
    small, _ = code(tmp_path, profile(8000), brief(), DONE)
    large, _ = code(tmp_path, profile(12_000), brief(STUB + "\n\nclass Two:\n    pass\n"), DONE)
    assert [spec.name for spec in small.requests[0].tools] == ["replace_file_content", "replace_in_file", *ALWAYS]
    assert len(large.requests[0].tools) == 6 + len(ALWAYS)
    assert around(small.requests[0]) < 0.5 * around(large.requests[0])
    assert "replace_function" not in small.requests[0].messages[0].content


def test_edits_of_classes_are_told_of_where_there_is_one(tmp_path: Path) -> None:
    flat, _ = code(tmp_path, profile(12_000), brief("subclass = 1\n"), DONE)
    one, _ = code(tmp_path, profile(12_000), brief("class Basket:\n    pass\n"), DONE)
    names = [{spec.name for spec in model.requests[0].tools} for model in (flat, one)]
    assert names[1] - names[0] == {"replace_class", "replace_method"}
    assert names[0] < names[1]


def test_in_json_mode_too(tmp_path: Path) -> None:
    model, _ = code(tmp_path, profile(8000, tool_calls="json"), brief(), DONE)
    system = model.requests[0].messages[0].content
    assert "- replace_in_file(" in system
    assert "- replace_function(" not in system


def test_instructions_and_tools_of_the_users_own_are_not_shortened(tmp_path: Path) -> None:
    model, _ = code(tmp_path, profile(8000), brief(), *[DONE] * (1 + REFUSALS), prompt="Mine.")
    assert [spec.name for spec in model.requests[0].tools] == ["replace_function", *ALWAYS]
    assert model.requests[0].messages[0].content.startswith("Mine.")


def test_what_cannot_be_told_is_an_error_before_a_call(tmp_path: Path) -> None:
    with pytest.raises(
        LimitReached, match="The task with the code to be changed would need a request of about"
    ) as error:
        code(tmp_path, profile(4000), brief(LINE * 190, task="x" * 3500))
    assert error.value.message.endswith("groq (m) gets 4,000 at most.")
    assert "use another profile" in error.value.remedy


def test_a_request_that_was_too_long_is_made_again_in_short(tmp_path: Path) -> None:
    refusal = ServiceFailure("This model's maximum context length is 8000 tokens.", kind="too_large")
    model, events = code(tmp_path, profile(40_000), brief(LINE * 1500), refusal, *[DONE] * 3)
    first, second, *_ = model.requests  # so long a file is not written anew
    assert prompt_tokens(first) > 9000
    assert prompt_tokens(second) + (second.max_completion_tokens or 0) <= 8000
    assert (len(first.tools), len(second.tools)) == (4 + len(ALWAYS), 2 + len(ALWAYS))
    assert [event.text for event in events if isinstance(event, Note)] == [
        "groq (m) takes no more than 8,000 tokens; the request was cut."
    ]


@pytest.mark.parametrize(
    ("text", "unfinished"),
    [
        ("def f(a):\n    raise NotImplementedError\n", True),
        ('def f(a):\n    """Adds."""\n    ...\n', True),
        ("async def f(a):\n    pass\n", True),
        (">       raise NotImplementedError(a)\nE       NotImplementedError: 1\n", True),
        ("E   NotImplementedError\n", True),
        ("Traceback (most recent call last):\nNotImplementedError: f\n", True),
        ('fn f() -> i64 {\n    todo!("add")\n}\n', True),
        ("panicked at src/lib.rs:2:5:\nnot yet implemented: add\n", True),
        ("panic: please implement Add\n\ngoroutine 7 [running]:\n", True),
        ("> 2 |   throw new Error('Take this out and implement add');\n", True),
        ('        throw new UnsupportedOperationException("add");\n', True),
        ("panic: index out of range\n", False),
        ("def f(a):\n    return a\n", False),
        ("try:\n    f()\nexcept NotImplementedError:\n    pass\n", False),
    ],
)
def test_a_body_that_is_still_to_be_written_is_known_in_a_source_and_in_an_error(text: str, unfinished: bool) -> None:
    assert is_unfinished(text) == unfinished
