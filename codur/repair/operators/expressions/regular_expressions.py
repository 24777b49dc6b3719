"""Operators on regular expressions: quantifiers, classes of characters, anchors and flags."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from codur.repair.code.node_context import Context
from codur.repair.code.source_edits import Proposal
from codur.repair.code.source_file import Source
from codur.repair.operators.expressions.constants import written

_MOST = 12
_FUNCTIONS = ("compile", "match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split")
_NAMED = re.compile(r"(pattern|regexp?)s?$|^re_|_re$|^r[ex]$|^rx_|_rx$", re.IGNORECASE)
_LITERAL = re.compile(r"""(?P<raw>[rR]?)(?P<quote>\"{3}|'{3}|"|')(?P<body>.*)(?P=quote)""", re.DOTALL)
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P?<\w+>|P=\w+\)|<?[=!]|[aiLmsux-]+[:)]|[:>])|\{\d*,?\d*\}|.", re.DOTALL
)
_SHORTHAND = (r"\w", r"\d", r"\S")
_ADDED = (" ", "-", ".")
_FLAGS = ("I", "S", "M")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rewriting:
    """A change of a pattern: the text between two offsets gives way to another."""

    start: int
    end: int
    text: str
    weight: float


def pattern_changed(context: Context, node: ast.Constant) -> Iterator[Proposal]:
    """`a+` → `a*`, `a+?`; `\\w` → `[\\w ]`; `(a)` → `(a)?`; `^` and `$` added or removed; `re.I` and others given."""
    call = _use(context.source, node)
    start, code = written(context, node)
    literal = _LITERAL.fullmatch(code) if call is not None else None
    if literal is None or literal["body"] != node.value or _compiled(literal["body"]) is None:
        return
    first = start + literal.start("body")
    ranked = sorted(_rewritings(literal["body"]), key=lambda each: -each.weight)
    for each in ranked[:_MOST]:
        edit = context.edit_span(first + each.start, first + each.end, each.text)
        old = literal["body"][: each.start], literal["body"][each.end :]
        if _compiled(f"{old[0]}{each.text}{old[1]}") is not None:
            yield Proposal(edits=(edit,), weight=each.weight)
    if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
        end = context.source.span(call.args[0])[1]
        for rank, flag in enumerate(_FLAGS):
            edit = context.edit_span(end, end, f", {context.code(call.func).rpartition('.')[0]}.{flag}")
            yield Proposal(edits=(edit,), says=f"needs the flag `{flag}`", weight=0.4 * 0.8**rank)


def _use(source: Source, node: ast.Constant) -> ast.Call | ast.Assign | None:
    """What takes the text for a pattern: a call of `re`, or an assignment to a name such as `PATTERN`."""
    parent = source.parent(node)
    if isinstance(parent, ast.Call) and parent.args[:1] == [node] and isinstance(parent.func, ast.Attribute):
        owner = parent.func.value
        return parent if isinstance(owner, ast.Name) and owner.id == "re" and parent.func.attr in _FUNCTIONS else None
    if not isinstance(parent, ast.Assign):
        return None
    target = parent.targets[0]
    name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
    return parent if _NAMED.search(name) else None


def _rewritings(pattern: str) -> Iterator[_Rewriting]:
    """Changes of a pattern; of each kind the first ones weigh most."""
    counts: dict[str, int] = {}
    tokens = [(each.start(), each[0]) for each in _TOKEN.finditer(pattern)]
    for number, (start, token) in enumerate(tokens):
        before, after = tokens[number - 1][1] if number else "", (*tokens, (0, ""))[number + 1 : number + 2]
        for kind, text, weight in _changes(token, before, after[0][1] if after else ""):
            rank = counts[kind] = counts.get(kind, -1) + 1
            yield _Rewriting(start=start, end=start + len(token), text=text, weight=weight * 0.9**rank)
    yield from _anchors(pattern)


def _changes(token: str, before: str, after: str) -> Iterator[tuple[str, str, float]]:
    """For one token: the kind of a change, the new text and how likely it is."""
    if token in ("+", "*"):
        yield "quantifier", "*" if token == "+" else "+", 1.0
        if after != "?":
            yield "lazy", f"{token}?", 0.5
    elif token == "?" and before:
        yield "optional", "", 0.5
    elif token in _SHORTHAND or (token.startswith("[") and not token.startswith("[^") and len(token) > 1):
        inner = token[1:-1] if token.startswith("[") else token
        for rank, character in enumerate(_ADDED):
            if character not in inner.replace("\\", ""):
                yield f"class{character}", f"[{inner}{character}]", 0.9 * 0.85**rank
    if (token == ")" or token in _SHORTHAND or token.startswith("[")) and after[:1] not in ("+", "*", "?", "{"):
        yield "made optional", f"{token}?", 0.6


def _anchors(pattern: str) -> Iterator[_Rewriting]:
    start = re.match(r"\^|\\A", pattern)
    yield _Rewriting(start=0, end=start.end() if start else 0, text="" if start else "^", weight=0.4)
    last = re.search(r"(?<!\\)\$$|\\Z$", pattern)
    end = len(pattern)
    yield _Rewriting(start=last.start() if last else end, end=end, text="" if last else "$", weight=0.5)


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern)
        except (re.error, OverflowError, RecursionError):
            return None
