"""Reads result files: what a batch has put on record, for its reports."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NoReturn

from codur.batch.record import ChallengeResult, RouteEntry, UnusableResult, result_from
from codur.batch.reports.comparison import agent_name
from codur.errors import UsageError

RESULTS_FILE = "results.jsonl"
_MOST = 1e15
_REMEDY = (
    f"Name result files of `codur solve`, or directories with a {RESULTS_FILE}; "
    'to give these words as a task, quote them: codur run "report …".'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What result files hold.

    Attributes:
        results: the last one of each attempt, in the order of the files.
        notes: what could not be used, a line each, with its place.
    """

    results: tuple[ChallengeResult, ...]
    notes: tuple[str, ...]


def read_results(paths: Sequence[Path]) -> Found:
    """The results in files, in directories with a `results.jsonl`, or in directories that hold such directories.

    Of several results of one attempt in a file, the last counts. If two files hold results of the same agent for the
    same attempt at a challenge, its name is told apart by the file's directory, so that they can be compared.

    Raises:
        UsageError: a file cannot be read, or there is no usable result in any.
    """
    files = list(dict.fromkeys(file.resolve() for path in paths for file in _files(path)))
    found = [_read(file) for file in files]
    batches = [_latest(results) for results, _ in found]
    notes = tuple(note for _, file_notes in found for note in file_notes)
    if not any(batches):
        more = f"; {notes[0]}" if notes else ""
        raise UsageError(
            f"{', '.join(map(str, files))}: no usable result{more}",
            remedy=_REMEDY,
        )
    told_apart = _told_apart(batches, _labels(files))
    return Found(results=tuple(item for batch in told_apart for item in batch), notes=notes)


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UsageError(f"{path}: there is no such file", remedy=_REMEDY)
    own = path / RESULTS_FILE
    found = [own] if own.is_file() else sorted(file for file in path.glob(f"*/{RESULTS_FILE}") if file.is_file())
    if not found:
        raise UsageError(f"{path}: there is no {RESULTS_FILE} in it", remedy=_REMEDY)
    return found


def _read(file: Path) -> tuple[list[ChallengeResult], list[str]]:
    results: list[ChallengeResult] = []
    notes: list[str] = []
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    results += [_result(line)] if line.strip() else []
                except UnusableResult as problem:
                    notes.append(f"{file}:{number}: {_why(line, problem)}")
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be read: {(error.strerror or 'unknown error').lower()}",
            remedy="Check the file's permissions.",
        ) from error
    return results, notes


def _why(line: bytes, problem: UnusableResult) -> str:
    if line.endswith(b"\n"):
        return f"left out: {problem}"
    return "the last line was not written to its end; it is left out"


def _result(line: bytes) -> ChallengeResult:
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UnusableResult("it is no JSON") from error
    found = result_from(value)
    if not (_is_typed(found) and all(map(_is_typed, found.route))):
        raise UnusableResult("it is damaged")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _is_typed(entry: ChallengeResult | RouteEntry) -> bool:
    """Whether texts are texts, and numbers such as a person can have meant."""
    values = [(field.type, getattr(entry, field.name)) for field in fields(entry)]
    return all(
        isinstance(value, str) if kind == "str" else _is_figure(value) if kind in ("int", "float") else True
        for kind, value in values
    )


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value <= _MOST and math.isfinite(value)


def _latest(results: Sequence[ChallengeResult]) -> list[ChallengeResult]:
    return list({(item.name, item.agent, item.attempt): item for item in results}.values())


def _told_apart(batches: Sequence[list[ChallengeResult]], labels: Sequence[str]) -> Iterator[list[ChallengeResult]]:
    places = Counter((item.name, item.agent, item.attempt) for batch in batches for item in batch)
    clashing = {agent for (_, agent, _), number in places.items() if number > 1}
    for batch, label in zip(batches, labels, strict=True):
        yield [
            replace(item, agent=f"{agent_name(item)} ({label})") if item.agent in clashing else item for item in batch
        ]


def _labels(files: Sequence[Path]) -> list[str]:
    """A short name for each file, of its directory; numbered where that does not tell them apart."""
    names = [file.parent.name if file.name == RESULTS_FILE else file.stem for file in files]
    repeated = {name for name, number in Counter(names).items() if number > 1}
    return [f"{name}, file {number}" if name in repeated else name for number, name in enumerate(names, start=1)]
