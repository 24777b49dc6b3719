"""What agents print, as they document it, and as they never should."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codur.agents.external.delegated_work import MAX_LINE, JsonLines
from codur.agents.external.dialects import (
    ClaudeReader,
    CodexReader,
    GeminiReader,
    OpencodeReader,
    PlainReader,
    Reader,
)
from codur.agents.external.protocol import Happening, Said, Used
from codur.types import Usage


def read(reader: Reader, events: list[Any]) -> list[Happening]:
    """What a reader tells of events that arrive as lines."""
    told: list[Happening] = []
    lines = JsonLines(lambda event: told.extend(reader.take(event)))
    lines.add("".join(json.dumps(event) + "\n" for event in events).encode())
    lines.close()
    return told


def test_codex() -> None:
    reader = CodexReader()
    told = read(
        reader,
        [
            {"type": "thread.started", "thread_id": "t"},
            {"type": "turn.started"},
            {"type": "item.started", "item": {"id": "1", "type": "command_execution", "command": "ls"}},
            {"type": "item.completed", "item": {"type": "command_execution", "command": "ls", "exit_code": 0}},
            {"type": "item.completed", "item": {"type": "command_execution", "command": "rm x", "exit_code": 1}},
            {"type": "item.completed", "item": {"type": "reasoning", "text": "hm"}},
            {
                "type": "item.completed",
                "item": {"type": "file_change", "changes": [{"path": "a.py", "kind": "update"}], "status": "completed"},
            },
            {"type": "error", "message": "reconnecting 1/5"},
            {"type": "item.completed", "item": {"type": "agent_message", "text": "Fixed."}},
            {"type": "turn.completed", "usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}},
        ],
    )

    assert told == [
        Used(tool="command", summary="ls"),
        Used(tool="command", ok=False, summary="rm x"),
        Used(tool="edit", summary="a.py"),
        Said(text="Fixed."),
    ]
    assert (reader.text, reader.error) == ("Fixed.", "")
    assert reader.usage == Usage(calls=1, prompt_tokens=9, cached_tokens=4, completion_tokens=2)


def test_codex_that_fails() -> None:
    reader = CodexReader()
    read(reader, [{"type": "error", "message": "x"}, {"type": "turn.failed", "error": {"message": "usage limit"}}])

    assert reader.error == "usage limit"


CLAUDE = [
    {"type": "system", "subtype": "init", "tools": ["Read"]},
    {
        "type": "assistant",
        "message": {
            "id": "m1",
            "content": [{"type": "text", "text": "Reading."}],
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 10, "output_tokens": 1},
        },
    },
    {
        "type": "assistant",
        "message": {
            "id": "m1",
            "content": [{"type": "tool_use", "name": "Edit", "input": {"file_path": "main.py"}}],
            "usage": {"input_tokens": 3, "cache_read_input_tokens": 10, "output_tokens": 2},
        },
    },
    {"type": "user", "message": {"content": [{"type": "tool_result", "content": "ok"}]}},
]


def test_claude() -> None:
    reader = ClaudeReader()
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": 2,
        "result": "Done.",
        "total_cost_usd": 0.02,
        "usage": {
            "input_tokens": 5,
            "cache_creation_input_tokens": 7,
            "cache_read_input_tokens": 20,
            "output_tokens": 6,
        },
    }

    told = read(reader, [*CLAUDE, result])

    assert told == [Said(text="Reading."), Used(tool="Edit", summary="main.py")]
    assert (reader.text, reader.error) == ("Done.", "")
    assert reader.usage == Usage(calls=2, prompt_tokens=32, cached_tokens=20, completion_tokens=6, cost_usd=0.02)


def test_claude_that_was_killed_has_the_usage_of_its_answers() -> None:
    reader = ClaudeReader()
    read(reader, CLAUDE)

    assert reader.usage == Usage(calls=1, prompt_tokens=13, cached_tokens=10, completion_tokens=2)


def test_claude_that_fails() -> None:
    reader = ClaudeReader()
    read(reader, [{"type": "result", "subtype": "error_max_turns", "is_error": True}])

    assert reader.error == "error_max_turns"


def test_gemini() -> None:
    reader = GeminiReader()
    told = read(
        reader,
        [
            {"type": "init", "session_id": "s", "model": "m"},
            {"type": "message", "role": "user", "content": "fix it"},
            {"type": "message", "role": "assistant", "content": "I ", "delta": True},
            {"type": "message", "role": "assistant", "content": "look.", "delta": True},
            {"type": "tool_use", "tool_name": "replace", "tool_id": "1", "parameters": {"file_path": "main.py"}},
            {"type": "tool_result", "tool_id": "1", "status": "success", "output": "ok"},
            {"type": "message", "role": "assistant", "content": "Fixed.", "delta": True},
            {"type": "result", "status": "success", "stats": {"input_tokens": 8, "output_tokens": 3, "cached": 2}},
        ],
    )

    assert told == [Said(text="I look."), Used(tool="replace", summary="main.py"), Said(text="Fixed.")]
    assert reader.text == "Fixed."
    assert reader.usage == Usage(calls=1, prompt_tokens=8, cached_tokens=2, completion_tokens=3)


def test_opencode() -> None:
    reader = OpencodeReader()
    told = read(
        reader,
        [
            {"type": "step_start", "part": {"type": "step-start"}},
            {"type": "tool_use", "part": {"tool": "edit", "state": {"status": "completed", "title": "main.py"}}},
            {
                "type": "step_finish",
                "part": {"cost": 0.5, "tokens": {"input": 4, "output": 2, "reasoning": 1, "cache": {"read": 3}}},
            },
            {"type": "text", "part": {"text": "Fixed."}},
            {"type": "error", "error": {"name": "APIError", "data": {"message": "no credit"}}},
        ],
    )

    assert told == [Used(tool="edit", summary="main.py"), Said(text="Fixed.")]
    assert reader.usage == Usage(calls=1, prompt_tokens=7, cached_tokens=3, completion_tokens=3, cost_usd=0.5)
    assert reader.error == "no credit"


def test_plain_json_lies_where_the_settings_say() -> None:
    reader = PlainReader({"text": "choices.-1.text", "prompt_tokens": "usage.in", "cost_usd": "usage.usd"})
    read(reader, [{"choices": [{"text": "a"}, {"text": "b"}], "usage": {"in": 5, "usd": 0.1}}])

    assert (reader.text, reader.usage) == ("b", Usage(calls=1, prompt_tokens=5, cost_usd=0.1))


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = (
    "type item part message usage text error role content delta stats tokens cache result changes path state id input"
)
TYPES = "item.completed turn.completed turn.failed error assistant result message tool_use tool_result text step_finish"
EVENT = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES.split()) | ANY}, optional=dict.fromkeys(KEYS.split()[1:], ANY)
)
NESTED = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES.split())}, optional=dict.fromkeys(KEYS.split()[1:], EVENT | ANY)
)


@settings(max_examples=150, deadline=None, database=None, derandomize=True)
@given(st.lists(EVENT | NESTED, max_size=4))
def test_nothing_that_is_json_is_too_odd(events: list[Any]) -> None:
    plain = PlainReader({"text": "item.text", "error": "error", "prompt_tokens": "usage.0", "cost_usd": "item"})
    for reader in (CodexReader(), ClaudeReader(), GeminiReader(), OpencodeReader(), plain):
        read(reader, events)
        assert isinstance(reader.text, str)
        assert isinstance(reader.error, str)
        assert reader.usage.total_tokens >= 0


@settings(max_examples=60, deadline=None, database=None, derandomize=True)
@given(st.binary(max_size=200), st.lists(st.integers(1, 40), max_size=6))
def test_lines_are_the_same_however_they_are_cut(noise: bytes, cuts: list[int]) -> None:
    data = noise.replace(b"\n", b"") + b'\n{"a": 1}\nnull\n{"b": [2]}\n{"c": '

    def objects(pieces: list[bytes]) -> tuple[list[Any], int]:
        found: list[Any] = []
        lines = JsonLines(found.append)
        for piece in pieces:
            lines.add(piece)
        lines.close()
        return found, lines.skipped

    pieces, rest = [], data
    for size in cuts:
        pieces.append(rest[:size])
        rest = rest[size:]
    assert objects([*pieces, rest]) == objects([data])
    assert {"a": 1} in objects([data])[0]


@pytest.mark.parametrize("line", [b"x" * (MAX_LINE + 1), b"[" * 200_000, b'{"n": ' + b"9" * 10_000 + b"}"])
def test_a_line_that_cannot_be_read_takes_no_other_with_it(line: bytes) -> None:
    found: list[Any] = []
    lines = JsonLines(found.append)

    lines.add(line + b'\n{"after": 1}\n')

    assert found == [{"after": 1}]
    assert lines.skipped == 1
