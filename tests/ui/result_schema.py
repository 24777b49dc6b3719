"""The JSON schema of `--json`, made from `types.RunResult`; `docs/run-result.schema.json` holds the same text."""

from __future__ import annotations

import json
from inspect import cleandoc
from pathlib import Path

import msgspec

from codur.types import RunResult

FILE = Path(__file__).parents[2] / "docs" / "run-result.schema.json"


def run_result_schema() -> str:
    """Give the schema as the text of the file.

    Every field is required: `RunResult.to_json` always writes all of them.
    """
    _, definitions = msgspec.json.schema_components([RunResult])
    for item in definitions.values():
        item["required"] = list(item["properties"])
        item["description"] = cleandoc(item["description"])  # newer Pythons have done so
    schema = {**definitions.pop("RunResult"), "$defs": definitions}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "run-result.schema.json"}
    return json.dumps(head | schema, indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(run_result_schema(), encoding="utf-8")
