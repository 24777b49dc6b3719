"""Reads the lines of a result file: what is whole and makes sense, and what is wrong with the rest."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NoReturn

from codur.batch.results.challenge_record import ChallengeResult, UnusableResult, result_from
from codur.structs import Struct, replace

RESULTS_FILE: Final = "results.jsonl"
_REPEATED: Final = ("route", "settings", "prompt", "check", "verdict", "solved_by", "sandbox", "started")


class FileLines(Struct):
    """What a result file holds.

    Attributes:
        results: in the order of the file.
        notes: what could not be used, a line each, with its place.
    """

    results: tuple[ChallengeResult, ...]
    notes: tuple[str, ...]


def read_lines(file: Path, *, only_ended: bool = False) -> FileLines:
    """All results in a file, also several of one attempt.

    Args:
        only_ended: a last line without its line end does not count, whole or not: its writer was stopped within it.

    Raises:
        OSError: it cannot be read.
    """
    results: list[ChallengeResult] = []
    notes: list[str] = []
    known: dict[Any, Any] = {}
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                if line.strip() and (line.endswith(b"\n") or not only_ended):
                    results.append(_held_once(_result(line), known))
            except UnusableResult as problem:
                notes.append(f"{file}:{number}: {_why(line, problem)}")
    return FileLines(results=tuple(results), notes=tuple(notes))


def _held_once(result: ChallengeResult, known: dict[Any, Any]) -> ChallengeResult:
    """The result, with the values of earlier ones where they are equal: many results take half of the memory."""
    values = ((name, getattr(result, name)) for name in _REPEATED)
    return replace(result, **{name: known.setdefault(value, value) for name, value in values})


def latest(results: Iterable[ChallengeResult]) -> list[ChallengeResult]:
    """Of several results of one attempt the last, each at the place of the first."""
    return list({(item.name, item.agent, item.attempt): item for item in results}.values())


def _result(line: bytes) -> ChallengeResult:
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UnusableResult("it is no JSON") from error
    return result_from(value)


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _why(line: bytes, problem: UnusableResult) -> str:
    if line.endswith(b"\n"):
        return f"left out: {problem}"
    return "the last line was not written to its end; it is left out"
