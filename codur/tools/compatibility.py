"""Which tool can follow which, from declarations alone: a graph from the outputs of tools to the inputs of others.

An edge has a score from 0 to 1, the mean over the required arguments of the tool at its end:

- 1 for an argument that the output or the context supplies (0.75 if only the value can tell, as with a path that may
  or may not be one of a Python file),
- 0.5 for an argument that whoever calls the tool writes, such as a new text,
- 0 for an argument that must come from somewhere and does not.

A tool of which nothing is supplied scores half of that, one that requires nothing and is given nothing 0.5. One that
does not serve the kind of task, or would follow itself, scores half.

Among those that can follow, what uses more of the output and shares more kinds of task comes first; of tools that
change files those to which more has to be said, since they do less by accident.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from operator import attrgetter
from typing import Any, Final, get_origin

from codur.structs import Struct
from codur.tools.flow.io_kinds import Value, can_feed, fits, gives, values_in
from codur.tools.tool import Tool
from codur.types import SideEffect, TaskType

MAX_CANDIDATES = 10
MIN_COMPATIBILITY = 0.5
WRITTEN = 0.5
"""What an argument counts that the caller writes."""

Available = Mapping[Value, tuple[Any, ...] | None]
"""What there is of each kind: its values, or None where only the declaration is known."""

_CAN_BE_WRITTEN: Final[frozenset[Value]] = frozenset({"symbol", "class_name", "text", "diff"})
"""Kinds that a model can write as well as take."""
_NAMES: Final[Mapping[str, Value]] = {
    **dict.fromkeys(("path", "file", "file_path", "filename"), "path"),
    **dict.fromkeys(("directory", "folder"), "directory"),
    **dict.fromkeys(("url", "uri"), "url"),
    "line": "line",
    "symbol": "symbol",
}
"""Arguments of foreign tools whose name tells the kind."""


def promoted_after(tool: str, promote: Sequence[str]) -> str:
    """The tool that is to follow one by `tools.promote`, whose items are `TOOL > NEXT`; empty if none is."""
    pairs = (tuple(item.split(" > ")) for item in promote)
    return next((pair[1] for pair in pairs if pair[0] == tool), "")


class Ends(Struct):
    """What a tool takes and gives."""

    tool: Tool
    # each argument with the kinds of outputs that it accepts; none for what a caller writes
    takes: Mapping[str, tuple[Value, ...]]
    required: tuple[str, ...]
    several: frozenset[str]  # arguments that are lists

    @property
    def summary(self) -> str:
        """`needed, optional?`."""
        return ", ".join(name if name in self.required else f"{name}?" for name in self.takes)


class Edge(Struct):
    """A tool that can follow."""

    tool: str
    score: float  # 0 to 1, see the module
    supplied: Mapping[str, Value]  # arguments that the output or the context supplies, each with the kind
    written: tuple[str, ...]  # required arguments that are left
    arguments: Mapping[str, Any] | None = None  # all that is required, with one value each; None if that is not settled
    order: tuple[float, int, str]  # sorts edges, the best first


def runs_unasked(arguments: Mapping[str, Any] | None, score: float, side_effect: SideEffect) -> bool:
    """Whether the only tool that can follow is run without asking: all that it requires is known, and it only reads.

    That a file can be changed or a program run does not mean that it should be.
    """
    return arguments is not None and score >= 1 and side_effect == "read"


def ends_of(tool: Tool) -> Ends:
    """A tool's ends; a foreign one's as far as the names in its JSON schema tell, and what that gives is not known."""
    if tool.parameters is None:
        takes = {name: item.accepts for name, item in tool.arguments.items()}
        required = [name for name, item in tool.arguments.items() if item.required]
        several = [name for name, item in tool.arguments.items() if get_origin(item.type) is tuple]
    else:
        schemas = tool.parameters["properties"]
        takes = {name: (_NAMES[name],) if name in _NAMES else () for name in schemas}
        required = [name for name in takes if name in tool.parameters["required"]]
        several = [name for name, schema in schemas.items() if schema.get("type") == "array"]
    return Ends(tool=tool, takes=takes, required=tuple(required), several=frozenset(several))


class CompatibilityGraph:
    """Edges between tools."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._ends = {tool.name: ends_of(tool) for tool in sorted(tools, key=lambda tool: tool.name)}

    def names(self, task_type: TaskType | None = None) -> tuple[str, ...]:
        """The tools that serve a kind of task, or all; sorted."""
        tools = [item.tool for item in self._ends.values()]
        return tuple(tool.name for tool in tools if task_type is None or task_type in tool.task_types)

    def get(self, name: str) -> Ends | None:
        """A tool's ends, or None if there is no such tool."""
        return self._ends.get(name)

    def after(
        self, name: str, *, task_type: TaskType | None = None, data: Any = None, known: Available | None = None
    ) -> tuple[Edge, ...]:
        """All tools that can follow one, the best first.

        Args:
            name: the tool that has run; empty if none has.
            task_type: the kind of task; if it is not known, tools that serve none of the first one's score half.
            data: what it gave, as plain JSON (`ToolResult.data`), so that values count instead of the declaration; None
                if it has not run.
            known: what else is known, such as the files of the task.

        Raises:
            KeyError: there is no such tool.
        """
        first = self._ends[name] if name else None
        output: Available = {}
        if first is not None:
            kind = first.tool.output
            output = dict.fromkeys(gives(kind).values()) if data is None else values_in(kind, data)
        found = [_edge(each, first, output, known or {}, _fit(first, each, task_type)) for each in self._ends.values()]
        return tuple(sorted((edge for edge in found if edge.score > 0), key=attrgetter("order")))

    def nearest(
        self,
        edges: Sequence[Edge],
        *,
        max_candidates: int = MAX_CANDIDATES,
        min_compatibility: float = MIN_COMPATIBILITY,
    ) -> tuple[Edge, ...]:
        """The best of some edges, the best first. Tools that read, write, run and use the network take turns, so that
        the many of one sort leave room for the few of another.
        """
        sorts: dict[SideEffect, list[Edge]] = {}
        for edge in sorted(edges, key=attrgetter("order")):
            if edge.score >= min_compatibility:
                sorts.setdefault(self._ends[edge.tool].tool.side_effect, []).append(edge)
        in_turn = [edge for turn in zip_longest(*sorts.values()) for edge in turn if edge is not None]
        return tuple(sorted(in_turn[: max(0, max_candidates)], key=attrgetter("order")))

    def forced(self, edges: Sequence[Edge], promoted: str = "") -> Edge | None:
        """The tool that is run without asking; None if there is a choice.

        Args:
            promoted: the tool that the user wants to follow, whatever else could.
        """
        wanted = next((edge for edge in edges if edge.tool == promoted), None)
        alone = wanted or (edges[0] if len(edges) == 1 else None)
        if alone is None:
            return None
        score = 1.0 if wanted else alone.score
        return alone if runs_unasked(alone.arguments, score, self._ends[alone.tool].tool.side_effect) else None


