"""How programs that pass the check behave beyond it: their answers to generated inputs."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from codur.checks.checker import Checker
from codur.checks.pristine import Pristine
from codur.errors import LimitReached
from codur.lazy import regex
from codur.repair.candidates.candidates import Program
from codur.repair.choice.input_generator import changed_arguments, changed_text
from codur.repair.code.source_file import FunctionNode, parse_source
from codur.repair.evidence.observed_values import literal
from codur.repair.evidence.tracing import Coverage, RunThere
from codur.structs import Struct
from codur.types import Check
from codur.workspace import text

EXAMPLES = ">>>"
_EXAMPLE = regex(r"^[ \t]*>>> ", re.MULTILINE)
_PROGRAM = Path(__file__).with_name("probe_program.py")
# In the scratch copy, the one place that the program surely may read and write.
_TASK, _OUT = ".repair-inputs.json", ".repair-answers.json"
_SECONDS = 0.1  # chosen; a loop that does not end costs this for each input
_TIMEOUT_S = 4.0
"""For a version of the program, and for the start."""
_MAX_CALLS = 8  # each is changed in many ways, and `MOST` inputs are taken of all


class Inputs(Struct):
    """Inputs for one program or function."""

    entry: str  # the file that is run
    function: str  # the top-level function that is called; empty: the file is run with a text on standard input
    given: tuple[str, ...]  # texts, or argument lists as literals
    lines: tuple[int, int] = (0, 0)  # first and last line of the function

    def reach(self, program: Program) -> bool:
        """Whether a change of the program can show in the answers: it is not outside of the function."""
        first, last = self.lines
        return not self.function or any(
            change.path == self.entry and first <= change.line <= last for change in program.changes
        )


class Prober:
    """Runs candidate programs on generated inputs, in the scratch workspace of a checker."""

    def __init__(
        self, checker: Checker, check: Check, coverage: Coverage | None, there: RunThere | None = None
    ) -> None:
        self._workspace = checker.workspace
        self._checker = checker
        self._check = check
        self._coverage = coverage
        self._there = there

    def inputs(self, original: Program, programs: Sequence[Program]) -> Inputs | None:
        """Inputs that reach what the programs change; None if none can be made."""
        check = self._check
        # A program that reads nothing prints the same whatever is generated.
        if check.kind == "output" and check.entry and check.stdin_file:
            given = self._workspace.read_bytes(check.stdin_file).decode(errors="replace")
            return Inputs(entry=check.entry, function="", given=changed_text(given))
        places = {(change.path, change.line) for program in programs for change in program.changes}
        # Sorted, because sets have another order in each process, and the same search must give the same patch.
        for path in sorted({path for path, _ in places}):
            found = self._calls(path, original.texts[path], {line for place, line in places if place == path})
            if found is not None:
                return found
        return None

    def _calls(self, path: str, content: str, lines: set[int]) -> Inputs | None:
        """Recorded calls of the top-level function that holds one of the lines."""
        source = parse_source(path, content)
        if source is None or self._coverage is None:
            return None
        for node in source.tree.body:
            inside = isinstance(node, ast.FunctionDef) and any(
                node.lineno <= line <= (node.end_lineno or 0) for line in lines
            )
            # Samples hold variables by name: of what `*args` and keywords were nobody knows the form of the call.
            if inside and isinstance(node, ast.FunctionDef) and not (node.args.vararg or node.args.kwonlyargs):
                calls = self._recorded(path, node)
                if calls:
                    span = (node.lineno, node.end_lineno or node.lineno)
                    return Inputs(entry=path, function=node.name, given=changed_arguments(calls), lines=span)
        return None

    def _recorded(self, path: str, node: FunctionNode) -> list[list[object]]:
        """Arguments that the function was called with in the traced run."""
        assert self._coverage is not None
        # A docstring is no line that runs, so that the first sample of a call is at the statement after it.
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None and node.body[1:] else node.body
        names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
        found: dict[str, list[object]] = {}
        for sample in self._coverage.values.get((path, body[0].lineno), ()):
            if set(names) <= set(sample) and not any(sample[name].startswith("<") for name in names):
                found.setdefault(repr(sample), [literal(sample[name]) for name in names])
        return list(found.values())[:_MAX_CALLS] if names else []

    def examples(self, original: Program) -> Inputs | None:
        """The examples in the docstrings of the files in question; None if there are none."""
        for path, content in original.texts.items():
            if _EXAMPLE.search(content):
                return Inputs(entry=path, function=EXAMPLES, given=())
        return None

    def answers(self, inputs: Inputs, versions: Sequence[Mapping[str, str]]) -> list[tuple[str, ...]]:
        """What the program answers with each of these texts; empty where it could not be run.

        Raises:
            WorkspaceError: a file that they change cannot be put back.
        """
        here = self._workspace
        originals = {path: here.read_bytes(path) for path in {path for texts in versions for path in texts}}
        wanted = {
            "entry": inputs.entry,
            "function": inputs.function,
            "inputs": inputs.given,
            "seconds": _SECONDS,
            "most": _TIMEOUT_S,
        }
        program = _PROGRAM.read_text(encoding="utf-8")
        if self._there is not None:
            told = self._there(program, (json.dumps(wanted), "", str(here.root)), _TIMEOUT_S, versions)
            if None not in told:
                return [_answered(each or b"") for each in told]
        wanted["versions"] = [
            {path: _encoded(path, texts.get(path), old) for path, old in originals.items()} for texts in versions
        ]
        task, outs = here.root / _TASK, [here.root / f"{_OUT}{number}" for number in range(len(versions))]
        words = map(str, (task, here.root / _OUT, here.root))
        argv = ("{python}", "-c", program, *words)
        timeout_s = _TIMEOUT_S * (len(versions) + 1)
        try:
            task.write_text(json.dumps(wanted), encoding="utf-8")
            with suppress(LimitReached):  # what was answered until then counts
                self._checker.run(Check(kind="command", argv=argv, timeout_s=timeout_s, source="generated inputs"))
            return [_answered(out.read_bytes() if out.is_file() else b"") for out in outs]
        finally:
            Pristine(originals).restore(here)  # the program put the versions in place
            for path in (task, *outs):
                path.unlink(missing_ok=True)


def _encoded(path: str, new: str | None, old: bytes) -> str:
    """The bytes of a file's new text, or its old ones, as a text of so many characters."""
    return (old if new is None else text.encode(path, new, old)).decode("latin-1")


def _answered(told: bytes) -> tuple[str, ...]:
    try:
        return tuple(json.loads(told))
    except ValueError:  # it did not end, or forbids being run like this
        return ()
