"""Source files cut to a budget: whole where they fit, else the parts that the task is about."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

from codur.context.code_parts import Part, docstring_lines, lines_of, parts_of, used_statements
from codur.context.selection import Want
from codur.lazy import regex
from codur.structs import Struct, field
from codur.tools.code.syntax_trees import grammar_of

SHOWN_NAMES, _MANY_NAMES, _LONG_FILE = 6, 24, 400
"""Definitions that are named of what is left out; many of a file with so many lines, to be looked at by name."""
MIN_WINDOW_CHARS = 200
WINDOW_LINES = 40
"""Shown above and below a line of a file that has no parts, or of a long table."""
MODULE_CHARS = 1_500
"""With a function, of the code outside of all definitions: imports, and constants that it names."""
HEAD_CHARS = 700
"""A longer head of a class is shown by its first line alone."""
LONG_DOCSTRING = 4
"""Lines after its first one, of which a docstring may have as many where its function is only useful."""
_PASSAGES, _PASSAGE_LINES, _NEAR_LINES, _TELLING_CHARS = 3, 25, 5, 4
"""Of a text: passages, lines of one above and below, lines whose words count together, and letters of such a word."""
_NEARLY = 0.9
_MOST_LINES = 20_000  # of a longer text, which is data or a log, none is chosen: it would take seconds
_NOTE_CHARS = 60
_WORD = regex(r"[^\W\d]\w*")


class Excerpt(Struct, kw_only=False):
    """A file as a model sees it."""

    path: str
    text: str
    lines: int  # how many the file has
    whole: bool  # nothing was left out
    ranges: tuple[range, ...] = ()  # numbers (1-based) of the lines that are shown, in order


def fit(
    sources: Mapping[str, str], *, budget_chars: int, spare: int = 0, wants: Sequence[Want] = (), frame: int = 0
) -> list[Excerpt]:
    """Choose what of the files is shown.

    Each want is met in turn, as far as there is room: the whole function or method around a line with the head of its
    class and the file's imports, a range of lines, or the whole file. What was asked for is shown in any case.

    Args:
        sources: text by path, in the order in which the files are shown.
        budget_chars: characters at most, all files together.
        spare: of these, what is left free by what is useful only.
        wants: what should be shown, the most useful first; without any, each file in turn, in part if need be.
        frame: characters that each shown file takes beside its text.

    Returns:
        One excerpt for each file that anything is shown of, in the given order.
    """
    files = {path: _File(path, text, frame) for path, text in sources.items()}
    left = budget_chars
    for want in wants or [Want(path=path, partly=True) for path in sources]:
        if want.path in files:
            room = left - spare if want.need == "useful" else left
            left -= files[want.path].meet(want, room)
    for file in files.values():
        if file.hides_little:
            left -= file.meet(Want(path=file.path), left)
    return [file.excerpt() for file in files.values() if file.kept]


class _File(Struct, frozen=False, kw_only=False):
    """A file, and what is shown of it: half-open ranges of 0-based lines."""

    path: str
    text: str
    frame: int
    kept: list[range] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)
    _parts: list[Part] | None = None
    _size: int = 0

    def meet(self, want: Want, room: int) -> int:
        """Show what is wanted if it takes no more than `room` characters; gives the characters that it takes."""
        before = self._size
        if not self._lines:
            self._lines = lines_of(self.text)
            self._sizes = [0, *accumulate(len(line) + 1 for line in self._lines)]
        if want.most_lines and len(self._lines) > want.most_lines:
            return 0
        if want.need == "asked":
            # What the step names is shown though it does not fit: a request without it asks for a guess.
            room = max(room, self._sizes[-1] + self.frame)
        end = before + room
        if want.about:
            self._show_passages(want.about, end)
        elif want.line:
            self._show_around(want, end)
        elif not self._keep([range(len(self._lines))], end) and want.partly:
            self._show_parts(end)
        return self._size - before

    @property
    def hides_little(self) -> bool:
        """Whether nearly all of it is shown: to look at the rest would cost another request."""
        return sum(map(len, self.kept)) > _NEARLY * len(self._lines) > 0

    def excerpt(self) -> Excerpt:
        """The file as it is shown."""
        whole = self.kept == [range(len(self._lines))]
        ranges = tuple(range(part.start + 1, part.stop + 1) for part in self.kept)
        text = self.text if whole else "\n".join(self._rendered())
        return Excerpt(self.path, text, len(self._lines), whole=whole, ranges=ranges)

    def _keep(self, more: Iterable[range], end: int) -> bool:
        """Show more lines unless the file then takes more than `end` characters."""
        if not self.text:
            return False
        kept = merged([*self.kept, *more])
        # A note that is as long as what it leaves out would only hide it.
        small = [gap for gap in self._gaps(kept) if self._chars(gap) <= len(self._note(gap))]
        kept = merged([*kept, *small])
        notes = (self._note(gap) for gap in self._gaps(kept))
        size = self.frame + sum(self._chars(part) for part in kept) + sum(len(note) + 1 for note in notes)
        if size > end:
            return False
        self.kept, self._size = kept, size
        return True

    def _chars(self, part: range) -> int:
        return self._sizes[part.stop] - self._sizes[part.start]

    def _gaps(self, kept: Sequence[range]) -> Iterator[range]:
        ends = [range(0), *kept, range(len(self._lines), len(self._lines))]
        return (range(a.stop, b.start) for a, b in pairwise(ends) if a.stop < b.start)

    def _note(self, gap: range) -> str:
        """What is left out, in one line."""
        first = bisect_left(self.parts, gap.start, key=lambda part: part.start)
        last = bisect_left(self.parts, gap.stop, key=lambda part: part.start)
        inside = (part.name.rpartition(".")[2] for part in self.parts[first:last])
        names = list(dict.fromkeys(filter(None, inside)))
        most = SHOWN_NAMES if len(self._lines) < _LONG_FILE else _MANY_NAMES
        named = f": {', '.join(names[:most])}{', …' if len(names) > most else ''}" if names else ""
        lines = f"line {gap.start + 1}" if len(gap) == 1 else f"lines {gap.start + 1} to {gap.stop}"
        return f"# … {lines} not shown{named}"

    def _rendered(self) -> Iterator[str]:
        end = 0
        for part in self.kept:
            if part.start > end:
                yield self._note(range(end, part.start))
            yield from self._lines[part.start : part.stop]
            end = part.stop
        if end < len(self._lines):
            yield self._note(range(end, len(self._lines)))

    def _show_around(self, want: Want, end: int) -> None:
        """The part around a line, or a range of lines; of what is too long for the room, what is around the line."""
        line = min(want.line, len(self._lines)) - 1
        part = next((part for part in self.parts if part.start <= line < part.end), None)
        if want.end:
            wanted = range(line, min(want.end, len(self._lines)))
        elif part is not None and (part.name or part.end - part.start <= 2 * WINDOW_LINES):
            wanted = range(part.start, part.end)
        else:
            wanted = range(max(0, line - WINDOW_LINES), min(line + WINDOW_LINES + 1, len(self._lines)))
        if any(kept.start <= wanted.start and wanted.stop <= kept.stop for kept in self.kept):
            return
        told = self._told(want, part)
        if not self._keep([range(wanted.start, told.start), range(told.stop, wanted.stop)] if told else [wanted], end):
            wanted = self._window(line, wanted, (end - self._size) // 2)
            if not wanted or not self._keep([wanted], end):
                return
        for extra in self._surroundings(part):
            self._keep([extra], end)

    def _told(self, want: Want, part: Part | None) -> range:
        """The lines of a long docstring that give way to other code, as the function is only useful."""
        if want.need != "useful" or want.end or part is None or part.head < 0 or grammar_of(self.path) is not None:
            return range(0)
        lines = docstring_lines(self.text, part)
        return lines if len(lines) > LONG_DOCSTRING else range(0)

    def _surroundings(self, part: Part | None) -> Iterator[range]:
        """The heads of the classes around a part, the rest of its function, imports and constants as far as short."""
        names = part.name.split(".") if part is not None else []
        owners = {".".join(names[:depth]) for depth in range(1, len(names))}
        for head in self.parts:
            if head.name in owners:
                lines = range(head.start, head.end)
                # Of a long head (a docstring, many fields) the `class` line stays: a method is not understood without
                # its bases.
                first = max(head.head, head.start)
                yield lines if self._chars(lines) <= HEAD_CHARS else range(first, first + 1)
        yield from self._rest_of_function(part)
        room = MODULE_CHARS
        for lines in self._module_code(part):
            if self._chars(lines) <= room:
                room -= self._chars(lines)
                yield lines

    def _rest_of_function(self, part: Part | None) -> Iterator[range]:
        """Of a function that is shown in parts, as it is long, what is defined in it, and its other parts."""
        own = [each for each in self.parts if part is not None and part.name and each.name == part.name]
        if any("def " in self._lines[each.head] for each in own if each.head >= 0):
            inside = f"{own[0].name}."
            rest = (each for each in self.parts if each is not part and f"{each.name}.".startswith(inside))
            yield from (range(each.start, each.end) for each in rest)

    def _module_code(self, part: Part | None) -> Iterator[range]:
        """Of what is outside of all definitions, what a part may need: of Python its imports and what it names."""
        if part is not None and part.name and grammar_of(self.path) is None:
            names = _WORD.findall("\n".join(self._lines[part.start : part.end]))
            yield from used_statements(self.text, frozenset(names))
        else:
            yield from (range(other.start, other.end) for other in self.parts if not other.name)

    def _window(self, line: int, inside: range, room: int) -> range:
        """Whole lines around a line, as many as there is room for."""
        room -= 2 * _NOTE_CHARS + (0 if self.kept else self.frame)
        if room < MIN_WINDOW_CHARS:
            return range(0)
        start = stop = line
        while start > inside.start or stop < inside.stop:
            above, below = max(inside.start, start - 1), min(inside.stop, stop + 1)
            if self._chars(range(above, below)) > room:
                break
            start, stop = above, below
        return range(start, stop)

    def _show_passages(self, about: str, end: int) -> None:
        """Of a text without definitions what is around the lines that speak of something, the tellingest first."""
        if len(self._lines) > _MOST_LINES or any(part.name for part in self.parts):
            return
        said = [{word.casefold() for word in _WORD.findall(line)} for line in self._lines]
        wanted = {word.casefold() for word in _WORD.findall(about) if len(word) >= _TELLING_CHARS}
        spread = Counter(word for words in said for word in words & wanted)
        # A word that stands everywhere tells nothing; several on neighbouring lines tell more than one.
        near = [set().union(*said[max(0, n - _NEAR_LINES) : n + _NEAR_LINES + 1]) for n in range(len(said))]
        worth = {n: sum(1 / spread[word] for word in words & spread.keys()) for n, words in enumerate(near)}
        for _ in range(_PASSAGES):
            line = max(worth, key=lambda n: worth[n], default=0)
            if not worth.get(line):
                return
            lines = range(max(0, line - _PASSAGE_LINES), min(len(said), line + _PASSAGE_LINES + 1))
            self._keep([lines], end)
            worth = {n: value for n, value in worth.items() if n not in lines}

    def _show_parts(self, end: int) -> None:
        for part in self.parts:
            self._keep([range(part.start, part.end)], end)
        if not self.kept:
            head = bisect_left(self._sizes, end - self.frame - _NOTE_CHARS) - 1
            if head > 0:
                self._keep([range(head)], end)

    @property
    def parts(self) -> list[Part]:
        """The definitions in it, and what is between them; none if it has no parts."""
        if self._parts is None:
            self._parts = parts_of(self.path, self.text)
        return self._parts


def merged(ranges: Iterable[range]) -> list[range]:
    """The same lines in ranges that do not touch."""
    found: list[range] = []
    for part in sorted(filter(None, ranges), key=lambda part: part.start):
        if found and part.start <= found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, part.stop))
        else:
            found.append(part)
    return found
