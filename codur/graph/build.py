"""The compiled LangGraph, made from the tables in `wiring`. This module and `session` alone know langgraph."""

from collections.abc import Awaitable
from functools import lru_cache
from typing import Protocol, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from codur.graph.observe import Finished, keep_nothing, run_model, run_plain
from codur.graph.walk import Done, step_limit_reached
from codur.graph.wiring import MODEL_NODES, PLAIN_NODES, ROUTES, START_NODE, STEP_LIMIT, route
from codur.nodes.run_state import NodeName, RunContext, RunState, RunUpdate
from codur.questions import Answer, Question
from codur.structs import Struct, replace


class GraphContext(Struct, kw_only=False):
    """LangGraph's run-scoped context.

    Attributes:
        run: what the nodes work with.
        done: nodes that already ran, without langgraph or before the run was cut off; they are taken over.
        finished: gets each node that runs.
    """

    run: RunContext
    done: tuple[Done, ...] = ()
    finished: Finished = keep_nothing

    def taken_over(self, state: RunState) -> RunUpdate | None:
        """The update of the node that comes now, if it ran already."""
        position = len(state["trail"])  # every node that has finished left one decision there
        return self.done[position][1] if position < len(self.done) else None


THREAD = "run"
"""LangGraph's name for the one conversation that a run is."""

Graph = CompiledStateGraph[RunState, GraphContext, RunState, RunState]


@lru_cache(maxsize=1)
def _shared_graph() -> Graph:
    """The graph of the runs that keep no checkpoints: compiling it costs more than running it."""
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
    """Run the compiled graph to its end, or until the user is to be asked.

    Args:
        start: the state in which the run started (not the one in which the walk stopped).
        checkpointer: keeps the state after every node, and has the one to go on from; it serves this run alone. A
            run that may ask its user needs one.
        answer: the answer to the question that the last call gave.

    Returns:
        The last state; or a question: then call again with the answer.

    Raises:
        LimitReached: more steps than `STEP_LIMIT`.
        Interrupted: the run was cancelled.
    """
    graph = _shared_graph() if checkpointer is None else build_graph(checkpointer)
    asks = replace(context.run, consult=_interrupted) if context.run.consult is not None else context.run
    try:
        final = await graph.ainvoke(
            await _entry(graph, start, checkpointer, len(context.done), answer),
            _config(),
            context=replace(context, run=asks),
            durability=None if checkpointer is None else "sync",  # also a killed run is gone on with from its last node
        )
    except GraphRecursionError as error:
        raise step_limit_reached() from error
    # LangGraph tells of an interrupt in the state that it gives back.
    waiting = final.get("__interrupt__")
    return cast("Question", waiting[0].value) if waiting else cast("RunState", final)


def _config() -> RunnableConfig:
    # LangGraph's own limit is 10,007 steps, which a loop runs for seconds before anybody hears of it.
    return RunnableConfig(recursion_limit=STEP_LIMIT, configurable={"thread_id": THREAD})


def _interrupted(question: Question) -> Answer:
    """LangGraph's interrupt: leaves the graph with the question; when it is entered again, gives the answer."""
    return cast("Answer", interrupt(question))


async def _entry(
    graph: Graph, start: RunState, checkpointer: BaseCheckpointSaver[str] | None, done: int, answer: Answer | None
) -> RunState | Command[None] | None:
    """What the graph is entered with: an answer, nothing (it goes on from its checkpoint), or the first state."""
    if answer is not None:
        return Command(resume=answer)
    if checkpointer is not None and await _fits(graph, checkpointer, done):
        return None
    return start


async def _fits(graph: Graph, checkpointer: BaseCheckpointSaver[str], done: int) -> bool:
    """Whether there is a checkpoint to go on from; one that is ahead of what is to be taken over is dropped."""
    values = (await graph.aget_state(_config())).values
    # The record is the truth: a checkpoint that is ahead of it holds a node whose files may not be there.
    if values and len(values["trail"]) <= done:
        return True
    await checkpointer.adelete_thread(THREAD)  # begun anew, the nodes that were done are taken over from the record
    return False


class _PlainNode(Protocol):
    def __call__(self, state: RunState, *, runtime: Runtime[GraphContext]) -> RunUpdate: ...


class _ModelNode(Protocol):
    def __call__(self, state: RunState, *, runtime: Runtime[GraphContext]) -> Awaitable[RunUpdate]: ...


def _plain(name: NodeName) -> _PlainNode:
    def node(state: RunState, *, runtime: Runtime[GraphContext]) -> RunUpdate:
        here = runtime.context
        return here.taken_over(state) or run_plain(name, state, here.run, here.finished)

    return node


def _model(name: NodeName) -> _ModelNode:
    async def node(state: RunState, *, runtime: Runtime[GraphContext]) -> RunUpdate:
        here = runtime.context
        return here.taken_over(state) or await run_model(name, state, here.run, here.finished)

    return node
