"""The benchmark of wasted calls, on one task and a few kinds of models."""

from __future__ import annotations

import runpy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BENCHMARK = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "escalation.py"), run_name="benchmark")
WANTED = {
    # kind of model: solved by the fixed loop, its calls, solved by Codur, its calls
    "never right, the same edit": (0, 10, 0, 3),
    "never right, new failures": (0, 10, 0, 4),
    "right at 3, same failure": (1, 3, 1, 3),
    "right at 4, same failure": (1, 4, 0, 3),
    "never right, a stronger one is": (0, 10, 1, 4),
}


def test_a_few_kinds_of_models(tmp_path: Path) -> None:
    skills = [skill for skill in BENCHMARK["SKILLS"] if skill.name in WANTED]
    with ThreadPoolExecutor(2) as pool:
        sides = BENCHMARK["Sides"](BENCHMARK["PUZZLES"][:1], tmp_path, pool)
        found = list(BENCHMARK["rows"](sides, skills))
    assert {
        row.skill.name: (row.fixed.solved, row.fixed.calls, row.codur.solved, row.codur.calls) for row in found
    } == WANTED
    told = BENCHMARK["figures"](found)
    assert (told.calls, told.lost, told.lost_no_rule, told.reached) == (7 / 20, 0, 1, False)
    assert told.tokens < 7 / 20


def test_the_target_is_judged_by_calls_tokens_and_losses() -> None:
    figures = BENCHMARK["Figures"]
    good = {"calls": 1 / 3, "tokens": 0.3, "lost": 0, "lost_no_rule": 2}
    assert figures(**good).reached
    for worse in ({"calls": 0.34}, {"tokens": 0.34}, {"lost": 1}):
        assert not figures(**(good | worse)).reached
