"""Small helpers that nodes share to write their updates."""

import json
import re
from collections.abc import Collection, Iterable
from typing import Unpack

from codur import checks, planning
from codur.agents.registry import Agent
from codur.checks import suites
from codur.errors import CodurError, LimitReached, ModelAnswerError, ModelUnavailable, WorkspaceError
from codur.events import FileChanged, Note
from codur.lazy import regex
from codur.mcp.offered_tools import server_of
from codur.nodes.parts.finding import asks_for_tests, keeps, rest_may_be_apart
from codur.nodes.run_state import DATA, NodeName, Route, RunContext, RunState, RunUpdate
from codur.planning.patterns.refusals import is_about_prose, keeps_a_part
from codur.planning.plans.first_plan import SEARCH
from codur.planning.plans.step_references import Output, blocked_by, escaped
from codur.planning.plans.success_criteria import checkable, of_exit, said_of
from codur.tools import code
from codur.tools.tool import ToolError
from codur.types import (
    CODE_TASKS,
    LOOKING_TASKS,
    Check,
    Origin,
    Outcome,
    Plan,
    RouteStep,
    Step,
    StepRecord,
    Tier,
    Verdict,
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
    r"(?:check|lint|test|is|are|does|do|did|has|have)\b",
    re.IGNORECASE,
)
"""A clause that begins with a word of asking: where a command fails, that is the answer."""
_POLITE_ORDER = regex(
    r"\W*(?:please )?(?:can|could|would|will) you (?:please )?(?!tell|explain|show|list|say|check|look|see)\w",
    re.IGNORECASE,
)
_COMMAND_CHARS = 100
_PLAIN_ACTIONS = frozenset({"tool", "respond", "ask"})
_SHOWN_LINES = 60
_SHOWN_CHARS = 400
"""Lines of a file's diff that are told while a run goes on, and characters of each: an event is no place for a file."""
_RUNS_OF_MADE = 8  # red twice, green twice with the project's own after it, and an attempt that fails
_RUN_BY_PYTEST = (".py", ".ipynb")  # what a test for pytest can run
_LEAST_CALLS = 2  # model calls that must be left for a test to be made: one for it, one for the edit


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
        if can_run(agent, context):
            return agent, notes
        notes.append(f"{agent.name} is skipped: {cannot_run(agent, context)}")
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
    may = context.settings.tools
    allowed = {"", *(["allow_git_write"] if may.allow_git_write else [])}
    tools = ((name, context.toolbox.get(name)) for name in context.toolbox.names() if name not in without)
    return [name for name, tool in tools if tool is None or tool.permission in allowed]


def can_run(agent: Agent, context: RunContext) -> bool:
    """Whether an agent can be set to work: its program is here and has its key, or its model can be asked."""
    return not cannot_run(agent, context) if agent.external else context.models.available(agent.profile)


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
        return tool is not None and tool.side_effect == "write"
    if step.action == "delegate":
        if context.agents.is_external(step.capability):
            return code
        if not context.agents.knows(step.capability):
            return True
        return agent_may_edit(step.capability, context) and (code or context.agents.only_codes(step.capability))
    return step.action in {"coding", "repair"}


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
    return [each.path for each in changes if each.path in kept or not (each.kind == "made" or ignores(each.path))]


def may_be_changed(context: RunContext) -> bool:
    """Whether programs changed something, or it is not known what they did."""
    return not context.workspace.sees_programs or bool(changed_by_programs(context))


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
    asks = _ASKS.search(prompt) and not _POLITE_ORDER.match(prompt)
    if asks and plan.origin in {"pre_plan", "plan"} and not any(edits(step, context) for step in plan.steps):
        return ""
    # An order that only words came of: they say why it was not carried out, whatever passed before.
    words = plan.origin in {"pre_plan", "plan"} and all(step.action in {"delegate", "respond"} for step in plan.steps)
    return "nothing was changed" if verdict is None or not verdict.passed or words else ""


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
    data = outputs.get(f"{step_id}.{DATA}")
    return Output(
        text=context.artifacts.get(outputs[step_id]), data=json.loads(context.artifacts.get(data)) if data else None
    )


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


