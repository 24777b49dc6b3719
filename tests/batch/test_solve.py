"""Batches in their plainest form: found, solved in copies, judged by the check."""

from __future__ import annotations

from pathlib import Path

import pytest

from codur.batch.challenge import DEFAULT_PROMPT, find_challenges
from codur.batch.solve import judged, solve_all
from codur.config.settings import Settings
from codur.errors import UsageError
from codur.types import Limits, RunResult, Verdict
from tests.runs.kit import REPAIRABLE, contents, fill, host

GREEN = {"main.py": "print(1)\n", "expected.txt": "1\n"}


def test_find_challenges_looks_below_and_names_by_path(tmp_path: Path) -> None:
    fill(
        tmp_path,
        {
            "b/prompt.txt": "x",
            "a/deep one/challenge.yaml": "entry: x.py\n",
            "c/notes.txt": "none",
            ".hidden/prompt.txt": "x",
            "b/inner/prompt.txt": "part of b",
        },
    )
    (tmp_path / "again").symlink_to(tmp_path / "b")
    assert [item.name for item in find_challenges([tmp_path])] == ["a/deep one", "b"]
    assert [item.name for item in find_challenges([tmp_path / "b", tmp_path])] == ["a/deep one", "b"]


def test_nothing_found_is_an_error_that_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_challenges([tmp_path])
    assert caught.value.remedy == "A challenge is a directory with a prompt.txt or a challenge.yaml."


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_a_challenge_without_a_prompt_has_a_general_one(text: str | None, tmp_path: Path) -> None:
    fill(tmp_path, {"challenge.yaml": ""} if text is None else {"prompt.txt": text})
    (challenge,) = find_challenges([tmp_path])
    assert challenge.prompt() == DEFAULT_PROMPT


def test_each_is_solved_in_a_copy_and_one_bad_one_costs_only_itself(tmp_path: Path) -> None:
    fill(tmp_path / "1 bug", {**REPAIRABLE, "prompt.txt": "the report is wrong\n"})
    fill(tmp_path / "2 green", {**GREEN, "prompt.txt": "fix main.py\n"})
    fill(tmp_path / "3 broken", {**GREEN, "challenge.yaml": "entry: [\n"})
    (tmp_path / "4 no text").mkdir()
    (tmp_path / "4 no text" / "prompt.txt").write_bytes(b"\xff\xfe\x00")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    solved = list(solve_all(find_challenges([tmp_path]), Settings(), Limits(), host=host(key=None), offline=True))
    assert [(item.challenge.name, item.outcome) for item in solved] == [
        ("1 bug", "solved"),
        ("2 green", "failed"),
        ("3 broken", "error"),
        ("4 no text", "error"),
    ]
    assert solved[0].result.solved_by == "repair"
    assert "challenge.yaml" in solved[2].note
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert contents(tmp_path / "2 green")["main.py"] == GREEN["main.py"]


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ("failed", "passed", "solved"),
        ("passed", "passed", "failed"),
        ("no_check", "no_check", "failed"),
        ("failed", "tampered", "failed"),
    ],
)
def test_only_red_to_green_counts(before: str, after: str, outcome: str, tmp_path: Path) -> None:
    fill(tmp_path, {"prompt.txt": "x"})
    (challenge,) = find_challenges([tmp_path])
    result = RunResult(
        outcome="done",
        exit_code=0,
        before=Verdict(status=before),  # type: ignore[arg-type]
        verdict=Verdict(status=after),  # type: ignore[arg-type]
    )
    assert judged(challenge, result).outcome == outcome
