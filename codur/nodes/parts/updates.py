"""Small helpers that nodes share to write their updates."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Unpack

from codur.agents.registry import Agent
from codur.errors import CodurError, LimitReached, ModelAnswerError, ModelUnavailable
from codur.events import FileChanged, Note
from codur.lazy import regex
from codur.mcp.offered_tools import server_of
from codur.nodes.parts.finding import keeps
from codur.nodes.run_state import DATA, NodeName, Route, RunContext, RunState, RunUpdate
from codur.planning.patterns.classify import classify, ordered_of_git
from codur.planning.patterns.prompt_tokens import read_prompt
from codur.planning.plans.step_references import Output, blocked_by
from codur.planning.plans.success_criteria import checkable, of_exit, said_of
from codur.questions import NAMED_COMMAND, NOT_COMMITTED
from codur.tools import git
from codur.types import (
    CODE_TASKS,
    LOOKING_TASKS,
    Origin,
    Outcome,
    Plan,
    RouteStep,
    Step,
    StepRecord,
    Tier,
)
from codur.workspace import history
from codur.workspace.private import may_hold_secrets

CONVERSATION_TOOLS = frozenset({"ask_user", "list_tools"})
SERVER_TOOLS = frozenset({"list_mcp_tools", "call_mcp_tool", "list_mcp_resources", "read_mcp_resource"})
NEEDS_ANSWER = "the task needs an answer from you first"
_CLAUSE = r"(?:\A|[.;:!]\s|\n)[^\w./]*"
_ASKS = regex(
    rf"\?|(?:{_CLAUSE}|\b(?:and|then|please|just|know|see|find out|(?:can|could|would) you)\s)"
    r"(?:(?:tell|show|list|report|say|count|what|which|who|where|why|whether|how)\b"
    r"|(?:run|execute) (?:(?:the|our|my|all) )*(?:(?!make\b)[\w-]+ )?(?:linters?|checks?|tests?|type checker)\b)"
    rf"|{_CLAUSE}(?:(?:can|could|would) you )?(?:please |just )?"
    r"(?:check|lint|test|is|are|does|do(?! not\b)|did|has|have)\b",
    re.IGNORECASE,
)
"""A clause that begins with a word of asking: where a command fails, that is the answer."""
_COMMAND_CHARS = 100
_OF_PYTHON = frozenset({"rename_symbol", "lint_python", "python_ast_outline", "python_ast_dependencies"})
"""Tools that read Python files, which have to be there."""
_PLAIN_ACTIONS = frozenset({"tool", "respond", "ask"})
_SHOWN_LINES = 60
_SHOWN_CHARS = 400
"""Lines of a file's diff that are told while a run goes on, and characters of each: an event is no place for a file."""


def go(
    to: Route, *, origin: Origin, tier: Tier = "deterministic", why: str = "", **update: Unpack[RunUpdate]
) -> RunUpdate:
    """What a node changes, and where the run goes, with the decision on record (its node is told where it runs)."""
    return RunUpdate(**update, route=to, trail=[RouteStep(node="", route=to, origin=origin, tier=tier, reason=why)])


def warn(texts: Iterable[str], context: RunContext, *, told: Collection[str] = ()) -> list[str]:
    """Tell the user what was not told before; gives that, for the notes."""
    new = [text for text in texts if text and text not in told]
    for text in new:
        context.emit(Note(level="warning", text=text))
    return new


def end_by(error: CodurError) -> RunUpdate:
    """How a run ends that no model's answer keeps going, and why."""
    return RunUpdate(outcome=outcome_of(error), reason=error.message, remedy=error.remedy)


