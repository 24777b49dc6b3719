"""Reading the planning models' answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from codur.config.prompts import PromptLibrary
from codur.config.settings import Settings
from codur.errors import ModelAnswerError
from codur.llm.model import ChatReply, ChatRequest
from codur.llm.pool import ModelPool
from codur.llm.pool_options import PoolOptions
from codur.planning.replies import (
    ArgumentReply,
    Asker,
    PlanReply,
    PrePlanReply,
    argument_values,
    read,
    strict_schema,
)
from codur.types import Limits, Message, ToolSpec
from tests.support.scripted_model import ScriptedModel

GOOD = (
    '{"task_type": "code_fix", "confidence": 0.9, "detected_files": ["a.py"], "suggested_action": "edit",'
    ' "reasoning": "A bug."}'
)


@pytest.mark.parametrize(
    ("text", "finish_reason", "problem"),
    [
        (GOOD, "stop", ""),
        (f"Here it is:\n```json\n{GOOD}\n```", "stop", ""),
        ("I think it is a bug.", "stop", "it is not a JSON object"),
        (GOOD, "length", "it was cut off at the token limit"),
        (GOOD.replace("0.9", '"high"'), "stop", "confidence: "),
        (GOOD.replace("code_fix", "bug"), "stop", "task_type: Invalid enum value 'bug'; it is one of "),
        (GOOD.replace("code_fix", "\\ud83d"), "stop", "object: "),
        (GOOD.replace("reasoning", "\\ud83d"), "stop", "object: "),
        ("{}", "stop", "object: Object missing required field `reasoning`"),
    ],
)
def test_read(text: str, finish_reason: str, problem: str) -> None:
    value, said = read(ChatReply(text=text, finish_reason=finish_reason), PrePlanReply)
    assert (value is None) == bool(problem)
    assert said.startswith(problem)


def test_the_schemas_keep_to_strict_mode() -> None:
    def objects(node: Any) -> list[dict[str, Any]]:
        if isinstance(node, list):
            return [found for item in node for found in objects(item)]
        if not isinstance(node, dict):
            return []
        here = [node] if "properties" in node else []
        return here + [found for item in node.values() for found in objects(item)]

    for kind in (PrePlanReply, PlanReply):
        found = objects(strict_schema(kind))
        assert found
        for node in found:
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])


def test_an_answer_that_cannot_be_read_is_asked_for_again_with_the_reason() -> None:
    model = ScriptedModel(["nonsense", GOOD])
    reply = asyncio.run(_ask(model, attempts=3))
    assert reply.detected_files == ("a.py",)
    assert model.requests[1].messages[-1] == Message(
        role="user",
        content="That answer cannot be used: it is not a JSON object. Answer with the JSON object alone.",
    )


def test_after_the_last_attempt_it_is_an_error() -> None:
    with pytest.raises(ModelAnswerError, match="it is not a JSON object"):
        asyncio.run(_ask(ScriptedModel(["a", "b"]), attempts=2))


async def _ask(model: ScriptedModel, *, attempts: int) -> PrePlanReply:
    profile = "gpt-oss-20b"
    pool = ModelPool(Settings(), {"GROQ_API_KEY": "x"}, Limits(), PoolOptions(models={profile: model}))
    request = ChatRequest(messages=(Message(role="user", content="hi"),), purpose="classification")
    return await Asker(pool, PromptLibrary(), attempts).ask(profile, request, PrePlanReply)


def test_arguments_take_the_types_of_the_tool() -> None:
    given = tuple(
        ArgumentReply(name=name, value=value)
        for name, value in [("path", "1"), ("start_line", "3"), ("all", "true"), ("paths", '["a"]'), ("limit", "x")]
    )
    schema = {
        "properties": {
            "path": {"type": "string"},
            "start_line": {"type": "integer"},
            "all": {"type": "boolean"},
            "paths": {"type": "array"},
            "limit": {"type": "integer"},
        }
    }
    tool = ToolSpec(name="t", description="", parameters=schema)
    assert argument_values(given, tool) == {
        "path": "1",
        "start_line": 3,
        "all": True,
        "paths": ["a"],
        "limit": "x",
    }
