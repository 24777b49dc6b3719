"""The table of repair operators, and what they offer for a node of a file.

A row is a name, a prior, the node types it applies to and a pure function from a node and its context to proposals. The
kinds are those of mutation testing and of the simple single-statement bugs that Karampatsis and Sutton list (2020).
The priors are estimates that set the order of the search, no probabilities.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import Source
from codur.repair.evidence.failing_lines import Failure
from codur.repair.operators.expressions import (
    arithmetic,
    attributes,
    calls,
    comparisons,
    constants,
    conversions,
    exception_classes,
    names,
    regular_expressions,
)
from codur.repair.operators.statements import (
    condition_bounds,
    conditions,
    counterparts,
    guards,
    insertions,
    loop_updates,
    replacements,
    returns,
    slips,
    statements,
    wraps,
)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_VALUES = (ast.Name, ast.Call, ast.Attribute, ast.Subscript)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_UNDEFINED = ("NameError", "UnboundLocalError")
_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """A kind of repair.

    Attributes:
        name: for reports.
        prior: how likely it is against the others, 0 to about 3.
        nodes: types of the nodes that it looks at.
        propose: changes for one node.
        most: the largest weight that its proposals have.
        after: kinds of exceptions; if there are some, it proposes nothing unless one of them was raised.
    """

    name: str
    prior: float
    nodes: tuple[type, ...]
    propose: Callable[[Context, Any], Iterable[Proposal]]
    most: float = 1.0
    after: tuple[str, ...] = ()


def _row(
    name: str,
    prior: float,
    propose: Callable[[Context, Any], Iterable[Proposal]],
    *nodes: type,
    most: float = 1.0,
    after: tuple[str, ...] = (),
) -> Operator:
    return Operator(name=name, prior=prior, nodes=nodes, propose=propose, most=most, after=after)


OPERATORS: tuple[Operator, ...] = (
    # answers to an exception
    _row("name corrected", 3.0, names.name_corrected, ast.Name, after=_UNDEFINED),
    _row("attribute corrected", 3.0, names.attribute_corrected, ast.Attribute, after=("AttributeError",)),
    _row("import added", 3.0, names.import_added, ast.Name, after=_UNDEFINED),
    _row("self added", 3.0, names.self_added, ast.Name, after=_UNDEFINED),
    _row("division guarded", 2.0, guards.division_guarded, ast.BinOp, after=("ZeroDivisionError",)),
    _row("index guarded", 1.5, guards.index_guarded, ast.Subscript, after=("IndexError", "KeyError")),
    _row("empty guarded", 2.0, guards.empty_guarded, ast.Call, after=("ValueError", "StopIteration", "IndexError")),
    _row("None guarded", 1.5, guards.none_guarded, ast.Name, ast.Attribute, after=("AttributeError", "TypeError")),
    # typical slips
    _row("f-prefix added", 2.5, names.prefix_missing, ast.Constant),
    _row("mutable default", 1.5, statements.mutable_default, *_FUNCTIONS),
    _row("return added", 1.0, statements.return_added, *_FUNCTIONS),
    _row("range bound", 1.3, comparisons.range_bound, ast.Call, most=1.2),
    _row("comparison boundary", 1.15, comparisons.compare_boundary, ast.Compare),
    _row("comparison swapped", 0.8, comparisons.compare_swap, ast.Compare),
    _row("and/or swapped", 0.7, comparisons.bool_swap, ast.BoolOp),
    _row("not removed", 0.7, comparisons.not_removed, ast.UnaryOp),
    _row("not added", 0.4, comparisons.not_added, ast.If, ast.While, ast.IfExp, ast.Return),
    _row("True/False flipped", 0.7, comparisons.bool_flip, ast.Constant),
    _row("step removed", 0.9, comparisons.step_removed, ast.BinOp),
    _row("constant shifted", 0.6, comparisons.constant_shift, ast.Constant),
    _row("index shifted", 0.55, comparisons.index_shift, ast.Subscript),
    _row("slice bound", 0.7, comparisons.slice_bound, ast.Slice),
    _row("factor removed", 0.9, arithmetic.factor_removed, ast.BinOp),
    _row("arithmetic swapped", 0.4, arithmetic.arithmetic_swap, ast.BinOp),
    _row("augmented assignment", 0.7, arithmetic.augmented_swap, ast.AugAssign),
    _row("assignment accumulated", 0.5, arithmetic.assignment_accumulated, ast.Assign, most=2.0),
    _row("sibling call", 0.8, arithmetic.sibling_call, ast.Call),
    _row("reverse toggled", 0.6, arithmetic.reverse_toggled, ast.Call),
    _row("moved out of block", 0.6, statements.moved_out, *_BLOCKS),
    _row("moved out of else", 0.8, statements.moved_out_of_else, ast.For, ast.While),
    _row("moved into block", 0.5, statements.moved_in, *_BLOCKS),
    _row("arguments swapped", 0.5, arithmetic.arguments_swapped, ast.Call),
    # broad ones, tried late
    _row("variable replaced", 0.7, names.variable_replaced, ast.Name),
    _row("operand removed", 0.8, arithmetic.operand_removed, ast.BinOp),
    _row("condition narrowed", 0.4, comparisons.bool_operand_removed, ast.BoolOp),
    _row("operands swapped", 0.4, arithmetic.operands_swapped, ast.BinOp),
    _row("value shifted", 0.4, comparisons.value_shift, ast.Name, ast.Call, ast.Subscript, ast.BinOp),
    _row("statement deleted", 0.45, statements.deleted, ast.stmt, most=1.5),
    _row("call unwrapped", 0.5, arithmetic.call_unwrapped, ast.Call),
    _row("call wrapped", 0.2, arithmetic.call_wrapped, ast.Return, ast.Assign, ast.BinOp, ast.Compare, ast.Call),
    _row("argument removed", 0.3, arithmetic.argument_removed, ast.Call),
    _row("sign removed", 0.4, arithmetic.sign_removed, ast.UnaryOp),
    _row("jump swapped", 0.4, statements.jump_swapped, ast.Break, ast.Continue),
    _row("argument guarded", 0.2, guards.argument_guarded, *_FUNCTIONS),
    # answers to an exception, with what is in scope
    _row("argument added", 1.5, calls.argument_added, ast.Call, after=("TypeError",)),
    _row("variable initialised", 2.0, insertions.initialised, *_FUNCTIONS, most=1.2, after=_UNDEFINED),
    _row("base case added", 1.5, insertions.base_case_added, *_FUNCTIONS, after=("RecursionError",)),
    _row("call added", 0.8, calls.call_added, ast.Name, ast.Attribute),
    _row("await added", 2.0, calls.await_added, ast.Call),
    # values of the program and of the run in other places
    _row("membership swapped", 0.7, replacements.operands_compared_swapped, ast.Compare),
    _row("comprehension variable", 0.5, replacements.comprehension_name_replaced, ast.Name),
    _row("target replaced", 0.4, replacements.target_replaced, ast.Assign, ast.AugAssign, most=2.0),
    _row("function replaced", 0.5, replacements.function_replaced, ast.Call),
    _row("attribute replaced", 0.7, replacements.attribute_replaced, ast.Attribute),
    _row("expression replaced", 0.25, replacements.expression_replaced, *_VALUES, ast.BinOp),
    _row("operand added", 0.12, replacements.operand_added, ast.Name, ast.Call, ast.Subscript, ast.BinOp),
    _row("constant replaced", 0.35, constants.constant_replaced, ast.Constant),
    _row("constant named", 0.35, constants.constant_named, ast.Constant),
    _row("constant retyped", 0.3, constants.constant_retyped, ast.Constant),
    _row("input read", 1.5, constants.input_read, ast.Constant),
    _row("text replaced", 0.35, constants.text_replaced, ast.Constant, most=1.5),
    _row("digits shown", 0.6, constants.digits_shifted, ast.Constant, ast.JoinedStr),
    _row("elements changed", 0.5, constants.element_removed, ast.List, ast.Tuple, ast.Set),
    # wrapping and unwrapping
    _row("slice added", 0.2, wraps.slice_added, *_VALUES),
    _row("element taken", 0.3, wraps.element_taken, ast.Name),
    _row("subscript removed", 0.3, wraps.subscript_removed, ast.Subscript),
    _row("method wrapped", 0.25, wraps.method_wrapped, *_VALUES),
    _row("iteration wrapped", 0.25, wraps.iteration_wrapped, ast.For, ast.ListComp, ast.GeneratorExp),
    _row("argument wrapped", 0.15, wraps.argument_wrapped, ast.Call),
    _row("function applied", 0.3, wraps.program_call_wrapped, ast.Return, ast.Assign),
    _row("method removed", 0.5, wraps.method_removed, ast.Call),
    _row("choice removed", 0.5, wraps.choice_removed, ast.Call),
    _row("choice added", 0.25, wraps.choice_added, ast.Assign),
    _row("choice extended", 0.2, calls.choice_extended, ast.Call),
    _row("brackets moved", 0.5, wraps.brackets_moved, ast.Call, ast.BinOp),
    # printing
    _row("print spread", 0.6, calls.printed_spread, ast.Call),
    _row("print separated", 0.4, calls.print_ended, ast.Call),
    _row("earlier argument removed", 0.25, calls.printed_argument_removed, ast.Call),
    # statements
    _row("value kept", 1.5, insertions.value_kept, ast.Expr),
    _row("swapped with next", 0.35, insertions.swapped_with_next, ast.stmt),
    _row("branch joined", 0.4, insertions.branch_joined, ast.If),
    _row("else added", 0.15, insertions.else_added, ast.If),
    _row("step inserted", 0.15, insertions.step_inserted, ast.For, ast.While),
    _row("sorted before", 0.15, insertions.sorted_before, ast.For, ast.While),
    _row("statement copied", 0.1, insertions.statement_copied, ast.stmt),
    # updates, results and links that are missing
    _row("update inserted", 0.25, loop_updates.update_inserted, ast.For, ast.While, ast.If, *_FUNCTIONS),
    _row("seen guarded", 0.3, loop_updates.seen_guarded, ast.Expr, ast.Assign),
    _row("result used", 0.8, returns.result_used, ast.Expr, most=2.0),
    _row("yield swapped", 0.7, returns.yield_swapped, ast.Return, ast.Expr),
    _row("list wrapped", 0.2, returns.listed, *_VALUES, ast.List, ast.Constant, most=2.0),
    _row("sequence joined", 0.12, returns.sequence_joined, ast.Name, ast.Call, ast.Subscript),
    _row("stride added", 0.2, returns.stride_added, ast.Call),
    _row("sign added", 0.25, returns.sign_added, ast.Constant),
    _row("index computed", 0.12, returns.index_computed, ast.Name),
    _row("link replaced", 0.6, attributes.link_replaced, ast.Attribute),
    _row("link removed", 0.3, attributes.link_removed, ast.Attribute),
    _row("link added", 0.25, attributes.link_added, ast.Name, ast.Attribute),
    _row("sides swapped", 0.4, attributes.sides_swapped, ast.Assign),
    _row(
        "condition guarded",
        0.35,
        condition_bounds.condition_guarded,
        ast.If,
        ast.While,
        ast.IfExp,
        ast.Return,
        most=2.0,
    ),
    _row("condition reused", 0.2, condition_bounds.condition_reused, ast.If, ast.While, ast.IfExp),
    _row("truth computed", 0.2, condition_bounds.truth_computed, ast.Constant),
    # slips in everyday code
    _row("default given", 0.6, slips.default_given, ast.Call),
    _row("other end taken", 0.6, slips.other_end_taken, ast.Call),
    _row("duration whole", 0.9, slips.duration_whole, ast.Attribute),
    _row("format swapped", 0.6, slips.format_swapped, ast.Constant, ast.JoinedStr),
    _row("key negated", 0.5, slips.key_negated, ast.Call),
    _row("condition grouped", 0.8, slips.condition_grouped, ast.BoolOp),
    _row("handlers swapped", 0.6, slips.handlers_swapped, ast.Try),
    _row("inherited called", 0.6, slips.inherited_called, *_FUNCTIONS),
    _row("reset inserted", 0.3, slips.reset_inserted, ast.If, ast.For, ast.While),
    # slips where a program meets values of several kinds
    _row("class added", 0.7, exception_classes.class_added, ast.Name, ast.Attribute, ast.Tuple, most=1.5),
    _row("class replaced", 0.3, exception_classes.class_replaced, ast.Name, ast.Attribute, ast.Tuple, most=1.5),
    _row("fallback given", 0.25, conversions.fallback_given, *_VALUES, most=2.5),
    _row("conversion added", 0.25, conversions.conversion_added, *_VALUES, most=2.0),
    _row("copy taken", 0.25, conversions.copy_taken, ast.Name, ast.Attribute, ast.Subscript),
    _row("pattern changed", 0.4, regular_expressions.pattern_changed, ast.Constant),
    _row("keyword passed", 0.4, calls.keyword_passed, ast.Call, most=1.5),
    _row("self toggled", 0.5, names.self_toggled, ast.Name, ast.Attribute),
    # what is not kept in step
    _row("counterpart inserted", 0.4, counterparts.counterpart_inserted, ast.stmt),
    _row("change undone", 0.3, counterparts.change_undone, *_FUNCTIONS, most=1.5),
    _row("branch completed", 0.6, counterparts.branch_completed, ast.If),
    _row("sibling step", 0.3, counterparts.sibling_step, *_FUNCTIONS),
    # synthesised conditions
    _row("truth compared", 0.3, conditions.condition_replaced, ast.If, ast.While, ast.IfExp),
    _row("condition extended", 0.2, conditions.condition_extended, ast.If, ast.While, ast.IfExp),
    _row("else conditioned", 0.2, conditions.else_conditioned, ast.If),
    _row("filter added", 0.25, conditions.filter_added, *_COMPREHENSIONS),
    _row("statement guarded", 0.12, conditions.statement_guarded, ast.stmt),
    _row("exit inserted", 0.06, conditions.exit_inserted, ast.stmt),
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


def living(rows: Iterable[Operator], failure: Failure) -> Iterator[Operator]:
    """Those that may propose something after such a failure."""
    kinds = frozenset(raised.kind for raised in failure.raised)
    return (row for row in rows if not row.after or not kinds.isdisjoint(row.after))


def rows_for(node: ast.AST) -> Iterator[Operator]:
    """The operators that look at a node, in the order of the table."""
    return (row for row in OPERATORS if isinstance(node, row.nodes))


def offers(context: Context, node: ast.expr | ast.stmt, row: Operator) -> Iterator[Offer]:
    """What one operator proposes for a node."""
    for proposal in row.propose(context, node):
        yield Offer(operator=row.name, prior=row.prior, proposal=proposal, node=node)


Head = ast.stmt | ast.ExceptHandler | ast.match_case
"""What a file is divided by: each stands for itself and its own expressions, not for the statements in it."""


def heads(source: Source) -> Iterator[Head]:
    """The parts of a file that may be changed, in the order of its text."""
    stack: list[ast.AST] = [source.tree]
    while stack:
        node = stack.pop()
        if _left_alone(node):
            continue
        if isinstance(node, Head):
            yield node
        stack += reversed([each for each in _children(node) if isinstance(each, Head)])


def changeable(source: Source, head: Head) -> Iterator[ast.expr | ast.stmt]:
    """The nodes of a part, in the order of the text: only those where text and tree agree."""
    stack: list[ast.AST] = [head]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt) or (isinstance(node, ast.expr) and source.trusted(node)):
            yield node
        stack += reversed([each for each in _children(node) if not isinstance(each, Head)])


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
