"""Figures of the tools: `grep_files` against ripgrep in the same run, and random edits of real library sources.

Usage: python benchmarks/tools.py [EDITS]    (default: 1000 of each edit tool; less than two minutes)

The sources are the standard library's own, copied to a temporary directory. An edit is right if the file parses, every
line outside of what was edited has its bytes, and the syntax tree outside is the same.
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codur.config.settings import ToolSettings
from codur.sandbox.launcher import Launcher
from codur.tools.code.definitions import Definition, definitions, parse
from codur.tools.tool import ToolError
from codur.tools.toolbox import Toolbox, ToolContext
from codur.workspace.workspace import Workspace

FILES = 10_000
ROUNDS = 7
SEED = 7
NEW = "def {name}(*args, **kwargs):\n    # new\n    for item in args:\n        yield item, '''a\n  b'''\n"

Outcome = tuple[str, bool]
"""The code of a call, and whether what it did is right."""


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        grep(Path(folder) / "grep")
        wrong = edits(Path(folder) / "edits", count)
    return 1 if wrong else 0


def toolbox_on(root: Path) -> Toolbox:
    context = ToolContext(
        workspace=Workspace(root.resolve(), durable=False, max_file_bytes=10_000_000),
        launcher=Launcher(os.environ),
        find_python=lambda: sys.executable,
        settings=ToolSettings(),
        timeout_s=60,
    )
    return Toolbox(context)


# --- searching --------------------------------------------------------------------------------------------------------


def grep(root: Path) -> None:
    chance = random.Random(SEED)
    words = [f"word{number}" for number in range(500)]
    for number in range(FILES):
        folder = root / f"d{number % 100}"
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{chance.choice(words)} = {line}\n" for line in range(40))
        (folder / f"f{number}.py").write_text(text + ("needle\n" if number % 1000 == 7 else ""))
    toolbox = toolbox_on(root)
    program = shutil.which("rg")
    bare = statistics.median(
        timed(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)) for _ in range(7)
    )
    print(f"grep_files over {FILES} files (the start of a bare python: {bare * 1000:.0f} ms)")
    for name, arguments in (
        ("a text in 10 files", {"pattern": "needle"}),
        ("the same as an expression", {"pattern": "need+le$", "regex": True}),
        ("a text in most files", {"pattern": "word1", "limit": 1000}),
    ):
        own, theirs = [], []
        for _ in range(ROUNDS):
            own.append(timed(lambda given=arguments: toolbox.call("grep_files", given)))  # type: ignore[misc]
            if program:
                argv = [program, "--no-config", "--line-number", str(arguments["pattern"]), "."]
                theirs.append(timed(lambda argv=argv: subprocess.run(argv, cwd=root, capture_output=True, check=False)))  # type: ignore[misc]
        line = f"  {name:28} {statistics.median(own) * 1000:6.0f} ms"
        if program:
            excess = statistics.median(own) - 1.5 * statistics.median(theirs)
            line += f"   rg {statistics.median(theirs) * 1000:6.0f} ms   ratio {ratio(own, theirs):.2f}"
            line += f"   {'within 1.5 x rg' if excess <= 0 else f'1.5 x rg + {excess * 1000:.0f} ms'}"
        print(line if program else f"{line}   (rg is not installed: no ratio)")


def timed(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def ratio(own: list[float], theirs: list[float]) -> float:
    return statistics.median(own) / statistics.median(theirs)


# --- editing ----------------------------------------------------------------------------------------------------------


def edits(root: Path, count: int) -> int:
    root.mkdir()
    library = Path(sysconfig.get_path("stdlib"))
    sources: dict[str, str] = {}
    for path in sorted(library.glob("*.py")):
        text = path.read_bytes().decode("utf-8", "replace")
        if "\r" not in text and "\ufffd" not in text and 500 < len(text) < 20_000 and parses(text):
            sources[path.name] = text
    found = {name: definitions(parse(name, text)) for name, text in sources.items()}
    total_wrong = 0
    print(f"{count} random edits of {len(sources)} files of the standard library (seed {SEED})")
    for name, edit in EDITS.items():
        chance = random.Random(SEED)
        outcomes: Counter[str] = Counter()
        wrong: list[str] = []
        started = time.perf_counter()
        while outcomes.total() < count:
            source = chance.choice(sorted(sources))
            toolbox = toolbox_on(root)
            (root / source).write_text(sources[source])
            try:
                outcome = edit(toolbox, root, source, sources[source], found[source], chance)
            finally:
                (root / source).unlink(missing_ok=True)
            if outcome is None:
                continue
            outcomes[outcome[0]] += 1
            if not outcome[1]:
                wrong.append(source)
        total_wrong += len(wrong)
        told = ", ".join(f"{code} {number}" for code, number in outcomes.most_common())
        shown = f"   WRONG {len(wrong)}: {wrong[:5]}" if wrong else "   all right"
        print(f"  {name:20} {told}{shown}   {time.perf_counter() - started:.0f} s")
    return total_wrong


def parses(text: str) -> bool:
    try:
        parse("a source", text)
    except ToolError:
        return False
    return True


def replaced(
    kind: str, tool: str, arguments: Callable[[Definition], dict[str, str]]
) -> Callable[[Toolbox, Path, str, str, list[Definition], random.Random], Outcome | None]:
    """One definition of a kind gets another body."""

    def edit(
        toolbox: Toolbox, root: Path, path: str, text: str, found: list[Definition], chance: random.Random
    ) -> Outcome | None:
        of_kind = [item for item in found if item.kind == kind]
        if not of_kind:
            return None
        item = chance.choice(of_kind)
        code = f"class {item.name}:\n    x = 1\n" if kind == "class" else NEW.format(name=item.name)
        result = toolbox.call(tool, {"path": path, **arguments(item), "code": code})
        after = (root / path).read_text()
        if not result.ok:
            return result.code, after == text
        old, new = text.split("\n"), after.split("\n")
        rest = len(old) - item.end
        same = new[: item.line - 1] == old[: item.line - 1] and new[len(new) - rest :] == old[item.end :]
        return result.code, same and outside(text, item) == outside(after, item)

    return edit


def outside(text: str, item: Definition) -> list[str]:
    """The tree without the definition that was edited."""
    lines = text.split("\n")
    result = []
    for top in parse("the result", text).body:
        start, end = first_line(top), top.end_lineno or top.lineno
        if not start <= item.line <= end:
            # Equal lines have equal trees; writing both out is what would take the time.
            result.append("\n".join(lines[start - 1 : end]))
        elif top.lineno != item.line:
            result.append(without(top, item))
    return result


def first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(inner.lineno for inner in getattr(node, "decorator_list", ()))])


def without(top: ast.stmt, item: Definition) -> str:
    for node in ast.walk(top):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                kept = [inner for inner in block if getattr(inner, "lineno", 0) != item.line or not is_it(inner, item)]
                setattr(node, name, kept)
    return ast.dump(top)


def is_it(node: ast.AST, item: Definition) -> bool:
    return getattr(node, "name", None) == item.name


def injected(
    toolbox: Toolbox, root: Path, path: str, text: str, found: list[Definition], chance: random.Random
) -> Outcome | None:
    owners = [item for item in found if item.kind == "class"]
    owner = chance.choice([None, *owners])
    arguments = {"path": path, "name": "added_here", "code": NEW.format(name="added_here")}
    if owner is not None:
        arguments["class_name"] = owner.qualname
    result = toolbox.call("inject_function", arguments)
    after = (root / path).read_text()
    if not result.ok:
        return result.code, after == text
    added = next(item for item in definitions(parse(path, after)) if item.name == "added_here")
    lines = after.split("\n")
    kept = [line for line in [*lines[: added.start - 1], *lines[added.end :]] if line.strip()]
    same = kept == [line for line in text.split("\n") if line.strip()]
    before = [ast.dump(top) for top in parse(path, text).body]
    trees = [
        without(top, added) for top in parse(path, after).body if not (top.lineno == added.line and is_it(top, added))
    ]
    return result.code, same and trees == before


def changed_lines(
    toolbox: Toolbox, root: Path, path: str, text: str, _found: list[Definition], chance: random.Random
) -> Outcome | None:
    lines = text.split("\n")
    start = chance.randrange(1, len(lines) - 1)
    end = min(start + chance.randrange(5), len(lines) - 1)
    given = {"path": path, "start_line": start, "end_line": end, "content": "# one\n# two\n"}
    result = toolbox.call("replace_lines", given)
    return result.code, (root / path).read_text().split("\n") == [*lines[: start - 1], "# one", "# two", *lines[end:]]


def inserted_lines(
    toolbox: Toolbox, root: Path, path: str, text: str, _found: list[Definition], chance: random.Random
) -> Outcome | None:
    lines = text.split("\n")
    after = chance.randrange(len(lines))
    result = toolbox.call("inject_lines", {"path": path, "after_line": after, "content": "# one"})
    return result.code, (root / path).read_text().split("\n") == [*lines[:after], "# one", *lines[after:]]


def replaced_text(
    toolbox: Toolbox, root: Path, path: str, text: str, _found: list[Definition], chance: random.Random
) -> Outcome | None:
    start = chance.randrange(len(text) - 80)
    old = text[start : start + chance.randrange(1, 80)]
    result = toolbox.call("replace_in_file", {"path": path, "old": old, "new": "# new"})
    after = (root / path).read_text()
    return result.code, after == (text.replace(old, "# new") if result.ok else text)


def whole_file(
    toolbox: Toolbox, root: Path, path: str, text: str, _found: list[Definition], chance: random.Random
) -> Outcome | None:
    """A line put in anywhere; what does not parse then must be refused."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    new = "\n".join([*lines[:at], chance.choice(["# put in", "", "def new(:", "x = ("]), *lines[at:]])
    result = toolbox.call("replace_file_content", {"path": path, "content": new})
    right = parses(new) if result.ok else result.code != "syntax_error" or not parses(new)
    return result.code, right and (root / path).read_text() == (new if result.ok else text)


