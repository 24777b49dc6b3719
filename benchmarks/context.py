"""What the first request to a coding model shows of real bugs of real projects, beside aider's repository map.

Usage: python benchmarks/context.py PAIRS_DIR [--root SCRATCH] [--work DIR] [--only ID,…] [--sample N] [--tokens N …]
           [--aider PYTHON] [--show ID] [--verbose]

PAIRS_DIR and SCRATCH are those of `real_bugs.py`. In each case the check is found and run as in a run of Codur, and the
brief is made for "the tests fail, fix the bug" in requests of so many prompt tokens, of which instructions and tools
take `OVERHEAD_TOKENS`. `function`: all functions that the maintainers' fix changes are shown whole (where it changes
no function: the lines around it). `named`: their names are in the request. `tests`: the failing tests are shown whole.

`--work` keeps cases and verdicts, so that the next measurement needs no test run. `--show` prints a case's brief.
`--aider` is the interpreter of an environment with aider-chat: its map of the same files, at equal sizes, with the
failure's files and identifiers given as mentioned in a chat.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import pickle
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from real_bug_cases import Pairs, Row

from codur.config.settings import Settings
from codur.context.brief import Briefing, brief_text
from codur.nodes.parts.attempt_verdict import seen_before
from codur.nodes.parts.sources import brief_of
from codur.nodes.pattern_plan import pattern_plan
from codur.nodes.run_state import RunContext, RunState, apply, initial_state
from codur.session.host import Host
from codur.structs import replace
from codur.types import Step, Task
from tests.support.opened import opened

PROMPT = "the tests fail, fix the bug"
OVERHEAD_TOKENS = 1_600
STEP = Step(id="edit", action="coding", objective=PROMPT)
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+")

Places = Mapping[str, Sequence[range]]
"""Lines (1-based) by path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What should be shown of a project: the functions of the fix, and the failing tests."""

    project: Path
    functions: dict[str, list[range]]
    names: frozenset[str]
    tests: dict[str, list[range]]


def case_of(project: Path, row: Row) -> Case:
    functions: dict[str, list[range]] = {}
    names = set()
    for path, line in changed_lines(row["patch"]):
        name, lines = around(ast.parse((project / path).read_text(encoding="utf-8")), line)
        functions.setdefault(path, []).append(lines)
        names.add(name)
    tests: dict[str, list[range]] = {}
    for test in row["fail_to_pass"]:
        path, *inside = test.partition("[")[0].split("::")
        tree = ast.parse((project / path).read_text(encoding="utf-8"))
        found = [lines for name, lines in definitions(tree) if name.split(".")[-1] == inside[-1]]
        exact = [lines for name, lines in definitions(tree) if name == ".".join(inside)]
        tests.setdefault(path, []).extend(exact or found[:1])
    return Case(project=project, functions=functions, names=frozenset(filter(None, names)), tests=tests)


def changed_lines(patch: str) -> Iterator[tuple[str, int]]:
    """Path and number of each line that the patch takes away or puts something behind."""
    path, line, before = "", 0, False
    for text in patch.splitlines():
        if text.startswith("--- "):
            path = text[4:].partition("\t")[0].removeprefix("a/")
        elif match := _HUNK.match(text):
            line = int(match[1])
        elif text.startswith("-"):
            yield path, line
            line += 1
            before = True
            continue
        elif text.startswith("+") and not text.startswith("+++") and not before:
            yield path, max(1, line - 1)
        elif text.startswith(" "):
            line += 1
        before = text.startswith("+")


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, range]]:
    """Qualified name and lines of each function and method that is in no other function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            start = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            yield prefix + node.name, range(start, (node.end_lineno or start) + 1)
        else:
            inner = f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix
            yield from definitions(node, inner)


def around(tree: ast.AST, line: int) -> tuple[str, range]:
    """The function that a line is in; a line that is in none stands for itself."""
    found = ((name.split(".")[-1], lines) for name, lines in definitions(tree) if line in lines)
    return next(found, ("", range(line, line + 1)))


