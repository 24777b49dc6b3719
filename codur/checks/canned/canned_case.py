"""What a change is judged by: the expected output, the tests and the prompt."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from codur.checks.canned import canned_syntax
from codur.checks.canned.wording import lines_of
from codur.python.project_files import called_name
from codur.structs import Struct

MOST = 0.8  # chosen: a header or a last line may be honest text


class Case(Struct, dict=True):  # a cached property needs one
    """What a change is judged by."""

    lines: Counter[str]  # the expected lines that are not empty, stripped
    is_new: bool  # the program is written anew, not edited
    told: str  # what the prompt tells a new program to print; empty if a program was edited
    tests: Mapping[str, str]  # the test files' text by path
    prompt: str

    def covers_most(self, lines: Counter[str]) -> bool:
        wanted = self.lines.total()
        return wanted > 0 and (self.lines & lines).total() >= MOST * wanted

    def has_all(self, text: str) -> bool:
        lines = lines_of(text)
        return bool(lines) and all(line in self.lines for line in lines)

    def tells(self, line: str) -> bool:
        """Does the prompt tell a new program to print this line? A bare number must be named as what is printed."""
        if re.fullmatch(r"[\d\W]+", line):
            verb = r"(?:prints?|outputs?|displays?|shows?|writes?|says?|returns?)[ :'\"`]{1,3}"
            return re.search(verb + re.escape(line) + r"(?!\w)", self.told, re.IGNORECASE) is not None
        return line.casefold() in self.told

    def asserts_together(self, *items: Iterable[str]) -> bool:
        """Does one assertion hold something of each?"""
        # One assertion with both, as single constants of the tests are found in any program.
        return any(all(not together.isdisjoint(some) for some in items) for together in self._asserts)

    @cached_property  # few changes have anything to look for in them, and a large project has thousands
    def _asserts(self) -> list[frozenset[str]]:
        """Constants and called names of each assertion, each row of a table, and each test with a single assertion."""
        trees = [tree for tree in map(canned_syntax.parse, self.tests.values()) if tree is not None]
        return [_items(group) for tree in trees for node in ast.walk(tree) for group in _together(node)]


def _together(node: ast.AST) -> list[Sequence[ast.AST]]:
    if isinstance(node, ast.List):
        return [[row] for row in node.elts if isinstance(row, ast.List)]
    if isinstance(node, canned_syntax.Function) and sum(isinstance(item, ast.Assert) for item in ast.walk(node)) == 1:
        return [node.body]
    is_call = isinstance(node, ast.Call) and called_name(node).startswith("assert")
    return [[node]] if is_call or isinstance(node, ast.Assert | ast.Tuple) else []


def _items(nodes: Sequence[ast.AST]) -> frozenset[str]:
    inside = [item for node in nodes for item in ast.walk(node)]
    names = [called_name(item) for item in inside if isinstance(item, ast.Call)]
    values = [canned_syntax.literal(item) for item in inside if isinstance(item, ast.expr)]
    return frozenset([*names, *(value for value in values if value is not None)])
