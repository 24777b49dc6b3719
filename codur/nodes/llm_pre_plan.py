"""Phase 1: one small call classifies the task."""

import re

from codur.errors import LimitReached, ModelAnswerError, ModelUnavailable
from codur.lazy import regex
from codur.nodes.parts.offline_work import plan_after_error
from codur.nodes.parts.sources import listed_files, task_with_git
from codur.nodes.parts.updates import delegated, go, plannable, require_room
from codur.nodes.run_state import RunContext, RunState, RunUpdate
from codur.planning.plans.first_plan import is_pure_refactoring, is_settled
from codur.planning.plans.full_plan import PlanningBrief
from codur.planning.pre_plan import Workers, classify, edit_plan, plan_from
from codur.planning.replies import PrePlanReply
from codur.structs import replace
from codur.types import CODE_TASKS, LOOKING_TASKS, Discovery, ToolSpec
from codur.workspace.workspace import Workspace

_CAN_YOU = regex(r"\W*(?:can|could|would|will) you\b", re.IGNORECASE)
"""How a wish for a deed begins that is put as a question."""


async def llm_pre_plan(state: RunState, context: RunContext) -> RunUpdate:
    """Ask the fast profile for the task's type; a confident answer may route without a plan."""
    others = delegated(state, context)
    if others is not None:
        return go("policy", origin="user", why=others.reason, plan=others, cursor=0)
    if not context.settings.planning.use_llm_pre_plan:
        return go("llm_plan", origin="pattern", tier="open", why="classification is switched off")
    files, may_edit = context.workspace.list_files(), context.workspace.may_edit
    if is_settled(state["task"], state["discovery"], state["before"], files, may_edit=may_edit):
        return _settled(state, context)
    try:
        require_room(state, context)
        brief = PlanningBrief(
            prompt=task_with_git(state, context, in_short=True),
            discovery=state["discovery"],
            files=listed_files(state, context),
            tools=_tools(state, context, reads=state["discovery"].task_type in LOOKING_TASKS),
            verdict=state["before"],
        )
        reply = await classify(brief, context.asker)
    except ModelAnswerError as error:
        return go("llm_plan", origin="llm_error", tier="open", why=error.message)
    except (ModelUnavailable, LimitReached) as error:
        found = plan_after_error(error, state, context)
        return go("policy", origin="llm_error", why=error.message, **found)
    return _decide(reply, state, context)


_ALONE = ("rename_symbol", "delete_file")
"""One call of these may be all of a task that changes working code."""


def _tools(state: RunState, context: RunContext, *, reads: bool = False) -> tuple[ToolSpec, ...]:
    """Tools: one call may be all that a task needs that is not surely about code; those that it may be."""
    if state["discovery"].task_type in CODE_TASKS:
        alone = _ALONE if state["discovery"].task_type == "refactor" else ()
        return context.toolbox.specs([name for name in plannable(context) if name in alone])
    may = context.settings.tools
    effects = {"read"}
    if not reads:
        effects |= {name for name, allowed in (("write", may.allow_write), ("run", may.allow_run)) if allowed}
    rows = ((name, context.toolbox.get(name)) for name in plannable(context))
    return context.toolbox.specs([name for name, tool in rows if tool and tool.side_effect in effects])


def _settled(state: RunState, context: RunContext) -> RunUpdate:
    coder = context.agents.for_discovery(state["discovery"], explicit=state["task"].agent)
    failed = state["before"] is not None and state["before"].status == "failed"
    discovery = state["discovery"]
    why = "a check fails, and where to begin is known" if failed else "there is no file yet"
    if is_pure_refactoring(state["task"], discovery, state["before"]):
        why, discovery = "other code is asked for that does the same", replace(discovery, task_type="refactor")
    why += ": nothing to classify"
    # The same plan that the classifier would give for what is plain, without the call.
    plan = edit_plan(coder.name, edits=context.agents.codes(coder.name), reason=why)
    return go("policy", origin="pre_plan", why=why, discovery=discovery, plan=plan, cursor=0)


def _decide(reply: PrePlanReply, state: RunState, context: RunContext) -> RunUpdate:
    task = state["task"]
    # "anything wrong with it?" tells of no fault.
    asks = task.prompt.rstrip().endswith("?") and not _CAN_YOU.match(task.prompt)
    asks = asks and reply.task_type == "explanation"
    discovery = _merged(reply, state["discovery"], context.workspace, asks=asks)
    of_code = discovery if discovery.task_type in CODE_TASKS else replace(discovery, task_type="code_fix")
    coder = context.agents.for_discovery(of_code, explicit=task.agent)
    plan = plan_from(
        reply,
        _tools(state, context, reads=reply.task_type in LOOKING_TASKS),
        Workers(
            coder=coder.name,
            coder_edits=context.agents.codes(coder.name),
            explainer=context.agents.for_task("explanation", explicit=task.agent).name,
        ),
        threshold=context.settings.planning.confidence_threshold,
    )
    red = state["before"] is not None and state["before"].status == "failed" and discovery.task_type == "code_fix"
    step = plan.steps[0] if plan is not None and plan.steps[0].action == "respond" else None
    if red and not asks and step is not None and str(step.arguments.get("text", "")).rstrip().endswith("?"):
        # "it's broken": what is broken is known, as the check says it.
        plan = edit_plan(coder.name, edits=context.agents.codes(coder.name), reason="the check says what is wrong")
    if plan is None:
        why = f"{reply.task_type}, confidence {reply.confidence:.2f}: needs a plan"
        return go("llm_plan", origin="pre_plan", tier="open", why=why, discovery=discovery)
    why = reply.reasoning
    return go("policy", origin="pre_plan", tier="guided", why=why, discovery=discovery, plan=plan, cursor=0)


def _merged(reply: PrePlanReply, discovery: Discovery, workspace: Workspace, *, asks: bool) -> Discovery:
    """The discovery with what the model adds: a type where rules had none, or for a question, and files that exist."""
    # Rules took it for a task about code by the user's own words; a small model's other opinion does not undo that.
    sure = discovery.task_type in CODE_TASKS and reply.task_type not in CODE_TASKS and not asks
    extra = tuple(path for path in reply.detected_files if path not in discovery.files and workspace.is_file(path))
    return replace(
        discovery,
        task_type=discovery.task_type if sure else reply.task_type,
        confidence=reply.confidence,
        files=(*discovery.files, *extra),
        guessed=(*discovery.guessed, *extra),
        sentence=reply.reasoning,
    )
