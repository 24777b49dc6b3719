"""The graph on one screen: which node is which function, where each may go, and the one route function.

Both ways of running (`walk`, without langgraph, and `build`, the compiled LangGraph) are made from these tables.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from typing import Final

from codur.nodes.choose import choose
from codur.nodes.coding import coding
from codur.nodes.consult import consult
from codur.nodes.delegate import delegate
from codur.nodes.execute import execute
from codur.nodes.llm_plan import llm_plan
from codur.nodes.llm_pre_plan import llm_pre_plan
from codur.nodes.pattern_plan import pattern_plan
from codur.nodes.policy import policy
from codur.nodes.repair import repair
from codur.nodes.review import review
from codur.nodes.state import NodeName, Route, RunContext, RunState, RunUpdate
from codur.nodes.tool import tool

PlainNode = Callable[[RunState, RunContext], RunUpdate]
ModelNode = Callable[[RunState, RunContext], Awaitable[RunUpdate]]

STEP_LIMIT: Final = 350
"""Super-steps of one run at most; every loop has its own, tighter bound, this one catches what they miss."""

START_NODE: Final[NodeName] = "pattern_plan"

PLAIN_NODES: Final[dict[NodeName, PlainNode]] = {
    "pattern_plan": pattern_plan,
    "policy": policy,
    "repair": repair,
    "tool": tool,
    "delegate": delegate,
    "review": review,
}
MODEL_NODES: Final[dict[NodeName, ModelNode]] = {
    "consult": consult,
    "llm_pre_plan": llm_pre_plan,
    "llm_plan": llm_plan,
    "choose": choose,
    "coding": coding,
    "execute": execute,
}

ROUTES: Final[dict[NodeName, tuple[Route, ...]]] = {
    "pattern_plan": ("llm_pre_plan", "llm_plan", "policy"),
    "llm_pre_plan": ("llm_plan", "policy"),
    "llm_plan": ("policy",),
    "policy": ("consult", "repair", "coding", "tool", "delegate", "llm_plan", "end"),
    "consult": ("policy", "review"),
    "repair": ("choose", "review"),
    "choose": ("repair",),
    "coding": ("review",),
    "tool": ("review",),
    "delegate": ("execute",),
    "execute": ("review",),
    "review": ("policy", "repair", "llm_pre_plan", "llm_plan", "end"),
}


def route(state: RunState) -> Route:
    """Where the run goes next: what the last node decided."""
    return state["route"]


def fingerprint() -> str:
    """What tells this graph from that of another version: a run that is cut off is gone on with in the same one."""
    shape = f"{START_NODE} {sorted(ROUTES.items())} {sorted(RunState.__annotations__)}"
    return hashlib.sha256(shape.encode()).hexdigest()[:12]