def can_repair(state: RunState, context: RunContext) -> bool:
    """Whether an offline search makes sense: a red check, Python sources, not switched off."""
    return not why_no_search(state, context)


def _more_than_a_fix(state: RunState, check: Check, context: RunContext) -> str:
    """What a task asks for that a search knows nothing of; empty if nothing."""
    is_fix = state["discovery"].task_type == "code_fix" or context.workspace.changed_files()
    if not (is_fix or check.kind == "output"):  # the whole output says what is wanted; tests may say else
        return (
            "The task asks for more than a fix, and a search only mends what the check finds wrong; `codur repair` "
            "does that."
        )
    if is_about_prose(state["task"].prompt):
        return "The task is about what people read, and a search mends what the check finds wrong; a model reads it."
    if keeps_a_part(state["task"].prompt):
        return "The task says what has to stay as it is, and a search knows nothing of that; a model reads it."
    return ""


def why_no_search(state: RunState, context: RunContext) -> str:
    """Why no offline search is made, in a sentence; empty if one can be."""
    before, check, tools = state["before"], state["discovery"].check, context.settings.tools
    asked = state["task"].repair is not None
    if context.settings.repair.mode == "off" and not asked:
        return "The search for a repair is switched off (repair.mode)."
    if not (tools.allow_write and tools.allow_run):
        return "Changing files and running programs is not allowed here, so no repair is searched for."
    if check is None or check.kind == "syntax":
        return "No check was found that tells a right program from a wrong one; name one with --check."
    if not any(context.workspace.list_files(pattern="*.py", limit=1)):
        return "The search for a repair mends Python, and there is none here."
    if not asked and (more := _more_than_a_fix(state, check, context)):
        return more
    if check.text or check.of_linter:
        what = "linter" if check.of_linter else "test that was made for the task"
        return f"The check is a {what}; such a one does not guide a search."
    if before is None or before.status != "failed":
        return f"The check cannot guide a search: {_not_red(before)}."
    problem = suites.run_problem.run_problem(check, before, root=context.workspace.root, python=context.python)
    if problem is not None and problem.kind in suites.run_problem.ENVIRONMENT:
        return f"{problem.text} {problem.remedy}"
    if not (asked or before.failing or any(path.endswith(".py") for path in state["discovery"].files)):
        return f"The check fails (`{before.check}`), but nothing says which Python file it is about; name the file."
    return ""


def _not_red(before: Verdict | None) -> str:
    if before is None:
        return "it was not run"
    return "it passes already" if before.passed else before.note or before.status


def not_of_the_program(state: RunState, context: RunContext) -> "suites.run_problem.RunProblem | None":
    """Why the check fails, if that is no fault of the program: it cannot run here, or what of it fails cannot."""
    task, before = state["task"], state["before"]
    check, root = state["discovery"].check, context.workspace.root
    if before is None or check is None or before.status not in {"failed", "passed"}:
        return None
    # Only where the answer would be that there is nothing to fix: what passes may be all that is wanted otherwise.
    asks = (state["discovery"].task_type == "code_fix" or task.check_is_goal) and task.repair is None
    if before.passed and (not asks or planning.plans.first_plan.says_more(task.prompt, state["discovery"])):
        return None
    problem = suites.run_problem.run_problem(check, before, root=root, python=context.python, task=task.prompt or "-")
    return problem if problem is not None and problem.kind in suites.run_problem.ENVIRONMENT else None


