"""Notebooks of Jupyter (nbformat 4) as texts that can be read and edited: their cells between marks.

A line `# %% [code] 1` begins a cell (the "percent" format that Jupytext and editors know). Lines with `#=> ` tell the
outputs; they are no part of a cell. Where a cell's source stays, all of it does; one that is edited loses its outputs.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from codur.lazy import regex

_NOTE = (
    "#=> A Jupyter notebook (on disk JSON, nbformat 4) as its cells: `# %% [code]` or `# %% [markdown]` begins one. "
    "Lines with #=> are outputs, not to be edited.\n"
)
_MARK = regex(
    r"^# %%(?: \[(?P<kind>code|markdown|raw)\](?: (?P<number>\d{1,6})\b)?)?(?: [^\n]*)?(?:\n|\Z)", re.MULTILINE
)
_TOLD = regex(r"^#=>(?: [^\n]*)?(?:\n|\Z)", re.MULTILINE)
_ESCAPED = regex(r"\\u(?!00[01])")  # a letter, and no control character, which is written so in any case
_INDENT = regex(r"\A\{\n?([ \t]*)")
_MOST_LINES, _MOST_CHARS = 4, 160  # of a cell's outputs
_Cell = dict[str, Any]


def text_of(raw: str) -> str | None:
    """A notebook's cells as a text; None if it is no notebook, or one whose cells could not be told apart there."""
    cells = _cells(raw)
    if cells is None or any(_MARK.search(source) or _TOLD.search(source) for source in map(_source, cells)):
        return None
    shown = (f"# %% [{cell['cell_type']}] {number}{_run(cell)}\n{_body(cell)}" for number, cell in enumerate(cells, 1))
    return _NOTE + "".join(shown)


def merged(raw: str, text: str) -> str:
    """A notebook with the cells of a text; what does not differ from `raw` stays as it is there."""
    notebook, old = json.loads(raw), _cells(raw) or []
    minor = notebook.get("nbformat_minor")
    notebook["cells"] = list(_merged(old, _read(text), ids=isinstance(minor, int) and minor >= 5))
    indent = _INDENT.match(raw)
    form = (indent[1] or None) if indent else 1
    marks = (",", ":") if form is None and '": ' not in raw else None
    text = json.dumps(
        notebook, indent=form, ensure_ascii=bool(raw.isascii() and _ESCAPED.search(raw)), separators=marks
    )
    return text + raw[len(raw.rstrip()) :]


def made(text: str) -> str:
    """A new notebook with the cells of a text; a text that is one already stays so."""
    if is_one(text):
        return text
    notebook: dict[str, Any] = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    notebook["cells"] = list(_merged([], _read(text), ids=True))
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def is_one(raw: str) -> bool:
    """Whether a text is a notebook's JSON."""
    return _cells(raw) is not None


def _cells(raw: str) -> list[_Cell] | None:
    try:
        notebook = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    cells = notebook.get("cells") if isinstance(notebook, dict) and notebook.get("nbformat") == 4 else None
    return cells if isinstance(cells, list) and all(map(_is_cell, cells)) else None


def _is_cell(cell: object) -> bool:
    known = isinstance(cell, dict) and cell.get("cell_type") in {"code", "markdown", "raw"}
    return known and isinstance(cell, dict) and isinstance(cell.get("outputs", []), list)


def _source(cell: Mapping[str, Any]) -> str:
    return _joined(cell.get("source"))


def _joined(text: object) -> str:
    """A text that nbformat may divide into lines."""
    return "".join(map(str, text)) if isinstance(text, list) else str(text or "")


def _run(cell: Mapping[str, Any]) -> str:
    """By which number the notebook, and an error, tells of a cell of code that was run."""
    number = cell.get("execution_count")
    return f", In[{number}]" if isinstance(number, int) else ""


def _body(cell: Mapping[str, Any]) -> str:
    source = _source(cell)
    told = [line[:_MOST_CHARS] for line in _outputs(cell)]
    more = [f"… {len(told) - _MOST_LINES} more lines"] if len(told) > _MOST_LINES else []
    return "\n".join([source, *(f"#=> {line}".rstrip() for line in [*told[:_MOST_LINES], *more]), ""])


def _outputs(cell: Mapping[str, Any]) -> Iterator[str]:
    outputs = [output for output in cell.get("outputs") or () if isinstance(output, dict)]
    for output in sorted(outputs, key=lambda output: output.get("output_type") != "error"):
        data = output.get("data")
        if output.get("output_type") == "error":
            yield f"{output.get('ename')}: {output.get('evalue')}".replace("\n", " ")
        elif isinstance(data, dict):
            yield from (_joined(data["text/plain"]) if "text/plain" in data else f"({', '.join(data)})").splitlines()
        else:
            yield from _joined(output.get("text")).splitlines()


def _read(text: str) -> list[tuple[tuple[str, str], int]]:
    """The kind and the source of each cell of a text, and its number, 0 if it has none; what stands before the first
    mark is one, if it is anything.
    """
    text = _TOLD.sub("", text)
    marks = list(_MARK.finditer(text))
    begin = text[: marks[0].start() if marks else len(text)]
    found = [(("code", begin.rstrip("\n")), 0)] if begin.strip() else []
    for mark, end in zip(marks, [*(mark.start() for mark in marks[1:]), len(text)], strict=True):
        cell = (mark["kind"] or "code", text[mark.end() : end].rstrip("\n"))
        found.append((cell, int(mark["number"] or 0)))
    return found


def _merged(old: Sequence[_Cell], new: Sequence[tuple[tuple[str, str], int]], *, ids: bool) -> Iterator[_Cell]:
    """The cells of `new`: an old one where nothing differs, wherever it stood; else an edited one: that of its number,
    or the one after the last.
    """
    at: dict[tuple[str, str], list[int]] = {}
    for place in reversed(range(len(old))):
        at.setdefault((str(old[place]["cell_type"]), _source(old[place]).rstrip("\n")), []).append(place)
    kept = [at[key].pop() if at.get(key) else None for key, _ in new]
    left = set(range(len(old))).difference(kept)
    edited = {number - 1 for (_, number), same in zip(new, kept, strict=True) if same is None} & left
    last, names = -1, {str(cell.get("id")) for cell in old}
    for (key, number), same in zip(new, kept, strict=True):
        if same is not None:
            last = same
            yield old[same]
            continue
        place = number - 1 if number - 1 in left else last + 1
        free = place in left and (place == number - 1 or place not in edited) and old[place]["cell_type"] == key[0]
        last = place if free else last
        left.discard(last)
        yield _cell(old[place] if free else {}, *key, name=_new_id(key[1], names) if ids else "")


def _new_id(source: str, taken: set[str]) -> str:
    """An id that no other cell has, the same each time."""
    tries = (hashlib.sha256(f"{number}{source}".encode()).hexdigest()[:8] for number in count())
    found = next(name for name in tries if name not in taken)
    taken.add(found)
    return found


def _cell(was: Mapping[str, Any], kind: str, source: str, *, name: str) -> _Cell:
    """A cell with another source; `name` is the id that a new one gets, if it has any."""
    fresh: _Cell = {"cell_type": kind, **({"id": name} if name else {})}
    cleared: _Cell = {"execution_count": None, "outputs": []} if kind == "code" else {}
    ends = _source(was)[len(_source(was).rstrip("\n")) :]  # which a text of cells does not tell
    return {**(was or {**fresh, "metadata": {}}), **cleared, "source": (source + ends).splitlines(keepends=True)}
