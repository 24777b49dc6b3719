"""The table of repair operators, and what they offer for a node of a file.

A row is a name, a prior, a pure function from a node and its context to proposals, and the node types it applies to;
the functions are in files named by the syntax that they edit. The kinds are those of mutation testing and of the simple
single-statement bugs that Karampatsis and Sutton list (2020). The priors are estimates that set the order of the
search, no probabilities; of offers that are worth the same those of the earlier row come first.

The figure behind a row says how many cases it solved, alone or with another one, of two development sets (82 programs
of HumanEvalFix and 150 of ConDefects, `benchmarks/repair.py`); of one that solved none of these, how many bugs of real
projects (`benchmarks/real_bugs.py`). A row without a figure solved none at all: it is there because people make this
mistake every day.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from codur.repair.code.node_context import Context
from codur.repair.code.node_shapes import COMPREHENSIONS, FUNCTIONS, called, is_called
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import Source
from codur.repair.evidence.failing_lines import Failure
from codur.repair.operators import (
    arithmetic,
    attributes,
    calls,
    comparisons,
    conditions,
    constants,
    conversions,
    functions,
    guards,
    loops,
    names,
    print_calls,
    statements,
    subscripts,
)
from codur.structs import Struct

_UNDEFINED = ("NameError", "UnboundLocalError")
_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With)
_LOOPS = (ast.For, ast.While)
_TESTED = (ast.If, ast.While, ast.IfExp)
_ASKED = (ast.Name, ast.Attribute, ast.Tuple)
_VALUES = (ast.Name, ast.Call, ast.Attribute, ast.Subscript)
_PLACES = (ast.Name, ast.Attribute, ast.Subscript)
_NUMBERS = (ast.Name, ast.Call, ast.Subscript, ast.BinOp)
_WRAPPED = (ast.Return, ast.Assign, ast.BinOp, ast.Compare, ast.Call)


class Operator(Struct, kw_only=False):
    """A kind of repair."""

    name: str  # for reports
    prior: float  # how likely it is against the others, 0 to about 3
    propose: Callable[[Context, Any], Iterable[Proposal]]  # changes for one node
    nodes: type | tuple[type, ...]  # types of the nodes that it looks at
    most: float = 1.0  # the largest weight that its proposals have
    # kinds of exceptions; if there are some, it proposes nothing unless one of them was raised
    after: tuple[str, ...] = ()


OPERATORS: tuple[Operator, ...] = (
    # answers to an exception
    Operator("name corrected", 3.0, names.name_corrected, ast.Name, after=_UNDEFINED),
    Operator("attribute corrected", 3.0, attributes.attribute_corrected, ast.Attribute, after=("AttributeError",)),
    Operator("import added", 3.0, names.import_added, ast.Name, after=_UNDEFINED),
    Operator("self added", 3.0, names.self_added, ast.Name, after=_UNDEFINED),
    Operator("division guarded", 2.0, guards.division_guarded, ast.BinOp, after=("ZeroDivisionError",)),
    Operator("index guarded", 1.5, guards.index_guarded, ast.Subscript, after=("IndexError", "KeyError")),
    Operator("empty guarded", 2.0, guards.empty_guarded, ast.Call, after=("ValueError", "StopIteration", "IndexError")),
    Operator(
        "None guarded", 1.5, guards.none_guarded, (ast.Name, ast.Attribute), after=("AttributeError", "TypeError")
    ),
    # typical mistakes
    Operator("f-prefix added", 2.5, print_calls.prefix_missing, ast.Constant),
    Operator("mutable default", 1.5, functions.mutable_default, FUNCTIONS),
    Operator("return added", 1.0, functions.return_added, FUNCTIONS),
    Operator("range bound", 1.3, loops.range_bound, ast.Call, most=1.2),  # 30
    Operator("comparison boundary", 1.15, comparisons.compare_boundary, ast.Compare),  # 11
    Operator("comparison swapped", 0.8, comparisons.compare_swap, ast.Compare),  # 14
    Operator("and/or swapped", 0.7, comparisons.bool_swap, ast.BoolOp),  # 3
    Operator("not removed", 0.7, comparisons.not_removed, ast.UnaryOp),
    Operator("not added", 0.4, comparisons.not_added, (*_TESTED, ast.Return)),
    Operator("True/False flipped", 0.7, comparisons.bool_flip, ast.Constant),  # 2
    Operator("step removed", 0.9, arithmetic.step_removed, ast.BinOp),  # 12
    Operator("constant shifted", 0.6, constants.constant_shift, ast.Constant),  # 18
    Operator("index shifted", 0.55, subscripts.index_shift, ast.Subscript),  # 9
    Operator("slice bound", 0.7, subscripts.slice_bound, ast.Slice),  # 1
    Operator("factor removed", 0.9, arithmetic.factor_removed, ast.BinOp),  # 1
    Operator("arithmetic swapped", 0.4, arithmetic.arithmetic_swap, ast.BinOp),  # 3
    Operator("augmented assignment", 0.7, arithmetic.augmented_swap, ast.AugAssign),  # 2
    Operator("assignment accumulated", 0.5, arithmetic.assignment_accumulated, ast.Assign, most=2.0),  # 3
    Operator("sibling call", 0.8, calls.sibling_call, ast.Call),  # 4
    Operator("reverse toggled", 0.6, calls.reverse_toggled, ast.Call),
    Operator("moved out of block", 0.6, statements.moved_out, _BLOCKS),
    Operator("moved out of else", 0.8, statements.moved_out_of_else, _LOOPS),
    Operator("moved into block", 0.5, statements.moved_in, _BLOCKS),
    Operator("arguments swapped", 0.5, calls.arguments_swapped, ast.Call),  # 1
    # broad ones, tried late
    Operator("variable replaced", 0.7, names.variable_replaced, ast.Name),  # 8
    Operator("operand removed", 0.8, arithmetic.operand_removed, ast.BinOp),  # 29
    Operator("condition narrowed", 0.4, comparisons.bool_operand_removed, ast.BoolOp),  # real bugs: 1
    Operator("operands swapped", 0.4, arithmetic.operands_swapped, ast.BinOp),
    Operator("value shifted", 0.4, arithmetic.value_shift, _NUMBERS),  # 4
    Operator("statement deleted", 0.45, statements.deleted, ast.stmt, most=1.5),  # 12
    Operator("call unwrapped", 0.5, calls.call_unwrapped, ast.Call),
    Operator("call wrapped", 0.2, calls.call_wrapped, _WRAPPED),  # 1
    Operator("argument removed", 0.3, calls.argument_removed, ast.Call),  # 1
    Operator("sign removed", 0.4, arithmetic.sign_removed, ast.UnaryOp),
    Operator("jump swapped", 0.4, statements.jump_swapped, (ast.Break, ast.Continue)),
    # answers to an exception, with what is in scope
    Operator("argument added", 1.5, calls.argument_added, ast.Call, after=("TypeError",)),
    Operator("variable initialised", 2.0, functions.initialised, FUNCTIONS, most=1.2, after=_UNDEFINED),
    Operator("base case added", 1.5, guards.base_case_added, FUNCTIONS, after=("RecursionError",)),  # 1
    Operator("call added", 0.8, calls.call_added, (ast.Name, ast.Attribute)),
    Operator("await added", 2.0, calls.await_added, ast.Call),
    # values of the program and of the run in other places
    Operator("membership swapped", 0.7, comparisons.operands_compared_swapped, ast.Compare),  # 1
    Operator("target replaced", 0.4, names.target_replaced, (ast.Assign, ast.AugAssign), most=2.0),  # 2
    Operator("function replaced", 0.5, calls.function_replaced, ast.Call),  # 1
    Operator("attribute replaced", 0.7, attributes.attribute_replaced, ast.Attribute),
    Operator("expression replaced", 0.25, names.expression_replaced, (*_VALUES, ast.BinOp)),  # 3
    Operator("constant replaced", 0.35, constants.constant_replaced, ast.Constant),  # 2
    Operator("constant named", 0.35, constants.constant_named, ast.Constant),  # 3
    Operator("input read", 1.5, constants.input_read, ast.Constant),  # 2
    Operator("text replaced", 0.35, constants.text_replaced, ast.Constant, most=1.5),  # 8
    Operator("digits shown", 0.6, print_calls.digits_shifted, (ast.Constant, ast.JoinedStr)),
    Operator("elements changed", 0.5, constants.elements_changed, (ast.List, ast.Tuple, ast.Set)),  # 1
    # wrapping and unwrapping
    Operator("slice added", 0.2, subscripts.slice_added, _VALUES),  # 5
    Operator("element taken", 0.3, subscripts.element_taken, ast.Name),  # 1
    Operator("method wrapped", 0.25, calls.method_wrapped, _VALUES),  # 2
    Operator("argument wrapped", 0.15, calls.argument_wrapped, ast.Call),  # 1
    Operator("method removed", 0.5, calls.method_removed, ast.Call),  # 1
    Operator("choice added", 0.25, statements.choice_added, ast.Assign),  # 1
    Operator("brackets moved", 0.5, arithmetic.brackets_moved, (ast.Call, ast.BinOp)),  # 1
    # printing
    Operator("print spread", 0.6, print_calls.spread, ast.Call),  # 4
    Operator("print separated", 0.4, print_calls.ended, ast.Call),  # 1
    Operator("earlier argument removed", 0.25, calls.earlier_argument_removed, ast.Call),  # 1
    # statements
    Operator("value kept", 1.5, statements.value_kept, ast.Expr),  # 2
    Operator("swapped with next", 0.35, statements.swapped_with_next, ast.stmt),  # 1
    Operator("else added", 0.15, conditions.else_added, ast.If),  # 1
    Operator("step inserted", 0.15, loops.step_inserted, _LOOPS),  # 2
    # updates and results that are missing
    Operator("update inserted", 0.25, loops.update_inserted, (*_LOOPS, ast.If)),  # real bugs: 1
    Operator("seen guarded", 0.3, loops.seen_guarded, (ast.Expr, ast.Assign)),  # 1
    Operator("result used", 0.8, functions.result_used, ast.Expr, most=2.0),
    Operator("yield swapped", 0.7, functions.yield_swapped, (ast.Return, ast.Expr)),
    # mistakes of everyday code
    Operator("default given", 0.6, calls.default_given, ast.Call),
    Operator("other end taken", 0.6, calls.other_end_taken, ast.Call),
    Operator("format swapped", 0.6, print_calls.format_swapped, (ast.Constant, ast.JoinedStr)),
    Operator("condition grouped", 0.8, comparisons.condition_grouped, ast.BoolOp),
    # where a program meets values of several kinds
    Operator("class added", 0.7, names.class_added, _ASKED, most=1.5),  # real bugs: 1
    Operator("fallback given", 0.25, conversions.fallback_given, _PLACES, most=2.5),  # real bugs: 1
    Operator("conversion added", 0.25, conversions.conversion_added, _VALUES, most=2.0),  # real bugs: 2
    # synthesised conditions
    Operator("condition extended", 0.2, conditions.condition_extended, _TESTED),  # 1
    Operator("filter added", 0.25, conditions.filter_added, COMPREHENSIONS),  # 1
    Operator("statement guarded", 0.12, conditions.statement_guarded, ast.stmt),  # 2
)


class Offer(Struct):
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
    if called(node) not in ("print", "write") or is_called(node, argument):
        return False
    parts = list(ast.walk(argument))
    computed = any(isinstance(part, ast.Name | ast.Call | ast.Attribute) for part in parts)
    numbers = any(isinstance(part, ast.Constant) and isinstance(part.value, int | float) for part in parts)
    return numbers and not computed


def _left_alone(node: ast.AST) -> bool:
    """What does nothing, or says what a program must do: a false assertion is not mended by another one."""
    docstring = (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    return docstring or isinstance(node, ast.Import | ast.ImportFrom | ast.Assert)


def _is_main_test(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and node.left.id == "__name__"
