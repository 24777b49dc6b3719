"""Keeps the state directory within its bounds, without looking through all of it after each run."""

from __future__ import annotations

import os
import time

from codur.config.settings import StateSettings
from codur.errors import StateError
from codur.events import Emit, Note
from codur.session.scratch_directory import sweep_scratch
from codur.store.directory import StateDirectory

_EVERY_S = 600.0  # measuring all runs takes longer than many a run
_STAMP = "tidied"


def tidy(state: StateDirectory, settings: StateSettings, emit: Emit) -> None:
    """Forget the oldest runs beyond the bounds. Their number is looked at each time, their size now and then.

    What cannot be done is told and left: the run that has just ended is not to fail of it.
    """
    try:
        if not _is_due(state, settings):
            return
        from codur.store.forget import forget_oldest  # noqa: PLC0415 - lazy: hardly any run comes here

        (state.cache / _STAMP).touch(mode=0o600)  # before the work: runs that end meanwhile need not do it as well
        sweep_scratch()
        forget_oldest(state, max_bytes=settings.max_mb << 20, max_runs=settings.max_runs)
    except (StateError, OSError) as error:
        emit(Note(level="warning", text=f"old runs could not be forgotten: {error}"))


def _is_due(state: StateDirectory, settings: StateSettings) -> bool:
    with os.scandir(state.runs) as entries:
        if sum(1 for _ in entries) > settings.max_runs:
            return True
    try:
        # `abs`, since a clock that was set back would put it off for as long.
        return abs(time.time() - (state.cache / _STAMP).stat().st_mtime) > _EVERY_S
    except FileNotFoundError:
        return True
