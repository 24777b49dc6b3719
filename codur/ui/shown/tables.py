"""Tables and short texts for the commands that show no run: `agents`, `route`, `config`, and errors.

Every function gives text that is ready for `output_formats.show`.
"""

from collections.abc import Sequence

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


class Column(Struct, kw_only=False):
    """A column of a table; `right` puts its cells to the right."""

    title: str
    right: bool = False


_AGENT_COLUMNS = (Column("agent"), Column("type"), Column("needs"), Column("ready"), Column("description"))


def agents_table(rows: Sequence[AgentRow], *, color: bool = False, width: int = 100) -> Shown:
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
    return table(_AGENT_COLUMNS, told, (), color=color, width=width)


def route_text(route: Sequence[RouteStep]) -> Shown:
    """Give the way a run took, one decision a line: `1. pattern_plan → repair (pattern, deterministic): reason`."""
    if not route:
        return Shown("no decision was taken")
    return joined(line(f"{number}. {_step_words(step)}") for number, step in enumerate(route, start=1))


def error_text(error: CodurError) -> Shown:
    """Give an error as two lines: what is wrong, and what to do about it (left out if there is nothing to say)."""
    lines = [line(f"✘ {error.message}")]
    if error.remedy:
        lines.append(line(f"→ {error.remedy}"))
    return joined(lines)


def _step_words(step: RouteStep) -> str:
    reason = f": {step.reason}" if step.reason else ""
    return f"{step.node} → {step.route} ({step.origin}, {step.tier}){reason}"


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[Line]], footer: Sequence[Line], *, color: bool, width: int
) -> Shown:
    """Give a table, with a last row of totals if there is one; in colours, long cells are folded to `width` columns."""
    header = [line((column.title, "plain" if column.right else "strong")) for column in columns]
    if color and width < _least_width(header, rows):
        return _stacked(header, rows, footer, width)
    if color:
        return ui.screen.render_table(header, rows, footer, width=width)
    body = [header, *rows, *([footer] if footer else [])]
    widths = [max(cells(row[index].text) for row in body) for index in range(len(columns))]
    rule = line("  ".join("-" * size for size in widths))
    lines = [_plain_row(columns, row, widths) for row in body]
    lines.insert(1, rule)
    if footer:
        lines.insert(len(lines) - 1, rule)
    return joined(lines)


def _least_width(header: Sequence[Line], rows: Sequence[Sequence[Line]]) -> int:
    """Columns of the terminal that a table takes at least."""
    held = [[head, *column] for head, column in zip(header, zip(*rows, strict=True), strict=True)] if rows else []
    widths = [LEAST_OF_SENTENCES if folds(column) else max(cells(cell.text) for cell in column) for column in held]
    return sum(widths) + _GAP * (len(widths) - 1)


def _stacked(header: Sequence[Line], rows: Sequence[Sequence[Line]], footer: Sequence[Line], width: int) -> Shown:
    """The rows below each other, a line for each cell: for terminals that no table fits on."""
    lines: list[Line] = []
    for row in [*rows, *([footer] if footer else [])]:
        first, *rest = zip(header, row, strict=True)
        lines += fold(first[1], width)
        lines += [part for head, cell in rest if cell.text for part in fold(line(f"  {head.text}: {cell.text}"), width)]
    return joined(lines)


def _plain_row(columns: Sequence[Column], row: Sequence[Line], widths: Sequence[int]) -> Line:
    texts = []
    for column, cell, size in zip(columns, row, widths, strict=True):
        space = " " * (size - cells(cell.text))
        texts.append(space + cell.text if column.right else cell.text + space)
    return line("  ".join(texts).rstrip())
