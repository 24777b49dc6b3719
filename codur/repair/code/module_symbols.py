"""How operators are written, and which functions are easily taken for one another."""

from __future__ import annotations

import ast

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
_GROUPS = (
    ("min", "max"),
    ("any", "all"),
    ("floor", "ceil"),
    ("upper", "lower"),
    ("startswith", "endswith"),
    ("lstrip", "rstrip", "strip"),
    ("keys", "values", "items"),
    ("find", "rfind"),
    ("ljust", "rjust"),
    ("isalpha", "isdigit", "isalnum"),
    ("isupper", "islower"),
    ("append", "extend"),
    ("add", "discard"),
    ("popleft", "pop"),
    ("appendleft", "append"),
    ("bisect_left", "bisect_right"),
    ("union", "intersection", "difference"),
    ("removeprefix", "removesuffix"),
    ("copy", "deepcopy"),
    ("update", "add"),
)
SIBLINGS = {
    name: tuple(dict.fromkeys(other for group in _GROUPS if name in group for other in group if other != name))
    for name in dict.fromkeys(name for group in _GROUPS for name in group)
}
"""Functions and methods that are easily taken for one another."""
