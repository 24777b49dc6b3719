"""Tests that are made for a task that nothing fails because of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from codur.events import TestMade
from codur.questions import Answer
from codur.types import Limits
from tests.runs.kit import Played, play
from tests.runs.test_approval import User
from tests.runs.test_plans import classified
from tests.support.groq_server import ServerReply, calls, error, text

CODE = '''"""Dates as words."""

from datetime import date

NAMES = ("January", "February", "March")


def month(day: date) -> str:
    """The name of a month of spring or before."""
    return NAMES[day.month - 1]


def century(day: date) -> int:
    """The century that a day is in: the years 1801 to 1900 are the 19th."""
    if day.year < 1900:
        raise ValueError("too early")
    return day.year // 100 + 1
'''
OLD_TEST = "from datetime import date\n\nfrom dates import month\n\n\ndef test_month():\n    assert month(date(2000, 2, 1)) == 'February'\n"
PROJECT = {"dates.py": CODE, "tests/test_dates.py": OLD_TEST, "tests/conftest.py": ""}
REPORT = "fix issue 123: century(date(1850, 1, 1)) crashes with ValueError, dates before 1900 must work"
TEST = '''from datetime import date

from dates import century


def test_dates_before_1900():
    assert century(date(1850, 1, 1)) == 19
'''
PATH = "tests/test_dates_before_1900.py"
EDIT = classified(task_type="code_fix", suggested_action="edit", confidence=0.95, detected_files=["dates.py"])
NEW = classified(task_type="code_generation", suggested_action="edit", confidence=0.95, detected_files=["dates.py"])
FIXED = "def century(day: date) -> int:\n    return (day.year - 1) // 100 + 1\n"
FIX = calls(("replace_function", {"path": "dates.py", "name": "century", "code": FIXED}))
BROKEN = CODE.replace("NAMES[day.month - 1]", "NAMES[day.month]").replace(CODE[CODE.index("    if day.year") :], FIXED.split("\n")[1] + "\n")
BREAKS_MONTH = calls(("replace_file_content", {"path": "dates.py", "content": BROKEN}))
MAKES = {"verification": {"make_check": "auto"}}


def answer(test: str) -> ServerReply:
    return text(f"```python\n{test}```\n")


def run(place: Path, replies: Sequence[ServerReply], prompt: str = REPORT, **fields: Any) -> Played:
    fields = {"sections": MAKES, **fields}
    return play(place, fields.pop("files", PROJECT), prompt, list(replies), **fields)


def test_a_test_is_made_first_and_passes_beside_the_projects_own(tmp_path: Path) -> None:
    played = run(tmp_path, [EDIT, answer(TEST), FIX])
    result = played.result
    assert (result.outcome, result.model_calls, played.unexpected) == ("done", 3, 0)
    assert "make_check" in played.nodes
    assert result.before is not None
    assert result.before.failing == (f"{PATH}::test_dates_before_1900",)
    assert result.verdict is not None
    assert result.verdict.check == f"python -m pytest {PATH} && python -m pytest"
    assert (result.verdict.tests_passed, result.verdict.tests_total) == (2, 2)
    assert result.changed_files == ("dates.py",)
    assert played.files == {**PROJECT, "dates.py": played.files["dates.py"]}
    assert any("--keep-test keeps it" in note for note in result.notes)
    (made,) = [event for event in played.events if isinstance(event, TestMade)]
    assert (made.path, made.text) == (PATH, TEST)
    assert "ValueError: too early" in made.failure
    assert TEST.strip() in played.message(2)
    assert "too early" in played.message(2)
