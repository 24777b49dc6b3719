"""Phase 1: one small, fast call that classifies the task."""

import re
import shlex
from collections.abc import Sequence

from codur.checks.describe import headline, verdict_line
from codur.llm.model import ChatRequest
from codur.parsing.bounded_text import beginning, listed
from codur.planning.plans.full_plan import PlanningBrief, demanded, discovery_text, file_list, signature
from codur.planning.plans.step_references import escaped
from codur.planning.replies import Asker, PrePlanReply, argument_values, messages
from codur.questions import NAMED_COMMAND, named_command
from codur.structs import Struct
from codur.types import CODE_TASKS, Action, Plan, Step, ToolSpec, Verdict

ANSWER_TOKENS = 700
PROMPT_CHARS = 6000
TEMPERATURE = 0.2
SHOWN_TESTS, LINE_CHARS = 5, 400
_OF_WORDS = frozenset({"explanation", "greeting", "unknown"})
_SURE_TO_END = 0.5
"""A last word to the user, or a question, does no harm: a plan that says the same costs more than one that is wrong."""
_COMMANDS = {"commit": "commit", "undo": "undo", "redo": "undo --redo"}


class Workers(Struct):
    """Names of agents for what a classification settles; a coder that does not edit in one answer is delegated to."""

    coder: str
    coder_edits: bool
    explainer: str


async def classify(brief: PlanningBrief, asker: Asker) -> PrePlanReply:
    """Ask the fast profile what kind of task this is. The brief has the tools of which a single call may be all that
    the task needs; none if it is about code.
    """
    prompts = asker.prompts
    text = prompts.render(
        "llm_pre_plan.task",
        task=beginning(brief.prompt, PROMPT_CHARS),
        findings=discovery_text(brief.discovery),
        files=file_list(brief.files),
        check=demanded(brief.discovery, brief.verdict),
        verdict=_told(brief.verdict),
        tools=", ".join(map(signature, brief.tools)) or "none",
    )
    request = ChatRequest(
        purpose="classification",
        messages=messages(f"{prompts.render('llm_pre_plan')}\n{prompts.render('llm_pre_plan.examples')}", text),
        temperature=TEMPERATURE,
        max_completion_tokens=ANSWER_TOKENS,
    )
    return await asker.ask(asker.pool.profiles.fast, request, PrePlanReply)


def edit_plan(coder: str, *, edits: bool, reason: str, confidence: float = 1.0) -> Plan:
    """The plan of a single edit; an agent that does not edit in one answer is delegated to."""
    action: Action = "coding" if edits else "delegate"
    step = Step(id="edit", action=action, capability=coder, objective=reason, tier="open")
    return Plan(steps=(step,), origin="pre_plan", reason=reason, confidence=confidence)


def plan_from(reply: PrePlanReply, tools: Sequence[ToolSpec], workers: Workers, *, threshold: float) -> Plan | None:
    """The plan that a classification as sure as `threshold` settles; None if the task needs one of its own."""
    last_word = reply.suggested_action == "end" and reply.answer and reply.task_type not in CODE_TASKS
    # Of what is to be done it would be a claim.
    only_words = last_word and (reply.task_type in _OF_WORDS or reply.answer.rstrip().endswith("?"))
    if reply.confidence < (min(threshold, _SURE_TO_END) if only_words else threshold):
        return None
    if reply.task_type in CODE_TASKS and reply.suggested_action == "edit":
        return edit_plan(workers.coder, edits=workers.coder_edits, reason=reply.reasoning, confidence=reply.confidence)
    step = None
    if reply.suggested_action == "command" and reply.capability in _COMMANDS:
        step = Step(id=NAMED_COMMAND, action="respond", arguments={"text": escaped(_command(reply))})
    elif reply.task_type == "explanation" and reply.suggested_action == "explain":
        step = Step(
            id="explain", action="delegate", capability=workers.explainer, objective=reply.reasoning, tier="open"
        )
    elif reply.suggested_action == "tool" and reply.task_type not in CODE_TASKS - {"refactor"}:
        step = _call(reply, tools)
    elif last_word:
        step = Step(id="answer", action="respond", arguments={"text": reply.answer})
    if step is None:
        return None
    return Plan(steps=(step,), origin="pre_plan", reason=reply.reasoning, confidence=reply.confidence)


def _call(reply: PrePlanReply, tools: Sequence[ToolSpec]) -> Step | None:
    """The call that the reply gives, if it is of one of the tools."""
    spec = next((spec for spec in tools if spec.name == reply.capability), None)
    if spec is None:
        return None
    arguments = argument_values(reply.arguments, spec)
    return Step(id="look", action="tool", capability=spec.name, objective=reply.reasoning, arguments=arguments)


def _command(reply: PrePlanReply) -> str:
    given = {each.name: " ".join(each.value.replace("`", "'").split()) for each in reply.arguments}
    command = _COMMANDS[reply.capability]
    if reply.capability != "commit":
        return named_command(command)
    more = [f"--{name}" for name in ("staged", "all") if given.get(name, "").lower() == "true"][:1]
    more += [f"--message={shlex.quote(given['message'])}"] if given.get("message") else []
    groups = [re.split(r"[\s,\[\]\"']+", group) for group in given.get("files", "").split(";")]
    only = [[f"--only={shlex.quote(path)}" for path in group if path and more != ["--staged"]] for group in groups]
    return "\n".join(named_command(" ".join([command, *more, *names])) for names in list(filter(None, only)) or [[]])


def _told(before: Verdict | None) -> str:
    """A verdict with the tests that fail and the line that says why, each in a line."""
    lines = [verdict_line(before)]
    if before is None or before.status != "failed":
        return lines[0]
    if before.failing:
        lines.append(f"failing: {listed(before.failing, SHOWN_TESTS)}")
    if (said := headline(before.error)) and said not in lines[0]:
        lines.append(f"error: {said}")
    return "\n".join(line[:LINE_CHARS] for line in lines)
