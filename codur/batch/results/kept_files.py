"""Keeps what a batch has finished; writes it back to the challenge where that is wanted."""

import os
from collections.abc import Mapping

from codur.batch.results.challenge_record import Attempted, ChallengeResult
from codur.batch.results.identity import content_hash, key_of, settings_hash
from codur.batch.results.kept_run import RUNS
from codur.batch.results.results_directory import PATCHES, ResultsDirectory
from codur.batch.setup import Setup
from codur.batch.work import Work
from codur.errors import CodurError, reason_of
from codur.session.writing_back import write_back
from codur.structs import replace
from codur.types import Task


class Keys:
    """The keys of work under `settings` (of `settings_hash`); files are read once for attempts that come in a row."""

    def __init__(self, settings: str) -> None:
        self.settings = settings
        self._last = ("", "")

    @staticmethod
    def of_batch(setup: Setup) -> "Keys":
        """Those of a batch's work."""
        return Keys(settings_hash(setup.settings, setup.limits, offline=setup.offline))

    def __call__(self, work: Work, settings: str = "") -> str:
        """The key of a piece of work, with other settings where these are given."""
        root = os.fspath(work.challenge.directory)
        if self._last[0] != root:
            self._last = (root, content_hash(root))
        return self.of(work, self._last[1], settings)

    def of(self, work: Work, content: str, settings: str = "") -> str:
        """The key of a piece of work whose files have these contents (of `content_hash`)."""
        given = [work.challenge.task, work.challenge.check] if work.challenge.task else []
        return key_of("\0".join([content, *given]), work.agent, work.attempt, settings or self.settings)


class Keeper:
    """Puts results where they last, below keys of their work."""

    def __init__(self, directory: ResultsDirectory, setup: Setup, keys: Keys) -> None:
        self.directory = directory
        self._setup = setup
        self.keys = keys
        self.kept: set[int] = set()  # the numbers of the work whose results are on disk by now

    def keep(self, work: Work, done: Attempted) -> ChallengeResult:
        """Keep a result, then write back what was verified.

        Raises:
            UsageError: the result cannot be kept.
        """
        result = replace(done.result, settings=self.keys.settings)
        if (self.directory.path / RUNS / work.file).is_dir():
            result = replace(result, kept=f"{RUNS}/{work.file}")
        if done.patch:
            result = replace(result, patch=f"{PATCHES}/{work.file}.patch")
        writes = self._setup.in_place and result.solved and bool(done.files)
        if writes:
            root = os.fspath(work.challenge.directory)
            after = content_hash(root, done.files)
            result = replace(result, key_written=self.keys.of(work, after))
        self.directory.add(result, done.patch)
        if not done.patch:
            self.directory.drop_patch(f"{PATCHES}/{work.file}.patch")
        if writes:
            problem = self._written(work, result.key, done.files)
            if problem:
                result = replace(result, key_written="", notes=(*result.notes, f"not written back: {problem}"))
                self.directory.add(result, done.patch)
        self.kept.add(work.number)
        return result

    def _written(self, work: Work, before: str, files: Mapping[str, bytes | None]) -> str:
        """Write files back if the challenge still has the key from `before` it was copied; why not, if that is so."""
        root = work.challenge.directory
        if self.keys.of(work, content_hash(os.fspath(root))) != before:
            return "the challenge was changed meanwhile"
        try:
            originals = {path: (root / path).read_bytes() if (root / path).exists() else None for path in files}
            task = Task(prompt=f"solve {work.challenge.name}", workspace=str(root))
            write_back(task, files, originals, self._setup.settings, self._setup.host)
        except CodurError as error:
            return error.message
        except OSError as error:
            return reason_of(error)
        return ""
