"""Draws a directed graph into a PNG: nodes in rows by their distance from the start, no service and no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from math import atan2, cos, pi, sin

from PIL import Image, ImageDraw, ImageFont

BOX = (190, 46)
GAP = (70, 120)
MARGIN = 110
ARROW = 11
INK, PAPER, FILL, LINE, BACK = "#1b1f24", "#ffffff", "#eaf2fb", "#4a6b8a", "#b06a3b"

_Point = tuple[float, float]


def graph_png(edges: Mapping[str, Sequence[str]], *, start: str = "start") -> bytes:
    """The graph as PNG bytes.

    Edges to the next row are straight; longer ones run down the left side, and those that lead back run up the right
    side in another colour, each in a lane of its own, so that no edge crosses a box.

    Args:
        edges: targets by node.
        start: the node of the first row.
    """
    rows = _rows(edges, start)
    centres = _centres(rows)
    width = int(max(x for x, _ in centres.values()) + BOX[0] / 2 + 2 * MARGIN)
    height = int(max(y for _, y in centres.values()) + BOX[1] / 2 + MARGIN / 2)
    image = Image.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=17)
    level = {name: number for number, row in enumerate(rows) for name in row}
    lanes = 0
    for source, targets in edges.items():
        for target in targets:
            step = level[target] - level[source]
            if step == 1:
                _straight(draw, centres[source], centres[target])
                continue
            lanes += 1
            side = MARGIN / 2 + 9 * lanes if step > 1 else width - MARGIN / 2 - 9 * lanes
            _round(draw, centres[source], centres[target], side, shift=7 * lanes, colour=LINE if step > 1 else BACK)
    for name, centre in centres.items():
        _box(draw, name, centre, font)
    data = BytesIO()
    image.save(data, format="PNG", optimize=True)
    return data.getvalue()


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


def _centres(rows: Sequence[Sequence[str]]) -> dict[str, _Point]:
    widest = max(len(row) for row in rows)
    middle = 2 * MARGIN + (widest * (BOX[0] + GAP[0]) - GAP[0]) / 2
    centres: dict[str, _Point] = {}
    for number, row in enumerate(rows):
        left = middle - (len(row) - 1) * (BOX[0] + GAP[0]) / 2
        y = MARGIN / 2 + BOX[1] / 2 + number * (BOX[1] + GAP[1])
        for index, name in enumerate(row):
            centres[name] = (left + index * (BOX[0] + GAP[0]), y)
    return centres


def _straight(draw: ImageDraw.ImageDraw, source: _Point, target: _Point) -> None:
    begin = (source[0], source[1] + BOX[1] / 2)
    end = (target[0], target[1] - BOX[1] / 2)
    draw.line([begin, end], fill=LINE, width=2)
    _arrow(draw, begin, end, LINE)


def _round(draw: ImageDraw.ImageDraw, source: _Point, target: _Point, x: float, *, shift: float, colour: str) -> None:
    """An edge out of the bottom of one box, along the lane at `x`, into the top of the other."""
    out_x, in_x = source[0] - BOX[0] / 2 + 12 + shift, target[0] - BOX[0] / 2 + 12 + shift
    below, above = source[1] + BOX[1] / 2 + 8 + shift / 2, target[1] - BOX[1] / 2 - 14 - shift / 2
    end = (in_x, target[1] - BOX[1] / 2)
    corners = [(out_x, source[1] + BOX[1] / 2), (out_x, below), (x, below), (x, above), (in_x, above), end]
    draw.line(corners, fill=colour, width=2)
    _arrow(draw, (in_x, above), end, colour)


def _arrow(draw: ImageDraw.ImageDraw, begin: _Point, end: _Point, colour: str) -> None:
    angle = atan2(end[1] - begin[1], end[0] - begin[0])
    wings = [(end[0] - ARROW * cos(angle + turn), end[1] - ARROW * sin(angle + turn)) for turn in (pi / 7, -pi / 7)]
    draw.polygon([end, *wings], fill=colour)


def _box(
    draw: ImageDraw.ImageDraw, name: str, centre: _Point, font: ImageFont.FreeTypeFont | ImageFont.ImageFont
) -> None:
    x, y = centre
    corners = (x - BOX[0] / 2, y - BOX[1] / 2, x + BOX[0] / 2, y + BOX[1] / 2)
    draw.rounded_rectangle(corners, radius=9, fill=FILL, outline=LINE, width=2)
    draw.text(centre, name, fill=INK, font=font, anchor="mm")
