"""Runs the graph without langgraph, as far as no model is needed.

Importing langgraph costs more than most model-free runs take altogether. So a run starts here, over the same nodes and
routes; when it comes to a node that needs a model, what was done so far is handed to the compiled graph (`build`). Both
run a node in the same way: its entry and its decision become events, and a wrong route is an error.
"""

from collections.abc import Callable, Sequence

from codur.errors import LimitReached, UsageError, out_of_time
from codur.events import Decided, NodeEntered
from codur.graph.wiring import MODEL_NODES, ROUTES, START_NODE, STEP_LIMIT, function_of, route
from codur.nodes.run_state import NodeName, RunContext, RunState, RunUpdate, apply
from codur.structs import Struct, replace

Finished = Callable[[NodeName, RunUpdate, RunState], None]
"""Gets each node that has finished: its name, its update and the state after it."""


def keep_nothing(node: NodeName, update: RunUpdate, state: RunState) -> None:
    """A `Finished` that keeps nothing."""


def run_plain(node: NodeName, state: RunState, context: RunContext, finished: Finished = keep_nothing) -> RunUpdate:
    """Run one node that needs no model; Interrupted and LimitReached if the run was cancelled or its time is over."""
    _enter(node, context)
    return _leave(node, state, function_of(node)(state, context), context, finished)


async def run_model(
    node: NodeName, state: RunState, context: RunContext, finished: Finished = keep_nothing
) -> RunUpdate:
    """As `run_plain`, for a node that may wait for a model."""
    _enter(node, context)
    known, spent = len(state["guidance"]), context.models.usage
    new = [] if node == "consult" else context.heard()[known:]  # that one asks the user alone
    update: RunUpdate = await function_of(node)({**state, "guidance": [*state["guidance"], *new]}, context)
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


Done = tuple[NodeName, RunUpdate]
"""A node that has run, with its update."""


class Walked(Struct, kw_only=False):
    """How far a walk came."""

    state: RunState  # after the last node
    done: tuple[Done, ...]  # the nodes that ran, in order, each with its update
    finished: bool  # whether the run ended; else the next node needs a model


def walk(
    state: RunState, context: RunContext, *, kept: Sequence[Done] = (), finished: Finished = keep_nothing
) -> Walked:
    """Run nodes from the start until the end or until one needs a model; what is `kept` of before is taken over.

    Raises LimitReached: more steps than `STEP_LIMIT`; Interrupted: the run was cancelled; UsageError: what was kept
    does not fit this version's graph.
    """
    done: list[Done] = []
    node: NodeName = START_NODE
    while True:
        if len(done) >= STEP_LIMIT:
            raise step_limit_reached()
        if len(done) < len(kept):
            was, update = kept[len(done)]
            # Another way was taken then: the updates of another node would be put into this state.
            if was != node:
                raise UsageError(
                    f"the run cannot be gone on with: its record says {was} where this version has {node}",
                    remedy="Give the task again.",
                )
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


def step_limit_reached() -> LimitReached:
    """The error for a run that would never end by itself."""
    return LimitReached(
        f"the run was stopped after {STEP_LIMIT} steps",
        remedy="Lower --max-iterations, or split the task.",
    )
