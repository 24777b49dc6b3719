"""The published schema of `--json`: current, and true of real output."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from codur.types import RunResult
from codur.ui.output_formats import make_output

from .result_schema import FILE, run_result_schema
from .samples import ANSWER, DONE, FAILED


def printed(result: RunResult) -> dict[str, Any]:
    out = io.StringIO()
    make_output("json", stdout=out, stderr=io.StringIO()).result(result)
    value: dict[str, Any] = json.loads(out.getvalue())
    return value


def test_the_file_is_current() -> None:
    remedy = "write it anew: python -m tests.ui.result_schema"
    assert FILE.read_text(encoding="utf-8") == run_result_schema(), remedy


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(json.loads(FILE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("result", [DONE, FAILED, ANSWER])
def test_printed_results_are_valid(result: RunResult) -> None:
    Draft202012Validator(json.loads(FILE.read_text(encoding="utf-8"))).validate(printed(result))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("outcome", "perhaps"),
        ("exit_code", "0"),
        ("schema_version", 2),
        ("verdict", {"status": "passed"}),
        ("usage", None),
    ],
)
def test_other_values_are_not_valid(key: str, value: object) -> None:
    with pytest.raises(ValidationError):
        Draft202012Validator(json.loads(FILE.read_text(encoding="utf-8"))).validate(printed(DONE) | {key: value})


def test_every_field_is_required() -> None:
    schema = json.loads(FILE.read_text(encoding="utf-8"))
    for key in printed(DONE):
        with pytest.raises(ValidationError):
            Draft202012Validator(schema).validate({k: v for k, v in printed(DONE).items() if k != key})
