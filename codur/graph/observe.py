"""Wraps a node so that its entry and its decision become events and a wrong route is an error."""

from collections.abc import Callable

from codur.errors import out_of_time
from codur.events import Decided, NodeEntered
from codur.graph.wiring import ROUTES, model_node, plain_node
from codur.nodes.run_state import NodeName, RunContext, RunState, RunUpdate, apply
from codur.structs import replace

Finished = Callable[[NodeName, RunUpdate, RunState], None]
"""Gets each node that has finished: its name, its update and the state after it."""


def keep_nothing(node: NodeName, update: RunUpdate, state: RunState) -> None:
    """A `Finished` that keeps nothing."""


def run_plain(node: NodeName, state: RunState, context: RunContext, finished: Finished = keep_nothing) -> RunUpdate:
    """Run one node that needs no model; Interrupted and LimitReached if the run was cancelled or its time is over."""
    _enter(node, context)
    return _leave(node, state, plain_node(node)(state, context), context, finished)


async def run_model(
    node: NodeName, state: RunState, context: RunContext, finished: Finished = keep_nothing
) -> RunUpdate:
    """As `run_plain`, for a node that may wait for a model."""
    _enter(node, context)
    known, spent = len(state["guidance"]), context.models.usage
    new = [] if node == "consult" else context.heard()[known:]  # that one asks the user alone
    update = await model_node(node)({**state, "guidance": [*state["guidance"], *new]}, context)
    update = {**update, "usage": context.models.usage - spent}
    if said := context.guidance.given[known:]:  # also what was heard between the requests of the node
        update = {**update, "guidance": list(said)}
    return _leave(node, state, update, context, finished)


def _enter(node: NodeName, context: RunContext) -> None:
    # Between nodes: what runs inside of one is ended by its own tokens.
    context.cancel.raise_if_cancelled()
    if context.time_left() <= 0:
        raise out_of_time()
    context.emit(NodeEntered(node=node))


def _leave(node: NodeName, state: RunState, update: RunUpdate, context: RunContext, finished: Finished) -> RunUpdate:
    if update["route"] not in ROUTES[node]:
        raise AssertionError(f"{node} may not go to {update['route']}; its routes are {ROUTES[node]}")
    if len(update.get("trail", [])) != 1:  # finished nodes are counted by their decisions
        raise AssertionError(f"{node} took {len(update.get('trail', []))} decisions; it takes one")
    trail = [replace(step, node=node) for step in update["trail"]]
    update = {**update, "trail": trail}
    after = apply(state, update)
    context.latest.state = after
    # Before the decision is told: who hears of it may rely on its being on record.
    finished(node, update, after)
    (step,) = trail
    context.emit(Decided(node=node, route=step.route, origin=step.origin, tier=step.tier, reason=step.reason))
    return update
