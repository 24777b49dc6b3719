"""The records of runs: how they are found, who may read them, and what is done about those that cannot be used."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from codur.errors import CodurError, UsageError
from codur.store.directory import StateDirectory
from codur.store.run_record import RunRecord, RunSummary
from codur.store.run_records import RunDirectory, RunStore, is_alive, mark_of, this_process


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    state = StateDirectory(tmp_path / "state")
    state.prepare()
    return RunStore(state)


def record(run_id: str, **more: Any) -> RunRecord:
    given = {"prompt": "fix it", "workspace": "/w", "started": f"2026-01-01T00:00:00.{run_id[-1:]}00+00:00", **more}
    return RunRecord(id=run_id, **given)


def made(store: RunStore, *ids: str, **more: Any) -> list[RunDirectory]:
    return [
        store.new(record(run_id, started=f"2026-01-01T00:00:0{number}+00:00", **more))
        for number, run_id in enumerate(ids)
    ]


A, B, C = "20260101-0000-aaa", "20260101-0000-aab", "20260102-0000-caa"


def test_ids_are_short_sort_by_time_and_are_not_given_twice(store: RunStore) -> None:
    now = datetime(2026, 11, 21, 4, 43, tzinfo=UTC)
    first = store.new_id(now)
    assert first.startswith("20261121-0443-")
    assert len(first) == 17
    ids = set()
    for _ in range(300):
        run_id = store.new_id(now)
        store.new(record(run_id))
        ids.add(run_id)
    assert len(ids) == 300


def test_a_run_is_found_by_any_beginning_that_is_its_own(store: RunStore) -> None:
    made(store, A, B, C)
    assert store.find(C[:8]).id == C
    assert store.find(A).id == A
    with pytest.raises(UsageError, match="2 runs begin with"):
        store.find(A[:15])
    for wanted in ("x", "", "../runs", A + "a"):
        with pytest.raises(UsageError, match="no run"):
            store.find(wanted)


def test_the_newest_of_a_directory_is_meant_without_an_id(store: RunStore, tmp_path: Path) -> None:
    made(store, A, B, workspace=str(tmp_path))
    made(store, C, workspace="/elsewhere")
    assert store.find().id in {B, C}
    assert store.find(workspace=tmp_path).id == B
    assert store.find(workspace=tmp_path, fits=lambda run: run.id == A).id == A
    with pytest.raises(UsageError, match="is kept"):
        store.find(workspace=tmp_path / "other")


def test_only_the_owner_may_look(store: RunStore, tmp_path: Path) -> None:
    run = made(store, A)[0]
    run.write_result({"outcome": "done"})
    run.trace.append({"event": "note"}, durable=False)
    run.trace.close()
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "state").rglob("*")}
    assert len(modes) > 5
    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items()), modes


def test_a_record_comes_back(store: RunStore) -> None:
    whole = record(
        A, status="finished", task={"prompt": "x"}, summary=RunSummary(outcome="done", changed_files=("a", "b"))
    )
    assert store.new(whole).record() == whole


def test_a_run_whose_process_has_gone_has_crashed(store: RunStore) -> None:
    gone = os.spawnlp(os.P_NOWAIT, "true", "true")
    mark = mark_of(gone)
    os.waitpid(gone, 0)
    assert store.new(record(A, pid=gone, process=mark)).record().status == "crashed"
    assert store.new(record(B, **this_process())).record().status == "running"
    assert store.new(record(C, pid=os.getpid(), process="another start")).record().status == "crashed"


def test_a_process_is_known_by_its_start_too() -> None:
    assert is_alive(os.getpid(), mark_of(os.getpid()))
    if Path("/proc/self/stat").exists():
        assert not is_alive(os.getpid(), mark_of(1))


def damaged(run: RunDirectory, change: dict[str, Any]) -> bytes:
    path = run.path / "run.json"
    data = json.dumps({**json.loads(path.read_bytes()), **change}).encode()
    path.write_bytes(data)
    return data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "damaged"),
        (b'{"schema": 1, "id"', "damaged"),
        (b"\x00\xff" * 100, "damaged"),
        (b"[" * 200_000, "damaged"),
        (b"[]", "not a record"),
        (b"{}", "damaged"),
        (b'{"schema": 2}', "newer version"),
    ],
    ids=["empty", "cut", "no text", "deep", "a list", "nothing in it", "newer"],
)
def test_what_cannot_be_used_is_told_and_left(data: bytes, said: str, store: RunStore) -> None:
    good, bad = made(store, A, B)
    (bad.path / "run.json").write_bytes(data)
    with pytest.raises(UsageError, match=said) as caught:
        bad.record()
    assert str(bad.path) in caught.value.remedy
    records, unreadable = store.scan()
    assert [item.id for item in records] == [good.id]
    assert [item.id for item in unreadable] == [bad.id]
    assert (bad.path / "run.json").read_bytes() == data


@pytest.mark.parametrize(
    "change",
    [
        {"id": B},
        {"status": "sleeping"},
        {"prompt": 3},
        {"summary": {}},
        {"summary": None},
        {"task": "x"},
        {"pid": "1"},
        {"status": "\ud83d"},
    ],
    ids=str,
)
def test_a_record_with_wrong_values_is_told(change: dict[str, Any], store: RunStore) -> None:
    run = made(store, A)[0]
    data = damaged(run, change)
    with pytest.raises(UsageError, match="damaged"):
        run.record()
    assert (run.path / "run.json").read_bytes() == data


def test_what_is_not_ours_is_left_alone(store: RunStore, tmp_path: Path) -> None:
    made(store, A)
    runs = tmp_path / "state" / "runs"
    (runs / "notes").mkdir()
    (runs / "20260101-0000-zzz").write_text("a file")
    (runs / "20260101-0000-yyy").symlink_to(tmp_path)
    assert [item.id for item in store.list()] == [A]
    assert {path.name for path in runs.iterdir()} == {A, "notes", "20260101-0000-zzz", "20260101-0000-yyy"}


def test_texts_are_redacted(tmp_path: Path) -> None:
    state = StateDirectory(tmp_path / "state")
    state.prepare()
    run = RunStore(state, redact=lambda text: text.replace("hush", "-")).new(
        record(A, prompt="hush", task={"a": ["hush"]})
    )
    run.write_result({"diff": "hush", "notes": ("hush",)})
    assert all(b"hush" not in path.read_bytes() for path in run.path.iterdir())


def test_a_directory_that_cannot_be_made_is_told(store: RunStore) -> None:
    made(store, A)
    with pytest.raises(CodurError, match="exists") as caught:
        store.new(record(A))
    assert caught.value.remedy
