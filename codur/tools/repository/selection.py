"""What of a workspace a model should see for a task: which functions and files, in the order of their worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codur.tools.repository.index import Node, RepositoryIndex, View
from codur.tools.repository.places import Place, places_in
from codur.tools.repository.ranking import ranks, seeds

MAX_FILES = 16
"""Files that are read for one request at most, beside those that the task names."""
_RANKED_BLOCKS = 40
_NEAR_BLOCKS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """A part of a file that should be shown: the one around a line, or all of it.

    Attributes:
        line: 1-based; 0 stands for the whole file.
        partly: if the whole file does not fit, as much of it as does.
    """

    path: str
    line: int = 0
    partly: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to show, the most useful first.

    Attributes:
        wants: parts and whole files; a part may come again with its whole file.
        ranked: Python files by rank, for an outline: those that the task leads to, or all if it leads to none.
    """

    wants: tuple[Want, ...] = ()
    ranked: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that something is wanted of, in the order of their first want."""
        return tuple(dict.fromkeys(want.path for want in self.wants))


def select(
    index: RepositoryIndex,
    files: Sequence[str],
    *,
    task: str,
    named: Sequence[str],
    failure: str = "",
    also: Sequence[str] = (),
) -> Selection:
    """Choose, in this order: the functions that failing lines are in; the files that the task names; the files on
    the traceback; the functions that these lead to; the files they import; what else the check reads.

    Args:
        files: the workspace's files.
        task: the request in words.
        named: files that it names, or that a plan settled on.
        failure: the output of the failed check.
        also: files that come last.
    """
    places = places_in(failure, files)
    view = index.view(files, [*named, *(place.path for place in places)])
    rank = ranks(view, seeds(view, task=task, files=named, places=places))
    best = sorted(rank, key=lambda node: (-rank[node], node))
    wants = [
        *(Want(path=place.path, line=_line(view, place)) for place in places),
        *_lines(view, [node for node in best[:_NEAR_BLOCKS] if node[0] in named]),
        *(Want(path=path, partly=True) for path in named),
        *_lines(view, best[:_NEAR_BLOCKS]),
        *(Want(path=path) for path in dict.fromkeys(place.path for place in places)),
        *_lines(view, best[_NEAR_BLOCKS:_RANKED_BLOCKS]),
        *(Want(path=path) for path in _imported(view, named, places, rank)),
        *(Want(path=path) for path in dict.fromkeys(path for path, _ in best[:_NEAR_BLOCKS])),
        *(Want(path=path, partly=True) for path in also),
    ]
    return Selection(wants=tuple(_bounded(wants, named)), ranked=_by_rank(view, rank))


def _line(view: View, place: Place) -> int:
    if place.line:
        return place.line
    homes = [node for node in view.defined(place.function) if node[0] == place.path]
    return next((line.line for line in _lines(view, homes)), 1)


def _lines(view: View, nodes: Sequence[Node]) -> Iterator[Want]:
    for path, number in nodes:
        block = view.facts[path].blocks[number]
        if block.name:
            yield Want(path=path, line=block.line)


def _imported(view: View, named: Sequence[str], places: Sequence[Place], rank: dict[Node, float]) -> list[str]:
    near = dict.fromkeys((*named, *(place.path for place in places)))
    found = dict.fromkeys(path for source in near for path in view.imports(source))
    by_rank = _file_ranks(rank)
    return sorted(found, key=lambda path: -by_rank.get(path, 0.0))


def _by_rank(view: View, rank: dict[Node, float]) -> tuple[str, ...]:
    by_rank = _file_ranks(rank)
    return tuple(sorted(by_rank, key=lambda path: -by_rank[path])) or tuple(view.facts)


def _file_ranks(rank: dict[Node, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for (path, _), weight in rank.items():
        found[path] = found.get(path, 0.0) + weight
    return found


def _bounded(wants: Sequence[Want], named: Sequence[str]) -> Iterator[Want]:
    taken = set(named)
    for want in dict.fromkeys(wants):
        if want.path in taken or len(taken) < MAX_FILES + len(named):
            taken.add(want.path)
            yield want
