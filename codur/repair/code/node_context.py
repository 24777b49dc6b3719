"""What an operator knows besides its node: the file, its names and the failure; and the ways to phrase a change."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from keyword import iskeyword

from codur.repair.code.scopes import Scopes
from codur.repair.code.source_edits import Edit, Proposal
from codur.repair.code.source_file import Source
from codur.repair.code.value_kinds import Kinds
from codur.repair.evidence.failing_lines import Failure
from codur.repair.evidence.observed_values import Observed

_LOOSE = (
    ast.stmt,
    ast.keyword,
    ast.Call,
    ast.Slice,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.Tuple,
    ast.FormattedValue,
    ast.comprehension,
    ast.withitem,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.GeneratorExp,
    ast.DictComp,
)
"""Parents that take any expression but a bare tuple without brackets."""
_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Set, ast.Dict, ast.JoinedStr)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A file, the names in it, how the check failed, and what the variables held in the run that failed.

    Attributes:
        expected: the expected output, as far as the verdict shows it; empty for tests.
    """

    source: Source
    scopes: Scopes
    kinds: Kinds
    failure: Failure
    observed: Observed
    expected: str = ""

    @classmethod
    def of(cls, source: Source, failure: Failure, observed: Observed | None = None, expected: str = "") -> Context:
        seen = observed or Observed()
        return cls(
            source=source,
            scopes=Scopes(source),
            kinds=Kinds(source, seen),
            failure=failure,
            observed=seen,
            expected=expected,
        )

    def code(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> str:
        return self.source.code(node)

    def left_code(self, node: ast.BinOp) -> str:
        """The left operand with its brackets, if it has some."""
        start, end = self.source.span(node)[0], self.source.span(node.left)[1]
        closing = re.match(r"[\s)]*", self.source.text[end : self.source.span(node.right)[0]])
        return self.source.text[start : end + (closing.end() if closing else 0)].rstrip()

    def edit(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword, text: str) -> Edit:
        start, end = self.source.span(node)
        return Edit(path=self.source.path, start=start, end=end, text=text)

    def edit_span(self, start: int, end: int, text: str) -> Edit:
        return Edit(path=self.source.path, start=start, end=end, text=text)

    def replace(self, node: ast.expr, text: str, *, says: str = "", weight: float = 1.0) -> Proposal:
        """The expression becomes `text`, bracketed if its surroundings would tear it apart."""
        return Proposal(edits=(self.edit(node, self.fit(node, text)),), says=says, weight=weight)

    def fit(self, node: ast.expr, text: str) -> str:
        """`text` as it can stand in the place of `node`."""
        parent = self.source.parent(node)
        if isinstance(parent, _LOOSE) or (text.isidentifier() and not iskeyword(text)):
            return text
        new = _expression(text)
        if new is None or isinstance(new, _ATOMS):
            attribute = isinstance(parent, ast.Attribute) and isinstance(new, ast.Constant)
            return f"({text})" if attribute else text
        if isinstance(parent, ast.Call | ast.Subscript) and node is not getattr(
            parent, "func", getattr(parent, "value", None)
        ):
            return text
        if _binds_enough(new, parent, node):
            return text
        start, end = self.source.span(node)
        around = self.source.text[start - 1 : start], self.source.text[end : end + 1]
        return text if around == ("(", ")") else f"({text})"

    def between(self, left: ast.expr, right: ast.expr, symbol: str) -> tuple[int, int] | None:
        """Where an operator stands between its operands; None if a comment stands there too."""
        start, end = self.source.span(left)[1], self.source.span(right)[0]
        gap = self.source.text[start:end]
        if "#" in gap:
            return None
        found = re.search(r"\s+".join(map(re.escape, symbol.split())), gap)
        return (start + found.start(), start + found.end()) if found else None


def _binds_enough(new: ast.expr, parent: ast.AST | None, node: ast.expr) -> bool:
    """Whether an operation can stand under another one without brackets: the common cases, not all."""
    if isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.Not):
        return isinstance(parent, ast.IfExp | ast.BoolOp)
    if isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.USub) and isinstance(new.operand, ast.Constant):
        return isinstance(parent, ast.Compare | ast.BinOp) and not isinstance(getattr(parent, "op", None), ast.Pow)
    if not isinstance(new, ast.BinOp):
        return False
    sums = isinstance(new.op, ast.Add | ast.Sub) and isinstance(getattr(parent, "op", None), ast.Add | ast.Sub)
    return isinstance(parent, ast.Compare) or (sums and isinstance(parent, ast.BinOp) and parent.left is node)


@lru_cache(maxsize=4096)
def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