def holds(shown: Places, wanted: Places) -> bool:
    lines = {path: {line for part in parts for line in part} for path, parts in shown.items()}
    return all(set(part) <= lines.get(path, set()) for path, parts in wanted.items() for part in parts)


# --- Codur ------------------------------------------------------------------------------------------------------------


def state_of(context: RunContext, task: Task, kept: Path) -> RunState:
    """The state in which the coding agent is asked for the first time; `kept` is where it is remembered."""
    if kept.is_file():
        state: RunState = pickle.loads(kept.read_bytes())
        return state
    state = initial_state(task)
    state = apply(state, pattern_plan(state, context))
    state = apply(state, seen_before(state, context))
    kept.write_bytes(pickle.dumps(state))
    return state


def briefs(project: Path, sizes: Sequence[int]) -> tuple[RunState, list[Briefing], float]:
    """The state, the brief for each size, and the seconds that choosing took."""
    task = Task(prompt=PROMPT, workspace=str(project))
    path = f"{project / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    host = Host(environ={"PATH": path, "HOME": str(project.parent), "LANG": "C.UTF-8"}, home=project.parent)
    with opened(task, Settings(), host=host, emit=lambda _: None) as context:
        state = state_of(context, task, project.with_suffix(".state"))
        started = time.monotonic()
        found = brief_of(state, STEP, context)
        seconds = time.monotonic() - started
        if state["discovery"].check is not None:
            context.workspace.protect(state["discovery"].check.protected)
        brief = replace(
            found,
            withheld=(),
            guessed=frozenset(),
            python_version="3.11",
            read_only=frozenset(path for path in found.sources if not context.workspace.may_edit(path)),
            check=state["discovery"].check,
            verdict=state["verdict"],
        )
        most = Settings().context.source_tokens
        texts = [brief_text(brief, budget_tokens=size - OVERHEAD_TOKENS, source_tokens=most) for size in sizes]
        return state, texts, seconds


# --- aider ------------------------------------------------------------------------------------------------------------

_MAP = """
import json, sys
from aider.io import InputOutput
from aider.repomap import RepoMap

class Model:
    def token_count(self, text):
        return len(text.encode()) / 3.5

given = json.load(sys.stdin)
io = InputOutput(yes=True, pretty=False)
maps = []
for size in given["sizes"]:
    repo = RepoMap(map_tokens=size, root=given["root"], main_model=Model(), io=io, refresh="always")
    maps.append(repo.get_repo_map([], given["files"], set(given["paths"]), set(given["identifiers"])) or "")
json.dump(maps, open(given["out"], "w"))
"""


def aider_maps(python: str, project: Path, failure: str, sizes: Sequence[int]) -> list[str]:
    """Aider's map for each size; aider takes files and identifiers that a message mentions as more important."""
    listed = subprocess.run(["git", "ls-files"], cwd=project, capture_output=True, text=True, check=True)
    files = [str(project / path) for path in listed.stdout.splitlines()]
    identifiers = set(re.findall(r"\w+", f"{PROMPT} {failure}"))
    paths = [path for path in listed.stdout.splitlines() if path in failure]
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary, "maps.json")
        given = {"sizes": sizes, "root": str(project), "files": files, "paths": paths, "out": str(out)}
        done = subprocess.run(
            [python, "-c", _MAP],
            input=json.dumps({**given, "identifiers": sorted(identifiers)}),
            cwd=temporary,
            capture_output=True,
            text=True,
            check=False,
        )
        for left in project.glob(".aider*"):  # its cache, which is no part of the case
            shutil.rmtree(left, ignore_errors=True)
        if done.returncode:
            raise SystemExit(f"aider's map: {done.stderr.strip()[-500:]}")
        maps: list[str] = json.loads(out.read_text(encoding="utf-8"))
    return maps


