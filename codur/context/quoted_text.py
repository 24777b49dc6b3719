"""Where the texts that a task quotes stand in the sources, its rare words, and what begins as a new name in it does.

A message that it is about leads to who writes it, the name of a command to what registers it, and a setting that is to
be added to where others of its kind are.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice

from codur.context.file_order import standing
from codur.errors import WorkspaceError
from codur.lazy import regex
from codur.workspace.workspace import Workspace

_PROMPT_CHARS = 20_000
_QUOTED = regex(r"\"([^\"\n]{12,300})\"|'([^'\n]{12,300})'|`([^`\n]{12,300})`|“([^”\n]{12,300})”")
_RAISED = regex(
    r"^[^\w\n]*(?:\w+\.)*\w*(?:Error|Exception|Warning): (\S.{11,300})$|^[^\w\n]*error: (\S.{11,300})$", re.MULTILINE
)
_FILLED_IN = regex(r"\{[^}]*\}|%[-\w.]*[sdrif]|\$\w+|<[^>]*>|[\w./-]*\d[\w./-]*|[\"'`\\]|[,;:.](?!\S)")
"""What a program puts into a text when it runs, or writes in another way in its source; and where a clause ends."""
_LEAST_CHARS, _LEAST_WORDS = 10, 3
_NAME = regex(
    r"(?<![\w./-])(?:--)?([A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+){2,}|[a-z]+(?:[A-Z][a-z0-9]+){2,})(?![\w/-])"
)
"""A name of three parts or more, such as that of a setting."""
_SMALL_WORDS = frozenset("a and by of or the to".split())  # of `end-to-end`, which is no name
_LAST_PART = regex(r"(?:(?<=[_-])[A-Za-z0-9]+|[A-Z][a-z0-9]+)$")
_RARE = regex(r"(?<![\w./-])[A-Za-z][A-Za-z0-9]{4,}(?![\w/-]|\.\w)")
_LITERAL = regex(r"(?<=[\"'`])[A-Za-z][^\s\"'`]{3,39}(?=[\"'`])")
_MOST_WORDS, _RARE_FILES, _RARE_LINES, _RARE_WORDS = 30, 2, 6, 3
"""Words that are looked for, the longest; sources, and lines of them, that one may be in to tell where a task is to be
done; and those of them that are taken."""
_PROSE = regex(r"\s*(?:#|//|\*|/\*)|[^(\[{=\"'`]*$")
"""A line of a comment, or of nothing but words."""
_MOST, _OF_ONE, _PLACES, _SIBLINGS = 6, 2, 2, 3
"""Pieces that are looked for, of all texts and of one, and places of one, and of a new name, that are taken."""


def quoted_places(prompt: str, files: Iterable[str], workspace: Workspace) -> str:
    """Lines of sources that hold what a task quotes, as `path:line`, one a line; an empty text if there are none.

    Of a name that is in no source, lines with names that differ from it in their last part; of words and of short
    texts in quotation marks those that few lines of the program have.
    """
    words = {word: list[tuple[str, bool]]() for word in _words_of(prompt[:_PROMPT_CHARS])}
    quoted = list(dict.fromkeys(_pieces(prompt[:_PROMPT_CHARS])))[:_MOST]
    found = dict.fromkeys(_NAME.findall(prompt[:_PROMPT_CHARS]))
    names = [name for name in found if _SMALL_WORDS.isdisjoint(name.split("-"))][:_MOST]
    new = {name: _LAST_PART.sub("", name) for name in names}
    places: dict[str, list[str]] = {piece: [] for piece in quoted}
    siblings: dict[str, list[tuple[int, str]]] = {start: [] for start in new.values()}
    wanted = quoted
    # Each source is read once for all of them; what else holds the text (translations, tests) does not write it.
    for path in (path for path in files if not standing(path)):
        if not (wanted or new or words):
            break
        with suppress(WorkspaceError):
            text = workspace.peek_text(path)
            for piece in wanted:
                places[piece] += [f"{path}:{line}" for line in _lines_with(piece, text, _PLACES - len(places[piece]))]
            for start, near in siblings.items():
                near += [(-text.count(start), f"{path}:{line}") for line in _lines_with(start, text, 1)]
            new = {name: start for name, start in new.items() if name not in text}
            words = _still_rare(words, path, text)
        wanted = [piece for piece in wanted if len(places[piece]) < _PLACES]
    # Where most of them are comes first.
    beside = [place for start in new.values() for _, place in sorted(siblings[start])[:_SIBLINGS]]
    told = ([line for line, is_code in lines if is_code] for lines in sorted(words.values(), key=len))
    rare = [lines[:_PLACES] for lines in islice(filter(None, told), _RARE_WORDS)]
    return "\n".join(dict.fromkeys((*chain.from_iterable((*places.values(), *rare)), *beside)))


def _words_of(prompt: str) -> list[str]:
    """The words of a task, in small letters, and what stands in its quotation marks as it is."""
    literals = _LITERAL.findall(prompt)
    words = (word.lower() for word in _RARE.findall(prompt) if not any(word in literal for literal in literals))
    return sorted(dict.fromkeys((*literals, *words)), key=len, reverse=True)[:_MOST_WORDS]


def _still_rare(words: Mapping[str, list[tuple[str, bool]]], path: str, text: str) -> dict[str, list[tuple[str, bool]]]:
    """The words that few sources have, with the lines of one more, and whether these are more than prose."""
    small, found = text.lower(), dict[str, list[tuple[str, bool]]]()
    for word, lines in words.items():
        if word in (among := small if word.islower() else text):
            whole = re.compile(rf"(?<![a-zA-Z]){re.escape(word)}(?![a-zA-Z])")
            rows = enumerate(among.split("\n"), start=1)
            found_in = ((n, row) for n, row in rows if whole.search(row))
            lines = [*lines, *((f"{path}:{n}", not _PROSE.match(row)) for n, row in found_in)]
        if len(lines) <= _RARE_LINES and len({line.rpartition(":")[0] for line, _ in lines}) <= _RARE_FILES:
            found[word] = lines
    return found


def _lines_with(piece: str, text: str, most: int) -> Iterator[int]:
    """The numbers of the first lines that hold a text."""
    if piece in text:
        lines = (number for number, line in enumerate(text.split("\n"), start=1) if piece in line)
        yield from islice(lines, most)


def _pieces(prompt: str) -> Iterator[str]:
    """Of each text that is quoted what may stand so in a source: the longest pieces of several words."""
    for found in (*_QUOTED.finditer(prompt), *_RAISED.finditer(prompt)):
        text = next(filter(None, found.groups()), "")
        pieces = [piece.strip(" ()") for piece in _FILLED_IN.split(text)]
        told = [piece for piece in pieces if len(piece) >= _LEAST_CHARS and len(piece.split()) >= _LEAST_WORDS]
        yield from sorted(told, key=len, reverse=True)[:_OF_ONE]
