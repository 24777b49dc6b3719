"""The success criteria of a step, as far as code can check them. Shared by the nodes that carry steps out."""

from __future__ import annotations

from collections.abc import Collection

from codur.errors import WorkspaceError
from codur.nodes.state import RunContext
from codur.planning.criteria import Outcome, unmet
from codur.types import Step


def not_met(step: Step, output: str, exit_status: int | None, changed: Collection[str], context: RunContext) -> str:
    """A sentence that names the first criterion which does not hold; empty if there is none.

    Args:
        exit_status: of the program that the step ran; None if it ran none.
        changed: paths that the step changed.
    """
    if not step.success_criteria:
        return ""
    outcome = Outcome(output=output, exit_status=exit_status, changed=changed, text=lambda path: _text(path, context))
    found = unmet(step.success_criteria, outcome)
    return f"not met: {found}" if found else ""


def _text(path: str, context: RunContext) -> str | None:
    try:
        return context.workspace.read_text(path).text if context.workspace.is_file(path) else None
    except WorkspaceError:
        return None
