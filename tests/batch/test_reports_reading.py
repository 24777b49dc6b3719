"""Result files: what is whole is read, what is not is told with its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from codur.batch.reports.report_inputs import read_results
from codur.batch.results.challenge_record import ChallengeResult
from codur.errors import UsageError
from codur.structs import replace
from tests.batch.report_kit import HOSTILE, failed, hostile, solved


def lines(results: Sequence[ChallengeResult]) -> str:
    return "".join(json.dumps(item.to_json()) + "\n" for item in results)


def written(directory: Path, text: str | bytes) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "results.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_written_is_what_is_read(text: str, tmp_path: Path) -> None:
    results = (hostile(text), solved("plain"))
    written(tmp_path, lines(results))
    found = read_results([tmp_path])
    assert (found.results, found.notes) == (results, ())


def test_a_torn_last_line_is_dropped_and_told(tmp_path: Path) -> None:
    path = written(tmp_path, lines([solved("a"), solved("b")])[:-40])
    found = read_results([path])
    assert [item.name for item in found.results] == ["a"]
    assert found.notes == (f"{path}:2: the last line was not written to its end; it is left out",)


def test_a_whole_last_line_without_its_line_feed_counts(tmp_path: Path) -> None:
    found = read_results([written(tmp_path, lines([solved("a")])[:-1])])
    assert ([item.name for item in found.results], found.notes) == (["a"], ())


GOOD = solved("good").to_json()
DAMAGED = {
    "it is no JSON": [
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps({**GOOD, "seconds": float("nan")}).encode(),
        json.dumps({**GOOD, "cost_usd": float("inf")}).encode(),
    ],
    "it is no JSON object": [b"[]", b"1", b'"text"', b"null"],
    "it is damaged": [
        b"{}",
        json.dumps({**GOOD, "status": "unknown"}).encode(),
        json.dumps({**GOOD, "calls": "3"}).encode(),
        json.dumps({**GOOD, "calls": -1}).encode(),
        json.dumps({**GOOD, "tokens": 10**400}).encode(),
        json.dumps({**GOOD, "tokens": None}).encode(),
        json.dumps({**GOOD, "seconds": 1}).replace('"seconds": 1', '"seconds": 1e999').encode(),
        json.dumps({**GOOD, "prompt": ["no", "text"]}).encode(),
        json.dumps({**GOOD, "route": [{"node": 1, "route": "x", "origin": "x", "tier": "x"}]}).encode(),
        json.dumps({**GOOD, "route": "x"}).encode(),
        json.dumps({**GOOD, "notes": 5}).encode(),
        json.dumps({**GOOD, "status": "\ud83d"}).encode(),
    ],
    "it was written by a newer version of Codur": [json.dumps({**GOOD, "schema": 2}).encode()],
}


@pytest.mark.parametrize(("why", "line"), [(why, line) for why, found in DAMAGED.items() for line in found])
def test_a_damaged_line_is_told_with_its_place(why: str, line: bytes, tmp_path: Path) -> None:
    good = lines([solved("before")]).encode()
    path = written(tmp_path, good + b"\n" + line + b"\n" + lines([solved("after")]).encode())
    found = read_results([path])
    assert [item.name for item in found.results] == ["before", "after"]
    assert found.notes == (f"{path}:3: left out: {why}",)


def test_fields_of_a_later_version_are_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps({**GOOD, "colour": "blue"}) + "\n")
    assert read_results([path]).results == (solved("good"),)


def test_the_last_result_of_an_attempt_counts(tmp_path: Path) -> None:
    again = [failed("a"), solved("b"), solved("a"), solved("a", attempt=2)]
    found = read_results([written(tmp_path, lines(again))])
    assert [(item.name, item.attempt, item.status) for item in found.results] == [
        ("a", 1, "solved"),
        ("b", 1, "solved"),
        ("a", 2, "solved"),
    ]


def test_parts_of_a_batch_are_put_together(tmp_path: Path) -> None:
    written(tmp_path / "one", lines([solved("a"), solved("c", agent="x")]))
    written(tmp_path / "two", lines([solved("b")]))
    found = read_results([tmp_path / "one", tmp_path / "two" / "results.jsonl", tmp_path / "one"])
    assert [(item.name, item.agent) for item in found.results] == [("a", ""), ("c", "x"), ("b", "")]


def test_the_same_agent_in_two_batches_is_told_apart(tmp_path: Path) -> None:
    written(tmp_path / "old", lines([failed("a"), solved("a", agent="x")]))
    written(tmp_path / "new", lines([solved("a"), solved("b")]))
    found = read_results([tmp_path / "old", tmp_path / "new"])
    assert [(item.name, item.agent) for item in found.results] == [
        ("a", "default (old)"),
        ("a", "x"),
        ("a", "default (new)"),
        ("b", "default (new)"),
    ]


def test_batches_in_directories_of_one_name_are_numbered(tmp_path: Path) -> None:
    for place in ("1/out", "2/out"):
        written(tmp_path / place, lines([solved("a")]))
    found = read_results([tmp_path / "1/out", tmp_path / "2/out"])
    assert [item.agent for item in found.results] == ["default (out, file 1)", "default (out, file 2)"]
    assert replace(found.results[0], agent="") == solved("a")


def test_a_directory_of_batches_stands_for_all_of_them(tmp_path: Path) -> None:
    for place in ("2", "1"):
        written(tmp_path / "results" / place, lines([solved("a")]))
    (tmp_path / "results" / "other").mkdir()
    found = read_results([tmp_path / "results"])
    assert [item.agent for item in found.results] == ["default (1)", "default (2)"]


@pytest.mark.parametrize("text", ["", "\n\n", "{\n"])
def test_nothing_readable_is_an_error(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        read_results([path])
    assert caught.value.message.startswith(f"{path}: no usable result")
    assert "results.jsonl" in caught.value.remedy


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    for path, why in ((tmp_path, "there is no results.jsonl in it"), (tmp_path / "x", "there is no such file")):
        with pytest.raises(UsageError) as caught:
            read_results([path])
        assert caught.value.message == f"{path}: {why}"
