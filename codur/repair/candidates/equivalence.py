"""Observational equivalence: expressions for one place that have equal values in every recorded sample of the run.

A candidate whose value never differs from the one that stands there leads to the very run that failed, and of several
with equal values one tells what all would (as enumerative synthesis prunes: Albarghouthi et al. 2013). The samples are
a part of the run, so such candidates come later; they are not dropped.
"""

import ast

from codur.repair.candidates.factors import AGAIN, AS_BEFORE, MOST_SAMPLES
from codur.repair.code.evaluate import UNKNOWN, values
from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Edit
from codur.repair.evidence.observed_values import Environment
from codur.repair.operators.table import Offer
from codur.structs import Struct, field

# names in them are not those of the line
_INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr)
_TRUTHS = (ast.Compare, ast.BoolOp)  # what counts of these is whether they hold, not the value


class Equivalence(Struct, frozen=False, kw_only=False):
    """What the candidates for the places of one file came to so far."""

    context: Context
    _seen: dict[int, set[tuple[str, ...]]] = field(default_factory=dict)
    _compared: dict[ast.AST, ast.expr | None] = field(default_factory=dict)
    _samples: dict[int, list[Environment]] = field(default_factory=dict)

    def factor(self, offer: Offer) -> float:
        """What is left of the priority of an offer: all of it if its value is new, or cannot be told."""
        node = self.compared(offer.node)
        if node is None or not self._inside(node, offer.proposal.edits):
            return 1.0
        found = self._values(node, self._text(node, offer.proposal.edits))
        # One sample in which it cannot be worked out is one in which it may differ.
        if not found or UNKNOWN in found:
            return 1.0
        known = self._seen.get(id(node))
        if known is None:
            known = self._seen[id(node)] = set()
        before = self._values(node, self.context.code(node))
        if found == before:
            return AS_BEFORE
        if found in known:
            return AGAIN
        # Whoever comes first with a value keeps its whole priority, which is why offers are made in the order of the
        # table.
        known.add(found)
        return 1.0

    def compared(self, node: ast.expr | ast.stmt) -> ast.expr | None:
        """The expression whose values tell offers about a node from each other; None if there is none."""
        if node not in self._compared:
            found = _changed(node)
            statement = self.context.source.statement(node)
            known = found is not None and statement is not None and bool(self._sampled(statement.lineno))
            self._compared[node] = found if found is not None and known and self._usable(found) else None
        return self._compared[node]

    def _inside(self, node: ast.expr, edits: tuple[Edit, ...]) -> bool:
        start, end = self.context.source.span(node)
        return all(start <= edit.start and edit.end <= end for edit in edits)

    def _usable(self, node: ast.expr) -> bool:
        """Whether the variables hold at the node what they held at the start of its line."""
        # A comprehension's variables change within the line, and samples are taken where lines begin.
        return not any(isinstance(each, _INNER) for each in self.context.source.ancestors(node))

    def _values(self, node: ast.expr, text: str) -> tuple[str, ...]:
        statement = self.context.source.statement(node)
        if statement is None:
            return ()
        return values(text, self._sampled(statement.lineno), truth=isinstance(node, _TRUTHS))

    def _sampled(self, line: int) -> list[Environment]:
        if line not in self._samples:
            self._samples[line] = self.context.observed.environments(line)[:MOST_SAMPLES]
        return self._samples[line]

    def _text(self, node: ast.expr, edits: tuple[Edit, ...]) -> str:
        start, _ = self.context.source.span(node)
        text = self.context.code(node)
        # from the end, so that the other places stay what they are
        for edit in sorted(edits, key=lambda each: -each.start):
            text = text[: edit.start - start] + edit.text + text[edit.end - start :]
        return text


def _changed(node: ast.expr | ast.stmt) -> ast.expr | None:
    """The expression that an offer about a node may change: the node, or the test of a statement."""
    if isinstance(node, ast.If | ast.While):
        return node.test
    return node if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load) else None