def patched(
    toolbox: Toolbox, root: Path, path: str, text: str, _found: list[Definition], chance: random.Random
) -> Outcome | None:
    """A diff of comment lines put in and taken away, with line numbers that are off by up to 5."""
    lines = text.split("\n")
    at = chance.randrange(3, len(lines) - 4)
    above, below = lines[at - 3 : at], lines[at : at + 3]
    start = max(at - 2 + chance.randrange(-5, 6), 1)
    body = [*(f" {line}" for line in above), "+# put in", *(f" {line}" for line in below)]
    patch = "\n".join([f"--- a/{path}", f"+++ b/{path}", f"@@ -{start},6 +{start},7 @@", *body, ""])
    result = toolbox.call("apply_patch", {"patch": patch})
    wanted = "\n".join([*lines[:at], "# put in", *lines[at:]]) if result.ok else text
    return result.code, (root / path).read_text() == wanted


def same_name(item: Definition) -> dict[str, str]:
    return {"name": item.qualname}


def method_name(item: Definition) -> dict[str, str]:
    owner, _, name = item.qualname.rpartition(".")
    return {"class_name": owner, "method_name": name}


EDITS: dict[str, Callable[[Toolbox, Path, str, str, list[Definition], random.Random], Outcome | None]] = {
    "replace_function": replaced("function", "replace_function", same_name),
    "replace_method": replaced("method", "replace_method", method_name),
    "replace_class": replaced("class", "replace_class", same_name),
    "inject_function": injected,
    "replace_lines": changed_lines,
    "inject_lines": inserted_lines,
    "replace_in_file": replaced_text,
    "replace_file_content": whole_file,
    "apply_patch": patched,
}


if __name__ == "__main__":
    sys.exit(main())
