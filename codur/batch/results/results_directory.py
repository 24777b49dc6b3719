"""A directory of results: one line a finished piece of work, its patch, and what is made of all of them."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from codur.batch.discovery import RESULTS_NAME
from codur.batch.results.challenge_record import ChallengeResult
from codur.batch.results.kept_run import RUNS, find_run
from codur.batch.results.result_lines import RESULTS_FILE, KeptResults, kept_results
from codur.errors import UsageError, WorkspaceBusy, reason_of
from codur.store.append_log import drop_torn_tail
from codur.store.atomic import open_lock, sync_directory, try_lock, write_whole
from codur.store.run_records import RunDirectory

PATCHES, PREDICTIONS, LOCK = "patches", "predictions.jsonl", ".lock"
MARKDOWN_FILE, PAGE_FILE = "report.md", "report.html"
SPENT = "spent.json"
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ResultsDirectory:
    """Where the results of a batch are kept; one batch at a time writes there. Use it as a context manager.

    Raises:
        UsageError: it cannot be made or written.
        WorkspaceBusy: another batch writes there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1
        self._lock = -1

    def __enter__(self) -> ResultsDirectory:
        with _unusable(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = open_lock(self.path / LOCK)
            if try_lock(self._lock) is False:
                os.close(self._lock)
                raise WorkspaceBusy(
                    f"{self.path}: another batch writes its results there",
                    remedy="Wait until it has ended, or name another directory with --results.",
                )
            for name in (PATCHES, RUNS):  # results may be anyone's, and a link would lead what is written elsewhere
                if (self.path / name).is_symlink():
                    raise OSError(errno.ELOOP, f"{name} is a link")
            (self.path / PATCHES).mkdir(exist_ok=True)
            self._descriptor = os.open(self.path / RESULTS_FILE, _APPEND, 0o644)
            drop_torn_tail(self._descriptor)
            sync_directory(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in (self._descriptor, self._lock):
            if descriptor >= 0:
                os.close(descriptor)
        self._descriptor = self._lock = -1

    def add(self, result: ChallengeResult, patch: str) -> None:
        """Keep a result and its patch; when this returns, they are on disk.

        Raises:
            UsageError: they cannot be written.
        """
        with _unwritable(self.path):
            # Make sure that what is written is found again: a file can be written to when it has lost its name
            if not os.path.samestat(os.fstat(self._descriptor), (self.path / RESULTS_FILE).stat()):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path / RESULTS_FILE))
            if result.patch:
                write_whole(self.path / result.patch, patch.encode("utf-8", "surrogateescape"))
            line = json.dumps(result.to_json(), ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
            while line:
                line = line[os.write(self._descriptor, line) :]
            os.fsync(self._descriptor)

    def drop_patch(self, patch: str) -> None:
        """Remove the patch of an earlier result of the same work, if there is one, lest it be taken for that of now.

        Raises:
            UsageError: it cannot be removed.
        """
        with _unwritable(self.path):
            (self.path / patch).unlink(missing_ok=True)

    def write_spent(self, tokens: int, cost_usd: float) -> None:
        """Keep what all work has spent so far, that which is not finished too.

        Raises:
            UsageError: it cannot be written.
        """
        with _unwritable(self.path):
            write_whole(self.path / SPENT, json.dumps({"tokens": tokens, "cost_usd": cost_usd}).encode() + b"\n")

    def set_aside(self) -> Path | None:
        """Move the results into a directory of their own; gives that, or None if there were none.

        What was spent on them goes with them, and counts no more. What else is in the directory is somebody else's, and
        stays.

        Raises:
            UsageError: they cannot be moved.
        """
        with _unusable(self.path):
            return self._set_aside()

    def _set_aside(self) -> Path | None:
        if not (self.path / RESULTS_FILE).stat().st_size:
            (self.path / SPENT).unlink(missing_ok=True)
            return None
        aside = _unused(self.path / f"earlier-{_stamp(datetime.now())}")
        aside.mkdir()
        for name in (RESULTS_FILE, PATCHES, RUNS, PREDICTIONS, MARKDOWN_FILE, PAGE_FILE, SPENT):
            if os.path.lexists(self.path / name):
                (self.path / name).rename(aside / name)
        (self.path / PATCHES).mkdir(exist_ok=True)
        os.close(self._descriptor)
        self._descriptor = os.open(self.path / RESULTS_FILE, _APPEND, 0o644)
        sync_directory(self.path)
        return aside

    def write_predictions(self, results: Iterable[ChallengeResult], model: str) -> None:
        """Write the patches in the form that SWE-bench's harness reads, one line a result.

        Args:
            model: who is named where no agent is.

        Raises:
            UsageError: they cannot be written.
        """
        rows = (
            {
                "instance_id": result.name if result.attempt == 1 else f"{result.name}#{result.attempt}",
                "model_name_or_path": result.agent or model,
                "model_patch": read_patch(self.path, result),
            }
            for result in results
        )
        with _unwritable(self.path):
            write_whole(self.path / PREDICTIONS, (json.dumps(row, ensure_ascii=True).encode() + b"\n" for row in rows))


def read_results(path: Path) -> KeptResults:
    """The results in a directory (or of a `results.jsonl`), the last one of each piece of work, in their order.

    A line that is damaged, or was not written to its end, is passed over: its work is done again.

    Raises:
        UsageError: there is no such file, or it cannot be read.
    """
    file = path / RESULTS_FILE if path.is_dir() else path
    with _unusable(file):
        return kept_results(file)


def read_spent(path: Path) -> tuple[int, float]:
    """Tokens and dollars that a batch had spent when it was last heard of; 0 if that is not known."""
    try:
        value = json.loads((path / SPENT).read_bytes())
        return int(value["tokens"]), float(value["cost_usd"])
    except (OSError, ValueError, TypeError, KeyError):
        return 0, 0.0


def read_patch(directory: Path, result: ChallengeResult) -> str:
    """The whole patch of a result; empty if nothing was changed, or its file is gone."""
    if not result.patch:
        return ""
    try:
        return (directory / result.patch).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def has_results(path: Path) -> bool:
    """Whether a directory holds results."""
    file = path / RESULTS_FILE
    return file.is_file() and file.stat().st_size > 0


def kept_below(below: Path, wanted: str) -> RunDirectory | None:
    """The run of a challenge that is named `RESULTS/NAME` below a directory; None if there are no such results.

    Raises:
        UsageError: there is no such run in them, or more than one.
    """
    path = below / wanted
    places = [path, *(below / place for place in Path(wanted).parents)]
    results = next((place for place in places if has_results(place)), None)
    if results is None:
        return None
    return find_run(results, read_results(results), path.relative_to(results).as_posix().removeprefix(f"{RUNS}/"))


def new_directory(below: Path, now: datetime) -> Path:
    """The default place of new results below a directory; it is not made.

    Raises:
        UsageError: something that came with the directory leads elsewhere.
    """
    if (below / RESULTS_NAME).is_symlink():
        raise UsageError(f"{below / RESULTS_NAME}: is a link", remedy="Name a directory with --results.")
    return _unused(below / RESULTS_NAME / _stamp(now))


def newest(below: Path) -> Path | None:
    """The newest results in their default place; None if there are none."""
    home = below / RESULTS_NAME
    found = [path for path in home.iterdir() if has_results(path)] if home.is_dir() else []
    return max(found, key=lambda path: ((path / RESULTS_FILE).stat().st_mtime_ns, path.name), default=None)


def _stamp(now: datetime) -> str:
    return now.strftime("%Y-%m-%d-%H%M%S")


def _unused(path: Path) -> Path:
    number, found = 1, path
    while os.path.lexists(found):
        number += 1
        found = path.with_name(f"{path.name}-{number}")
    return found


@contextmanager
def _unwritable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"the results cannot be kept in {path}: {reason_of(error)}",
            remedy="Make room or give access there, then go on with --resume: what was kept before still counts.",
        ) from error


@contextmanager
def _unusable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"the results in {path} cannot be used: {reason_of(error)}", remedy="Name another directory with --results."
        ) from error
