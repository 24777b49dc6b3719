"""Choices that a model makes by one small question: among repairs that all pass, and among tools that can be next."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from codur.errors import ModelAnswerError
from codur.lazy import regex
from codur.llm.model import ChatRequest
from codur.patches import Patch
from codur.planning.narrowing import ToolCandidate
from codur.planning.replies import Asker, ToolReply, argument_values, messages
from codur.structs import Struct, replace
from codur.types import ToolCall, ToolSpec

ANSWER_TOKENS = 400
"""A number is short, but some models think before they write it."""
PROMPT_CHARS = 2000
DIFF_CHARS = 1500
INPUT_CHARS = 300
SOURCE_CHARS = 6000
LINES_AROUND = 30
_NUMBER = regex(r"\d+")
_LAST = regex(r"(?:[;,]|\b(?:but|except|only|so|take))\s+(?:repair |number )?(\d+)\W*\Z", re.IGNORECASE)
_NONE = regex(r"\b(?:0|none|neither|no repair)\b", re.IGNORECASE)
_HUNK = regex(r"^@@ -(\d+)", re.MULTILINE)


async def choose_patch(prompt: str, patches: Sequence[Patch], sources: Mapping[str, str], asker: Asker) -> int | None:
    """The number (from 1) of the repair that the fast model takes, 0 if it wants none; None if its answer says neither.

    `sources` has the text of the files that the patches change, as it is.
    """
    text = asker.prompts.render(
        "repair_choice.task",
        task=prompt[:PROMPT_CHARS],
        program="\n\n".join(_excerpt(path, text, patches) for path, text in sources.items()),
        repairs="\n\n".join(_patch_text(number, each) for number, each in enumerate(patches, start=1)),
        last=str(len(patches)),
    )
    request = ChatRequest(
        purpose="choice",
        messages=messages(asker.prompts.render("repair_choice"), text),
        temperature=0.0,
        max_completion_tokens=ANSWER_TOKENS,
    )
    return read_choice((await asker.pool.complete(asker.pool.profiles.fast, request)).text, len(patches))


class ToolQuestion(Struct, kw_only=False):
    """Asks the fast model which of a few tools is next and with what, once; a `DecisionCallback`."""

    task: str
    objective: str
    asker: Asker
    spec: Callable[[str], ToolSpec]

    async def decide(
        self, context: Mapping[str, Any], candidates: Sequence[ToolCandidate], prompt: str
    ) -> ToolCall | None:
        """The call that the model wants; None if no tool fits, or its answer cannot be read."""
        text = self.asker.prompts.render(
            "tool_choice.task",
            task=self.task[:PROMPT_CHARS],
            objective=self.objective or "Go on with the task.",
            found=json.dumps(context, ensure_ascii=False, default=str),
            question=prompt,
        )
        request = ChatRequest(
            purpose="tool",
            messages=messages(self.asker.prompts.render("tool_choice"), text),
            temperature=0.0,
            max_completion_tokens=ANSWER_TOKENS,
        )
        try:
            reply = await replace(self.asker, attempts=1).ask(self.asker.pool.profiles.fast, request, ToolReply)
        except ModelAnswerError:
            return None
        known = {each.name for each in candidates}
        spec = self.spec(reply.tool) if reply.tool in known else None
        return ToolCall(name=reply.tool, arguments=argument_values(reply.arguments, spec))


def read_choice(text: str, last: int) -> int | None:
    """The one number from 1 to `last` in an answer, or 0 if it wants none; None if neither is clear.

    "None but 2" ends with the one that it wants.
    """
    named, none = {int(found) for found in _NUMBER.findall(text)[:50]}, _NONE.search(text)
    if none is not None and not re.search(r"[1-9]", text[: none.start()]):
        ends = int((_LAST.findall(text) or ["0"])[0])
        return ends if ends <= last else 0
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
