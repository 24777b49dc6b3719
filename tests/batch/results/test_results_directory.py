"""The directory of results, and which work a result belongs to."""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
from datetime import datetime
from pathlib import Path

import pytest
from msgspec import structs

from codur.batch.discovery import find_challenges
from codur.batch.results.challenge_record import Attempted, ChallengeResult
from codur.batch.results.identity import content_hash, key_of, settings_hash
from codur.batch.results.kept_files import Keeper, Keys
from codur.batch.results.results_directory import (
    ResultsDirectory,
    has_results,
    new_directory,
    newest,
    read_patch,
    read_results,
    read_spent,
)
from codur.batch.work import work_of
from codur.batch.worker.frames import FrameReader, FrameWriter
from codur.batch.worker.messages import Begin
from codur.config.settings import Settings
from codur.errors import UsageError, WorkspaceBusy
from codur.structs import replace
from codur.types import Limits
from tests.batch.kit import setup
from tests.runs.kit import fill

RESULT = ChallengeResult(name="a", directory="/x/a", key="k", status="solved", patch="patches/a.patch")


def test_what_is_added_is_read_again_and_the_last_of_the_same_work_counts(tmp_path: Path) -> None:
    with ResultsDirectory(tmp_path / "new" / "results") as directory:
        directory.add(replace(RESULT, status="failed"), "first")
        directory.add(replace(RESULT, name="b\n\udcff", patch=""), "")
        directory.add(RESULT, "second \udcff")
    assert [(item.name, item.status) for item in read_results(directory.path)] == [
        ("a", "solved"),
        ("b\n\udcff", "solved"),
    ]
    assert read_patch(directory.path, RESULT) == "second \udcff"
    assert (directory.path / "patches" / "a.patch").read_bytes() == b"second \xff"


@pytest.mark.parametrize("cut", [1, 20])
def test_a_torn_last_line_is_dropped_and_not_continued(cut: int, tmp_path: Path) -> None:
    with ResultsDirectory(tmp_path) as directory:
        directory.add(RESULT, "")
        directory.add(replace(RESULT, name="b"), "")
    file = tmp_path / "results.jsonl"
    file.write_bytes(file.read_bytes()[:-cut])
    assert [item.name for item in read_results(tmp_path)] == ["a"]
    with ResultsDirectory(tmp_path) as directory:
        directory.add(replace(RESULT, name="c"), "")
    assert [item.name for item in read_results(tmp_path)] == ["a", "c"]
    assert all(json.loads(line) for line in file.read_text().splitlines())


def test_a_damaged_line_costs_itself(tmp_path: Path) -> None:
    with ResultsDirectory(tmp_path) as directory:
        directory.add(RESULT, "")
    file = tmp_path / "results.jsonl"
    line = file.read_text()
    senseless = [json.dumps({**json.loads(line), "name": "b", **wrong}) for wrong in ({"calls": -1}, {"prompt": 3})]
    no_number = line.replace('"name":"a"', '"name":"b"').replace('"seconds":0.0', '"seconds":NaN')
    file.write_text("\n".join(('{"name": 3}', "nonsense", "[" * 100_000, *senseless, f"{no_number}{line}[]", "")))
    assert [*read_results(tmp_path)] == [RESULT]


def test_results_that_were_changed_meanwhile_are_told(tmp_path: Path) -> None:
    with ResultsDirectory(tmp_path) as directory:
        directory.add(RESULT, "")
    results = read_results(tmp_path)
    assert RESULT in results
    (tmp_path / "results.jsonl").write_text("nonsense\n")
    with pytest.raises(UsageError, match=r"results.jsonl: cannot be read again: it was changed meanwhile"):
        list(results)
    (tmp_path / "results.jsonl").unlink()
    with pytest.raises(UsageError, match="cannot be read again: no such file"):
        list(results)


def test_one_batch_at_a_time(tmp_path: Path) -> None:
    with ResultsDirectory(tmp_path), pytest.raises(WorkspaceBusy, match="another batch"), ResultsDirectory(tmp_path):
        pass
    with ResultsDirectory(tmp_path):
        pass


def test_a_place_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file/results"), ResultsDirectory(tmp_path / "file" / "results"):
        pass


