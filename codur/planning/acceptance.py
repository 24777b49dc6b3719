"""Criteria that code cannot decide: one small call says of each whether it is met."""

from collections.abc import Sequence

from codur.config.prompts import PromptLibrary
from codur.config.settings import Profile
from codur.llm.model import ChatRequest
from codur.llm.tokens import BYTES_PER_TOKEN
from codur.planning.replies import Asker, CriteriaReply, CriterionReply, messages
from codur.structs import Struct
from codur.tools.output_bounds import bounded

ANSWER_TOKENS = 700
SCHEMA_TOKENS = 300
MOST_CHARS = 24_000
PROMPT_CHARS = 2000


class Claim(Struct):
    """A criterion, with the step that it was said of and what that gave (empty if nothing) to judge it by."""

    text: str
    step_id: str
    objective: str
    output: str


async def judge_claims(prompt: str, claims: Sequence[Claim], diff: str, asker: Asker) -> list[CriterionReply | None]:
    """What the fast profile says of each claim, by what was changed (`diff`); None where it says nothing, or twice."""
    system = asker.prompts.render("criteria")

    def request(profile: Profile) -> ChatRequest:
        room = int((profile.request_tokens - ANSWER_TOKENS - SCHEMA_TOKENS) * BYTES_PER_TOKEN) - len(system)
        text = _text(prompt, claims, diff, asker.prompts, min(MOST_CHARS, max(0, room)))
        return ChatRequest(
            purpose="criteria",
            messages=messages(system, text),
            temperature=0.0,
            max_completion_tokens=ANSWER_TOKENS,
        )

    reply = await asker.ask(asker.pool.profiles.fast, request, CriteriaReply)
    said = [[item for item in reply.verdicts if item.number == number] for number in range(1, len(claims) + 1)]
    return [found[0] if len(found) == 1 else None for found in said]


def _text(prompt: str, claims: Sequence[Claim], diff: str, prompts: PromptLibrary, room: int) -> str:
    """The task, what the steps gave, the changes and the criteria; each output has the same share of the room."""
    steps = {claim.step_id: claim for claim in claims}
    share = max(0, room - PROMPT_CHARS) // (len(steps) + 1)
    outputs = (
        f"## {step.step_id}: {step.objective}\n{bounded(step.output, share) or '(nothing)'}" for step in steps.values()
    )
    criteria = (f"{number}. {claim.text} (step {claim.step_id})" for number, claim in enumerate(claims, start=1))
    return prompts.render(
        "criteria.task",
        task=bounded(prompt, PROMPT_CHARS),
        outputs="\n\n".join(outputs),
        changes=bounded(diff, share) or "(none)",
        criteria="\n".join(criteria),
    )
