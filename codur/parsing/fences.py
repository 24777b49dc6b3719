"""Markdown fences and `<think>` parts in model text."""

import re

from codur.lazy import regex
from codur.structs import Struct

_THINK = regex(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN_THINK = regex(r"\A\s*<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE)
_THINK_END = regex(r"\A(?:(?!<think).)*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = regex(r"^[ \t]*(?P<ticks>`{3,}|~{3,})[ \t]*(?P<info>[^\n`~]*)$")


class Block(Struct):
    """A fenced block: the first word after its opening fence (lower case), its text, and whether it is closed."""

    language: str
    text: str
    closed: bool
    # start, end: where it stands with its fences, from the first character to the one after the last
    start: int
    end: int


def strip_thinking(text: str) -> str:
    """`text` without what the model wrote to itself; a thought that was never finished leaves nothing."""
    text = _THINK.sub("", text)
    if _OPEN_THINK.match(text):
        return ""
    # Chat templates that open the thought themselves leave only its end in the answer.
    if text.count("</think") == 1:
        text = _THINK_END.sub("", text, count=1)
    return text.strip()


def fenced_blocks(text: str) -> list[Block]:
    """The fenced blocks of `text` in order; the end of the text closes none."""
    blocks: list[Block] = []
    ticks, language, lines = "", "", list[str]()
    start = position = 0
    for line in text.split("\n"):
        end = position + len(line)
        mark = _FENCE.match(line)
        if not ticks:
            if mark:
                ticks, lines, start = mark["ticks"], [], position
                language = next(iter(mark["info"].split()), "").lower()
        elif mark and not mark["info"].strip() and mark["ticks"].startswith(ticks):
            blocks.append(Block(language=language, text="\n".join(lines), closed=True, start=start, end=end))
            ticks = ""
        else:
            lines.append(line)
        position = end + 1
    if ticks:
        blocks.append(Block(language=language, text="\n".join(lines), closed=False, start=start, end=len(text)))
    return blocks
