"""The JSON schema of `--json`, made from `types.RunResult`; `docs/run-result.schema.json` holds the same text."""

from __future__ import annotations

import json
from inspect import cleandoc

import msgspec

from codur.types import RunResult


def run_result_schema() -> str:
    """Give the schema as the text of the file.

    Every field is required: `RunResult.to_json` always writes all of them.
    """
    schema = msgspec.json.schema(RunResult)
    for item in schema["$defs"].values():
        item["required"] = list(item["properties"])
        item["description"] = cleandoc(item["description"])
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "run-result.schema.json"}
    return json.dumps(head | schema, indent=2) + "\n"