def may_make_check(state: RunState, context: RunContext) -> bool:
    """Whether a test for the task is worth a call: nothing fails because of it yet, and nobody named a check."""
    task, check, before = state["task"], state["discovery"].check, state["before"]
    settings, calls_left = context.settings, task.limits.max_llm_calls - context.models.usage.calls
    named = task.check_is_goal or task.check_command is not None or task.expect_file is not None
    if state["making"] or named or settings.verification.make_check == "never" or calls_left < _LEAST_CALLS:
        return False
    found = state["discovery"]
    unwanted = asks_for_tests(task.prompt) or checks.stated_output.wants_no_tests(task.prompt)
    if found.task_type not in {"code_fix", "code_generation"} or unwanted:
        return False
    if not context.workspace.list_files(limit=1):  # how what is to be made is called is for who makes it
        return False
    # No test fails for what documents say, and none for a test that is to be written or moved.
    files = (*found.files, *found.missing_files)
    subjects = [path for path in files if not (checks.entry.is_document(path) or checks.entry.is_test_code(path))]
    if files and not subjects and (found.guessed or found.task_type == "code_generation"):
        return False
    if check is not None and check.kind not in {"tests", "syntax"}:
        return False
    is_red = before is not None and before.status != "no_check" and not before.passed
    other = suites.made_for_runner.is_other(check)
    # What fails for other reasons may go on to, if each test is told apart.
    named = check is not None and ("pytest" in check.argv or (before is not None and bool(before.failing)))
    apart = named and rest_may_be_apart(state)
    if is_red and not apart:
        return False
    if not (settings.tools.allow_run and settings.tools.allow_write) or state["attempts"]:
        return False
    if context.workspace.changed_files():
        return False
    if other:  # all of its tests run each time
        ends = before is None or before.duration_s * _RUNS_OF_MADE <= context.time_left()
        return before is None or (bool(before.tests_passed) and ends)
    listed = (context.workspace.list_files(pattern=f"*{suffix}", limit=1) for suffix in _RUN_BY_PYTEST)
    return any(listed) or any(path.endswith(_RUN_BY_PYTEST) for path in state["discovery"].missing_files)


def may_keep_output(state: RunState, context: RunContext) -> bool:
    """Whether what programs print and write now is to be compared: a task may keep it, and nothing else is a check."""
    task, check, settings = state["task"], state["discovery"].check, context.settings
    named = task.check_is_goal or task.check_command is not None or task.expect_file is not None
    if state["making"] or state["attempts"] or named or settings.verification.make_check == "never":
        return False
    if state["discovery"].task_type != "refactor" or (check is not None and check.kind != "syntax"):
        return False
    may = settings.tools.allow_run and settings.tools.allow_write
    return may and not context.workspace.changed_files()


def repair_tried(state: RunState) -> bool:
    """Whether an offline search has run already."""
    return any(record.node == "repair" for record in state["records"])


def explained(state: RunState, context: RunContext) -> Plan | None:
    """The plan of telling what can be read of a file, where no model explains it; None if that is not the task."""
    path, workspace = state["discovery"].explain, context.workspace
    if not path or state["task"].agent or not code.definitions.is_read(path):
        return None
    check = checks.find_check.find_check(
        workspace, context.settings.verification, checks.find_check.CheckRequest(files=(path,))
    )
    try:
        text = planning.explanation.explanation(path, workspace, check)
    except (ToolError, WorkspaceError) as error:
        end = Step(id="explain", action="respond")
        return Plan(steps=(end,), origin="pattern", reason=error.message, outcome="not_achieved")
    step = Step(
        id="explain", action="respond", objective=f"Tell what can be read of {path}.", arguments={"text": escaped(text)}
    )
    return Plan(steps=(step,), origin="pattern", reason=f"no model explains {path}, so it is told what can be read")


def plan_after_error(error: CodurError, state: RunState, context: RunContext) -> RunUpdate:
    """What a planning node decides when no model answers: offline work if there is any, else the end."""
    told = explained(state, context)
    if told is not None:
        return RunUpdate(plan=told, cursor=0)
    if can_repair(state, context) and not repair_tried(state):
        plan = Plan(steps=(SEARCH,), origin="llm_error", reason=f"{error.message}; working offline")
    else:
        end = Step(id="end", action="respond")
        plan = Plan(steps=(end,), origin="llm_error", reason=error.message, outcome=outcome_of(error))
    return RunUpdate(plan=plan, cursor=0, **end_by(error))
