"""Tells in Markdown what came of a run: reads DIRECTORY/result.json, writes summary.md and codur.patch beside it.

Prints what the action hands on, as lines of `name=value`. What a program or a model wrote stands in fences that it
cannot close.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

MAX_CHARS = 50_000
"""Of a diff: a comment holds 65,536 characters."""


def fenced(text: str, language: str = "") -> str:
    """The text as a block of code, behind more backticks than it has itself."""
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=2) + 1)
    more = "" if len(text) <= MAX_CHARS else "\n[the rest is in the report]"
    return f"{ticks}{language}\n{text[:MAX_CHARS].rstrip()}{more}\n{ticks}\n"


def summary(result: dict[str, Any]) -> str:
    """The Markdown of a run's result (see docs/run-result.schema.json)."""
    usage, verdict = result["usage"], result["verdict"] or {}
    how = result["solved_by"] or "nobody"
    cost = f"{usage['calls']} model calls, ${usage['cost_usd']:.4f}, {result['duration_s']:.0f} s"
    parts = [f"## Codur: {result['outcome'].replace('_', ' ')}\n", f"Solved by: {how} · {cost}\n"]
    if verdict.get("check"):
        parts += [f"The check: {verdict['status']}\n", fenced(verdict["check"], "sh")]
    for text in (result["explanation"], result["reason"], result["remedy"], verdict.get("error", "")):
        parts += [fenced(text)] if text else []
    return "\n".join([*parts, *([fenced(result["diff"], "diff")] if result["diff"] else [])])


def main() -> None:
    """Write the summary of the directory that is named."""
    report = Path(sys.argv[1])
    result = json.loads((report / "result.json").read_text(encoding="utf-8"))
    (report / "summary.md").write_text(summary(result), encoding="utf-8")
    (report / "codur.patch").write_text(result["diff"], encoding="utf-8")
    told = {
        "outcome": result["outcome"],
        "changed": str(bool(result["changed_files"])).lower(),
        "run": result["run_id"],
    }
    sys.stdout.write("".join(f"{name}={value}\n" for name, value in told.items()))


if __name__ == "__main__":
    main()
