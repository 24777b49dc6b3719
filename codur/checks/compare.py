"""Compares a program's output with the expected one.

The rule: white space at the ends of lines and one final newline do not count (so CRLF equals LF), nor does a byte order
mark at the start; everything else does.
"""

from itertools import zip_longest

from codur.types import Difference

DIFFERENCE_CHARS = 300


def lines_of(text: str) -> list[str]:
    """The lines that count: split at newlines, without white space at their ends, without the end of the last line."""
    # `split` and not `splitlines`, which also splits at characters that programs print as such (form feed, U+2028).
    lines = [line.rstrip() for line in text.removeprefix("\ufeff").split("\n")]
    if lines[-1] == "":
        lines.pop()
    return lines


def first_difference(expected: str, actual: str) -> Difference | None:
    """The first line (1-based) that differs by the rule, or None; the texts are cut to `DIFFERENCE_CHARS`."""
    pairs = zip_longest(lines_of(expected), lines_of(actual))
    for number, (wanted, got) in enumerate(pairs, 1):
        if wanted != got:
            return Difference(line=number, expected=_cut(wanted), actual=_cut(got))
    return None


def progress(expected: str, actual: str) -> float:
    """Share of lines that match from the start, 0 to 1; lines too many count against it."""
    wanted, got = lines_of(expected), lines_of(actual)
    difference = first_difference(expected, actual)
    # From the start and not line by line: behind the first difference lines often match by chance.
    return (difference.line - 1) / max(len(wanted), len(got)) if difference else 1.0


def around(text: str, line: int, *, limit: int) -> str:
    """The part of a text around a line (1-based), cut to a size, with marks where something was left out."""
    if len(text) <= limit:
        return text
    lines = text.split("\n")
    start = max(0, min(line - 1, len(lines) - 1) - 10)
    kept: list[str] = []
    used = 0
    for item in lines[start:]:
        shown = _cut(item) or ""
        used += len(shown) + 1
        if used > limit:
            break
        kept.append(shown)
    end = start + len(kept)
    head = [f"… {start} lines before"] if start else []
    tail = [f"… {len(lines) - end} lines after"] if end < len(lines) else []
    return "\n".join([*head, *kept, *tail])


def _cut(line: str | None) -> str | None:
    if line is None or len(line) <= DIFFERENCE_CHARS:
        return line
    return f"{line[:DIFFERENCE_CHARS]}… ({len(line)} characters)"
