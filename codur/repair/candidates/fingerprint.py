"""What makes two programs equal: the code that they compile to, whatever its lines and columns.

A candidate is compiled as little as it changes: the statement at the level of the module or of a class that holds its
edits, within those classes; the whole file only where the edits have no such place. The code of a statement, and its
place, say as much as the code of the file: what Python compiles of the rest does not depend on it.
"""

import __future__

import ast
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from types import CodeType

from codur.lazy import regex
from codur.repair.candidates.candidates import Candidate, Mark, PieceMark
from codur.repair.code.node_shapes import first_line
from codur.repair.code.source_edits import Edit, apply_edits
from codur.repair.code.source_file import Source, compiled, fact
from codur.structs import Struct

_CONTINUES = regex(r"\s*(?:elif|else|except|finally)\b")


class _Piece(Struct):
    """Neighbouring statements of a module or class, with the lines up to the next one."""

    place: str  # which statements of the module, or of which class
    start: int
    end: int
    header: str  # the `class` lines around it, as they would be without anything else
    indent: str  # white space before its statements


def fingerprint(candidate: Candidate) -> Mark | None:
    """The mark of a candidate's program, equal only for equal programs; None if it does not compile.

    It is that of the program that the candidate changes if it changes nothing; `()` stands for the original. Programs
    that the same changes in several places made in another order have other marks.
    """
    base, path, place = candidate.base, candidate.path, ""
    piece, text = _changed_piece(candidate)
    if candidate.source is not None and piece is not None:
        place = piece.place
        old, new = _code_of(candidate.source, piece), _compiled_piece(candidate.source, piece, text)
    else:
        old, new = _digest(base.texts[path], path), _digest(candidate.new_text(), path)
    if new is None:
        return None
    before = base.mark
    # In the same place the second change was made on the first.
    if before and (before[-1].path, before[-1].place) == (path, place):
        before, old = before[:-1], before[-1].old
    # Compiled to the same code (other brackets, a name for a constant): nothing that a run could tell.
    return before if new == old else (*before, PieceMark(path=path, place=place, old=old, new=new))


def _changed_piece(candidate: Candidate) -> tuple[_Piece | None, str]:
    """The smallest piece that holds a candidate's edits, and its new text; None if only the whole file does."""
    if candidate.offer is None or candidate.source is None:
        return None, ""
    source, edits = candidate.source, candidate.offer.proposal.edits
    piece = _piece(source, edits)
    for _ in range(2):
        if piece is None:
            break
        new = _new_text(source, piece, edits)
        if _stands_alone(piece, source.text[piece.start : piece.end], new):
            return piece, new
        # `else` and `except` belong to the statement before them; with that one it stands alone.
        piece = _piece(source, edits, before=1)
    return None, ""


def _new_text(source: Source, piece: _Piece, edits: Sequence[Edit]) -> str:
    moved = [
        Edit(path=each.path, start=each.start - piece.start, end=each.end - piece.start, text=each.text)
        for each in edits
    ]
    return apply_edits(source.text[piece.start : piece.end], moved)


def _stands_alone(piece: _Piece, old: str, new: str) -> bool:
    """Whether a piece with a new text can be compiled without the statement before it, and does not end its class."""
    lines = [line for line in new.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        return True
    own = lines[0][: len(lines[0]) - len(lines[0].lstrip())] == piece.indent and not _CONTINUES.match(lines[0])
    outside = {line for line in lines if not line.startswith(piece.indent)}  # of texts, where it means nothing
    # Lines at the margin inside a text in quotes are no code, and were there before.
    return own and outside <= set(old.split("\n") if outside else ())


def _piece(source: Source, edits: Sequence[Edit], before: int = 0) -> _Piece | None:
    """The smallest piece that holds the edits, with so many statements before it."""
    # An edit ends before the character that it names; of an insertion start and end are the same.
    start, end = min(each.start for each in edits), max(max(each.end - 1, each.start) for each in edits)
    found: _Piece | None = None
    above: ast.Module | ast.ClassDef = source.tree
    names: list[str] = []
    header = ""
    while True:
        starts = _starts(source, above)
        first, last = bisect_right(starts, start) - 1 - before, bisect_right(starts, end) - 1
        if not starts or first < 0 or end >= _end(source, above):
            return found
        stop = starts[last + 1] if last + 1 < len(starts) else _end(source, above)
        below = above.body[first]
        found = _Piece(
            place=f"{' '.join(names)} {first}-{last}",
            start=starts[first],
            end=stop,
            header=header,
            indent=source.indent(below) or "",
        )
        if first != last or not isinstance(below, ast.ClassDef):
            return found
        header += f"{source.indent(below) or ''}class {below.name}:\n"
        names.append(f"{first}")
        above = below


@fact
def _starts(source: Source, above: ast.Module | ast.ClassDef) -> list[int]:
    """Where the lines of each statement of a body start; empty if two of them share a line."""
    found: list[int] = []
    end = source.span(above)[0] if isinstance(above, ast.ClassDef) else -1
    for each in above.body:
        start = source.line_start(first_line(each))
        # `a = 1; b = 2`: a piece is made of whole lines.
        if start <= end:
            return []
        found.append(start)
        end = source.span(each)[1]
    return found


@fact
def _end(source: Source, above: ast.Module | ast.ClassDef) -> int:
    """Where the lines of a body end."""
    if isinstance(above, ast.Module):
        return len(source.text) + 1
    return min(source.line_end(above.end_lineno or above.lineno) + 1, len(source.text) + 1)


@fact
def _code_of(source: Source, piece: _Piece) -> str | None:
    return _compiled_piece(source, piece, source.text[piece.start : piece.end])


def _compiled_piece(source: Source, piece: _Piece, text: str) -> str | None:
    # A class may be left with nothing but a comment, which alone does not compile.
    rest = f"\n{piece.indent}pass\n" if piece.header else ""
    return _digest(f"{piece.header}{text}{rest}", source.path, _future(source))


@fact
def _future(source: Source) -> int:
    """What the module imports from `__future__`, for the compiler."""
    flags = 0
    for each in source.tree.body:
        if isinstance(each, ast.ImportFrom) and each.module == "__future__":
            for alias in each.names:
                # They change what every statement compiles to, and the piece does not hold them.
                flags |= getattr(__future__, alias.name).compiler_flag
    return flags


@lru_cache(maxsize=256)
def _digest(text: str, path: str, flags: int = 0) -> str | None:
    """A digest of what a text compiles to, whatever the lines and columns; None if it does not."""
    code = compiled(text, path, flags)
    return sha256(repr(_shape(code)).encode(errors="surrogatepass")).hexdigest() if code else None


def _shape(code: CodeType) -> tuple[object, ...]:
    """What a code object does."""
    constants = tuple(_shape(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_name)
    arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return (code.co_code, constants, names, arguments, getattr(code, "co_exceptiontable", b""))