def test_what_cannot_be_written_is_told_with_what_to_do(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with ResultsDirectory(tmp_path) as directory:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            with pytest.raises(UsageError) as caught:
                directory.add(replace(RESULT, patch=""), "")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.message == f"the results cannot be kept in {tmp_path}: file too large"
    assert "--resume" in caught.value.remedy


@pytest.mark.parametrize("name", ["results.jsonl", "patches", "runs"])
def test_no_link_is_written_through(name: str, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(victim / "x" if name == "results.jsonl" else victim)
    with pytest.raises(UsageError, match="cannot be used"), ResultsDirectory(tmp_path / "out"):
        pass
    assert list(victim.iterdir()) == []


@pytest.mark.parametrize("how", ["removed", "moved", "replaced"])
def test_what_would_be_written_and_not_be_found_is_an_error(how: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ResultsDirectory(out) as directory:
        directory.add(replace(RESULT, patch=""), "")
        if how == "removed":
            shutil.rmtree(out)
        elif how == "moved":
            out.rename(tmp_path / "moved")
        else:
            (out / "results.jsonl").unlink()
            (out / "results.jsonl").touch()
        with pytest.raises(UsageError, match=r"cannot be kept in .*out: no such file or directory"):
            directory.add(replace(RESULT, name="b", patch=""), "")


def test_what_cannot_be_written_back_is_a_note(tmp_path: Path) -> None:
    fill(tmp_path / "given", {"prompt.txt": "x"})
    (work,) = work_of(find_challenges([tmp_path / "given"]))
    given = setup(in_place=True)
    with ResultsDirectory(tmp_path / "out") as directory:
        keep = Keeper(directory, given, Keys("s"))
        result = replace(RESULT, patch="", key=keep.keys(work))
        kept = keep.keep(work, Attempted(result=result, files={"x" * 300: b"1"}))
    assert kept.notes == ("not written back: file name too long",)
    (read,) = read_results(tmp_path / "out")
    assert (read.notes, read.key_written) == (kept.notes, "")


def test_what_was_spent_on_earlier_results_is_put_aside_with_them(tmp_path: Path) -> None:
    with ResultsDirectory(tmp_path) as directory:
        directory.write_spent(7, 0.5)
        assert directory.set_aside() is None
        assert read_spent(tmp_path) == (0, 0.0)
        directory.add(RESULT, "old")
        directory.write_spent(9, 0.5)
        aside = directory.set_aside()
    assert aside is not None
    assert (read_spent(tmp_path), read_spent(aside)) == ((0, 0.0), (9, 0.5))


def test_earlier_results_are_put_aside_whole(tmp_path: Path) -> None:
    with ResultsDirectory(tmp_path) as directory:
        assert directory.set_aside() is None
        directory.add(RESULT, "old")
        (tmp_path / "report.html").write_text("old page")
        aside = directory.set_aside()
        assert aside is not None
        directory.add(replace(RESULT, name="new", patch="patches/new.patch"), "new")
        again = directory.set_aside()
        (tmp_path / "notes.txt").write_text("mine")
        (tmp_path / "data").mkdir()
        directory.add(RESULT, "")
        assert directory.set_aside() is not None
    assert again not in (None, aside)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "data").is_dir()
    assert (aside / "patches" / "a.patch").read_text() == "old"
    assert (aside / "report.html").read_text() == "old page"
    assert [item.name for item in read_results(aside)] == ["a"]
    assert not has_results(tmp_path)


def test_the_newest_results_are_found(tmp_path: Path) -> None:
    assert newest(tmp_path) is None
    now = datetime(2026, 1, 2, 3, 4, 5)
    for number in range(3):
        path = new_directory(tmp_path, now)
        with ResultsDirectory(path) as directory:
            if number < 2:
                directory.add(RESULT, "")
        os.utime(path / "results.jsonl", (number, number))
    assert newest(tmp_path) == tmp_path / "codur-results" / "2026-01-02-030405-2"


def test_predictions_have_the_form_of_swe_bench(tmp_path: Path) -> None:
    with ResultsDirectory(tmp_path) as directory:
        directory.add(RESULT, "the patch")
        others = [replace(RESULT, attempt=2, agent="x", patch=""), RESULT]
        directory.write_predictions(others, "agent:default")
    lines = [json.loads(line) for line in (tmp_path / "predictions.jsonl").read_text().splitlines()]
    assert lines == [
        {"instance_id": "a#2", "model_name_or_path": "x", "model_patch": ""},
        {"instance_id": "a", "model_name_or_path": "agent:default", "model_patch": "the patch"},
    ]


def test_the_key_follows_from_what_matters(tmp_path: Path) -> None:
    fill(tmp_path, {"main.py": "1\n", "data/a.txt": "x"})
    first = content_hash(os.fspath(tmp_path))
    fill(tmp_path, {"__pycache__/main.pyc": "x", ".git/HEAD": "x", "codur-results/1/results.jsonl": "x"})
    os.utime(tmp_path / "main.py", (1, 1))
    assert content_hash(os.fspath(tmp_path)) == first
    (tmp_path / "main.py").chmod(0o755)
    seen = {first, content_hash(os.fspath(tmp_path))}
    (tmp_path / "link").symlink_to("data")
    seen.add(content_hash(os.fspath(tmp_path)))
    fill(tmp_path, {"data/a.txt": "y"})
    seen.add(content_hash(os.fspath(tmp_path)))
    assert len(seen) == 4
    settings = settings_hash(Settings(), Limits(), offline=False)
    assert settings == settings_hash(
        structs.replace(Settings(), state=structs.replace(Settings().state, max_runs=1)), Limits(), offline=False
    )
    keys = {
        key_of("c", "", 1, settings),
        key_of("c", "", 2, settings),
        key_of("c", "a", 1, settings),
        key_of("d", "", 1, settings),
        key_of("c", "", 1, settings_hash(Settings(), Limits(), offline=True)),
        key_of("c", "", 1, settings_hash(Settings(), Limits(max_iterations=1), offline=False)),
    }
    assert len(keys) == 6


def test_the_hash_of_a_change_is_that_of_the_changed_directory(tmp_path: Path) -> None:
    fill(tmp_path, {"main.py": "1\n", "old.py": "x", "keep.py": "y"})
    (tmp_path / "main.py").chmod(0o755)
    told = content_hash(os.fspath(tmp_path), {"main.py": b"2\n", "old.py": None, "new/b.py": b"z"})
    assert told != content_hash(os.fspath(tmp_path))
    fill(tmp_path, {"main.py": "2\n", "new/b.py": "z"})
    (tmp_path / "old.py").unlink()
    assert content_hash(os.fspath(tmp_path)) == told


def test_a_setup_survives_the_way_to_the_worker() -> None:
    made = setup(
        structs.replace(Settings(), llm=structs.replace(Settings().llm, fallback_profiles=(), max_attempts=2)),
        max_tokens=5,
        max_cost_usd=0.5,
        jobs=7,
    )
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert FrameWriter(ours).send(Begin(setup=made))
        assert FrameReader[Begin](theirs, Begin).take() == [Begin(setup=made)]


def test_a_link_that_came_with_a_directory_gets_no_results(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "codur-results").symlink_to("elsewhere")
    with pytest.raises(UsageError, match="is a link"):
        new_directory(tmp_path, datetime.now())
