"""Real bugs of real projects: the cases, made and scored by `pairs.py`, and how large a fix is. See `real_bugs.py`.

Usage: python benchmarks/real_bug_cases.py PAIRS_DIR --root SCRATCH [--recipes FILE]

makes the rows of SCRATCH/cases.jsonl that are missing, from the package index, by the recipes in `real_bugs.jsonl`. A
recipe is a line: `id`, `project`, `a` and `b` (releases), `deps`, `suite`, `flaky`, and either `revert` (the hunks of
a..b to take back, `all` or numbers) or `edit` (a change made by hand in release b: `file`, `line`, and `old`, `new` or
`delete_lines`).
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

RECIPES = Path(__file__).with_name("real_bugs.jsonl")
ONE, FEW, MORE = "one statement", "2 to 5 lines", "more"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The tool `pairs.py` of a directory, with its state (releases, environments, rows) under `root`."""

    home: Path
    root: Path

    def rows(self) -> list[Row]:
        """The cases that there are, in the order of the file."""
        here = self.root / "cases.jsonl"
        source = here if here.is_file() else self.home / "cases.jsonl"
        return [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]

    def make(self, case: str, project: Path) -> None:
        """The case's project in a git repository of one commit."""
        self._run("make", case, str(project))

    def score(self, case: str, project: Path) -> Row:
        """Whether the whole suite accepts the project: `solved`, `still_failing`, `broke`, `tests_edited`."""
        row: Row = json.loads(self._run("score", case, str(project)).splitlines()[-1])
        return row

    def solve(self, case: str, project: Path) -> None:
        """Apply the maintainers' fix."""
        self._run("solve", case, str(project))

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-B", str(self.home / "pairs.py"), *words],
            env={**os.environ, "PAIRS_ROOT": str(self.root)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"pairs.py {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout


# --- how large a fix is, and whether two are the same -----------------------------------------------------------------


def equal(ours: str, theirs: str) -> bool:
    """Whether two modules have the same statements, docstrings aside; texts that are no Python must be equal."""
    try:
        return list(_statements(ours)) == list(_statements(theirs))
    except SyntaxError:
        return ours == theirs


def size_class(before: dict[str, str], after: dict[str, str], lines: int) -> str:
    """How large the fix from `before` to `after` (texts by path) is; `lines`: how many of them it changes."""
    try:
        statements = sum(_changed(before[path], after[path]) for path in before)
    except SyntaxError:
        statements = 0
    return ONE if statements == 1 else FEW if lines <= 5 else MORE


def _changed(before: str, after: str) -> int:
    """How many statements differ; the header of a compound one counts as a statement."""
    matcher = SequenceMatcher(None, list(_statements(before)), list(_statements(after)), autojunk=False)
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal")


def _statements(text: str) -> Iterator[str]:
    """Each statement of a module without those inside of it, with the path of blocks to it; docstrings are left out."""
    return _of_block(ast.parse(text), "")


def _of_block(node: ast.AST, place: str) -> Iterator[str]:
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        inner = getattr(node, name, None)
        if not isinstance(inner, list):
            continue
        setattr(node, name, [])
        for each in inner:
            if (
                isinstance(each, ast.Expr)
                and isinstance(each.value, ast.Constant)
                and isinstance(each.value.value, str)
            ):
                continue
            below = list(_of_block(each, f"{place}/{name}"))  # first, as it empties the blocks of `each`
            yield f"{place}/{name}: {ast.dump(each)}"
            yield from below


# --- rows from recipes ------------------------------------------------------------------------------------------------


def rebuild(pairs: Pairs, recipes: list[Row]) -> None:
    """Make the rows that are missing; what cannot be made is said, and left out."""
    os.environ["PAIRS_ROOT"] = str(pairs.root)  # read by pairs.py when it is imported
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(pairs.home))
    import pairs as tool  # type: ignore[import-not-found]

    there = {row["id"] for row in pairs.rows()}
    for recipe in recipes:
        if recipe["id"] in there:
            continue
        print(recipe["id"], file=sys.stderr, flush=True)
        try:
            if recipe.get("edit"):
                _by_hand(tool, recipe)
            else:
                _from_releases(tool, recipe)
        except SystemExit as refused:  # how pairs.py says that something does not work
            print(f"{recipe['id']}: {refused}", file=sys.stderr, flush=True)


