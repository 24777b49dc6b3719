"""Keeps the state directory within its size: the oldest runs go, then the contents that no run refers to.

Contents used lately stay, whoever refers to them: a run that is under way may be about to. A crash in between leaves
contents that nothing refers to, or a run's directory under a name that is no run's; the next time takes them away.
"""

import contextlib
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from math import ceil
from pathlib import Path

from codur.lazy import regex
from codur.store.atomic import exclusive, state_errors
from codur.store.blobs import LOCK_NAME
from codur.store.directory import StateDirectory
from codur.store.run_record import RunRecord
from codur.store.run_records import RunStore
from codur.store.workspace_lock import running
from codur.structs import Struct

_REFERENCE = regex(rb"[0-9a-f]{64}")
_REFERRING = ("journal.jsonl", "base.json")
_REMOVING = ".removing-"
_LATELY_S = 3600.0  # longer than a run takes from putting a content to referring to it
_GOAL, _FEWER = 0.8, 0.9
"""Go down to these parts of the size and of the number, so that it is not done again after every run (0.2 s of 500)."""


def forget_oldest(state: StateDirectory, *, max_bytes: int, max_runs: int) -> None:
    """Remove the oldest runs beyond a number or a size, and the contents that are left over. Running ones stay.

    Nothing happens below both bounds.

    Raises:
        StateError: the state directory cannot be used.
    """
    with state_errors(state.root):
        for left in state.runs.glob(f"{_REMOVING}*"):
            shutil.rmtree(left)
        blobs = dict(_blobs(state.blobs))
        records = sorted(RunStore(state).list(), key=lambda record: (record.started, record.id))
        sizes = {record.id: _size(state.runs / record.id) for record in records}
        if len(records) <= max_runs and sum(blobs.values()) + sum(sizes.values()) <= max_bytes:
            return
        held = running(state.locks)
        live = [record for record in records if record.id in held or record.status == "running"]
        kept = _Kept(
            sizes=sizes,
            blobs=blobs,
            references={record.id: _references(_files(state.runs / record.id)) for record in records},
            live={record.id for record in live},
        )
        for run_id in _choose(kept, max_bytes=max_bytes, max_runs=max_runs):
            _remove_run(state.runs / run_id)
        _sweep(state, blobs, _oldest(live))


class _Kept(Struct):
    """What is there: the bytes of runs (oldest first) and of contents, which run refers to which, runs under way."""

    sizes: dict[str, int]
    blobs: dict[str, int]
    references: dict[str, set[str]]
    live: set[str]


def _choose(kept: _Kept, *, max_bytes: int, max_runs: int) -> list[str]:
    """The runs to remove, oldest first."""
    users = Counter(name for names in kept.references.values() for name in names)
    total = sum(kept.sizes.values()) + sum(kept.blobs.get(name, 0) for name in users)
    goal = max_bytes * _GOAL if total > max_bytes else max_bytes
    most = ceil(max_runs * _FEWER) if len(kept.sizes) > max_runs else max_runs
    gone: list[str] = []
    for run_id, size in kept.sizes.items():
        if len(kept.sizes) - len(gone) <= most and total <= goal:
            break
        if run_id in kept.live:
            continue
        gone.append(run_id)
        users.subtract(kept.references[run_id])
        freed = [name for name in kept.references[run_id] if users[name] == 0]
        total -= size + sum(kept.blobs.get(name, 0) for name in freed)
    return gone


def _remove_run(path: Path) -> None:
    """Take the run's name away first: what has none is no run, even if only half of it is removed."""
    hidden = path.with_name(f"{_REMOVING}{path.name}")
    path.rename(hidden)
    shutil.rmtree(hidden)


def _sweep(state: StateDirectory, blobs: Iterable[str], oldest: float) -> None:
    """Remove the contents that nothing refers to, and that were put before `oldest` (seconds since 1970)."""
    with exclusive(state.blobs / LOCK_NAME):
        used = _references(file for run in state.runs.iterdir() if run.is_dir() for file in _files(run))
        # What the next run in a workspace would otherwise have to copy anew.
        used |= _references(state.cache.glob("base-*.json"))
        for name in set(blobs) - used:
            path = state.blobs / name[:2] / name
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < oldest:
                    path.unlink()


def _oldest(live: Iterable[RunRecord]) -> float:
    """Before when contents must have been put for no run that is under way to need them; seconds since 1970."""
    times = [time.time() - _LATELY_S]
    for record in live:
        try:
            times.append(datetime.fromisoformat(record.started).timestamp() - _LATELY_S)
        except ValueError:
            times.append(0.0)
    return min(times)


def _files(run: Path) -> list[Path]:
    return [run / name for name in _REFERRING]


def _references(files: Iterable[Path]) -> set[str]:
    found: set[str] = set()
    for path in files:
        with contextlib.suppress(FileNotFoundError):
            found.update(item.decode() for item in _REFERENCE.findall(path.read_bytes()))
    return found


def _blobs(directory: Path) -> Iterator[tuple[str, int]]:
    with os.scandir(directory) as outer:
        for group in outer:
            if not group.is_dir(follow_symlinks=False):
                continue
            with os.scandir(group.path) as inner:
                for entry in inner:
                    yield entry.name, entry.stat(follow_symlinks=False).st_size


def _size(directory: Path) -> int:
    return sum(
        path.lstat().st_size for base, _, names in os.walk(directory) for path in (Path(base, name) for name in names)
    )
