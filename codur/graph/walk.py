"""Runs the graph without langgraph, as far as no model is needed.

Importing langgraph costs more than most model-free runs take altogether. So a run starts here, over the same nodes and
routes; when it comes to a node that needs a model, what was done so far is handed to the compiled graph (`build`).
"""

from collections.abc import Sequence

from codur.errors import LimitReached, UsageError
from codur.graph.observe import Finished, keep_nothing, run_plain
from codur.graph.wiring import MODEL_NODES, START_NODE, STEP_LIMIT, route
from codur.nodes.run_state import NodeName, RunContext, RunState, RunUpdate, apply
from codur.structs import Struct

Done = tuple[NodeName, RunUpdate]
"""A node that has run, with its update."""


class Walked(Struct, kw_only=False):
    """How far a walk came.

    Attributes:
        state: the state after the last node.
        done: the nodes that ran, in order, each with its update.
        finished: True if the run ended; False if the next node needs a model.
    """

    state: RunState
    done: tuple[Done, ...]
    finished: bool


def walk(
    state: RunState, context: RunContext, *, kept: Sequence[Done] = (), finished: Finished = keep_nothing
) -> Walked:
    """Run nodes from the start until the end or until one needs a model.

    Args:
        kept: what an earlier part of the run did; it is taken over, not done again.
        finished: gets each node that runs here.

    Raises:
        LimitReached: more steps than `STEP_LIMIT`.
        Interrupted: the run was cancelled.
        UsageError: what was kept does not fit this version's graph.
    """
    done: list[Done] = []
    node: NodeName = START_NODE
    while True:
        if len(done) >= STEP_LIMIT:
            raise step_limit_reached()
        if len(done) < len(kept):
            update = _taken_over(node, kept[len(done)])
        # Only now langgraph is imported, which costs more than this walk.
        elif node in MODEL_NODES:
            return Walked(state, tuple(done), finished=False)
        else:
            update = run_plain(node, state, context, finished)
        state = context.latest.state = apply(state, update)
        done.append((node, update))
        target = route(state)
        if target == "end":
            return Walked(state, tuple(done), finished=True)
        node = target


def _taken_over(node: NodeName, kept: Done) -> RunUpdate:
    # Another way was taken then: the updates of another node would be put into this state.
    if kept[0] != node:
        raise UsageError(
            f"the run cannot be gone on with: its record says {kept[0]} where this version has {node}",
            remedy="Give the task again.",
        )
    return kept[1]


def step_limit_reached() -> LimitReached:
    """The error for a run that would never end by itself."""
    return LimitReached(
        f"the run was stopped after {STEP_LIMIT} steps",
        remedy="Lower --max-iterations, or split the task.",
    )
