"""Reading syntax trees: literals, names, functions."""

import ast
from collections import Counter

from codur.python.project_files import parsed

MAX_INT_BITS = 14_000  # Python writes out no longer integers in decimal

Function = ast.FunctionDef | ast.AsyncFunctionDef
_NO_CODE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass, ast.Raise)

TRIVIAL = frozenset({"0", "1", "-1", "0.0", "1.0", "-1.0", "", "''", "b''", "None", "True", "False", "[]", "{}", "()"})
"""Values, as `repr` writes them, of base cases and guards."""


def parse(source: str | bytes) -> ast.Module | None:
    """The tree, or None if the text is no Python or holds an integer too long to be written out."""
    tree = parsed(source)
    if tree is None:
        return None
    ints = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, int))
    # `repr` and `ast.unparse` would raise for such a number, wherever it stands.
    return None if any(value.bit_length() > MAX_INT_BITS for value in ints) else tree


def literal(node: ast.expr | None) -> str | None:
    """The `repr` of a literal, or None if the expression is none."""
    if not isinstance(node, ast.Constant | ast.UnaryOp | ast.Tuple | ast.List | ast.Set | ast.Dict):
        return None
    try:
        return repr(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError):
        return None


def is_text(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def has_code(tree: ast.AST) -> bool:
    """Is there more than definitions, docstrings, imports and stubs?"""
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return any(not isinstance(node, _NO_CODE) and not is_text(node) for node in statements)


def functions(tree: ast.AST) -> dict[str, Function]:
    """The functions by name; of several with the same name one."""
    return {node.name: node for node in ast.walk(tree) if isinstance(node, Function)}


def assertions(source: bytes) -> int:
    """How many statements and calls of a text assert something; what is a constant asserts nothing."""
    tree = parse(source)
    calls = [_called(node) for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree else []
    stated = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)] if tree else []
    plain = sum(not isinstance(node.test, ast.Constant) for node in stated)
    return plain + sum(name.startswith(("assert", "raises", "warns", "fail")) for name in calls)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def bound_once(tree: ast.AST, *, by_loop: bool = False) -> dict[str, ast.expr]:
    """Names that are bound exactly once, by a plain assignment or by a loop, with the expression on the right."""
    bound: Counter[str] = Counter()
    values: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound[name] += 1
            case ast.For(target=ast.Name(id=name), iter=value) if by_loop:
                values[name] = value
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not by_loop:
                values[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if not by_loop:
                values[name] = value
    return {name: value for name, value in values.items() if bound[name] == 1}


def constant_return(function: Function) -> ast.expr | None:
    """The literal that a function returns whatever its input is, or None."""
    end = next((index for index, item in enumerate(function.body, 1) if isinstance(item, ast.Return)), 0)
    reached = [node for statement in function.body[:end] for node in ast.walk(statement)]
    names = bound_once(function)
    results = [node.value for node in reached if isinstance(node, ast.Return)]
    nodes = [names.get(node.id) if isinstance(node, ast.Name) else node for node in results]
    values = {literal(node) for node in nodes}
    return nodes[-1] if len(values) == 1 and None not in values else None
