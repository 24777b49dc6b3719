"""A choice among repairs that all pass the check: one small question, answered with a number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from codur.config.prompts import PromptLibrary
from codur.llm.model import ChatRequest
from codur.llm.pool import ModelPool
from codur.patches import Patch
from codur.types import Message

ANSWER_TOKENS = 400
"""A number is short, but some models think before they write it."""
PROMPT_CHARS = 2000
DIFF_CHARS = 1500
INPUT_CHARS = 300
SOURCE_CHARS = 6000
LINES_AROUND = 30
_NUMBER = re.compile(r"\d+")
_HUNK = re.compile(r"^@@ -(\d+)", re.MULTILINE)


async def choose_patch(
    prompt: str,
    patches: Sequence[Patch],
    sources: Mapping[str, str],
    *,
    pool: ModelPool,
    prompts: PromptLibrary,
    profile: str,
) -> int | None:
    """The number (from 1) of the repair that the model takes; None if its answer names none.

    Args:
        sources: the text of the files that the patches change, as it is.

    Raises:
        ModelAnswerError, ModelUnavailable, LimitReached: as `ModelPool.complete`.
    """
    request = ChatRequest(
        purpose="choice",
        messages=(
            Message(role="system", content=prompts.render("repair_choice")),
            Message(
                role="user",
                content=prompts.render(
                    "repair_choice.task",
                    task=prompt[:PROMPT_CHARS],
                    program="\n\n".join(_excerpt(path, text, patches) for path, text in sources.items()),
                    repairs="\n\n".join(_patch_text(number, each) for number, each in enumerate(patches, start=1)),
                    last=str(len(patches)),
                ),
            ),
        ),
        temperature=0.0,
        max_completion_tokens=ANSWER_TOKENS,
    )
    reply = await pool.complete(profile, request)
    return read_choice(reply.text, len(patches))


def read_choice(text: str, last: int) -> int | None:
    """The one number from 1 to `last` in an answer; None if it names none, or several."""
    named = {int(found) for found in _NUMBER.findall(text)[:50]}
    return next(iter(named)) if len(named) == 1 and 1 <= min(named) <= last else None


def _patch_text(number: int, patch: Patch) -> str:
    rows = [f"Repair {number}: {patch.explanation}", patch.diff[:DIFF_CHARS]]
    if patch.distinction is not None:
        found = patch.distinction
        rows.append(
            f"For the input {found.input[:INPUT_CHARS]!r} repair 1 gives {found.first!r}, this one {found.other!r}."
        )
    return "\n".join(rows)


def _excerpt(path: str, text: str, patches: Sequence[Patch]) -> str:
    """A file; of a long one the lines around what the patches change."""
    rows = text.split("\n")
    if len(text) > SOURCE_CHARS:
        places = [int(found) for patch in patches for found in _HUNK.findall(patch.diff) if f"a/{path}\n" in patch.diff]
        shown = {row for place in places for row in range(place - LINES_AROUND, place + LINES_AROUND)}
        rows = [row for number, row in enumerate(rows, start=1) if number in shown]
        text = "\n".join(rows)[:SOURCE_CHARS]
    return f"===== {path}\n{text.rstrip()}"
