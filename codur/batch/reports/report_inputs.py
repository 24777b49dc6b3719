"""Reads result files: what a batch has put on record, for its reports."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from codur.batch.reports.totals import agent_name
from codur.batch.results.challenge_record import ChallengeResult, UnusableResult
from codur.batch.results.result_lines import RESULTS_FILE, Place, result_in
from codur.errors import UsageError, reason_of
from codur.structs import Struct, replace

_REMEDY = (
    f"Name result files of `codur solve`, or directories with a {RESULTS_FILE}; "
    'to give these words as a task, quote them: codur run "report …".'
)


class Found(Struct):
    """What result files hold."""

    results: tuple[ChallengeResult, ...]  # the last one of each attempt, in the order of the files
    notes: tuple[str, ...]  # what could not be used, a line each, with its place


def read_results(paths: Sequence[Path]) -> Found:
    """The results in files, in directories with a `results.jsonl`, or in directories that hold such directories.

    Of several results of one attempt in a file, the last counts. If two files hold results of the same agent for the
    same attempt at a challenge, its name is told apart by the file's directory, so that they can be compared.

    Raises:
        UsageError: a file cannot be read, or there is no usable result in any.
    """
    files = list(dict.fromkeys(file.resolve() for path in paths for file in _files(path)))
    notes: list[str] = []
    batches = [_read(file, notes) for file in files]
    if not any(batches):
        more = f"; {notes[0]}" if notes else ""
        raise UsageError(f"{', '.join(map(str, files))}: no usable result{more}", remedy=_REMEDY)
    told_apart = _told_apart(batches, _labels(files))
    return Found(results=tuple(item for batch in told_apart for item in batch), notes=tuple(notes))


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


def _read(file: Path, notes: list[str]) -> list[ChallengeResult]:
    """The results in a file, a last line without its line end too; of several of one attempt the last."""
    results: dict[Place, ChallengeResult] = {}
    try:
        with file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    if line.strip():
                        result = result_in(line)
                        results[result.place] = result
                except UnusableResult as problem:
                    torn = "" if line.endswith(b"\n") else "the last line was not written to its end; it is left out"
                    notes.append(f"{file}:{number}: {torn or f'left out: {problem}'}")
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be read: {reason_of(error)}", remedy="Check the file's permissions."
        ) from error
    return list(results.values())


def _told_apart(batches: Sequence[Sequence[ChallengeResult]], labels: Sequence[str]) -> Iterator[list[ChallengeResult]]:
    places = Counter(item.place for batch in batches for item in batch)
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
