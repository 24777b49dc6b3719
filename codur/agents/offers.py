"""Which of an agent's tools a request offers: few at first, those that fit a result when it is there, all on demand.

What was offered stays offered, in its order: the list only grows, at its end. So the beginning of a request, which
services keep in their caches, changes a few times at first and then no more.
"""

from collections.abc import Sequence
from typing import Any

from codur.config.settings import ToolSettings
from codur.structs import Struct, field, replace
from codur.tools.compatibility import Available, CompatibilityGraph, Edge, promoted_after
from codur.tools.toolbox import Toolbox
from codur.types import TaskType, Tier, ToolCall, ToolSpec

MORE = "more_tools"
"""What a model calls to be offered everything."""
START_COMPATIBILITY = 0.25
"""Before any result, all that lacks nothing but what the model writes can be used."""


class Offering(Struct):
    """How tools are offered."""

    # a few at a time if there are more than `max_candidates` of the settings, and what can only follow is run without
    # asking; else all of them always
    narrow: bool = False
    task_type: TaskType = "unknown"  # the kind of task; `unknown` weighs nothing
    files: Sequence[str] = ()  # the files of the task
    # how many tools are offered, and which follow without asking
    settings: ToolSettings = field(default_factory=ToolSettings)


EVERYTHING = Offering()


class Offers:
    """The agent's tools that one conversation offers: before any result the first ones of each sort."""

    def __init__(self, toolbox: Toolbox, names: Sequence[str], offering: Offering) -> None:
        settings = offering.settings
        self._names = tuple(name for name in dict.fromkeys(names) if toolbox.get(name) is not None)
        self._toolbox = toolbox
        self._task_type = None if offering.task_type == "unknown" else offering.task_type
        found = [found for name in self._names if (found := toolbox.get(name)) is not None]
        self._graph = CompatibilityGraph(found)
        self._narrow = offering.narrow
        self._narrowed = False
        self._settings = settings
        self._near: dict[str, Edge] = {}
        self.tier: Tier = "open"
        self.names: tuple[str, ...] = self._names
        if offering.narrow and len(self._names) > settings.max_candidates:
            known: Available = {"path": tuple(offering.files)}
            edges = self._graph.after("", task_type=self._task_type, known=known)
            near = self._graph.nearest(
                [replace(edge, order=(0.0, self._names.index(edge.tool), "")) for edge in edges],
                max_candidates=settings.max_candidates,
                min_compatibility=START_COMPATIBILITY,
            )
            if near:
                self._near = {edge.tool: edge for edge in near}
                self.names, self.tier = tuple(edge.tool for edge in near), "guided"
                self._narrowed = True

    def specs(self) -> tuple[ToolSpec, ...]:
        """What is offered now, as a model sees it; with the way to the others first if there are any."""
        more = ToolSpec(
            name=MORE,
            description=f"Offer all tools, where none of those offered will do. There are: {', '.join(self._names)}.",
            parameters={"type": "object", "properties": {}, "required": [], "additionalProperties": False},
        )
        return (*((more,) if self._narrowed else ()), *self._toolbox.specs(self.names))

    def follow(self, tool: str, data: Any) -> tuple[tuple[str, ...], Edge | None]:
        """Take in what a tool gave, as plain JSON.

        Returns:
            The tools that are offered from now on beside those before, and the one to run at once if only one can
            follow and all that it requires is known.
        """
        self._near = {}
        if not self._narrow or self._graph.get(tool) is None:
            return (), None
        edges = self._graph.after(tool, task_type=self._task_type, data={} if data is None else data)
        near = self._graph.nearest(
            edges,
            max_candidates=self._settings.max_candidates,
            min_compatibility=self._settings.min_compatibility,
        )
        self._near = {edge.tool: edge for edge in near}
        # What is offered stays in every later request, so only the nearer half is.
        nearer = near[: (self._settings.max_candidates + 1) // 2] if self.tier == "guided" else ()
        added = tuple(edge.tool for edge in nearer if edge.tool not in self.names)
        self.names += added
        return added, self._graph.forced(near, promoted_after(tool, self._settings.promote))

    def scores(self, names: Sequence[str]) -> tuple[float, ...]:
        """How well tools fit the last result, 0 to 1; 0 for those that are not among the nearest."""
        return tuple(self._near[name].score if name in self._near else 0.0 for name in names)

    def settles(self, call: ToolCall) -> bool:
        """Whether the last result alone gives what a call is made with, so that code could have made it."""
        edge = self._near.get(call.name)
        return (
            edge is not None and self._graph.forced((edge,), edge.tool) is not None and edge.arguments == call.arguments
        )

    def take(self, name: str) -> tuple[str, ...]:
        """A tool was called: one that was not offered is from now on, a stranger's name opens all. Gives new names."""
        if name in self.names:
            return ()
        if name not in self._names:
            return self.open()
        self.names += (name,)
        return (name,)

    def open(self) -> tuple[str, ...]:
        """Offer everything; the names that are new."""
        added = tuple(name for name in self._names if name not in self.names)
        self.names += added
        self.tier = "open"
        return added
