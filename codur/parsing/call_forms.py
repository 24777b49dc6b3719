"""Ways of writing a tool call that are not JSON objects: marked with tags, or as a call in Python's form.

<function=NAME><parameter=KEY>TEXT</parameter></function>           Qwen
<invoke name="NAME"><parameter name="KEY">TEXT</parameter></invoke>
[TOOL_CALLS]NAME[ARGS]{"KEY": …}                                    Mistral
NAME(KEY="TEXT")                                                    on a line of its own, for known tools alone
"""

import ast
import re
import warnings
from collections.abc import Collection
from typing import Any

from codur.lazy import regex
from codur.parsing.fences import fenced_blocks
from codur.parsing.json_text import bracket_end, plain

_NAME = r"[A-Za-z_][\w.-]{0,99}"
_INVOKED = regex(
    rf"<(?:function=(?P<name>{_NAME})|invoke\s+name=[\"'](?P<named>{_NAME})[\"'])\s*>"
    r"(?P<body>\s*(?:<parameter\b.*?)?)</(?:function|invoke)>",
    re.DOTALL,
)
_PARAMETER = regex(
    rf"\s*<parameter(?:=(?P<key>{_NAME})|\s+name=[\"'](?P<named>{_NAME})[\"'])\s*>(?P<text>.*?)</parameter>\s*",
    re.DOTALL,
)
_OPENED = regex(rf"<(?:function={_NAME}\s*>\s*<parameter\b|invoke\s+name=)")
_MISTRAL = regex(rf"\[TOOL_CALLS\]\s*(?P<name>{_NAME})\s*(?:\[ARGS\])?\s*(?=\{{)")
_LINE = regex(rf"[ \t]*(?P<name>{_NAME})\(.{{0,20000}}\)[ \t;]*")
_CALL_FENCES = frozenset({"tool_code", "tool_call", "tool_calls"})
_CODE_FENCES_KEPT = _CALL_FENCES | {"", "json", "jsonc", "json5", "jsonl", "xml"}
_NEXT = regex(
    r"(?P<mark><tool_call>|<function=|<invoke\s|<\|message\|>|\[TOOL_CALLS\])"
    rf"|(?P<line>^[ \t]*{_NAME}\(.*\)[ \t;]*$)|(?P<fence>^[ \t]*(?:`{{3,}}|~{{3,}})[^\n`]*$)"
    r"|(?P<inline>(?<!`)`[^`\n]+`(?!`))|(?P<open>[{\[])",
    re.MULTILINE,
)
_MOST_FAILURES = 20  # brackets without an end after which the rest is left as it is; bounds the work on hostile input
_UNREADABLE = (ValueError, SyntaxError, RecursionError, MemoryError)

Call = tuple[str, dict[str, Any]]


class CallsError(ValueError):
    """The text holds something that looks like a call and cannot be read as one."""


def without_code(text: str) -> str:
    """`text` without fenced blocks of programs, and without what stands in backticks inside a sentence.

    What is inside a bracketed value or after a mark of a call stays as it is: there, backticks are part of a text.
    """
    kept: list[str] = []
    position = failures = 0
    while match := _NEXT.search(text, position):
        keep, end = _piece(text, match)
        if match.lastgroup == "open" and end == match.end():
            failures += 1
        if match.lastgroup == "mark" or failures > _MOST_FAILURES:
            break
        kept.append(text[position : end if keep else match.start()])
        position = end
    return "".join(kept) + text[position:]


def _piece(text: str, match: re.Match[str]) -> tuple[bool, int]:
    """Whether the piece that begins here is kept, and its end."""
    if match.lastgroup == "open":
        return True, max(bracket_end(text, match.start()), match.end())
    if match.lastgroup == "inline":
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.end() + len(text[match.end() :].partition("\n")[0])]
        return line.strip() == match[0], match.end()
    fence = (match["fence"] or "").strip()
    if match.lastgroup == "fence" and fence.strip("`~").strip().partition(" ")[0].lower() not in _CODE_FENCES_KEPT:
        ticks = fence[:3]
        closing = re.compile(rf"^[ \t]*{ticks}+[ \t]*$", re.MULTILINE).search(text, match.end())
        return False, closing.end() if closing else len(text)
    return True, match.end()


def invoked_calls(text: str) -> list[Call] | None:
    """The calls in tags with one tag a parameter, whose values are texts; None if there are none.

    Raises:
        CallsError: one of them does not end, or holds something else.
    """
    found = list(_INVOKED.finditer(text))
    calls = [(match["name"] or match["named"], _parameters(match["body"])) for match in found]
    if len(_OPENED.findall(text)) > len(found):
        raise CallsError
    return calls or None


def _parameters(body: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    position = 0
    while position < len(body.rstrip()):
        match = _PARAMETER.match(body, position)
        if match is None or (match["key"] or match["named"]) in values:
            raise CallsError
        text = match["text"]  # Qwen puts a line end on both sides of a value
        values[match["key"] or match["named"]] = text.removeprefix("\n").removesuffix("\n") if match["key"] else text
        position = match.end()
    return values


def named_starts(text: str) -> list[tuple[str, str]]:
    """Names and what follows them, up to the next one, of calls after Mistral's mark."""
    found = list(_MISTRAL.finditer(text))
    ends = [*(match.start() for match in found), len(text)][1:]
    return [(match["name"], text[match.end() : end]) for match, end in zip(found, ends, strict=True)]


def line_calls(text: str, tools: Collection[str]) -> list[Call]:
    """Calls of `tools` in Python's form, each on a line of its own; their arguments have names and plain values.

    Fenced blocks are programs, unless they say that they are calls.
    """
    called, others = _lines(text)
    return [call for call in [_line_call(line, tools) for line in (*called, *others)] if call is not None]


def lines_are_meant(text: str, tools: Collection[str]) -> bool:
    """Whether the calls that `line_calls` finds are meant as such: in fences for calls, or all that the text says.

    Among other words, such a line may be no more than mentioned or quoted.
    """
    called, others = _lines(text, keep_code=True)
    others = [line for line in others if line.strip()]
    known = [_line_call(line, tools) is not None for line in others]
    return all(known) if not called else not any(known)


def _lines(text: str, *, keep_code: bool = False) -> tuple[list[str], list[str]]:
    """The lines in fences for calls, and those outside.

    Args:
        keep_code: the lines of other fences are among those outside, too.
    """
    blocks = fenced_blocks(text)
    called = [line for block in blocks if block.language in _CALL_FENCES for line in block.text.split("\n")]
    for block in reversed(blocks):
        if block.language in _CALL_FENCES or not keep_code:
            text = text[: block.start] + text[block.end :]
    return called, text.split("\n")


def line_comes_first(text: str, tools: Collection[str]) -> bool:
    """Whether a call of `tools` in Python's form stands before any bracket of JSON outside such calls."""
    lines = (line for line in text.split("\n") if "{" in line or "[" in line or _line_call(line, tools))
    return _line_call(next(lines, ""), tools) is not None


def _line_call(line: str, tools: Collection[str]) -> Call | None:
    match = _LINE.fullmatch(line)
    if match is None or match["name"] not in tools:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # an odd escape in a model's string is no warning for the user
            tree = ast.parse(line.strip(" \t;"), mode="eval").body
        if not isinstance(tree, ast.Call) or tree.args or not all(item.arg for item in tree.keywords):
            return None
        return match["name"], {str(item.arg): plain(ast.literal_eval(item.value)) for item in tree.keywords}
    except _UNREADABLE:
        return None