def map_shows(text: str, project: Path, wanted: Places) -> bool:
    """Whether the map holds all lines of these places; it marks each line with a bar."""
    lines = {line.removeprefix("│") for line in text.splitlines()}
    return all(
        line in lines
        for path, parts in wanted.items()
        for part in parts
        for line in (project / path).read_text(encoding="utf-8").splitlines()[part.start - 1 : part.stop - 1]
        if line.strip()
    )


# --- the tables -------------------------------------------------------------------------------------------------------


def measure(pairs: Pairs, row: Row, options: argparse.Namespace, work: Path) -> list[Row]:
    """One line of figures for each size and way."""
    project = work / row["id"] / "project"
    if not project.is_dir():
        project.parent.mkdir(parents=True, exist_ok=True)
        pairs.make(row["id"], project)
    case = case_of(project, row)
    state, made, seconds = briefs(project, options.tokens)
    verdict = state["verdict"]
    red = verdict is not None and verdict.status == "failed"
    if options.show:
        print("\n".join(f"{'~' * 120}\n{brief.text}" for brief in made))
    common = {"id": row["id"], "project": row["project"], "red": red, "seconds": seconds}
    found = [
        {
            **common,
            "way": "Codur",
            "size": size,
            "function": holds(brief.shown, case.functions),
            "named": all(name in brief.text for name in case.names),
            "tests": holds(brief.shown, case.tests),
            "chars": len(brief.text),
        }
        for size, brief in zip(options.tokens, made, strict=True)
    ]
    if options.aider:
        failure = verdict.error if verdict is not None else ""
        maps = aider_maps(options.aider, project, failure, [size - OVERHEAD_TOKENS for size in options.tokens])
        found += [
            {
                **common,
                "way": "aider's map",
                "size": size,
                "function": map_shows(text, project, case.functions),
                "named": all(re.search(rf"\b{name}\b", text) for name in case.names),
                "tests": map_shows(text, project, case.tests),
                "chars": len(text),
            }
            for size, text in zip(options.tokens, maps, strict=True)
        ]
    return found


def table(rows: Sequence[Row]) -> str:
    lines = [f"{'':28} {'rows':>5} {'function':>9} {'named':>6} {'tests':>6} {'characters':>10} {'seconds':>7}"]
    for way in dict.fromkeys(row["way"] for row in rows):
        for size in dict.fromkeys(row["size"] for row in rows):
            these = [row for row in rows if row["way"] == way and row["size"] == size]
            shares = [f"{sum(row[name] for row in these) / len(these):.0%}" for name in ("function", "named", "tests")]
            lines.append(
                f"{way + f', {size:,} tokens':28} {len(these):5} {shares[0]:>9} {shares[1]:>6} {shares[2]:>6} "
                f"{sum(row['chars'] for row in these) // len(these):10,} "
                f"{sum(row['seconds'] for row in these) / len(these):7.2f}"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--root", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int, default=0, help="every n-th case, so that about N are left")
    parser.add_argument("--tokens", type=int, nargs="*", default=[32_000, 8_000], help="prompt tokens of a request")
    parser.add_argument("--aider", default="", metavar="PYTHON")
    parser.add_argument("--show", default="", metavar="ID")
    parser.add_argument("--verbose", action="store_true", help="a line for each case")
    options = parser.parse_args()
    home = options.pairs.resolve()
    pairs = Pairs(home=home, root=options.root.resolve() if options.root else home)
    only = set(filter(None, f"{options.only},{options.show}".split(",")))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="context-") as temporary:
        cases = pairs.rows()
        for row in cases[:: max(1, len(cases) // options.sample)] if options.sample else cases:
            if only and row["id"] not in only:
                continue
            found = measure(pairs, row, options, (options.work or Path(temporary)).resolve())
            rows += found
            if options.verbose:
                for each in found:
                    marks = " ".join(name if each[name] else "-" * len(name) for name in ("function", "named", "tests"))
                    told = "" if each["red"] else "  not red"
                    print(
                        f"{row['id']:32} {each['way']:12} {each['size']:6} {marks} {each['chars']:8,}{told}", flush=True
                    )
    print(table(rows))


if __name__ == "__main__":
    main()
