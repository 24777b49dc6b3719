"""What a user or an agent thinks is wrong: which operators and places come earlier in a search.

A hint orders and leaves nothing out. All of a text that is a hint counts: kinds of mistakes, names, lines. Of a task's
words only sentences that suspect something are hints: the others say what the program is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from codur.repair.evidence.tracing import Line
from codur.repair.suspicion.mentions import named_lines
from codur.structs import Struct

_EARLIER = 3.0
"""How much earlier a kind of mistake that a hint names is judged, and a place."""
_SUSPECTS = re.compile(
    r"\b(?:looks? like|seems?|probably|perhaps|maybe|may be|might|could be|likely|i think|i guess|i bet|i suspect"
    r"|suspect\w*|off[- ]by[- ]one|fence ?post|typo|misspel\w+|bug|fault|mistake|culprit|wrong|forg[eo]t\w*|swapped"
    r"|mixed up|inverted|vermut\w+|wahrscheinlich|vielleicht|scheint|sieht .{0,20}aus|fehler|falsch\w*|vergessen)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n")
_FILE = re.compile(r"[\w./-]*\w\.py\b(?::(\d+))?")
_LINE = re.compile(r"\bline (\d+)\b", re.IGNORECASE)
_QUOTED = re.compile(r"`([^`\n]{1,80})`")


class _Kind(Struct):
    """A kind of mistake: its name, the words that mean it, the operators that mend it, and the code it is found in."""

    name: str
    words: re.Pattern[str]
    operators: frozenset[str]
    code: re.Pattern[str] | None = None


def _kind(name: str, words: str, operators: str, code: str = "") -> _Kind:
    return _Kind(
        name=name,
        words=re.compile(rf"\b(?:{words})\b", re.IGNORECASE),
        operators=frozenset(operators.split(", ")),
        code=re.compile(code) if code else None,
    )


KINDS: tuple[_Kind, ...] = (
    _kind(
        "off by one",
        r"off[- ]by[- ](?:one|1)|fence ?posts?|bound\w*|one too (?:many|few)|one (?:short|too far|less|more)"
        r"|inclusive|exclusive|edge cases?|last (?:one|element|item|line|row)|first (?:one|element|item|line|row)"
        r"|um eins|grenz\w+",
        "range bound, comparison boundary, constant shifted, index shifted, slice bound, value shifted, step removed",
    ),
    _kind(
        "comparison",
        r"compar\w+|conditions?|inequalit\w+|less than|greater than|vergleich\w*|bedingung\w*|filter\w*",
        "comparison boundary, comparison swapped, membership swapped, condition narrowed, condition extended, "
        "condition guarded, condition grouped, truth compared, filter added, "
        "and/or swapped, not removed, not added",
    ),
    _kind(
        "inverted",
        r"invert\w*|negat\w+|opposite|flipped|wrong way round|the other way|backwards|umgekehrt|verneint",
        "comparison swapped, not removed, not added, True/False flipped, and/or swapped, membership swapped, "
        "reverse toggled, sign removed, sign added, other end taken",
    ),
    _kind(
        "logic",
        r"logic\w*|boolean|and/or|and instead of or|or instead of and|precedence|brackets|parenthes[ei]s|klammern?",
        "and/or swapped, not removed, not added, condition narrowed, condition grouped, brackets moved, "
        "True/False flipped, condition extended",
    ),
    _kind(
        "sorting",
        r"sort\w*|keys?|order\w*|ascending|descending|reverse\w*|rank\w*|reihenfolge|minimum|maximum|min|max",
        "reverse toggled, other end taken, index shifted, attribute replaced",
        r"\bsort(?:ed)?\(|\bkey\s*=|\b(?:min|max|nlargest|nsmallest|heappush)\(|\breverse",
    ),
    _kind(
        "arithmetic",
        r"arithmetic|formula|operators?|plus|minus|divi\w+|multipl\w+|factor|signs?|add(?:s|ed|ition)?|subtract\w*|sums?"
        r"|rechen\w*|vorzeichen",
        "arithmetic swapped, augmented assignment, factor removed, operand removed, operands swapped, sign removed, "
        "sign added, division guarded, assignment accumulated, step removed",
    ),
    _kind(
        "order of things",
        r"swap\w*|mixed up|order of (?:the )?(?:arguments|operands|statements|lines)|vertausch\w*",
        "arguments swapped, operands swapped, swapped with next, membership swapped, comparison swapped, yield swapped",
    ),
    _kind(
        "names",
        r"typos?|misspel\w+|(?:wrong|other|undefined) (?:name|variable|attribute|field)s?|variables?|names?"
        r"|attributes?|tippfehler",
        "name corrected, attribute corrected, variable replaced, attribute replaced, target replaced, "
        "comprehension variable, self added, self toggled, expression replaced",
    ),
    _kind(
        "index",
        r"ind(?:ex|exes|ices)|subscripts?|slic\w+|elements?|positions?",
        "index shifted, slice bound, slice added, element taken, index guarded, elements changed, range bound",
    ),
    _kind(
        "return",
        r"returns?|result|yields?|rückgabe\w*",
        "return added, result used, value kept, yield swapped, moved out of block",
        r"\b(?:return|yield)\b",
    ),
    _kind(
        "indentation",
        r"indent\w*|blocks?|inside (?:of )?the loop|outside (?:of )?the loop|nesting|nested|einrück\w+",
        "moved out of block, moved into block, moved out of else, return added",
    ),
    _kind(
        "empty or missing value",
        r"none|null|empty|missing (?:value|key|check|guard)s?|guards?|zero|leer\w*|defaults?|fallback",
        "None guarded, empty guarded, index guarded, argument guarded, division guarded, fallback given, "
        "default given, condition guarded, choice added, statement guarded",
    ),
    _kind(
        "loop",
        r"loop\w*|iterat\w+|infinite|endless|never (?:ends|stops|terminates)|terminat\w+|hangs?|schleife\w*|endlos\w*",
        "range bound, jump swapped, update inserted, step inserted, iteration wrapped, "
        "moved out of block, moved into block",
        r"^\s*(?:for|while)\b",
    ),
    _kind(
        "recursion",
        r"recurs\w+|base case|rekursi\w+",
        "base case added, argument wrapped, value shifted",
    ),
    _kind(
        "initial value",
        r"initial\w*|starting value|start value|accumulat\w+|reset\w*|anfangswert\w*",
        "variable initialised, constant shifted, constant replaced, assignment accumulated, augmented assignment",
    ),
    _kind("shared state", r"mutable|shared|alias\w*|cop(?:y|ies|ied)|kopie\w*", "mutable default, copy taken"),
    _kind(
        "constant",
        r"constants?|magic number|numbers?|thresholds?|limits?|literals?|konstante\w*|zahl",
        "constant shifted, constant replaced, constant named, constant retyped, True/False flipped",
    ),
    _kind(
        "text",
        r"messages?|wording|strings?|texts?|labels?|spelling|meldung\w*",
        "text replaced, format swapped, f-prefix added, input read",
    ),
    _kind("pattern", r"regex\w*|regular expressions?|patterns?|muster", "text replaced", r"\bre\.\w+\("),
    _kind(
        "format",
        r"format\w*|f-?strings?|round\w*|digits?|decimals?|precision|rund\w+|nachkomma\w*",
        "f-prefix added, digits shown, format swapped, conversion added, call wrapped, call unwrapped",
    ),
    _kind(
        "type",
        r"types?|conversions?|convert\w*|casts?|integers?|floats?|isinstance|typ",
        "conversion added, constant retyped, class added, class replaced, call unwrapped, call wrapped",
    ),
    _kind("await", r"async|await\w*|coroutines?", "await added"),
    _kind(
        "printing",
        r"print\w*|newlines?|line breaks?|separators?|spaces?|ausgabe\w*",
        "print spread, print separated, earlier argument removed",
        r"\bprint\(",
    ),
    _kind("import", r"imports?|imported", "import added"),
    _kind(
        "branch",
        r"else|elif|branch\w*|cases?|zweig\w*",
        "else added, branch joined, moved out of else",
    ),
    _kind(
        "seen before",
        r"duplicates?|twice|already (?:seen|visited)|visited|seen|doppelt\w*",
        "seen guarded, condition extended, update inserted",
    ),
    _kind(
        "arguments",
        r"arguments?|parameters?|keywords?|passed|argumente?|parameter\w*",
        "arguments swapped, argument added, argument removed, argument wrapped, default given",
    ),
    _kind(
        "call",
        r"(?:wrong|other|missing) (?:method|function|call)s?|calls?|methods?",
        "function replaced, sibling call, call added, call wrapped, call unwrapped, method wrapped, method removed, "
        "inherited called",
    ),
    _kind("exceptions", r"except\w*|handlers?|catch\w*|ausnahme\w*", "class added, class replaced"),
    _kind(
        "not kept in step",
        r"out of step|kept in step|inconsistent|stale|not updated|forg[eo]t\w* to (?:update|undo|restore|remove)"
        r"|clean ?up|counters?|cached?",
        "update inserted",
    ),
    _kind("statement too much", r"superfluous|needless|too much|extra|überflüssig\w*", "statement deleted"),
    _kind("time", r"dates?|times?|seconds|durations?|timedelta|dauer", "duration whole, format swapped"),
)
"""What words mean which mistakes; each operator is in one row at least."""


class Hints(Struct):
    """What is judged earlier.

    Attributes:
        operators: their names.
        lines: of the files in question.
        told: what was understood, in a few words; empty if there is nothing.
    """

    operators: frozenset[str] = frozenset()
    lines: frozenset[Line] = frozenset()
    told: str = ""

    def of_kind(self, operator: str) -> float:
        """How much earlier the candidates of an operator come."""
        return _EARLIER if operator in self.operators else 1.0

    def of_place(self, path: str, first: int, last: int) -> float:
        """How much earlier candidates about some lines come; the most that it can be for one of them."""
        return _EARLIER if any((path, line) in self.lines for line in range(first, last + 1)) else 1.0

    def of_file(self, path: str) -> float:
        """The most that `of_place` can be in a file."""
        return _EARLIER if any(where == path for where, _ in self.lines) else 1.0


def read_hints(texts: Mapping[str, str], task: str, hints: Iterable[str] = ()) -> Hints:
    """What hints mean for the files in question.

    Args:
        texts: the files, by path.
        task: the user's words, in which a sentence may suspect something.
        hints: texts that are hints as a whole.
    """
    suspected = [part for part in _SENTENCE.split(task) if _SUSPECTS.search(part)]
    words = "\n".join(filter(None, [*hints, *suspected]))
    if not words:
        return Hints()
    plain = _QUOTED.sub(" ", _FILE.sub(" ", words))
    kinds = [kind for kind in KINDS if kind.words.search(plain)]
    named = frozenset(_named(texts, words))
    lines = named.union(_of_code(texts, [kind.code for kind in kinds if kind.code]))
    operators = frozenset().union(*(kind.operators for kind in kinds))
    return Hints(operators=operators, lines=lines, told="; ".join(_told(kinds, named)))


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
