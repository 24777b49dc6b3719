"""A repair as one sentence for a person."""

from __future__ import annotations

import ast

from codur.repair.operators import Offer
from codur.repair.source import Source

_LONGEST = 48


def sentence(source: Source, offer: Offer) -> str:
    """What was wrong and where, e.g. "`range(start, end)` in `total` (main.py:4) stops one short of `end`."."""
    function = source.function(offer.node)
    inside = f" in `{function.name}`" if function else ""
    says = offer.proposal.says or f"should be `{_short(_changed(source, offer))}`"
    return f"`{_short(_subject(source, offer.node))}`{inside} ({source.path}:{offer.line}) {says}."


def _subject(source: Source, node: ast.expr | ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return f"{node.name}()"
    if isinstance(node, ast.Slice):
        parent = source.parent(node)
        return source.code(parent) if isinstance(parent, ast.Subscript) else source.code(node)
    if isinstance(node, ast.stmt):
        return source.lines[node.lineno - 1].strip()
    return source.code(node)


def _changed(source: Source, offer: Offer) -> str:
    """The node's text after the change; the inserted text if the change reaches beyond it."""
    start, end = source.span(offer.node)
    text = source.text[start:end]
    for edit in sorted(offer.proposal.edits, key=lambda each: each.start, reverse=True):
        if not start <= edit.start <= edit.end <= end:
            return edit.text
        text = text[: edit.start - start] + edit.text + text[edit.end - start :]
    return text if isinstance(offer.node, ast.expr) else text.split("\n")[0]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
