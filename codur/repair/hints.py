"""What a user or an agent thinks is wrong: which operators and places come earlier in a search.

A hint orders and leaves nothing out. All of a text that is a hint counts: kinds of mistakes, names, lines. Of a task's
words only sentences that suspect something are hints: the others say what the program is for.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from codur.lazy import regex
from codur.repair.evidence.tracing import Line
from codur.repair.suspicion.mentions import named_lines
from codur.structs import Struct

_EARLIER = 3.0
"""How much earlier a kind of mistake that a hint names is judged, and a place."""
_SHOWN = 2.0  # chosen
"""How much likelier an operator is that explains how the values of the failure differ."""
_SUSPECTS = regex(
    r"\b(?:looks? like|seems?|probably|perhaps|maybe|may be|might|could be|likely|i think|i guess|i bet|i suspect"
    r"|suspect\w*|off[- ]by[- ]one|fence ?post|typo|misspel\w+|bug|fault|mistake|culprit|wrong|forg[eo]t\w*|swapped"
    r"|mixed up|inverted|vermut\w+|wahrscheinlich|vielleicht|scheint|sieht .{0,20}aus|fehler|falsch\w*|vergessen)\b",
    re.IGNORECASE,
)
_SENTENCE = regex(r"(?<=[.!?;])\s+|\n")
_FILE = regex(r"[\w./-]*\w\.py\b(?::(\d+))?")
_LINE = regex(r"\bline (\d+)\b", re.IGNORECASE)
_QUOTED = regex(r"`([^`\n]{1,80})`")


class _Kind(Struct):
    """A kind of mistake: its name, the words that mean it, the operators that mend it, and the code it is found in."""

    name: str
    words: re.Pattern[str]
    operators: frozenset[str]
    code: re.Pattern[str] | None = None


def _kinds() -> Iterator[_Kind]:
    text = Path(__file__).with_name("hints.toml").read_text(encoding="utf-8")
    for name, row in tomllib.loads(text).items():
        words, operators = ("".join(row[key]) for key in ("words", "operators"))
        yield _Kind(
            name=name,
            words=re.compile(rf"\b(?:{words})\b", re.IGNORECASE),
            operators=frozenset(operators.split(", ")),
            code=re.compile(row["code"]) if "code" in row else None,
        )


KINDS = tuple(_kinds())
"""The rows of `hints.toml`."""


class Hints(Struct):
    """What is judged earlier."""

    operators: frozenset[str] = frozenset()  # their names
    lines: frozenset[Line] = frozenset()  # of the files in question
    shown: frozenset[str] = frozenset()  # operators that explain how the values of the failure differ
    told: str = ""  # what was understood, in a few words; empty if there is nothing

    def of_kind(self, operator: str) -> float:
        """How much earlier the candidates of an operator come."""
        return _EARLIER if operator in self.operators else 1.0

    def of_difference(self, operator: str) -> float:
        """How much likelier an operator is by how the values of the failure differ."""
        return _SHOWN if operator in self.shown else 1.0

    def of_place(self, path: str, first: int, last: int) -> float:
        """How much earlier candidates about some lines come; the most that it can be for one of them."""
        return _EARLIER if any((path, line) in self.lines for line in range(first, last + 1)) else 1.0

    def of_file(self, path: str) -> float:
        """The most that `of_place` can be in a file."""
        return _EARLIER if any(where == path for where, _ in self.lines) else 1.0


def read_hints(texts: Mapping[str, str], task: str, hints: Iterable[str] = (), shown: Iterable[str] = ()) -> Hints:
    """What hints mean for the files in question.

    Args:
        texts: the files, by path.
        task: the user's words, in which a sentence may suspect something.
        hints: texts that are hints as a whole.
        shown: kinds of mistakes that the failure itself shows.
    """
    explaining = frozenset().union(*(kind.operators for kind in KINDS if kind.name in shown))
    suspected = [part for part in _SENTENCE.split(task) if _SUSPECTS.search(part)]
    words = "\n".join(filter(None, [*hints, *suspected]))
    if not words:
        return Hints(shown=explaining)
    plain = _QUOTED.sub(" ", _FILE.sub(" ", words))
    kinds = [kind for kind in KINDS if kind.words.search(plain)]
    named = frozenset(_named(texts, words))
    lines = named.union(_of_code(texts, [kind.code for kind in kinds if kind.code]))
    operators = frozenset().union(*(kind.operators for kind in kinds))
    return Hints(operators=operators, lines=lines, shown=explaining, told="; ".join(_told(kinds, named)))


def _named(texts: Mapping[str, str], words: str) -> Iterator[Line]:
    """The lines of functions and classes, of files with a line, and of code in backticks that the words name."""
    yield from named_lines(texts, _FILE.sub(" ", words))
    paths = [(each.group().rpartition(":")[0] or each.group(), each.group(1)) for each in _FILE.finditer(words)]
    files = {path: said for path, _ in paths for said in texts if f"/{said}".endswith(f"/{path}")}
    yield from ((files[path], int(line)) for path, line in paths if line and path in files)
    numbers = [int(line) for line in _LINE.findall(words)]
    yield from ((path, number) for path in (files.values() or texts) for number in numbers)
    code = [re.compile(rf"(?<!\w){re.escape(each)}(?!\w)") for each in _QUOTED.findall(words)]
    yield from _of_code(texts, code)


def _of_code(texts: Mapping[str, str], code: Sequence[re.Pattern[str]]) -> Iterator[Line]:
    for path, text in texts.items() if code else ():
        for number, line in enumerate(text.splitlines(), start=1):
            if any(each.search(line) for each in code):
                yield path, number


def _told(kinds: Sequence[_Kind], named: frozenset[Line]) -> Iterator[str]:
    yield from (kind.name for kind in kinds)
    if named:
        path, line = min(named)
        others = len(named) - 1
        more = f" and {others} line{'s' * (others > 1)} more" if others else ""
        yield f"{path}:{line}{more}"
