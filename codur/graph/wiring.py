"""The graph on one screen: its nodes, where each may go, and the one route function.

A node is the function of its name in the module of its name (`codur.nodes.review.review`). It is imported when it is
first run: most runs need few of them.

Both ways of running (`walk`, without langgraph, and `build`, the compiled LangGraph) are made from these tables.
"""

import hashlib
from importlib import import_module  # noqa: TID251 - of nodes alone, all of which this layer may import
from typing import Any, Final

from codur.nodes.run_state import NodeName, Route, RunState

STEP_LIMIT: Final = 350
"""Super-steps of one run at most; every loop has its own, tighter bound, this one catches what they miss."""

START_NODE: Final[NodeName] = "pattern_plan"

PLAIN_NODES: Final[tuple[NodeName, ...]] = ("pattern_plan", "policy", "repair", "tool", "delegate", "review")

ROUTES: Final[dict[NodeName, tuple[Route, ...]]] = {
    "pattern_plan": ("llm_pre_plan", "llm_plan", "policy"),
    "llm_pre_plan": ("llm_plan", "policy"),
    "llm_plan": ("policy",),
    "policy": ("make_check", "consult", "choose", "repair", "coding", "tool", "delegate", "llm_plan", "accept", "end"),
    "make_check": ("consult", "policy"),
    "consult": ("policy", "make_check", "coding", "execute", "review"),
    "repair": ("choose", "review"),
    "choose": ("repair", "policy"),
    "coding": ("consult", "review"),
    "tool": ("review",),
    "delegate": ("execute",),
    "execute": ("consult", "review"),
    "review": ("policy", "repair", "llm_pre_plan", "llm_plan", "accept", "end"),
    "accept": ("end",),
}
MODEL_NODES: Final[tuple[NodeName, ...]] = tuple(name for name in ROUTES if name not in PLAIN_NODES)
"""Those that may wait for a model or for the user."""


def function_of(name: NodeName) -> Any:
    """A node's function: of one of `MODEL_NODES`, what it returns is to be awaited."""
    return getattr(import_module(f"codur.nodes.{name}"), name)


def route(state: RunState) -> Route:
    """Where the run goes next: what the last node decided."""
    return state["route"]


def fingerprint() -> str:
    """What tells this graph from that of another version: a run that is cut off is gone on with in the same one."""
    # The state's fields, too: an update of another version may lack one or bring one.
    shape = f"{START_NODE} {sorted(ROUTES.items())} {sorted(RunState.__annotations__)}"
    return hashlib.sha256(shape.encode()).hexdigest()[:12]
