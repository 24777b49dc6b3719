"""Lines of files that match a text or a regular expression.

Where ripgrep is installed it picks the files that can match, and only those are read; the lines are found by the same
code either way, so that the answers are the same.
"""

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated

from codur.lazy import regex
from codur.parsing.bounded_text import listed
from codur.tools.files.ripgrep import Wanted, candidates, required_bytes
from codur.tools.flow.outputs import Matches, Place
from codur.tools.tool import Arg, ToolContext, ToolError, tool
from codur.types import ToolResult
from codur.workspace.problems import FileError
from codur.workspace.workspace import Workspace

_MAX_MATCHES = 1_000
_MAX_FILES = 200_000
_MAX_LINE = 300
_MAX_LITERAL_CHARS = 500_000_000
_MAX_REGEX_CHARS = 20_000_000
_MAX_SCANNED_BYTES = 1_000_000_000  # of files that are too large to be read, so much is looked through at most
_REGEX_TIMEOUT_S = 5.0
_MAX_FAST_STEPS = 100_000_000
_REPEATING = regex(r"[*+?{]")
_ENTANGLING = regex(r"\||\(\?|\\\d")
_REGEX_PROGRAM = """
import json, re, sys
task = json.load(sys.stdin)
pattern = re.compile(task["pattern"], task["flags"])
found = []
for path, text in task["files"]:
    for number, line in enumerate(text.split("\\n"), 1):
        if pattern.search(line):
            found.append([path, number, line[:task["width"]]])
            if len(found) >= task["limit"]:
                break
    if len(found) >= task["limit"]:
        break
json.dump(found, sys.stdout)
"""
"""Runs in a process of its own, because a search in this one cannot be stopped when a pattern takes for ever."""


class _Search(Wanted):
    """What is looked for, and where."""

    path: str
    glob: str | None


@tool(Matches)
def grep_files(
    context: ToolContext,
    pattern: Annotated[str, Arg("Text to find, or a Python regular expression if regex is true.", "symbol")],
    path: Annotated[str, Arg("File or directory to search; the workspace if left out.", "path", "directory")] = "",
    glob: Annotated[str | None, Arg("Only files that match this glob, such as *.py.")] = None,
    regex: Annotated[bool, Arg("Read pattern as a regular expression.")] = False,
    ignore_case: Annotated[bool, Arg("Letter case makes no difference.")] = False,
    limit: Annotated[int, Arg("Matches at most.")] = 100,
) -> ToolResult:
    """Find lines in files by text or regular expression."""
    if not pattern or "\n" in pattern:
        raise ToolError("invalid", "what is looked for must be one line of text that is not empty")
    limit = max(1, min(limit, _MAX_MATCHES))
    given = _Search(pattern=pattern, path=path, glob=glob, regex=regex, ignore_case=ignore_case)
    search = _regex_matches if regex else _literal_matches
    skipped: list[str] = []
    matches = search(context, given, limit + 1, skipped)
    shown = matches[:limit]
    lines = [f"{place.path}:{place.line}: {place.text}" for place in shown]
    if len(matches) > limit:
        lines.append(f"… more than {limit} matches; narrow the pattern or the path")
    if not lines:
        lines.append(f"no line matches {pattern}")
    if skipped:
        lines.append(f"not searched (too large, not readable, or may hold secrets): {listed(skipped, 3)}")
    return ToolResult(
        text="\n".join(lines), data=Matches(matches=tuple(shown), complete=len(matches) <= limit and not skipped)
    )


def _literal_matches(context: ToolContext, given: _Search, limit: int, skipped: list[str]) -> list[Place]:
    matches = _line_test(given)
    texts = _texts(context, given, skipped, _MAX_LITERAL_CHARS)
    return _found(((path, text) for path, text in texts if matches(text)), matches, limit)


def _found(texts: Iterable[tuple[str, str]], matches: Callable[[str], object], limit: int) -> list[Place]:
    """The first lines that match, `limit` of them at most."""
    lines = ((path, *row) for path, text in texts for row in enumerate(text.split("\n"), start=1))
    found = (Place(path=path, line=number, text=line[:_MAX_LINE]) for path, number, line in lines if matches(line))
    return list(islice(found, limit))


