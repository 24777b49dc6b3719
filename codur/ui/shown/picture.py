"""Draws a directed graph as SVG: nodes in rows by their distance from the start, no service and no network."""

from collections.abc import Mapping, Sequence
from html import escape

BOX = (190, 46)
GAP = (70, 120)
MARGIN, LANE = 50, 9
LINE, BACK, UNUSED = "steelblue", "sienna", "gainsboro"
_MOST_WIDE = 6
"""Width of an edge that was taken that often, or more."""
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"
 font-family="sans-serif" font-size="17" text-anchor="middle" dominant-baseline="central" fill="none" stroke-width="2">
<rect width="100%" height="100%" fill="#ffffff"/>"""
_ARROW = """\
<marker id="{0}" viewBox="0 0 10 8" refX="10" refY="4" markerWidth="6" markerHeight="5" orient="auto">\
<path d="M0,0 L10,4 L0,8 z" fill="{0}" stroke="none"/></marker>"""
_BOX = """\
<rect x="{x:.1f}" y="{y:.1f}" width="{0[0]}" height="{0[1]}" rx="9" fill="{fill}" stroke="steelblue"/>
<text x="{middle[0]:.1f}" y="{middle[1]:.1f}" fill="#1b1f24">{name}</text>"""

_Point = tuple[float, float]


def graph_svg(edges: Mapping[str, Sequence[str]], *, way: Mapping[tuple[str, str], int] | None = None) -> str:
    """The graph as the text of an SVG file.

    Edges to the next row are straight; longer ones run down the left side, and those that lead back run up the right
    side in another colour, each in a lane of its own, so that no edge crosses a box.

    Args:
        edges: targets by node; `start` is the one of the first row.
        way: how often an edge was taken; None: no way is shown.
    """
    taken = way or {}
    rows = _rows(edges, "start")
    level = {name: number for number, row in enumerate(rows) for name in row}
    links = [(source, target) for source, targets in edges.items() for target in targets]
    ahead = [link for link in links if level[link[1]] > level[link[0]] + 1]
    back = [link for link in links if level[link[1]] <= level[link[0]]]
    left, right = (MARGIN + LANE * len(lanes) for lanes in (ahead, back))
    middles = _middles(rows, left)
    width = max(x for x, _ in middles.values()) + BOX[0] / 2 + right
    height = max(y for _, y in middles.values()) + BOX[1] / 2 + MARGIN
    parts = [_HEAD.format(width=width, height=height), *map(_ARROW.format, (LINE, BACK, UNUSED))]
    for source, target in links:
        begin, end = middles[source], middles[target]
        times = taken.get((source, target), 0)
        forth, backwards = (LINE, BACK) if times or way is None else (UNUSED, UNUSED)
        if (source, target) in ahead:
            place = ahead.index((source, target))
            parts.append(_line(_around(begin, end, left - MARGIN / 2 - LANE * place, place), forth, times))
        elif (source, target) in back:
            place = back.index((source, target))
            parts.append(_line(_around(begin, end, width - right + MARGIN / 2 + LANE * place, place), backwards, times))
        else:
            parts.append(_line([(begin[0], begin[1] + BOX[1] / 2), (end[0], end[1] - BOX[1] / 2)], forth, times))
    for name, (x, y) in middles.items():
        visited = way is None or any(name in link for link in taken)
        fill = "#eaf2fb" if visited else "#f6f7f8"
        parts.append(_BOX.format(BOX, x=x - BOX[0] / 2, y=y - BOX[1] / 2, middle=(x, y), name=escape(name), fill=fill))
    return "\n".join([*parts, "</svg>\n"])


def _rows(edges: Mapping[str, Sequence[str]], start: str) -> list[list[str]]:
    """Nodes by distance from the start; what ends the graph stands alone in the last row."""
    rows, seen = [[start]], {start}
    while True:
        following = [target for name in rows[-1] for target in edges.get(name, ())]
        row = [name for name in dict.fromkeys(following) if name not in seen]
        if not row:
            break
        rows.append(row)
        seen.update(row)
    ends = [name for name in seen if not edges.get(name)]
    rows = [[name for name in row if name not in ends] for row in rows]
    return [row for row in [*rows, sorted(ends)] if row]


def _middles(rows: Sequence[Sequence[str]], margin: float) -> dict[str, _Point]:
    widest = max(len(row) for row in rows)
    middle = margin + (widest * (BOX[0] + GAP[0]) - GAP[0]) / 2
    middles: dict[str, _Point] = {}
    for number, row in enumerate(rows):
        left = middle - (len(row) - 1) * (BOX[0] + GAP[0]) / 2
        y = MARGIN + BOX[1] / 2 + number * (BOX[1] + GAP[1])
        middles |= {name: (left + index * (BOX[0] + GAP[0]), y) for index, name in enumerate(row)}
    return middles


def _around(begin: _Point, end: _Point, lane: float, place: int) -> list[_Point]:
    """The corners of an edge out of the bottom of one box, along a lane, into the top of the other."""
    shift = place * 7 % (BOX[0] - 24)
    out_x, in_x = (x - BOX[0] / 2 + 12 + shift for x in (begin[0], end[0]))
    bottom, top = begin[1] + BOX[1] / 2, end[1] - BOX[1] / 2
    below, above = bottom + 8 + shift / 4, top - 14 - shift / 4
    return [(out_x, bottom), (out_x, below), (lane, below), (lane, above), (in_x, above), (in_x, top)]


def _line(points: Sequence[_Point], colour: str, times: int) -> str:
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    width = f' stroke-width="{min(times + 2, _MOST_WIDE)}"' if times else ""
    return f'<polyline points="{corners}" stroke="{colour}"{width} marker-end="url(#{colour})"/>'
