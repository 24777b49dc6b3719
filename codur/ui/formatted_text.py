"""Answers in Markdown and diffs in the colours of their language. Loaded where one is shown on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from codur.lazy import regex
from codur.ui.sanitise import sanitise
from codur.ui.styled_lines import Line, Style, cells

if TYPE_CHECKING:
    from markdown_it.token import Token

_COLOURS = "ansi_dark"
"""The terminal's own sixteen colours: they fit whatever background it has."""
_THEME = Theme({"markdown.code": "cyan", "markdown.h1": "bold", "markdown.h2": "bold", "markdown.item.bullet": "dim"})
_FENCE = regex(r"^ {0,3}(```|~~~).*?^ {0,3}\1[^\n]*$|^(?: {4}|\t)[^\n]*$", re.DOTALL | re.MULTILINE)
_BESIDE_WORDS = 10
"""Columns that lists and quotations may take beside a word."""
_WIDEST = 100
"""Columns beyond which prose is no longer read well."""
_INDENT = "    "
_LITERAL = {"softbreak": "hardbreak", "html_inline": "text", "html_block": "code_block"}
"""What models write differently than Markdown reads it: line breaks are meant, and `<T>` is no tag."""
_NEW: frozenset[Style] = frozenset({"added", "plain"})


class _Code(CodeBlock):
    """A block of code, its lines as they are: what is copied from it works."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        text = highlighted(code, self.lexer_name) or Text(code)
        if options.max_width < min(console.width, _WIDEST):  # within a list, where longer lines would be cut
            yield Padding(text, (0, 0, 0, 2))
            return
        for row in text.split("\n", allow_blank=True):
            yield Text(_INDENT, no_wrap=True, overflow="ignore").append_text(row)


class _Heading(Heading):
    """A heading at the left, as the other lines are."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class _Answer(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "fence": _Code,
        "code_block": _Code,
        "heading_open": _Heading,
    }

    def __init__(self, text: str) -> None:
        super().__init__(text, code_theme=_COLOURS, hyperlinks=False)
        for token in _all_tokens(self.parsed):
            token.type = _LITERAL.get(token.type, token.type)
            if token.type.startswith(("strong_", "em_")) and "_" in token.markup:  # as in `__init__`
                token.type, token.tag, token.nesting, token.content = "text", "", 0, token.markup


def _all_tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all_tokens(token.children or ())


def print_markdown(text: str, console: Console) -> None:
    """Print an answer as what its Markdown means; as it stands where a word is wider than there is room for."""
    safe = sanitise(text)
    width = min(console.width, _WIDEST)
    if max(map(cells, _FENCE.sub("", safe).split()), default=0) > width - _BESIDE_WORDS:
        console.print(Text(safe))
        return
    with console.use_theme(_THEME):
        rows = list(Segment.split_lines(console.render(_Answer(safe), console.options.update(width=width))))
    texts = [Text.assemble(*((part.text, part.style or "") for part in row)) for row in rows]
    for shown in texts:
        shown.rstrip()  # rich fills lines up
    while texts and not texts[-1]:
        texts.pop()
    for shown in texts:
        console.print(shown)


def highlighted(code: str, lexer: str) -> Text | None:
    """Code in the colours of its language; None if it would not stay as it is."""
    text = Syntax("", lexer, theme=_COLOURS, background_color="default").highlight(code)
    if text.plain == f"{code}\n":
        text.right_crop(1)
    return text if text.plain == code else None


def diff_texts(lines: Sequence[Line], texts: Sequence[Text]) -> list[Text]:
    """The lines of a diff (`texts`: in its colours), with what is new, and around it, in those of its language."""
    shown, path, block = list(texts), "", list[int]()
    for place, item in enumerate((*lines, None)):
        style = item.spans[0].style if item is not None and item.spans else "dim"
        if item is not None and style in _NEW and item.text[:1] in ("+", " "):
            block.append(place)
        elif style != "removed":
            _highlight(block, path, shown)
            block = []
            path = item.text[4:] if item is not None and item.text.startswith("+++ ") else path
    return shown


def _highlight(block: Sequence[int], path: str, shown: list[Text]) -> None:
    """Put a language's colours on the lines at these places, which follow each other in a file."""
    code = "\n".join(shown[place].plain[1:] for place in block)
    text = highlighted(code, Syntax.guess_lexer(path)) if block else None
    if text is None:
        return
    for place, row in zip(block, text.split("\n", allow_blank=True), strict=True):
        mark = shown[place]
        shown[place] = Text.assemble((mark.plain[0], mark.spans[0].style if mark.spans else ""))
        row.stylize_before(mark.spans[0].style if mark.spans else "")
        shown[place].append_text(row)
