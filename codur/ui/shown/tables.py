"""Tables and short texts for the commands that show no run: `agents`, `route`, `config`, and errors.

Every function gives text that is ready for `output_formats.show`.
"""

from collections.abc import Collection, Sequence

from codur import ui
from codur.errors import CodurError
from codur.structs import Struct
from codur.types import RouteStep
from codur.ui.sanitise import Shown
from codur.ui.styled_lines import LEAST_OF_SENTENCES, Line, cells, fold, folds, joined, line


class AgentRow(Struct):
    """One agent: `needs` says what it takes, `ready` whether it can be set to work here now, and `note` why not."""

    name: str
    type: str
    profile: str
    description: str = ""
    ready: bool = True
    note: str = ""
    needs: str = ""


_GAP = 2
"""Columns of the terminal between two columns of a table."""


def agents_table(rows: Sequence[AgentRow], *, width: int = 0) -> Shown:
    """Give the table of agents."""
    told = [
        (
            line(row.name),
            line(row.type),
            line(row.needs or row.profile),
            line(("yes", "good") if row.ready else (f"no: {row.note}" if row.note else "no", "warn")),
            line(row.description),
        )
        for row in rows
    ]
    return table(("agent", "type", "needs", "ready", "description"), told, width=width)


def route_text(route: Sequence[RouteStep]) -> Shown:
    """Give the way a run took, one decision a line: `1. pattern_plan → repair (pattern, deterministic): reason`."""
    if not route:
        return Shown("no decision was taken")
    lines = []
    for number, step in enumerate(route, start=1):
        reason = f": {step.reason}" if step.reason else ""
        lines.append(line(f"{number}. {step.node} → {step.route} ({step.origin}, {step.tier}){reason}"))
    return joined(lines)


def error_text(error: CodurError) -> Shown:
    """Give an error as two lines: what is wrong, and what to do about it (left out if there is nothing to say)."""
    lines = [line(f"✘ {error.message}")]
    if error.remedy:
        lines.append(line(f"→ {error.remedy}"))
    return joined(lines)


def table(
    titles: Sequence[str],
    rows: Sequence[Sequence[Line]],
    footer: Sequence[Line] = (),
    *,
    right: Collection[str] = (),
    width: int,
) -> Shown:
    """Give a table, with a last row of totals if there is one.

    Args:
        right: titles of the columns whose cells are put to the right.
        width: use colours and fold long cells to so many columns; 0 for neither.
    """
    header = [line((title, "plain" if title in right else "strong")) for title in titles]
    # Columns of the terminal that a table takes at least
    held = [[head, *column] for head, column in zip(header, zip(*rows, strict=True), strict=True)] if rows else []
    widths = [LEAST_OF_SENTENCES if folds(column) else max(cells(cell.text) for cell in column) for column in held]
    if 0 < width < (sum(widths) + _GAP * (len(widths) - 1)):
        return _stacked(header, rows, footer, width)
    if width:
        return ui.screen.render_table(header, rows, footer, width=width)
    body = [header, *rows, *([footer] if footer else [])]
    widths = [max(cells(row[index].text) for row in body) for index in range(len(titles))]
    rule = line("  ".join("-" * size for size in widths))
    lines = [_plain_row([title in right for title in titles], row, widths) for row in body]
    lines.insert(1, rule)
    if footer:
        lines.insert(len(lines) - 1, rule)
    return joined(lines)


def _stacked(header: Sequence[Line], rows: Sequence[Sequence[Line]], footer: Sequence[Line], width: int) -> Shown:
    """The rows below each other, a line for each cell: for terminals that no table fits on."""
    lines: list[Line] = []
    for row in [*rows, *([footer] if footer else [])]:
        first, *rest = zip(header, row, strict=True)
        lines += fold(first[1], width)
        lines += [part for head, cell in rest if cell.text for part in fold(line(f"  {head.text}: {cell.text}"), width)]
    return joined(lines)


def _plain_row(right: Sequence[bool], row: Sequence[Line], widths: Sequence[int]) -> Line:
    texts = []
    for to_right, cell, size in zip(right, row, widths, strict=True):
        space = " " * (size - cells(cell.text))
        texts.append(space + cell.text if to_right else cell.text + space)
    return line("  ".join(texts).rstrip())
