"""Phase 1: one small, fast call that classifies the task."""

from __future__ import annotations

from collections.abc import Sequence

from codur.config.prompts import PromptLibrary
from codur.config.settings import Settings
from codur.llm.model import ChatRequest
from codur.llm.pool import ModelPool
from codur.planning.facts import discovery_text, file_list
from codur.planning.replies import PrePlanReply, ask
from codur.types import CODE_TASKS, Action, Discovery, Message, Plan, Step, Verdict
from codur.verification.describe import check_text, verdict_line

ANSWER_TOKENS = 700
PROMPT_CHARS = 4000
TEMPERATURE = 0.2


async def classify(
    prompt: str,
    discovery: Discovery,
    before: Verdict | None,
    files: Sequence[str],
    *,
    pool: ModelPool,
    prompts: PromptLibrary,
    settings: Settings,
) -> PrePlanReply:
    """Ask the fast profile what kind of task this is.

    Raises:
        ModelAnswerError, ModelUnavailable, LimitReached: as `replies.ask`.
    """
    request = ChatRequest(
        purpose="classification",
        messages=(
            Message(role="system", content=_system(prompts)),
            Message(
                role="user",
                content=prompts.render(
                    "llm_pre_plan.task",
                    task=prompt[:PROMPT_CHARS],
                    findings=discovery_text(discovery),
                    files=file_list(files),
                    check=check_text(discovery.check),
                    verdict=verdict_line(before),
                ),
            ),
        ),
        temperature=TEMPERATURE,
        max_completion_tokens=ANSWER_TOKENS,
    )
    return await ask(
        pool, settings.llm.fast_profile, request, PrePlanReply, attempts=settings.planning.max_retry_attempts
    )


def edit_plan(coder: str, *, edits: bool, reason: str, confidence: float = 1.0) -> Plan:
    """The plan of a single edit.

    Args:
        coder: name of the agent.
        edits: whether it edits in one answer; else it is delegated to.
    """
    action: Action = "coding" if edits else "delegate"
    step = Step(id="edit", action=action, capability=coder, objective=reason, tier="open")
    return Plan(steps=(step,), origin="pre_plan", reason=reason, confidence=confidence)


def plan_from(reply: PrePlanReply, *, threshold: float, coder: str, coder_edits: bool, explainer: str) -> Plan | None:
    """The plan that a confident classification settles; None if the task needs a plan of its own.

    Args:
        threshold: confidence from which a classification may route.
        coder, explainer: names of the agents for code tasks and for explanations.
        coder_edits: whether the coder edits in one answer; else it is delegated to.
    """
    if reply.confidence < threshold:
        return None
    if reply.task_type in CODE_TASKS and reply.suggested_action == "edit":
        return edit_plan(coder, edits=coder_edits, reason=reply.reasoning, confidence=reply.confidence)
    if reply.task_type == "explanation" and reply.suggested_action == "explain":
        step = Step(id="explain", action="delegate", capability=explainer, objective=reply.reasoning, tier="open")
        return Plan(steps=(step,), origin="pre_plan", reason=reply.reasoning, confidence=reply.confidence)
    return None


def _system(prompts: PromptLibrary) -> str:
    return prompts.render("llm_pre_plan") + "\n" + prompts.render("llm_pre_plan.examples")
