"""What `codur tools` prints."""

from collections.abc import Iterable, Mapping
from typing import Any

from codur.cli import machine
from codur.cli.printing import say_found
from codur.config.reading.origin import did_you_mean
from codur.errors import UsageError
from codur.planning.narrowing import Narrowing, builtin_graph, guided_decision_points, tier_of
from codur.tools.compatibility import CompatibilityGraph
from codur.tools.tool import EVERY_TASK
from codur.types import TaskType

LEARNED_AFTER = 3
"""Equal choices in a row after which one is offered."""
_NOTHING = f"nothing yet: no tool was chosen alike after another {LEARNED_AFTER} times in a row"


def show_tools(after: str | None, task_type: str | None, *, json: bool) -> None:
    """Print the tools, or the graph's edges from one of them."""
    graph = builtin_graph()
    if task_type is not None and task_type not in EVERY_TASK:
        raise UsageError(
            f"{task_type!r:.60} is no kind of task", remedy=f"Give one of {', '.join(sorted(EVERY_TASK))} to --for."
        )
    if after is None:
        tools = [
            {
                "name": name,
                "arguments": ends.summary,
                "description": ends.tool.description,
                "side_effect": ends.tool.side_effect,
                "output": ends.tool.output.__name__,
                "task_types": sorted(ends.tool.task_types),
            }
            for name in graph.names(task_type)
            if (ends := graph.get(name)) is not None
        ]
        shown: dict[str, Any] = {"for": task_type, "tools": tools}
        form = "{name}({arguments}) → {output} [{side_effect}]: {description}"
        lines = [form.format_map(item) for item in shown["tools"]]
    else:
        names = graph.names()
        if after not in names:
            remedy = did_you_mean(after, names, "`codur tools` lists them all.", cutoff=0.5)
            raise UsageError(f"there is no tool {after!r:.80}", remedy=remedy)
        shown = _after(graph, after, task_type)
        lines = [_headline(shown), *(_edge_line(item) for item in shown["successors"])]
    say_found(shown, lines, as_json=json)


def show_learned(*, json: bool) -> None:
    """Print the choices of models that code could have made: of one tool after another, the same ones each time."""
    runs = machine.kept_runs()
    records = sorted(runs.scan(None)[0], key=lambda record: record.started)
    shown = learned(event for record in records for event in runs.open(record.id).trace.read(on_damage=lambda _: None))
    promote = ", ".join(item["promote"] for item in shown)
    lines = [f"{item['promote']}: {item['times']} times" for item in shown]
    lines += [f"tools.promote: [{promote}] makes them without a model"] if shown else []
    say_found({"learned": shown}, lines, as_json=json, none=_NOTHING)


def learned(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What can be promoted, by the events of kept runs, the oldest first.

    Counted are choices that followed a tool, since a different one followed it last; those whose arguments the model
    had to make are different ones.
    """
    times: dict[str, tuple[str, int]] = {}
    for event in events:
        after, choice = str(event.get("after", "")), str(event.get("choice", ""))
        if event.get("event") != "tool_chosen" or event.get("by") != "model" or not after:
            continue
        settled = choice if event.get("settled") else ""
        last, count = times.get(after, ("", 0))
        times[after] = (settled, count + 1 if settled == last else 1)
    return [
        {"after": after, "choice": choice, "times": count, "promote": f"{after} > {choice}"}
        for after, (choice, count) in sorted(times.items())
        if choice and count >= LEARNED_AFTER
    ]


def _after(graph: CompatibilityGraph, name: str, kind: TaskType | None) -> dict[str, Any]:
    """All edges; those that a model would be offered are candidates."""
    points = guided_decision_points(name, Narrowing(task_type=kind), graph=graph)
    candidates = [each.name for point in points for each in point.candidate_tools]
    return {
        "after": name,
        "for": kind,
        "tier": tier_of(points[0]) if points else "open",
        "successors": [
            {
                "tool": edge.tool,
                "score": edge.score,
                "candidate": edge.tool in candidates,
                "supplied": dict(edge.supplied),
                "written": list(edge.written),
            }
            for edge in graph.after(name, task_type=kind)
        ],
    }


def _headline(shown: dict[str, Any]) -> str:
    kind = f" for {shown['for']}" if shown["for"] else ""
    count = sum(item["candidate"] for item in shown["successors"])
    return f"after {shown['after']}{kind}: {shown['tier']}, {count} offered (*)"


def _edge_line(item: dict[str, Any]) -> str:
    supplied = ", ".join(f"{name} ({kind})" for name, kind in item["supplied"].items()) or "nothing"
    written = f"; still needed: {', '.join(item['written'])}" if item["written"] else ""
    return f"{'*' if item['candidate'] else ' '} {item['score']:.2f} {item['tool']}: takes {supplied}{written}"
