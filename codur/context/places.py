"""Places in source files that the output of a failed check names, and bodies that are still to be written there."""

import re
from collections.abc import Collection, Iterator

from codur.lazy import regex
from codur.structs import Struct

_FRAME = regex(r'File "([^"\n]+)", line (\d+)(?:, in (\S+))?')  # a frame as Python prints it
_COLON = regex(r"^[ \t]*(?:-->[ \t]*)?([\w./+@-]+\.\w+):(\d+)(?::\d+)?(?::? in (\w+))?", re.MULTILINE)
"""A frame as pytest prints it, and `file:line` at the beginning of a line as compilers and most test runners do."""
_ELSEWHERE = regex(
    r"(?:\bat (?P<package>(?:[\w$]+\.)*)[\w$]+\.(?P<method>[\w$<>]+)\()?"
    r"(?<![\w./+@-])(?P<path>[\w./+@-]*[\w+@-]\.(?:[cm]?[jt]sx?|go|rs|java|kt|rb|php|cs|[ch](?:c|h|pp|xx)?))"
    r"(?::(?:line )?|\()(?P<line>\d+)(?!\w)"
)
"""`file:line` or `file(line` of other languages anywhere in a line: stacks of JavaScript, Go and Java, panics of Rust,
failed assertions of C, frames of Ruby, PHP and C#. Java tells the package and the file's name alone."""
_TEST_ID = regex(r"^(?:FAILED |ERROR )?([\w./-]+?)::(?:(\w+)::)?(\w+)", re.MULTILINE)
"""`tests/test_a.py::TestX::test_y`, or the same as a report has it: `tests.test_a.TestX::test_y`."""
MAX_PLACES = 40
_UNFINISHED = regex(
    r"raise NotImplementedError|^(?:E +)?NotImplementedError"
    r'|^ *(?:async )?def .*:\n(?: +""".*"""\n)? +(?:pass|\.\.\.)$'
    # Rust's macros and what they print; Go, JavaScript; Java, C#
    r"|\b(?:todo|unimplemented)!|\b(?i:not (?:yet )?implemented)\b|\b(?:panic|throw new \w+)\W.*\bimplement\b"
    r"|\b(?:UnsupportedOperation|NotImplemented)Exception\b",
    re.MULTILINE,
)
_HUNK = regex(r"@@ -(\d+)(?:,\d+)? \+(\d+)")
_HUNK_CONTEXT = 3


class Place(Struct):
    """A line (1-based; 0 if only the function is known) in a file of the workspace."""

    path: str
    line: int
    function: str = ""


def places_in(text: str, files: Collection[str]) -> tuple[Place, ...]:
    """The places in files of the workspace that a text names: the innermost of each traceback first, then outwards.

    Args:
        text: the output of a failed check.
        files: the workspace's files.
    """
    known = _Known(files)
    found: list[tuple[int, Place]] = []
    for pattern in (_FRAME, _COLON):
        for match in pattern.finditer(text):
            path = known.path(match[1])
            if path is not None and not _ELSEWHERE.fullmatch(f"{path}:1"):
                found.append((match.start(), Place(path=path, line=int(match[2]), function=match[3] or "")))
    for match in _ELSEWHERE.finditer(text):
        package = (match["package"] or "").replace(".", "/")
        path = known.path(package + match["path"]) or known.path(match["path"])
        if path is not None:
            found.append((match.start("path"), Place(path=path, line=int(match["line"]))))
    found.sort(key=lambda item: item[0])
    # Python tells the innermost frame last, the others first.
    traces = (trace[::-1] if trace[0].path.endswith(".py") else trace for trace in _traces(text, found))
    ordered = [place for trace in traces for place in trace]
    tests = [place for match in _TEST_ID.finditer(text) for place in known.test(match)]
    seen = {(place.path, place.function) for place in ordered}
    ordered += [place for place in tests if (place.path, place.function) not in seen]
    return tuple(dict.fromkeys(ordered))[:MAX_PLACES]


def is_unfinished(text: str) -> bool:
    """Whether a source, or the lines of one that an error shows, has a body that is still to be written."""
    return _UNFINISHED.search(text) is not None


def edited_lines(diff: str, *, after: bool = False) -> str:
    """The places of a diff's hunks, a line each as `places_in` reads them: in the files before it, or `after` it."""
    found, path = [], ""
    mark, prefix = ("+++ ", "b/") if after else ("--- ", "a/")
    for line in diff.splitlines():
        if line.startswith(mark):
            path = line[4:].partition("\t")[0].removeprefix(prefix)
        elif (match := _HUNK.match(line)) and path != "/dev/null":
            found.append(f"{path}:{int(match[2 if after else 1]) + _HUNK_CONTEXT}")
    return "\n".join(found)


def _traces(text: str, found: list[tuple[int, Place]]) -> Iterator[list[Place]]:
    """The places in groups: an empty line between two of them begins another traceback."""
    group: list[Place] = []
    last = 0
    for position, place in found:
        if group and "\n\n" in text[last:position]:
            yield group
            group = []
        group.append(place)
        last = position
    if group:
        yield group


class _Known:
    """The workspace's files, found by the path or the end of a path that an output gives."""

    def __init__(self, files: Collection[str]) -> None:
        self._files = frozenset(files)
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self._files):
            self._by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)

    def path(self, told: str) -> str | None:
        told = told.removeprefix("./")
        if told in self._files:
            return told
        same = self._by_name.get(told.rsplit("/", 1)[-1], [])
        ends = [path for path in same if told.endswith(f"/{path}")] or [p for p in same if p.endswith(f"/{told}")]
        return max(ends, key=len) if ends and (told.startswith("/") or len(ends) == 1) else None

    def test(self, match: re.Match[str]) -> Iterator[Place]:
        told, _, name = match.groups()
        if "/" in told or told.endswith(".py"):
            path = self.path(told)
        else:
            parts = told.split(".")
            tries = ("/".join(parts[:end]) + ".py" for end in range(len(parts), 0, -1))
            path = next((found for found in map(self.path, tries) if found is not None), None)
        if path is not None:
            yield Place(path=path, line=0, function=name)
