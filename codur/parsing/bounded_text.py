"""Cutting long texts, so that their beginning and end stay, or their beginning alone, or all but what colours them; and
long lists of names."""

from collections.abc import Sequence

from codur.lazy import regex

MAX_TEXT = 200_000
"""Longest text that a tool gives back, in characters."""
MAX_PROBLEM = 1_000
"""Longest message of a call that was not carried out, in characters; it may quote what was given."""
_TERMINAL = regex(r"(?:\x1b|#x1B)\[[0-9;?]*[A-Za-z]")


def bounded(text: str, limit: int) -> str:
    """`text` if it has at most `limit` characters, else its head and tail with a note of how much is left out.

    The cuts are made at line ends where there is one near.
    """
    if len(text) <= limit:
        return text
    room = limit - len(left_out("x" * len(text))) - 2
    if room <= 0:
        return text[: max(limit, 0)]
    head_room = room * 2 // 3
    head = _whole_lines_head(text[:head_room])
    tail = _whole_lines_tail(text[len(text) - (room - head_room) :])
    return f"{head}\n{left_out(text[len(head) : len(text) - len(tail)])}\n{tail}"


def beginning(text: str, limit: int, first_line: int | None = None) -> str:
    """`text` if it has at most `limit` characters, else its first whole lines and what is left out.

    For what was read: the next lines can be asked for, which the two ends of a text do not allow.

    Args:
        first_line: the number of its first line, where it is a part of a file.
    """
    if len(text) <= limit:
        return text
    longest = _rest(text, first_line and first_line + text.count("\n"))
    head = _whole_lines_head(text[: max(0, limit - len(longest))])
    return (head + _rest(text[len(head) :], first_line and first_line + head.count("\n") + 1))[: max(0, limit)]


def listed(names: Sequence[str], most: int) -> str:
    """The first names, `most` of them, and how many more there are: `a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _rest(rest: str, first_line: int | None) -> str:
    lines = rest.strip("\n").count("\n") + 1
    if first_line is None:
        return f"\n… [{lines} more line{'s' if lines > 1 else ''} did not fit]"
    return f"\n… [lines {first_line} to {first_line + lines - 1} did not fit; go on from line {first_line}]"


def left_out(text: str) -> str:
    """What is said in the place of a text that is left out."""
    lines = text.strip("\n").count("\n") + 1
    return f"… [{f'{lines} lines' if lines > 1 else f'{len(text)} characters'} left out] …"


def _whole_lines_head(text: str) -> str:
    end = text.rfind("\n")
    if end < len(text) // 2:
        end = text.rfind(" ")  # of a long line whole words
    return text[:end] if end >= len(text) // 2 else text


def _whole_lines_tail(text: str) -> str:
    start = text.find("\n")
    return text[start + 1 :] if 0 <= start < len(text) // 2 else text


def plain(text: str) -> str:
    """An output without terminal colours, those in pytest's XML report included."""
    return _TERMINAL.sub("", text)
