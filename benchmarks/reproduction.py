"""Tests made from a report: real bugs of real projects without the tests that show them, and the changelog's sentence.

Usage: python benchmarks/reproduction.py PAIRS_DIR --root SCRATCH --url URL [--only ID …]

For each case (see `real_bug_cases.py`) that has a sentence, the tests that the bug fails are taken out of the project,
and the node `make_check` is asked for a test, of a model that speaks Groq's protocol at URL. A row counts as right if
the made test is red on the bug (otherwise none is made) and green with the maintainers' fix. A row of which other tests
fail, too (they come from data files or base classes and cannot be taken out), has a check already and does not count.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import structs
from real_bug_cases import Pairs, Row

from codur.config.settings import Provider, Settings
from codur.events import ignore
from codur.nodes.make_check import make_check
from codur.nodes.pattern_plan import pattern_plan
from codur.nodes.run_state import RunContext, RunUpdate, apply, initial_state
from codur.planning.pre_plan import edit_plan
from codur.session.host import Host
from codur.structs import replace
from codur.types import Check, Limits, Task
from tests.support.opened import opened

ANSWER_S = 1_800.0
"""A model may be a person at a desk."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    pairs = Pairs(home=given.pairs.resolve(), root=given.root.resolve())
    rows = [row for row in pairs.rows() if row["note"] and (not given.only or row["id"] in given.only)]
    results = []
    for row in rows:
        results.append(result := attempt(row, pairs, settings_for(given.url)))
        print(json.dumps(result), flush=True)
    results = [result for result in results if result["calls"]]
    right = sum(result["red"] and result["green"] for result in results)
    red = sum(result["red"] for result in results)
    print(f"{right} of {len(results)} right: red on the bug ({red}) and green with the maintainers' fix")


def settings_for(url: str) -> Settings:
    """Settings that point to the model."""
    settings = Settings()
    groq = Provider(api="groq", api_key_env="GROQ_API_KEY", base_url=url, timeout_s=ANSWER_S)
    return structs.replace(
        settings,
        providers={**settings.providers, "groq": groq},
        runtime=structs.replace(settings.runtime, max_runtime_s=ANSWER_S),
        repair=structs.replace(settings.repair, mode="off"),
    )


def attempt(row: Row, pairs: Pairs, settings: Settings) -> Row:
    """Ask for the test, and try it on the fix."""
    with tempfile.TemporaryDirectory(prefix="reproduction-") as directory:
        bug, fixed = Path(directory) / "project", Path(directory) / "fixed" / "project"
        pairs.make(row["id"], bug)
        for name in row["fail_to_pass"]:
            take_out(bug, name)
        shutil.copytree(bug, fixed, symlinks=True)
        pairs.solve(row["id"], fixed)
        with session(bug, row["note"], settings) as context:
            update = asyncio.run(asked(row["note"], context))
            calls = context.models.usage.calls
        check = update["discovery"].check if update["making"] == "made" else None
        told = {"id": row["id"], "calls": calls, "red": check is not None, "notes": update.get("notes", [])}
        return {**told, "green": check is not None and passes(check, fixed, row["note"], settings)}


@contextmanager
def session(project: Path, sentence: str, settings: Settings) -> Iterator[RunContext]:
    """What the nodes work with."""
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GROQ_API_KEY": "gsk_desk"}
    task = Task(prompt=sentence, workspace=str(project), limits=Limits(max_runtime_s=ANSWER_S))
    with opened(task, settings, host=Host(environ=environ, home=Path("/nonexistent")), emit=ignore) as context:
        yield context


async def asked(sentence: str, context: RunContext) -> RunUpdate:
    """What `make_check` makes of the sentence, as the task of a fix."""
    state = initial_state(Task(prompt=sentence, workspace=str(context.workspace.root)))
    state = apply(state, pattern_plan(state, context))
    discovery = replace(state["discovery"], task_type="code_fix")
    plan = edit_plan("codur-coding", edits=True, reason=sentence)
    try:
        return await make_check({**state, "discovery": discovery, "plan": plan, "cursor": 0}, context)
    finally:
        await context.models.close()


def passes(check: Check, project: Path, sentence: str, settings: Settings) -> bool:
    """Whether the test passes in a project."""
    with session(project, sentence, settings) as context:
        return context.checker.run(replace(check, beside=None)).passed


def take_out(project: Path, name: str) -> None:
    """Delete the test function of a node id from its file."""
    path, *names = name.partition("[")[0].split("::")
    text = (project / path).read_text(encoding="utf-8")
    found: list[ast.stmt] = ast.parse(text).body
    node: ast.stmt | None = None
    for each in names:
        node = next((item for item in found if getattr(item, "name", "") == each), None)
        found = getattr(node, "body", [])
    if node is None:
        return  # another id of the same function came before
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
    lines = text.splitlines(keepends=True)
    indent = lines[node.lineno - 1][: node.col_offset]
    lines[first - 1 : node.end_lineno] = [f"{indent}pass\n"]
    (project / path).write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
