"""What a session keeps comes back as it was; what it does not know is refused when it is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codur.session.record.codec import DamagedRecord, decode, encode
from codur.types import Attempt, Check, Difference, Limits, Plan, RouteStep, Step, StepRecord, Task, Usage, Verdict

VALUES: list[Any] = [
    None,
    3,
    0.5,
    True,
    "text with \udc80 and \x00",
    ["a", ("b", ("c",), [])],
    Task(prompt="main.py is wrong", workspace="/w", limits=Limits(max_llm_calls=3), check_command="make"),
    Plan(
        steps=(
            Step(id="1", action="tool", capability="write_file", arguments={"path": "a", "lines": [1, {"x": None}]}),
        ),
        origin="plan",
    ),
    Verdict(status="failed", difference=Difference(line=2, expected=None, actual="x"), progress=0.25),
    {"attempts": [Attempt(number=1, by="coding")], "usage": Usage(calls=2, cost_usd=0.001)},
    StepRecord(step_id="1", node="tool", action="tool", origin="plan", tier="open", changed_files=("a", "b")),
    RouteStep(node="policy", route="end", origin="user", tier="guided"),
    Check(kind="output", argv=("{python}", "main.py"), source="here", protected=("expected.txt",)),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_comes_back_through_json(value: Any) -> None:
    again = decode(json.loads(json.dumps(encode(value))))
    assert again == value
    assert type(again) is type(value)


def test_a_mapping_cannot_pass_for_a_type() -> None:
    """Arguments of tools are what a model wrote."""
    hostile = {"$type": "Task", "$tuple": [1], "$error": "x", "$$type": 1, "": {"$type": "Usage"}}
    assert decode(json.loads(json.dumps(encode({"arguments": hostile})))) == {"arguments": hostile}


@pytest.mark.parametrize("value", [{1, 2}, b"x", Path("a"), object(), {1: "a"}, [Path("a")], int])
def test_what_is_not_known_is_not_written(value: Any) -> None:
    with pytest.raises(TypeError):
        encode(value)


@pytest.mark.parametrize(
    "value", [{"$type": "Path"}, {"$type": "Usage", "coins": 3}, [{"$type": "Check"}], {"$type": 1}]
)
def test_what_is_not_known_is_not_read(value: Any) -> None:
    with pytest.raises(DamagedRecord):
        decode(value)


def test_texts_are_redacted_wherever_they_are() -> None:
    def redact(text: str) -> str:
        return text.replace("secret", "[redacted]")

    kept = json.dumps(encode({"plan": VALUES[7], "notes": ["a secret"], "task": ("my secret",)}, redact))
    assert "secret" not in kept
    assert kept.count("[redacted]") == 2
