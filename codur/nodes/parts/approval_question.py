"""Whether the user is asked before a plan is carried out, and what follows from the answer. Part of `policy`."""

import shlex

from codur.events import PlanShown
from codur.mcp.offered_tools import server_of
from codur.nodes.parts.updates import about_code, blocked, can_ask, edits, go, output_of
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.planning.approval import Means, covers, effects_of, needs_approval
from codur.planning.patterns.classify import means_everywhere
from codur.planning.plans.step_references import UnresolvedReference, escaped, filled_step, named_command
from codur.questions import Answer, PlanEffects, Question, granted_by
from codur.structs import replace
from codur.types import CODE_TASKS, Origin, Outcome, Plan, Step

_MCP_TOOLS = frozenset({"call_mcp_tool", "read_mcp_resource", "list_mcp_tools", "list_mcp_resources"})
REJECTIONS = 1  # a second refusal says that a model does not understand what is wanted
"""Plans that are made anew after the user has rejected one."""
_NOBODY = "the plan needs your approval, and there is nobody to ask"
_NOBODY_FOR_TESTS = "the tests that judge it would be changed too ({tests}), and there is nobody to ask"


def end_run(origin: Origin, outcome: Outcome, reason: str, remedy: str = "", recorded: str = "") -> RunUpdate:
    """The end that policy decides; on record with its reason, unless another is given for that."""
    return go("end", origin=origin, why=recorded or reason, outcome=outcome, reason=reason, remedy=remedy)


def ask_first(plan: Plan, problem: str, state: RunState, context: RunContext) -> RunUpdate | None:
    """The question whether to carry out the plan, in any case if it has a `problem`; None if it need not be asked."""
    task, does = state["task"], effects(plan, state, context)
    # Who cannot be asked has said so already; nothing but the name changes in the tests.
    renames = plan.origin == "repair" and all(step.capability == "rename_symbol" for step in plan.steps)
    said = task.may_edit_tests or (context.consult is None and renames and means_everywhere(task.prompt))
    asked_for = task.show_plan or plan.asks or (bool(does.tests) and not said)
    if not problem and not needs_approval(does, context.settings.planning, asked_for=asked_for):
        return None
    if plan.origin in {"pattern", "llm_error"} and not does.kinds:
        return None  # nothing is done: an answer, or the end
    # By what it does and not by its text: a new plan that does no more was approved of with the old one.
    if not problem and (task.approved or covers(state["approved"], does)):
        if task.show_plan and task.approved:
            context.emit(PlanShown(plan=plan, effects=does))
        return None
    if context.consult is None and does.tests and not (task.show_plan or plan.asks):
        why = _NOBODY_FOR_TESTS.format(tests=", ".join(does.tests))
        return end_run(plan.origin, "refused", why, "Allow it with --may-edit-tests.")
    if context.consult is None:
        return refused(_NOBODY, plan, context)
    question = Question(kind="approval", text=problem, plan=plan, effects=does, renews=_renews(plan, state, context))
    return go("consult", origin=plan.origin, why="the plan needs approval", question=question)


def ask_late(step: Step, plan: Plan, state: RunState, context: RunContext) -> RunUpdate | None:
    """The question about a step of which the plan did not tell what it does; None if it need not be asked.

    That is a command that an earlier step gave, or a tool that was chosen only now. Who approved of the plan has seen
    no more of it than a reference, or nothing. What is asked about is the rest of the plan, which is carried out as it
    was shown.
    """
    task = state["task"]
    if task.approved or not (named_command(step) or step.decide):
        return None
    try:
        arguments = filled_step(step, lambda name: output_of(name, state, context))
    except UnresolvedReference:
        return None  # the step itself tells it
    # As it will be carried out, with what looks like a reference in an output made harmless.
    shown = {name: escaped(value) if isinstance(value, str) else value for name, value in arguments.items()}
    # First this step alone: if it needs no approval, the user is not asked about the rest of a plan that was shown
    # already.
    alone = replace(plan, steps=(replace(step, arguments=shown),))
    does = effects(alone, state, context)
    if not needs_approval(does, context.settings.planning, asked_for=task.show_plan) or covers(state["approved"], does):
        return None
    if context.consult is None:
        return refused(_NOBODY, plan, context)
    lost = blocked(state)
    later = (item for item in plan.steps[state["cursor"] + 1 :] if item.id not in lost)
    rest = replace(plan, steps=(*alone.steps, *later))
    does = effects(rest, state, context)
    question = Question(kind="approval", plan=rest, effects=does, renews=_renews(rest, state, context))
    why = f"{'a tool' if step.decide else 'a command'} is known only now, and needs approval"
    return go("consult", origin=plan.origin, why=why, plan=rest, cursor=0, question=question)


