"""A variant of the workspace's Python files, and the candidates that lead to the next ones."""

import ast
from collections import Counter
from collections.abc import Mapping, Sequence

from codur.repair.code.source_edits import Edit, apply_edits
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


class PieceMark(Struct):
    """Statements of a file whose code changed: where, and the digests of the code before and after."""

    path: str
    place: str  # which statements; empty for all of the file
    old: str | None  # None where it did not compile
    new: str


Mark = tuple[PieceMark, ...]
"""What changed, one after the other."""


class Program(Struct):
    """Texts of the Python files in question after some changes; none for the program as it was found."""

    texts: Mapping[str, str]
    changes: tuple[Change, ...] = ()
    priority: float = 1.0
    hinted: float = 1.0  # how much earlier a hint let it be judged; it is no likelier for that when several pass
    # equal only for programs that do the same, as `fingerprint` gives it; empty for the original
    mark: Mark = ()
    edits: tuple[Edit, ...] = ()  # what makes the program of the original texts; empty where one change follows another


class Candidate(Struct):
    """A program with one change more, not yet made."""

    base: Program
    path: str
    line: int
    priority: float  # how likely it is: how early it is judged; higher is earlier
    hinted: float = 1.0  # how much earlier than that a hint lets it be judged
    # which of two with the same priority comes first: places in the program and in the table of operators
    order: tuple[int, ...] = ()
    # the change; None where `text` is the file's new text: it did not compile, or a change of it is undone
    offer: Offer | None = None
    source: Source | None = None
    text: str = ""
    says: str = ""
    operator: str = "syntax mended"  # what that is called in reports

    def program(self, mark: Mark = ()) -> Program:
        """The program with the change made.

        Args:
            mark: its fingerprint; only the fingerprints of further changes need it.
        """
        return Program(
            texts={**self.base.texts, self.path: self.new_text()},
            changes=(*self.base.changes, self._change()),
            priority=self.priority,
            hinted=self.hinted,
            mark=mark,
            edits=self.offer.proposal.edits if self.offer and not self.base.changes else (),
        )

    def new_text(self) -> str:
        """The file's text with the change made."""
        if self.offer is None:
            return self.text
        return apply_edits(self.base.texts[self.path], self.offer.proposal.edits)

    def _change(self) -> Change:
        if self.offer is None or self.source is None:
            says = f"Line {self.line} of {self.path} {self.says}."
            return Change(operator=self.operator, path=self.path, line=self.line, says=says)
        says = sentence(self.source, self.offer)
        return Change(operator=self.offer.operator, path=self.path, line=self.line, says=says)


# --- a repair as one sentence for a person


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
