"""The state directory stays within its size, and nothing that is needed goes."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codur.store.append_log import AppendLog
from codur.store.blobs import BlobStore
from codur.store.directory import StateDirectory
from codur.store.forget import forget_oldest
from codur.store.run_record import RunRecord
from codur.store.run_records import RunStore
from codur.store.workspace_lock import workspace_lock

OLD = datetime(2023, 1, 1, tzinfo=UTC).timestamp()


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    """Five finished runs with 100 kB each, and one content that all share; all put long ago."""
    state = StateDirectory(tmp_path / "state")
    state.prepare()
    runs, blobs = RunStore(state), BlobStore(state.blobs)
    for number in range(5):
        run_id = f"2024010{number + 1}-0000-aaa"
        record = RunRecord(
            id=run_id, prompt="", workspace="/w", started=f"2024-01-0{number + 1}T00:00:00+00:00", status="finished"
        )
        journal = AppendLog(runs.new(record).journal)
        for data in (bytes([number]) * 100_000, b"shared" * 1000):
            journal.append({"content": blobs.put(data, durable=False)}, durable=False)
        journal.close()
    age(state)
    return state


def age(state: StateDirectory) -> None:
    for path in state.blobs.rglob("*"):
        os.utime(path, (OLD, OLD))


def kept(state: StateDirectory) -> list[str]:
    return sorted(path.name[7] for path in state.runs.iterdir())


def contents(state: StateDirectory) -> list[int]:
    return sorted(path.stat().st_size for path in state.blobs.rglob("*") if len(path.name) == 64)


def test_nothing_goes_within_the_bounds(state: StateDirectory) -> None:
    forget_oldest(state, max_bytes=10_000_000, max_runs=5)
    assert kept(state) == list("12345")


def test_the_oldest_runs_go_with_what_only_they_need(state: StateDirectory) -> None:
    forget_oldest(state, max_bytes=10_000_000, max_runs=3)
    assert kept(state) == list("345")
    assert contents(state) == [6000, 100_000, 100_000, 100_000]


def test_the_size_is_a_bound(state: StateDirectory) -> None:
    forget_oldest(state, max_bytes=300_000, max_runs=500)
    assert kept(state) == list("45")
    assert contents(state) == [6000, 100_000, 100_000]


def test_after_many_runs_it_need_not_be_done_again_at_once(state: StateDirectory) -> None:
    for number in range(20):
        day = RunRecord(
            id=f"20240106-0000-aa{chr(ord('b') + number)}",
            prompt="",
            workspace="/w",
            started="2024-01-06T00:00:00+00:00",
            status="finished",
        )
        RunStore(state).new(day)
    forget_oldest(state, max_bytes=10_000_000, max_runs=24)
    assert len(list(state.runs.iterdir())) == 22


def test_a_running_run_stays(state: StateDirectory) -> None:
    with workspace_lock(state.locks, state.root, run_id="20240101-0000-aaa"):
        forget_oldest(state, max_bytes=1, max_runs=1)
    assert kept(state) == ["1"]
    assert contents(state) == [6000, 100_000]


def test_a_content_just_put_stays_though_nothing_refers_to_it_yet(state: StateDirectory) -> None:
    BlobStore(state.blobs).put(b"new")
    BlobStore(state.blobs).put(bytes([0]) * 100_000)  # put again: a run needs it from now on
    forget_oldest(state, max_bytes=1, max_runs=1)
    assert contents(state) == [3, 100_000]


def test_a_removal_that_was_cut_off_is_finished(state: StateDirectory) -> None:
    (state.runs / "20240101-0000-aaa").rename(state.runs / ".removing-20240101-0000-aaa")
    forget_oldest(state, max_bytes=10_000_000, max_runs=5)
    assert kept(state) == list("2345")
    forget_oldest(state, max_bytes=10_000_000, max_runs=3)
    assert contents(state) == [6000, 100_000, 100_000, 100_000]
