"""The trace of a run as a tree: each node that was entered, who decided where it went, and what it did and cost."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import ValidationError

from codur.events import Decided, Event, ModelAnswered, ModelPrompted, NodeEntered, RunFinished, RunStarted
from codur.structs import Struct, convert, field
from codur.ui.shown.progress_lines import Narrator
from codur.ui.shown.run_report import money
from codur.ui.styled_lines import Line, Span, count, line


class TracedNode(Struct, frozen=False):
    """A node as it was carried out once."""

    name: str  # empty for what was told before the first node
    # began, ended: seconds since the start of that part of the run; None if the trace does not tell
    began: float | None = None
    ended: float | None = None
    events: list[Event] = field(default_factory=list)  # what it told, without where it went
    decided: Decided | None = None  # where it went; None if it was cut off

    def take(self, event: Event, at: float | None) -> None:
        """Take its next event."""
        if isinstance(event, Decided) and event.node == self.name:
            self.decided = event
        elif not isinstance(event, RunFinished):
            self.events.append(event)
        self.ended = at

    @property
    def answers(self) -> tuple[ModelAnswered, ...]:
        """What models answered it."""
        return tuple(event for event in self.events if isinstance(event, ModelAnswered))

    @property
    def title(self) -> str:
        """Where it went, how much was left to a model, and what it cost: `→ review · open · 1 call · … · 1.2 s`."""
        parts = [f"→ {self.decided.route}", self.decided.tier] if self.decided else []
        if self.answers:
            tokens = sum(each.prompt_tokens + each.completion_tokens for each in self.answers)
            cost = money(sum(each.cost_usd for each in self.answers))
            parts += [count(len(self.answers), "call"), count(tokens, "token"), cost]
        if self.began is not None and self.ended is not None and self.ended >= self.began:
            parts.append(f"{self.ended - self.began:.1f} s")
        return " · ".join(parts)


def traced_nodes(trace: Sequence[Mapping[str, Any]]) -> list[TracedNode]:
    """The nodes of a trace as it was kept, in the order in which they were entered."""
    nodes = [TracedNode(name="")]
    for kept in trace:
        at = kept.get("at")
        time = float(at) if isinstance(at, int | float) else None
        event = _event(kept)
        if isinstance(event, NodeEntered):
            nodes[-1].ended = time
            nodes.append(TracedNode(name=event.node, began=time))
        elif event is not None:
            nodes[-1].take(event, time)
    return [node for node in nodes if node.name or node.events]


def tree_lines(nodes: Sequence[TracedNode], narrator: Narrator, *, prompts: bool, reasons: bool) -> list[Line]:
    """Give the nodes as lines, what each told below it.

    Args:
        narrator: puts what they told into words.
        prompts: also the requests to models, as they were sent.
        reasons: also who decided where each went, and why.
    """
    lines: list[Line] = []
    for place, node in enumerate(nodes):
        told = [item for event in _shown(node, prompts=prompts, reasons=reasons) for item in narrator.lines(event)]
        told += narrator.rest()
        if not node.name:
            lines += told
            continue
        last = place == len(nodes) - 1
        lines.append(line(("└─ " if last else "├─ ", "dim"), (node.name, "strong"), " ", (node.title, "dim")))
        stem = Span(line("   " if last else "│  ").text, "dim")
        lines += [Line((stem, *line(("   ", "dim")).spans, *item.spans)) for item in told]
    return lines


def _shown(node: TracedNode, *, prompts: bool, reasons: bool) -> Iterator[Event]:
    for event in node.events:
        prompted, given = isinstance(event, ModelPrompted), isinstance(event, (RunStarted, Decided))
        if (prompts or not prompted) and (reasons or not given):
            yield event
    if reasons and node.decided is not None:
        yield node.decided


def _event(kept: Mapping[str, Any]) -> Event | None:
    """The event that was kept; None for what this version does not know."""
    try:
        event: Event = convert(kept, Event)
    except ValidationError:
        return None
    return event
