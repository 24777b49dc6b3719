"""Unified diffs as styled lines."""

from codur.lazy import regex
from codur.ui.styled_lines import Line, Style, count, line

TERMINAL_LIMIT = 200
"""Lines of a diff shown on a terminal; a longer one is cut in the middle."""

_HUNK = regex(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def diff_lines(diff: str, *, limit: int | None = None) -> list[Line]:
    """Give a unified diff as lines: `+` added, `-` removed, `@@` hunk, headers strong.

    At most `limit` lines, or with None all, are shown; what is left out of the middle is said.
    """
    rows = diff.removesuffix("\n").split("\n") if diff else []
    styled = [line((row, style)) for row, style in zip(rows, _styles(rows), strict=True)]
    if limit is None or len(styled) <= limit:
        return styled
    left_out = len(styled) - limit
    note = line((f"… {count(left_out, 'line')} of the diff left out; --raw prints it whole …", "warn"))
    head = (limit + 1) // 2
    return [*styled[:head], note, *styled[head + left_out :]]


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