def tell_changes(paths: Iterable[str], context: RunContext) -> None:
    """Emit what changed in these files since the run began."""
    changes = {change.path: change for change in context.workspace.changes()}
    for path in paths:
        if path in changes:
            added, removed = history.diff.line_counts(changes[path].before, changes[path].after)
            shown = "" if may_hold_secrets(path) else changes[path].diff()
            rows = shown.splitlines(keepends=True)[:_SHOWN_LINES]
            diff = "".join(row if len(row) <= _SHOWN_CHARS else f"{row[:_SHOWN_CHARS]}…\n" for row in rows)
            context.emit(FileChanged(path=path, added=added, removed=removed, diff=diff))


def why_not(state: RunState, context: RunContext) -> ModelUnavailable:
    """The error for a task that needs a model and has none."""
    agent = worker(state, context)
    obstacle = context.externals.obstacle(agent) if agent.external else None
    if obstacle is not None:
        return ModelUnavailable(f"The agent {agent.name} cannot run here: {obstacle.text}.", remedy=obstacle.remedy)
    return context.models.why_unavailable(_profile(state, context))


def can_ask(state: RunState, context: RunContext) -> bool:
    """Whether somebody can be asked for this task: a model, the default or the user's, or the agent that it is for."""
    agent, _ = first_able(worker(state, context), state, context)
    return agent is not None or context.models.available(_profile(state, context))


def worker(state: RunState, context: RunContext) -> Agent:
    """The agent whom the task is for: who took over, whom the user named, or whom routing gives it."""
    return context.agents.for_discovery(state["discovery"], explicit=state["coder"] or state["task"].agent or None)


def require_room(state: RunState, context: RunContext) -> None:
    """LimitReached if the agent that the task is for cannot be told it whole, before a call is spent."""
    agent = worker(state, context)
    if not agent.external:
        context.models.sizes.require_room(agent.profile, state["task"].prompt)


def first_able(wanted: Agent, state: RunState, context: RunContext) -> tuple[Agent | None, list[str]]:
    """The wanted agent or, if it cannot run, the first of `fallback_order` that can; and why others are passed over."""
    in_words = state["discovery"].task_type not in CODE_TASKS
    notes: list[str] = []
    for agent in (wanted, *context.agents.fallbacks(besides=wanted.name, in_words=in_words)):
        # For the profile of a model another one may stand in.
        able = not agent.external and context.models.available(agent.profile)
        problem = "" if able else cannot_run(agent, context)
        if not problem:
            return agent, notes
        notes.append(f"{agent.name} is skipped: {problem}")
    return None, notes


def delegated(state: RunState, context: RunContext) -> Plan | None:
    """The plan of a task that falls to an agent which is another program and can run: no model is asked about it."""
    agent = worker(state, context)
    if not agent.external or first_able(agent, state, context)[0] is None:
        return None
    step_id = "edit" if state["discovery"].task_type in CODE_TASKS else "answer"
    step = Step(id=step_id, action="delegate", capability=agent.name, tier="open")
    return Plan(steps=(step,), origin="user", reason=f"the task is for {agent.name}")


def plannable(context: RunContext) -> list[str]:
    """The tools that a step can name: none that is switched off or serves a conversation, nor servers' without any."""
    without = CONVERSATION_TOOLS if context.toolbox.mcp is not None else CONVERSATION_TOOLS | SERVER_TOOLS
    if not context.workspace.list_files(pattern="*.py", limit=1):
        without |= _OF_PYTHON
    allowed = {"", *(["allow_git_write"] if context.settings.tools.allow_git_write else [])}
    tools = ((name, context.toolbox.get(name)) for name in context.toolbox.names() if name not in without)
    return [name for name, tool in tools if tool is None or tool.permission in allowed]


def cannot_run(agent: Agent, context: RunContext) -> str:
    """Why an agent cannot work in this run; empty if nothing speaks against it."""
    if not agent.external:
        return context.models.problem(agent.profile)
    obstacle = context.externals.obstacle(agent)
    return obstacle.text if obstacle is not None else ""


def _profile(state: RunState, context: RunContext) -> str | None:
    """The profile that is asked: that of the agent that took over or that the user named, else the default one."""
    agent = state["coder"] or state["task"].agent
    return context.agents.resolve(agent).profile or None if agent else None