def rejected(answer: Answer, plan: Plan, state: RunState, context: RunContext) -> RunUpdate:
    """What follows when the user says no: one new plan that knows the reason, or the end."""
    why = answer.text.strip()
    if answer.decision == "nobody":
        return refused(_NOBODY, plan, context)
    if why and _renews(plan, state, context):
        reason = f"the user rejected it: {why}"
        return go("llm_plan", origin="user", tier="open", why=reason, rejections=1, reason=reason)
    return end_run("user", "refused", f"you rejected the plan{f': {why}' if why else ''}")


def _renews(plan: Plan, state: RunState, context: RunContext) -> bool:
    """Whether the reason of a rejection makes a new plan."""
    return plan.origin != "pattern" and state["rejections"] < REJECTIONS and can_ask(state, context)


def refused(reason: str, plan: Plan, context: RunContext) -> RunUpdate:
    """The end of a run whose plan is not approved of; the plan is kept."""
    path = context.keep_plan(plan)
    if path:
        remedy = f"Look at it, then carry it out with: codur run --plan-file {path} --yes"
        return end_run(plan.origin, "refused", reason, remedy)
    remedy = "Give --yes to approve of it beforehand."
    return end_run(plan.origin, "refused", f"{reason}; --yes approves of it", remedy)


def effects(plan: Plan, state: RunState, context: RunContext) -> PlanEffects:
    """What carrying out the plan will do."""
    runtime, agents = context.settings.runtime, context.settings.agents
    does = effects_of(
        plan,
        Means(
            tools=context.toolbox.effects(),
            edits=lambda step: edits(step, context),
            delegates=lambda step: _hands_over(step, context),
            attempts=runtime.max_iterations,
            agent_steps=max((config.max_steps for config in agents.configs.values()), default=1),
            check=lambda step: _check_of(step, plan, state, context),
            networked=lambda step: _asks_over_network(step, context),
        ),
    )
    # What the user let be changed when the step asked for it is not asked about again.
    told = (context.artifacts.get(item.output_ref) for item in state["records"] if item.node == "consult" and item.ok)
    granted = {path for text in told for path in granted_by(text)}
    tests = tuple(path for path in state["discovery"].edits_tests if path not in granted)
    return replace(does, tests=tests if "write" in does.kinds else ())


def _hands_over(step: Step, context: RunContext) -> str:
    """The program of somebody else that works on the step; empty if none does."""
    if step.action != "delegate" or not context.agents.knows(step.capability):
        return ""
    config = context.agents.resolve(step.capability).config
    return "" if config.type in {"coding", "llm"} else shlex.join(config.command) or f"the agent {step.capability}"


def _asks_over_network(step: Step, context: RunContext) -> bool:
    """Whether a step asks an MCP server that is reached over the network, or reaches it; one not known counts."""
    servers = context.toolbox.mcp
    own = server_of(step.capability)
    if step.action != "tool" or servers is None or not (own or step.capability in _MCP_TOOLS):
        return False
    named = own or str(step.arguments.get("server") or server_of(str(step.arguments.get("tool", ""))))
    names = (named,) if named in servers.names() else servers.names()
    return any(server.url is not None or server.network for server in map(servers.server, names))


def _check_of(step: Step, plan: Plan, state: RunState, context: RunContext) -> str:
    """The command by which `review` will judge the step; empty if it will not."""
    check = state["discovery"].check
    if check is None or plan.origin == "pattern" or (plan.origin == "user" and not about_code(plan, state)):
        return ""
    return check.label if edits(step, context, code=state["discovery"].task_type in CODE_TASKS) else ""
