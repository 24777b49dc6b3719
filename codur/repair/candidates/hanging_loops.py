"""What can end a loop that did not end: which changes come first when the check ran out of time.

A `while` whose test reads nothing that its body changes goes on for ever; then only another test, a change of what the
test reads, or a jump out of the loop helps. Else a step, a mark or an exit that is missing is the usual reason.
"""

import ast
import re
from collections.abc import Collection

from codur.lazy import regex
from codur.repair.candidates.factors import ENDING, ENDLESS, IN_TEST
from codur.repair.code.source_edits import Edit
from codur.repair.code.source_file import Source
from codur.repair.operators.table import Offer

_ENDERS = frozenset({"update inserted", "step inserted", "seen guarded", "moved into block"})
_JUMP = regex(r"\b(?:break|return|raise)\b")


class Endless:
    """The loops of one file that were running when the time was up.

    Args:
        lines: the lines that were running, and those that ran most often.
    """

    def __init__(self, source: Source, lines: Collection[int]) -> None:
        self._source = source
        tree = source.tree
        loops: list[ast.While | ast.For] = [*source.nodes(tree, ast.While), *source.nodes(tree, ast.For)]
        self._running = [each for each in loops if any(_spans(each, line) for line in lines)]
        # The outer loops are running, too, but only the innermost one is stuck.
        inner = [each for each in self._running if not any(_around(each, other) for other in self._running)]
        self._stuck = [each for each in inner if isinstance(each, ast.While) and _unchanged(each)]

    def factor(self, offer: Offer) -> float:
        """By how much the priority of an offer changes."""
        if not self._running:
            return 1.0
        # Before all else: an operator that ends loops elsewhere ends none whose test cannot change.
        if any(self._hopeless(offer, loop) for loop in self._stuck):
            return ENDLESS
        if not any(_spans(loop, offer.line) for loop in self._running):
            return 1.0
        if offer.operator in _ENDERS:
            return ENDING
        return IN_TEST if any(self._in_test(offer, loop) for loop in self._running) else 1.0

    def most(self, first: int, last: int) -> float:
        """The largest factor that an offer about one of these lines can have."""
        around = any(loop.lineno <= last and first <= (loop.end_lineno or last) for loop in self._running)
        return ENDING if around else 1.0

    def _in_test(self, offer: Offer, loop: ast.While | ast.For) -> bool:
        return isinstance(loop, ast.While) and self._touches(offer.proposal.edits, loop.test)

    def _hopeless(self, offer: Offer, loop: ast.While) -> bool:
        """Whether the loop would run as it did, once it is reached as it was."""
        read = _names(loop.test)
        if not _spans(loop, offer.line) or self._touches(offer.proposal.edits, loop.test):
            return False
        # Its edit is the bare name, which the expression below would not take for an assignment.
        if offer.operator == "target replaced" and offer.proposal.edits[0].text in read:
            return False
        names = "|".join(map(re.escape, sorted(read)))
        # By the text of the edit, because parsing a fragment (half a statement, a line of a body) mostly fails.
        changes = re.compile(rf"\b(?:{names})\b(?:\.|\[|\s*(?:[-+*/%&|^]|//|\*\*|<<|>>)?=(?!=))")
        return not any(changes.search(edit.text) or _JUMP.search(edit.text) for edit in offer.proposal.edits)

    def _touches(self, edits: tuple[Edit, ...], node: ast.expr) -> bool:
        start, end = self._source.span(node)
        return any(edit.path == self._source.path and edit.start <= end and edit.end >= start for edit in edits)


def _spans(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _around(node: ast.stmt, other: ast.stmt) -> bool:
    """Whether another loop stands inside the node."""
    return node is not other and _spans(node, other.lineno)


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _unchanged(loop: ast.While) -> bool:
    """Whether nothing in the loop assigns, or calls a method of, what its test reads, and nothing leaves it."""
    names = _names(loop.test)
    # `while True` ends by a jump alone; what would be "its names" says nothing.
    if not names:
        return False
    return not any(_changes(each, names) for statement in loop.body for each in ast.walk(statement))


def _changes(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Return | ast.Break | ast.Raise | ast.Yield | ast.YieldFrom):
        return True
    if isinstance(node, ast.Name):
        return isinstance(node.ctx, ast.Store | ast.Del) and node.id in names
    if isinstance(node, ast.Call):
        return any(_root(each) in names for each in (node.func, *node.args) if not isinstance(each, ast.Name)) or any(
            isinstance(each, ast.Name) and each.id in names for each in node.args
        )
    return isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store) and _root(node) in names


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
