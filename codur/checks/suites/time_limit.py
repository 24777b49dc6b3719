"""The time that a request gives a program: "python bench.py takes 7 s, get it under 1 s"."""

import re
from posixpath import splitext

from codur.checks.entry import look
from codur.lazy import regex
from codur.python.test_command import PYTHON
from codur.structs import Struct
from codur.workspace.workspace import Workspace

_RUNNERS = {".py": PYTHON, ".js": "node", ".mjs": "node", ".sh": "sh"}
_PROGRAM = regex(r"(?<![\w./-])(?:\./)?((?:[\w-]+/)*[\w-]+(?:\.py|\.m?js|\.sh))(?![\w/-])")
_WORDS = regex(r"(?: [^\s`;|&<>$]+)*")
_LIMIT = regex(
    r"(?:\b(?:under|below|within|(?:less|faster|quicker|(?:no|not) more) than|at most)|<=?)\s*"
    r"(\d+(?:\.\d+)?|a|one|half a) ?(ms|milliseconds?|s|secs?|seconds?|min|minutes?)\b",
    re.IGNORECASE,
)
_MEANT = regex(
    r"\b(?:slow\w*|fast\w*|quick\w*|speed\w*|takes?|runs?|ends?|finish\w*|complete\w*|bench\w*|perf\w*|get|bring)\b",
    re.IGNORECASE,
)
_OF_THE_PROGRAM = regex(r"\b(?:timeouts?|time out|retr\w+|wait\w*|sleep\w*|ttl|expir\w*|poll\w*|interval\w*|\w*ago)\b")
"""What is to take so long is something that the program does then, and not its run."""
_MEASURES = regex(r"bench|perf|speed|soak|load|profil|timing|measure", re.IGNORECASE)
_LONGEST = 1_000
"""Characters of a request; a longer one is about more than that."""
_PRINTED = regex(r"(?<![\w.])(\d+(?:\.\d+)?)(?: ?(ms|s|sec|seconds)\b|[ \t]*$)", re.MULTILINE)


class TimeLimit(Struct):
    """A command, the seconds that it may take, and the file that measures it, which nobody changes; empty if none."""

    argv: tuple[str, ...]
    within_s: float
    measure: str


def time_limit(workspace: Workspace, prompt: str) -> TimeLimit | None:
    """The one program of the workspace for which a request names one limit; None if it names none, or several."""
    limits = _LIMIT.findall(prompt) if len(prompt) <= _LONGEST else []
    if len(limits) != 1 or not _MEANT.search(prompt) or _OF_THE_PROGRAM.search(prompt):
        return None
    said: dict[str, list[str]] = {}
    for found in _PROGRAM.finditer(prompt):
        path, rest = found[1], _WORDS.match(prompt, found.end())
        if workspace.is_file(path) and (not path.endswith(".py") or look(workspace, path).script):
            said.setdefault(path, []).extend(_arguments(workspace, rest[0] if rest else ""))
    if len(said) != 1:
        return None
    ((path, words),) = said.items()
    argv = (_RUNNERS[splitext(path)[1]], path, *dict.fromkeys(words))
    return TimeLimit(argv=argv, within_s=seconds(*limits[0]), measure=path if _MEASURES.search(path) else "")


def printed_within(output: str, within_s: float) -> bool:
    """Whether all times that a program prints of itself are within a limit, and it prints any."""
    told = [seconds(number, unit or "s") for number, unit in _PRINTED.findall(output)]
    return bool(told) and max(told) <= within_s


def seconds(number: str, unit: str) -> float:
    """A time in words in seconds: `0.5`, `a` or `half a`, and the unit."""
    value = {"a": 1.0, "one": 1.0, "half a": 0.5}.get(number.lower()) or float(number)
    return value * (60 if unit.lower().startswith("min") else 0.001 if unit.lower().startswith("m") else 1)


def _arguments(workspace: Workspace, rest: str) -> list[str]:
    """Which words behind a program are given to it: files, options and numbers, up to the first word of a sentence."""
    found = []
    for word in rest.split():
        if not (word.startswith("-") or word.isdigit() or workspace.is_file(word)):
            break
        found.append(word)
    return found