def edits(step: Step, context: RunContext, *, code: bool = True) -> bool:
    """Whether a step may change files; where the task is not about code, only what does nothing but edit."""
    if step.action == "tool":
        tool = context.toolbox.get(step.capability)
        # What is done to the repository changes no file that a check judges.
        return tool is not None and tool.side_effect == "write" and not tool.permission
    if step.action == "delegate":
        if context.agents.is_external(step.capability):
            return code
        if not context.agents.knows(step.capability):
            return True
        return agent_may_edit(step.capability, context) and (code or context.agents.only_codes(step.capability))
    return step.action in {"coding", "repair"}


def writes_git(capability: str, context: RunContext) -> bool:
    """Whether this is a tool that writes the repository."""
    tool = context.toolbox.get(capability)
    return tool is not None and tool.permission == "allow_git_write"


def may_change(step: Step, context: RunContext) -> bool:
    """Whether a step may change files, if only by a program that it runs."""
    tool = context.toolbox.get(step.capability) if step.action == "tool" else None
    return edits(step, context) or (tool is not None and tool.side_effect == "run")


def changed_by_programs(context: RunContext) -> list[str]:
    """The files that programs changed; what git ignores is a build's or a test run's, and no work."""
    workspace = context.workspace
    changes = workspace.command_changes()
    kept = set(workspace.list_files()) if changes else set()
    ignores = workspace.ignores
    told = (each for each in changes if each.kind != "made" or (workspace.root / each.path).is_symlink())
    return sorted({each.path for each in changes if each.path in kept} | {e.path for e in told if not ignores(e.path)})


def may_be_changed(context: RunContext) -> bool:
    """Whether programs changed something, or it is not known what they did."""
    return not context.workspace.programs.watches or bool(changed_by_programs(context))


def agent_may_edit(agent: str, context: RunContext) -> bool:
    """Whether an agent changes files that is asked in words (a profile by itself then explains)."""
    config = context.agents.resolve(agent, in_words=True).config
    tools = [context.toolbox.get(name) for name in config.tools if not server_of(name)]  # these change nothing here
    return config.type == "coding" or any(tool is not None and tool.side_effect == "write" for tool in tools)


def unfinished(state: RunState, context: RunContext) -> str:
    """Why a task about code is not done, whatever the plan's last step says; empty if nothing speaks against it."""
    if state["discovery"].task_type not in CODE_TASKS:
        return ""
    verdict = state["verdict"]
    if verdict is not None and verdict.status not in {"passed", "no_check"} and not keeps(verdict, state):
        return "the check does not pass"
    if context.workspace.changed_files() or changed_by_programs(context):
        return ""
    plan, prompt = present_plan(state), state["task"].prompt
    if any(record.ok and writes_git(record.capability, context) for record in state["records"]):
        return ""
    # "Why does it fail? Fix it." asks, and orders as well.
    asks = _ASKS.search(prompt) and classify(read_prompt(prompt).tokens).task_type not in CODE_TASKS
    if asks and plan.origin in {"pre_plan", "plan"} and not any(edits(step, context) for step in plan.steps):
        return ""
    # An order that only words came of: they say why it was not carried out, whatever passed before.
    words = plan.origin in {"pre_plan", "plan"} and all(step.action in {"delegate", "respond"} for step in plan.steps)
    return "nothing was changed" if verdict is None or not verdict.passed or words else ""


