"""Candidates that are made late: what stands for the changes of a file, a statement or a node until they are wanted.

A prospect has the highest priority that a candidate of it can have. It is opened when that is the highest of all that
waits, so the candidates come in the order that they would have if all were made at once, whatever the size of the
program: of most statements no operator ever looks at.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Literal

from codur.repair.candidates.candidates import Candidate, Program
from codur.repair.candidates.factors import DEFAULT, ENDING, MENDED, PER_EDIT
from codur.repair.candidates.hanging_loops import Endless
from codur.repair.candidates.syntax_repairs import mend
from codur.repair.code.node_context import Context
from codur.repair.code.source_file import FunctionNode, Source, parse_source
from codur.repair.evidence.failing_lines import Failure
from codur.repair.evidence.observed_values import Observed
from codur.repair.hints import Hints
from codur.repair.operators.table import OPERATORS, Head, Offer, Operator, changeable, heads, living, offers, rows_for
from codur.repair.suspicion.localise import Suspicion
from codur.structs import Struct, field

_ROUNDED = 1.0 + 1e-9
"""A product of the same factors in another order may differ in its last digits; a bound must not be lower."""

Which = Literal["executed", "not executed", "all"]
"""Which statements are changed: what was not executed cannot have made the check fail, unless it runs unseen."""


class Sight(Struct):
    """What the candidates of a program depend on."""

    program: Program
    failure: Failure = field(default_factory=Failure)
    suspicion: Suspicion = field(default_factory=Suspicion)
    which: Which = "all"
    # what the variables of a file held in the traced run
    observed: Callable[[str], Observed] = field(default=lambda _: Observed())
    expected: str = ""  # the expected output, as far as it is known
    hints: Hints = field(default_factory=Hints)  # what comes earlier than it would

    def most(self) -> float:
        """The highest priority that a change of a line of suspicion 1, which no hint names, can have."""
        return max(map(self.worth, living(OPERATORS, self.failure)))

    def worth(self, row: Operator) -> float:
        """The most that a proposal of an operator is worth."""
        return row.prior * row.most * self.hints.of_kind(row.name) * self.hints.of_difference(row.name)


def prospects(sight: Sight) -> Iterator[Prospect]:
    """All changes of some statements of a program: a prospect for each file."""
    highest: dict[str, float] = {}
    for (path, _), score in sight.suspicion.scores.items():
        highest[path] = max(score, highest.get(path, sight.suspicion.others))
    broken = bool(sight.failure.of("SyntaxError", "IndentationError", "TabError"))
    looping = {path for path, _ in sight.suspicion.running}
    for number, path in enumerate(sight.program.texts):
        most = highest.get(path, 0.0) * sight.most() * sight.hints.of_file(path) * (ENDING if path in looping else 1.0)
        whole = path in highest and not broken  # a file of which a line ran does compile
        yield _FileProspect(sight, path, (number,), most * _ROUNDED if whole else MENDED)


class _FileProspect:
    """The candidates of a file, which is parsed when the first of them is wanted."""

    def __init__(self, sight: Sight, path: str, order: tuple[int, ...], priority: float) -> None:
        self.order = order
        self.priority = priority
        self._sight = sight
        self._path = path

    def open(self) -> Iterator[Candidate | Prospect]:
        """The file mended if it does not compile, else its statements."""
        self.priority = 0.0
        source = parse_source(self._path, self._sight.program.texts[self._path])
        if source is None:
            yield from self._mended()
            return
        file = _File(self._sight, source)
        for number, head in enumerate(heads(source)):
            if file.holds(head):
                yield _StatementProspect(file, head, (*self.order, number))

    def _mended(self) -> Iterator[Candidate]:
        for rank, mended in enumerate(mend(self._sight.program.texts[self._path], self._path)):
            yield Candidate(
                base=self._sight.program,
                path=self._path,
                line=mended.line,
                # In the order in which they were found, the compiler's own place first.
                priority=MENDED * 0.95**rank,
                order=(*self.order, rank),
                text=mended.text,
                says=mended.says,
            )


class _File:
    """A file that was parsed, and what its candidates depend on."""

    def __init__(self, sight: Sight, source: Source) -> None:
        path, suspicion = source.path, sight.suspicion
        self.sight = sight
        self.source = source
        self.context = Context.of(source, sight.failure, sight.observed(path), sight.expected)
        self.endless = Endless(source, [line for where, line in suspicion.running if where == path])
        self.most = sight.most()
        self._rows: dict[type, tuple[_Row, ...]] = {}

    def holds(self, head: Head) -> bool:
        """Whether a part is among those that are changed."""
        if self.sight.which == "all":
            return True
        statement = self.source.statement(head)
        ran = statement is None or self.sight.suspicion.ran(self.source.path, *changed_lines(statement))
        return ran == (self.sight.which == "executed")

    def suspicion(self, lines: tuple[int, int]) -> float:
        return self.sight.suspicion.of(self.source.path, *lines)

    def hinted(self, lines: tuple[int, int]) -> float:
        return self.sight.hints.of_place(self.source.path, *lines)

    def rows(self, node: ast.AST) -> tuple[_Row, ...]:
        """The operators for a node, those first that may have the best offer."""
        if type(node) not in self._rows:
            rows = enumerate(living(rows_for(node), self.sight.failure))
            weighed = ((self.sight.worth(row), place, row) for place, row in rows)
            self._rows[type(node)] = tuple(sorted(weighed, key=lambda each: -each[0]))
        return self._rows[type(node)]


_Row = tuple[float, int, Operator]
"""The most that an operator's offer about a line of suspicion 1 is worth, its place in the table, and itself."""


