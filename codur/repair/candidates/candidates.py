"""A variant of the workspace's Python files, and the candidates that lead to the next ones."""

from collections.abc import Mapping

from codur.repair.candidates.explain import Change, sentence
from codur.repair.code.source_edits import Edit, apply_edits
from codur.repair.code.source_file import Source
from codur.repair.operators.table import Offer
from codur.structs import Struct


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
