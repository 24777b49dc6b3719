"""What earlier results are worth for the work that is wanted now."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from codur.batch.results.challenge_outcome import over_budget
from codur.batch.results.challenge_record import Status
from codur.batch.results.kept_files import Keys
from codur.batch.results.result_lines import KeptResults
from codur.batch.work import Work

Mode = Literal["new", "resume", "rerun_failed", "fresh"]
"""What becomes of results that are there: `new` wants none; `resume` does what is missing; `rerun_failed` also what was
not solved, and nothing that was, whatever the settings then; `fresh` puts them aside."""

GOES_ON: frozenset[Mode] = frozenset({"resume", "rerun_failed"})
"""The ways that need earlier results."""


def counting(found: Mapping[int, Status], mode: Mode) -> dict[int, Status]:
    """The work that counts as done, of what `finished` has found."""
    if mode not in GOES_ON:
        return {}
    return {number: status for number, status in found.items() if mode == "resume" or status == "solved"}


def finished(
    work: Sequence[Work], results: KeptResults, keys: Keys, mode: Mode, *, in_place: bool
) -> dict[int, Status]:
    """How the work ended whose results belong to it as it is now, by its number.

    A changed challenge, another agent or other settings make it other work; but what is solved without a model, say,
    need not be done again with one. What the batch's budget ended is not finished; nor is, with `in_place`, what was
    solved and is not written back yet.
    """
    by_place = {item.place: item for item in work}
    found: dict[int, Status] = {}
    for result in results.at(item.place for item in work if item.place in results.places):
        if over_budget(result):
            continue
        item = by_place[result.place]
        key = keys(item, result.settings if mode == "rerun_failed" and result.solved else "")
        is_written = bool(result.key_written) and result.key_written == key
        is_to_write = in_place and result.solved and bool(result.changed_files)
        if is_written or (result.key == key and not is_to_write):
            found[item.number] = result.status
    return found


def of_other_settings(work: Sequence[Work], results: KeptResults, found: Collection[int], settings: str) -> str:
    """How many results do not count because they were made with other settings, in a line; empty if none are.

    Args:
        found: the numbers of the work whose results count.
        settings: the hash of those of now.
    """
    left_out = {item.place for item in work if item.number not in found}
    number = len(left_out.intersection(result.place for result in results if result.settings not in ("", settings)))
    if not number:
        return ""
    belong = "1 earlier result belongs" if number == 1 else f"{number:,} earlier results belong"
    return f"{belong} to other settings or options, such as --offline or --timeout: this work is done again"


def of_other_work(work: Sequence[Work], results: KeptResults) -> KeptResults:
    """The results that the work of now does not replace: of challenges, agents or attempts that are no part of it."""
    names = {item.place for item in work}
    places = {(str(item.challenge.directory), item.agent, item.attempt) for item in work}
    unknown = results.at(place for place in results.places if place not in names)
    return results.at(
        result.place for result in unknown if (result.directory, result.agent, result.attempt) not in places
    )