def _fit(first: Ends | None, second: Ends, task_type: TaskType | None) -> float:
    again = 0.5 if second is first else 1.0
    if task_type is not None:
        return again if task_type in second.tool.task_types else again / 2
    return again if first is None or first.tool.task_types & second.tool.task_types else again / 2


def _edge(ends: Ends, first: Ends | None, output: Available, known: Available, fit: float) -> Edge:
    supplied: dict[str, Value] = {}
    settled: dict[str, Any] = {}
    shares: list[float] = []
    for name, kinds in ends.takes.items():
        share, kind, values = _supply(kinds, output)
        if kind is None:
            share, kind, values = _supply(kinds, known)
        if kind is not None:
            supplied[name] = kind
        if name in ends.required:
            shares.append(share or (WRITTEN if _CAN_BE_WRITTEN.issuperset(kinds) else 0.0))
            if values and (name in ends.several or len(values) == 1):
                settled[name] = list(values) if name in ends.several else values[0]
    mean = sum(shares) / len(shares) if shares else 1.0
    written = tuple(name for name in ends.required if name not in supplied)
    talk = -len(written) if ends.tool.side_effect == "write" else len(written)
    return Edge(
        tool=ends.tool.name,
        score=round((mean if supplied else mean / 2) * fit, 3),
        supplied=supplied,
        written=written,
        arguments=settled if len(settled) == len(ends.required) else None,
        order=(-_use(ends, first, supplied, shares) * fit, talk, ends.tool.name),
    )


def _use(ends: Ends, first: Ends | None, supplied: Mapping[str, Value], shares: Sequence[float]) -> float:
    """How much of the output a tool uses and how near it is to the one before, 0 to 1."""
    from_elsewhere = [share for share in shares if share != WRITTEN]
    mean = sum(from_elsewhere) / len(from_elsewhere) if from_elsewhere else 1.0
    own, others = ends.tool.task_types, first.tool.task_types if first else frozenset()
    shared = len(own & others) / len(own | others) if first else 1.0
    return mean * (1 - math.exp2(-len(supplied) - 0.5)) * (1 + shared) / 2


def _supply(kinds: Sequence[Value], available: Available) -> tuple[float, Value | None, tuple[Any, ...]]:
    """How well an argument is supplied (0 to 1), the kind that supplies it, and its values where they are known."""
    best: tuple[float, Value | None, tuple[Any, ...]] = (0.0, None, ())
    for taken in kinds:
        for given, values in available.items():
            if not can_feed(given, taken):
                continue
            usable = () if values is None else tuple(value for value in values if fits(taken, value))
            declared = 0.75 if given == "path" and taken != "path" else 1.0
            # What a tool gave counts before what it declares: an empty list supplies nothing.
            share = declared if values is None else float(bool(usable))
            if share > best[0]:
                best = (share, given, usable)
    return best
