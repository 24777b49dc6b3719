"""How the tokens of a coding request are shared: what is to be written, how edits are told, what is left to show."""

import re
from collections.abc import Mapping, Sequence

from codur.config.settings import Profile
from codur.context.brief import CodingBrief
from codur.context.places import is_unfinished
from codur.lazy import regex
from codur.llm.tokens import estimate_tokens
from codur.structs import Struct, replace
from codur.types import ToolSpec

SMALL_REQUEST = 12_000
"""Below this, in tokens, edits are told of in short, so that more of the code can be shown."""
SHORT_FORM = ("replace_in_file", "replace_file_content")
FOR_CLASSES = ("replace_class", "replace_method")
_USUAL_ANSWER = 3000
_LEAST_ANSWER = 1000
_AROUND_EDITS = 1500
"""What a model thinks and says beside its edits, in tokens."""
_LINE_TOKENS = 12
_SITUATION_TOKENS = 200
_CLASS = regex(r"^[ \t]*(?:\w+[ \t]+)*(?:class|struct|interface|trait|impl|enum)\b", re.MULTILINE)


class Room(Struct, kw_only=False):
    """Tokens for the answer and for the user message, both 0 where the task and the code to be changed cannot be told.
    `needed`: what the whole request would come to at least.
    """

    answer: int
    message: int
    needed: int


def is_small(profile: Profile) -> bool:
    """Whether edits have to be told of in short."""
    return profile.request_tokens < SMALL_REQUEST


def offered(specs: Sequence[ToolSpec], profile: Profile, sources: Mapping[str, str]) -> tuple[ToolSpec, ...]:
    """The editing tools that are told of: in a small request two that can make any edit, if they are there.

    Else all, but those for classes where there is none: each costs as much as ten lines of code. A model may call them
    all the same. `sources`: texts by path that the request may show.
    """
    short = tuple(spec for spec in specs if spec.name in SHORT_FORM)
    if is_small(profile) and len(short) == len(SHORT_FORM):
        return tuple(map(_shortened, short))
    # By an expression and not by a tree: this also holds for languages whose grammar is not installed.
    flat = not any(_CLASS.search(text) for text in sources.values())
    return tuple(_shortened(spec) for spec in specs if not (flat and spec.name in FOR_CLASSES))


def _shortened(spec: ToolSpec) -> ToolSpec:
    """Without what tells nothing: that paths are relative (the message says so), and that no more is read."""
    properties = {**spec.parameters["properties"]}
    if "path" in properties:
        properties["path"] = {"type": properties["path"]["type"]}
    needed = spec.parameters["required"]
    return replace(spec, parameters={"type": "object", "properties": properties, "required": needed})


def share(
    brief: CodingBrief, profile: Profile, *, target: str | None, whole_file_lines: int, overhead_tokens: int
) -> Room:
    """The room of a request: an answer as long as what is to be written, the message with the rest.

    The answer gives way, down to a bound, where the task and the code to be changed need its room.

    Args:
        target: the file to be changed; None if no single one is known.
        overhead_tokens: what instructions and tools take.
    """
    total = profile.request_tokens - overhead_tokens
    # The code to be changed: a short file, or as much of a long one as a short one would take.
    path = target or next((want.path for want in brief.wants), "")
    code = min(estimate_tokens(brief.sources.get(path, "")), whole_file_lines * _LINE_TOKENS)
    must = estimate_tokens(brief.task) + code + _SITUATION_TOKENS
    answer = min(_answer_tokens(brief, target, whole_file_lines, profile), total - must)
    least = min(_LEAST_ANSWER, profile.max_completion_tokens)
    if answer < least:
        return Room(answer=0, message=0, needed=overhead_tokens + must + least)
    return Room(answer=answer, message=total - answer, needed=overhead_tokens + must + least)


def _answer_tokens(brief: CodingBrief, target: str | None, whole_file_lines: int, profile: Profile) -> int:
    """What may be written: a short file whole, else some functions; anything if a file or a body is not there yet."""
    usual = min(_USUAL_ANSWER, profile.request_tokens // 4)
    most = min(profile.max_completion_tokens, max(usual, profile.request_tokens // 3))
    own = brief.sources.get(target or "", "")
    texts = [own] if own else [text for path, text in brief.sources.items() if path not in brief.read_only]
    if not texts or brief.missing_files or any(map(is_unfinished, texts)):
        return most
    # A short file may come back whole; of a long one only functions do.
    longest = max((estimate_tokens(text) for text in texts if text.count("\n") <= whole_file_lines), default=0)
    return min(most, max(usual, _AROUND_EDITS + longest * 3 // 2))
