"""Runs the graph without langgraph, as far as no model is needed.

Importing langgraph costs more than most model-free runs take altogether. So a run starts here, over the same nodes and
routes; when it comes to a node that needs a model, what was done so far is handed to the compiled graph (`build`).
"""

from __future__ import annotations

from dataclasses import dataclass

from codur.errors import LimitReached
from codur.graph.observe import run_plain
from codur.graph.reduce import apply
from codur.graph.wiring import MODEL_NODES, START_NODE, STEP_LIMIT, route
from codur.nodes.state import NodeName, RunContext, RunState, RunUpdate


@dataclass(frozen=True, slots=True)
class Walked:
    """How far a walk came.

    Attributes:
        state: the state after the last node.
        done: the nodes that ran, in order, each with its update.
        finished: True if the run ended; False if the next node needs a model.
    """

    state: RunState
    done: tuple[tuple[NodeName, RunUpdate], ...]
    finished: bool


def walk(state: RunState, context: RunContext) -> Walked:
    """Run nodes from the start until the end or until one needs a model.

    Raises:
        LimitReached: more steps than `STEP_LIMIT`.
        Interrupted: the run was cancelled.
    """
    done: list[tuple[NodeName, RunUpdate]] = []
    node: NodeName = START_NODE
    while node not in MODEL_NODES:
        if len(done) >= STEP_LIMIT:
            raise step_limit_reached()
        update = run_plain(node, state, context)
        state = apply(state, update)
        done.append((node, update))
        target = route(state)
        if target == "end":
            return Walked(state, tuple(done), finished=True)
        node = target
    return Walked(state, tuple(done), finished=False)


def step_limit_reached() -> LimitReached:
    """The error for a run that would never end by itself."""
    return LimitReached(
        f"the run was stopped after {STEP_LIMIT} steps",
        remedy="Lower --max-iterations, or split the task.",
    )