class _StatementProspect:
    """The candidates of a statement, those of the statements in it left out."""

    def __init__(self, file: _File, head: Head, order: tuple[int, ...]) -> None:
        self.order = order
        self._file = file
        self._head = head
        lines = _all_lines(head)
        self.priority = file.suspicion(lines) * file.most * file.hinted(lines) * file.endless.most(*lines) * _ROUNDED

    def open(self) -> Iterator[Candidate | Prospect]:
        """Its nodes."""
        self.priority = 0.0
        for number, node in enumerate(changeable(self._file.source, self._head)):
            default = isinstance(self._head, FunctionNode) and node is not self._head
            yield _NodeProspect(self._file, node, (*self.order, number), DEFAULT if default else 1.0)


class _NodeProspect:
    """The candidates of a node."""

    def __init__(self, file: _File, node: ast.expr | ast.stmt, order: tuple[int, ...], factor: float) -> None:
        self.order = order
        self._file = file
        self._node = node
        self._suspicion = factor * file.suspicion(changed_lines(node))
        self._hinted = file.hinted((node.lineno, node.lineno))
        self._bound = self._suspicion * self._hinted * file.endless.most(node.lineno, node.lineno) * _ROUNDED
        self._rows = file.rows(node)
        self._next = 0

    @property
    def priority(self) -> float:
        return self._bound * self._rows[self._next][0] if self._next < len(self._rows) else 0.0

    def open(self) -> Iterator[Candidate | Prospect]:
        """Those of the next operator, which may have the best one; none of a node that no operator looks at."""
        following = self._rows[self._next : self._next + 1]
        self._next += 1
        for _, place, row in following:
            for rank, offer in enumerate(offers(self._file.context, self._node, row)):
                yield self._candidate(offer, (place, rank))

    def _candidate(self, offer: Offer, place: tuple[int, int]) -> Candidate:
        file = self._file
        # Without the hint: this is what ranks the repairs that pass, and a hint says where to look, not what is right.
        own = self._suspicion * offer.prior * offer.proposal.weight * PER_EDIT ** (len(offer.proposal.edits) - 1)
        return Candidate(
            base=file.sight.program,
            path=file.source.path,
            line=offer.line,
            priority=own * file.endless.factor(offer) * file.sight.hints.of_difference(offer.operator),
            hinted=self._hinted * file.sight.hints.of_kind(offer.operator),
            order=(*self.order, *place),
            offer=offer,
            source=file.source,
        )


Prospect = _FileProspect | _StatementProspect | _NodeProspect
"""Candidates that are not made yet: none is judged earlier than one with its `priority`, which is 0 if all are made;
`open` makes some of them, or divides them."""


def _all_lines(head: Head) -> tuple[int, int]:
    """The lines of what is changed in a part."""
    first = head.pattern.lineno if isinstance(head, ast.match_case) else head.lineno
    body = getattr(head, "body", None)
    # Up to the body's first line, because an edit of the head may put something there.
    if body and not isinstance(head, FunctionNode):
        return first, max(first, body[0].lineno)
    return first, getattr(head, "end_lineno", None) or first


def changed_lines(node: ast.expr | ast.stmt) -> tuple[int, int]:
    """First and last line of a node; of a compound statement only its head, of a function its body."""
    last = node.end_lineno or node.lineno
    if isinstance(node, FunctionNode):
        return node.body[0].lineno, last
    body = getattr(node, "body", None)
    if isinstance(node, ast.stmt) and isinstance(body, list) and body:
        return node.lineno, max(node.lineno, body[0].lineno - 1)
    return node.lineno, last
