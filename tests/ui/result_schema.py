"""The JSON schema of `--json`, made from `types.RunResult`; `docs/run-result.schema.json` holds the same text."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter

from codur.types import RunResult

FILE = Path(__file__).parents[2] / "docs" / "run-result.schema.json"


def run_result_schema() -> str:
    """Give the schema as the text of the file.

    Every field is required: `RunResult.to_json` always writes all of them.
    """
    schema = TypeAdapter(RunResult).json_schema(mode="serialization")
    for item in (schema, *schema.get("$defs", {}).values()):
        if item.get("type") == "object":
            item["required"] = list(item["properties"])
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "run-result.schema.json"}
    return json.dumps(head | schema, indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(run_result_schema(), encoding="utf-8")
