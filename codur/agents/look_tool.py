"""How an agent that edits looks at more than it was shown: one compact tool, carried out by those of the toolbox.

And what a conversation has shown of the files, so that edits which go beyond that are known.
"""

import difflib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from codur.context.excerpts import merged
from codur.lazy import regex
from codur.parsing.bounded_text import beginning, listed
from codur.tools.code.definitions import dotted
from codur.tools.toolbox import Toolbox
from codur.types import ToolCall, ToolResult, ToolSpec

_BESIDE = 15  # lines above and below one that is shown because an edit meant it
_SMALL = 60  # a file of so many lines is shown whole instead


class Sight:
    """The lines (1-based) of each file that were shown."""

    def __init__(self) -> None:
        self._lines: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, shown: Mapping[str, Iterable[range]]) -> None:
        """Take note of what a request shows."""
        for path, ranges in shown.items():
            self._lines[path].update(*ranges)

    def holds(self, path: str, lines: range) -> bool:
        """Whether all of these lines were shown."""
        return self._lines[path].issuperset(lines)

    def blind(self, path: str, before: str, after: str) -> tuple[range, ...]:
        """The lines of `before` that a change takes out and that were not shown; empty lines do not count."""
        old, seen = before.split("\n"), self._lines[path]
        unseen = (
            range(lines[0], lines[-1] + 1)
            for touched in _touched(old, after.split("\n"))
            if (lines := [line for line in touched if line not in seen and old[line - 1].strip()])
        )
        return tuple(unseen)


def windows(ranges: Iterable[range], count: int) -> list[range]:
    """The ranges of a file of `count` lines with the lines around them; those that meet are one."""
    if count <= _SMALL:
        return [range(1, count + 1)]
    return merged(range(max(1, lines.start - _BESIDE), min(count + 1, lines.stop + _BESIDE)) for lines in ranges)


def _touched(old: list[str], new: list[str]) -> Iterator[range]:
    """The lines (1-based) of `old` that are not in `new` any more."""
    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    tail = next((at for at in range(least - head) if old[-1 - at] != new[-1 - at]), least - head)
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    for tag, start, end, _, _ in difflib.SequenceMatcher(None, *middle).get_opcodes():
        if tag in {"replace", "delete"}:
            yield range(head + start + 1, head + end + 1)


LOOK, RUN_CHECK, ASK, CANNOT, FINISH = "look", "run_check", "ask_user", "cannot", "finish"
READS = ("read_file", "find_definition", "find_usages", "grep_files", "list_files", "python_ast_outline")
"""Tools of the toolbox that are carried out as well if a model calls them, offered or not."""
ITEMS = 6
"""What one call may look at."""
MIN_CHARS = 300
_LINE_CHARS = 40
_EXACT_SHARE = 1.5  # of the room of a look, which lines that are asked for exactly may take
_AROUND, _NAMES = 20, 15
_PLACES, _USES, _USES_CHARS = 3, 20, 1500
_LINES = regex(r"(?P<path>.+?)(?::|#L| lines? )(?P<start>\d+)(?:\s*(?:-|to|:|L)+\s*(?P<end>\d+))?")
_WITHIN = regex(r"(?P<path>.+?)(?:::|(?:(?<=\.(?:py|js|ts|go|rs|rb))|(?<=\.php)):(?=[^\W\d]))(?P<name>.+)")
_ABSENT = "No file, folder or definition is called {}"
_NAME = regex(r"(?:[^\W\d]\w*\.)*(?:[^\W\d]\w*[?!]?|\[\]=?)")
_FILE = regex(r"[\w./-]+/[\w.-]+\.\w+|[\w-]+\.(?:py|md|rst|txt|toml|cfg|json|yaml|yml|js|ts|go|rs|rb|php)")
_FOLDER = regex(r"[\w.-]+(?:/[\w.-]+)*/|[\w.-]+(?:/[\w.-]+)+")


def specs(*, looks: bool, check: bool, finish: bool = False, answered: bool = True) -> tuple[ToolSpec, ...]:
    """What is offered beside the editing tools: looking, running the check if there is one, asking, giving up.

    Args:
        finish: tests fail that may not be about the task.
        answered: somebody is there who may answer a question.
    """
    look = _spec(
        LOOK,
        f"See more before you edit, at most {ITEMS} items at a time: a file (`a.py`), lines of it (`a.py:10-80`), a"
        " folder, the name of a function, class or test (its definition and uses), or any text to search for.",
        at={"type": "array", "items": {"type": "string"}},
    )
    run = _spec(RUN_CHECK, "Run the check on the files as they are now, before your edits.")
    ask = _spec(
        ASK,
        f"{'Ask the user' if answered else 'End with a question'}, if the task can be meant in ways"
        f" that need different programs{'; at most once' if answered else ''}.",
        question={"type": "string"},
    )
    cannot = _spec(
        CANNOT,
        "End without an edit: what is asked cannot be done, or the check itself is wrong or cannot run.",
        reason={"type": "string"},
    )
    done = _spec(
        FINISH,
        "With your edits, or alone, which applies the last edit that broke nothing again: that is all that is asked,"
        " and the tests that failed before are not about it or cannot pass here. Say why.",
        reason={"type": "string"},
    )
    offered = ((look, looks), (run, looks and check), (ask, True), (cannot, True), (done, finish))
    return tuple(spec for spec, wanted in offered if wanted)


