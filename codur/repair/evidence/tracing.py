"""Which lines the check executes: one run of its program under a tracer (`sys.monitoring`, else a trace function)."""

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from codur.checks.checker import Checker
from codur.python.project_files import parsed
from codur.python.test_command import plain_words
from codur.python.test_run import TO_THE_END, files_of, narrowed
from codur.structs import Struct, field, replace
from codur.types import Check, Verdict
from codur.workspace.history.diff import FileChange, lines_changed

Line = tuple[str, int]
RunThere = Callable[[str, Sequence[str], float, Sequence[Mapping[str, str]]], Sequence[bytes | None]]
"""Runs a program with these words in a process that is there already, so many seconds at most, for each version of the
workspace's texts; gives what it reports of each, None where it must be run in a process of its own."""

_PROGRAM = Path(__file__).with_name("trace_program.py")
_OUT = ".repair-lines.json"
_SLOWER = 20.0
"""A traced program may take this many times as long."""
_LIMIT_S = 3.0
_PATIENCE_S = 8.0
_PROSE = (".md", ".rst", ".txt")
_PLAIN_FLAGS = frozenset({"-u", "-B", "-E", "-s", "-I", "-O", "-OO", "-q"})


class TestLines(Struct):
    """One test of the run."""

    __test__ = False  # not a test class

    failed: bool
    lines: frozenset[Line]


class Coverage(Struct):
    """What one run executed."""

    # lines executed outside of single tests: by the program, or while tests were imported
    lines: frozenset[Line] = frozenset()
    tests: Mapping[str, TestLines] = field(default_factory=dict)  # what each test executed; empty for programs
    # lines that were running when the time was up, outermost first; empty if the run ended
    stack: tuple[Line, ...] = ()
    hot: frozenset[Line] = frozenset()  # the lines that ran most often, if the run did not end: the loop that it was in
    # by line, samples of what its variables held just before it ran, as literals or `<TYPE>`
    values: Mapping[Line, tuple[Mapping[str, str], ...]] = field(default_factory=dict)
    # for lines of the output (from 1), which line of a file wrote (a part of) it; empty for tests
    printed: tuple[tuple[int, Line], ...] = ()

    @property
    def paths(self) -> frozenset[str]:
        """Files of which something was executed."""
        lines = self.lines.union(*(test.lines for test in self.tests.values()))
        return frozenset(path for path, _ in lines)


def run_traced(
    checker: Checker, check: Check, before: Verdict, *, most_s: float = 0.0, there: RunThere | None = None
) -> Coverage | None:
    """Runs the check once under the tracer, in the checker's own way.

    Args:
        before: its verdict without.
        most_s: for a narrow check, how long its tests may be traced.
        there: asked first, since to start an interpreter takes longer than most programs.

    None if the command is not a plain Python program or test run, if the tracer wrote nothing, or if what failed
    ran in another process or was not reached.
    """
    settings, words = plain_words(check.argv)
    arguments = python_arguments(words)
    if not arguments:
        return None
    # Of a program that runs tests in its own way (`tests/run.py parser`) those of `unittest` are known one by one.
    counted = before.tests_total is not None and not before.timed_out and arguments[:2] != ("-m", "pytest")
    limit = most_s if most_s and (check.tests or counted) else min(max(_SLOWER * before.duration_s, 1.0), _LIMIT_S)
    if check.tests:
        arguments = (*arguments[:2], *narrowed(arguments[2:], files_of(check.tests)), *TO_THE_END)
    root = checker.workspace.root
    out = root / _OUT
    failing = before.failing if check.tests else ()
    limits = json.dumps({"seconds": limit, "failing": failing, "in_order": failing != check.tests, "counted": counted})
    program, words = _PROGRAM.read_text(encoding="utf-8"), (str(root), limits, *arguments)
    patience = _PATIENCE_S + (3 * before.duration_s if check.tests or counted else 0.0)
    if there is not None:
        (told,) = there(program, ("", *words), limit + patience, [{}])
        if told is not None:
            return _read(told, check)
    traced = (*(("env", *settings) if settings else ()), "{python}", "-c", program, str(out), *words)
    try:
        checker.run(replace(check, argv=traced, timeout_s=limit + patience))
        return _read(out.read_bytes(), check) if out.is_file() else None
    finally:
        out.unlink(missing_ok=True)


