"""Unified diffs as styled lines."""

from collections.abc import Iterator, Sequence

from codur.lazy import regex
from codur.ui.styled_lines import Line, Style, count, line

TERMINAL_LIMIT = 200
"""Lines of a diff shown on a terminal; a longer one is cut in the middle."""

_NEW_ROWS, _WORTH = 24, 12
"""Rows shown of a file that is new: all of it is as new to the last line as to the first."""
_HUNK = regex(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def diff_lines(diff: str, *, limit: int | None = None) -> list[Line]:
    """Give a unified diff as lines: `+` added, `-` removed, `@@` hunk, headers strong.

    At most `limit` lines, or with None all, are shown, and of a new file the first; what is left out is said.
    """
    rows = diff.removesuffix("\n").split("\n") if diff else []
    styled = [line((row, style)) for row, style in zip(rows, _styles(rows), strict=True)]
    if limit is not None:
        styled = list(_cut_new(styled))
    if limit is None or len(styled) <= limit:
        return styled
    left_out = len(styled) - limit
    note = line((f"… {count(left_out, 'line')} of the diff left out; codur diff prints it whole …", "warn"))
    head = (limit + 1) // 2
    return [*styled[:head], note, *styled[head + left_out :]]


def _cut_new(styled: Sequence[Line]) -> Iterator[Line]:
    """The lines, but of each file that is new, or deleted, only the first."""
    whole, rows = "", list[Line]()
    for item in (*styled, None):
        style = item.spans[0].style if item and item.spans else "plain"
        if item and whole and style in {"added", "removed"}:
            rows.append(item)
            continue
        more = len(rows) - _NEW_ROWS
        yield from rows[:_NEW_ROWS] if more > _WORTH else rows
        if more > _WORTH:
            yield line((f"… {count(more, 'line')} more of this {whole} file", "dim"))
        rows = []
        if item and style == "strong" and item.text.startswith(("diff ", "--- ", "+++ ")):
            whole = {"--- /dev/null": "new", "+++ /dev/null": "deleted"}.get(
                item.text, whole if item.text[0] == "+" else ""
            )
        if item:
            yield item


def _styles(rows: list[str]) -> list[Style]:
    """Hunk lengths are counted, so that a removed line that begins with `-- ` is not taken for a header."""
    styles: list[Style] = []
    old = new = 0
    for row in rows:
        hunk = _HUNK.match(row)
        if hunk and old <= 0 and new <= 0:
            old, new = int(hunk[1] or 1), int(hunk[2] or 1)
            styles.append("hunk")
        elif old <= 0 and new <= 0:
            styles.append("strong" if row.startswith(("--- ", "+++ ", "diff ")) else "dim")
        else:
            mark = row[:1]
            old -= mark not in ("+", "\\")
            new -= mark not in ("-", "\\")
            styles.append("added" if mark == "+" else "removed" if mark == "-" else "plain")
    return styles
