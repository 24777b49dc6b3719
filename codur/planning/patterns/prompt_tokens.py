"""A prompt as tokens: what the user says, kept apart from what the user quotes.

Words decide what is asked for; fenced blocks, quoted texts and pasted code or output never do. Every pass is linear in
the prompt's length, and of a very long prompt only both ends are looked at.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from codur.lazy import regex
from codur.structs import Struct

LONG_PROMPT = 20_000
"""Prompts longer than this, in characters, are decided by their ends alone."""
EDGE = 4_000
"""Characters outside fences that count at each end of a long prompt."""
FENCE = "```"

TokenKind = Literal["word", "mark", "quote", "code", "fence", "paste"]

_TOKEN = regex(
    r'"(?P<double>[^"]*)"'
    r"|“(?P<curly>[^”]{0,2000})”"
    r"|„(?P<low>[^“”]{0,2000})[“”]"
    r"|«(?P<angle>[^»]{0,2000})»"
    r"|(?<!\w)'(?P<single>[^'\n]{1,2000})'(?!\w)"
    r"|`(?P<code>[^`\n]{1,2000})`"
    r'|(?P<word>[^\s"“”„«»`]+)'
    r"|(?P<line>\n\s*)"
    r"|\S"
)
_CODE_LINE = regex(
    r"\s*(?:def \w+\s*\(|async def |class [A-Z]\w*\s*[(:]|import \w[\w.]*\s*(?:$|,| as )|from \S+ import "
    r"|(?:if|for|while|elif|with|except|else|try|finally)\b[^:]*:\s*$|return [\w(\[{\"'].*[()\[\]=+*/]"
    r"|print\(|@\w[\w.]*(?:\(.*\))?$|[\w.\[\]]+ ?[-+*/]?= ?[^=\s]|#include\b"
    r"|(?:public|private|const|let|var) \w+ .*[={;]|[{}\]);]+\s*$|//|#!|>|Traceback \(|File \""
    r"|[A-Za-z_.]*(?:Error|Exception)\b:|\+\+\+ |--- |@@ |diff --git |\$ "
    # what runners of tests print
    r"|FAIL(?:ED)?:? +\S|[●✗✘×❯] |at [\w$.<>]+ ?\(|\d+ ?[|│] |- ?Expected$|\+ ?Received$|E {3,}\S"
    r"|[\w./-]+\.\w{1,5}:\d+:(?:\d+:?)?(?:\s|$))"
)
_TAG = regex(r"\s*<([A-Za-z_][\w-]*)(?: [^<>]*)?>\s*$")
_OPENING_MARKS = "([{<"
_CLOSING_MARKS = ".,;:!?…)]}>"


class Token(Struct, kw_only=False):
    """A piece of the prompt."""

    # a `word`, a `mark` (punctuation, a line's end), a text in quotes (`quote`) or backticks (`code`), a fenced block
    # (`fence`), or a block that was pasted without a fence (`paste`)
    kind: TokenKind
    text: str  # as written, without quotes and fences
    key: str = ""  # a word or mark in lower case; empty for the other kinds, so that they match no word


class PromptText(Struct):
    """A prompt's tokens; `complete` is false if parts of a long prompt were left out."""

    tokens: tuple[Token, ...]
    complete: bool = True

    def pasted(self) -> str:
        """What is in fences and pasted blocks."""
        return "\n".join(token.text for token in self.tokens if token.kind in {"fence", "paste"})


def read_prompt(prompt: str) -> PromptText:
    """The prompt's tokens."""
    pieces = prompt.strip().split(FENCE)
    complete = True
    if len(prompt) > LONG_PROMPT and (len(pieces) > EDGE or sum(map(len, pieces[::2])) > 2 * EDGE):
        complete = False
        # As `_front`, from the end; begins with an outside piece
        last_is_inside = len(pieces) % 2 == 0
        mirrored = [piece[::-1] for piece in reversed(pieces[-2 * EDGE :])]
        kept = _front(mirrored[1:] if last_is_inside else mirrored)
        pieces = [*_front(pieces), "", *([piece[::-1] for piece in reversed(kept)] + ([""] if last_is_inside else []))]
    return PromptText(tokens=tuple(_tokens(pieces)), complete=complete)


