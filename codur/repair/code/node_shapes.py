"""What can be said of a node of a tree by itself: what it calls, whether it is read, how its operator is written."""

import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Raise)
NOT_MOVED = (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)
"""Statements whose place hardly ever is the mistake."""
SYMBOLS: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.And: "and",
    ast.Or: "or",
}
_PURE = frozenset({"len", "sum", "abs", "int", "float", "max", "min"})


def called(node: ast.AST | None) -> str:
    """The name of the function or method that a call calls; empty for what is no call, or of something without one."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def called_plainly(node: ast.AST | None) -> str:
    """The same for a function alone, as in `len(a)`."""
    return called(node) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def is_called(parent: ast.AST | None, node: ast.AST) -> bool:
    """Whether the node is what its parent calls."""
    return isinstance(parent, ast.Call) and parent.func is node


def is_read(node: ast.AST) -> bool:
    """Whether it is not what is assigned or deleted."""
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def is_not(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def is_number(node: ast.expr) -> bool:
    """Whether it is a number that is written out."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def integer(node: ast.expr) -> int | None:
    """The value of an integer literal, with or without a sign."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = integer(node.operand)
        return None if inner is None else -inner
    return None


def defaulted(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    found = list(zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True))
    return found + [
        (each, value) for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    ]


def is_pure(node: ast.expr) -> bool:
    """Whether the expression can be evaluated once more without an effect."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            if called_plainly(each) not in _PURE:
                return False
        elif isinstance(each, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr | ast.Lambda):
            return False
    return True


def first_line(node: ast.expr | ast.stmt) -> int:
    """The first line of a node, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def last_line(node: ast.expr | ast.stmt) -> int:
    return node.end_lineno or node.lineno


def has_multiline_text(node: ast.AST) -> bool:
    """Whether a text in it goes over several lines: another indentation would change it."""
    return any(
        isinstance(each, ast.Constant | ast.JoinedStr) and last_line(each) > each.lineno for each in ast.walk(node)
    )
