"""What is done before a model is asked."""

from __future__ import annotations

import pytest

from codur.planning.plans.first_plan import first_plan, says_more
from codur.types import Discovery, Task, Verdict

FIX = Discovery(task_type="code_fix", files=("app/main.py",), entry="app/main.py")
GONE = Discovery(task_type="explanation", missing_files=("gone.py",))
RED = Verdict(status="failed")
GREEN = Verdict(status="passed", check="python main.py")
NO_MODEL = "no key"


@pytest.mark.parametrize(
    ("prompt", "more"),
    [
        ("fix main.py", False),
        ("please fix the bug in app/main.py", False),
        ("make the tests pass", False),
        ("fix main.py: the total is off by one", True),
        ("fix the rounding in main.py", True),
        ("pytest is red, please fix. dont touch the tests", False),
        ("pytest never comes back, it just hangs. pls fix", False),
        ("fix main.py, it never returns", True),
        ("main.py just hangs", True),
        ("pytest ist rot, bitte reparieren. die tests nicht anfassen", False),
        ("fix the rounding, don't touch the tests", True),
        ("fix main.py: don't run skipped tests", True),
        ("fix main.py, the count is one too high in the tests", True),
    ],
)
def test_says_more(prompt: str, more: bool) -> None:
    assert says_more(prompt, FIX) is more


@pytest.mark.parametrize(
    ("prompt", "discovery", "before", "repair", "no_model", "steps", "outcome"),
    [
        ("fix main.py", FIX, RED, True, "", ["repair"], "done"),
        ("fix main.py", FIX, RED, True, NO_MODEL, ["repair"], "done"),
        ("fix main.py", FIX, RED, False, "", None, None),
        ("fix main.py", FIX, RED, False, NO_MODEL, ["respond"], "no_model"),
        ("fix main.py", FIX, GREEN, False, "", ["respond"], "done"),
        ("fix main.py, it is too slow", FIX, GREEN, False, "", None, None),
        (
            "fix gone.py",
            Discovery(task_type="code_fix", missing_files=("gone.py",)),
            None,
            False,
            "",
            ["respond"],
            "usage",
        ),
        (
            "move the settings to conf/new.toml",
            Discovery(task_type="refactor", missing_files=("conf/new.toml",)),
            None,
            False,
            "",
            None,
            None,
        ),
        (
            "write new.py",
            Discovery(task_type="code_generation", missing_files=("new.py",)),
            None,
            False,
            "",
            None,
            None,
        ),
        ("explain gone.py", GONE, None, False, "", None, None),
        ("explain gone.py", GONE, None, False, NO_MODEL, ["respond"], "usage"),
        ("what is it for?", Discovery(task_type="explanation"), None, False, "", None, None),
        ("what is it for?", Discovery(task_type="explanation"), None, False, NO_MODEL, ["respond"], "no_model"),
    ],
)
def test_first_plan(
    prompt: str,
    discovery: Discovery,
    before: Verdict | None,
    repair: bool,
    no_model: str,
    steps: list[str] | None,
    outcome: str | None,
) -> None:
    task = Task(prompt=prompt, workspace="")
    plan = first_plan(task, discovery, before, repair=repair, no_model=no_model)
    if plan is None:
        assert (steps, outcome) == (None, None)
    else:
        assert ([step.action for step in plan.steps], plan.outcome) == (steps, outcome)
