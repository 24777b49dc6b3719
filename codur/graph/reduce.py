"""Applies a node's update to the state, as LangGraph does."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast, get_type_hints

from codur.nodes.run_state import RunState, RunUpdate


def apply(state: RunState, update: RunUpdate) -> RunState:
    """The state after an update: reducers add, other fields are replaced, as LangGraph does."""
    merged: dict[str, Any] = dict(state)
    reducers = _reducers()
    for key, value in update.items():
        merged[key] = reducers[key](merged[key], value) if key in reducers else value
    return cast("RunState", merged)


@cache
def _reducers() -> dict[str, Callable[[Any, Any], Any]]:
    """The reducer of each field that has one, read from the annotations of `RunState`."""
    hints = get_type_hints(RunState, include_extras=True)
    return {key: hint.__metadata__[0] for key, hint in hints.items() if hasattr(hint, "__metadata__")}
