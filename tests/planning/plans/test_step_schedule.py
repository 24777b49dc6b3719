"""Steps that run side by side, and steps that cannot run any more."""

from __future__ import annotations

from codur.planning.plans.step_references import MOST_AT_ONCE, blocked_by, needs, side_by_side
from codur.types import Plan, Step


def plan(*steps: Step) -> Plan:
    return Plan(steps=steps, origin="plan")


def read(name: str, *inputs: str, **arguments: str) -> Step:
    return Step(id=name, action="tool", capability="read_file", inputs=inputs, arguments=arguments)


def only_reads(step: Step) -> bool:
    return step.capability == "read_file"


WRITE = Step(id="write", action="tool", capability="write_file")


def test_reads_that_need_nothing_of_each_other_run_together() -> None:
    assert side_by_side(plan(read("a"), read("b"), read("c"), WRITE), 0, only_reads) == 3


def test_a_step_that_needs_one_of_them_waits() -> None:
    assert side_by_side(plan(read("a"), read("b"), read("c", "a"), read("d")), 0, only_reads) == 2
    assert side_by_side(plan(read("a"), read("b", path="${a.path}")), 0, only_reads) == 1


def test_what_is_done_already_is_waited_for_by_nobody() -> None:
    assert side_by_side(plan(read("a"), read("b", "a"), read("c", "a")), 1, only_reads) == 2


def test_a_step_that_changes_something_runs_alone() -> None:
    assert side_by_side(plan(WRITE, read("a")), 0, only_reads) == 1
    assert side_by_side(plan(read("a"), WRITE, read("b")), 0, only_reads) == 1


def test_not_more_than_a_few_run_at_once() -> None:
    assert side_by_side(plan(*(read(f"s{number}") for number in range(30))), 0, only_reads) == MOST_AT_ONCE


def test_what_a_failure_blocks() -> None:
    steps = plan(read("a"), read("b"), read("c", "a"), read("d", path="${c}"), read("e", "b"))
    assert blocked_by(steps, {"a"}) == ("c", "d")
    assert blocked_by(steps, {"b", "c"}) == ("d", "e")
    assert blocked_by(steps, set()) == ()
    assert needs(steps.steps[3]) == {"c"}
