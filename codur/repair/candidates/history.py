"""Candidates from a repository's history: what was done lately is taken back, whole or in part."""

import ast
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, groupby, pairwise

from codur.lazy import regex
from codur.python.project_files import parsed
from codur.repair.candidates.candidates import Candidate, Program
from codur.repair.candidates.factors import EARLIER, NEW, PART, PER_COMMIT, PER_LINE, TOGETHER, UNDONE
from codur.repair.code.node_shapes import first_line
from codur.repair.code.source_file import FunctionNode
from codur.repair.suspicion.localise import Suspicion
from codur.structs import Struct, field, replace
from codur.tools.git.git_history import History, Hunk, Version

_MAX_UNITS = 10  # chosen: of a larger hunk most parts are no repairs, and each holds a file's text
_MAX_HUNKS = 200
"""Each of their candidates holds the text of a file."""
_ALIKE = 0.4  # chosen: below it two statements share brackets and little else
_WORD = regex(r"\w+|[^\w\s]+")


def undone(program: Program, history: History, suspicion: Suspicion) -> Iterator[Candidate]:
    """Changes that undo what was done lately to a program, the likely ones first, then its functions as they were.

    Args:
        program: as it was found: with the texts that the history was read for.
    """
    undoing = _Undoing(program, suspicion)
    hunks = [each for each in history.hunks if each.path in program.texts]
    # By priority before they are cut off, because a candidate of a large file is as large as the file.
    for hunk in sorted(hunks, key=undoing.priority, reverse=True)[:_MAX_HUNKS]:
        yield from undoing.hunk(hunk)
    for _, group in groupby(hunks, key=lambda each: (each.path, each.age)):
        yield from undoing.together(list(group))
    for version in history.versions:
        if version.path in program.texts:
            yield from undoing.version(version)


class _Undoing(Struct, kw_only=False):
    """Makes the candidates of one program; each text once."""

    program: Program
    suspicion: Suspicion
    seen: set[tuple[str, int]] = field(default_factory=set)

    def priority(self, hunk: Hunk) -> float:
        """How early the hunk is undone."""
        size = max(hunk.end - hunk.start, hunk.old.count("\n"))
        kind = 1.0 if hunk.old else NEW
        return self.suspicion.of(hunk.path, *_lines(hunk)) * UNDONE * kind * PER_COMMIT**hunk.age * PER_LINE**size

    def hunk(self, hunk: Hunk, factor: float = 1.0) -> Iterator[Candidate]:
        """The hunk undone; and if it was executed, each part of it."""
        yield from self._candidate([hunk], factor, f"undoes {_change(hunk)}")
        # Parts are many; of what no failing test ran the whole is enough.
        if self.suspicion.ran(hunk.path, *_lines(hunk)):
            new = self._rows(hunk.path)[hunk.start - 1 : hunk.end - 1]
            for part in _parts(hunk, new, hunk.old.split("\n")[:-1]):
                yield from self._candidate([part], factor * PART, f"undoes a part of {_change(hunk)}")

    def together(self, hunks: Sequence[Hunk]) -> Iterator[Candidate]:
        """All hunks of a commit in a file undone."""
        if len(hunks) > 1:
            yield from self._candidate(hunks, TOGETHER, f"and others undo {_change(hunks[0])}")

    def version(self, version: Version) -> Iterator[Candidate]:
        """The functions that were executed and are others now: each as it was, and what differs in it hunk by hunk."""
        present, earlier = _functions("\n".join(self._rows(version.path))), _functions(version.text)
        before = version.text.split("\n")
        for name, (start, end) in present.items():
            if name not in earlier or not self.suspicion.ran(version.path, start + 1, end):
                continue
            new, old = self._rows(version.path)[start:end], before[slice(*earlier[name])]
            if new == old:
                continue
            whole = _hunk(version, start, end, old)
            last = name[0].rpartition(".")[2]
            yield from self._candidate([whole], EARLIER, f"and the rest of `{last}` are as before {_change(whole)}")
            for part in _differences(version, start, new, old):
                yield from self.hunk(part, EARLIER)

    def _candidate(self, hunks: Sequence[Hunk], factor: float, says: str) -> Iterator[Candidate]:
        first = min(hunks, key=lambda each: each.start)
        rows = list(self._rows(first.path))
        for hunk in sorted(hunks, key=lambda each: each.start, reverse=True):
            # From the end up, so that the lines of the others stay where they are.
            rows[hunk.start - 1 : hunk.end - 1] = hunk.old.split("\n")[:-1]
        text = "\n".join(rows)
        # Hunks of several commits, and functions as they were, often come to the same text.
        if (first.path, hash(text)) not in self.seen:
            self.seen.add((first.path, hash(text)))
            priority = max(map(self.priority, hunks)) * factor
            yield Candidate(
                base=self.program, path=first.path, line=first.start, priority=priority, text=text, says=says,
                operator="change undone",
            )  # fmt: skip

    def _rows(self, path: str) -> list[str]:
        return self.program.texts[path].split("\n")


