"""The compiled LangGraph, made from the tables in `wiring`, to run and draw. It and `session` alone know langgraph."""

from functools import lru_cache
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt
from langsmith.run_helpers import tracing_context

from codur.graph.walk import Done, Finished, keep_nothing, run_model, run_plain, step_limit_reached
from codur.graph.wiring import MODEL_NODES, PLAIN_NODES, ROUTES, START_NODE, STEP_LIMIT, route
from codur.nodes.run_state import NodeName, RunContext, RunState, RunUpdate
from codur.questions import Answer, Question
from codur.structs import Struct, replace


class GraphContext(Struct, kw_only=False):
    """LangGraph's run-scoped context."""

    run: RunContext  # what the nodes work with
    done: tuple[Done, ...] = ()  # nodes that already ran, without langgraph or before the run was cut off
    finished: Finished = keep_nothing  # gets each node that runs

    def taken_over(self, state: RunState) -> RunUpdate | None:
        """The update of the node that comes now, if it ran already."""
        position = len(state["trail"])  # every node that has finished left one decision there
        return self.done[position][1] if position < len(self.done) else None


THREAD = "run"
"""LangGraph's name for the one conversation that a run is."""

Graph = CompiledStateGraph[RunState, GraphContext, RunState, RunState]


@lru_cache(maxsize=1)
def _shared_graph() -> Graph:
    """The graph of the runs that ask nobody: compiling it costs more than running it."""
    return build_graph()


def build_graph(checkpointer: BaseCheckpointSaver[str] | None = None) -> Graph:
    """Compile the graph of `wiring`; with a checkpointer, its state is kept after every node."""
    graph = StateGraph(RunState, context_schema=GraphContext)
    for name in PLAIN_NODES:
        graph.add_node(name, _plain(name))
    for name in MODEL_NODES:
        graph.add_node(name, _model(name))
    graph.add_edge(START, START_NODE)
    for name, targets in ROUTES.items():
        # With the map of targets: without it a drawing would connect every node with every other.
        graph.add_conditional_edges(name, route, {target: END if target == "end" else target for target in targets})
    return graph.compile(checkpointer, name="codur")


async def run_graph(
    start: RunState,
    context: GraphContext,
    *,
    checkpointer: BaseCheckpointSaver[str] | None = None,
    answer: Answer | None = None,
) -> RunState | Question:
    """Run the compiled graph to its end, or until the user is to be asked: then call again with the answer.

    Args:
        start: the state in which the run started (not the one in which the walk stopped).
        checkpointer: keeps the state after every node, for as long as the user is asked; it serves this run alone, and
            one that asks nobody needs none.

    Raises:
        LimitReached: more steps than `STEP_LIMIT`.
        Interrupted: the run was cancelled.
    """
    graph = _shared_graph() if checkpointer is None else build_graph(checkpointer)
    asks = replace(context.run, consult=_interrupted) if context.run.consult is not None else context.run
    try:
        with tracing_context(enabled=False):  # in another's process it may be on, for its own graphs
            final = await graph.ainvoke(
                start if answer is None else Command(resume=answer),
                # LangGraph's own limit is 10,007 steps, which a loop runs for seconds before anybody hears of it.
                RunnableConfig(recursion_limit=STEP_LIMIT, configurable={"thread_id": THREAD}),
                context=replace(context, run=asks),
            )
    except GraphRecursionError as error:
        raise step_limit_reached() from error
    # LangGraph tells of an interrupt in the state that it gives back.
    waiting = final.get("__interrupt__")
    return cast("Question", waiting[0].value) if waiting else cast("RunState", final)


def _interrupted(question: Question) -> Answer:
    """LangGraph's interrupt: leaves the graph with the question; when it is entered again, gives the answer."""
    return cast("Answer", interrupt(question))


def _plain(name: NodeName) -> Any:  # what langgraph takes for a node has no name that it exports
    def node(state: RunState, *, runtime: Runtime[GraphContext]) -> RunUpdate:
        here = runtime.context
        return here.taken_over(state) or run_plain(name, state, here.run, here.finished)

    return node


def _model(name: NodeName) -> Any:
    async def node(state: RunState, *, runtime: Runtime[GraphContext]) -> RunUpdate:
        here = runtime.context
        return here.taken_over(state) or await run_model(name, state, here.run, here.finished)

    return node


def drawn_edges() -> dict[str, tuple[str, ...]]:
    """Targets by node, as the compiled graph has them; START and END are `start` and `end`."""
    edges: dict[str, list[str]] = {}
    for edge in build_graph().get_graph().edges:
        edges.setdefault(_bare(edge.source), []).append(_bare(edge.target))
    return {source: tuple(sorted(targets)) for source, targets in edges.items()}


def mermaid_text() -> str:
    """The compiled graph as a Mermaid diagram."""
    return build_graph().get_graph().draw_mermaid()


def _bare(name: str) -> str:
    return name.strip("_") if name.startswith("__") else name
