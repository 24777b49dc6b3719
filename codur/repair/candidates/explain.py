"""A repair as one sentence for a person."""

import ast
from collections import Counter
from collections.abc import Mapping, Sequence

from codur.repair.code.source_file import Source
from codur.repair.operators.table import Offer
from codur.structs import Struct

_LONGEST = 48


class Change(Struct):
    """One repair that was made: by which operator, where (lines of the text before it), and a sentence about it."""

    operator: str
    path: str
    line: int
    says: str


def sentence(source: Source, offer: Offer) -> str:
    """What was wrong and where, e.g. "`range(start, end)` in `total` (main.py:4) stops one short of `end`."."""
    function = source.function(offer.node)
    inside = f" in `{function.name}`" if function else ""
    says = offer.proposal.says or f"should be `{_short(_changed(source, offer))}`"
    return f"`{_short(_subject(source, offer.node))}`{inside} ({source.path}:{offer.line}) {says}."


def explained(changes: Sequence[Change], texts: Mapping[str, str], originals: Mapping[str, str]) -> str:
    """What some changes together came to: a sentence for each, or one for all those in one line."""
    lines = Counter((change.path, change.line) for change in changes)
    told = dict.fromkeys(
        _line_sentence(change, texts, originals) if lines[change.path, change.line] > 1 else change.says
        for change in changes
    )
    return " ".join(told)


def _line_sentence(change: Change, texts: Mapping[str, str], originals: Mapping[str, str]) -> str:
    old, new = (each[change.path].split("\n") for each in (originals, texts))
    if len(old) != len(new):
        return change.says
    before, after = (rows[change.line - 1].strip() for rows in (old, new))
    return f"`{_short(before)}` ({change.path}:{change.line}) should be `{_short(after)}`."


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