def held_to_git(update: RunUpdate, state: RunState, context: RunContext) -> RunUpdate:
    """An end as done, if what the task orders to be done to the repository was done as well; what is finished stays.

    Where a merge or the like is still under way, and nobody ordered to go on with it, that is told.
    """
    plan = state["plan"]
    if update.get("outcome") != "done" or plan is None or state["task"].dry_run:
        return update
    # What a rule or the user planned is all that was asked for; a search for a repair may be a part of it.
    as_said = plan.origin in {"user", "pattern"} and plan.steps[0].action != "repair"
    if as_said or state["task"].repair is not None or plan.steps[-1].id == NAMED_COMMAND:
        return update
    looks, did = state["discovery"].task_type in LOOKING_TASKS, set(_git_deeds(state, context))
    orders = frozenset() if looks else ordered_of_git(state["task"].prompt)
    found = git.git_under_way.seen_under_way(context.workspace.root, context.launcher)
    left = list[tuple[str, str]]()
    if "branch" in orders and "git_switch" not in did:
        left.append(("no branch was made or switched to", "`git switch -c NAME` makes one."))
    if found is not None and orders & {"continue", "commit"}:
        left.append((f"{found.told}; it was not gone on with", f"This finishes it: {found.finish}"))
    elif "commit" in orders and not did & {"git_commit", "git_continue"}:
        left.append((NOT_COMMITTED, "`codur commit` commits what was changed."))
    if left:
        return _left(update, left, context)
    if found is None or not context.workspace.changed_files():
        return update
    marked = f"conflict markers are left in {found.marks}; after them: " if found.marked else "to finish it: "
    note = f"the {found.kind} is still under way; {marked}{found.finish}"
    return RunUpdate(**{**update, "notes": [*update.get("notes", []), *warn([note], context, told=state["notes"])]})


def _git_deeds(state: RunState, context: RunContext) -> Iterator[str]:
    """The tools that steps called, or that agents at work could call by themselves."""
    for record in state["records"]:
        if record.ok:
            yield record.capability
            if record.action == "delegate" and context.agents.knows(record.capability):
                yield from context.agents.resolve(record.capability).config.tools


def _left(update: RunUpdate, left: Sequence[tuple[str, str]], context: RunContext) -> RunUpdate:
    """The end with what was not done to the repository, and how the user does it; the edits stay."""
    reasons, remedies = zip(*left, strict=True)
    allowed = "" if context.settings.tools.allow_git_write else " (tools.allow_git_write: true has me do it)"
    remedy = f"{' '.join(remedies)}{allowed}"
    ended = RunUpdate(outcome="not_achieved", reason="; ".join(reasons), remedy=remedy, stays=True, solved_by="")
    return RunUpdate(**{**update, **ended})


def only_words_left(state: RunState, context: RunContext) -> bool:
    """Whether the plan's work is done and stays, whatever becomes of the words about it that are still to come."""
    plan, step = state["plan"], current_step(state)
    code = state["discovery"].task_type in CODE_TASKS
    if plan is None or not context.workspace.changed_files():
        return False
    rest = plan.steps[state["cursor"] :]
    if any(item.action not in {"delegate", "respond"} or edits(item, context, code=code) for item in rest):
        return False
    if any(record.step_id != step.id for record in failed_steps(state)):
        return False
    return bool(state["solved_by"]) or not unfinished(state, context)


def without_words(why: str, state: RunState, context: RunContext) -> RunUpdate:
    """The end of a run whose work is done, and nobody could say it in words."""
    notes = warn([f"the work is done; words about it could not be had: {why}"], context)
    last = next((item.capability for item in reversed(state["records"]) if item.ok), "")
    return RunUpdate(outcome="done", reason="", remedy="", notes=notes, solved_by=state["solved_by"] or last)


def about_code(plan: Plan, state: RunState) -> bool:
    """Whether what a plan of the user changes is judged: it is about code, or more than tool calls is asked for."""
    task_type, is_goal = state["discovery"].task_type, state["task"].check_is_goal
    return task_type in CODE_TASKS or is_goal or any(step.action not in _PLAIN_ACTIONS for step in plan.steps)


def present_plan(state: RunState) -> Plan:
    """The plan that is carried out."""
    if state["plan"] is None:
        raise AssertionError("there is no plan yet")
    return state["plan"]


def current_step(state: RunState) -> Step:
    """The step that policy let through."""
    return present_plan(state).steps[state["cursor"]]