def _surely_fast(pattern: str, texts: Sequence[tuple[str, str]]) -> bool:
    """Whether a search takes less than a second or so whatever the lines hold.

    With one repetition at most, and no choice, reference or look around, the rest of the pattern is compared once for
    each place where a match can begin and each length of what is repeated.
    """
    if _ENTANGLING.search(pattern) or len(_REPEATING.findall(pattern)) > 1:
        return False
    return sum(len(line) ** 2 for _, text in texts for line in text.split("\n")) * len(pattern) <= _MAX_FAST_STEPS


def _line_test(given: _Search) -> Callable[[str], bool]:
    if not given.ignore_case:
        return lambda text: given.pattern in text
    pattern = re.compile(re.escape(given.pattern), re.IGNORECASE)
    return lambda text: pattern.search(text) is not None


def _regex_matches(context: ToolContext, given: _Search, limit: int, skipped: list[str]) -> list[Place]:
    flags = re.IGNORECASE if given.ignore_case else re.NOFLAG
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(given.pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolError("invalid", f"the pattern is no regular expression: {error}") from error
    texts = list(_texts(context, given, skipped, _MAX_REGEX_CHARS))
    if _surely_fast(given.pattern, texts):
        return _found(texts, re.compile(given.pattern, flags).search, limit)
    task = {"pattern": given.pattern, "flags": int(flags), "files": texts, "width": _MAX_LINE, "limit": limit}
    outcome = context.launcher.run(
        [sys.executable, "-I", "-S", "-c", _REGEX_PROGRAM],
        cwd=Path("/"),
        root=Path("/"),
        stdin=json.dumps(task).encode(),
        timeout_s=min(_REGEX_TIMEOUT_S, context.timeout_s),
        max_output_bytes=4_000_000,
    )
    if outcome.timed_out:
        raise ToolError("timeout", "the search took too long; use a simpler pattern or a narrower path")
    if outcome.exit_status != 0 or outcome.truncated:
        raise ToolError("failed", "the search could not be finished; use a narrower pattern or path")
    return [Place(path=path, line=number, text=line) for path, number, line in json.loads(outcome.stdout)]


def _texts(context: ToolContext, given: _Search, skipped: list[str], limit: int) -> Iterator[tuple[str, str]]:
    """Path and text of each file that can match, up to `limit` characters. Binary files are passed over, and too large
    ones that surely hold no match; others that cannot be read are added to `skipped`.
    """
    workspace = context.workspace
    # A file that was named and cannot be read is an error; one that was merely come across is told at the end.
    single = workspace.is_file(given.path)
    names = [workspace.relative(given.path)] if single else _candidates(context, given, skipped)
    too_large = _TooLarge(workspace, given)
    left = limit
    for name in names:
        try:
            text = workspace.peek_text(name)
        except FileError as error:
            if single:
                raise
            # A file that nobody looked into must not count as one without a match.
            if error.code != "binary" and not (error.code == "too_large" and too_large.surely_misses(name)):
                skipped.append(name)
            continue
        left -= len(text)
        if left < 0:
            raise ToolError("too_large", "there is too much text to search; give a narrower path or glob")
        yield name, text


def _candidates(context: ToolContext, given: _Search, skipped: list[str]) -> list[str]:
    workspace = context.workspace
    if not workspace.resolve(given.path).exists():
        raise ToolError("not_found", f"there is no file or directory {given.path}")
    found = workspace.find_files(given.path, pattern=given.glob, limit=_MAX_FILES)
    # Before anything looks into them: that a file matches tells something of it.
    withheld = {name for name in found.paths if workspace.withholds(name)}
    skipped += sorted(withheld)
    return candidates(context, [name for name in found.paths if name not in withheld], found.links, given)


class _TooLarge:
    """Tells of files that are too large to be read whether their bytes can hold a match."""

    def __init__(self, workspace: Workspace, given: _Search) -> None:
        self._workspace = workspace
        self._expression = required_bytes(given)
        self._left = _MAX_SCANNED_BYTES

    def surely_misses(self, name: str) -> bool:
        if self._expression is None or self._left <= 0:
            return False
        try:
            holds, size = self._workspace.holds_bytes(name, self._expression, limit=self._left)
        except FileError:  # it has gone since, or may not be read: told as not searched
            return False
        self._left -= size
        return not holds and self._left > 0


TOOLS = (grep_files,)
