"""Source files cut to a token budget: whole where they fit, else the parts that the task is about."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

MAX_PARTS = 400
SHOWN_NAMES = 12


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A file as a model sees it; `whole` is False if parts were left out."""

    path: str
    text: str
    lines: int
    whole: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """A top-level definition (or the code between two), as 0-based half-open lines."""

    name: str
    start: int
    end: int


def fit(sources: Mapping[str, str], *, budget_chars: int, focus: Iterable[str] = ()) -> list[Excerpt]:
    """Choose what of the files is shown.

    Args:
        sources: text by path, most relevant first.
        budget_chars: characters at most, all files together.
        focus: names (functions, classes) and `path:line` places that matter, e.g. from a traceback.

    Returns:
        One excerpt per file that still found room, in the given order.
    """
    left = budget_chars
    places = set(focus)
    chosen: list[Excerpt] = []
    for path, text in sources.items():
        lines = text.count("\n") + (not text.endswith("\n"))
        if len(text) <= left:
            excerpt = Excerpt(path, text, lines, whole=True)
        else:
            excerpt = Excerpt(path, _excerpt(path, text, left, places), lines, whole=False)
        if excerpt.text:
            chosen.append(excerpt)
            left -= len(excerpt.text)
    return chosen


def _excerpt(path: str, text: str, budget: int, focus: set[str]) -> str:
    lines = text.splitlines()
    parts = _parts(text)
    if not 0 < len(parts) <= MAX_PARTS:
        return _head(lines, budget)
    kept: set[_Part] = set()
    for part in sorted(parts, key=lambda part: (not _matters(path, part, focus), part.start)):
        if len(_shown(parts, lines, {*kept, part})) <= budget:
            kept.add(part)
    return _shown(parts, lines, kept) if kept else _head(lines, budget)


def _parts(text: str) -> list[_Part]:
    """The file's top-level parts without gaps, or nothing if it does not parse."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return []
    parts: list[_Part] = []
    for node in body:
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        end = node.end_lineno or node.lineno
        name = getattr(node, "name", "")
        if parts and not name and not parts[-1].name:
            parts[-1] = _Part("", parts[-1].start, end)
        else:
            parts.append(_Part(name, start, end))
    return parts


def _matters(path: str, part: _Part, focus: set[str]) -> bool:
    if part.name and part.name in focus:
        return True
    return any(f"{path}:{line + 1}" in focus for line in range(part.start, part.end))


def _shown(parts: list[_Part], lines: list[str], kept: set[_Part]) -> str:
    """The kept parts in order; what was left out between them becomes a line with the names."""
    shown: list[str] = []
    for whole, run in groupby(parts, key=lambda part: part in kept):
        group = list(run)
        if whole:
            shown.append("\n".join(lines[group[0].start : group[-1].end]))
        else:
            names = [part.name for part in group if part.name]
            named = f": {', '.join(names[:SHOWN_NAMES])}{', …' if len(names) > SHOWN_NAMES else ''}" if names else ""
            shown.append(f"# … lines {group[0].start + 1} to {group[-1].end} not shown{named}")
    return "\n".join(shown)


def _head(lines: list[str], budget: int) -> str:
    kept: list[str] = []
    used = 40
    for line in lines:
        used += len(line) + 1
        if used > budget:
            break
        kept.append(line)
    if not kept:
        return ""
    return "\n".join([*kept, f"# … {len(lines) - len(kept)} more lines not shown"])
