"""What is said of a step that must hold, as far as code can check it; what is none of these forms a model judges.

    output is not empty · output is empty · output contains TEXT · output lacks TEXT · exit status N
    FILE exists · FILE is gone · FILE contains TEXT · FILE lacks TEXT · FILE changed

Several are joined by semicolons. TEXT may be put in quotes or backquotes.
"""

import re
from collections.abc import Callable, Collection, Mapping

from codur.structs import Struct
from codur.types import Step

_FILE = r"`?(?P<file>[^\s`;]*[./][^\s`;]*)`?"
_FORMS = (
    r"(?i:(?:the )?(?P<output>output) (?P<verb>is not empty|is empty))",
    r"(?i:(?:the )?(?P<output>output) (?P<verb>contains|lacks)) (?P<text>.+)",
    r"(?i:exit (?:status|code)(?: is)? (?P<exit>\d{1,3}))",
    rf"{_FILE} (?P<verb>exists|is gone|changed)",
    rf"{_FILE} (?P<verb>contains|lacks) (?P<text>.+)",
)
"""What a criterion is about, what is said of it, and with which text."""
_QUOTES = ("``", '""', "''")


class Outcome(Struct):
    """What there is to look at after a step."""

    output: str  # the step's output
    exit_status: int | None  # of the program that the step ran; None if it ran none
    changed: Collection[str]  # paths that the step changed
    text: Callable[[str], str | None]  # the text of a file of the workspace; None if there is none
    runs: bool = True  # the step is to run a program; where it is not, criteria about its exit status are not looked at


def said_of(step: Step) -> str:
    """All that must hold after a step, in one text."""
    return "; ".join(text for text in (step.success_criteria, step.expected_output) if text.strip())


def undecided(criteria: str, *, runs: bool) -> tuple[str, ...]:
    """Those of the criteria that code cannot decide; `runs` as in `Outcome`."""
    return tuple(part for part in _parts(criteria) if not _read(part) or (of_exit(part) and not runs))


def of_exit(criterion: str) -> bool:
    """Whether a criterion is about the exit status of a program."""
    return "exit" in _read(criterion)


def checkable(criteria: str) -> tuple[str, ...]:
    """Those of the criteria that code can check."""
    return tuple(part for part in _parts(criteria) if _read(part))


def unmet(criteria: str, outcome: Outcome) -> str:
    """The first criterion that code can check and that does not hold; empty if there is none."""
    parts = (part for part in checkable(criteria) if outcome.runs or not of_exit(part))
    return next((part for part in parts if not _holds(part, outcome)), "")


def out_of_reach(criteria: str, fixed: Collection[str], text: Callable[[str], str | None]) -> str:
    """The first criterion about a file that cannot change and for which it does not hold; empty if there is none.

    Args:
        fixed: paths of the files that cannot change.
        text: the text of a file as it is; None if there is none.
    """
    now = Outcome(output="", exit_status=None, changed=(), text=text)
    files = (part for part in checkable(criteria) if _read(part).get("file") in fixed)
    return next((part for part in files if not _holds(part, now)), "")


def _parts(criteria: str) -> list[str]:
    parts = re.split(r";(?=(?:[^`\"]|`[^`]*`|\"[^\"]*\")*$)", criteria)
    return [part.strip().rstrip(".") for part in parts if part.strip()]


def _read(part: str) -> Mapping[str, str]:
    """The named parts of a criterion's form; nothing if it has none."""
    matches = (re.fullmatch(form, part, re.DOTALL) for form in _FORMS)
    return next((match.groupdict() for match in matches if match), {})


def _holds(part: str, outcome: Outcome) -> bool:
    said = _read(part)
    if "exit" in said:
        return outcome.exit_status == int(said["exit"])
    verb = said["verb"].lower()
    if verb == "changed":
        return said["file"] in outcome.changed
    found = outcome.output if "output" in said else outcome.text(said["file"])
    if verb in {"exists", "is gone"}:
        return (found is not None) == (verb == "exists")
    if found is None or "text" not in said:
        return found is not None and bool(found.strip()) == (verb == "is not empty")
    text = said["text"].strip()
    bare = text[1:-1] if len(text) > 1 and text[0] + text[-1] in _QUOTES else text
    return (bare in found) == (verb == "contains")
