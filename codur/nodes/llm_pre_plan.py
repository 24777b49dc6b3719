"""Phase 1: one small call classifies the task."""

from __future__ import annotations

from dataclasses import replace
from posixpath import basename

from codur.errors import LimitReached, ModelAnswerError, ModelUnavailable
from codur.nodes.state import RunContext, RunState, RunUpdate
from codur.nodes.updates import delegated, go, plan_after_model_error, plannable
from codur.planning.patterns.paths import MADE, SOURCE_SUFFIXES, suffix_of
from codur.planning.patterns.several import asks_for_more
from codur.planning.pre_plan import classify, edit_plan, plan_from
from codur.planning.replies import PrePlanReply
from codur.tools.repository.places import places_in
from codur.tools.repository.standing import standing
from codur.types import CODE_TASKS, Discovery, ToolSpec
from codur.workspace.workspace import Workspace

_SURE = 0.8


async def llm_pre_plan(state: RunState, context: RunContext) -> RunUpdate:
    """Ask the fast profile for the task's type; a confident answer may route without a plan."""
    others = delegated(state, context)
    if others is not None:
        return RunUpdate(plan=others, cursor=0, **go("llm_pre_plan", "policy", origin="user", reason=others.reason))
    if not context.settings.planning.use_llm_pre_plan:
        return go("llm_pre_plan", "llm_plan", origin="pattern", tier="open", reason="classification is switched off")
    if _is_settled(state, context):
        return _settled(state, context)
    spent = context.models.usage
    try:
        reply = await classify(
            state["task"].prompt,
            state["discovery"],
            state["before"],
            sorted(context.workspace.list_files(), key=standing),
            _tools(state, context),
            pool=context.models,
            prompts=context.prompts,
            settings=context.settings,
        )
    except ModelAnswerError as error:
        return RunUpdate(
            usage=context.models.usage - spent,
            **go("llm_pre_plan", "llm_plan", origin="llm_error", tier="open", reason=error.message),
        )
    except (ModelUnavailable, LimitReached) as error:
        return RunUpdate(
            usage=context.models.usage - spent,
            **plan_after_model_error(error, state, context),
            **go("llm_pre_plan", "policy", origin="llm_error", reason=error.message),
        )
    return RunUpdate(usage=context.models.usage - spent, **_decide(reply, state, context))


def _tools(state: RunState, context: RunContext) -> tuple[ToolSpec, ...]:
    """Tools that only read, one call of which may be all that a task needs that is not surely about code."""
    if state["discovery"].task_type in CODE_TASKS:
        return ()
    return context.toolbox.specs(
        [name for name in plannable(context) if (tool := context.toolbox.get(name)) and tool.side_effect == "read"]
    )


def _is_settled(state: RunState, context: RunContext) -> bool:
    """Whether there is nothing to classify: a red check, a request to edit and no more, and a place to begin at."""
    task, before, discovery = state["task"], state["before"], state["discovery"]
    if before is None or before.status != "failed" or discovery.check is None or discovery.check.kind == "syntax":
        return False
    if discovery.task_type not in CODE_TASKS or asks_for_more(task.prompt):
        return False
    if not task.check_is_goal and discovery.confidence < _SURE:
        return False
    files = context.workspace.list_files()
    own = [path for path in files if _may_be_meant(path, context)]
    if task.check_is_goal and len(own) == 1 and own[0] in discovery.files:
        return True
    if discovery.task_type != "code_fix" and discovery.missing_files:
        return False
    found = [path for path in discovery.files if path in own]
    named = [path for path in found if basename(path) in task.prompt]
    if len(named or found) == 1:
        return True
    fails_in = {place.path for place in places_in(before.error, files)} & {*own}
    return discovery.task_type == "code_fix" and bool(named or fails_in)


def _may_be_meant(path: str, context: RunContext) -> bool:
    """Whether a file is one to edit, by its name: a source of the project's own."""
    return suffix_of(path) in SOURCE_SUFFIXES and standing(path) < MADE and context.workspace.may_edit(path)


def _settled(state: RunState, context: RunContext) -> RunUpdate:
    coder = context.agents.for_discovery(state["discovery"], explicit=state["task"].agent)
    reason = "a check fails, and where to begin is known: nothing to classify"
    return RunUpdate(
        plan=edit_plan(coder.name, edits=context.agents.codes(coder.name), reason=reason),
        cursor=0,
        **go("llm_pre_plan", "policy", origin="pre_plan", reason=reason),
    )


def _decide(reply: PrePlanReply, state: RunState, context: RunContext) -> RunUpdate:
    task = state["task"]
    discovery = _merged(reply, state["discovery"], context.workspace)
    of_code = discovery if discovery.task_type in CODE_TASKS else replace(discovery, task_type="code_fix")
    coder = context.agents.for_discovery(of_code, explicit=task.agent)
    plan = plan_from(
        reply,
        _tools(state, context),
        threshold=context.settings.planning.confidence_threshold,
        coder=coder.name,
        coder_edits=context.agents.codes(coder.name),
        explainer=context.agents.for_task("explanation", explicit=task.agent).name,
    )
    if plan is None:
        reason = f"{reply.task_type}, confidence {reply.confidence:.2f}: needs a plan"
        return RunUpdate(
            discovery=discovery, **go("llm_pre_plan", "llm_plan", origin="pre_plan", tier="open", reason=reason)
        )
    return RunUpdate(
        discovery=discovery,
        plan=plan,
        cursor=0,
        **go("llm_pre_plan", "policy", origin="pre_plan", tier="guided", reason=reply.reasoning),
    )


def _merged(reply: PrePlanReply, discovery: Discovery, workspace: Workspace) -> Discovery:
    """The discovery with what the model adds: a type where rules had none, and files that exist."""
    sure = discovery.task_type in CODE_TASKS and reply.task_type not in CODE_TASKS
    extra = tuple(path for path in reply.detected_files if path not in discovery.files and workspace.is_file(path))
    return replace(
        discovery,
        task_type=discovery.task_type if sure else reply.task_type,
        confidence=reply.confidence,
        files=(*discovery.files, *extra),
    )