def _front(pieces: list[str]) -> list[str]:
    """The first pieces (outside and inside fences in turn) with `EDGE` characters outside; ends with an outside one."""
    kept: list[str] = []
    left = EDGE
    for index, piece in enumerate(pieces):
        outside = index % 2 == 0
        kept.append(piece[:left] if outside else piece[:EDGE])
        left -= len(piece) if outside else len(FENCE)
        if left <= 0:
            break
    return kept if len(kept) % 2 else kept[:-1]


def _tokens(pieces: list[str]) -> Iterator[Token]:
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            yield from _outside(piece)
        elif "\n" in piece:
            yield Token("fence", piece.split("\n", 1)[1])
        elif piece.strip():
            yield Token("code", piece.strip())


def _outside(text: str) -> Iterator[Token]:
    """Tokens of a text without backtick fences: lines of code, output or quotation in it are pasted blocks."""
    if "\n" not in text and not text.startswith(">"):
        yield from _words(text)
        return
    for pasted, block in _blocks(text.split("\n")):
        if pasted:
            yield Token("paste", block)
        else:
            yield from _words(block)


def _blocks(lines: list[str]) -> Iterator[tuple[bool, str]]:
    """Runs of lines that are pasted, and that are not."""
    run: list[str] = []
    state = False
    for pasted, line in zip(_pasted_lines(lines), lines, strict=True):
        if pasted is not state and run:
            yield state, "\n".join(run)
            run = []
        state = pasted
        run.append(line)
    if run:
        yield state, "\n".join(run)


def _pasted_lines(lines: list[str]) -> Iterator[bool]:
    closing = ""
    previous = False
    closers = {line.strip() for line in lines if line.lstrip().startswith(("</", "~~~"))}
    for line in lines:
        if closing:
            yield True
            closing = "" if line.strip() == closing else closing
            continue
        closing = _closing_line(line, closers)
        indented = line.startswith(("  ", "\t"))
        previous = bool(closing) or bool(_CODE_LINE.match(line[:400])) or (previous and (indented or not line.strip()))
        yield previous


def _closing_line(line: str, closers: set[str]) -> str:
    """The line that ends the block which this line opens, or an empty text."""
    tag = _TAG.match(line) if len(line) < 400 else None
    if tag and f"</{tag[1]}>" in closers:
        return f"</{tag[1]}>"
    return "~~~" if line.startswith("~~~") and "~~~" in closers else ""


def _words(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text.strip()):
        kind = match.lastgroup
        if kind == "word":
            yield from _word(match["word"])
        elif kind == "code":
            yield Token("code", match["code"].strip())
        elif kind == "line":
            yield Token("mark", "\n", "\n")
        elif kind is not None:
            yield Token("quote", match[kind])
        else:
            yield Token("mark", match[0], match[0])


def _word(text: str) -> Iterator[Token]:
    """The word, and the punctuation around it as marks of its own."""
    core = text.lstrip(_OPENING_MARKS)
    yield from (Token("mark", mark, mark) for mark in text[: len(text) - len(core)])
    word = _without_closing(core)
    if word:
        yield Token("word", word, word.casefold().replace("’", "'"))
    yield from (Token("mark", mark, mark) for mark in core[len(word) :])


def _without_closing(core: str) -> str:
    """The word without the punctuation at its end; `foo()`, `a[0]` and the directories `.` and `..` stay whole."""
    if core in {".", ".."}:
        return core
    end = len(core)
    while end and core[end - 1] in _CLOSING_MARKS:
        closing = core[end - 1]
        opening = {")": "(", "]": "[", "}": "{", ">": "<"}.get(closing)
        if opening and core.count(opening, 0, end) >= core.count(closing, 0, end):
            break
        end -= 1
    return core[:end]


def keys(tokens: Iterable[Token]) -> tuple[str, ...]:
    """The words and marks in lower case."""
    return tuple(token.key for token in tokens)