def _from_releases(tool: Any, recipe: Row) -> None:
    names = {name: recipe[name] for name in ("project", "a", "b")}
    suite, deps, python = recipe.get("suite") or [], " ".join(recipe["deps"]), recipe.get("python", "3.11")
    tool.find(
        argparse.Namespace(**names, suite=suite, deps=deps, python=python, no_hunks=True, all_tests=False),
    )
    tool.add(
        argparse.Namespace(
            **names,
            id=recipe["id"],
            revert=recipe["revert"] if recipe["revert"] == "all" else ",".join(map(str, recipe["revert"])),
            split=recipe.get("split", "dev"),
            note=recipe.get("note", ""),
            flaky=recipe.get("flaky") or "",
        )
    )


def _by_hand(tool: Any, recipe: Row) -> None:
    """A row whose bug is an edit of the release itself, in the form that `pairs.py add` gives a row."""
    project, version, deps, edit = recipe["project"], recipe["b"], recipe["deps"], recipe["edit"]
    python, only = recipe.get("python", "3.11"), recipe.get("suite") or []
    release, place = tool.tree(project, version), tool.venv(project, version, deps, python)
    suite = tool.suite_files(release, only)
    reference = tool.baseline(project, version, deps, python, only)
    text = (release / edit["file"]).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="real-bugs-") as temporary:
        base = Path(temporary, "project")
        tool.lay_out(release, release, {edit["file"]: _edited(text, edit)}, base)
        patch = tool.patch_of(base, release, {edit["file"]})
        ran, seconds = tool.run(base, place, suite)
        failing = tool.broken(ran, reference)
        if failing:  # they must fail once more
            again = tool.run(base, place, sorted({test.split("::")[0] for test in failing}))[0]
            failing = [test for test in failing if test in tool.broken(again, reference)]
    if not failing:
        raise SystemExit("not a case: no test fails with the edit and passes without it")
    path = tool.pythonpath(release)
    files = " ".join(sorted({test.split("::")[0] for test in failing}))
    row = {name: recipe[name] for name in ("id", "project", "a", "b", "deps")} | {
        "base": f"B with {edit['file']}:{edit['line']} changed",
        "python": python,
        "tests_command": (f"PYTHONPATH={path} " if path != "." else "")
        + f".venv/bin/python -m pytest -q -o addopts= {files}",
        "fail_to_pass": failing,
        "source_files": [edit["file"]],
        "source_lines": max(len(re.findall(rf"^[{sign}](?![{sign}])", patch, re.MULTILINE)) for sign in "+-"),
        "note": recipe.get("note", ""),
        "split": recipe.get("split", "dev"),
        "suite": only,
        "flaky": recipe.get("flaky") or "",
        "suite_seconds": round(seconds, 1),
        "patch": patch,
        "edit": edit,
    }
    with tool.CASES.open("a", encoding="utf-8") as cases:
        cases.write(json.dumps(row) + "\n")


def _edited(text: str, edit: Row) -> str:
    """The text with the `count`-th `old` of a line replaced, or `delete_lines` lines taken out."""
    lines = text.splitlines(keepends=True)
    at = edit["line"] - 1
    if "delete_lines" in edit:
        del lines[at : at + edit["delete_lines"]]
        return "".join(lines)
    parts = lines[at].split(edit["old"])
    nth = edit.get("count", 1)
    if len(parts) <= nth:
        raise SystemExit(f"line {edit['line']} of {edit['file']} does not hold {edit['old']!r}")
    lines[at] = edit["old"].join(parts[:nth]) + edit["new"] + edit["old"].join(parts[nth:])
    return "".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the cases that are missing, from recipes.")
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--recipes", type=Path, default=RECIPES)
    options = parser.parse_args()
    options.root.mkdir(parents=True, exist_ok=True)
    recipes = [json.loads(line) for line in options.recipes.read_text(encoding="utf-8").splitlines()]
    rebuild(Pairs(home=options.pairs.resolve(), root=options.root.resolve()), recipes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
