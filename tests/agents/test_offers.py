"""What the tool loop offers: few of many tools, more with each result, all on demand."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec import structs

from codur.agents.assignment import Assignment
from codur.agents.loop import LoopOutcome, run_agent
from codur.agents.offers import MORE, Offering
from codur.agents.registry import Agent, AgentRegistry
from codur.config.prompts import PromptLibrary
from codur.config.settings import ToolSettings
from codur.events import Event, ToolChosen
from codur.llm.model import ChatReply
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.structs import replace
from codur.tools.catalogue import all_tools
from codur.types import Limits
from codur.workspace.workspace import Workspace
from tests.agents.test_agents import FILES, SETTINGS, call, tools
from tests.runs.kit import contents, fill
from tests.support.scripted_model import ScriptedModel

EVERY = tuple(tool.name for tool in all_tools())


def work(
    directory: Path,
    *replies: ChatReply | str,
    names: tuple[str, ...] = EVERY,
    narrow: bool = True,
    native: bool = True,
    promote: tuple[str, ...] = (),
) -> tuple[LoopOutcome, ScriptedModel, list[ToolChosen]]:
    known = AgentRegistry(SETTINGS).resolve("codur-explaining")
    agent: Agent = replace(known, config=structs.replace(known.config, tools=names))
    profile = structs.replace(
        SETTINGS.llm.profiles[agent.profile], tool_calls="native" if native else "json", request_tokens=100_000
    )
    model = ScriptedModel(list(replies), profile_name=agent.profile, profile=profile)
    events: list[Event] = []
    outcome = asyncio.run(
        run_agent(
            "# Task\nwhat is it?",
            Assignment(
                agent=agent,
                profile=profile,
                pool=ModelPool(SETTINGS, {}, Limits(), PoolOptions(emit=events.append, models={agent.profile: model})),
                prompts=PromptLibrary(),
                toolbox=tools(Workspace.open(fill(directory, FILES))),
                emit=events.append,
            ),
            Offering(narrow=narrow, task_type="code_fix", files=("main.py",), settings=ToolSettings(promote=promote)),
        )
    )
    return outcome, model, [event for event in events if isinstance(event, ToolChosen)]


def offered(model: ScriptedModel) -> list[tuple[str, ...]]:
    return [tuple(spec.name for spec in request.tools) for request in model.requests]


READ = ChatReply(tool_calls=(call("read_file", path="main.py"),))


def test_few_tools_are_offered_and_the_list_only_grows_at_its_end(tmp_path: Path) -> None:
    outcome, model, chosen = work(tmp_path, READ, "Done.")
    first, second = offered(model)
    assert outcome.text == "Done."
    assert len(first) == 11
    assert first[0] == MORE
    assert "read_file" in first
    assert second[: len(first)] == first
    assert 0 < len(second) - len(first) <= 10
    assert "replace_lines" in set(second) - set(first)
    (record,) = chosen
    assert (record.after, record.tier, record.choice) == ("", "guided", "read_file")
    assert record.candidates == first[1:]


def test_all_tools_on_demand(tmp_path: Path) -> None:
    _, model, _ = work(tmp_path, ChatReply(tool_calls=(call(MORE),)), "Done.")
    first, second = offered(model)
    assert second[: len(first)] == first
    assert set(second) == {MORE, *EVERY}
    assert "git_log" in model.requests[0].tools[0].description


def test_a_strangers_name_opens_everything(tmp_path: Path) -> None:
    _, model, _ = work(tmp_path, ChatReply(tool_calls=(call("no_such_tool"),)), "Done.")
    assert set(offered(model)[1]) == {MORE, *EVERY}
    assert model.requests[1].messages[-1].content.startswith("error: no such tool here")


def test_a_tool_that_was_not_offered_is_carried_out_and_offered_from_then_on(tmp_path: Path) -> None:
    _, model, _ = work(tmp_path, ChatReply(tool_calls=(call("find_definition", name="two"),)), "Done.")
    first, second = offered(model)
    assert "find_definition" not in first
    assert second[len(first)] == "find_definition"
    assert len(second) < len(EVERY)
    assert model.requests[1].messages[-1].content.startswith("main.py:5")


def test_narrowing_can_be_switched_off(tmp_path: Path) -> None:
    _, model, chosen = work(tmp_path, READ, "Done.", narrow=False)
    assert offered(model) == [EVERY, EVERY]
    assert chosen[0].tier == "open"


def test_an_agent_with_few_tools_is_offered_them_all(tmp_path: Path) -> None:
    names = EVERY[:10]
    _, model, _ = work(tmp_path, READ, "Done.", names=names)
    assert offered(model) == [names, names]


def test_in_text_the_new_tools_are_told_after_the_result(tmp_path: Path) -> None:
    _, model, _ = work(
        tmp_path,
        '{"tool_calls": [{"tool": "read_file", "args": {"path": "main.py"}}]}',
        "Done.",
        native=False,
    )
    first, second = model.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert "- replace_lines: " not in first.messages[0].content
    assert second.messages[-1].content.startswith("You can also call:\n- ")
    assert "- replace_lines: " in second.messages[-1].content


def test_what_alone_can_follow_is_run_unasked(tmp_path: Path) -> None:
    _, model, chosen = work(
        tmp_path, ChatReply(tool_calls=(call("list_files"),)), "Done.", names=("list_files", "read_file")
    )
    assert model.requests[1].messages[-1].content.startswith("Result of read_file:\n1\tdef one():")
    assert [(item.after, item.tier, item.choice) for item in chosen] == [
        ("", "open", "list_files"),
        ("list_files", "deterministic", "read_file"),
    ]
    assert chosen[1].duration_s == 0


USAGES = ("find_definition", "find_usages", "grep_files")
DEFINITION = ChatReply(tool_calls=(call("find_definition", name="one"),))


def test_what_is_promoted_is_run_unasked_though_others_could_follow(tmp_path: Path) -> None:
    _, model, chosen = work(tmp_path, DEFINITION, "Done.", names=USAGES, promote=("find_definition > find_usages",))
    assert [(item.tier, item.choice, item.by) for item in chosen] == [
        ("open", "find_definition", "model"),
        ("deterministic", "find_usages", "code"),
    ]
    assert model.requests[1].messages[-1].content.startswith("Result of find_usages:")


def test_a_choice_is_on_record_with_its_scores_tokens_and_whether_code_could_have_made_it(tmp_path: Path) -> None:
    known = ChatReply(tool_calls=(call("find_usages", path="main.py", name="one"),))
    more = ChatReply(tool_calls=(call("grep_files", pattern="two"),))
    _, _, chosen = work(tmp_path, DEFINITION, known, DEFINITION, more, "Done.", names=USAGES)
    assert [item.settled for item in chosen] == [False, True, True, False]
    assert all(item.tokens > 0 for item in chosen)
    assert dict(zip(chosen[1].candidates, chosen[1].scores, strict=True))["find_usages"] == 1.0


@pytest.mark.parametrize("name", ["delete_file", "run_python_file"])
def test_what_does_more_than_read_is_never_run_unasked(name: str, tmp_path: Path) -> None:
    _, model, chosen = work(tmp_path, ChatReply(tool_calls=(call("list_files"),)), "Done.", names=("list_files", name))
    assert [item.choice for item in chosen] == ["list_files"]
    assert model.requests[1].messages[-1].role == "tool"
    assert contents(tmp_path) == FILES