def _lines(hunk: Hunk) -> tuple[int, int]:
    """The first and the last line of a hunk; of a gap those around it."""
    return (hunk.start, hunk.end - 1) if hunk.end > hunk.start else (max(hunk.start - 1, 1), hunk.start)


def _change(hunk: Hunk) -> str:
    if not hunk.commit:
        return "an uncommitted change"
    if not hunk.subject:
        return f"a change since {hunk.commit}"
    return f"a change of commit {hunk.commit[:7]} (‘{hunk.subject}’)"


# --- parts ------------------------------------------------------------------------------------------------------------


def _parts(hunk: Hunk, new: Sequence[str], old: Sequence[str]) -> Iterator[Hunk]:
    """The hunk's statements (or lines, if it cuts through some) by themselves: exchanged, left out, or put in."""
    ours, theirs = _statements(new), _statements(old)
    # A single statement is parted by its lines, else it would be the hunk once more.
    if ours is None or theirs is None or len(ours) == len(theirs) == 1:
        ours, theirs = [1] * len(new), [1] * len(old)
    if not 1 < max(len(ours), len(theirs)) <= _MAX_UNITS:
        return
    starts, places = [0, *accumulate(ours)], [0, *accumulate(theirs)]
    for here, there in _aligned(_slices(new, starts), _slices(old, places)):
        start, end = starts[here.start], starts[here.stop]
        rows = old[places[there.start] : places[there.stop]]
        if new[start:end] != rows:
            yield replace(hunk, start=hunk.start + start, end=hunk.start + end, old=_text(rows))


def _slices(rows: Sequence[str], starts: Sequence[int]) -> list[str]:
    return ["\n".join(rows[start:end]) for start, end in pairwise(starts)]


def _text(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


def _statements(rows: Sequence[str]) -> list[int] | None:
    """How many lines each of the statements has that some lines consist of; None if they are none."""
    tree = parsed(textwrap.dedent("\n".join(rows)))
    if tree is None or not tree.body:
        return None if rows else []
    starts = [0, *(first_line(node) - 1 for node in tree.body[1:]), len(rows)]
    return [end - start for start, end in pairwise(starts)]


def _aligned(new: Sequence[str], old: Sequence[str]) -> Iterator[tuple[range, range]]:
    """Which items correspond, in order: those whose words are alike most; a range is empty where one has no other."""
    words = [[frozenset(_WORD.findall(text)) for text in texts] for texts in (new, old)]
    # `SequenceMatcher` pairs only what is equal; here a statement is to meet the one that it was changed from.
    best = [[0.0] * (len(old) + 1) for _ in range(len(new) + 1)]
    alike = [[_likeness(one, other) for other in words[1]] for one in words[0]]
    for i in reversed(range(len(new))):
        for j in reversed(range(len(old))):
            best[i][j] = max(best[i + 1][j + 1] + alike[i][j], best[i + 1][j], best[i][j + 1])
    i = j = 0
    while i < len(new) or j < len(old):
        pair = i < len(new) and j < len(old) and alike[i][j] and best[i][j] == best[i + 1][j + 1] + alike[i][j]
        left = not pair and i < len(new) and (j == len(old) or best[i][j] == best[i + 1][j])
        here, there = range(i, i + bool(pair or left)), range(j, j + (not left))
        yield here, there
        i, j = here.stop, there.stop


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two texts have in common; 0 if it is small."""
    share = 2 * len(one & other) / max(len(one) + len(other), 1)
    return share if share >= _ALIKE else 0.0


# --- functions as they were -------------------------------------------------------------------------------------------


def _functions(text: str) -> dict[tuple[str, int], tuple[int, int]]:
    """The lines of each function, from 0, decorators included; by its name with what encloses it, and its number."""
    tree = parsed(text)
    found: dict[tuple[str, int], tuple[int, int]] = {}
    names: Counter[str] = Counter()
    waiting: list[tuple[str, ast.AST]] = [("", tree)] if tree else []
    while waiting:
        name, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            inner = f"{name}.{child.name}" if isinstance(child, FunctionNode | ast.ClassDef) else name
            if isinstance(child, FunctionNode):
                names[inner] += 1
                found[inner, names[inner]] = (first_line(child) - 1, child.end_lineno or child.lineno)
            waiting.append((inner, child))
    return found


def _hunk(version: Version, start: int, end: int, old: Iterable[str]) -> Hunk:
    """Lines of the present text, from 0, with what stood there in this version."""
    return Hunk(
        path=version.path,
        start=start + 1,
        end=end + 1,
        old=_text(old),
        commit=version.commit,
        subject=version.subject,
        age=version.age,
    )


def _differences(version: Version, start: int, new: Sequence[str], old: Sequence[str]) -> Iterator[Hunk]:
    for tag, i, i_end, j, j_end in SequenceMatcher(None, new, old, autojunk=False).get_opcodes():
        if tag != "equal":  # each difference by itself: of a rewritten function mostly one is wrong
            yield _hunk(version, start + i, start + i_end, old[j:j_end])