def unreached(
    checker: Checker,
    check: Check,
    verdict: Verdict,
    changes: Sequence[FileChange],
    *,
    loads: bool = True,
) -> bool:
    """Whether the tests of a narrow check run none of the changed lines, so that they fail for another reason.

    Args:
        checker: bound to a workspace with the changes.
        check: they may be traced as long as it may take.
        verdict: on these tests, all of which fail.
        loads: what is run as a file is loaded counts, too; else only if it gives another value to what was there.
    """
    changes = [each for each in changes if not each.path.endswith(_PROSE)]
    coverage = run_traced(checker, check, verdict, most_s=check.timeout_s)
    python = all(each.path.endswith(".py") for each in changes)
    # What lacks a name now may have run what the name stood for.
    gone = any(_defined(each.before or b"") - _defined(each.after or b"") for each in changes)
    if coverage is None or not python or gone or not set(coverage.tests) >= set(check.tests):
        return False
    changed = {
        (each.path, line)
        for each in changes
        for line in _with_statements(lines_changed(each), each.after or b"") - _defining(each.after or b"")
    }
    if not loads:
        # What is new at the top is not what a test that failed before uses; what was there with another value may be.
        if any(_values(each.before or b"") - _values(each.after or b"") for each in changes):
            return False
        changed &= {(each.path, line) for each in changes for line in _in_functions(each.after or b"")}
    return not changed & coverage.lines.union(*(test.lines for test in coverage.tests.values()))


def _with_statements(lines: set[int], source: bytes) -> set[int]:
    """Lines with all lines of the statements that they are a part of: the tracer does not see each line of one."""
    found = set(lines)
    for node in ast.walk(tree) if (tree := parsed(source)) is not None else ():
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            own = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            found |= set(own) if not lines.isdisjoint(own) else set()
    return found


def _defined(source: bytes) -> set[str]:
    """The names that definitions and imports make, wherever they stand."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    nodes = list(ast.walk(tree)) if (tree := parsed(source)) is not None else []
    imported = {each.asname or each.name for each in nodes if isinstance(each, ast.alias)}
    return imported | {node.name for node in nodes if isinstance(node, kinds)}


def _defining(source: bytes) -> set[int]:
    """The lines that only make a name known when a file is loaded: of definitions and imports."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.Import | ast.ImportFrom
    tree = parsed(source)  # none of newer syntax than ours; then every line counts
    return {node.lineno for node in ast.walk(tree) if isinstance(node, kinds)} if tree is not None else set()


def _in_functions(source: bytes) -> set[int]:
    tree = parsed(source)
    found = (
        [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)] if tree else []
    )
    return {line for node in found for line in range(node.body[0].lineno, (node.end_lineno or 0) + 1)}


def _values(source: bytes) -> set[str]:
    """What a file sets as it is loaded: names outside of functions, and what functions and classes are made with."""
    inside, found = _in_functions(source), set()
    for node in ast.walk(tree) if (tree := parsed(source)) is not None else ():
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.lineno not in inside:
            found.add(ast.unparse(node))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(f"{node.name}({ast.unparse(node.args)})")
        elif isinstance(node, ast.ClassDef):
            found.add(f"class {node.name}({', '.join(map(ast.unparse, node.bases))})")
    return found


def python_arguments(argv: Sequence[str]) -> tuple[str, ...]:
    """What follows the interpreter in a command (`main.py …`, `-m module …`); empty if it is no Python command."""
    if not argv:
        return ()
    name = PurePath(argv[0]).name
    if name in ("pytest", "py.test"):
        return ("-m", "pytest", *argv[1:])
    if argv[0] != "{python}" and not name.startswith("python"):
        return ()
    rest = list(argv[1:])
    while rest and rest[0] in _PLAIN_FLAGS:
        rest.pop(0)
    if rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        return ()
    return tuple(rest)


def _read(told: bytes, check: Check) -> Coverage | None:
    try:
        data: Any = json.loads(told)
    except ValueError:
        return None
    if data["elsewhere"] and check.kind != "output":  # what printed a wrong line is known
        return None
    tests = {
        name: TestLines(failed=each["failed"], lines=frozenset((path, line) for path, line in each["lines"]))
        for name, each in data["tests"].items()
    }
    return Coverage(
        lines=frozenset((path, line) for path, line in data["lines"]),
        tests=tests,
        stack=tuple((path, line) for path, line in data["stack"]),
        hot=frozenset((path, line) for path, line in data["hot"]),
        values={(path, line): tuple(samples) for path, line, samples in data["values"]},
        printed=tuple((number, (path, line)) for number, path, line in data["printed"]),
    )
