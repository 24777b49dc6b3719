"""The compiled LangGraph, made from the tables in `wiring`. This module and `session` alone know langgraph."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Protocol, cast

from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from codur.graph.observe import run_model, run_plain
from codur.graph.walk import Walked, step_limit_reached
from codur.graph.wiring import MODEL_NODES, PLAIN_NODES, ROUTES, START_NODE, STEP_LIMIT, route
from codur.nodes.state import NodeName, RunContext, RunState, RunUpdate


@dataclass(frozen=True, slots=True)
class GraphContext:
    """LangGraph's run-scoped context.

    Attributes:
        run: what the nodes work with.
        walked: steps that already ran without langgraph; they are taken over, not run again.
    """

    run: RunContext
    walked: deque[tuple[NodeName, RunUpdate]] = field(default_factory=deque)

    def taken_over(self, node: NodeName) -> RunUpdate | None:
        """The recorded update if the next recorded step is this node's, else None."""
        if self.walked and self.walked[0][0] == node:
            return self.walked.popleft()[1]
        return None


Graph = CompiledStateGraph[RunState, GraphContext, RunState, RunState]


def build_graph() -> Graph:
    """Compile the graph of `wiring`."""
    graph = StateGraph(RunState, context_schema=GraphContext)
    for name in PLAIN_NODES:
        graph.add_node(name, _plain(name))
    for name in MODEL_NODES:
        graph.add_node(name, _model(name))
    graph.add_edge(START, START_NODE)
    for name, targets in ROUTES.items():
        graph.add_conditional_edges(name, route, {target: END if target == "end" else target for target in targets})
    return graph.compile(name="codur")


async def run_graph(start: RunState, context: RunContext, walked: Walked | None = None) -> RunState:
    """Run the compiled graph to its end.

    Args:
        start: the state in which the run started (not the one in which the walk stopped).
        walked: what ran already; its updates are taken over in order.

    Raises:
        LimitReached: more steps than `STEP_LIMIT`.
        Interrupted: the run was cancelled.
    """
    recorded = deque(walked.done if walked else ())
    try:
        final = await build_graph().ainvoke(
            start,
            {"recursion_limit": STEP_LIMIT},
            context=GraphContext(run=context, walked=recorded),
        )
    except GraphRecursionError as error:
        raise step_limit_reached() from error
    return cast("RunState", final)


class _PlainNode(Protocol):
    def __call__(self, state: RunState, *, runtime: Runtime[GraphContext]) -> RunUpdate: ...


class _ModelNode(Protocol):
    def __call__(self, state: RunState, *, runtime: Runtime[GraphContext]) -> Awaitable[RunUpdate]: ...


def _plain(name: NodeName) -> _PlainNode:
    def node(state: RunState, *, runtime: Runtime[GraphContext]) -> RunUpdate:
        return runtime.context.taken_over(name) or run_plain(name, state, runtime.context.run)

    return node


def _model(name: NodeName) -> _ModelNode:
    async def node(state: RunState, *, runtime: Runtime[GraphContext]) -> RunUpdate:
        return runtime.context.taken_over(name) or await run_model(name, state, runtime.context.run)

    return node
