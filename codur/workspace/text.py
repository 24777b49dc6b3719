"""Bytes to text and back, so that lines that are not touched stay as they were to the byte.

A text has `\\n` as its only line end. What the file had (`\\n`, `\\r\\n`, `\\r`, or a mixture), its encoding and its
byte order mark come back when it is encoded over the old bytes.
"""

import codecs
from collections import Counter
from typing import TYPE_CHECKING

from codur.lazy import late, regex
from codur.structs import Struct, replace
from codur.workspace.problems import FileError

if TYPE_CHECKING:
    from codur.workspace import notebook
else:
    notebook = late("codur.workspace.notebook")

difflib = late("difflib")
_NOTEBOOK = ".ipynb"

_LINE_END = regex(r"\r\n|\n|\r")
_COOKIE = regex(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = regex(rb"^[ \t\f]*(?:#.*)?$")
_BINARY_CONTROL = regex(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f]")
_PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")
_CAREFUL_PRODUCT = 1_000_000  # the matcher takes the product of both lengths; beyond, it may pass over common lines


class TextFile(Struct):
    """A text file."""

    text: str  # the content with `\\n` as its only line end and without a byte order mark
    encoding: str = "utf-8"  # the Python codec's name
    newline: str = "\n"  # the line end that the file uses most: `\\n`, `\\r\\n` or `\\r`
    bom: bool = False  # whether it starts with the UTF-8 byte order mark

    @property
    def form(self) -> str:
        """What is not usual in its form: its encoding, its line ends, its mark; empty if nothing is."""
        known = {"Latin-1": self.encoding == "latin-1", "CRLF": self.newline == "\r\n", "BOM": self.bom}
        return ", ".join(mark for mark, holds in known.items() if holds)


def decode(path: str, data: bytes) -> TextFile:
    """The text in `data`: UTF-8, what a Python file's coding cookie says (PEP 263), or else Latin-1; of a notebook its
    cells.

    Raises:
        FileError: the data is binary.
    """
    found = _decoded(path, data)
    cells = notebook.text_of(found.text) if path.endswith(_NOTEBOOK) else None
    return found if cells is None else replace(found, text=cells)


def _decoded(path: str, data: bytes) -> TextFile:
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    encoding, raw = _decode_body(path, body, bom=bom)
    pieces, ends = _split(raw)
    return TextFile(text="\n".join(pieces), encoding=encoding, newline=_usual(ends), bom=bom)


def as_shown(path: str, data: bytes) -> str:
    """The text in `data` as `decode` gives it; of what is binary as much as can be read."""
    try:
        return decode(path, data).text
    except FileError:
        return data.decode("utf-8", "replace")


def encode(path: str, text: str, before: bytes | None) -> bytes:
    """The bytes of `text`, in the form of the file's bytes `before`; a new file is UTF-8 with the text's line ends.

    Raises:
        FileError: the file's encoding has no such character, or `before` is binary.
    """
    if path.endswith(_NOTEBOOK):
        text = _of_notebook(path, text, before)
    if before is None:
        return _encode_body(path, text, _cookie(path, text.encode("utf-8", "replace")) or "utf-8")
    old = _decoded(path, before)
    encoding = _encoding_after(path, text, before, old)
    body = before[len(codecs.BOM_UTF8) :] if old.bom else before
    old_pieces, old_ends = _split(body.decode(old.encoding))
    pieces, _ = _split(text)
    ends = _merged_ends(old_pieces, old_ends, pieces, old.newline)
    merged = "".join(piece + end for piece, end in zip(pieces, ends, strict=True))
    return (codecs.BOM_UTF8 if old.bom else b"") + _encode_body(path, merged, encoding)


def _of_notebook(path: str, text: str, before: bytes | None) -> str:
    """The JSON that is written for a notebook's cells; FileError if `before` is binary, or could not be told apart."""
    raw = _decoded(path, before).text if before is not None else ""
    if not raw.strip():
        return notebook.made(text)
    shown = notebook.text_of(raw)
    if notebook.is_one(text) or (shown is None and not notebook.is_one(raw)):
        return text
    if shown is None or text.lstrip().startswith("{"):
        raise FileError(f"what is written to {path} is no notebook", code="invalid")
    return raw if text == shown else notebook.merged(raw, text)


def _decode_body(path: str, body: bytes, *, bom: bool) -> tuple[str, str]:
    if b"\0" in body:
        raise _binary(path)
    cookie = None if bom else _cookie(path, body)
    for encoding in (cookie, "utf-8"):
        text = _exact(body, encoding) if encoding else None
        if encoding and text is not None:
            return encoding, text
    if bom or _BINARY_CONTROL.search(body):
        raise _binary(path)
    return "latin-1", body.decode("latin-1")


def _exact(body: bytes, encoding: str) -> str | None:
    """The text if the codec gives the same bytes back; None otherwise."""
    try:
        # Only if the same bytes come back: some codecs read what they cannot write, and an edit would change lines that
        # it did not touch.
        text = body.decode(encoding)
        return text if text.encode(encoding) == body else None
    except (UnicodeError, LookupError):
        return None


def _binary(path: str) -> FileError:
    return FileError(f"{path} is not a text file (or not in UTF-8)", code="binary")


def _cookie(path: str, body: bytes) -> str | None:
    """The encoding that a Python file declares in its first two lines, by a name that Python knows."""
    if not path.endswith(_PYTHON_SUFFIXES):
        return None
    for line in body.splitlines()[:2]:
        if match := _COOKIE.match(line):
            try:
                return codecs.lookup(match[1].decode("ascii", "replace")).name
            except LookupError:
                return None
        if not _BLANK_OR_COMMENT.match(line):
            return None
    return None


def _encoding_after(path: str, text: str, before: bytes, old: TextFile) -> str:
    """The old encoding, or what the new text's coding cookie says if the cookie was changed."""
    if old.bom:
        return "utf-8"
    cookie = _cookie(path, text.encode("utf-8", "replace"))
    return old.encoding if cookie == _cookie(path, before) else cookie or "utf-8"


def _encode_body(path: str, text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise FileError(
            f"{path} is encoded in {encoding}, which has no {text[error.start]!r} (line {line})", code="invalid"
        ) from error
    except LookupError as error:
        raise FileError(f"{path} declares the unknown encoding {encoding}", code="invalid") from error


def _split(raw: str) -> tuple[list[str], list[str]]:
    """Lines without their ends, and the ends; the last line has none (it is empty if the text ends with a line end)."""
    return _LINE_END.split(raw), [*_LINE_END.findall(raw), ""]


def _usual(ends: list[str]) -> str:
    counts = Counter(end for end in ends if end)
    return counts.most_common(1)[0][0] if counts else "\n"


def _merged_ends(old: list[str], old_ends: list[str], new: list[str], newline: str) -> list[str]:
    """A line end for each new line: an old line's own where the line was kept, else that of the line before it."""
    if len({end for end in old_ends if end}) <= 1:
        return [newline] * (len(new) - 1) + [""]
    origin = _origins(old, new)
    ends: list[str] = []
    for index in range(len(new) - 1):
        source = origin.get(index)
        kept = old_ends[source] if source is not None else ""
        ends.append(kept or (ends[-1] if ends else newline))
    for index in range(len(ends) - 1):
        if ends[index : index + 2] == ["\r", "\n"] and not new[index + 1]:
            # Side by side, the ends of two lines would be read as one.
            ends[index] = "\n"
    return [*ends, ""]


def _origins(old: list[str], new: list[str]) -> dict[int, int]:
    """For each new line that was kept, or took the place of one, the index of the old one."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < min(len(old), len(new)) - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    origin = {index: index for index in range(start)}
    origin.update({len(new) - 1 - back: len(old) - 1 - back for back in range(tail)})
    middle_old, middle_new = old[start : len(old) - tail], new[start : len(new) - tail]
    small = len(middle_old) * len(middle_new) < _CAREFUL_PRODUCT
    matcher = difflib.SequenceMatcher(None, middle_old, middle_new, autojunk=not small)
    for kind, old_at, old_to, new_at, new_to in matcher.get_opcodes():
        if kind == "equal" or old_to - old_at == new_to - new_at:
            origin.update({start + new_at + step: start + old_at + step for step in range(old_to - old_at)})
    return origin
