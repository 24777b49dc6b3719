"""Has a model choose where a few are left: among repairs that all pass the check, and among tools that can be next.

Without an answer, the first of the ranking is taken; of tools, what the plan says for that case.
"""

import json

from codur.errors import LimitReached, ModelError
from codur.nodes.parts.tool_decision import decided
from codur.nodes.parts.updates import go
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.planning.repair_choice import choose_patch
from codur.structs import replace


async def choose(state: RunState, context: RunContext) -> RunUpdate:
    """Ask the fast profile for the tool of a step that is left open, or for the number of a repair."""
    plan = state["plan"]
    if plan is not None and plan.steps[state["cursor"]].undecided:
        return await decided(plan, state, context)
    report = state["repair"]
    if report is None:
        raise AssertionError("there are no repairs to choose from")
    try:
        number = await choose_patch(state["task"].prompt, report.patches, _sources(state, context), context.asker)
        why = f"the model took repair {number}" if number else "the answer named no repair; the first one is taken"
    except (ModelError, LimitReached) as error:
        # No failure: the ranking has a first one, and the run goes on without the model.
        number, why = None, f"{error.message}; the first repair is taken"
    chosen = replace(report, chosen=(number or 1) - 1, chosen_by="rank" if number is None else "model")
    return go("repair", origin="repair", tier="guided", why=why, repair=chosen)


def _sources(state: RunState, context: RunContext) -> dict[str, str]:
    """The files that the repairs change, as they are."""
    changed = (json.loads(context.artifacts.get(each)) for each in state["patched"])
    workspace = context.for_models
    return {path: workspace.read_text(path).text for files in changed for path in files if not workspace.hides(path)}
