"""What a start, a settled request, an offline fix and five jobs with a model cost does not grow unnoticed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.packaging.counts import COMMANDS, JOBS, RENEW, TABLE, of_command, of_job

KEPT = json.loads(TABLE.read_text())
SEARCH = {"modules": 4, "codur modules": 4, "classes": 12, "fsyncs": 2, "files written": 8}
"""How far a search comes before it finds the repair depends on the processors."""

REQUEST = {"bytes": 16}
"""A request names the version of Python."""


def told(counts: Mapping[str, int], kept: Mapping[str, int], slack: Mapping[str, int]) -> list[str]:
    rose = {key: value for key, value in counts.items() if value > kept[key] + slack.get(key, 0)}
    advice = f"find what it is for, and renew the table if that is worth it: {RENEW}"
    return [f"{key}: {value}, and {kept[key]} in {TABLE.name}; {advice}" for key, value in rose.items()]


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name: str, tmp_path: Path) -> None:
    assert told(of_command(name, tmp_path), KEPT[name], SEARCH if name == "offline fix" else {}) == []


@pytest.mark.parametrize("name", JOBS["JOBS"])
def test_jobs(name: str) -> None:
    assert told(of_job(name), KEPT[name], REQUEST) == []


def test_a_rise_is_told_with_the_way_to_renew_the_table() -> None:
    (line,) = told({"modules": 3, "fsyncs": 1}, {"modules": 2, "fsyncs": 1}, {})
    assert line.startswith("modules: 3, and 2 in counts.json")
    assert line.endswith(RENEW)
