"""Reads the lines of a result file: what is whole and makes sense, and what is wrong with the rest."""

from collections.abc import Collection, Iterable, Iterator, KeysView, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from codur.batch.results.challenge_record import ChallengeResult, UnusableResult, result_from
from codur.errors import UsageError, reason_of
from codur.parsing.json_text import load_strict

RESULTS_FILE: Final = "results.jsonl"
Place = tuple[str, str, int]


class KeptResults(Collection[ChallengeResult]):
    """Results of a file that are read from it each time they are gone through: only where they are is in memory.

    Args:
        offsets: where the line of each begins, by its place; this is their order.
    """

    def __init__(self, file: Path, offsets: Mapping[Place, int]) -> None:
        self._file = file
        self._offsets = offsets

    @property
    def places(self) -> KeysView[Place]:
        """What tells each from the others, in their order."""
        return self._offsets.keys()

    def at(self, places: Iterable[Place]) -> "KeptResults":
        """Some of the results, in this order. Raises KeyError: there is none at a place."""
        return KeptResults(self._file, {place: self._offsets[place] for place in places})

    def __len__(self) -> int:
        return len(self._offsets)

    def __contains__(self, item: object) -> bool:
        return any(item == each for each in self)

    def __iter__(self) -> Iterator[ChallengeResult]:
        """Read them. Raises UsageError: the file is not what it was."""
        if not self._offsets:
            return
        try:
            with self._file.open("rb") as stream:
                for offset in self._offsets.values():
                    stream.seek(offset)
                    yield result_in(stream.readline())
        except (OSError, UnusableResult) as error:
            why = reason_of(error) if isinstance(error, OSError) else "it was changed meanwhile"
            raise UsageError(f"{self._file}: cannot be read again: {why}", remedy="Go on with --resume.") from error


def kept_results(file: Path) -> KeptResults:
    """The results in a file; of several of one attempt the last, at the place of the first.

    A line that is damaged is passed over, and so is one at the end without its line end, whole or not: its writer was
    stopped within it.

    Raises:
        OSError: it cannot be read.
    """
    offsets: dict[Place, int] = {}
    end = 0
    with file.open("rb") as stream:
        for line in stream:
            begin, end = end, end + len(line)
            if line.endswith(b"\n"):
                with suppress(UnusableResult):
                    offsets[result_in(line).place] = begin
    return KeptResults(file, offsets)


def result_in(line: bytes) -> ChallengeResult:
    """The result of a line. Raises UnusableResult: it is none."""
    try:
        value = load_strict(line.decode("utf-8"))
    except ValueError as error:
        raise UnusableResult("it is no JSON") from error
    return result_from(value)
