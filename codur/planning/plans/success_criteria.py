"""What is said of a step that must hold, as far as code can check it; what is none of these forms a model judges.

    output is not empty · output is empty · output contains TEXT · output lacks TEXT · exit status N
    FILE exists · FILE is gone · FILE contains TEXT · FILE lacks TEXT · FILE changed

Several are joined by semicolons. TEXT may be put in quotes or backquotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from codur.types import Step

_OUTPUT = re.compile(r"(?:the )?output (is not empty|is empty|contains|lacks)(?: (.+))?", re.IGNORECASE | re.DOTALL)
_EXIT = re.compile(r"exit (?:status|code)(?: is)? (\d{1,3})", re.IGNORECASE)
_FILE = re.compile(r"`?([^\s`;]*[./][^\s`;]*)`? (exists|is gone|changed|contains|lacks)(?: (.+))?", re.DOTALL)
_QUOTES = ("``", '""', "''")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What there is to look at after a step.

    Attributes:
        output: the step's output.
        exit_status: of the program that the step ran; None if it ran none.
        runs: the step is to run a program; where it is not, criteria about its exit status are not looked at.
        changed: paths that the step changed.
        text: the text of a file of the workspace; None if there is none.
    """

    output: str
    exit_status: int | None
    changed: Collection[str]
    text: Callable[[str], str | None]
    runs: bool = True


def said_of(step: Step) -> str:
    """All that must hold after a step, in one text."""
    return "; ".join(text for text in (step.success_criteria, step.expected_output) if text.strip())


def undecided(criteria: str, *, runs: bool) -> tuple[str, ...]:
    """Those of the criteria that code cannot decide.

    Args:
        runs: as in `Outcome`.
    """
    return tuple(part for part in _parts(criteria) if not _kind(part) or (_kind(part) == "exit" and not runs))


def is_of_exit(criterion: str) -> bool:
    """Whether a criterion is about the exit status of a program."""
    return _kind(criterion) == "exit"


def checkable(criteria: str) -> tuple[str, ...]:
    """Those of the criteria that code can check."""
    return tuple(part for part in _parts(criteria) if _kind(part))


def unmet(criteria: str, outcome: Outcome) -> str:
    """The first criterion that code can check and that does not hold; empty if there is none."""
    parts = (part for part in checkable(criteria) if outcome.runs or _kind(part) != "exit")
    return next((part for part in parts if not _holds(part, outcome)), "")


def out_of_reach(criteria: str, fixed: Collection[str], text: Callable[[str], str | None]) -> str:
    """The first criterion about a file that cannot change and for which it does not hold; empty if there is none.

    Args:
        fixed: paths of the files that cannot change.
        text: the text of a file as it is; None if there is none.
    """
    now = Outcome(output="", exit_status=None, changed=(), text=text)
    files = ((part, _FILE.fullmatch(part)) for part in checkable(criteria) if _kind(part) == "file")
    return next((part for part, match in files if match and match[1] in fixed and not _holds(part, now)), "")


def _parts(criteria: str) -> list[str]:
    return [
        part.strip().rstrip(".") for part in re.split(r";(?=(?:[^`\"]|`[^`]*`|\"[^\"]*\")*$)", criteria) if part.strip()
    ]


def _kind(part: str) -> str:
    output = _OUTPUT.fullmatch(part)
    if output is not None:
        return "output" if output[2] or output[1].lower() in {"is not empty", "is empty"} else ""
    file = _FILE.fullmatch(part)
    if file is not None:
        return "file" if bool(file[3]) == (file[2] in {"contains", "lacks"}) else ""
    return "exit" if _EXIT.fullmatch(part) else ""


def _holds(part: str, outcome: Outcome) -> bool:
    kind = _kind(part)
    if kind == "exit":
        match = _EXIT.fullmatch(part)
        return match is not None and outcome.exit_status == int(match[1])
    match = (_OUTPUT if kind == "output" else _FILE).fullmatch(part)
    if match is None:
        raise AssertionError("a criterion without a form was looked at")
    if kind == "output":
        return _says(outcome.output, match[1].lower(), match[2])
    path, verb, text = match[1], match[2], match[3]
    if verb == "changed":
        return path in outcome.changed
    found = outcome.text(path)
    if verb in {"exists", "is gone"}:
        return (found is not None) == (verb == "exists")
    return found is not None and _says(found, verb, text)


def _says(text: str, verb: str, wanted: str | None) -> bool:
    if wanted is None:
        return bool(text.strip()) == (verb == "is not empty")
    return (_bare(wanted) in text) == (verb == "contains")


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] + text[-1] in _QUOTES else text