def not_answered(node: NodeName, agent: Agent, error: CodurError, state: RunState) -> RunUpdate:
    """What becomes of a step whose agent was asked and cannot answer; `review` decides what follows."""
    step = current_step(state)
    record = StepRecord(
        step_id=step.id,
        node=node,
        action="coding" if node == "coding" or agent.config.type == "coding" else "delegate",
        capability=agent.name,
        origin="llm_error",
        tier="open",
        code="failed",
        error=error.message,
    )
    return RunUpdate(**end_by(error), **go("review", origin="llm_error", why=error.message, records=[record]))


def failed_steps(state: RunState) -> tuple[StepRecord, ...]:
    """The steps of the present plan that failed."""
    return tuple(record for record in state["records"][state["since"] :] if not record.ok)


def left_failed(state: RunState, context: RunContext) -> str:
    """Which steps of the present plan failed for good, and why; empty if none did.

    A step that succeeded later under the same id has not; nor does any count once the check says that the task is done.
    """
    verdict, code = state["verdict"], state["discovery"].task_type in CODE_TASKS or state["task"].check_is_goal
    if verdict is not None and verdict.passed and (code or context.workspace.changed_files()):
        return ""
    last = {record.step_id: record for record in state["records"][state["since"] :]}
    failed = "; ".join(f"step {name} failed: {record.error}" for name, record in last.items() if not record.ok)
    return failed or _failed_command(state, context)


def _failed_command(state: RunState, context: RunContext) -> str:
    """Which command ended with a status that says that it failed, where a model planned to run it for what it does.

    Not where it is something to know: the task asks to be told something, a tool works with what it gave, or what the
    plan says of the step names a status. A plan that edits is judged by what it edited.
    """
    plan, asks = state["plan"], state["discovery"].task_type in LOOKING_TASKS or _ASKS.search(state["task"].prompt)
    if asks or plan is None or plan.origin not in {"pre_plan", "plan"}:
        return ""
    if any(edits(step, context) for step in plan.steps):
        return ""
    known = {name for step in plan.steps if step.action == "tool" for name in step.inputs}
    for step in plan.steps:
        if step.capability != "run_command" or step.id in known or any(map(of_exit, checkable(said_of(step)))):
            continue
        output = output_of(step.id, state, context)
        status = output.data.get("exit_status") if output is not None and isinstance(output.data, dict) else None
        if status:
            command = " ".join(str(step.arguments.get("command", "")).split())
            shown = command if len(command) <= _COMMAND_CHARS else f"{command[:_COMMAND_CHARS]}…"
            return f"the command `{shown}` ended with status {status}"
    return ""


def blocked(state: RunState) -> tuple[str, ...]:
    """Ids of the steps of the present plan that cannot run, because one whose output they need failed."""
    plan = state["plan"]
    return blocked_by(plan, {record.step_id for record in failed_steps(state)}) if plan else ()


def output_of(step_id: str, state: RunState, context: RunContext) -> Output | None:
    """What a step gave, with its typed output if it has one; None if it gave nothing."""
    outputs = state["outputs"]
    if step_id not in outputs:
        return None
    ref = outputs.get(f"{step_id}.{DATA}")
    data = json.loads(context.artifacts.get(ref)) if ref else None
    return Output(text=context.artifacts.get(outputs[step_id]), data=data)


def origin_of(state: RunState) -> Origin:
    """Who made the present plan."""
    return state["plan"].origin if state["plan"] else "pattern"


def outcome_of(error: CodurError) -> Outcome:
    """How a run ends that a model's failure ended: a limit, no model reached, or answers that cannot be used."""
    if isinstance(error, LimitReached):
        return "limit"
    return "not_achieved" if isinstance(error, ModelAnswerError) else "no_model"


def hint_of(state: RunState) -> str:
    """What may help: the user's hint, and that after attempts without progress."""
    return "\n".join(filter(None, (state["task"].hint, state["steer"])))
