"""What an operator knows besides its node: the file, its names and the failure; and the ways to phrase a change."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from keyword import iskeyword

from codur.repair.code.node_shapes import JUMPS, first_line, last_line
from codur.repair.code.scopes import Scopes
from codur.repair.code.source_edits import Edit, Proposal
from codur.repair.code.source_file import Source
from codur.repair.code.value_kinds import Kind, Kinds
from codur.repair.evidence.failing_lines import Failure, Raised
from codur.repair.evidence.observed_values import Observed
from codur.structs import Struct

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


class Context(Struct):
    """A file, the names in it, how the check failed, and what the variables held in the run that failed."""

    source: Source
    scopes: Scopes
    kinds: Kinds
    failure: Failure
    observed: Observed
    expected: str = ""  # the expected output, as far as the verdict shows it; empty for tests

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

    # --- what is known of a node ------------------------------------------------------------------------------------

    def code(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> str:
        return self.source.code(node)

    def left_code(self, node: ast.BinOp) -> str:
        """The left operand with its brackets, if it has some."""
        start, end = self.source.span(node)[0], self.source.span(node.left)[1]
        closing = re.match(r"[\s)]*", self.source.text[end : self.source.span(node.right)[0]])
        return self.source.text[start : end + (closing.end() if closing else 0)].rstrip()

    def raised(self, node: ast.expr | ast.stmt, *kinds: str) -> tuple[Raised, ...]:
        """Exceptions of these kinds that passed through the lines of a node."""
        return self.failure.at(self.source.path, node.lineno, last_line(node), *kinds)

    def variables(self, node: ast.AST, *kinds: Kind) -> list[str]:
        """Variables that hold a value of one of these kinds where the node stands."""
        return [name for name in self.scopes.variables(node) if self.kinds.named(node, name) in kinds]

    # --- ways to phrase a change ------------------------------------------------------------------------------------

    def edit(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword, text: str) -> Edit:
        return self.edit_span(*self.source.span(node), text)

    def edit_span(self, start: int, end: int, text: str) -> Edit:
        return Edit(path=self.source.path, start=start, end=end, text=text)

    def span(self, start: int, end: int, text: str, says: str = "", weight: float = 1.0) -> Proposal:
        """What stands between two offsets gives way to a text."""
        return Proposal(edits=(self.edit_span(start, end, text),), says=says, weight=weight)

    def insert(self, at: int, text: str, says: str = "", weight: float = 1.0) -> Proposal:
        return self.span(at, at, text, says, weight)

    def whole(self, node: ast.expr | ast.stmt, text: str, says: str = "", weight: float = 1.0) -> Proposal:
        """A node becomes `text`, as it is."""
        return self.span(*self.source.span(node), text, says, weight)

    def replace(self, node: ast.expr, text: str, *, says: str = "", weight: float = 1.0) -> Proposal:
        """The expression becomes `text`, bracketed if its surroundings would tear it apart."""
        return self.whole(node, self.fit(node, text), says, weight)

    def ranked(self, node: ast.expr, texts: Iterable[str], decay: float, weight: float = 1.0) -> Iterator[Proposal]:
        """The expression becomes each of the texts, the likely ones first."""
        for rank, text in enumerate(texts):
            yield self.replace(node, text, weight=weight * decay**rank)

    def swap(self, first: ast.expr, second: ast.expr, weight: float = 1.0) -> Iterator[Proposal]:
        """Two expressions change places, unless they are the same."""
        left, right = self.code(first), self.code(second)
        if left != right:
            edits = self.edit(first, self.fit(first, right)), self.edit(second, self.fit(second, left))
            yield Proposal(edits=edits, says=f"has `{left}` and `{right}` the wrong way round", weight=weight)

    def other_symbols(
        self, left: ast.expr, right: ast.expr, symbol: str, others: Iterable[str], decay: float
    ) -> Iterator[Proposal]:
        """Other operators between two operands, the likely ones first."""
        place = self.between(left, right, symbol)
        if place:
            for rank, other in enumerate(others):
                yield self.span(*place, other, f"needs `{other}` in place of `{symbol}`", decay**rank)

    def attribute(self, node: ast.Attribute, name: str, says: str = "", weight: float = 1.0) -> Proposal:
        """`a.b` becomes `a.name`."""
        end = self.source.span(node)[1]
        says = says or f"should use `{name}` in place of `{node.attr}`"
        return self.span(end - len(node.attr), end, name, says, weight)

    def last_argument(self, node: ast.Call, text: str, says: str = "", weight: float = 1.0) -> Proposal:
        """One argument more."""
        comma = ", " if node.args or node.keywords else ""
        return self.insert(self.source.span(node)[1] - 1, f"{comma}{text}", says, weight)

    def before(
        self, statement: ast.stmt, line: str, *, inside: str = "", says: str = "", weight: float = 1.0
    ) -> Iterator[Proposal]:
        """A line before a statement, and one inside of it; nothing where no line can stand, as before `elif`."""
        indent = self.source.indent(statement)
        if indent is None or self.source.is_elif(statement):
            return
        within = f"{indent}{self.source.indent_unit}{inside}\n" if inside else ""
        at = self.source.line_start(first_line(statement))
        yield self.insert(at, f"{indent}{line}\n{within}", says or f"lacks `{line}`", weight)

    def after(self, statement: ast.stmt, line: str, *, says: str = "", weight: float = 1.0) -> Iterator[Proposal]:
        """A line behind a statement, or before it if it is a jump."""
        indent = self.source.indent(statement)
        if isinstance(statement, JUMPS):
            yield from self.before(statement, line, says=says, weight=weight)
        elif indent is not None:
            end = self.source.line_end(last_line(statement))
            yield self.insert(end, f"\n{indent}{line}", says or f"lacks `{line}`", weight)

    def exits(
        self, statement: ast.stmt, test: str, exits: Sequence[str], decay: float, *, says: str
    ) -> Iterator[Proposal]:
        """`if TEST:` with each of some jumps before a statement."""
        for rank, leave in enumerate(exits):
            yield from self.before(statement, f"if {test}:", inside=leave, says=says, weight=decay**rank)

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
