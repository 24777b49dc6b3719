"""What the user's own words allow a step that edits, beyond what it may do anyway."""

from codur.checks.entry import is_test_code
from codur.checks.stated_conditions import allowed_by
from codur.nodes.parts.updates import current_step
from codur.nodes.run_state import RunContext, RunState
from codur.planning.plans.validation import asks_to_delete
from codur.structs import replace
from codur.types import Check, Discovery


def answers(state: RunState, context: RunContext) -> list[str]:
    """What the user answered when the current step asked, each with its question."""
    step = current_step(state)
    asked = [item for item in state["records"] if item.node == "consult" and item.ok and item.step_id == step.id]
    return [context.artifacts.get(item.output_ref) for item in asked]


def may_delete(state: RunState, context: RunContext) -> bool:
    """Whether files may be deleted: the user speaks of that, or a test of this conversation is to be revised."""
    said = (state["task"].prompt, *state["guidance"], *answers(state, context))
    return any(map(asks_to_delete, said)) or any(map(is_test_code, state["task"].made))


def without_freed_tests(state: RunState, context: RunContext) -> Discovery:
    """What is known of the task; tests that the user's answers name are no part of the check, and may be changed."""
    discovery = state["discovery"]
    check, said = (
        discovery.check,
        "\n".join(text.rpartition("\nThe user answered: ")[2] for text in answers(state, context)),
    )
    named = {path for path in (check.protected if check else ()) if is_test_code(path) and allowed_by(said, path)}
    if check is None or not named:
        return discovery

    def without(of: Check) -> Check:
        return replace(of, protected=tuple(path for path in of.protected if path not in named))

    context.checker.free(named)
    return replace(discovery, check=replace(without(check), beside=without(check.beside) if check.beside else None))