def _spec(name: str, description: str, **properties: Mapping[str, object]) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolSpec(name=name, description=description, parameters=schema)


class Looks:
    """Carries looks out, and keeps which lines were shown."""

    def __init__(self, toolbox: Toolbox, sight: Sight) -> None:
        self._toolbox = toolbox
        self._sight = sight
        self.told: list[str] = []  # what was looked at, in a few words each
        self.ranges: list[str] = []  # the parts of files that were shown, as `path:start-end`, the latest last

    def carry_out(self, call: ToolCall, room: int) -> str:
        """What a call shows, in `room` characters."""
        if call.name != LOOK:
            self.told.append(call.name + "".join(f" {value}" for value in list(call.arguments.values())[:1]))
            return self._call(call.name, room, **call.arguments)
        given = call.arguments.get("at", next(iter(call.arguments.values()), ()))
        items = [given] if isinstance(given, str) else given if isinstance(given, list | tuple) else ()
        wanted = [str(item).strip().strip("`") for item in items if str(item).strip()]
        self.told += wanted[:ITEMS]
        if not wanted:
            return "error: say what to look at, such as a file, a name or a text"
        # What is searched for takes little, and leaves its room to lines that are asked for exactly. These may take
        # more than that, as the rest of them would cost a request; whole files have to do with what is left, but for
        # their share if they are short.
        sizes = [self._size(item) for item in wanted[:ITEMS]]
        whole = [self._is_whole(item) for item in wanted[:ITEMS]]
        order = sorted(range(len(sizes)), key=lambda at: (whole[at], sizes[at]))
        parts = [partial(self._item, wanted[at]) for at in order]
        exact = len(parts) - sum(whole)
        least = sum(max(MIN_CHARS, min(sizes[at] * _LINE_CHARS, room // len(parts))) for at in order if whole[at])
        shown = _in_turn(parts[:exact], int(room * _EXACT_SHARE) - least)
        shown += _in_turn(parts[exact:], max(least, room - sum(map(len, shown))))
        left_out = [f"(at most {ITEMS} at a time; left out: {', '.join(wanted[ITEMS:])})"] if wanted[ITEMS:] else []
        return "\n\n".join([*(text for _, text in sorted(zip(order, shown, strict=True))), *left_out])

    def lines(self, path: str, lines: range, room: int) -> str:
        """Some lines of a file, under its name."""
        return self._call("read_file", room, path=path, start_line=lines.start, end_line=lines.stop - 1)

    def count(self, path: str) -> int:
        """How many lines a file has; 0 if it cannot be shown."""
        data = self._toolbox.call("read_file", {"path": path}).data
        return int(data["total_lines"]) if isinstance(data, dict) else 0

    def _size(self, item: str) -> int:
        """How many lines of a file an item asks for, at most; 0 if it is none."""
        some, within = _LINES.fullmatch(item), _WITHIN.fullmatch(item)
        if some is not None and some["end"]:
            return int(some["end"]) - int(some["start"])
        return self.count(within["path"] if within is not None else item)

    def _is_whole(self, item: str) -> bool:
        """Whether an item is a file, and no part of one."""
        return not (_LINES.fullmatch(item) or _WITHIN.fullmatch(item)) and self.count(item) > 0

    def _item(self, item: str, room: int) -> str:
        within = _WITHIN.fullmatch(item)
        parts = item.split("::")
        # In Rust, Ruby and C++ what stands before it may be a module.
        if len(parts) > 1 and not self.count(parts[0]):
            if self._toolbox.call("read_file", {"path": parts[0]}).code == "not_a_file":
                return self._text("::".join(parts[1:]), room, path=parts[0])
            name = dotted(parts[-1] if "[]" in parts[-1] else parts[-1].partition("[")[0])
            return self._named(name, room) if _NAME.fullmatch(name) else self._text(item, room)
        if within is not None:
            return self._named(within["name"].partition("[")[0].replace("::", "."), room, within["path"])
        file = self._toolbox.call("read_file", {"path": item})
        if file.ok:
            return self._shown(file, item, room)
        some = _LINES.fullmatch(item)
        if some is not None and file.code == "not_found" and self.count(some["path"]):
            start, end = int(some["start"]), int(some["end"] or 0)
            first, last = (start, end) if end else (max(1, start - _AROUND), start + _AROUND)
            return self._call("read_file", room, path=some["path"], start_line=first, end_line=last)
        if file.code == "not_a_file":
            return self._call("list_files", room, path=item)
        if file.code != "not_found":
            return f"{item}: error: {file.text}"
        if _NAME.fullmatch(dotted(item)) and not _FILE.fullmatch(item):
            return self._named(dotted(item), room)
        kind = "file" if _FILE.fullmatch(item) else "file or folder" if _FOLDER.fullmatch(item) else ""
        return (f"There is no {kind} {item}.\n" if kind else "") + self._text(item.rstrip("/"), room)

    def _named(self, name: str, room: int, path: str = "") -> str:
        """Where a name is defined, with the text, and where it is used."""
        found = self._toolbox.call("find_definition", {"name": name, **({"path": path} if path else {})})
        if not found.ok:
            hits = self._toolbox.call("grep_files", {"pattern": name, "path": path, "limit": _USES})
            places = hits.data.get("matches", ()) if isinstance(hits.data, dict) else ()
            absent = _ABSENT.format(name) + ("; the text stands in:\n" if places else "\n")
            stands = ("" if path else absent) + self._shown(hits, f"{name} {path}".rstrip(), min(room, _USES_CHARS))
            # Of an attribute the functions that use it tell what its lines alone do not.
            around = dict.fromkeys((str(hit["path"]), self._around(str(hit["path"]), hit["line"])) for hit in places)
            functions = [partial(self.lines, where, lines) for where, lines in around if len(lines) > 1]
            return "\n".join([stands, *_in_turn(functions[:_PLACES], room - len(stands))])
        parts = [partial(self._definition, place, name) for place in found.data["places"][:_PLACES]]
        uses = partial(self._text, name.rpartition(".")[2])
        # The text of the definition first: of its uses the first few tell the most.
        shown = _in_turn(parts, room - min(_USES_CHARS, room // 2))
        return "\n".join([*shown, uses(max(MIN_CHARS, room - sum(map(len, shown))))])

    def _definition(self, place: Mapping[str, object], name: str, room: int) -> str:
        path, line = str(place["path"]), int(str(place["line"]))
        lines = self._around(path, line, name.rpartition(".")[2])
        if self._sight.holds(path, lines):
            return f"{name} (lines {lines.start} to {lines.stop - 1} of {path}) is shown above"
        return self.lines(path, lines, room)

    def _around(self, path: str, line: int, name: str = "") -> range:
        """The lines of the smallest definition around a line, of that name if one is given; else the line."""
        found = [
            range(item["start_line"], item["end_line"] + 1)
            for item in self._definitions(path)
            if item["start_line"] <= line <= item["end_line"] and name in {"", item["name"].rpartition(".")[2]}
        ]
        return min(found, key=len, default=range(line, line + 1))

    def _definitions(self, path: str) -> Sequence[Mapping[str, Any]]:
        outline = self._toolbox.call("python_ast_outline", {"path": path}).data
        return outline["definitions"] if isinstance(outline, dict) else ()

    def _text(self, text: str, room: int, path: str = "") -> str:
        found = self._call("grep_files", room, pattern=text, path=path, limit=_USES)
        return found.replace("narrow the pattern or the path", f"`FOLDER::{text}` searches one folder")

    def _call(self, tool: str, room: int, /, **arguments: object) -> str:
        told = " ".join(str(value) for value in arguments.values() if isinstance(value, str) and value)
        return self._shown(self._toolbox.call(tool, arguments), told, room)

    def _shown(self, result: ToolResult, told: str, room: int) -> str:
        """A result as text, and its lines taken note of."""
        data = result.data if isinstance(result.data, dict) else {}
        if not result.ok:
            return f"{told}: error: {result.text}"
        if "total_lines" not in data:
            found = data.get("matches") or data.get("places") or ()
            text = beginning(result.text, room)
            for place in found[: text.count("\n") + 1]:  # one by one: several may be in one file
                self._sight.add({place["path"]: [range(place["line"], place["line"] + 1)]})
            return f"{told}, wherever it is:\n{text}" if "matches" in data else f"{told}:\n{text}"
        path, first = str(data["path"]), int(data["start_line"])
        text = beginning(result.text, room, first)
        whole = len(result.text) <= room
        lines = range(first, int(data["end_line"]) + 1 if whole else first + text.count("\n"))
        self._sight.add({path: [lines]})
        self.ranges.append(f"{path}:{lines.start}-{lines.stop - 1}")
        shown = f"lines {first} to {lines.stop - 1} of {data['total_lines']}"
        text = text.rstrip() + ("" if whole else self._names(path, range(lines.stop, int(data["end_line"]) + 1)))
        return f"===== {path} ({shown})\n{text}\n===== end of {path}"

    def _names(self, path: str, lines: range) -> str:
        """What is said of the definitions that begin in lines which did not fit."""
        found = [item for item in self._definitions(path) if item["start_line"] in lines]
        names = [f"{item['name']} ({item['start_line']})" for item in found]
        return f"\n… there begin: {listed(names, _NAMES)}" if names else ""


def _in_turn(parts: Sequence[Callable[[int], str]], room: int) -> list[str]:
    """What the parts show; what one leaves of its share of the room goes to those after it."""
    shown: list[str] = []
    for number, part in enumerate(parts):
        left = room - sum(map(len, shown))
        shown.append(part(max(MIN_CHARS, left // (len(parts) - number))))
    return shown


def size_of(tools: Iterable[ToolSpec]) -> int:
    """Characters that tools take in a request."""
    return sum(len(tool.name) + len(tool.description) + len(json.dumps(dict(tool.parameters))) + 60 for tool in tools)
