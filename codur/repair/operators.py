"""The table of repair operators, and the candidates that they offer for a file.

A row is a name, a prior, the node types it applies to and a pure function from a node and its context to proposals. The
kinds are those of mutation testing and of the simple single-statement bugs that Karampatsis and Sutton list (2020).
The priors are estimates that set the order of the search, no probabilities.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from codur.repair import arithmetic, expressions, guards, names, statements
from codur.repair.context import Context
from codur.repair.edits import Proposal
from codur.repair.source import Source

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A kind of repair.

    Attributes:
        name: for reports.
        prior: how likely it is against the others, 0 to about 3.
        nodes: types of the nodes that it looks at.
        propose: changes for one node.
    """

    name: str
    prior: float
    nodes: tuple[type, ...]
    propose: Callable[[Context, Any], Iterable[Proposal]]


def _row(name: str, prior: float, propose: Callable[[Context, Any], Iterable[Proposal]], *nodes: type) -> Operator:
    return Operator(name=name, prior=prior, nodes=nodes, propose=propose)


OPERATORS: tuple[Operator, ...] = (
    # answers to an exception
    _row("name corrected", 3.0, names.name_corrected, ast.Name),
    _row("attribute corrected", 3.0, names.attribute_corrected, ast.Attribute),
    _row("import added", 3.0, names.import_added, ast.Name),
    _row("self added", 3.0, names.self_added, ast.Name),
    _row("division guarded", 2.0, guards.division_guarded, ast.BinOp),
    _row("index guarded", 1.5, guards.index_guarded, ast.Subscript),
    _row("empty guarded", 2.0, guards.empty_guarded, ast.Call),
    _row("None guarded", 1.5, guards.none_guarded, ast.Name, ast.Attribute),
    # typical slips
    _row("f-prefix added", 2.5, names.prefix_missing, ast.Constant),
    _row("mutable default", 1.5, statements.mutable_default, *_FUNCTIONS),
    _row("return added", 1.0, statements.return_added, *_FUNCTIONS),
    _row("range bound", 1.0, expressions.range_bound, ast.Call),
    _row("comparison boundary", 1.0, expressions.compare_boundary, ast.Compare),
    _row("comparison swapped", 0.7, expressions.compare_swap, ast.Compare),
    _row("and/or swapped", 0.7, expressions.bool_swap, ast.BoolOp),
    _row("not removed", 0.7, expressions.not_removed, ast.UnaryOp),
    _row("not added", 0.4, expressions.not_added, ast.If, ast.While, ast.IfExp, ast.Return),
    _row("True/False flipped", 0.7, expressions.bool_flip, ast.Constant),
    _row("step removed", 0.9, expressions.step_removed, ast.BinOp),
    _row("constant shifted", 0.7, expressions.constant_shift, ast.Constant),
    _row("index shifted", 0.7, expressions.index_shift, ast.Subscript),
    _row("slice bound", 0.7, expressions.slice_bound, ast.Slice),
    _row("factor removed", 0.9, arithmetic.factor_removed, ast.BinOp),
    _row("arithmetic swapped", 0.6, arithmetic.arithmetic_swap, ast.BinOp),
    _row("augmented assignment", 0.7, arithmetic.augmented_swap, ast.AugAssign),
    _row("assignment accumulated", 0.5, arithmetic.assignment_accumulated, ast.Assign),
    _row("sibling call", 0.8, arithmetic.sibling_call, ast.Call),
    _row("reverse toggled", 0.6, arithmetic.reverse_toggled, ast.Call),
    _row("moved out of block", 0.6, statements.moved_out, *_BLOCKS),
    _row("moved out of else", 0.8, statements.moved_out_of_else, ast.For, ast.While),
    _row("moved into block", 0.5, statements.moved_in, *_BLOCKS),
    _row("arguments swapped", 0.5, arithmetic.arguments_swapped, ast.Call),
    # broad ones, tried late
    _row("variable replaced", 0.6, names.variable_replaced, ast.Name),
    _row("operand removed", 0.7, arithmetic.operand_removed, ast.BinOp),
    _row("condition narrowed", 0.4, expressions.bool_operand_removed, ast.BoolOp),
    _row("operands swapped", 0.4, arithmetic.operands_swapped, ast.BinOp),
    _row("value shifted", 0.4, expressions.value_shift, ast.Name, ast.Call, ast.Subscript, ast.BinOp),
    _row("statement deleted", 0.4, statements.deleted, ast.stmt),
    _row("call unwrapped", 0.5, arithmetic.call_unwrapped, ast.Call),
    _row("call wrapped", 0.15, arithmetic.call_wrapped, ast.Return, ast.Assign, ast.BinOp, ast.Compare, ast.Call),
    _row("argument removed", 0.3, arithmetic.argument_removed, ast.Call),
    _row("sign removed", 0.4, arithmetic.sign_removed, ast.UnaryOp),
    _row("jump swapped", 0.4, statements.jump_swapped, ast.Break, ast.Continue),
    _row("argument guarded", 0.2, guards.argument_guarded, *_FUNCTIONS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A proposal with the operator that makes it and the node it is about."""

    operator: str
    prior: float
    proposal: Proposal
    node: ast.expr | ast.stmt

    @property
    def line(self) -> int:
        return self.node.lineno


def offers(context: Context, wanted: Callable[[ast.expr | ast.stmt], bool] = lambda _: True) -> Iterator[Offer]:
    """What the operators propose for the wanted nodes of a file, in the order of the text and then of the table."""
    for node in filter(wanted, _candidates(context.source)):
        for operator in OPERATORS:
            if isinstance(node, operator.nodes):
                for proposal in operator.propose(context, node):
                    yield Offer(operator=operator.name, prior=operator.prior, proposal=proposal, node=node)


def _candidates(source: Source) -> Iterator[ast.expr | ast.stmt]:
    """Nodes that may be changed, in the order of the text: only those where text and tree agree."""
    queue: list[ast.AST] = [source.tree]
    while queue:
        node = queue.pop(0)
        if _left_alone(node):
            continue
        if isinstance(node, ast.expr | ast.stmt) and not (isinstance(node, ast.expr) and not source.trusted(node)):
            yield node
        queue = [*_children(node), *queue]


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Child nodes that run: not annotations, not decorators, not the test of a `__main__` block."""
    hidden = {"annotation", "returns", "decorator_list", "type_params"}
    if isinstance(node, ast.If) and _is_main_test(node.test):
        hidden = {"test"}
    for name, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else [value]:
            if name not in hidden and isinstance(each, ast.AST) and not _printed_number(node, each):
                yield each


def _printed_number(node: ast.AST, argument: ast.AST) -> bool:
    """Whether a call prints or writes a number that is written out: to change it is to write the answer down."""
    if not isinstance(node, ast.Call) or argument is node.func:
        return False
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    parts = list(ast.walk(argument))
    computed = any(isinstance(part, ast.Name | ast.Call | ast.Attribute) for part in parts)
    numbers = any(isinstance(part, ast.Constant) and isinstance(part.value, int | float) for part in parts)
    return name in {"print", "write"} and numbers and not computed


def _left_alone(node: ast.AST) -> bool:
    docstring = (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    return docstring or isinstance(node, ast.Import | ast.ImportFrom)


def _is_main_test(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == "__name__"
