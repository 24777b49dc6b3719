"""One attempt at a challenge, called as the worker calls it."""

from __future__ import annotations

from pathlib import Path

from codur.batch.attempt import Attempted, Job, attempt
from codur.batch.challenge import Challenge
from codur.events import Emit, Event, ignore
from codur.sandbox.cancel import CancelToken
from codur.sandbox.turns import Waited
from tests.batch.kit import BUG, setup
from tests.runs.kit import fill


def tried(place: Path, *, emit: Emit = ignore) -> Attempted:
    fill(place / "bug", BUG)
    below = place / "copies"
    below.mkdir()
    job = Job(number=0, challenge=Challenge(name="bug", directory=place / "bug"), agent="", attempt=1, key="k")
    given = setup()
    done = attempt(job, given, given.host, below=below, cancel=CancelToken(), waited=Waited(), emit=emit)
    assert list(below.iterdir()) == []
    return done


def test_a_fault_of_ours_is_an_error_and_not_a_failure_of_the_challenge(tmp_path: Path) -> None:
    def faulty(event: Event) -> None:
        raise ZeroDivisionError("a\n  bug" + "!" * 900)

    result = tried(tmp_path, emit=faulty).result
    assert (result.status, result.tier, result.name, result.key) == ("error", "none", "bug", "k")
    assert result.reason.startswith("internal error: ZeroDivisionError: a bug!!!")
    assert len(result.reason) <= 500


def test_what_is_judged_and_not_solved_is_a_failure(tmp_path: Path) -> None:
    found = tried(tmp_path)
    assert (found.result.status, found.result.verdict, found.files) == ("failed", "failed", {})
    assert found.result.reason == "needs a model"
